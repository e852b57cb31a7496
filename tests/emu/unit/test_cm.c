/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The connection manager as data: what happens when messages are lost, late, duplicated or crossing. */
#include "cm_fixture.h"

#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <string.h>

#include "emu/server/cm/cm_priv.h"

#define ATTEMPTS 16 /* a message and 15 retries */
/* 2 packet life times of 2^16 and a response time of 2^20, in units of 4.096 us that the kernel rounds. */
#define REQ_WAIT_MS 4608
#define REP_WAIT_MS 4096

static enum emu_cm_attr fated;
static unsigned int fate_count;

static enum delivery lose_some(const struct emu_cm_msg *m)
{
	if (m->attr != fated || !fate_count)
		return DELIVER;
	fate_count--;
	return LOSE;
}

static enum delivery duplicate_all(const struct emu_cm_msg *m)
{
	return DUPLICATE;
}

static void lose(enum emu_cm_attr attr, unsigned int count)
{
	fated = attr;
	fate_count = count;
	cm_deliver = lose_some;
}

static unsigned int sent(enum emu_cm_attr attr)
{
	return cm_sent[attr - EMU_CM_REQ];
}

static uint64_t duplicates(const struct machine *m, enum emu_cm_attr attr)
{
	return emu_cm_counters(m->cm)->duplicate[attr - EMU_CM_REQ];
}

/* Turn the clock until the machine has something to report. */
static void wait_for_event(const struct machine *m)
{
	while (m->seen == m->nevents)
		assert_true(cm_next_deadline());
}

static void expect_state(const struct emu_cm_conn *c, enum emu_cm_state s)
{
	assert_string_equal(emu_cm_state_name(emu_cm_state(c)), emu_cm_state_name(s));
}

/* --- connections ------------------------------------------------------------------------------ */

static void connection_is_established_and_closed(void **state)
{
	struct emu_cm_conn *a, *b;

	cm_establish(&a, &b);
	assert_int_equal(a->local_id, b->remote_id);
	assert_int_equal(b->local_id, a->remote_id);
	assert_int_equal(emu_cm_send_dreq(a, "bye", 3), 0);
	cm_deliver_all();
	assert_ptr_equal(cm_expect(&cm_b, EMU_CM_DREQ_RECEIVED), b);
	assert_memory_equal(cm_last_msg(&cm_b)->data, "bye", 4);
	assert_int_equal(emu_cm_send_drep(b, "ok", 2), 0);
	cm_deliver_all();
	cm_expect(&cm_a, EMU_CM_DREP_RECEIVED);
	assert_memory_equal(cm_last_msg(&cm_a)->data, "ok", 3);
	expect_state(a, EMU_CM_TIMEWAIT);
	expect_state(b, EMU_CM_TIMEWAIT);
	while (cm_next_deadline())
		continue;
	cm_expect(&cm_a, EMU_CM_TIMEWAIT_EXIT);
	cm_expect(&cm_b, EMU_CM_TIMEWAIT_EXIT);
	expect_state(a, EMU_CM_IDLE);
	expect_state(b, EMU_CM_IDLE);
	cm_expect_nothing(&cm_a);
	cm_expect_nothing(&cm_b);
	assert_int_equal(sent(EMU_CM_REQ) + sent(EMU_CM_REP) + sent(EMU_CM_RTU) +
				 sent(EMU_CM_DREQ) + sent(EMU_CM_DREP),
			 5);
}

static void parameters_reach_the_peer(void **state)
{
	const struct emu_cm_msg *m;
	struct emu_cm_conn *a = cm_connect("hello", 5), *b;

	b = cm_expect(&cm_b, EMU_CM_REQ_RECEIVED);
	m = cm_last_msg(&cm_b);
	assert_memory_equal(m->data, "hello", 6);
	assert_int_equal(m->service_id, SERVICE);
	assert_int_equal(m->responder_resources, 3);
	assert_int_equal(m->initiator_depth, 4);
	assert_int_equal(m->vendor_id, 0xabcdef);
	assert_int_equal(m->attr_mod, 0x76543210);
	assert_memory_equal(emu_cm_path(b)->sgid, cm_b.gid, 16);
	assert_memory_equal(emu_cm_path(b)->dgid, cm_a.gid, 16);
	assert_int_equal(emu_cm_path(b)->hop_limit, 64);
	cm_reply(b, "welcome", 7);
	assert_ptr_equal(cm_expect(&cm_a, EMU_CM_REP_RECEIVED), a);
	m = cm_last_msg(&cm_a);
	assert_memory_equal(m->data, "welcome", 8);
	assert_int_equal(m->vendor_id, 0x123456);
	assert_int_equal(m->attr_mod, 0x89abcdef);
	assert_int_equal(m->rnr_retry_count, 7);
}

