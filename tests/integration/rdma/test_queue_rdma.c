/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The queues of RDMA contexts, below the tasks: queues that are full, and indices that wrap. */
#include <string.h>

#include "device/queue/rdma_qp_priv.h"
#include "queue_ends.h"

#define BATCH 61u
#define MANY  70000u /* more than indices of 16 bits */

/* --- indices ---------------------------------------------------------------------------------- */

/* One of each kind, of lengths and numbers of pieces that put each of them at each place of the queue. */
static void each_kind(uint32_t number, uint32_t *posted)
{
	static const enum dpumap_rdma_op ops[] = {DPUMAP_RDMA_SEND, DPUMAP_RDMA_SEND_IMM,
						  DPUMAP_RDMA_WRITE_IMM, DPUMAP_RDMA_WRITE,
						  DPUMAP_RDMA_READ};
	static const enum dpumap_rdma_received wanted[] = {DPUMAP_RDMA_RECEIVED_SEND,
							   DPUMAP_RDMA_RECEIVED_SEND_IMM,
							   DPUMAP_RDMA_RECEIVED_WRITE_IMM};
	uint32_t first = number * 5;

	queue_forget_received();
	for (uint32_t i = 0; i < 3; i++)
		assert_ok(queue_receive(&b, first + i, 600, 1 + (number + i) % QUEUE_PIECES));
	for (uint32_t i = 0; i < 5; i++)
		assert_ok(queue_post(&a, 0, ops[i], first + i, 90 * i + number % 90,
				     1 + number / (i + 1) % QUEUE_PIECES));
	queue_flush(&a);
	*posted += 5;
	for (uint32_t i = 0; i < 3; i++) {
		struct dpumap_rdma_done done = queue_next(&b);

		assert_true(done.is_receive);
		assert_ok(done.status);
		assert_int_equal(done.kind, wanted[i]);
		assert_ptr_equal(done.cookie, queue_name(first + i));
		assert_int_equal(done.len, 90 * i + number % 90);
		if (i)
			assert_int_equal(done.imm, first + i);
	}
	queue_expect_posted(&a, 0, *posted - 1);
	for (uint32_t i = 0; i < 5; i++)
		assert_memory_equal(test.memory.bytes + queue_room(first + i),
				    test.memory.bytes + queue_source(first + i),
				    90 * i + number % 90);
}

static void work_of_all_kinds_and_lengths_passes_the_end_of_the_queues(void **state)
{
	uint32_t posted = 0;

	queue_open(&a, 5, 1);
	queue_open(&b, 1, 3);
	queue_connect(0, 5);
	for (uint32_t i = 0; i < 180; i++) {
		test.is_quick = i % 3;
		each_kind(i, &posted);
	}
}

static void assert_value(size_t at, uint64_t wanted)
{
	uint64_t value;

	memcpy(&value, test.memory.bytes + at, sizeof(value));
	assert_int_equal(value, wanted);
}

static void atomics_pass_the_end_of_the_queue(void **state)
{
	uint64_t sum = 7;

	memcpy(test.memory.bytes + queue_source(0), &sum, sizeof(sum));
	queue_open(&a, 3, 0);
	queue_open(&b, 1, 0);
	queue_connect(0, 3);
	for (uint32_t i = 0; i < 40; i++) {
		/* All use the same slot, with a growing operand. */
		assert_ok(queue_post(&a, 0, DPUMAP_RDMA_FETCH_ADD, i * QUEUE_SLOTS, 8, 1));
		queue_flush(&a);
		queue_expect_posted(&a, 0, 2 * i);
		assert_value(queue_room(0), sum);
		sum += (uint64_t)i * QUEUE_SLOTS;
		assert_value(queue_source(0), sum);
		/* Not equal: unchanged. */
		assert_ok(queue_post(&a, 0, DPUMAP_RDMA_CMP_SWP, QUEUE_SLOTS * 1000, 8, 1));
		queue_flush(&a);
		queue_expect_posted(&a, 0, 2 * i + 1);
		assert_value(queue_source(0), sum);
	}
}

static void wrap_once(uint32_t from, uint32_t n, uint32_t posted)
{
	for (uint32_t i = from; i < from + n; i++) {
		test.is_quick = i % 5;
		assert_ok(queue_receive(&b, i, 8, 1));
		assert_ok(queue_post(&a, 0, DPUMAP_RDMA_SEND, i, i % 3 * 4, 1));
	}
	queue_flush(&a);
	for (uint32_t i = from; i < from + n; i++)
		queue_expect_received(&b, 0, i, i % 3 * 4);
	queue_expect_posted(&a, 0, posted + n - 1);
}

/* Also the numbers of work requests and of receives. */
static void indices_and_numbers_wrap_without_loss(void **state)
{
	const uint32_t first = UINT32_MAX - 3;

	queue_open(&a, BATCH, 1);
	queue_open(&b, 1, BATCH);
	queue_connect(0, BATCH);
	a.qps[0]->posted = a.qps[0]->completed = first;
	b.queue->recv_number = first;
	for (uint32_t i = 0; i < MANY; i += BATCH)
		wrap_once(i, BATCH, first + i);
}

/* --- full queues ------------------------------------------------------------------------------ */

