/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tasks that are submitted without a flush each: the device reports many of them by one completion. */
#include <dpumap-emu.h>

#include "side.h"

#define PART  100u
#define LISTS 61u /* of different lengths: they pass the end of the queue at different places */

static void post_later(const struct side_work *work)
{
	struct doca_task *task;

	assert_ok(side_alloc(&here, work, &task));
	assert_ok(doca_task_submit_ex(task, DOCA_TASK_SUBMIT_FLAG_NONE));
}

static void write_later(uint64_t i)
{
	post_later(&(struct side_work){.kind = SIDE_WRITE,
				       .src = side_data(&here, i * PART, PART),
				       .dst = side_peer_room(&here, i * PART, PART),
				       .data = i});
}

static void wait_for_bytes(size_t at)
{
	const volatile uint8_t *arrived = there.bytes + at;
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	for (size_t i = 0; i < PART; i++)
		while (arrived[i] != here.bytes[at + i])
			assert_true(monotonic_ms() < limit);
}

static void assert_done(unsigned int n)
{
	assert_int_equal(here.n_done, n);
	for (unsigned int i = 0; i < n; i++) {
		assert_ok(here.done[i].status);
		assert_int_equal(here.done[i].data, i);
	}
}

/* The only completion of four writes is lost. That of the next write reports them too. */
/* rule: RD-10e */
static void tasks_that_are_flushed_together_have_one_completion(void **state)
{
	test_needs_emulator();
	fixture_fill(here.bytes, SIDE_LEN, 1);
	assert_int_equal(dpumap_emu_fault("completion --lose"), 0);
	for (unsigned int i = 0; i < 4; i++)
		write_later(i);
	doca_ctx_flush_tasks(here.ctx);
	wait_for_bytes(3 * (size_t)PART);
	for (unsigned int i = 0; i < 1000; i++)
		side_progress();
	assert_int_equal(here.n_done, 0);
	assert_int_equal(dpumap_emu_fault("clear"), 0);
	write_later(4);
	doca_ctx_flush_tasks(here.ctx);
	assert_true(side_wait(&here, 5));
	assert_done(5);
}

/* The tasks before it have succeeded although no completion of their own says so. */
/* rule: RT-10, RT-12 */
static void a_failed_task_among_others_fails_alone_and_flushes_the_later_ones(void **state)
{
	fixture_fill(here.bytes, SIDE_LEN, 1);
	side_post(&there, .kind = SIDE_RECEIVE, .dst = side_room(&there, SIDE_LEN / 2, PART - 1));
	for (unsigned int i = 0; i < 6; i++)
		if (i == 3)
			post_later(&(struct side_work){
				.kind = SIDE_SEND, .src = side_data(&here, 0, PART), .data = i});
		else
			write_later(i);
	doca_ctx_flush_tasks(here.ctx);
	assert_true(side_wait(&here, 6));
	for (unsigned int i = 0; i < 6; i++) {
		assert_int_equal(here.done[i].data, i);
		assert_int_equal(here.done[i].by_error_cb, i >= 3);
	}
	for (unsigned int i = 0; i < 3; i++)
		assert_ok(here.done[i].status);
	assert_error(here.done[3].status, DOCA_ERROR_INVALID_VALUE);
	assert_error(here.done[4].status, DOCA_ERROR_SHUTDOWN);
	assert_error(here.done[5].status, DOCA_ERROR_SHUTDOWN);
	assert_memory_equal(there.bytes, here.bytes, 3 * (size_t)PART);
}

/*
 * No task between the first and the last of the queue is signaled: they make room all the same. Tasks of one
 * piece fill the memory of the queue, which has no room for more.
 */
/* rule: RT-12 */
static void more_tasks_than_the_queue_holds_complete_in_order(void **state)
{
	assert_ok(doca_rdma_set_send_queue_size(here.rdma, 4));
	assert_ok(doca_rdma_set_max_send_buf_list_len(here.rdma, 1));
	assert_ok(side_start(&here));
	assert_ok(side_start(&there));
	assert_ok(side_connect());
	fixture_fill(here.bytes, SIDE_LEN, 1);
	for (unsigned int i = 0; i < SIDE_TASKS; i++)
		write_later(i);
	doca_ctx_flush_tasks(here.ctx);
	assert_true(side_wait(&here, SIDE_TASKS));
	assert_done(SIDE_TASKS);
	assert_memory_equal(there.bytes, here.bytes, SIDE_TASKS * (size_t)PART);
	/* Nothing waits any more. */
	side_ok(&here, .kind = SIDE_WRITE, .src = side_data(&here, 0, PART),
		.dst = side_peer_room(&here, 0, PART));
}

/* rule: RT-1a, RT-12 */
static void lists_of_all_lengths_pass_the_end_of_the_queue(void **state)
{
	uint32_t max = 0;

	assert_ok(doca_rdma_get_max_send_buf_list_len(here.rdma, &max));
	max = max < 16 ? max : 16;
	assert_ok(doca_rdma_set_send_queue_size(here.rdma, 3));
	assert_ok(side_start(&here));
	assert_ok(side_start(&there));
	assert_ok(side_connect());
	fixture_fill(here.bytes, SIDE_LEN, 1);
	for (unsigned int i = 0; i < LISTS; i++) {
		unsigned int pieces = 1 + i * 5 % max;
		struct doca_buf *src = side_list(&here, true, i, 8, 16, pieces);
		struct doca_buf *dst = side_peer_room(&here, i, (size_t)8 * pieces);

		side_ok(&here, .kind = SIDE_WRITE, .src = src, .dst = dst, .data = i);
		for (size_t k = 0; k < pieces; k++)
			assert_memory_equal(there.bytes + i + k * 8, here.bytes + i + k * 16, 8);
	}
	assert_done(LISTS);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		connected_test(tasks_that_are_flushed_together_have_one_completion),
		connected_test(a_failed_task_among_others_fails_alone_and_flushes_the_later_ones),
		idle_test(more_tasks_than_the_queue_holds_complete_in_order),
		idle_test(lists_of_all_lengths_pass_the_end_of_the_queue),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