/* The initiator depth of one side is limited by the responder resources of the other. */
static void queue_pairs_get_what_was_negotiated(void **state)
{
	struct ib_uverbs_qp_attr x;
	struct emu_cm_conn *a, *b;

	cm_establish(&a, &b);
	assert_int_equal(emu_cm_qp_attr(a, 1, &x), 0);
	assert_int_equal(x.qp_attr_mask, 0x39);
	assert_int_equal(x.qp_access_flags, 0xe);
	assert_int_equal(emu_cm_qp_attr(a, 2, &x), 0);
	assert_int_equal(x.qp_attr_mask, 0x121181 | 1 << 15);
	assert_int_equal(x.dest_qp_num, 0x101);
	assert_int_equal(x.rq_psn, 0x123456);
	assert_int_equal(x.max_dest_rd_atomic, 2);
	assert_int_equal(x.path_mtu, 5);
	assert_int_equal(x.ah_attr.is_global, 1);
	assert_int_equal(x.ah_attr.grh.hop_limit, 64);
	assert_memory_equal(x.ah_attr.grh.dgid, cm_b.gid, 16);
	assert_int_equal(emu_cm_qp_attr(a, 3, &x), 0);
	assert_int_equal(x.qp_attr_mask, 0x12e01);
	assert_int_equal(x.sq_psn, 0x654321);
	assert_int_equal(x.max_rd_atomic, 1);
	assert_int_equal(x.retry_cnt, 6);
	assert_int_equal(x.rnr_retry, 7);
	assert_int_equal(x.timeout, 18); /* an ACK delay of 16 and a life time of 16 */
	assert_int_equal(emu_cm_qp_attr(b, 2, &x), 0);
	assert_int_equal(x.dest_qp_num, 0x100);
	assert_int_equal(x.rq_psn, 0x654321);
	assert_int_equal(x.max_dest_rd_atomic, 1);
	assert_int_equal(emu_cm_qp_attr(b, 3, &x), 0);
	assert_int_equal(x.sq_psn, 0x123456);
	assert_int_equal(x.max_rd_atomic, 2);
	assert_int_equal(x.rnr_retry, 5);
	assert_int_equal(emu_cm_qp_attr(b, 4, &x), -EINVAL);
}

static void queue_pair_attributes_need_a_state(void **state)
{
	struct emu_cm_conn *a = emu_cm_conn_new(cm_a.cm, NULL);
	struct ib_uverbs_qp_attr x;

	assert_int_equal(emu_cm_qp_attr(a, 1, &x), -EINVAL);
	cm_deliver = lose_some;
	a = cm_connect(NULL, 0);
	assert_int_equal(emu_cm_qp_attr(a, 1, &x), 0);
	assert_int_equal(emu_cm_qp_attr(a, 2, &x), -EINVAL);
	assert_int_equal(emu_cm_qp_attr(a, 3, &x), -EINVAL);
}

static void connections_do_not_mix(void **state)
{
	struct emu_cm_conn *a[20], *b[20];

	for (unsigned int i = 0; i < 20; i++)
		cm_establish(&a[i], &b[i]);
	for (unsigned int i = 0; i < 20; i++) {
		emu_cm_send_dreq(a[i], NULL, 0);
		cm_deliver_all();
		assert_ptr_equal(cm_expect(&cm_b, EMU_CM_DREQ_RECEIVED), b[i]);
	}
}

/* --- losses ----------------------------------------------------------------------------------- */

static void lost_req_is_sent_again(void **state)
{
	uint64_t start = cm_clock;

	lose(EMU_CM_REQ, 1);
	cm_connect(NULL, 0);
	cm_expect_nothing(&cm_b);
	assert_true(cm_next_deadline());
	assert_int_equal(cm_clock - start, REQ_WAIT_MS);
	cm_expect(&cm_b, EMU_CM_REQ_RECEIVED);
	assert_int_equal(emu_cm_counters(cm_a.cm)->retried[0], 1);
	assert_int_equal(emu_cm_counters(cm_a.cm)->sent[0], 2);
}

static void req_without_an_answer_is_unreachable(void **state)
{
	uint64_t start = cm_clock;
	struct emu_cm_conn *a;

	lose(EMU_CM_REQ, ATTEMPTS);
	a = cm_connect(NULL, 0);
	wait_for_event(&cm_a);
	assert_ptr_equal(cm_expect(&cm_a, EMU_CM_REQ_ERROR), a);
	assert_int_equal(cm_clock - start, ATTEMPTS * REQ_WAIT_MS);
	assert_int_equal(sent(EMU_CM_REQ), ATTEMPTS);
	expect_state(a, EMU_CM_IDLE);
	assert_false(cm_next_deadline());
	cm_expect_nothing(&cm_b);
}

static void lost_rep_is_sent_again(void **state)
{
	uint64_t start = cm_clock;
	struct emu_cm_conn *b;

	lose(EMU_CM_REP, 1);
	cm_connect(NULL, 0);
	b = cm_expect(&cm_b, EMU_CM_REQ_RECEIVED);
	cm_reply(b, NULL, 0);
	assert_true(cm_next_deadline());
	assert_int_equal(cm_clock - start, REP_WAIT_MS);
	cm_expect(&cm_a, EMU_CM_REP_RECEIVED);
}

static void rep_without_rtu_ends_the_passive_side(void **state)
{
	struct emu_cm_conn *a, *b;

	lose(EMU_CM_RTU, UINT32_MAX);
	a = cm_connect(NULL, 0);
	b = cm_expect(&cm_b, EMU_CM_REQ_RECEIVED);
	cm_reply(b, NULL, 0);
	cm_expect(&cm_a, EMU_CM_REP_RECEIVED);
	assert_int_equal(emu_cm_send_rtu(a, NULL, 0), 0);
	wait_for_event(&cm_b);
	assert_ptr_equal(cm_expect(&cm_b, EMU_CM_REP_ERROR), b);
	expect_state(b, EMU_CM_IDLE);
	assert_int_equal(sent(EMU_CM_REP), ATTEMPTS);
	assert_int_equal(sent(EMU_CM_RTU), ATTEMPTS); /* for each REP again */
	expect_state(a, EMU_CM_ESTABLISHED);
}

