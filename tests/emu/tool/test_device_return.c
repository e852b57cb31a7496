/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Programs that go on after a failure: a device that returns is a new one for libibverbs and librdmacm, and a
 * connection survives while its port is down for a time.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include "fixture.h"

#define ADDRESS	    "127.100.0.1" /* of the DPU's port */
#define BYTES	    64
#define PATIENCE_MS 60000
#define ACK_TIMEOUT 20 /* 4.096 us << 20: with 7 retries, half a minute, for commands of the tool */

struct side {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	char bytes[BYTES];
};

static struct side server, client;
static struct rdma_cm_id *listener;

static struct rdma_cm_id *expect(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	assert_int_equal(rdma_get_cm_event(channel, &event), 0);
	if (event->event != type)
		fail_msg("%s instead of %s", rdma_event_str(event->event), rdma_event_str(type));
	id = event->id;
	assert_int_equal(rdma_ack_cm_event(event), 0);
	return id;
}

static void listen_at_port(struct sockaddr_in *at)
{
	socklen_t len = sizeof(*at);

	*at = (struct sockaddr_in){.sin_family = AF_INET};
	assert_int_equal(inet_pton(AF_INET, ADDRESS, &at->sin_addr), 1);
	server.channel = rdma_create_event_channel();
	assert_non_null(server.channel);
	assert_int_equal(rdma_create_id(server.channel, &listener, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(rdma_bind_addr(listener, (struct sockaddr *)at), 0);
	assert_int_equal(rdma_listen(listener, 1), 0);
	memcpy(at, rdma_get_local_addr(listener), len);
}

static void make_queue(struct side *s)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
	};

	assert_int_equal(rdma_create_qp(s->id, NULL, &init), 0);
	s->mr = rdma_reg_msgs(s->id, s->bytes, BYTES);
	assert_non_null(s->mr);
}

static void connect_sides(void)
{
	struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7};
	uint8_t timeout = ACK_TIMEOUT;
	struct sockaddr_in to;

	listen_at_port(&to);
	client.channel = rdma_create_event_channel();
	assert_non_null(client.channel);
	assert_int_equal(rdma_create_id(client.channel, &client.id, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(rdma_set_option(client.id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT,
					 &timeout, sizeof(timeout)),
			 0);
	assert_int_equal(rdma_resolve_addr(client.id, NULL, (struct sockaddr *)&to, PATIENCE_MS),
			 0);
	expect(client.channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	assert_int_equal(rdma_resolve_route(client.id, PATIENCE_MS), 0);
	expect(client.channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	make_queue(&client);
	assert_int_equal(rdma_connect(client.id, &param), 0);
	server.id = expect(server.channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	make_queue(&server);
	assert_int_equal(rdma_accept(server.id, &param), 0);
	expect(client.channel, RDMA_CM_EVENT_ESTABLISHED);
	expect(server.channel, RDMA_CM_EVENT_ESTABLISHED);
}

static void post_message(const char *text)
{
	assert_int_equal(rdma_post_recv(server.id, NULL, server.bytes, BYTES, server.mr), 0);
	snprintf(client.bytes, BYTES, "%s", text);
	assert_int_equal(
		rdma_post_send(client.id, NULL, client.bytes, BYTES, client.mr, IBV_SEND_SIGNALED),
		0);
}

static void expect_message(const char *text)
{
	struct ibv_wc wc;

	assert_int_equal(rdma_get_recv_comp(server.id, &wc), 1);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_string_equal(server.bytes, text);
	assert_int_equal(rdma_get_send_comp(client.id, &wc), 1);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
}

static void close_side(struct side *s)
{
	assert_int_equal(rdma_dereg_mr(s->mr), 0);
	rdma_destroy_qp(s->id);
	assert_int_equal(rdma_destroy_id(s->id), 0);
}

static void close_sides(void)
{
	close_side(&client);
	close_side(&server);
	assert_int_equal(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(client.channel);
	rdma_destroy_event_channel(server.channel);
}

static void run(const char *command, const char *what, const char *as)
{
	const char *const argv[] = {test_options.emu, command, what, as ? "--as" : NULL, as, NULL};

	assert_int_equal(process_run(argv), 0);
}

/* The index of the only device, or -1. */
static int find_device(void)
{
	int n, index;
	struct ibv_device **list = ibv_get_device_list(&n);

	assert_non_null(list);
	index = n ? ibv_get_device_index(list[0]) : -1;
	ibv_free_device_list(list);
	return index;
}

static void device_that_returns_is_a_new_one(void **state)
{
	int before = find_device();

	assert_int_not_equal(before, -1);
	run("fault", "device", "dpu");
	assert_int_equal(find_device(), -1);
	assert_int_not_equal(access("/sys/class/infiniband/mlx5_0", F_OK), 0);
	run("fault", "clear", NULL);
	assert_int_not_equal(find_device(), -1);
	assert_int_not_equal(find_device(), before);
	assert_int_equal(access("/sys/class/infiniband/mlx5_0", F_OK), 0);
}

/* Without opening anything that it has opened before, whatever librdmacm remembers. */
static void server_and_client_connect_again_after_the_device_failed(void **state)
{
	connect_sides();
	post_message("before");
	expect_message("before");
	run("fault", "device", "dpu");
	expect(client.channel, RDMA_CM_EVENT_DEVICE_REMOVAL);
	expect(server.channel, RDMA_CM_EVENT_DEVICE_REMOVAL);
	expect(server.channel, RDMA_CM_EVENT_DEVICE_REMOVAL);
	close_sides();
	run("fault", "clear", NULL);
	connect_sides();
	post_message("after");
	expect_message("after");
	close_sides();
}

static void connection_goes_on_after_the_port_was_down(void **state)
{
	connect_sides();
	run("port", "down", "dpu");
	post_message("later");
	run("port", "up", "dpu");
	expect_message("later");
	close_sides();
	connect_sides();
	post_message("again");
	expect_message("again");
	close_sides();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(device_that_returns_is_a_new_one),
		cmocka_unit_test(server_and_client_connect_again_after_the_device_failed),
		cmocka_unit_test(connection_goes_on_after_the_port_was_down),
	};

	test_parse_options(argc, argv);
	setenv("RDMAV_ALLOW_DISASSOC_DESTROY", "1",
	       1); /* libibverbs frees objects of a device that failed */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
