/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Requests that wait for a completion: `a` sends to `b`, which completes into a CQ that a second pair,
 * `late`, waits for. `late` completes into a CQ of its own.
 */
#include <errno.h>
#include <string.h>

#include <doca_uar.h>

#include "base/array.h"
#include "pair.h"

static struct doca_verbs_cq *late_cq;
static struct doca_verbs_qp *late;

static struct doca_verbs_qp *create_late(struct doca_uar *uar)
{
	struct doca_verbs_qp_init_attr *attr = pair_init_attr();

	doca_verbs_qp_init_attr_set_send_cq(attr, late_cq);
	doca_verbs_qp_init_attr_set_external_uar(attr, uar);
	return pair_create_qp(attr);
}

static int wait_setup(void **state)
{
	if (pair_setup(state))
		return -1;
	late_cq = pair_create_cq(PAIR_DEPTH);
	late = late_cq ? create_late(NULL) : NULL;
	return late && pair_connect(late, late) ? 0 : -1;
}

static int wait_teardown(void **state)
{
	bool good = (!late || doca_verbs_qp_destroy(late) == DOCA_SUCCESS) &&
		    doca_verbs_cq_destroy(late_cq) == DOCA_SUCCESS;

	return pair_teardown(state) || !good ? -1 : 0;
}
#define wait_test(function) cmocka_unit_test_setup_teardown(function, wait_setup, wait_teardown)

/* As a program does it: the request is zeroed, and its other members are set afterwards. */
static int post_wait_by(struct doca_verbs_qp *qp, uint32_t number, uint64_t id, unsigned int flags)
{
	struct pair_request request = {0};
	int err = doca_verbs_bridge_set_wait_cq_pi_wr(pair.cq, number, &request.wr);

	request.wr.wr_id = id;
	request.wr.send_flags = flags;
	request.wr.next = NULL;
	if (err)
		return err;
	return doca_verbs_bridge_post_send(qp, &request.wr, &(struct ibv_send_wr *){NULL});
}

static int post_wait(uint32_t number, uint64_t id, unsigned int flags)
{
	return post_wait_by(late, number, id, flags);
}

static void write_by(struct doca_verbs_qp *qp, uint64_t id, unsigned int flags)
{
	struct pair_request request;

	pair_request(&request, IBV_WR_RDMA_WRITE, id, 8)->wr.send_flags |= flags;
	assert_int_equal(pair_post(qp, &request), 0);
}

static void expect(struct doca_verbs_cq *cq, uint64_t id, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc = pair_poll(cq);

	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.wr_id, id);
	assert_int_equal(wc.opcode, opcode);
}

/* Give requests that are not held back the time to complete. */
static void expect_nothing_late(void)
{
	write_by(pair.a, 1000, 0);
	expect(pair.cq, 1000, IBV_WC_RDMA_WRITE);
	assert_true(pair_is_empty(late_cq));
}

/* rule: VQ-15, VQ-16 */
static void request_waits_for_both_completions_of_a_send(void **state)
{
	struct pair_request request;
	uint32_t number = doca_verbs_bridge_get_current_cq_ci(pair.cq) + 1;

	assert_int_equal(pair_post_recv(pair.b, 1), 0);
	assert_int_equal(post_wait(number, 7, IBV_SEND_SIGNALED), 0);
	write_by(late, 8, 0);
	assert_true(pair_is_empty(late_cq));
	assert_int_equal(pair_post(pair.a, pair_request(&request, IBV_WR_SEND, 2, 8)), 0);
	expect(late_cq, 7, IBV_WC_DRIVER1);
	expect(late_cq, 8, IBV_WC_RDMA_WRITE);
	/* They were not consumed. */
	assert_int_equal(doca_verbs_bridge_get_current_cq_ci(pair.cq), 0);
	assert_int_equal(pair_poll(pair.cq).status, IBV_WC_SUCCESS);
	assert_int_equal(pair_poll(pair.cq).status, IBV_WC_SUCCESS);
	assert_true(pair_is_empty(pair.cq));
}