static void lost_rtu_is_repeated_with_its_data(void **state)
{
	struct emu_cm_conn *a, *b;

	lose(EMU_CM_RTU, 1);
	a = cm_connect(NULL, 0);
	b = cm_expect(&cm_b, EMU_CM_REQ_RECEIVED);
	cm_reply(b, NULL, 0);
	cm_expect(&cm_a, EMU_CM_REP_RECEIVED);
	assert_int_equal(emu_cm_send_rtu(a, "go", 2), 0);
	wait_for_event(&cm_b);
	cm_expect(&cm_b, EMU_CM_RTU_RECEIVED);
	assert_memory_equal(cm_last_msg(&cm_b)->data, "go", 3);
	assert_int_equal(duplicates(&cm_a, EMU_CM_REP), 1);
}

static void dreq_without_an_answer_ends_in_timewait(void **state)
{
	struct emu_cm_conn *a, *b;

	cm_establish(&a, &b);
	lose(EMU_CM_DREQ, UINT32_MAX);
	assert_int_equal(emu_cm_send_dreq(a, NULL, 0), 0);
	wait_for_event(&cm_a);
	cm_expect(&cm_a, EMU_CM_DREQ_ERROR);
	expect_state(a, EMU_CM_TIMEWAIT);
	assert_int_equal(sent(EMU_CM_DREQ), ATTEMPTS);
	wait_for_event(&cm_a);
	cm_expect(&cm_a, EMU_CM_TIMEWAIT_EXIT);
	expect_state(b, EMU_CM_ESTABLISHED);
}

static void lost_drep_is_repeated_in_timewait(void **state)
{
	struct emu_cm_msg again;
	struct emu_cm_conn *a, *b;

	cm_establish(&a, &b);
	assert_int_equal(emu_cm_send_dreq(a, NULL, 0), 0);
	cm_deliver_all();
	cm_expect(&cm_b, EMU_CM_DREQ_RECEIVED);
	again = *cm_last_msg(&cm_b);
	lose(EMU_CM_DREP, 1);
	assert_int_equal(emu_cm_send_drep(b, "ok", 2), 0);
	cm_deliver_all();
	cm_expect_nothing(&cm_a);
	cm_inject(&cm_b, &again);
	cm_expect(&cm_a, EMU_CM_DREP_RECEIVED);
	assert_memory_equal(cm_last_msg(&cm_a)->data, "ok", 3);
	assert_int_equal(duplicates(&cm_b, EMU_CM_DREQ), 1);
	cm_expect_nothing(&cm_b);
}

/* A peer that forgot the connection, for example since its process died, lets the other forget too. */
static void dreq_for_a_forgotten_connection_is_answered(void **state)
{
	struct emu_cm_conn *a, *b;

	cm_establish(&a, &b);
	lose(EMU_CM_DREQ, 1);
	emu_cm_conn_destroy(b);
	cm_deliver_all();
	expect_state(a, EMU_CM_ESTABLISHED);
	emu_cm_send_dreq(a, NULL, 0);
	cm_deliver_all();
	cm_expect(&cm_a, EMU_CM_DREP_RECEIVED);
}

/* --- duplicates and crossing messages --------------------------------------------------------- */

static void duplicates_change_nothing(void **state)
{
	struct emu_cm_conn *a, *b;

	cm_deliver = duplicate_all;
	cm_establish(&a, &b);
	emu_cm_send_dreq(a, NULL, 0);
	cm_deliver_all();
	cm_expect(&cm_b, EMU_CM_DREQ_RECEIVED);
	emu_cm_send_drep(b, NULL, 0);
	cm_deliver_all();
	cm_expect(&cm_a, EMU_CM_DREP_RECEIVED);
	cm_expect_nothing(&cm_a);
	cm_expect_nothing(&cm_b);
	assert_int_equal(duplicates(&cm_b, EMU_CM_REQ), 1);
	assert_int_equal(duplicates(&cm_a, EMU_CM_REP), 1);
	assert_int_equal(duplicates(&cm_b, EMU_CM_RTU), 1);
	assert_int_equal(duplicates(&cm_b, EMU_CM_DREQ), 1);
}

static void crossing_dreqs_end_both_sides(void **state)
{
	struct emu_cm_conn *a, *b;

	cm_establish(&a, &b);
	emu_cm_send_dreq(a, NULL, 0);
	emu_cm_send_dreq(b, NULL, 0);
	cm_deliver_all();
	cm_expect(&cm_a, EMU_CM_DREQ_RECEIVED);
	cm_expect(&cm_b, EMU_CM_DREQ_RECEIVED);
	assert_int_equal(emu_cm_send_drep(a, NULL, 0), 0);
	assert_int_equal(emu_cm_send_drep(b, NULL, 0), 0);
	cm_deliver_all();
	expect_state(a, EMU_CM_TIMEWAIT);
	expect_state(b, EMU_CM_TIMEWAIT);
	cm_expect_nothing(&cm_a);
	cm_expect_nothing(&cm_b);
}

static void dreq_may_overtake_the_rtu(void **state)
{
	struct emu_cm_conn *a, *b;

	lose(EMU_CM_RTU, 1);
	a = cm_connect(NULL, 0);
	b = cm_expect(&cm_b, EMU_CM_REQ_RECEIVED);
	cm_reply(b, NULL, 0);
	emu_cm_send_rtu(a, NULL, 0);
	emu_cm_send_dreq(a, NULL, 0);
	cm_deliver_all();
	assert_ptr_equal(cm_expect(&cm_b, EMU_CM_DREQ_RECEIVED), b);
}

