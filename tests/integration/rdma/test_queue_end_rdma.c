/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The queues of RDMA contexts, below the tasks: failures, and the end of connections and of queues. */
#include <poll.h>
#include <string.h>

#include <dpumap-emu.h>

#include "base/array.h"
#include "core/mmap/resolve.h"
#include "device/memory/region_priv.h"
#include "device/queue/rdma_qp_priv.h"
#include "queue_ends.h"

#define LONG_LEN (16u << 20)
#define ENDED	 5u /* times that a message ends in the middle */

/* --- failures --------------------------------------------------------------------------------- */

static void open_both(void)
{
	queue_open(&a, 8, 4);
	queue_open(&b, 8, 4);
	queue_connect(0, 8);
	queue_connect(1, 8);
}

/* The connection with index 1 is as good as before. */
static void expect_the_other_connection_works(void)
{
	queue_forget_received();
	assert_ok(queue_receive(&b, 40, 64, 1));
	assert_ok(queue_post(&a, 1, DPUMAP_RDMA_SEND, 40, 64, 1));
	queue_flush(&a);
	queue_expect_received(&b, 1, 40, 64);
	assert_ok(queue_next(&a).status);
}

/* The work requests before the failure have succeeded, those after it are flushed. */
static void expect_failure_of_the_second(doca_error_t error)
{
	queue_expect_posted(&a, 0, 0);
	queue_expect_failed(&a, 0, 1, error);
	queue_expect_failed(&a, 0, 2, DOCA_ERROR_SHUTDOWN);
	assert_true(a.qps[0]->failed);
	assert_error(queue_post(&a, 0, DPUMAP_RDMA_WRITE, 3, 8, 1), DOCA_ERROR_SHUTDOWN);
	assert_int_equal(a.queue->sends, 0);
	expect_the_other_connection_works();
}

static void post_and_flush(enum dpumap_rdma_op op, uint32_t number, uint32_t len)
{
	assert_ok(queue_post(&a, 0, op, number, len, 1));
	queue_flush(&a);
}

static void a_message_longer_than_its_receive_fails_both_ends(void **state)
{
	open_both();
	assert_ok(queue_receive(&b, 0, 63, 1));
	post_and_flush(DPUMAP_RDMA_WRITE, 0, 64);
	post_and_flush(DPUMAP_RDMA_SEND, 1, 64);
	post_and_flush(DPUMAP_RDMA_WRITE, 2, 64);
	queue_expect_receive_ended(&b, queue_name(0), 0, DOCA_ERROR_INVALID_VALUE);
	assert_true(b.qps[0]->failed);
	expect_failure_of_the_second(DOCA_ERROR_INVALID_VALUE);
}

static void a_wrong_key_of_the_peer_is_not_permitted(void **state)
{
	struct dpumap_region wrong = *test.region;

	open_both();
	wrong.rkey ^= 0x55;
	post_and_flush(DPUMAP_RDMA_WRITE, 0, 64);
	test.region = &wrong;
	post_and_flush(DPUMAP_RDMA_WRITE, 1, 64);
	wrong.rkey ^= 0x55;
	post_and_flush(DPUMAP_RDMA_WRITE, 2, 64);
	expect_failure_of_the_second(DOCA_ERROR_NOT_PERMITTED);
}

static void a_wrong_local_key_is_not_permitted(void **state)
{
	struct dpumap_region wrong = *test.region;

	open_both();
	wrong.lkey ^= 0x55;
	post_and_flush(DPUMAP_RDMA_WRITE, 0, 64);
	test.region = &wrong;
	post_and_flush(DPUMAP_RDMA_WRITE, 1, 64);
	wrong.lkey ^= 0x55;
	post_and_flush(DPUMAP_RDMA_WRITE, 2, 64);
	expect_failure_of_the_second(DOCA_ERROR_NOT_PERMITTED);
}

