/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Datagrams, shared receive queues and the states of queue pairs. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "verbs.h"

#define CONTROLLED 0x80000000u

static void a_datagram_arrives_with_its_global_header(void **state)
{
	struct verbs *n = *state;
	struct verbs_pair p = verbs_open_pair(n);
	struct ibv_ah_attr back;
	struct ibv_grh grh;
	struct ibv_wc wc;

	memset(n->buf, 0x5a, 100);
	verbs_recv_into(n, p.b, VERBS_MTU, VERBS_GRH + 100);
	verbs_send_ud(n, p.a, p.to_b, 100);
	wc = verbs_expect_both(n->cq);
	assert_int_equal(wc.byte_len, VERBS_GRH + 100);
	assert_true(wc.wc_flags & IBV_WC_GRH);
	assert_int_equal(wc.src_qp, p.a->qp_num);
	assert_memory_equal(n->buf + VERBS_MTU + VERBS_GRH, n->buf, 100);
	memcpy(&grh, n->buf + VERBS_MTU, sizeof(grh));
	assert_int_equal(ntohl(grh.version_tclass_flow), 6u << 28 | 0x2cu << 20);
	assert_int_equal(grh.next_hdr, IPPROTO_UDP);
	assert_int_equal(grh.hop_limit, 64);
	assert_memory_equal(&grh.sgid, &n->gid, sizeof(n->gid));
	assert_memory_equal(&grh.dgid, &n->gid, sizeof(n->gid));
	assert_int_equal(ibv_init_ah_from_wc(n->ctx, 1, &wc, &grh, &back), 0);
	assert_memory_equal(&back.grh.dgid, &n->gid, sizeof(n->gid));
	verbs_close_pair(&p);
}

static void datagrams_without_a_match_are_dropped(void **state)
{
	struct verbs *n = *state;
	struct verbs_pair p = verbs_open_pair(n);
	struct verbs_target to = p.to_b;

	verbs_recv_into(n, p.b, VERBS_MTU, VERBS_GRH + 8);
	to.qkey = VERBS_QKEY + 1;
	verbs_send_ud(n, p.a, to, 8);
	assert_int_equal(verbs_expect(n->cq, IBV_WC_SUCCESS).opcode, IBV_WC_SEND);
	to = p.to_b;
	to.qpn = 0xfffff;
	verbs_send_ud(n, p.a, to, 8);
	assert_int_equal(verbs_expect(n->cq, IBV_WC_SUCCESS).opcode, IBV_WC_SEND);
	verbs_expect_nothing(n->cq);
	to = p.to_b;
	to.qkey = CONTROLLED; /* stands for the sender's own */
	verbs_send_ud(n, p.a, to, 8);
	assert_int_equal(verbs_expect_both(n->cq).byte_len, VERBS_GRH + 8);
	verbs_send_ud(n, p.a, p.to_b, 8); /* without a receive WQE */
	assert_int_equal(verbs_expect(n->cq, IBV_WC_SUCCESS).opcode, IBV_WC_SEND);
	verbs_expect_nothing(n->cq);
	verbs_close_pair(&p);
}

/* The send queue stops, the receive queue goes on, and RTS restarts the send queue. */
static void send_queue_error_leaves_the_receive_queue(void **state)
{
	struct verbs *n = *state;
	struct verbs_pair p = verbs_open_pair(n);

	verbs_send_ud(n, p.a, p.to_b, VERBS_MTU + 1);
	verbs_expect(n->cq, IBV_WC_LOC_LEN_ERR);
	assert_int_equal(verbs_state_of(p.a), IBV_QPS_SQE);
	verbs_recv_into(n, p.a, VERBS_MTU, VERBS_GRH + 4);
	verbs_send_ud(n, p.b, (struct verbs_target){p.ah, p.a->qp_num, VERBS_QKEY}, 4);
	verbs_expect_both(n->cq);
	assert_int_equal(verbs_modify(p.a, IBV_QPS_RTS, 0), 0);
	verbs_recv_into(n, p.b, VERBS_MTU, VERBS_GRH + VERBS_MTU);
	verbs_send_ud(n, p.a, p.to_b, VERBS_MTU);
	assert_int_equal(verbs_expect_both(n->cq).byte_len, VERBS_GRH + VERBS_MTU);
	verbs_close_pair(&p);
}

