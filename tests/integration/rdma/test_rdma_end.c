/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The end of contexts whose tasks do not end by themselves. The programs sleep until the notification
 * handle is readable, and progress only then.
 */
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <dpumap-emu.h>

#include "side.h"

#define PART   100u
#define WRITES 16u

/* Sleep and progress until the context is IDLE. */
static void sleep_until_idle(struct side *side)
{
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	struct pollfd fd = {.events = POLLIN};
	doca_notification_handle_t handle;

	assert_ok(doca_pe_get_notification_handle(side->pe, &handle));
	fd.fd = handle;
	while (side_state(side) != DOCA_CTX_STATE_IDLE) {
		assert_true(monotonic_ms() < limit);
		assert_ok(doca_pe_request_notification(side->pe));
		assert_int_equal(poll(&fd, 1, FIXTURE_TIMEOUT_MS), 1);
		assert_ok(doca_pe_clear_notification(side->pe, 0));
		while (doca_pe_progress(side->pe))
			;
	}
}

static void assert_flushed(const struct side *side, unsigned int first, unsigned int n)
{
	assert_int_equal(side->n_done, n);
	for (unsigned int i = first; i < n; i++) {
		assert_error(side->done[i].status, DOCA_ERROR_SHUTDOWN);
		assert_true(side->done[i].by_error_cb);
	}
}

/* rdma_rxe may report its last try of the first send in place of the flush. */
static void assert_sends_flushed(struct side *side, unsigned int n)
{
	if (side_is_software(side) && side->n_done == n && side->done[0].by_error_cb &&
	    side->done[0].status == DOCA_ERROR_CONNECTION_ABORTED)
		side->done[0].status = DOCA_ERROR_SHUTDOWN;
	assert_flushed(side, 0, n);
}

