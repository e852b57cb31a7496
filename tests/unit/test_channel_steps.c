/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * dpumap_channel_process() waits for nothing: this thread is the channel's and the server's, which answers only when
 * the channel has returned. The clock is moved, so that no time passes.
 */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <dpumap/channel.h>

#include "channel/conn.h"
#include "channel/listener.h"
#include "temporary.h"

#define TIMEOUT_S 3600 /* of each call: a call that waits never ends */

static time_t clock_ahead_s;

int __real_clock_gettime(clockid_t clock, struct timespec *now);
/* The linker wants it for shared libraries, too. */
__attribute__((visibility("default"))) int __wrap_clock_gettime(clockid_t clock,
								struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	int status = __real_clock_gettime(clock, now);

	now->tv_sec += clock_ahead_s;
	return status;
}

static struct server {
	struct dpumap_listener *listener;
	struct dpumap_conn *conn;
} server;

static struct dpumap_channel *channel;
static enum dpumap_channel_event heard[8];
static unsigned int num_heard;

static void hear(union doca_data user_data, enum dpumap_channel_event event, const char *name)
{
	if (num_heard < 8)
		heard[num_heard++] = event;
}

static void listen_again(void)
{
	struct dpumap_error error = {0};
	struct dpumap_address address;
	char text[128];

	snprintf(text, sizeof(text), "unix:%s", temporary_path);
	assert_int_equal(dpumap_address_parse(text, &address, &error), DOCA_SUCCESS);
	assert_int_equal(dpumap_listener_create(&address, false, &server.listener, &error),
			 DOCA_SUCCESS);
}

static void stop_server(void)
{
	dpumap_conn_destroy(server.conn);
	server.conn = NULL;
	dpumap_listener_destroy(server.listener);
	server.listener = NULL;
}

static void accept_channel(void)
{
	struct dpumap_error error = {0};
	struct pollfd p = {.fd = dpumap_listener_fd(server.listener), .events = POLLIN};
	int fd;

	assert_int_equal(poll(&p, 1, 0), 1);
	fd = accept(p.fd, NULL, NULL);
	assert_true(fd >= 0);
	assert_int_equal(dpumap_conn_create(fd, NULL, NULL, &server.conn, &error), DOCA_SUCCESS);
}

/* Its number. */
static uint64_t request(enum dpumap_op wanted)
{
	struct dpumap_error error = {0};
	struct dpumap_msg msg;
	const uint8_t *payload;
	enum dpumap_op op;
	size_t len;

	if (dpumap_conn_frame(server.conn, &payload, &len, &error) == DOCA_ERROR_AGAIN)
		assert_int_equal(dpumap_conn_fill(server.conn, &error), DOCA_SUCCESS);
	assert_int_equal(dpumap_conn_frame(server.conn, &payload, &len, &error), DOCA_SUCCESS);
	assert_int_equal(dpumap_msg_decode(payload, len, &msg, &error), DOCA_SUCCESS);
	assert_true(dpumap_op_find(&msg, &op));
	assert_string_equal(dpumap_op_name(op), dpumap_op_name(wanted));
	dpumap_conn_drop_frame(server.conn);
	return msg.value[DPUMAP_MSG_ID].number;
}

static void no_request(void)
{
	struct dpumap_error error = {0};

	assert_int_equal(dpumap_conn_fill(server.conn, &error), DOCA_ERROR_AGAIN);
}

static void reply(uint64_t id)
{
	struct dpumap_error error = {0};
	struct dpumap_msg msg;

	dpumap_msg_init(&msg);
	dpumap_msg_set_number(&msg, DPUMAP_MSG_ID, id);
	dpumap_msg_set_number(&msg, DPUMAP_MSG_STATUS, DOCA_SUCCESS);
	dpumap_msg_set_number(&msg, DPUMAP_MSG_VERSION, DPUMAP_CHANNEL_VERSION);
	assert_int_equal(dpumap_conn_put(server.conn, &msg, &error), DOCA_SUCCESS);
	assert_int_equal(dpumap_conn_flush(server.conn, &error), DOCA_SUCCESS);
}

static void process(void)
{
	assert_int_equal(dpumap_channel_process(channel), DOCA_SUCCESS);
}

/* The descriptor or the time says that there is something to do. */
static bool is_due(void)
{
	doca_notification_handle_t handle;
	struct pollfd p = {.events = POLLIN};
	int wait;

	assert_int_equal(dpumap_channel_get_notification_handle(channel, &handle), DOCA_SUCCESS);
	assert_int_equal(dpumap_channel_get_next_time(channel, &wait), DOCA_SUCCESS);
	p.fd = handle;
	return wait == 0 || poll(&p, 1, 0) == 1;
}

static void assert_heard(unsigned int num, enum dpumap_channel_event last)
{
	assert_int_equal(num_heard, num);
	assert_int_equal(heard[num - 1], last);
}