/* IBA 9.9.3.1, class D: it is dropped, and its buffer takes the next one. */
static void datagram_longer_than_its_buffer_is_dropped(void **state)
{
	struct verbs *n = *state;
	struct verbs_pair p = verbs_open_pair(n);
	struct ibv_wc wc;

	verbs_recv_into(n, p.b, VERBS_MTU, VERBS_GRH + 7);
	verbs_recv_into(n, p.b, VERBS_MTU + 1024, VERBS_GRH + 8);
	verbs_send_ud(n, p.a, p.to_b, 8);
	assert_int_equal(verbs_expect(n->cq, IBV_WC_SUCCESS).opcode, IBV_WC_SEND);
	verbs_expect_nothing(n->cq);
	assert_int_equal(verbs_state_of(p.b), IBV_QPS_RTS);
	verbs_send_ud(n, p.a, p.to_b, 7);
	wc = verbs_expect_both(n->cq);
	assert_int_equal(wc.wr_id, VERBS_MTU);
	assert_int_equal(wc.byte_len, VERBS_GRH + 7);
	verbs_send_ud(n, p.a, p.to_b, 8);
	assert_int_equal(verbs_expect_both(n->cq).wr_id, VERBS_MTU + 1024);
	verbs_close_pair(&p);
}

static struct ibv_srq *make_srq(struct verbs *n)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 8, .max_sge = 2}};
	struct ibv_srq *srq = ibv_create_srq(n->pd, &init);

	assert_non_null(srq);
	return srq;
}

static int arm(struct ibv_srq *srq, uint32_t limit)
{
	struct ibv_srq_attr a = {.srq_limit = limit};

	return ibv_modify_srq(srq, &a, IBV_SRQ_LIMIT);
}

/* Two receivers on one queue: each message takes the next buffer, for many rounds of the ring. */
static void receivers_take_buffers_of_a_shared_queue_in_order(void **state)
{
	struct verbs *n = *state;
	struct ibv_srq *srq = make_srq(n);
	struct ibv_qp *to[2] = {verbs_make_qp(n, IBV_QPT_RC, srq),
				verbs_make_qp(n, IBV_QPT_RC, srq)};
	struct ibv_qp *from[2] = {verbs_make_qp(n, IBV_QPT_RC, NULL),
				  verbs_make_qp(n, IBV_QPT_RC, NULL)};

	for (uint32_t i = 0; i < 2; i++) {
		verbs_connect_qp(n, to[i], from[i]->qp_num);
		verbs_connect_qp(n, from[i], to[i]->qp_num);
	}
	for (uint32_t i = 0; i < 100; i++) {
		uint32_t at = 1024 + i % 7 * 64;
		struct ibv_wc wc;

		memset(n->buf, (int)i, 32);
		verbs_recv_into(n, to[0], at, 32);
		verbs_send_from(n, from[i % 3 % 2], 0, 32);
		wc = verbs_expect_both(n->cq);
		assert_int_equal(wc.wr_id, at);
		assert_int_equal(wc.qp_num, to[i % 3 % 2]->qp_num);
		assert_memory_equal(n->buf + at, n->buf, 32);
	}
	verbs_send_from(n, from[0], 0, 32);
	verbs_expect(n->cq, IBV_WC_RNR_RETRY_EXC_ERR);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(ibv_destroy_qp(to[i]), 0);
		assert_int_equal(ibv_destroy_qp(from[i]), 0);
	}
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

