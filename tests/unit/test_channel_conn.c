/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Frames over a socket whose peer is arbitrary. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "channel/conn.h"

struct fixture {
	struct dpumap_conn *conn;
	int peer;
	struct dpumap_error error;
};

static int set_up(void **state)
{
	static struct fixture f;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
		return -1;
	f.peer = fds[1];
	*state = &f;
	return dpumap_conn_create(fds[0], NULL, NULL, &f.conn, &f.error) == DOCA_SUCCESS ? 0 : -1;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	dpumap_conn_destroy(f->conn);
	if (f->peer >= 0)
		close(f->peer);
	return 0;
}

static void feed(struct fixture *f, const void *data, size_t len)
{
	assert_int_equal(send(f->peer, data, len, MSG_NOSIGNAL), len);
	assert_int_equal(dpumap_conn_fill(f->conn, &f->error), DOCA_SUCCESS);
}

static doca_error_t receive(struct fixture *f, const uint8_t **payload, size_t *len)
{
	return dpumap_conn_frame(f->conn, payload, len, &f->error);
}

static void a_frame_may_arrive_byte_by_byte(void **state)
{
	static const uint8_t wire[] = {3, 0, 0, 0, 'a', 'b', 'c'};
	struct fixture *f = *state;
	const uint8_t *payload;
	size_t len;

	assert_int_equal(dpumap_conn_fill(f->conn, &f->error), DOCA_ERROR_AGAIN);
	for (size_t i = 0; i < sizeof(wire); i++) {
		assert_int_equal(receive(f, &payload, &len), DOCA_ERROR_AGAIN);
		feed(f, wire + i, 1);
		if (i + 1 < sizeof(wire))
			assert_true(dpumap_conn_stalled_since(f->conn) != 0);
	}
	assert_int_equal(receive(f, &payload, &len), DOCA_SUCCESS);
	assert_int_equal(len, 3);
	assert_memory_equal(payload, "abc", 3);
	assert_true(dpumap_conn_stalled_since(f->conn) == 0);
	dpumap_conn_drop_frame(f->conn);
	assert_int_equal(receive(f, &payload, &len), DOCA_ERROR_AGAIN);
	assert_true(dpumap_conn_stalled_since(f->conn) == 0);
}

static void several_frames_may_arrive_in_one_piece(void **state)
{
	static const uint8_t wire[] = {1, 0, 0, 0, 'a', 2, 0, 0, 0, 'b', 'c', 9};
	struct fixture *f = *state;
	const uint8_t *payload;
	size_t len;

	feed(f, wire, sizeof(wire));
	assert_int_equal(receive(f, &payload, &len), DOCA_SUCCESS);
	assert_memory_equal(payload, "a", 1);
	dpumap_conn_drop_frame(f->conn);
	assert_int_equal(receive(f, &payload, &len), DOCA_SUCCESS);
	assert_int_equal(len, 2);
	assert_memory_equal(payload, "bc", 2);
	dpumap_conn_drop_frame(f->conn);
	assert_int_equal(receive(f, &payload, &len), DOCA_ERROR_AGAIN);
	assert_true(dpumap_conn_stalled_since(f->conn) != 0);
}

static void invalid_frame_lengths_are_refused(void **state)
{
	static const uint8_t wires[][4] = {
		{0, 0, 0, 0}, {1, 0, 1, 0}, {0xff, 0xff, 0xff, 0xff}, {0, 0, 0, 0x80}};
	const uint8_t *payload;
	size_t len;

	for (size_t i = 0; i < ARRAY_SIZE(wires); i++) {
		struct fixture *f = *state;

		feed(f, wires[i], sizeof(wires[i]));
		assert_int_equal(receive(f, &payload, &len), DOCA_ERROR_INVALID_VALUE);
		assert_non_null(strstr(f->error.text, "malformed frame"));
		tear_down(state);
		assert_int_equal(set_up(state), 0);
	}
}

static void a_frame_may_have_the_maximum_length(void **state)
{
	static const uint8_t header[] = {0, 0, 1, 0};
	static const uint8_t part[4096] = {[4095] = 7};
	struct fixture *f = *state;
	const uint8_t *payload;
	size_t len;

	feed(f, header, sizeof(header));
	for (size_t sent = 0; sent < DPUMAP_FRAME_MAX; sent += sizeof(part)) {
		assert_int_equal(receive(f, &payload, &len), DOCA_ERROR_AGAIN);
		feed(f, part, sizeof(part));
	}
	assert_int_equal(receive(f, &payload, &len), DOCA_SUCCESS);
	assert_int_equal(len, DPUMAP_FRAME_MAX);
	assert_int_equal(payload[len - 1], 7);
	/* The bytes after it must wait, without a read beyond the end. */
	assert_int_equal(send(f->peer, part, 1, MSG_NOSIGNAL), 1);
	assert_int_equal(dpumap_conn_fill(f->conn, &f->error), DOCA_ERROR_AGAIN);
	dpumap_conn_drop_frame(f->conn);
	assert_int_equal(dpumap_conn_fill(f->conn, &f->error), DOCA_SUCCESS);
}

static void a_peer_that_leaves_within_a_frame_resets_the_connection(void **state)
{
	static const uint8_t wire[] = {3, 0, 0, 0, 'a'};
	struct fixture *f = *state;
	const uint8_t *payload;
	size_t len;

	feed(f, wire, sizeof(wire));
	close(f->peer);
	f->peer = -1;
	assert_int_equal(dpumap_conn_fill(f->conn, &f->error), DOCA_ERROR_CONNECTION_RESET);
	assert_int_equal(receive(f, &payload, &len), DOCA_ERROR_AGAIN);
}