/* rule: VQ-15 */
static void completions_that_exist_are_not_waited_for(void **state)
{
	write_by(pair.a, 1, 0);
	write_by(pair.a, 2, 0);
	expect(pair.cq, 1, IBV_WC_RDMA_WRITE);
	assert_int_equal(post_wait(0, 3, IBV_SEND_SIGNALED), 0);
	expect(late_cq, 3, IBV_WC_DRIVER1);
	assert_int_equal(post_wait(1, 4, IBV_SEND_SIGNALED), 0);
	expect(late_cq, 4, IBV_WC_DRIVER1);
	expect(pair.cq, 2, IBV_WC_RDMA_WRITE);
	assert_int_equal(post_wait(2, 5, IBV_SEND_SIGNALED), 0);
	assert_true(pair_is_empty(late_cq));
	write_by(pair.a, 6, 0);
	expect(late_cq, 5, IBV_WC_DRIVER1);
	expect(pair.cq, 6, IBV_WC_RDMA_WRITE);
}

/* rule: VQ-15 */
static void waiting_completes_only_if_it_is_signalled(void **state)
{
	assert_int_equal(post_wait(0, 3, 0), 0);
	write_by(late, 4, 0);
	write_by(pair.a, 1, 0);
	expect(late_cq, 4, IBV_WC_RDMA_WRITE);
	expect(pair.cq, 1, IBV_WC_RDMA_WRITE);
}

/* rule: VQ-15 */
static void numbers_go_beyond_the_size_of_the_queue(void **state)
{
	for (uint32_t i = 0; i < 300; i++) {
		assert_int_equal(post_wait(i, i, IBV_SEND_SIGNALED), 0);
		assert_true(pair_is_empty(late_cq));
		write_by(pair.a, i, 0);
		expect(late_cq, i, IBV_WC_DRIVER1);
		expect(pair.cq, i, IBV_WC_RDMA_WRITE);
	}
	/* A whole round ahead: the entry of the queue has an older completion. */
	assert_int_equal(post_wait(300 + 127, 1, IBV_SEND_SIGNALED), 0);
	assert_int_equal(post_wait(300 + 128, 2, IBV_SEND_SIGNALED), 0);
	expect_nothing_late();
}

/* rule: VQ-15 */
static void later_lists_wait_in_order(void **state)
{
	struct pair_request requests[3];

	assert_int_equal(post_wait(0, 1, IBV_SEND_SIGNALED), 0);
	assert_int_equal(post_wait(1, 2, IBV_SEND_SIGNALED), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(requests); i++) {
		pair_request(&requests[i], IBV_WR_RDMA_WRITE, 10 + i, 8);
		if (i)
			requests[i - 1].wr.next = &requests[i].wr;
	}
	assert_int_equal(
		doca_verbs_bridge_post_send(late, &requests[0].wr, &(struct ibv_send_wr *){NULL}),
		0);
	memset(requests, 0xff, sizeof(requests)); /* they are the program's again */
	write_by(pair.a, 20, 0);
	expect(late_cq, 1, IBV_WC_DRIVER1);
	expect(pair.cq, 20, IBV_WC_RDMA_WRITE);
	assert_true(pair_is_empty(late_cq));
	write_by(pair.a, 21, 0);
	expect(late_cq, 2, IBV_WC_DRIVER1);
	for (uint64_t i = 0; i < ARRAY_SIZE(requests); i++)
		expect(late_cq, 10 + i, IBV_WC_RDMA_WRITE);
	expect(pair.cq, 21, IBV_WC_RDMA_WRITE);
}