static void srq_reports_its_limit_and_last_wqe_once(void **state)
{
	struct verbs *n = *state;
	struct ibv_srq *srq = make_srq(n);
	struct ibv_qp *to = verbs_make_qp(n, IBV_QPT_RC, srq),
		      *from = verbs_make_qp(n, IBV_QPT_RC, NULL);
	struct ibv_async_event e;
	struct ibv_srq_attr a;

	verbs_connect_qp(n, to, from->qp_num);
	verbs_connect_qp(n, from, to->qp_num);
	verbs_recv_into(n, to, 1024, 32);
	verbs_recv_into(n, to, 1088, 32);
	assert_int_equal(arm(srq, 2), 0);
	verbs_expect_no_event(n);
	assert_int_equal(ibv_query_srq(srq, &a), 0);
	assert_int_equal(a.srq_limit, 2);
	verbs_send_from(n, from, 0, 32);
	verbs_expect_both(n->cq);
	e = verbs_expect_event(n, IBV_EVENT_SRQ_LIMIT_REACHED);
	assert_ptr_equal(e.element.srq, srq);
	ibv_ack_async_event(&e);
	verbs_expect_no_event(n); /* once */
	assert_int_equal(ibv_query_srq(srq, &a), 0);
	assert_int_equal(a.srq_limit, 0);
	assert_int_equal(arm(srq, 1 << 16), EINVAL);
	a.max_wr = 4;
	assert_int_equal(ibv_modify_srq(srq, &a, IBV_SRQ_MAX_WR), EINVAL);
	assert_int_equal(ibv_destroy_srq(srq), EBUSY);
	assert_int_equal(verbs_modify(to, IBV_QPS_ERR, 0), 0);
	e = verbs_expect_event(n, IBV_EVENT_QP_LAST_WQE_REACHED);
	assert_ptr_equal(e.element.qp, to);
	ibv_ack_async_event(&e);
	verbs_expect_nothing(n->cq); /* its buffers stay in the SRQ */
	assert_int_equal(ibv_destroy_qp(to), 0);
	assert_int_equal(ibv_destroy_qp(from), 0);
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

/* --- XRC -------------------------------------------------------------------------------------- */

static struct ibv_xrcd *open_domain(struct verbs *n)
{
	struct ibv_xrcd_init_attr a = {.comp_mask =
					       IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
				       .fd = -1,
				       .oflags = O_CREAT};
	struct ibv_xrcd *x = ibv_open_xrcd(n->ctx, &a);

	assert_non_null(x);
	return x;
}

static struct ibv_srq *make_xsrq(struct verbs *n, struct ibv_xrcd *x)
{
	struct ibv_srq_init_attr_ex a = {.attr = {.max_wr = 4, .max_sge = 1},
					 .srq_type = IBV_SRQT_XRC,
					 .pd = n->pd,
					 .xrcd = x,
					 .cq = n->cq};
	struct ibv_srq *srq;

	a.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD |
		      IBV_SRQ_INIT_ATTR_CQ;
	srq = ibv_create_srq_ex(n->ctx, &a);
	assert_non_null(srq);
	return srq;
}

static struct ibv_qp *make_xrc(struct verbs *n, struct ibv_xrcd *x)
{
	struct ibv_qp_init_attr_ex a = {.qp_type = x ? IBV_QPT_XRC_RECV : IBV_QPT_XRC_SEND,
					.send_cq = x ? NULL : n->cq,
					.sq_sig_all = 1,
					.xrcd = x,
					.pd = x ? NULL : n->pd};
	struct ibv_qp *qp;

	a.comp_mask = x ? IBV_QP_INIT_ATTR_XRCD : IBV_QP_INIT_ATTR_PD;
	a.cap.max_send_wr = x ? 0 : 4;
	a.cap.max_send_sge = x ? 0 : 1;
	qp = ibv_create_qp_ex(n->ctx, &a);
	assert_non_null(qp);
	return qp;
}

static void connect_target(const struct verbs *n, struct ibv_qp *qp, uint32_t to)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;

	assert_int_equal(ibv_modify_qp(qp, &a, mask), 0);
	a.qp_state = IBV_QPS_RTR;
	a.path_mtu = IBV_MTU_1024;
	a.dest_qp_num = to;
	a.min_rnr_timer = 1;
	a.ah_attr.is_global = 1;
	a.ah_attr.port_num = 1;
	a.ah_attr.grh.dgid = n->gid;
	a.ah_attr.grh.sgid_index = 1;
	mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (qp->qp_type == IBV_QPT_XRC_RECV)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	assert_int_equal(ibv_modify_qp(qp, &a, mask), 0);
	a.qp_state = IBV_QPS_RTS;
	a.timeout = 10;
	a.retry_cnt = a.rnr_retry = 1;
	mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_SQ_PSN;
	if (qp->qp_type == IBV_QPT_XRC_SEND)
		mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	assert_int_equal(ibv_modify_qp(qp, &a, mask), 0);
}