static void dreq_for_another_queue_pair_is_dropped(void **state)
{
	struct emu_cm_conn *a, *b;
	struct emu_cm_msg m = {.attr = EMU_CM_DREQ};

	cm_establish(&a, &b);
	m.local_id = a->local_id;
	m.remote_id = b->local_id;
	m.remote_qpn = 0xbad;
	cm_inject(&cm_b, &m);
	cm_expect_nothing(&cm_b);
	expect_state(b, EMU_CM_ESTABLISHED);
}

static void data_before_the_rtu_establishes(void **state)
{
	struct emu_cm_conn *a, *b;

	lose(EMU_CM_RTU, 1);
	a = cm_connect(NULL, 0);
	b = cm_expect(&cm_b, EMU_CM_REQ_RECEIVED);
	assert_int_equal(emu_cm_notify_established(b), -EINVAL);
	cm_reply(b, NULL, 0);
	emu_cm_send_rtu(a, NULL, 0);
	cm_deliver_all();
	assert_int_equal(emu_cm_notify_established(b), 0);
	cm_expect_nothing(&cm_b); /* it follows at the next turn */
	assert_int_equal(emu_cm_notify_established(b), -EISCONN);
	emu_cm_expire(cm_b.cm);
	assert_ptr_equal(cm_expect(&cm_b, EMU_CM_USER_ESTABLISHED), b);
	assert_int_equal(sent(EMU_CM_REP), 1);
	while (cm_next_deadline())
		continue;
	cm_expect_nothing(&cm_b);
}

/* A new connection from a queue pair of an old one: the old one's end was lost. */
static void stale_connection_is_ended(void **state)
{
	const struct emu_cm_req_param p = {.service_id = SERVICE,
					   .qpn = 0x100,
					   .qp_type = IB_UVERBS_QPT_RC,
					   .local_response_timeout = 20,
					   .max_cm_retries = 15};
	struct emu_cm_path path = cm_path_from(&cm_a);
	struct emu_cm_conn *a, *b, *again;

	cm_establish(&a, &b);
	lose(EMU_CM_DREQ, 1);
	emu_cm_conn_destroy(a);
	again = emu_cm_conn_new(cm_a.cm, NULL);
	assert_int_equal(emu_cm_send_req(again, &path, &p, NULL, 0), 0);
	cm_deliver_all();
	assert_ptr_equal(cm_expect(&cm_a, EMU_CM_REJ_RECEIVED), again);
	assert_int_equal(cm_last_msg(&cm_a)->reason, EMU_CM_REJ_STALE_CONN);
	expect_state(again, EMU_CM_TIMEWAIT);
	cm_expect(&cm_b, EMU_CM_DREP_RECEIVED); /* for the DREQ that b sent */
	expect_state(b, EMU_CM_TIMEWAIT);
}

/* --- refusals --------------------------------------------------------------------------------- */

static void expect_rej(enum emu_cm_reason reason, enum emu_cm_answered answered)
{
	cm_expect(&cm_a, EMU_CM_REJ_RECEIVED);
	assert_int_equal(cm_last_msg(&cm_a)->reason, reason);
	assert_int_equal(cm_last_msg(&cm_a)->answered, answered);
}

static void nobody_listens_is_invalid_service_id(void **state)
{
	struct emu_cm_conn *a;

	cm_b.listens = false;
	a = cm_connect(NULL, 0);
	expect_rej(EMU_CM_REJ_INVALID_SERVICE_ID, EMU_CM_OF_REQ);
	expect_state(a, EMU_CM_IDLE);
	cm_expect_nothing(&cm_b);
}

static void reject_carries_reason_and_data(void **state)
{
	struct emu_cm_conn *a = cm_connect(NULL, 0), *b;

	b = cm_expect(&cm_b, EMU_CM_REQ_RECEIVED);
	assert_int_equal(emu_cm_send_rej(b, EMU_CM_REJ_CONSUMER_DEFINED, "why", 3, "no", 2), 0);
	cm_deliver_all();
	expect_rej(EMU_CM_REJ_CONSUMER_DEFINED, EMU_CM_OF_REQ);
	assert_int_equal(cm_last_msg(&cm_a)->info_len, 3);
	assert_memory_equal(cm_last_msg(&cm_a)->info, "why", 4);
	assert_memory_equal(cm_last_msg(&cm_a)->data, "no", 3);
	expect_state(a, EMU_CM_IDLE);
	expect_state(b, EMU_CM_IDLE);
	assert_int_equal(emu_cm_send_rej(b, EMU_CM_REJ_CONSUMER_DEFINED, NULL, 0, NULL, 0),
			 -EINVAL);
}

static void active_side_may_reject_the_rep(void **state)
{
	struct emu_cm_conn *a = cm_connect(NULL, 0), *b;

	b = cm_expect(&cm_b, EMU_CM_REQ_RECEIVED);
	cm_reply(b, NULL, 0);
	cm_expect(&cm_a, EMU_CM_REP_RECEIVED);
	assert_int_equal(emu_cm_send_rej(a, EMU_CM_REJ_CONSUMER_DEFINED, NULL, 0, NULL, 0), 0);
	cm_deliver_all();
	cm_expect(&cm_b, EMU_CM_REJ_RECEIVED);
	assert_int_equal(cm_last_msg(&cm_b)->answered, EMU_CM_OF_REP);
	expect_state(b, EMU_CM_IDLE);
	assert_false(cm_next_deadline());
}

static void handler_that_fails_rejects(void **state)
{
	cm_b.verdict = -EINVAL;
	cm_connect(NULL, 0);
	cm_expect(&cm_b, EMU_CM_REQ_RECEIVED);
	expect_rej(EMU_CM_REJ_CONSUMER_DEFINED, EMU_CM_OF_REQ);
}