static void errors_of_the_device_are_translated(void **state)
{
	static const struct {
		const char *fault;
		doca_error_t error;
	} rows[] = {
		{"completion --syndrome RETRY_EXC_ERR", DOCA_ERROR_CONNECTION_ABORTED},
		{"completion --syndrome RNR_RETRY_EXC_ERR", DOCA_ERROR_CONNECTION_ABORTED},
		{"completion --syndrome REM_ACCESS_ERR", DOCA_ERROR_NOT_PERMITTED},
		{"completion --syndrome REM_INV_REQ_ERR", DOCA_ERROR_INVALID_VALUE},
		{"completion --syndrome LOC_PROT_ERR", DOCA_ERROR_NOT_PERMITTED},
		{"completion --syndrome REM_OP_ERR", DOCA_ERROR_IO_FAILED},
	};

	open_both();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		post_and_flush(DPUMAP_RDMA_WRITE, 0, 64);
		queue_expect_posted(&a, 0, 0);
		assert_int_equal(dpumap_emu_fault(rows[i].fault), 0);
		post_and_flush(DPUMAP_RDMA_WRITE, 1, 64);
		queue_expect_failed(&a, 0, 1, rows[i].error);
		assert_int_equal(dpumap_emu_fault("clear"), 0);
		queue_disconnect(&a, 0);
		queue_disconnect(&b, 0);
		queue_connect(0, 8);
	}
	expect_the_other_connection_works();
}

/* --- work that the driver refuses: a work request of too many pieces -------------------------- */

static doca_error_t post_too_many(uint32_t i)
{
	struct dpumap_rdma_piece pieces[64];
	const struct dpumap_rdma_request request = {
		.op = DPUMAP_RDMA_SEND, .pieces = pieces, .num_pieces = 64};

	for (uint32_t k = 0; k < 64; k++)
		pieces[k] = dpumap_rdma_piece(test.region, (uintptr_t)test.memory.bytes, 8);
	return dpumap_rdma_qp_post(a.qps[i], &request);
}

/*
 * One completion reports it after all earlier ones of its connection, for each connection. The first
 * connection has nothing to report.
 */
static void a_request_that_the_driver_refuses_fails_its_connection(void **state)
{
	struct dpumap_rdma_done done;

	queue_open(&a, 8, 0);
	queue_open(&b, 1, 0);
	for (uint32_t i = 0; i < QUEUE_QPS; i++)
		queue_connect(i, 4);
	for (uint32_t i = 1; i < 4; i++) {
		assert_ok(queue_post(&a, i, DPUMAP_RDMA_WRITE, i, 64, 1));
		queue_flush(&a);
		assert_ok(queue_next(&a).status);
	}
	for (uint32_t i = 1; i < 4; i++) {
		assert_ok(post_too_many(i));
		assert_error(queue_post(&a, i, DPUMAP_RDMA_WRITE, i, 64, 1), DOCA_ERROR_SHUTDOWN);
	}
	assert_int_equal(a.queue->sends, 3);
	for (uint32_t i = 1; i < 3; i++) {
		queue_expect_failed(&a, i, 1, DOCA_ERROR_DRIVER);
		assert_int_equal(a.queue->sends, 3 - i);
	}
	/* The last connection takes its failure with it. */
	queue_disconnect(&a, 3);
	queue_expect_nothing(&a);
	assert_int_equal(a.queue->sends, 0);
	assert_int_equal(a.queue->num_lost, 0);
	queue_disconnect(&b, 3);
	queue_connect(3, 4);
	assert_ok(queue_post(&a, 3, DPUMAP_RDMA_WRITE, 3, 64, 1));
	queue_flush(&a);
	done = queue_next(&a);
	assert_ok(done.status);
	assert_int_equal(done.number, 0);
}