/* rule: VQ-15 */
static void queue_pairs_wait_apart(void **state)
{
	/* The first one that waits is neither the first nor the last that goes on. */
	const uint32_t numbers[] = {1, 0, 3, 2};
	struct doca_verbs_qp *qps[ARRAY_SIZE(numbers)];

	for (unsigned int i = 0; i < ARRAY_SIZE(qps); i++) {
		qps[i] = create_late(NULL);
		assert_non_null(qps[i]);
		assert_true(pair_connect(qps[i], qps[i]));
		assert_int_equal(post_wait_by(qps[i], numbers[i], numbers[i], IBV_SEND_SIGNALED),
				 0);
	}
	for (uint64_t i = 0; i < ARRAY_SIZE(qps); i++) {
		assert_true(pair_is_empty(late_cq));
		write_by(pair.a, i, 0);
		expect(late_cq, i, IBV_WC_DRIVER1);
		expect(pair.cq, i, IBV_WC_RDMA_WRITE);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(qps); i++)
		assert_ok(doca_verbs_qp_destroy(qps[i]));
}

/* rule: VQ-15, VQ-5 */
static void inline_data_are_copied(void **state)
{
	uint8_t data[32];
	struct pair_request request;

	memset(data, 0x77, sizeof(data));
	assert_int_equal(post_wait(0, 1, 0), 0);
	pair_request(&request, IBV_WR_RDMA_WRITE, 2, sizeof(data))->wr.send_flags |=
		IBV_SEND_INLINE;
	request.sge.addr = (uintptr_t)data;
	assert_int_equal(pair_post(late, &request), 0);
	memset(data, 0, sizeof(data));
	request.sge.length = 4000;
	assert_int_equal(pair_post(late, &request), EINVAL);
	write_by(pair.a, 3, 0);
	expect(late_cq, 2, IBV_WC_RDMA_WRITE);
	expect(pair.cq, 3, IBV_WC_RDMA_WRITE);
	for (size_t i = 0; i < sizeof(data); i++)
		assert_int_equal(pair.bytes[PAIR_LEN + i], 0x77);
}

/* rule: VQ-15 */
static void full_queue_refuses_more(void **state)
{
	struct pair_request request, first;
	struct ibv_send_wr *bad = NULL;
	unsigned int kept = 1;

	assert_int_equal(post_wait(0, 1, 0), 0);
	pair_request(&request, IBV_WR_RDMA_WRITE, 2, 8);
	while (kept < 1000 && !pair_post(late, &request))
		kept++;
	assert_in_range(kept, PAIR_DEPTH, 999);
	pair_request(&first, IBV_WR_RDMA_WRITE, 3, 8)->wr.next = &request.wr;
	request.wr.sg_list = &request.sge;
	assert_int_equal(doca_verbs_bridge_post_send(late, &first.wr, &bad), ENOMEM);
	assert_ptr_equal(bad, &first.wr);
	write_by(pair.a, 3, 0);
	for (unsigned int i = 1; i < kept; i++)
		expect(late_cq, 2, IBV_WC_RDMA_WRITE);
	expect(pair.cq, 3, IBV_WC_RDMA_WRITE);
}

/* rule: VQ-15, VQ-8 */
static void queues_have_the_same_doorbell_page(void **state)
{
	struct doca_verbs_cq_attr *attr;
	struct ibv_send_wr wr = {0}, *bad = NULL;
	struct doca_verbs_qp *with_uar;
	struct doca_verbs_cq *cq;
	struct doca_uar *uar;
	struct doca_dev *dev;

	assert_ok(doca_verbs_pd_as_doca_dev(pair.pd, &dev));
	assert_ok(doca_uar_create(dev, DOCA_UAR_ALLOCATION_TYPE_NONCACHE, &uar));
	assert_ok(doca_verbs_cq_attr_create(&attr));
	assert_ok(doca_verbs_cq_attr_set_cq_size(attr, 4));
	assert_ok(doca_verbs_cq_attr_set_external_uar(attr, uar));
	assert_ok(doca_verbs_cq_create(pair.context, attr, &cq));
	assert_ok(doca_verbs_cq_attr_destroy(attr));
	with_uar = create_late(uar);
	assert_non_null(with_uar);
	assert_true(pair_connect(with_uar, with_uar));
	assert_int_equal(doca_verbs_bridge_set_wait_cq_pi_wr(cq, 0, &wr), 0);
	assert_int_equal(doca_verbs_bridge_post_send(late, &wr, &bad), EINVAL);
	assert_ptr_equal(bad, &wr);
	assert_int_equal(doca_verbs_bridge_post_send(with_uar, &wr, &bad), 0);
	assert_error(doca_verbs_cq_destroy(cq), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_verbs_qp_destroy(with_uar));
	assert_ok(doca_verbs_cq_destroy(cq));
	/* The queue that it waits for is gone. */
	assert_int_equal(doca_verbs_bridge_post_send(late, &wr, &bad), EINVAL);
	assert_ok(doca_uar_destroy(uar));
	assert_ok(doca_dev_close(dev));
}

