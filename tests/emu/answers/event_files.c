/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Files of events: what a read returns, of an empty one, into a short buffer, and of an object that is gone. */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/mlx5dv.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../commands/prm.h"
#include "answers.h"
#include "base/array.h"

#define LIMIT_MS 60000 /* only how long to wait for what does not come */

#define QUEUES	 3 /* each tells of one completion */

static struct {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_srq *srq;
	struct ibv_cq *cq[QUEUES];
	struct ibv_qp *qp[QUEUES]; /* in error: what is posted is flushed */
} card;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void create_queues(int i)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
	struct ibv_qp_init_attr qp = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1},
	};

	card.cq[i] = ibv_create_cq(card.context, 16, NULL, card.channel, 0);
	qp.send_cq = qp.recv_cq = card.cq[i];
	card.qp[i] = card.cq[i] ? ibv_create_qp(card.pd, &qp) : NULL;
	if (!card.qp[i] ||
	    ibv_modify_qp(card.qp[i], &init,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ||
	    ibv_modify_qp(card.qp[i], &error, IBV_QP_STATE))
		die("creating queues");
}

static void open_card(void)
{
	struct mlx5dv_context_attr with_devx = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 8, .max_sge = 1}};
	struct ibv_device **list = ibv_get_device_list(NULL);

	card.context = list && list[0] ? mlx5dv_open_device(list[0], &with_devx) : NULL;
	if (!card.context)
		die("opening the device");
	ibv_free_device_list(list);
	card.pd = ibv_alloc_pd(card.context);
	card.channel = ibv_create_comp_channel(card.context);
	card.srq = ibv_create_srq(card.pd, &srq);
	if (!card.channel || !card.srq)
		die("creating a channel and a queue");
	for (int i = 0; i < QUEUES; i++)
		create_queues(i);
}

static void say_read(const char *what, int fd, size_t len)
{
	uint8_t event[4096];
	ssize_t n;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	n = read(fd, event, len);
	say("%s, a read of %zu", what, len);
	say_errno(n < 0 ? errno : 0);
	if (n >= 0)
		say(" bytes=%zd", n);
	say("\n");
}

static void await(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	if (poll(&p, 1, LIMIT_MS) != 1)
		die("no event");
}

/* Each read takes one event, if the buffer is long enough. There are two. */
static void say_reads(const char *what, int fd, size_t len)
{
	await(fd);
	say_read(what, fd, 0);
	say_read(what, fd, len - 1);
	say_read(what, fd, 4096);
	await(fd);
	say_read(what, fd, len);
	say_read(what, fd, len);
	say_read(what, fd, len - 1);
}

/* --- completions ------------------------------------------------------------------------------ */

static void complete_one(int queue)
{
	struct ibv_recv_wr receive = {.wr_id = 1}, *bad;

	if (ibv_req_notify_cq(card.cq[queue], 0) || ibv_post_recv(card.qp[queue], &receive, &bad))
		die("posting a receive");
}

static void ask_completion_channel(void)
{
	complete_one(0);
	await(card.channel->fd);
	complete_one(1);
	say_reads("completion channel", card.channel->fd, 8);
	ibv_ack_cq_events(card.cq[0], 1);
	ibv_ack_cq_events(card.cq[1], 1);
	complete_one(2);
	await(card.channel->fd);
}

/* --- asynchronous events ---------------------------------------------------------------------- */

static void reach_limit(void)
{
	struct ibv_srq_attr attr = {.srq_limit = 1};

	if (ibv_modify_srq(card.srq, &attr, IBV_SRQ_LIMIT))
		die("setting a limit");
}

static void ask_asynchronous_events(void)
{
	struct ibv_async_event read = {
		.element.srq = card.srq,
		.event_type = IBV_EVENT_SRQ_LIMIT_REACHED,
	};

	reach_limit();
	await(card.context->async_fd);
	reach_limit();
	say_reads("asynchronous events", card.context->async_fd, 16);
	for (int i = 0; i < 2; i++)
		ibv_ack_async_event(&read);
	reach_limit();
	await(card.context->async_fd);
}

/* What happened to it is nobody's then. */
static void ask_of_missing_objects(void)
{
	for (int i = 0; i < QUEUES; i++)
		ibv_destroy_qp(card.qp[i]);
	ibv_destroy_srq(card.srq);
	say_read("asynchronous events of a destroyed queue", card.context->async_fd, 16);
	for (int i = 0; i < QUEUES; i++)
		ibv_destroy_cq(card.cq[i]);
	say_read("completion channel of a destroyed queue", card.channel->fd, 8);
}

/* --- answers to commands ---------------------------------------------------------------------- */

static void ask_answers(void)
{
	struct mlx5dv_devx_cmd_comp *answers = mlx5dv_devx_create_cmd_comp(card.context);
	uint8_t in[16] = {0}, out[16] = {0};
	struct mlx5dv_devx_obj *counter;
	uint64_t id;

	prm_put(in, IN_OPCODE, CMD_ALLOC_FLOW_COUNTER);
	counter = mlx5dv_devx_obj_create(card.context, in, sizeof(in), out, sizeof(out));
	if (!answers || !counter)
		die("creating what is asked");
	id = prm_get(out, OUT_OBJ_ID);
	say_read("answers, none", answers->fd, 4096);
	for (int i = 0; i < 2; i++) {
		uint8_t query[32] = {0};

		prm_put(query, IN_OPCODE, CMD_QUERY_FLOW_COUNTER);
		prm_put(query, 0xe0, 32, id);
		say("answers, asked");
		say_errno(
			mlx5dv_devx_obj_query_async(counter, query, sizeof(query), 32, 7, answers));
		say("\n");
		await(answers->fd);
	}
	say_reads("answers", answers->fd, 8 + 32);
	mlx5dv_devx_obj_destroy(counter);
	mlx5dv_devx_destroy_cmd_comp(answers);
}

/* --- events of DEVX --------------------------------------------------------------------------- */

static void ask_devx_events(enum mlx5dv_devx_create_event_channel_flags flags, const char *what)
{
	static const uint16_t lists[][2] = {{0x9}, {0x9, 0x9}, {0x0}, {0xb}, {0xff}, {0x100}};
	struct mlx5dv_devx_event_channel *channel =
		mlx5dv_devx_create_event_channel(card.context, flags);

	if (!channel)
		die("creating a channel");
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		uint16_t events[2] = {lists[i][0], lists[i][1]};

		say("%s, subscribed to 0x%x and 0x%x", what, events[0], events[1]);
		say_errno(mlx5dv_devx_subscribe_devx_event(channel, NULL, events[1] ? 4 : 2, events,
							   i)
				  ? errno
				  : 0);
		say("\n");
	}
	say_read(what, channel->fd, 8);
	say_read(what, channel->fd, 4096);
	mlx5dv_devx_destroy_event_channel(channel);
}

void ask_event_files(void)
{
	open_card();
	ask_completion_channel();
	ask_asynchronous_events();
	ask_of_missing_objects();
	ask_answers();
	ask_devx_events(0, "events of devx");
	ask_devx_events(MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA,
			"events of devx without data");
	ibv_destroy_comp_channel(card.channel);
	ibv_dealloc_pd(card.pd);
	ibv_close_device(card.context);
}