static void a_full_send_queue_refuses_until_a_completion(void **state)
{
	queue_open(&a, 4, 0);
	queue_open(&b, 1, 0);
	queue_connect(0, 3);
	queue_connect(1, 3);
	for (uint32_t round = 0; round < 5; round++) {
		uint32_t n = round * 3;

		for (uint32_t i = 0; i < 3; i++)
			assert_ok(queue_post(&a, 0, DPUMAP_RDMA_WRITE, i, 8, 1));
		assert_error(queue_post(&a, 0, DPUMAP_RDMA_WRITE, 3, 8, 1), DOCA_ERROR_AGAIN);
		/* All connections together have room for four. */
		assert_ok(queue_post(&a, 1, DPUMAP_RDMA_WRITE, 4, 8, 1));
		assert_error(queue_post(&a, 1, DPUMAP_RDMA_WRITE, 5, 8, 1), DOCA_ERROR_AGAIN);
		queue_flush(&a);
		while (a.queue->sends)
			assert_ok(queue_next(&a).status);
		assert_int_equal(dpumap_rdma_qp_posted(a.qps[0]), n + 3);
		test.is_quick = !test.is_quick;
	}
}

static void a_full_receive_queue_refuses_until_a_completion(void **state)
{
	queue_open(&a, 4, 0);
	queue_open(&b, 1, 3);
	queue_connect(0, 4);
	for (uint32_t i = 0; i < 3; i++)
		assert_ok(queue_receive(&b, i, 64, 1));
	for (uint32_t i = 0; i < 20; i++) {
		test.is_quick = i % 3;
		assert_error(queue_receive(&b, i + 3, 64, 1), DOCA_ERROR_AGAIN);
		assert_ok(queue_post(&a, 0, DPUMAP_RDMA_SEND, i, 64, 2));
		queue_flush(&a);
		queue_expect_received(&b, 0, i, 64);
		queue_expect_posted(&a, 0, i);
		assert_ok(queue_receive(&b, i + 3, 64, 1 + i % QUEUE_PIECES));
	}
}

static void a_queue_has_so_many_connections(void **state)
{
	struct dpumap_rdma_qp_attr attr = {
		.depth = 1, .max_pieces = 1, .gid_index = DPUMAP_GID_ANY};
	struct dpumap_rdma_qp *more = NULL;

	queue_open(&a, QUEUE_QPS, 0);
	queue_open(&b, 1, QUEUE_QPS);
	for (uint32_t i = 0; i < QUEUE_QPS; i++)
		queue_connect(i, 1);
	assert_error(dpumap_rdma_qp_create(a.queue, &attr, &more), DOCA_ERROR_FULL);
	assert_null(more);
	/* In the place of others, with the same index. */
	for (uint32_t round = 0; round < 3 * QUEUE_QPS; round++) {
		uint32_t i = round % QUEUE_QPS;

		queue_disconnect(&a, i);
		queue_disconnect(&b, i);
		queue_connect(i, 1);
		for (uint32_t k = 0; k < QUEUE_QPS; k++) {
			assert_ok(queue_receive(&b, k, 16, 1));
			assert_ok(queue_post(&a, k, DPUMAP_RDMA_SEND, k, 16, 1));
			queue_flush(&a);
			queue_expect_received(&b, k, k, 16);
			assert_ptr_equal(queue_next(&a).owner, queue_name(k));
		}
	}
}

/* Polled in steps of every size: none is lost, and none comes early. */
static void many_completions_are_taken_in_steps(void **state)
{
	struct dpumap_rdma_done done[QUEUE_SLOTS];

	queue_open(&a, QUEUE_SLOTS, 0);
	queue_open(&b, 1, QUEUE_SLOTS);
	queue_connect(0, QUEUE_SLOTS);
	for (uint32_t max = 1; max <= QUEUE_SLOTS; max++) {
		uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;
		uint32_t taken = 0;

		for (uint32_t i = 0; i < QUEUE_SLOTS; i++)
			assert_ok(queue_receive(&b, i, 16, 1));
		for (uint32_t i = 0; i < QUEUE_SLOTS; i++)
			assert_ok(queue_post(&a, 0, DPUMAP_RDMA_SEND, i, 16, 1));
		queue_flush(&a);
		queue_expect_posted(&a, 0, max * QUEUE_SLOTS - 1);
		while (taken < QUEUE_SLOTS) {
			uint32_t n = queue_poll(&b, done, max);

			for (uint32_t i = 0; i < n; i++)
				assert_ptr_equal(done[i].cookie, queue_name(taken + i));
			taken += n;
			assert_true(monotonic_ms() < limit);
		}
		queue_expect_nothing(&b);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		queue_test(work_of_all_kinds_and_lengths_passes_the_end_of_the_queues),
		queue_test(atomics_pass_the_end_of_the_queue),
		queue_test(indices_and_numbers_wrap_without_loss),
		queue_test(a_full_send_queue_refuses_until_a_completion),
		queue_test(a_full_receive_queue_refuses_until_a_completion),
		queue_test(a_queue_has_so_many_connections),
		queue_test(many_completions_are_taken_in_steps),
	};
	int failed;

	test_parse_options(argc, argv);
	failed = cmocka_run_group_tests(tests, queue_use_memory, NULL);
	failed += cmocka_run_group_tests(tests, queue_use_verbs, NULL);
	return failed;
}