/* --- ends ------------------------------------------------------------------------------------- */

static void expect_flushed(uint64_t id)
{
	struct ibv_wc wc = pair_poll(late_cq);

	assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(wc.wr_id, id);
}

/* rule: VQ-flush */
static void error_flushes_what_waits(void **state)
{
	assert_int_equal(post_wait(0, 1, 0), 0);
	write_by(late, 2, 0);
	assert_ok(pair_move(late, DOCA_VERBS_QP_STATE_ERR, late));
	expect_flushed(1);
	expect_flushed(2);
	assert_true(pair_is_empty(late_cq));
	/* Once it has failed, nothing waits. */
	assert_int_equal(post_wait(0, 3, 0), 0);
	expect_flushed(3);
}

/* rule: VQ-flush */
static void error_releases_the_queue_that_is_waited_for(void **state)
{
	struct doca_verbs_cq *watch = pair_create_cq(4);
	struct ibv_send_wr wait = {0}, *bad;

	assert_int_equal(doca_verbs_bridge_set_wait_cq_pi_wr(watch, 0, &wait), 0);
	assert_int_equal(doca_verbs_bridge_post_send(late, &wait, &bad), 0);
	assert_error(doca_verbs_cq_destroy(watch), DOCA_ERROR_BAD_STATE);
	assert_ok(pair_move(late, DOCA_VERBS_QP_STATE_ERR, late));
	assert_ok(doca_verbs_cq_destroy(watch));
}

/* rule: VQ-flush */
static void failed_request_flushes_what_waits(void **state)
{
	struct pair_request request;

	pair_request(&request, IBV_WR_RDMA_WRITE, 1, 8)->wr.wr.rdma.rkey ^= 0x5500;
	assert_int_equal(pair_post(late, &request), 0);
	assert_int_equal(post_wait(0, 2, 0), 0);
	write_by(late, 3, 0);
	assert_int_equal(pair_poll(late_cq).status, IBV_WC_REM_ACCESS_ERR);
	expect_flushed(2);
	expect_flushed(3);
}

/* rule: VQ-flush */
static void refused_request_is_flushed(void **state)
{
	struct pair_request request;

	assert_int_equal(post_wait(0, 1, IBV_SEND_SIGNALED), 0);
	pair_request(&request, (enum ibv_wr_opcode)99, 2, 8);
	assert_int_equal(pair_post(late, &request), 0);
	write_by(late, 3, 0);
	write_by(pair.a, 4, 0);
	expect(late_cq, 1, IBV_WC_DRIVER1);
	expect_flushed(2);
	expect_flushed(3);
	assert_true(pair_is_empty(late_cq));
	expect(pair.cq, 4, IBV_WC_RDMA_WRITE);
}

/* rule: VQ-flush */
static void nothing_waits_behind_a_refused_request(void **state)
{
	struct doca_verbs_cq *watch = pair_create_cq(4);
	struct pair_request request;
	struct ibv_send_wr wait = {0};

	assert_int_equal(post_wait(0, 1, 0), 0);
	pair_request(&request, (enum ibv_wr_opcode)99, 2, 8);
	assert_int_equal(pair_post(late, &request), 0);
	assert_int_equal(doca_verbs_bridge_set_wait_cq_pi_wr(watch, 0, &wait), 0);
	assert_int_equal(doca_verbs_bridge_post_send(late, &wait, &(struct ibv_send_wr *){NULL}),
			 0);
	assert_error(doca_verbs_cq_destroy(watch), DOCA_ERROR_BAD_STATE);
	write_by(pair.a, 4, 0);
	expect(pair.cq, 4, IBV_WC_RDMA_WRITE);
	/* No program has polled the errors. */
	assert_true(pair_is_empty(pair.cq));
	assert_ok(doca_verbs_cq_destroy(watch));
}