static void send_xrc(const struct verbs *n, struct ibv_qp *qp, struct ibv_srq *to)
{
	struct ibv_sge sge = verbs_piece(n, 0, 32);
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1}, *bad;

	assert_int_equal(ibv_get_srq_num(to, &wr.qp_type.xrc.remote_srqn), 0);
	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
}

/* The receiver waits in RTR for the first message, as the passive end of a connection may. */
static void first_message_reports_communication_established(void **state)
{
	struct verbs *n = *state;
	struct ibv_qp *to = verbs_make_qp(n, IBV_QPT_RC, NULL),
		      *from = verbs_make_qp(n, IBV_QPT_RC, NULL);
	struct ibv_async_event e;

	verbs_make_ready_to_receive(n, to, from->qp_num);
	verbs_connect_qp(n, from, to->qp_num);
	verbs_expect_no_event(n);
	for (int i = 0; i < 2; i++) {
		verbs_recv_into(n, to, 1024, 32);
		verbs_send_from(n, from, 0, 32);
		verbs_expect_both(n->cq);
	}
	e = verbs_expect_event(n, IBV_EVENT_COMM_EST);
	assert_ptr_equal(e.element.qp, to);
	ibv_ack_async_event(&e);
	verbs_expect_no_event(n);
	verbs_make_ready_to_send(to);
	assert_int_equal(ibv_destroy_qp(to), 0);
	assert_int_equal(ibv_destroy_qp(from), 0);
}

/* A message names its SRQ; an SRQ of another domain is not available to this target. */
static void an_srq_of_another_domain_is_not_available(void **state)
{
	struct verbs *n = *state;
	struct ibv_xrcd *mine = open_domain(n), *other = open_domain(n);
	struct ibv_srq *srq = make_xsrq(n, mine), *foreign = make_xsrq(n, other);
	struct ibv_qp *tgt = make_xrc(n, mine), *ini = make_xrc(n, NULL);
	struct ibv_sge sge = verbs_piece(n, 1024, 32);
	struct ibv_recv_wr wr = {.wr_id = 77, .sg_list = &sge, .num_sge = 1}, *bad;
	struct ibv_async_event e;

	connect_target(n, tgt, ini->qp_num);
	connect_target(n, ini, tgt->qp_num);
	assert_int_equal(ibv_post_srq_recv(srq, &wr, &bad), 0);
	assert_int_equal(ibv_post_srq_recv(foreign, &wr, &bad), 0);
	send_xrc(n, ini, srq);
	assert_int_equal(verbs_expect_both(n->cq).wr_id, 77);
	assert_int_equal(ibv_close_xrcd(mine), EBUSY);
	send_xrc(n, ini, foreign);
	verbs_expect(n->cq, IBV_WC_REM_INV_REQ_ERR);
	assert_int_equal(verbs_state_of(tgt), IBV_QPS_ERR);
	while (!ibv_get_async_event(n->ctx, &e))
		ibv_ack_async_event(&e);
	assert_int_equal(ibv_destroy_qp(ini), 0);
	assert_int_equal(ibv_destroy_qp(tgt), 0);
	assert_int_equal(ibv_destroy_srq(srq), 0);
	assert_int_equal(ibv_destroy_srq(foreign), 0);
	assert_int_equal(ibv_close_xrcd(mine), 0);
	assert_int_equal(ibv_close_xrcd(other), 0);
}
/* --- states ----------------------------------------------------------------------------------- */