/* The first connection is made by a call that waits: a child answers it. */
static pid_t answer_first(void)
{
	pid_t pid = fork();
	struct pollfd p = {.fd = dpumap_listener_fd(server.listener), .events = POLLIN};

	if (pid)
		return pid;
	poll(&p, 1, -1);
	accept_channel();
	for (enum dpumap_op op = DPUMAP_OP_HELLO;; op = DPUMAP_OP_WATCH) {
		p.fd = dpumap_conn_fd(server.conn);
		poll(&p, 1, -1);
		reply(request(op));
		if (op == DPUMAP_OP_WATCH)
			_exit(0);
	}
}

/* A channel that watches, and has just lost its connection. */
static void lose_connection(void)
{
	pid_t pid;
	char text[128];

	num_heard = 0;
	clock_ahead_s = 0;
	listen_again();
	pid = answer_first();
	snprintf(text, sizeof(text), "unix:%s", temporary_path);
	assert_int_equal(dpumap_channel_create(&channel), DOCA_SUCCESS);
	assert_int_equal(dpumap_channel_set_address(channel, text), DOCA_SUCCESS);
	assert_int_equal(dpumap_channel_set_timeout(channel, TIMEOUT_S * 1000), DOCA_SUCCESS);
	assert_int_equal(dpumap_channel_connect(channel), DOCA_SUCCESS);
	assert_int_equal(dpumap_channel_watch(channel, hear, (union doca_data){0}), DOCA_SUCCESS);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	stop_server();
	assert_true(is_due());
	process();
	assert_heard(1, DPUMAP_CHANNEL_LOST);
}

/* When its pause is over. */
static void begin_again(void)
{
	listen_again();
	clock_ahead_s += 31;
	assert_true(is_due());
	process();
	accept_channel();
}

static void reconnect(void)
{
	uint64_t id = request(DPUMAP_OP_HELLO);

	no_request();
	assert_false(is_due());
	process();
	no_request();
	reply(id);
	assert_true(is_due());
	process();
	id = request(DPUMAP_OP_WATCH);
	assert_false(is_due());
	process();
	assert_int_equal(num_heard, 1);
	reply(id);
	assert_true(is_due());
	process();
	assert_heard(2, DPUMAP_CHANNEL_BACK);
	assert_false(is_due());
}

static void end(void)
{
	assert_int_equal(dpumap_channel_destroy(channel), DOCA_SUCCESS);
	if (server.listener)
		stop_server();
}

static void a_lost_connection_is_restored_step_by_step(void **state)
{
	lose_connection();
	begin_again();
	reconnect();
	end();
}

static void a_server_that_says_nothing_is_given_up_after_the_time_of_a_call(void **state)
{
	lose_connection();
	begin_again();
	clock_ahead_s += TIMEOUT_S - 1;
	process();
	assert_false(is_due());
	clock_ahead_s += 2;
	assert_true(is_due());
	process();
	assert_non_null(strstr(dpumap_channel_get_error(channel), "no reply from"));
	assert_int_equal(dpumap_conn_fill(server.conn, &(struct dpumap_error){0}), DOCA_SUCCESS);
	assert_int_equal(dpumap_conn_fill(server.conn, &(struct dpumap_error){0}),
			 DOCA_ERROR_CONNECTION_RESET);
	stop_server();
	begin_again();
	reconnect();
	end();
}

/* No connection is left if the channel ends meanwhile. */
static void a_channel_can_end_while_it_connects(void **state)
{
	lose_connection();
	begin_again();
	request(DPUMAP_OP_HELLO);
	assert_int_equal(dpumap_channel_destroy(channel), DOCA_SUCCESS);
	assert_int_equal(dpumap_conn_fill(server.conn, &(struct dpumap_error){0}),
			 DOCA_ERROR_CONNECTION_RESET);
	stop_server();
}

static void a_quiet_connection_is_asked_for_a_sign_of_life(void **state)
{
	uint64_t id;

	lose_connection();
	begin_again();
	reconnect();
	clock_ahead_s += 16;
	assert_true(is_due());
	process();
	id = request(DPUMAP_OP_PING);
	assert_false(is_due());
	process();
	no_request();
	reply(id);
	assert_true(is_due());
	process();
	assert_false(is_due());
	clock_ahead_s += 16;
	process();
	request(DPUMAP_OP_PING);
	clock_ahead_s += TIMEOUT_S + 1;
	assert_true(is_due());
	process();
	assert_heard(3, DPUMAP_CHANNEL_LOST);
	end();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, temporary_set_up, temporary_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_lost_connection_is_restored_step_by_step),
		TEST(a_server_that_says_nothing_is_given_up_after_the_time_of_a_call),
		TEST(a_channel_can_end_while_it_connects),
		TEST(a_quiet_connection_is_asked_for_a_sign_of_life),
	};

	alarm(300); /* a call that waits */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
