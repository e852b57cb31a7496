/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reads of event files: one event a read, however long the buffer is; a buffer that is too short is refused, and
 * the event stays.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <rdma/ib_user_verbs.h>

#include "verbs.h"

#define EVENTS 3

/* Queues whose events are in one channel. */
struct source {
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq[EVENTS];
	struct ibv_qp *qp[EVENTS];
};

static struct source open_source(const struct verbs *n)
{
	struct source s;

	s.channel = ibv_create_comp_channel(n->ctx);
	assert_non_null(s.channel);
	for (int i = 0; i < EVENTS; i++) {
		struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC,
						.cap = {.max_recv_wr = 1, .max_recv_sge = 1}};

		s.cq[i] = ibv_create_cq(n->ctx, 1, NULL, s.channel, 0);
		assert_non_null(s.cq[i]);
		init.send_cq = init.recv_cq = s.cq[i];
		s.qp[i] = ibv_create_qp(n->pd, &init);
		assert_non_null(s.qp[i]);
		verbs_make_ready_to_receive(n, s.qp[i], s.qp[i]->qp_num);
		assert_int_equal(ibv_req_notify_cq(s.cq[i], 0), 0);
	}
	return s;
}

/* A receive that is flushed completes. */
static void raise_event(const struct verbs *n, const struct source *s, int i)
{
	verbs_recv_into(n, s->qp[i], 0, 8);
	assert_int_equal(verbs_modify(s->qp[i], IBV_QPS_ERR, 0), 0);
	verbs_expect(s->cq[i], IBV_WC_WR_FLUSH_ERR);
}

static void close_source(struct source *s, int nread)
{
	for (int i = 0; i < EVENTS; i++) {
		if (i < nread)
			ibv_ack_cq_events(s->cq[i], 1);
		assert_int_equal(ibv_destroy_qp(s->qp[i]), 0);
		assert_int_equal(ibv_destroy_cq(s->cq[i]), 0);
	}
	assert_int_equal(ibv_destroy_comp_channel(s->channel), 0);
}

static void set_blocking(int fd, bool blocking)
{
	assert_int_equal(fcntl(fd, F_SETFL, blocking ? 0 : O_NONBLOCK), 0);
}

static void expect_error(int fd, size_t len, int error)
{
	uint8_t bytes[4096];

	errno = 0;
	assert_int_equal(read(fd, bytes, len), -1);
	assert_int_equal(errno, error);
}

static void expect_event(int fd, size_t len, const struct ibv_cq *cq)
{
	uint8_t bytes[4096];
	struct ib_uverbs_comp_event_desc event;

	assert_int_equal(read(fd, bytes, len), sizeof(event));
	memcpy(&event, bytes, sizeof(event));
	assert_ptr_equal((void *)(uintptr_t)event.cq_handle, cq);
}

static void await(int fd)
{
	fd_set fds;

	FD_ZERO(&fds);
	FD_SET(fd, &fds);
	assert_int_equal(select(fd + 1, &fds, NULL, NULL, NULL), 1);
}

static void completion_channel_gives_one_event_a_read(void **state)
{
	struct verbs *n = *state;
	struct source s = open_source(n);
	int fd = s.channel->fd, other;

	for (int i = 0; i < EVENTS; i++) {
		raise_event(n, &s, i);
		await(fd);
	}
	expect_error(fd, 4, EINVAL);
	expect_error(fd, 0, EINVAL);
	expect_event(fd, 4096, s.cq[0]);
	other = dup(fd);
	assert_true(other >= 0);
	expect_error(other, 7, EINVAL);
	expect_event(other, 9, s.cq[1]);
	assert_int_equal(close(other), 0);
	/* It may arrive after its completion. */
	expect_event(fd, 16, s.cq[2]);
	set_blocking(fd, false);
	expect_error(fd, 4096, EAGAIN);
	expect_error(fd, 4, EAGAIN);
	close_source(&s, EVENTS);
}

struct reader {
	int fd, error;
};

static void *read_too_little(void *arg)
{
	struct reader *r = arg;
	uint32_t half;

	r->error = read(r->fd, &half, sizeof(half)) < 0 ? errno : 0;
	return NULL;
}

/* The kernel looks at the buffer when there is an event for it. */
static void short_read_waits_for_an_event(void **state)
{
	struct verbs *n = *state;
	struct source s = open_source(n);
	struct reader r = {.fd = s.channel->fd};
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, read_too_little, &r), 0);
	raise_event(n, &s, 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(r.error, EINVAL);
	expect_event(s.channel->fd, 8, s.cq[0]);
	close_source(&s, 1);
}

static void move_port(const char *to)
{
	const char *const argv[] = {test_options.emu, "port", to, "--as", "dpu", NULL};

	assert_int_equal(process_run(argv), 0);
}

/* IBV_EVENT_DEVICE_SPEED_CHANGE, which older headers lack. */
#define SPEED_CHANGE ((enum ibv_event_type)20)

static void expect_async(int fd, size_t len, enum ibv_event_type type)
{
	uint8_t bytes[4096];
	struct ib_uverbs_async_event_desc event;

	assert_int_equal(read(fd, bytes, len), sizeof(event));
	memcpy(&event, bytes, sizeof(event));
	assert_int_equal(event.event_type, type);
}

static void async_file_gives_one_event_a_read(void **state)
{
	struct verbs *n = *state;
	int fd = n->ctx->async_fd;

	move_port("down");
	move_port("up");
	expect_error(fd, 8, EINVAL);
	expect_error(fd, 15, EINVAL);
	expect_async(fd, 4096, SPEED_CHANGE);
	expect_async(fd, 17, IBV_EVENT_PORT_ERR);
	expect_async(fd, 16, SPEED_CHANGE);
	expect_async(fd, 17, IBV_EVENT_PORT_ACTIVE);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(completion_channel_gives_one_event_a_read,
						verbs_open, verbs_close),
		cmocka_unit_test_setup_teardown(short_read_waits_for_an_event, verbs_open,
						verbs_close),
		cmocka_unit_test_setup_teardown(async_file_gives_one_event_a_read, verbs_open,
						verbs_close),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