/* Without memory the server says nothing, so the client's retry may succeed. */
static void handler_without_memory_lets_the_peer_retry(void **state)
{
	cm_b.verdict = -ENOMEM;
	cm_connect(NULL, 0);
	cm_expect(&cm_b, EMU_CM_REQ_RECEIVED);
	cm_expect_nothing(&cm_a);
	cm_b.verdict = 0;
	assert_true(cm_next_deadline());
	cm_expect(&cm_b, EMU_CM_REQ_RECEIVED);
}

static void unknown_transport_is_rejected(void **state)
{
	struct emu_cm_msg m = {
		.attr = EMU_CM_REQ, .local_id = 77, .service_id = SERVICE, .transport = 2};

	memcpy(m.primary.remote_gid, cm_b.gid, 16);
	cm_inject(&cm_b, &m);
	cm_expect_nothing(&cm_b);
	assert_int_equal(sent(EMU_CM_REJ), 1);
}

static void request_for_a_foreign_gid_is_rejected(void **state)
{
	struct emu_cm_msg m = {.attr = EMU_CM_REQ, .local_id = 77, .service_id = SERVICE};

	cm_inject(&cm_b, &m);
	cm_expect_nothing(&cm_b);
	assert_int_equal(sent(EMU_CM_REJ), 1);
	memcpy(m.primary.remote_gid, cm_b.gid, 16);
	cm_inject(&cm_b, &m);
	cm_expect(&cm_b, EMU_CM_REQ_RECEIVED);
}

static void alternate_paths_are_ignored(void **state)
{
	struct emu_cm_msg m = {.attr = EMU_CM_LAP};
	struct emu_cm_conn *a, *b;
	unsigned int before;

	cm_establish(&a, &b);
	m.local_id = a->local_id;
	m.remote_id = b->local_id;
	before = sent(EMU_CM_APR) + sent(EMU_CM_REJ);
	cm_inject(&cm_b, &m);
	m.attr = EMU_CM_APR;
	cm_inject(&cm_b, &m);
	cm_expect_nothing(&cm_b);
	expect_state(b, EMU_CM_ESTABLISHED);
	assert_int_equal(sent(EMU_CM_APR) + sent(EMU_CM_REJ), before);
}

/* --- processes that end ----------------------------------------------------------------------- */

static void destroyed_before_the_rep_rejects_with_timeout(void **state)
{
	struct emu_cm_conn *a = cm_connect(NULL, 0), *b;

	b = cm_expect(&cm_b, EMU_CM_REQ_RECEIVED);
	emu_cm_conn_destroy(a);
	cm_deliver_all();
	assert_ptr_equal(cm_expect(&cm_b, EMU_CM_REJ_RECEIVED), b);
	assert_int_equal(cm_last_msg(&cm_b)->reason, EMU_CM_REJ_TIMEOUT);
	expect_state(b, EMU_CM_IDLE);
	assert_false(cm_next_deadline());
}

static void destroyed_with_a_request_rejects(void **state)
{
	struct emu_cm_conn *b;

	cm_connect(NULL, 0);
	b = cm_expect(&cm_b, EMU_CM_REQ_RECEIVED);
	emu_cm_conn_destroy(b);
	cm_deliver_all();
	expect_rej(EMU_CM_REJ_CONSUMER_DEFINED, EMU_CM_OF_REQ);
	assert_false(cm_next_deadline());
}

static void destroyed_after_the_rep_rejects(void **state)
{
	struct emu_cm_conn *a = cm_connect(NULL, 0), *b;

	b = cm_expect(&cm_b, EMU_CM_REQ_RECEIVED);
	cm_reply(b, NULL, 0);
	cm_expect(&cm_a, EMU_CM_REP_RECEIVED);
	emu_cm_conn_destroy(b);
	cm_deliver_all();
	expect_rej(EMU_CM_REJ_CONSUMER_DEFINED, EMU_CM_OF_OTHER);
	expect_state(a, EMU_CM_TIMEWAIT);
}

static void destroyed_when_established_disconnects(void **state)
{
	struct emu_cm_conn *a, *b;

	cm_establish(&a, &b);
	emu_cm_conn_destroy(a);
	cm_deliver_all();
	cm_expect(&cm_b, EMU_CM_DREQ_RECEIVED);
	emu_cm_conn_destroy(b);
	cm_deliver_all();
	assert_int_equal(sent(EMU_CM_DREP), 1);
	cm_expect_nothing(&cm_a);
	assert_false(cm_next_deadline());
}

/* In each state in turn: no deadline is left, and an endpoint can be freed at any time. */
static void endpoint_ends_in_every_state(void **state)
{
	struct emu_cm_conn *a, *b;

	cm_connect(NULL, 0);
	cm_expect(&cm_b, EMU_CM_REQ_RECEIVED);
	a = cm_connect(NULL, 0);
	cm_reply(cm_expect(&cm_b, EMU_CM_REQ_RECEIVED), NULL, 0);
	cm_expect(&cm_a, EMU_CM_REP_RECEIVED);
	emu_cm_send_mra(a, 20, false, NULL, 0);
	cm_deliver_all();
	cm_expect(&cm_b, EMU_CM_MRA_RECEIVED);
	cm_establish(&a, &b);
	cm_establish(&a, &b);
	emu_cm_send_dreq(a, NULL, 0);
	cm_deliver_all();
	emu_cm_conn_new(cm_a.cm, NULL);
}

/* --- MRA -------------------------------------------------------------------------------------- */