/* rule: VQ-flush */
static void reset_and_destroy_abandon_what_waits(void **state)
{
	assert_int_equal(post_wait(0, 1, IBV_SEND_SIGNALED), 0);
	assert_error(doca_verbs_cq_destroy(pair.cq), DOCA_ERROR_BAD_STATE);
	assert_ok(pair_move(late, DOCA_VERBS_QP_STATE_RST, late));
	assert_true(pair_connect(late, late));
	expect_nothing_late();
	write_by(late, 2, 0);
	expect(late_cq, 2, IBV_WC_RDMA_WRITE);
	assert_int_equal(post_wait(9, 3, IBV_SEND_SIGNALED), 0);
	assert_ok(doca_verbs_qp_destroy(late));
	late = NULL;
	expect_nothing_late();
}

/* rule: VQ-15, VQ-18 */
static void what_waits_goes_on_while_the_program_sleeps(void **state)
{
	struct doca_verbs_comp_channel *channel;
	struct doca_verbs_cq *polled = late_cq, *reported;
	struct doca_verbs_cq_attr *attr;
	struct doca_verbs_qp *qp = late;
	void *context;

	assert_ok(doca_verbs_comp_channel_create(pair.context, &channel));
	assert_ok(doca_verbs_cq_attr_create(&attr));
	assert_ok(doca_verbs_cq_attr_set_cq_size(attr, PAIR_DEPTH));
	assert_ok(doca_verbs_cq_attr_set_comp_channel(attr, channel));
	assert_ok(doca_verbs_cq_create(pair.context, attr, &late_cq));
	assert_ok(doca_verbs_cq_attr_destroy(attr));
	late = create_late(NULL);
	assert_non_null(late);
	assert_true(pair_connect(late, late));
	assert_ok(doca_verbs_req_notify_cq(late_cq, 0));
	assert_int_equal(post_wait(0, 1, IBV_SEND_SIGNALED), 0);
	write_by(pair.a, 2, 0);
	assert_ok(doca_verbs_get_cq_event(channel, &reported, &context));
	assert_ptr_equal(reported, late_cq);
	doca_verbs_ack_cq_events(late_cq, 1);
	expect(late_cq, 1, IBV_WC_DRIVER1);
	expect(pair.cq, 2, IBV_WC_RDMA_WRITE);
	assert_ok(doca_verbs_qp_destroy(late));
	assert_ok(doca_verbs_cq_destroy(late_cq));
	assert_ok(doca_verbs_comp_channel_destroy(channel));
	late = qp;
	late_cq = polled;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		wait_test(request_waits_for_both_completions_of_a_send),
		wait_test(completions_that_exist_are_not_waited_for),
		wait_test(waiting_completes_only_if_it_is_signalled),
		wait_test(numbers_go_beyond_the_size_of_the_queue),
		wait_test(later_lists_wait_in_order),
		wait_test(queue_pairs_wait_apart),
		wait_test(inline_data_are_copied),
		wait_test(full_queue_refuses_more),
		wait_test(queues_have_the_same_doorbell_page),
		wait_test(error_flushes_what_waits),
		wait_test(error_releases_the_queue_that_is_waited_for),
		wait_test(failed_request_flushes_what_waits),
		wait_test(refused_request_is_flushed),
		wait_test(nothing_waits_behind_a_refused_request),
		wait_test(reset_and_destroy_abandon_what_waits),
		wait_test(what_waits_goes_on_while_the_program_sleeps),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