static void set_message(struct dpumap_msg *msg, uint32_t exports)
{
	struct dpumap_export_info info = {.name = "x", .kind = "dram"};

	dpumap_msg_init(msg);
	dpumap_msg_set_number(msg, DPUMAP_MSG_ID, 5);
	for (uint32_t i = 0; i < exports; i++)
		dpumap_msg_add_export(msg, &info);
}

static void a_message_is_sent_as_one_frame(void **state)
{
	struct fixture *f = *state;
	uint8_t wire[64];
	struct dpumap_msg msg;
	ssize_t n;

	set_message(&msg, 0);
	assert_int_equal(dpumap_conn_put(f->conn, &msg, &f->error), DOCA_SUCCESS);
	assert_true(dpumap_conn_has_output(f->conn));
	assert_int_equal(dpumap_conn_flush(f->conn, &f->error), DOCA_SUCCESS);
	assert_false(dpumap_conn_has_output(f->conn));
	n = recv(f->peer, wire, sizeof(wire), 0);
	assert_int_equal(n, 4 + 5);
	assert_memory_equal(wire, "\x05\0\0\0\xa1\x62id\x05", 9);
}

static void messages_are_sent_together_in_order(void **state)
{
	struct fixture *f = *state;
	struct dpumap_msg msg;
	uint8_t wire[64];

	set_message(&msg, 0);
	assert_int_equal(dpumap_conn_put(f->conn, &msg, &f->error), DOCA_SUCCESS);
	dpumap_msg_set_number(&msg, DPUMAP_MSG_ID, 6);
	assert_int_equal(dpumap_conn_put(f->conn, &msg, &f->error), DOCA_SUCCESS);
	assert_int_equal(dpumap_conn_flush(f->conn, &f->error), DOCA_SUCCESS);
	assert_false(dpumap_conn_has_output(f->conn));
	assert_int_equal(recv(f->peer, wire, sizeof(wire), 0), 18);
	assert_memory_equal(wire, "\x05\0\0\0\xa1\x62id\x05\x05\0\0\0\xa1\x62id\x06", 18);
}

static void long_output_and_a_descriptor_are_sent_before_more_messages(void **state)
{
	struct fixture *f = *state;
	struct dpumap_msg msg;
	unsigned int num = 0;

	set_message(&msg, DPUMAP_EXPORTS_PER_MSG);
	assert_true(dpumap_conn_may_gather(f->conn));
	while (dpumap_conn_may_gather(f->conn)) {
		assert_int_equal(dpumap_conn_put(f->conn, &msg, &f->error), DOCA_SUCCESS);
		num++;
	}
	assert_in_range(num, 2, 16);
	/* What does not fit is refused, and leaves the others as they are. */
	while (dpumap_conn_put(f->conn, &msg, &f->error) == DOCA_SUCCESS)
		assert_true(num++ < 1000);
	assert_int_equal(f->error.code, DOCA_ERROR_TOO_BIG);
	assert_int_equal(dpumap_conn_flush(f->conn, &f->error), DOCA_SUCCESS);
	assert_true(dpumap_conn_may_gather(f->conn));
	dpumap_conn_pass_fd(f->conn, dup(STDIN_FILENO));
	assert_false(dpumap_conn_may_gather(f->conn));
}

/* A peer that does not read lets the buffer fill up; the caller must not block. */
static void a_slow_reader_does_not_block_the_sender(void **state)
{
	struct fixture *f = *state;
	uint8_t sink[8192];
	struct dpumap_msg msg;
	doca_error_t result;
	unsigned int sent = 0;

	set_message(&msg, DPUMAP_EXPORTS_PER_MSG);
	do {
		assert_int_equal(dpumap_conn_put(f->conn, &msg, &f->error), DOCA_SUCCESS);
		result = dpumap_conn_flush(f->conn, &f->error);
		sent++;
	} while (result == DOCA_SUCCESS && sent < 100000);
	assert_int_equal(result, DOCA_ERROR_AGAIN);
	assert_false(dpumap_conn_may_gather(f->conn));
	assert_int_equal(dpumap_conn_put(f->conn, &msg, &f->error), DOCA_SUCCESS);
	assert_true(dpumap_conn_stalled_since(f->conn) != 0);
	while (dpumap_conn_flush(f->conn, &f->error) == DOCA_ERROR_AGAIN)
		assert_true(recv(f->peer, sink, sizeof(sink), 0) > 0);
	assert_false(dpumap_conn_has_output(f->conn));
	assert_true(dpumap_conn_stalled_since(f->conn) == 0);
}

/* SIGPIPE would end the process unless it is suppressed. */
static void flush_to_a_closed_peer_fails(void **state)
{
	struct fixture *f = *state;
	struct dpumap_msg msg;

	close(f->peer);
	f->peer = -1;
	set_message(&msg, 0);
	assert_int_equal(dpumap_conn_put(f->conn, &msg, &f->error), DOCA_SUCCESS);
	assert_int_equal(dpumap_conn_flush(f->conn, &f->error), DOCA_ERROR_CONNECTION_RESET);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_frame_may_arrive_byte_by_byte),
		TEST(several_frames_may_arrive_in_one_piece),
		TEST(invalid_frame_lengths_are_refused),
		TEST(a_frame_may_have_the_maximum_length),
		TEST(a_peer_that_leaves_within_a_frame_resets_the_connection),
		TEST(a_message_is_sent_as_one_frame),
		TEST(messages_are_sent_together_in_order),
		TEST(long_output_and_a_descriptor_are_sent_before_more_messages),
		TEST(a_slow_reader_does_not_block_the_sender),
		TEST(flush_to_a_closed_peer_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