static void mra_gives_the_peer_more_time(void **state)
{
	struct emu_cm_conn *a = cm_connect(NULL, 0), *b;
	uint64_t start = cm_clock;

	b = cm_expect(&cm_b, EMU_CM_REQ_RECEIVED);
	assert_int_equal(emu_cm_send_mra(b, 24, false, "wait", 4), 0);
	cm_deliver_all();
	assert_ptr_equal(cm_expect(&cm_a, EMU_CM_MRA_RECEIVED), a);
	assert_memory_equal(cm_last_msg(&cm_a)->data, "wait", 5);
	expect_state(a, EMU_CM_MRA_REQ_RCVD);
	expect_state(b, EMU_CM_MRA_REQ_SENT);
	assert_true(cm_next_deadline());
	assert_int_equal(cm_clock - start, 65536 + 512);
	assert_int_equal(sent(EMU_CM_REQ), 2);
	assert_int_equal(sent(EMU_CM_MRA), 2); /* the second REQ is answered with it */
	assert_int_equal(cm_reply(b, NULL, 0), 0);
	cm_expect(&cm_a, EMU_CM_REP_RECEIVED);
}

static void delayed_mra_waits_for_a_second_request(void **state)
{
	struct emu_cm_conn *b;

	cm_connect(NULL, 0);
	b = cm_expect(&cm_b, EMU_CM_REQ_RECEIVED);
	assert_int_equal(emu_cm_send_mra(b, 24, true, NULL, 0), 0);
	cm_deliver_all();
	assert_int_equal(sent(EMU_CM_MRA), 0);
	assert_true(cm_next_deadline());
	assert_int_equal(sent(EMU_CM_MRA), 1);
	cm_expect(&cm_a, EMU_CM_MRA_RECEIVED);
}

static void mra_of_a_rep_holds_the_passive_side(void **state)
{
	struct emu_cm_conn *a = cm_connect(NULL, 0), *b;

	b = cm_expect(&cm_b, EMU_CM_REQ_RECEIVED);
	cm_reply(b, NULL, 0);
	cm_expect(&cm_a, EMU_CM_REP_RECEIVED);
	assert_int_equal(emu_cm_send_mra(a, 22, false, NULL, 0), 0);
	cm_deliver_all();
	cm_expect(&cm_b, EMU_CM_MRA_RECEIVED);
	expect_state(b, EMU_CM_MRA_REP_RCVD);
	assert_int_equal(emu_cm_send_rtu(a, NULL, 0), 0);
	cm_deliver_all();
	cm_expect(&cm_b, EMU_CM_RTU_RECEIVED);
}

static void a_peer_that_vanishes_after_an_mra_is_a_req_error(void **state)
{
	struct emu_cm_conn *b;

	cm_connect(NULL, 0);
	b = cm_expect(&cm_b, EMU_CM_REQ_RECEIVED);
	emu_cm_send_mra(b, 20, false, NULL, 0);
	cm_deliver_all();
	cm_expect(&cm_a, EMU_CM_MRA_RECEIVED);
	lose(EMU_CM_REQ, UINT32_MAX);
	wait_for_event(&cm_a);
	cm_expect(&cm_a, EMU_CM_REQ_ERROR);
}

/* --- states and sizes ------------------------------------------------------------------------- */

static void messages_need_their_states(void **state)
{
	struct emu_cm_conn *a = emu_cm_conn_new(cm_a.cm, NULL);
	const struct emu_cm_sidr_rep_param rep = {.status = EMU_CM_SIDR_SUCCESS};

	assert_int_equal(cm_reply(a, NULL, 0), -EINVAL);
	assert_int_equal(emu_cm_send_rtu(a, NULL, 0), -EINVAL);
	assert_int_equal(emu_cm_send_rej(a, EMU_CM_REJ_NO_QP, NULL, 0, NULL, 0), -EINVAL);
	assert_int_equal(emu_cm_send_mra(a, 20, false, NULL, 0), -EINVAL);
	assert_int_equal(emu_cm_send_dreq(a, NULL, 0), -EINVAL);
	assert_int_equal(emu_cm_send_drep(a, NULL, 0), -EINVAL);
	assert_int_equal(emu_cm_send_sidr_rep(a, &rep, NULL, 0), -EINVAL);
	assert_int_equal(emu_cm_notify_established(a), -EINVAL);
}

static void private_data_has_a_size(void **state)
{
	const struct emu_cm_rep_param rep = {.qpn = 1};
	const struct emu_cm_req_param req = {.qp_type = IB_UVERBS_QPT_RC};
	const struct emu_cm_path path = cm_path_from(&cm_a);
	struct emu_cm_conn *a, *b;
	uint8_t data[256] = {0};

	a = emu_cm_conn_new(cm_a.cm, NULL);
	assert_int_equal(emu_cm_send_req(a, &path, &req, data, 93), -EINVAL);
	assert_int_equal(emu_cm_send_sidr_req(a, &path, SERVICE, 1, 1, data, 217), -EINVAL);
	expect_state(a, EMU_CM_IDLE);
	a = cm_connect(data, 92);
	b = cm_expect(&cm_b, EMU_CM_REQ_RECEIVED);
	assert_int_equal(emu_cm_send_rej(b, 28, data, 73, NULL, 0), -EINVAL);
	assert_int_equal(emu_cm_send_rej(b, 28, NULL, 0, data, 149), -EINVAL);
	assert_int_equal(emu_cm_send_mra(b, 20, false, data, 223), -EINVAL);
	assert_int_equal(emu_cm_send_rep(b, &rep, data, 197), -EINVAL);
	assert_int_equal(cm_reply(b, data, 196), 0);
	assert_int_equal(emu_cm_send_rtu(a, data, 225), -EINVAL);
	assert_int_equal(emu_cm_send_rtu(a, data, 224), 0);
	assert_int_equal(emu_cm_send_dreq(a, data, 221), -EINVAL);
	assert_int_equal(emu_cm_send_dreq(a, data, 220), 0);
	cm_deliver_all();
	assert_int_equal(emu_cm_send_drep(b, data, 225), -EINVAL);
	assert_int_equal(emu_cm_send_drep(b, data, 224), 0);
}