static void requests_before_a_refused_one_complete_first(void **state)
{
	queue_open(&a, 8, 0);
	queue_open(&b, 8, 1);
	queue_connect(0, 4);
	/* The first ones wait for a receive. */
	for (uint32_t i = 0; i < 2; i++)
		assert_ok(queue_post(&a, 0, DPUMAP_RDMA_SEND, i, 64, 1));
	assert_ok(post_too_many(0));
	queue_expect_failed(&a, 0, 0, DOCA_ERROR_SHUTDOWN);
	queue_expect_failed(&a, 0, 1, DOCA_ERROR_SHUTDOWN);
	queue_expect_failed(&a, 0, 2, DOCA_ERROR_DRIVER);
	queue_expect_nothing(&a);
	assert_int_equal(a.queue->sends, 0);
}

/* It takes no place in the queue. */
static void a_receive_that_the_driver_refuses_is_not_posted(void **state)
{
	struct dpumap_rdma_piece pieces[64];

	queue_open(&a, 8, 0);
	queue_open(&b, 1, 2);
	queue_connect(0, 8);
	for (uint32_t k = 0; k < 64; k++)
		pieces[k] = dpumap_rdma_piece(test.region, (uintptr_t)test.memory.bytes, 8);
	assert_ok(queue_receive(&b, 0, 64, 1));
	assert_error(dpumap_rdma_queue_receive(b.queue, pieces, 64, NULL), DOCA_ERROR_DRIVER);
	assert_ok(queue_receive(&b, 1, 64, 1));
	assert_error(queue_receive(&b, 2, 64, 1), DOCA_ERROR_AGAIN);
	for (uint32_t i = 0; i < 2; i++) {
		assert_ok(queue_post(&a, 0, DPUMAP_RDMA_SEND, i, 64, 1));
		queue_flush(&a);
		queue_expect_received(&b, 0, i, 64);
	}
}

/* --- completions that come twice, or late ----------------------------------------------------- */

static void a_completion_that_comes_twice_completes_nothing(void **state)
{
	open_both();
	assert_int_equal(dpumap_emu_fault("completion --duplicate --count all"), 0);
	for (uint32_t i = 0; i < 30; i++) {
		test.is_quick = i % 2;
		assert_ok(queue_post(&a, i % 2, DPUMAP_RDMA_WRITE, i, 64, 1));
		queue_flush(&a);
		queue_expect_posted(&a, i % 2, i / 2);
		assert_int_equal(a.queue->sends, 0);
	}
	assert_int_equal(dpumap_emu_fault("clear"), 0);
	test.is_quick = false;
	queue_expect_nothing(&a);
}

/* Whatever the device wrote for a queue pair is returned after its end, in steps of any size. */
static void completions_outlive_their_connection(void **state)
{
	struct dpumap_rdma_done done[16];
	uint32_t next = 0;

	queue_open(&a, 16, 16);
	queue_open(&b, 16, 16);
	for (uint32_t i = 0; i < QUEUE_QPS; i++)
		queue_connect(i, 4);
	/* Connection i sends the messages 3i to 3i + 2. */
	for (uint32_t i = 0; i < 12; i++)
		assert_ok(queue_receive(&b, i, 64, 1));
	for (uint32_t i = 0; i < 12; i++) {
		assert_ok(queue_post(&a, i / 3, DPUMAP_RDMA_SEND, i, 64, 1));
		queue_flush(&a);
		assert_ok(queue_next(&a).status);
	}
	for (uint32_t i = 0; i < QUEUE_QPS; i++) {
		queue_disconnect(&b, i);
		/* Some are left when the next one ends. */
		for (uint32_t k = 0; k < 2; k++, next++)
			queue_expect_received(&b, next / 3, next, 64);
	}
	assert_int_equal(queue_poll(&b, done, 3), 3);
	for (uint32_t i = 0; i < 3; i++, next++)
		assert_ptr_equal(done[i].cookie, queue_name(next));
	queue_expect_received(&b, next / 3, next, 64);
	queue_expect_nothing(&b);
}