static void invalid_transitions_are_refused(void **state)
{
	struct verbs *n = *state;
	struct ibv_qp *ud = verbs_make_qp(n, IBV_QPT_UD, NULL),
		      *rc = verbs_make_qp(n, IBV_QPT_RC, NULL);
	const int begin = IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	/* too few attributes, or those of another kind of QP */
	assert_int_equal(verbs_modify(ud, IBV_QPS_INIT, begin), EINVAL);
	assert_int_equal(verbs_modify(ud, IBV_QPS_INIT, begin | IBV_QP_ACCESS_FLAGS), EINVAL);
	assert_int_equal(verbs_modify(rc, IBV_QPS_INIT, begin | IBV_QP_QKEY), EINVAL);
	/* invalid transitions */
	assert_int_equal(verbs_modify(ud, IBV_QPS_ERR, 0), EINVAL);
	assert_int_equal(verbs_modify(ud, IBV_QPS_RTR, 0), EINVAL);
	assert_int_equal(verbs_modify(ud, IBV_QPS_RTS, IBV_QP_SQ_PSN), EINVAL);
	assert_int_equal(verbs_modify(ud, IBV_QPS_INIT, begin | IBV_QP_QKEY), 0);
	assert_int_equal(verbs_modify(rc, IBV_QPS_INIT, begin | IBV_QP_ACCESS_FLAGS), 0);
	assert_int_equal(verbs_modify(rc, IBV_QPS_RTR, 0), EINVAL);
	assert_int_equal(verbs_modify(ud, IBV_QPS_RTR, IBV_QP_AV), EINVAL);
	assert_int_equal(verbs_modify(ud, IBV_QPS_RTR, IBV_QP_QKEY), 0);
	assert_int_equal(verbs_modify(ud, IBV_QPS_RTS, 0), EINVAL);
	assert_int_equal(verbs_modify(ud, IBV_QPS_RTS, IBV_QP_SQ_PSN), 0);
	assert_int_equal(verbs_modify(ud, IBV_QPS_SQD, 0),
			 EINVAL); /* not a command of this device */
	assert_int_equal(verbs_modify(ud, IBV_QPS_INIT, begin | IBV_QP_QKEY), EINVAL);
	assert_int_equal(verbs_modify(ud, IBV_QPS_ERR, IBV_QP_QKEY), EINVAL);
	assert_int_equal(verbs_modify(ud, IBV_QPS_ERR, 0), 0);
	assert_int_equal(verbs_modify(ud, IBV_QPS_RTS, 0), EINVAL);
	assert_int_equal(verbs_modify(ud, IBV_QPS_RESET, 0), 0);
	assert_int_equal(verbs_state_of(ud), IBV_QPS_RESET);
	assert_int_equal(ibv_destroy_qp(ud), 0);
	assert_int_equal(ibv_destroy_qp(rc), 0);
}

static void query_returns_the_attributes_that_were_set(void **state)
{
	struct verbs *n = *state;
	struct ibv_qp *a = verbs_make_qp(n, IBV_QPT_RC, NULL),
		      *b = verbs_make_qp(n, IBV_QPT_RC, NULL);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr q;

	verbs_connect_qp(n, a, b->qp_num);
	assert_int_equal(ibv_query_qp(a, &q, 0xfffff, &init), 0);
	assert_int_equal(q.qp_state, IBV_QPS_RTS);
	assert_int_equal(q.path_mtu, IBV_MTU_1024);
	assert_int_equal(q.dest_qp_num, b->qp_num);
	assert_int_equal(q.qp_access_flags, IBV_ACCESS_REMOTE_WRITE);
	assert_int_equal(q.timeout, 10);
	assert_int_equal(q.retry_cnt, 3);
	assert_int_equal(q.rnr_retry, 1);
	assert_int_equal(q.min_rnr_timer, 1);
	assert_int_equal(q.port_num, 1);
	assert_int_equal(q.ah_attr.grh.sgid_index, 1);
	assert_memory_equal(&q.ah_attr.grh.dgid, &n->gid, sizeof(n->gid));
	assert_int_equal(q.cap.max_recv_wr, 8);
	assert_int_equal(init.sq_sig_all, 1);
	assert_int_equal(ibv_destroy_qp(a), 0);
	assert_int_equal(ibv_destroy_qp(b), 0);
}