static void datagram_queue_pairs_do_not_connect(void **state)
{
	const struct emu_cm_req_param p = {.qp_type = IB_UVERBS_QPT_UD};
	const struct emu_cm_path path = cm_path_from(&cm_a);
	struct emu_cm_conn *a = emu_cm_conn_new(cm_a.cm, NULL);

	assert_int_equal(emu_cm_send_req(a, &path, &p, NULL, 0), -EINVAL);
}

/* An XRC target's queue pair has another field, and the initiator learns it. */
static void xrc_connects_initiator_and_target(void **state)
{
	const struct emu_cm_req_param p = {.service_id = SERVICE,
					   .qpn = 0x222,
					   .qp_type = IB_UVERBS_QPT_XRC_INI,
					   .initiator_depth = 1,
					   .responder_resources = 9,
					   .max_cm_retries = 1};
	struct emu_cm_path path = cm_path_from(&cm_a);
	struct emu_cm_conn *a = emu_cm_conn_new(cm_a.cm, NULL), *b;
	struct ib_uverbs_qp_attr x;

	assert_int_equal(emu_cm_send_req(a, &path, &p, NULL, 0), 0);
	cm_deliver_all();
	b = cm_expect(&cm_b, EMU_CM_REQ_RECEIVED);
	assert_int_equal(cm_last_msg(&cm_b)->responder_resources, 0);
	assert_int_equal(cm_reply(b, NULL, 0), 0);
	cm_expect(&cm_a, EMU_CM_REP_RECEIVED);
	assert_int_equal(emu_cm_qp_attr(a, 2, &x), 0);
	assert_int_equal(x.dest_qp_num, 0x100);
	assert_false(x.qp_attr_mask & 1 << 17); /* an initiator has no responder */
	assert_int_equal(emu_cm_qp_attr(b, 3, &x), 0);
	assert_int_equal(x.qp_attr_mask, 0x10201);
}

/* --- service ID resolution -------------------------------------------------------------------- */

static struct emu_cm_conn *ask(unsigned int retries)
{
	const struct emu_cm_path path = cm_path_from(&cm_a);
	struct emu_cm_conn *c = emu_cm_conn_new(cm_a.cm, NULL);

	assert_int_equal(emu_cm_send_sidr_req(c, &path, SERVICE, 2000, (uint8_t)retries, "q", 1),
			 0);
	cm_deliver_all();
	return c;
}

static void sidr_resolves_queue_pair_and_key(void **state)
{
	const struct emu_cm_sidr_rep_param rep = {
		.qpn = 0x345, .qkey = 0x01234567, .ece_vendor_id = 0x15b3, .ece_attr_mod = 9};
	struct emu_cm_conn *a = ask(15), *b;

	b = cm_expect(&cm_b, EMU_CM_SIDR_REQ_RECEIVED);
	assert_memory_equal(cm_last_msg(&cm_b)->data, "q", 2);
	assert_int_equal(emu_cm_send_sidr_rep(b, &rep, "a", 1), 0);
	cm_deliver_all();
	assert_ptr_equal(cm_expect(&cm_a, EMU_CM_SIDR_REP_RECEIVED), a);
	assert_int_equal(cm_last_msg(&cm_a)->qpn, 0x345);
	assert_int_equal(cm_last_msg(&cm_a)->qkey, 0x01234567);
	assert_int_equal(cm_last_msg(&cm_a)->vendor_id, 0x15b3);
	assert_int_equal(cm_last_msg(&cm_a)->attr_mod, 9);
	assert_int_equal(cm_last_msg(&cm_a)->service_id, SERVICE);
	assert_memory_equal(cm_last_msg(&cm_a)->data, "a", 2);
	expect_state(a, EMU_CM_IDLE);
	expect_state(b, EMU_CM_IDLE);
	assert_false(cm_next_deadline());
	assert_int_equal(emu_cm_send_sidr_rep(b, &rep, NULL, 0), -EINVAL);
}

static void sidr_without_a_listener_is_unsupported(void **state)
{
	cm_b.listens = false;
	ask(15);
	cm_expect(&cm_a, EMU_CM_SIDR_REP_RECEIVED);
	assert_int_equal(cm_last_msg(&cm_a)->status, EMU_CM_SIDR_UNSUPPORTED);
	cm_expect_nothing(&cm_b);
}

static void sidr_without_an_answer_is_unreachable(void **state)
{
	uint64_t start = cm_clock;

	lose(EMU_CM_SIDR_REQ, UINT32_MAX);
	ask(3);
	wait_for_event(&cm_a);
	cm_expect(&cm_a, EMU_CM_SIDR_REQ_ERROR);
	assert_int_equal(cm_clock - start, 4 * 2000);
	assert_int_equal(sent(EMU_CM_SIDR_REQ), 4);
}

