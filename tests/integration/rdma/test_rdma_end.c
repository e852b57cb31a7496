/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The end of contexts whose tasks do not end by themselves. The programs sleep until the notification
 * handle is readable, and progress only then.
 */
#include <poll.h>

#include <dpumap-emu.h>

#include "side.h"

#define PART   100u
#define WRITES 16u

/* Sleep and progress until the context is IDLE. */
static void sleep_until_idle(struct side *side)
{
	uint64_t limit = now_ms() + FIXTURE_TIMEOUT_MS;
	struct pollfd fd = {.events = POLLIN};
	doca_notification_handle_t handle;

	assert_ok(doca_pe_get_notification_handle(side->pe, &handle));
	fd.fd = handle;
	while (side_state(side) != DOCA_CTX_STATE_IDLE) {
		assert_true(now_ms() < limit);
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

/* rule: RD-10d, X-14 */
static void a_send_that_nobody_receives_ends_while_the_program_sleeps(void **state)
{
	for (unsigned int i = 0; i < 3; i++)
		side_post(&here, .kind = SIDE_SEND, .src = side_data(&here, 0, PART), .data = i);
	assert_error(doca_ctx_stop(here.ctx), DOCA_ERROR_IN_PROGRESS);
	sleep_until_idle(&here);
	assert_flushed(&here, 0, 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(here.done[i].data, i);
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

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		connected_test(a_send_that_nobody_receives_ends_while_the_program_sleeps),
		connected_test(receives_end_while_the_program_sleeps),
		connected_test(receives_end_after_a_write_that_succeeds),
		connected_test(a_lost_completion_does_not_keep_the_context),
		connected_test(a_lost_completion_is_covered_by_the_next),
		connected_test(a_completion_that_comes_twice_is_ignored),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