/* rule: RD-10d, X-14 */
static void a_send_that_nobody_receives_ends_while_the_program_sleeps(void **state)
{
	for (unsigned int i = 0; i < 3; i++)
		side_post(&here, .kind = SIDE_SEND, .src = side_data(&here, 0, PART), .data = i);
	assert_error(doca_ctx_stop(here.ctx), DOCA_ERROR_IN_PROGRESS);
	sleep_until_idle(&here);
	assert_sends_flushed(&here, 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(here.done[i].data, i);
}

/* A program that closed its standard input gets 0 for the next descriptor, here the timer of the stop. */
/* rule: RD-10d */
static void the_end_closes_its_timer_whatever_its_number(void **state)
{
	int input = dup(STDIN_FILENO);

	assert_true(input >= 0);
	side_post(&here, .kind = SIDE_SEND, .src = side_data(&here, 0, PART));
	assert_int_equal(close(STDIN_FILENO), 0);
	assert_error(doca_ctx_stop(here.ctx), DOCA_ERROR_IN_PROGRESS);
	assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
	sleep_until_idle(&here);
	assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
	assert_int_equal(dup2(input, STDIN_FILENO), STDIN_FILENO);
	assert_int_equal(close(input), 0);
	assert_sends_flushed(&here, 1);
}

/* rule: RD-10d, X-14 */
static void receives_end_while_the_program_sleeps(void **state)
{
	for (unsigned int i = 0; i < 3; i++)
		side_post(&here, .kind = SIDE_RECEIVE, .dst = side_room(&here, 0, PART), .data = i);
	assert_error(doca_ctx_stop(here.ctx), DOCA_ERROR_IN_PROGRESS);
	sleep_until_idle(&here);
	assert_flushed(&here, 0, 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(here.done[i].data, i);
}

/* rule: RD-10d, X-14 */
static void receives_end_after_a_write_that_succeeds(void **state)
{
	side_post(&here, .kind = SIDE_RECEIVE, .dst = side_room(&here, 0, PART));
	fixture_fill(here.bytes, SIDE_LEN / 2, 1);
	side_post(&here, .kind = SIDE_WRITE, .src = side_data(&here, 0, SIDE_LEN / 2),
		  .dst = side_peer_room(&here, 0, SIDE_LEN / 2));
	assert_error(doca_ctx_stop(here.ctx), DOCA_ERROR_IN_PROGRESS);
	sleep_until_idle(&here);
	assert_int_equal(here.done[0].kind, SIDE_WRITE);
	assert_ok(here.done[0].status);
	assert_memory_equal(there.bytes, here.bytes, SIDE_LEN / 2);
	assert_flushed(&here, 1, 2);
}

/* The device never reports the write: the context ends all the same. */
/* rule: RD-10e */
static void a_lost_completion_does_not_keep_the_context(void **state)
{
	test_needs_emulator();
	assert_int_equal(dpumap_emu_fault("completion --lose"), 0);
	side_post(&here, .kind = SIDE_WRITE, .src = side_data(&here, 0, PART),
		  .dst = side_peer_room(&here, 0, PART));
	assert_error(doca_ctx_stop(here.ctx), DOCA_ERROR_IN_PROGRESS);
	sleep_until_idle(&here);
	assert_int_equal(dpumap_emu_fault("clear"), 0);
	assert_flushed(&here, 0, 1);
}

/* The next completion of the connection says that the earlier task is done too. */
/* rule: RD-10e */
static void a_lost_completion_is_covered_by_the_next(void **state)
{
	test_needs_emulator();
	assert_int_equal(dpumap_emu_fault("completion --lose"), 0);
	for (unsigned int i = 0; i < 2; i++)
		side_post(&here, .kind = SIDE_WRITE, .src = side_data(&here, i * PART, PART),
			  .dst = side_peer_room(&here, i * PART, PART), .data = i);
	assert_true(side_wait(&here, 2));
	assert_int_equal(dpumap_emu_fault("clear"), 0);
	for (unsigned int i = 0; i < 2; i++) {
		assert_ok(here.done[i].status);
		assert_int_equal(here.done[i].data, i);
	}
}

/* Work that completes twice completes nothing else. */
/* rule: RD-10e */
static void a_completion_that_comes_twice_is_ignored(void **state)
{
	test_needs_emulator();
	assert_int_equal(dpumap_emu_fault("completion --duplicate --count all"), 0);
	for (unsigned int i = 0; i < WRITES; i++) {
		fixture_fill(here.bytes, PART, i);
		side_ok(&here, .kind = SIDE_WRITE, .src = side_data(&here, 0, PART),
			.dst = side_peer_room(&here, 0, PART), .data = i);
		assert_int_equal(side_last(&here)->data, i);
		assert_memory_equal(there.bytes, here.bytes, PART);
	}
	assert_int_equal(dpumap_emu_fault("clear"), 0);
	assert_int_equal(here.n_done, WRITES);
}

/* --- connections that end around a message ---------------------------------------------------- */

#define LONG_LEN (16u << 20)

static struct fixture_buf long_from, long_to;

static void open_long(void)
{
	const struct fixture of_here = {.dev = here.dev}, of_there = {.dev = there.dev};

	assert_ok(fixture_buf_create(&of_here, LONG_LEN, LOCAL_RW, &long_from));
	assert_ok(fixture_buf_create(&of_there, LONG_LEN, LOCAL_RW, &long_to));
	memset(long_from.bytes, 0xa5, LONG_LEN);
}

static struct doca_buf *long_buf(struct side *side, const struct fixture_buf *from, bool is_data)
{
	struct doca_buf *buf = NULL;

	assert_ok(doca_buf_inventory_buf_get_by_args(side->inventory, from->mmap, from->bytes,
						     LONG_LEN, from->bytes, is_data ? LONG_LEN : 0,
						     &buf));
	return buf;
}

static void connect_anew(void)
{
	here.n_connections = there.n_connections = 0;
	here.log_len = there.log_len = 0; /* on a busy machine this may be repeated very often */
	if (side_state(&here) == DOCA_CTX_STATE_IDLE)
		assert_ok(side_start(&here));
	assert_ok(side_connect());
}

/* Both ends of the connection end once the first bytes have arrived; the send stops `here`. */
static void cut_a_message(void)
{
	const volatile uint8_t *first = long_to.bytes;
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	struct doca_buf *src = long_buf(&here, &long_from, true);

	side_post(&here, .kind = SIDE_SEND, .src = src);
	while (!*first)
		assert_true(monotonic_ms() < limit);
	assert_ok(doca_rdma_connection_disconnect(there.connections[0]));
	assert_ok(side_stop(&here));
	assert_ok(doca_buf_dec_refcount(src, NULL));
	for (unsigned int i = 0; i < 10; i++)
		side_progress();
}

/* rule: RT-7 */
static void a_receive_whose_message_was_cut_takes_the_next_message(void **state)
{
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	struct doca_buf *dst;
	unsigned int n;

	test_needs_emulator();
	open_long();
	dst = long_buf(&there, &long_to, false);
	do {
		assert_true(monotonic_ms() < limit);
		memset(long_to.bytes, 0, LONG_LEN);
		assert_ok(doca_buf_reset_data_len(dst));
		n = there.n_done;
		side_post(&there, .kind = SIDE_RECEIVE, .dst = dst, .data = n);
		cut_a_message();
		connect_anew();
	} while (there.n_done > n); /* it had arrived */
	assert_int_equal(side_state(&there), DOCA_CTX_STATE_RUNNING);
	fixture_fill(here.bytes, PART, 1);
	side_ok(&here, .kind = SIDE_SEND, .src = side_data(&here, 0, PART));
	assert_true(side_wait(&there, n + 1));
	assert_ok(side_last(&there)->status);
	assert_int_equal(side_last(&there)->data, n);
	assert_int_equal(side_last(&there)->len, PART);
	assert_ptr_equal(side_last(&there)->connection, there.connections[0]);
	assert_memory_equal(long_to.bytes, here.bytes, PART);
	assert_ok(doca_buf_dec_refcount(dst, NULL));
	assert_ok(side_stop(&there));
	assert_ok(fixture_buf_destroy(&long_from));
	assert_ok(fixture_buf_destroy(&long_to));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		connected_test(a_send_that_nobody_receives_ends_while_the_program_sleeps),
		connected_test(the_end_closes_its_timer_whatever_its_number),
		connected_test(receives_end_while_the_program_sleeps),
		connected_test(receives_end_after_a_write_that_succeeds),
		connected_test(a_lost_completion_does_not_keep_the_context),
		connected_test(a_lost_completion_is_covered_by_the_next),
		connected_test(a_completion_that_comes_twice_is_ignored),
		connected_test(a_receive_whose_message_was_cut_takes_the_next_message),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