/* What mlx5 reads from the device, and not what the program has set. */
static void query_of_rc_returns_what_the_driver_returns(void **state)
{
	struct verbs *n = *state;
	struct ibv_qp *qp = verbs_make_qp(n, IBV_QPT_RC, NULL);
	struct ibv_qp_attr q,
		a = {
			.qp_state = IBV_QPS_INIT,
			.port_num = 1,
			.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
					   IBV_ACCESS_REMOTE_WRITE,
		};
	struct ibv_qp_init_attr init;

	assert_int_equal(
		ibv_modify_qp(qp, &a,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		0);
	assert_int_equal(ibv_query_qp(qp, &q, 0xfffff, &init), 0);
	assert_int_equal(q.qp_access_flags, IBV_ACCESS_REMOTE_WRITE);
	assert_int_equal(q.max_rd_atomic, 1);
	assert_int_equal(q.max_dest_rd_atomic, 1);
	assert_int_equal(q.path_mtu, 0);
	assert_int_equal(q.ah_attr.is_global, 1);
	a = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_2048,
		.dest_qp_num = qp->qp_num,
		.max_dest_rd_atomic = 5,
		.ah_attr = {.dlid = 7,
			    .sl = 3,
			    .src_path_bits = 1,
			    .port_num = 1,
			    .is_global = 1,
			    .grh = {.dgid = n->gid,
				    .sgid_index = 1,
				    .hop_limit = 1,
				    .traffic_class = 0x20,
				    .flow_label = 9}},
	};
	assert_int_equal(ibv_modify_qp(qp, &a,
				       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
			 0);
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .max_rd_atomic = 3};
	assert_int_equal(ibv_modify_qp(qp, &a,
				       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					       IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					       IBV_QP_MAX_QP_RD_ATOMIC),
			 0);
	assert_int_equal(ibv_query_qp(qp, &q, 0xfffff, &init), 0);
	assert_int_equal(q.qp_access_flags, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
	assert_int_equal(q.max_rd_atomic, 4);
	assert_int_equal(q.max_dest_rd_atomic, 8);
	assert_int_equal(q.path_mtu, IBV_MTU_2048);
	assert_int_equal(q.ah_attr.dlid, 0);
	assert_int_equal(q.ah_attr.sl, 0);
	assert_int_equal(q.ah_attr.src_path_bits, 0);
	assert_int_equal(q.ah_attr.grh.hop_limit, 64);
	assert_int_equal(q.ah_attr.grh.traffic_class, 0x20);
	assert_int_equal(q.ah_attr.grh.flow_label, 9);
	assert_int_equal(q.path_mig_state, IBV_MIG_MIGRATED);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void query_of_ud_returns_what_the_driver_returns(void **state)
{
	struct verbs *n = *state;
	struct ibv_qp *qp = verbs_make_qp(n, IBV_QPT_UD, NULL);
	struct ibv_qp_attr q, a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x11};
	struct ibv_qp_init_attr init;

	assert_int_equal(
		ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
		0);
	a.qp_state = IBV_QPS_RTR;
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_STATE), 0);
	assert_int_equal(ibv_query_qp(qp, &q, 0xfffff, &init), 0);
	assert_int_equal(q.path_mtu, IBV_MTU_4096);
	assert_int_equal(q.qkey, 0x11);
	assert_int_equal(q.max_rd_atomic, 1);
	assert_int_equal(q.ah_attr.is_global, 0);
	assert_int_equal(q.ah_attr.port_num, 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void an_address_handle_needs_an_existing_gid_and_path(void **state)
{
	struct verbs *n = *state;
	struct ibv_ah_attr a = {.is_global = 1, .port_num = 1};

	a.grh.dgid = n->gid;
	a.grh.sgid_index = 5; /* missing */
	assert_null(ibv_create_ah(n->pd, &a));
	a.grh.sgid_index = 1;
	a.grh.dgid.raw[0] = 0x20; /* an address of no port, and not link-local */
	assert_null(ibv_create_ah(n->pd, &a));
	assert_int_equal(errno, ETIMEDOUT);
}
#define node_test(function) cmocka_unit_test_setup_teardown(function, verbs_open, verbs_close)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		node_test(a_datagram_arrives_with_its_global_header),
		node_test(datagrams_without_a_match_are_dropped),
		node_test(send_queue_error_leaves_the_receive_queue),
		node_test(datagram_longer_than_its_buffer_is_dropped),
		node_test(receivers_take_buffers_of_a_shared_queue_in_order),
		node_test(srq_reports_its_limit_and_last_wqe_once),
		node_test(first_message_reports_communication_established),
		node_test(an_srq_of_another_domain_is_not_available),
		node_test(invalid_transitions_are_refused),
		node_test(query_returns_the_attributes_that_were_set),
		node_test(query_of_rc_returns_what_the_driver_returns),
		node_test(query_of_ud_returns_what_the_driver_returns),
		node_test(an_address_handle_needs_an_existing_gid_and_path),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