/* An index that is in use again does not take over what was in flight before. */
static void work_of_an_ended_connection_does_not_complete_that_of_the_next(void **state)
{
	open_both();
	for (uint32_t round = 0; round < 20; round++) {
		/* It waits for a receive, for ever. */
		assert_ok(queue_post(&a, 0, DPUMAP_RDMA_SEND, round, 64, 1));
		queue_flush(&a);
		queue_disconnect(&a, 0);
		queue_disconnect(&b, 0);
		queue_connect(0, 8);
		for (struct dpumap_rdma_done done; queue_poll(&a, &done, 1);)
			assert_error(done.status, DOCA_ERROR_SHUTDOWN);
		assert_int_equal(a.queue->sends, 0);
	}
	expect_the_other_connection_works();
}

/* --- receives --------------------------------------------------------------------------------- */

struct long_message {
	struct fixture_buf from, to;
	const struct dpumap_region *from_region, *to_region;
};

static void open_long(struct long_message *m)
{
	const struct fixture f = {.dev = test.dev};

	assert_ok(fixture_buf_create(&f, LONG_LEN, LOCAL_RW, &m->from));
	assert_ok(fixture_buf_create(&f, LONG_LEN, LOCAL_RW, &m->to));
	assert_ok(dpumap_mmap_resolve(m->from.mmap, test.dev, &m->from_region));
	assert_ok(dpumap_mmap_resolve(m->to.mmap, test.dev, &m->to_region));
	memset(m->from.bytes, 0xa5, LONG_LEN);
}

static struct dpumap_rdma_piece long_piece(const struct dpumap_region *long_region)
{
	return dpumap_rdma_piece(long_region, long_region->range.addr, LONG_LEN);
}

/* Wait until the first bytes have arrived, and end the receiver's end. True if the last ones have not. */
static bool end_in_the_middle(const struct long_message *m, uint32_t number)
{
	const struct dpumap_rdma_piece from = long_piece(m->from_region),
				       to = long_piece(m->to_region);
	const struct dpumap_rdma_request request = {
		.op = DPUMAP_RDMA_SEND, .pieces = &from, .num_pieces = 1};
	const volatile uint8_t *first = m->to.bytes;
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	struct dpumap_rdma_done done;
	bool is_cut;

	memset(m->to.bytes, 0, LONG_LEN);
	assert_ok(dpumap_rdma_queue_receive(b.queue, &to, 1, queue_name(number)));
	assert_ok(dpumap_rdma_qp_post(a.qps[0], &request));
	queue_flush(&a);
	while (!*first)
		assert_true(monotonic_ms() < limit);
	dpumap_rdma_qp_fail(b.qps[0]);
	done = queue_next(&b);
	assert_true(done.is_receive);
	assert_ptr_equal(done.cookie, queue_name(number));
	assert_ptr_equal(done.owner, queue_name(0));
	if (done.status != DOCA_SUCCESS)
		assert_error(done.status, DOCA_ERROR_SHUTDOWN);
	is_cut = done.status != DOCA_SUCCESS;
	queue_disconnect(&b, 0);
	queue_disconnect(&a, 0);
	while (queue_poll(&a, &done, 1))
		;
	queue_connect(0, 2);
	return is_cut;
}

/* The receive completes, its place is free, and the receives behind it take the next messages. */
static void a_receive_whose_message_ended_in_the_middle_is_free_again(void **state)
{
	uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	struct long_message m;
	uint32_t ended = 0, n = 0;

	open_long(&m);
	queue_open(&a, 4, 0);
	queue_open(&b, 1, 3);
	queue_connect(0, 2);
	queue_connect(1, 2);
	for (; ended < ENDED; n++) {
		assert_true(monotonic_ms() < limit);
		ended += end_in_the_middle(&m, n);
		/* All places are usable, in posting order. */
		queue_forget_received();
		for (uint32_t i = 0; i < 3; i++)
			assert_ok(queue_receive(&b, i, 64, 1));
		assert_error(queue_receive(&b, 3, 64, 1), DOCA_ERROR_AGAIN);
		for (uint32_t i = 0; i < 3; i++) {
			assert_ok(queue_post(&a, i % 2, DPUMAP_RDMA_SEND, i, 64, 1));
			queue_flush(&a);
			queue_expect_received(&b, i % 2, i, 64);
			assert_ok(queue_next(&a).status);
		}
	}
	print_message("%u of %u messages ended in the middle\n", ended, n);
	assert_ok(fixture_buf_destroy(&m.from));
	assert_ok(fixture_buf_destroy(&m.to));
}