static void sidr_duplicates_are_dropped(void **state)
{
	struct emu_cm_conn *b;

	cm_deliver = duplicate_all;
	ask(3);
	b = cm_expect(&cm_b, EMU_CM_SIDR_REQ_RECEIVED);
	cm_expect_nothing(&cm_b);
	assert_int_equal(duplicates(&cm_b, EMU_CM_SIDR_REQ), 1);
	emu_cm_conn_destroy(b);
	cm_deliver_all();
	cm_expect(&cm_a, EMU_CM_SIDR_REP_RECEIVED);
	assert_int_equal(cm_last_msg(&cm_a)->status, EMU_CM_SIDR_REJECT);
	cm_expect_nothing(&cm_a);
}

static void sidr_that_is_destroyed_leaves_nothing(void **state)
{
	struct emu_cm_conn *a = ask(3), *b;
	const struct emu_cm_sidr_rep_param rep = {.qpn = 1};

	b = cm_expect(&cm_b, EMU_CM_SIDR_REQ_RECEIVED);
	emu_cm_conn_destroy(a);
	emu_cm_send_sidr_rep(b, &rep, NULL, 0);
	cm_deliver_all();
	cm_expect_nothing(&cm_a);
	assert_false(cm_next_deadline());
}

/* --- handlers --------------------------------------------------------------------------------- */

static void handler_may_destroy_by_its_verdict(void **state)
{
	struct emu_cm_conn *a, *b;

	cm_establish(&a, &b);
	cm_b.verdict = 1;
	emu_cm_send_dreq(a, NULL, 0);
	cm_deliver_all();
	cm_expect(&cm_b, EMU_CM_DREQ_RECEIVED);
	cm_expect(&cm_a, EMU_CM_DREP_RECEIVED); /* destroying answers */
	cm_a.verdict = 1;
	wait_for_event(&cm_a);
	cm_expect(&cm_a, EMU_CM_TIMEWAIT_EXIT);
	assert_false(cm_next_deadline());
}

static void late_deadlines_expire_in_order(void **state)
{
	struct emu_cm_conn *first, *second;

	lose(EMU_CM_REQ, UINT32_MAX);
	first = cm_connect(NULL, 0);
	cm_clock += 10;
	second = cm_connect(NULL, 0);
	while (cm_a.nevents < 2)
		assert_true(cm_next_deadline());
	assert_ptr_equal(cm_expect(&cm_a, EMU_CM_REQ_ERROR), first);
	assert_ptr_equal(cm_expect(&cm_a, EMU_CM_REQ_ERROR), second);
}

/* The caller's timer is told each change, and no change twice. */
static void wake_follows_the_first_deadline(void **state)
{
	struct emu_cm_conn *a;

	assert_int_equal(cm_a.wake, UINT64_MAX);
	lose(EMU_CM_REQ, UINT32_MAX);
	a = cm_connect(NULL, 0);
	assert_int_equal(cm_a.wake, cm_clock + REQ_WAIT_MS);
	emu_cm_conn_destroy(a);
	assert_int_equal(cm_a.wake, UINT64_MAX);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, cm_setup, cm_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(connection_is_established_and_closed),
		TEST(parameters_reach_the_peer),
		TEST(queue_pairs_get_what_was_negotiated),
		TEST(queue_pair_attributes_need_a_state),
		TEST(connections_do_not_mix),
		TEST(lost_req_is_sent_again),
		TEST(req_without_an_answer_is_unreachable),
		TEST(lost_rep_is_sent_again),
		TEST(rep_without_rtu_ends_the_passive_side),
		TEST(lost_rtu_is_repeated_with_its_data),
		TEST(dreq_without_an_answer_ends_in_timewait),
		TEST(lost_drep_is_repeated_in_timewait),
		TEST(dreq_for_a_forgotten_connection_is_answered),
		TEST(duplicates_change_nothing),
		TEST(crossing_dreqs_end_both_sides),
		TEST(dreq_may_overtake_the_rtu),
		TEST(dreq_for_another_queue_pair_is_dropped),
		TEST(data_before_the_rtu_establishes),
		TEST(stale_connection_is_ended),
		TEST(nobody_listens_is_invalid_service_id),
		TEST(reject_carries_reason_and_data),
		TEST(active_side_may_reject_the_rep),
		TEST(handler_that_fails_rejects),
		TEST(handler_without_memory_lets_the_peer_retry),
		TEST(unknown_transport_is_rejected),
		TEST(request_for_a_foreign_gid_is_rejected),
		TEST(alternate_paths_are_ignored),
		TEST(destroyed_before_the_rep_rejects_with_timeout),
		TEST(destroyed_with_a_request_rejects),
		TEST(destroyed_after_the_rep_rejects),
		TEST(destroyed_when_established_disconnects),
		TEST(endpoint_ends_in_every_state),
		TEST(mra_gives_the_peer_more_time),
		TEST(delayed_mra_waits_for_a_second_request),
		TEST(mra_of_a_rep_holds_the_passive_side),
		TEST(a_peer_that_vanishes_after_an_mra_is_a_req_error),
		TEST(messages_need_their_states),
		TEST(private_data_has_a_size),
		TEST(datagram_queue_pairs_do_not_connect),
		TEST(xrc_connects_initiator_and_target),
		TEST(sidr_resolves_queue_pair_and_key),
		TEST(sidr_without_a_listener_is_unsupported),
		TEST(sidr_without_an_answer_is_unreachable),
		TEST(sidr_duplicates_are_dropped),
		TEST(sidr_that_is_destroyed_leaves_nothing),
		TEST(handler_may_destroy_by_its_verdict),
		TEST(late_deadlines_expire_in_order),
		TEST(wake_follows_the_first_deadline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
