/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Completion queues: their sizes, and their events. */
#include <errno.h>
#include <poll.h>

#include "verbs.h"

static void resizing_keeps_every_completion(void **state)
{
	struct verbs *n = *state;
	struct verbs_pair p = verbs_open_pair(n);
	struct verbs_target unreachable = {p.ah, 0xfffff, VERBS_QKEY};
	struct ibv_wc wc[8];

	for (uint32_t round = 0; round < 20; round++) {
		static const int sizes[] = {7, 200, 63, 12, 1000};

		for (uint32_t i = 0; i < 5; i++)
			verbs_send_ud(n, p.a, unreachable, 8);
		assert_int_equal(ibv_resize_cq(n->cq, sizes[round % 5]), 0);
		assert_true(n->cq->cqe >= sizes[round % 5]);
		for (uint32_t i = 0; i < 5; i++)
			verbs_expect(n->cq, IBV_WC_SUCCESS);
		verbs_expect_nothing(n->cq);
	}
	for (uint32_t i = 0; i < 5; i++)
		verbs_send_ud(n, p.a, unreachable, 8);
	assert_int_equal(ibv_resize_cq(n->cq, 1), EINVAL); /* they would not fit */
	for (uint32_t i = 0; i < 5; i++)
		verbs_expect(n->cq, IBV_WC_SUCCESS);
	assert_int_equal(ibv_resize_cq(n->cq, 1 << 23), EINVAL);
	assert_int_equal(ibv_poll_cq(n->cq, 8, wc), 0);
	verbs_close_pair(&p);
}

static void moderate(struct ibv_cq *cq, uint16_t count, uint16_t period, int wanted)
{
	struct ibv_modify_cq_attr a = {.attr_mask = IBV_CQ_ATTR_MODERATE};

	a.moderate.cq_count = count;
	a.moderate.cq_period = period;
	assert_int_equal(ibv_modify_cq(cq, &a), wanted);
}

static void take_event(struct ibv_comp_channel *channel, struct ibv_cq *cq)
{
	void *context;

	assert_int_equal(ibv_get_cq_event(channel, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
}

/* Moderation delays events until the count or the period is reached, but loses none. */
static void moderation_delays_events_but_loses_none(void **state)
{
	struct verbs *n = *state, own = *n;
	struct ibv_comp_channel *channel = ibv_create_comp_channel(n->ctx);
	struct verbs_pair p;
	struct verbs_target unreachable;

	own.cq = ibv_create_cq(n->ctx, 16, NULL, channel, 0);
	assert_non_null(own.cq);
	p = verbs_open_pair(&own);
	unreachable = (struct verbs_target){p.ah, 0xfffff, VERBS_QKEY};
	moderate(own.cq, 4, 0x1000, EINVAL);
	moderate(own.cq, 4, 0xfff, 0);
	for (uint32_t round = 1; round <= 4; round += 3) {
		assert_int_equal(ibv_req_notify_cq(own.cq, 0), 0);
		for (uint32_t i = 0; i < round; i++)
			verbs_send_ud(&own, p.a, unreachable, 8);
		take_event(channel, own.cq);
		for (uint32_t i = 0; i < round; i++)
			verbs_expect(own.cq, IBV_WC_SUCCESS);
	}
	verbs_close_pair(&p);
	assert_int_equal(ibv_destroy_cq(own.cq), 0);
	assert_int_equal(ibv_destroy_comp_channel(channel), 0);
}

/* A completion is reported once, even if the CQ is armed again before it is polled. */
static void armed_queue_reports_one_event(void **state)
{
	struct verbs *n = *state, own = *n;
	struct ibv_comp_channel *channel = ibv_create_comp_channel(n->ctx);
	struct pollfd event = {.events = POLLIN};
	struct verbs_target unreachable;
	struct verbs_pair p;

	event.fd = channel->fd;
	own.cq = ibv_create_cq(n->ctx, 16, NULL, channel, 0);
	assert_non_null(own.cq);
	p = verbs_open_pair(&own);
	unreachable = (struct verbs_target){p.ah, 0xfffff, VERBS_QKEY};
	verbs_send_ud(&own, p.a, unreachable, 8);
	assert_int_equal(ibv_req_notify_cq(own.cq, 0), 0); /* not reported yet */
	take_event(channel, own.cq);
	assert_int_equal(ibv_req_notify_cq(own.cq, 0), 0);
	assert_int_equal(poll(&event, 1, 30), 0);
	verbs_expect(own.cq, IBV_WC_SUCCESS);
	verbs_send_ud(&own, p.a, unreachable, 8);
	take_event(channel, own.cq);
	verbs_expect(own.cq, IBV_WC_SUCCESS);
	verbs_close_pair(&p);
	assert_int_equal(ibv_destroy_cq(own.cq), 0);
	assert_int_equal(ibv_destroy_comp_channel(channel), 0);
}

/* An event that the program has not read ends with its queue: destroying waits only for those that it has read. */
static void destroyed_queue_leaves_no_event(void **state)
{
	struct verbs *n = *state, own = *n;
	struct ibv_comp_channel *channel = ibv_create_comp_channel(n->ctx);
	struct pollfd event = {.events = POLLIN};
	struct verbs_target unreachable;
	struct verbs_pair p;

	event.fd = channel->fd;
	for (uint32_t round = 0; round < 3; round++) {
		own.cq = ibv_create_cq(n->ctx, 16, NULL, channel, 0);
		assert_non_null(own.cq);
		p = verbs_open_pair(&own);
		unreachable = (struct verbs_target){p.ah, 0xfffff, VERBS_QKEY};
		assert_int_equal(ibv_req_notify_cq(own.cq, 0), 0);
		verbs_send_ud(&own, p.a, unreachable, 8);
		take_event(channel, own.cq);
		assert_int_equal(ibv_req_notify_cq(own.cq, 0), 0);
		verbs_send_ud(&own, p.a, unreachable, 8);
		assert_int_equal(poll(&event, 1, 2000), 1);
		verbs_close_pair(&p);
		assert_int_equal(ibv_destroy_cq(own.cq), 0);
		assert_int_equal(poll(&event, 1, 0), 0);
	}
	assert_int_equal(ibv_destroy_comp_channel(channel), 0);
}

#define node_test(function) cmocka_unit_test_setup_teardown(function, verbs_open, verbs_close)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		node_test(resizing_keeps_every_completion),
		node_test(moderation_delays_events_but_loses_none),
		node_test(armed_queue_reports_one_event),
		node_test(destroyed_queue_leaves_no_event),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