/* Numbers of receives wrap between them. */
static void receives_that_are_left_return_in_posting_order(void **state)
{
	struct dpumap_rdma_done done[8];
	uint32_t n;

	queue_open(&a, 8, 0);
	queue_open(&b, 1, 6);
	queue_connect(0, 8);
	b.queue->recv_number = UINT32_MAX - 6;
	for (uint32_t i = 0; i < 6; i++)
		assert_ok(queue_receive(&b, i, 64, 1));
	for (uint32_t i = 0; i < 4; i++) {
		assert_ok(queue_post(&a, 0, DPUMAP_RDMA_SEND, i, 64, 1));
		queue_flush(&a);
		queue_expect_received(&b, 0, i, 64);
		assert_ok(queue_receive(&b, 6 + i, 64, 1));
	}
	queue_disconnect(&b, 0);
	queue_expect_nothing(&b);
	assert_ok(dpumap_rdma_queue_stop(b.queue));
	assert_ok(dpumap_rdma_queue_stop(b.queue));
	queue_expect_receive_ended(&b, NULL, 4, DOCA_ERROR_SHUTDOWN);
	assert_int_equal(queue_poll(&b, done, 2), 2);
	assert_ptr_equal(done[0].cookie, queue_name(5));
	assert_ptr_equal(done[1].cookie, queue_name(6));
	n = queue_poll(&b, done, 8);
	assert_int_equal(n, 3);
	for (uint32_t i = 0; i < n; i++)
		assert_ptr_equal(done[i].cookie, queue_name(7 + i));
	queue_expect_nothing(&b);
}

/* --- events ----------------------------------------------------------------------------------- */

static void an_armed_queue_reports_its_next_completion(void **state)
{
	struct pollfd fd = {.events = POLLIN};

	assert_ok(dpumap_events_create(test.device, &test.events));
	fd.fd = dpumap_events_fd(test.events);
	open_both();
	for (uint32_t i = 0; i < 20; i++) {
		test.is_quick = i % 2;
		assert_ok(dpumap_rdma_queue_arm(a.queue));
		assert_int_equal(poll(&fd, 1, 0), 0);
		assert_ok(queue_post(&a, 0, DPUMAP_RDMA_WRITE, i, 64, 1));
		queue_flush(&a);
		assert_int_equal(poll(&fd, 1, FIXTURE_TIMEOUT_MS), 1);
		assert_ok(dpumap_events_take(test.events));
		queue_expect_posted(&a, 0, i);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		queue_test(a_message_longer_than_its_receive_fails_both_ends),
		queue_test(a_wrong_key_of_the_peer_is_not_permitted),
		queue_test(a_wrong_local_key_is_not_permitted),
		queue_test(errors_of_the_device_are_translated),
		queue_test(a_completion_that_comes_twice_completes_nothing),
		queue_test(completions_outlive_their_connection),
		queue_test(work_of_an_ended_connection_does_not_complete_that_of_the_next),
		queue_test(a_receive_whose_message_ended_in_the_middle_is_free_again),
		queue_test(receives_that_are_left_return_in_posting_order),
		queue_test(an_armed_queue_reports_its_next_completion),
	};
	const struct CMUnitTest verbs_tests[] = {
		queue_test(a_request_that_the_driver_refuses_fails_its_connection),
		queue_test(requests_before_a_refused_one_complete_first),
		queue_test(a_receive_that_the_driver_refuses_is_not_posted),
	};
	int failed;

	test_parse_options(argc, argv);
	failed = cmocka_run_group_tests(tests, queue_use_memory, NULL);
	failed += cmocka_run_group_tests(tests, queue_use_verbs, NULL);
	failed += cmocka_run_group_tests(verbs_tests, queue_use_verbs, NULL);
	return failed;
}
