/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Datagrams, shared receive queues, sizes of completion queues and the states of queue pairs. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fixture.h"

#define QKEY	   0x11223344u
#define GRH	   40u
#define MTU	   4096u
#define BUF	   16384u
#define WAIT_MS	   5000
#define QUIET_MS   30
#define PSN	   0x123u
#define CONTROLLED 0x80000000u

struct node {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	union ibv_gid gid;
	uint8_t *buf;
};

static uint8_t memory[BUF] __attribute__((aligned(4096)));

static int open_node(void **state)
{
	static struct node n;

	if (fixture_count(state))
		return -1;
	n.ctx = rig_open_context();
	assert_non_null(n.ctx);
	assert_int_equal(fcntl(n.ctx->async_fd, F_SETFL, O_NONBLOCK), 0);
	n.buf = memory;
	memset(n.buf, 0, BUF);
	n.pd = ibv_alloc_pd(n.ctx);
	n.cq = ibv_create_cq(n.ctx, 64, NULL, NULL, 0);
	n.mr = ibv_reg_mr(n.pd, n.buf, BUF, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	assert_non_null(n.mr);
	assert_non_null(n.cq);
	assert_int_equal(ibv_query_gid(n.ctx, 1, 1, &n.gid), 0);
	*state = &n;
	return 0;
}

static int close_node(void **state)
{
	struct node *n = *state;

	assert_int_equal(ibv_dereg_mr(n->mr), 0);
	assert_int_equal(ibv_destroy_cq(n->cq), 0);
	assert_int_equal(ibv_dealloc_pd(n->pd), 0);
	assert_int_equal(ibv_close_device(n->ctx), 0);
	return fixture_recount(state);
}

static struct ibv_qp *make_qp(struct node *n, enum ibv_qp_type type, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = n->cq, .recv_cq = n->cq, .srq = srq, .qp_type = type, .sq_sig_all = 1};
	struct ibv_qp *qp;

	init.cap.max_send_wr = init.cap.max_recv_wr = 8;
	init.cap.max_send_sge = init.cap.max_recv_sge = 2;
	qp = ibv_create_qp(n->pd, &init);
	assert_non_null(qp);
	return qp;
}

static int modify(struct ibv_qp *qp, enum ibv_qp_state to, int mask)
{
	struct ibv_qp_attr a = {.qp_state = to, .port_num = 1, .qkey = QKEY, .sq_psn = PSN};

	a.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	return ibv_modify_qp(qp, &a, IBV_QP_STATE | mask);
}

static struct ibv_qp *make_ud(struct node *n)
{
	struct ibv_qp *qp = make_qp(n, IBV_QPT_UD, NULL);

	assert_int_equal(modify(qp, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
			 0);
	assert_int_equal(modify(qp, IBV_QPS_RTR, 0), 0);
	assert_int_equal(modify(qp, IBV_QPS_RTS, IBV_QP_SQ_PSN), 0);
	return qp;
}

static void make_ready_to_receive(const struct node *n, struct ibv_qp *qp, uint32_t to)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;

	a.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	assert_int_equal(ibv_modify_qp(qp, &a, mask), 0);
	a.qp_state = IBV_QPS_RTR;
	a.path_mtu = IBV_MTU_1024;
	a.dest_qp_num = to;
	a.max_dest_rd_atomic = 1;
	a.min_rnr_timer = 1;
	a.ah_attr.is_global = 1;
	a.ah_attr.port_num = 1;
	a.ah_attr.grh.dgid = n->gid;
	a.ah_attr.grh.sgid_index = 1;
	mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
	       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	assert_int_equal(ibv_modify_qp(qp, &a, mask), 0);
}

static void make_ready_to_send(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTS};
	int mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		   IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;

	a.timeout = 10;
	a.retry_cnt = 3;
	a.rnr_retry = 1;
	a.max_rd_atomic = 1;
	assert_int_equal(ibv_modify_qp(qp, &a, mask), 0);
}

static void connect_qp(const struct node *n, struct ibv_qp *qp, uint32_t to)
{
	make_ready_to_receive(n, qp, to);
	make_ready_to_send(qp);
}

static struct ibv_ah *make_ah(const struct node *n)
{
	struct ibv_ah_attr a = {.is_global = 1, .port_num = 1};
	struct ibv_ah *ah;

	a.grh.dgid = n->gid;
	a.grh.sgid_index = 1;
	a.grh.hop_limit = 64;
	a.grh.traffic_class = 0x2c;
	ah = ibv_create_ah(n->pd, &a);
	assert_non_null(ah);
	return ah;
}

static struct ibv_sge piece(const struct node *n, uint32_t off, uint32_t len)
{
	struct ibv_sge s = {(uintptr_t)n->buf + off, len, n->mr->lkey};

	return s;
}

static void recv_into(const struct node *n, struct ibv_qp *qp, uint32_t off, uint32_t len)
{
	struct ibv_sge sge = piece(n, off, len);
	struct ibv_recv_wr wr = {.wr_id = off, .sg_list = &sge, .num_sge = 1}, *bad;

	if (qp->srq)
		assert_int_equal(ibv_post_srq_recv(qp->srq, &wr, &bad), 0);
	else
		assert_int_equal(ibv_post_recv(qp, &wr, &bad), 0);
}

static void send_from(const struct node *n, struct ibv_qp *qp, uint32_t off, uint32_t len)
{
	struct ibv_sge sge = piece(n, off, len);
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1}, *bad;

	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
}

struct target {
	struct ibv_ah *ah;
	uint32_t qpn, qkey;
};

static void send_ud(const struct node *n, struct ibv_qp *qp, struct target to, uint32_t len)
{
	struct ibv_sge sge = piece(n, 0, len);
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1}, *bad;

	wr.wr.ud.ah = to.ah;
	wr.wr.ud.remote_qpn = to.qpn;
	wr.wr.ud.remote_qkey = to.qkey;
	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
}

static void pause_ms(int ms)
{
	struct timespec ts = {.tv_nsec = ms * 1000000L};

	nanosleep(&ts, NULL);
}

static struct ibv_wc completion(struct ibv_cq *cq)
{
	struct ibv_wc wc = {0};
	int i;

	for (i = 0; i < WAIT_MS; i++) {
		int n = ibv_poll_cq(cq, 1, &wc);

		assert_true(n >= 0);
		if (n)
			return wc;
		pause_ms(1);
	}
	fail_msg("no completion");
	return wc;
}

static struct ibv_wc expect(struct ibv_cq *cq, enum ibv_wc_status status)
{
	struct ibv_wc wc = completion(cq);

	assert_string_equal(ibv_wc_status_str(wc.status), ibv_wc_status_str(status));
	return wc;
}

static void expect_nothing(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	pause_ms(QUIET_MS);
	assert_int_equal(ibv_poll_cq(cq, 1, &wc), 0);
}

/* Send and receive completions may come in any order. */
static struct ibv_wc expect_both(struct ibv_cq *cq)
{
	struct ibv_wc a = expect(cq, IBV_WC_SUCCESS);
	struct ibv_wc b = expect(cq, IBV_WC_SUCCESS);

	assert_true((a.opcode == IBV_WC_RECV) != (b.opcode == IBV_WC_RECV));
	return a.opcode == IBV_WC_RECV ? a : b;
}

static struct ibv_async_event expect_event(const struct node *n, enum ibv_event_type type)
{
	struct pollfd p = {.fd = n->ctx->async_fd, .events = POLLIN};
	struct ibv_async_event e;

	assert_int_equal(poll(&p, 1, WAIT_MS), 1);
	assert_int_equal(ibv_get_async_event(n->ctx, &e), 0);
	assert_string_equal(ibv_event_type_str(e.event_type), ibv_event_type_str(type));
	return e;
}

static void expect_no_event(const struct node *n)
{
	struct pollfd p = {.fd = n->ctx->async_fd, .events = POLLIN};

	assert_int_equal(poll(&p, 1, QUIET_MS), 0);
}

static enum ibv_qp_state state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;

	assert_int_equal(ibv_query_qp(qp, &a, IBV_QP_STATE, &init), 0);
	return a.qp_state;
}

struct pair {
	struct ibv_qp *a, *b;
	struct ibv_ah *ah;
	struct target to_b;
};

static struct pair open_pair(struct node *n)
{
	struct pair p = {make_ud(n), make_ud(n), make_ah(n), {0}};

	p.to_b = (struct target){p.ah, p.b->qp_num, QKEY};
	return p;
}

static void close_pair(struct pair *p)
{
	assert_int_equal(ibv_destroy_ah(p->ah), 0);
	assert_int_equal(ibv_destroy_qp(p->a), 0);
	assert_int_equal(ibv_destroy_qp(p->b), 0);
}

static void test_datagram(void **state)
{
	struct node *n = *state;
	struct pair p = open_pair(n);
	struct ibv_ah_attr back;
	struct ibv_grh grh;
	struct ibv_wc wc;

	memset(n->buf, 0x5a, 100);
	recv_into(n, p.b, MTU, GRH + 100);
	send_ud(n, p.a, p.to_b, 100);
	wc = expect_both(n->cq);
	assert_int_equal(wc.byte_len, GRH + 100);
	assert_true(wc.wc_flags & IBV_WC_GRH);
	assert_int_equal(wc.src_qp, p.a->qp_num);
	assert_memory_equal(n->buf + MTU + GRH, n->buf, 100);
	memcpy(&grh, n->buf + MTU, sizeof(grh));
	assert_int_equal(ntohl(grh.version_tclass_flow), 6u << 28 | 0x2cu << 20);
	assert_int_equal(grh.next_hdr, IPPROTO_UDP);
	assert_int_equal(grh.hop_limit, 64);
	assert_memory_equal(&grh.sgid, &n->gid, sizeof(n->gid));
	assert_memory_equal(&grh.dgid, &n->gid, sizeof(n->gid));
	assert_int_equal(ibv_init_ah_from_wc(n->ctx, 1, &wc, &grh, &back), 0);
	assert_memory_equal(&back.grh.dgid, &n->gid, sizeof(n->gid));
	close_pair(&p);
}

static void test_datagrams_are_dropped(void **state)
{
	struct node *n = *state;
	struct pair p = open_pair(n);
	struct target to = p.to_b;

	recv_into(n, p.b, MTU, GRH + 8);
	to.qkey = QKEY + 1;
	send_ud(n, p.a, to, 8);
	assert_int_equal(expect(n->cq, IBV_WC_SUCCESS).opcode, IBV_WC_SEND);
	to = p.to_b;
	to.qpn = 0xfffff;
	send_ud(n, p.a, to, 8);
	assert_int_equal(expect(n->cq, IBV_WC_SUCCESS).opcode, IBV_WC_SEND);
	expect_nothing(n->cq);
	to = p.to_b;
	to.qkey = CONTROLLED; /* stands for the sender's own */
	send_ud(n, p.a, to, 8);
	assert_int_equal(expect_both(n->cq).byte_len, GRH + 8);
	send_ud(n, p.a, p.to_b, 8); /* without a receive WQE */
	assert_int_equal(expect(n->cq, IBV_WC_SUCCESS).opcode, IBV_WC_SEND);
	expect_nothing(n->cq);
	close_pair(&p);
}

/* Its send queue stops, its receive queue goes on, and RTS starts it again. */
static void test_send_queue_error(void **state)
{
	struct node *n = *state;
	struct pair p = open_pair(n);

	send_ud(n, p.a, p.to_b, MTU + 1);
	expect(n->cq, IBV_WC_LOC_LEN_ERR);
	assert_int_equal(state_of(p.a), IBV_QPS_SQE);
	recv_into(n, p.a, MTU, GRH + 4);
	send_ud(n, p.b, (struct target){p.ah, p.a->qp_num, QKEY}, 4);
	expect_both(n->cq);
	assert_int_equal(modify(p.a, IBV_QPS_RTS, 0), 0);
	recv_into(n, p.b, MTU, GRH + MTU);
	send_ud(n, p.a, p.to_b, MTU);
	assert_int_equal(expect_both(n->cq).byte_len, GRH + MTU);
	close_pair(&p);
}

static void test_buffer_too_small(void **state)
{
	struct node *n = *state;
	struct pair p = open_pair(n);
	struct ibv_wc wc[2];

	recv_into(n, p.b, MTU, GRH + 7);
	recv_into(n, p.b, MTU, GRH + 8);
	send_ud(n, p.a, p.to_b, 8);
	wc[0] = completion(n->cq);
	wc[1] = completion(n->cq);
	assert_true(wc[0].status == IBV_WC_LOC_LEN_ERR || wc[1].status == IBV_WC_LOC_LEN_ERR ||
		    completion(n->cq).status == IBV_WC_LOC_LEN_ERR);
	assert_int_equal(state_of(p.b), IBV_QPS_ERR);
	assert_int_equal(state_of(p.a), IBV_QPS_RTS);
	close_pair(&p);
}

static struct ibv_srq *make_srq(struct node *n)
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

/* Two receivers, one queue: whoever comes takes the next buffer, for many rounds of the ring. */
static void test_shared_queue(void **state)
{
	struct node *n = *state;
	struct ibv_srq *srq = make_srq(n);
	struct ibv_qp *to[2] = {make_qp(n, IBV_QPT_RC, srq), make_qp(n, IBV_QPT_RC, srq)};
	struct ibv_qp *from[2] = {make_qp(n, IBV_QPT_RC, NULL), make_qp(n, IBV_QPT_RC, NULL)};
	uint32_t i;

	for (i = 0; i < 2; i++) {
		connect_qp(n, to[i], from[i]->qp_num);
		connect_qp(n, from[i], to[i]->qp_num);
	}
	for (i = 0; i < 100; i++) {
		uint32_t at = 1024 + i % 7 * 64;
		struct ibv_wc wc;

		memset(n->buf, (int)i, 32);
		recv_into(n, to[0], at, 32);
		send_from(n, from[i % 3 % 2], 0, 32);
		wc = expect_both(n->cq);
		assert_int_equal(wc.wr_id, at);
		assert_int_equal(wc.qp_num, to[i % 3 % 2]->qp_num);
		assert_memory_equal(n->buf + at, n->buf, 32);
	}
	send_from(n, from[0], 0, 32);
	expect(n->cq, IBV_WC_RNR_RETRY_EXC_ERR);
	for (i = 0; i < 2; i++) {
		assert_int_equal(ibv_destroy_qp(to[i]), 0);
		assert_int_equal(ibv_destroy_qp(from[i]), 0);
	}
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

static void test_srq_events(void **state)
{
	struct node *n = *state;
	struct ibv_srq *srq = make_srq(n);
	struct ibv_qp *to = make_qp(n, IBV_QPT_RC, srq), *from = make_qp(n, IBV_QPT_RC, NULL);
	struct ibv_async_event e;
	struct ibv_srq_attr a;

	connect_qp(n, to, from->qp_num);
	connect_qp(n, from, to->qp_num);
	recv_into(n, to, 1024, 32);
	recv_into(n, to, 1088, 32);
	assert_int_equal(arm(srq, 2), 0);
	expect_no_event(n);
	assert_int_equal(ibv_query_srq(srq, &a), 0);
	assert_int_equal(a.srq_limit, 2);
	send_from(n, from, 0, 32);
	expect_both(n->cq);
	e = expect_event(n, IBV_EVENT_SRQ_LIMIT_REACHED);
	assert_ptr_equal(e.element.srq, srq);
	ibv_ack_async_event(&e);
	expect_no_event(n); /* once */
	assert_int_equal(ibv_query_srq(srq, &a), 0);
	assert_int_equal(a.srq_limit, 0);
	assert_int_equal(arm(srq, 1 << 16), EINVAL);
	a.max_wr = 4;
	assert_int_equal(ibv_modify_srq(srq, &a, IBV_SRQ_MAX_WR), EINVAL);
	assert_int_equal(ibv_destroy_srq(srq), EBUSY);
	assert_int_equal(modify(to, IBV_QPS_ERR, 0), 0);
	e = expect_event(n, IBV_EVENT_QP_LAST_WQE_REACHED);
	assert_ptr_equal(e.element.qp, to);
	ibv_ack_async_event(&e);
	expect_nothing(n->cq); /* its buffers stay in the SRQ */
	assert_int_equal(ibv_destroy_qp(to), 0);
	assert_int_equal(ibv_destroy_qp(from), 0);
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

/* --- XRC -----------------------------------------------------------------------------------------
 */

static struct ibv_xrcd *open_domain(struct node *n)
{
	struct ibv_xrcd_init_attr a = {.comp_mask =
					       IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
				       .fd = -1,
				       .oflags = O_CREAT};
	struct ibv_xrcd *x = ibv_open_xrcd(n->ctx, &a);

	assert_non_null(x);
	return x;
}

static struct ibv_srq *make_xsrq(struct node *n, struct ibv_xrcd *x)
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

static struct ibv_qp *make_xrc(struct node *n, struct ibv_xrcd *x)
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

static void connect_target(const struct node *n, struct ibv_qp *qp, uint32_t to)
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

static void send_xrc(const struct node *n, struct ibv_qp *qp, struct ibv_srq *to)
{
	struct ibv_sge sge = piece(n, 0, 32);
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1}, *bad;

	assert_int_equal(ibv_get_srq_num(to, &wr.qp_type.xrc.remote_srqn), 0);
	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
}

/* The receiver waits in RTR, as the passive side of a connection may, to hear of its peer. */
static void test_first_message_is_told(void **state)
{
	struct node *n = *state;
	struct ibv_qp *to = make_qp(n, IBV_QPT_RC, NULL), *from = make_qp(n, IBV_QPT_RC, NULL);
	struct ibv_async_event e;
	int i;

	make_ready_to_receive(n, to, from->qp_num);
	connect_qp(n, from, to->qp_num);
	expect_no_event(n);
	for (i = 0; i < 2; i++) {
		recv_into(n, to, 1024, 32);
		send_from(n, from, 0, 32);
		expect_both(n->cq);
	}
	e = expect_event(n, IBV_EVENT_COMM_EST);
	assert_ptr_equal(e.element.qp, to);
	ibv_ack_async_event(&e);
	expect_no_event(n);
	make_ready_to_send(to);
	assert_int_equal(ibv_destroy_qp(to), 0);
	assert_int_equal(ibv_destroy_qp(from), 0);
}

/* A message names its queue; one of another domain is no queue of this target. */
static void test_xrc_domains(void **state)
{
	struct node *n = *state;
	struct ibv_xrcd *mine = open_domain(n), *other = open_domain(n);
	struct ibv_srq *srq = make_xsrq(n, mine), *foreign = make_xsrq(n, other);
	struct ibv_qp *tgt = make_xrc(n, mine), *ini = make_xrc(n, NULL);
	struct ibv_sge sge = piece(n, 1024, 32);
	struct ibv_recv_wr wr = {.wr_id = 77, .sg_list = &sge, .num_sge = 1}, *bad;
	struct ibv_async_event e;

	connect_target(n, tgt, ini->qp_num);
	connect_target(n, ini, tgt->qp_num);
	assert_int_equal(ibv_post_srq_recv(srq, &wr, &bad), 0);
	assert_int_equal(ibv_post_srq_recv(foreign, &wr, &bad), 0);
	send_xrc(n, ini, srq);
	assert_int_equal(expect_both(n->cq).wr_id, 77);
	assert_int_equal(ibv_close_xrcd(mine), EBUSY);
	send_xrc(n, ini, foreign);
	expect(n->cq, IBV_WC_REM_INV_REQ_ERR);
	assert_int_equal(state_of(tgt), IBV_QPS_ERR);
	while (!ibv_get_async_event(n->ctx, &e))
		ibv_ack_async_event(&e);
	assert_int_equal(ibv_destroy_qp(ini), 0);
	assert_int_equal(ibv_destroy_qp(tgt), 0);
	assert_int_equal(ibv_destroy_srq(srq), 0);
	assert_int_equal(ibv_destroy_srq(foreign), 0);
	assert_int_equal(ibv_close_xrcd(mine), 0);
	assert_int_equal(ibv_close_xrcd(other), 0);
}

/* --- completion queues ---------------------------------------------------------------------------
 */

static void test_resize(void **state)
{
	struct node *n = *state;
	struct pair p = open_pair(n);
	struct target nobody = {p.ah, 0xfffff, QKEY};
	struct ibv_wc wc[8];
	uint32_t round, i;

	for (round = 0; round < 20; round++) {
		static const int sizes[] = {7, 200, 63, 12, 1000};

		for (i = 0; i < 5; i++)
			send_ud(n, p.a, nobody, 8);
		assert_int_equal(ibv_resize_cq(n->cq, sizes[round % 5]), 0);
		assert_true(n->cq->cqe >= sizes[round % 5]);
		for (i = 0; i < 5; i++)
			expect(n->cq, IBV_WC_SUCCESS);
		expect_nothing(n->cq);
	}
	for (i = 0; i < 5; i++)
		send_ud(n, p.a, nobody, 8);
	assert_int_equal(ibv_resize_cq(n->cq, 1), EINVAL); /* they would not fit */
	for (i = 0; i < 5; i++)
		expect(n->cq, IBV_WC_SUCCESS);
	assert_int_equal(ibv_resize_cq(n->cq, 1 << 23), EINVAL);
	assert_int_equal(ibv_poll_cq(n->cq, 8, wc), 0);
	close_pair(&p);
}

static void moderate(struct ibv_cq *cq, uint16_t count, uint16_t period, int wanted)
{
	struct ibv_modify_cq_attr a = {.attr_mask = IBV_CQ_ATTR_MODERATE};

	a.moderate.cq_count = count;
	a.moderate.cq_period = period;
	assert_int_equal(ibv_modify_cq(cq, &a), wanted);
}

/* Events are held back, but none is lost: by their number or by the time. */
static void test_moderation(void **state)
{
	struct node *n = *state, own = *n;
	struct ibv_comp_channel *channel = ibv_create_comp_channel(n->ctx);
	struct pair p;
	struct target nobody;
	void *context;
	uint32_t i, round;

	own.cq = ibv_create_cq(n->ctx, 16, NULL, channel, 0);
	assert_non_null(own.cq);
	p = open_pair(&own);
	nobody = (struct target){p.ah, 0xfffff, QKEY};
	moderate(own.cq, 4, 0x1000, EINVAL);
	moderate(own.cq, 4, 0xfff, 0);
	for (round = 1; round <= 4; round += 3) {
		assert_int_equal(ibv_req_notify_cq(own.cq, 0), 0);
		for (i = 0; i < round; i++)
			send_ud(&own, p.a, nobody, 8);
		assert_int_equal(ibv_get_cq_event(channel, &own.cq, &context), 0);
		ibv_ack_cq_events(own.cq, 1);
		for (i = 0; i < round; i++)
			expect(own.cq, IBV_WC_SUCCESS);
	}
	close_pair(&p);
	assert_int_equal(ibv_destroy_cq(own.cq), 0);
	assert_int_equal(ibv_destroy_comp_channel(channel), 0);
}

/* --- states --------------------------------------------------------------------------------------
 */

static void test_transitions(void **state)
{
	struct node *n = *state;
	struct ibv_qp *ud = make_qp(n, IBV_QPT_UD, NULL), *rc = make_qp(n, IBV_QPT_RC, NULL);
	const int begin = IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	/* too few attributes, or those of another kind of QP */
	assert_int_equal(modify(ud, IBV_QPS_INIT, begin), EINVAL);
	assert_int_equal(modify(ud, IBV_QPS_INIT, begin | IBV_QP_ACCESS_FLAGS), EINVAL);
	assert_int_equal(modify(rc, IBV_QPS_INIT, begin | IBV_QP_QKEY), EINVAL);
	/* steps that do not exist */
	assert_int_equal(modify(ud, IBV_QPS_ERR, 0), EINVAL);
	assert_int_equal(modify(ud, IBV_QPS_RTR, 0), EINVAL);
	assert_int_equal(modify(ud, IBV_QPS_RTS, IBV_QP_SQ_PSN), EINVAL);
	assert_int_equal(modify(ud, IBV_QPS_INIT, begin | IBV_QP_QKEY), 0);
	assert_int_equal(modify(rc, IBV_QPS_INIT, begin | IBV_QP_ACCESS_FLAGS), 0);
	assert_int_equal(modify(rc, IBV_QPS_RTR, 0), EINVAL);
	assert_int_equal(modify(ud, IBV_QPS_RTR, IBV_QP_AV), EINVAL);
	assert_int_equal(modify(ud, IBV_QPS_RTR, IBV_QP_QKEY), 0);
	assert_int_equal(modify(ud, IBV_QPS_RTS, 0), EINVAL);
	assert_int_equal(modify(ud, IBV_QPS_RTS, IBV_QP_SQ_PSN), 0);
	assert_int_equal(modify(ud, IBV_QPS_SQD, 0), EINVAL); /* no command of this device */
	assert_int_equal(modify(ud, IBV_QPS_INIT, begin | IBV_QP_QKEY), EINVAL);
	assert_int_equal(modify(ud, IBV_QPS_ERR, IBV_QP_QKEY), EINVAL);
	assert_int_equal(modify(ud, IBV_QPS_ERR, 0), 0);
	assert_int_equal(modify(ud, IBV_QPS_RTS, 0), EINVAL);
	assert_int_equal(modify(ud, IBV_QPS_RESET, 0), 0);
	assert_int_equal(state_of(ud), IBV_QPS_RESET);
	assert_int_equal(ibv_destroy_qp(ud), 0);
	assert_int_equal(ibv_destroy_qp(rc), 0);
}

static void test_query(void **state)
{
	struct node *n = *state;
	struct ibv_qp *a = make_qp(n, IBV_QPT_RC, NULL), *b = make_qp(n, IBV_QPT_RC, NULL);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr q;

	connect_qp(n, a, b->qp_num);
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

static void test_address_handles(void **state)
{
	struct node *n = *state;
	struct ibv_ah_attr a = {.is_global = 1, .port_num = 1};

	a.grh.dgid = n->gid;
	a.grh.sgid_index = 3; /* there is none */
	assert_null(ibv_create_ah(n->pd, &a));
	a.grh.sgid_index = 1;
	a.grh.dgid.raw[0] = 0x20; /* nobody's, and not link-local */
	assert_null(ibv_create_ah(n->pd, &a));
	assert_int_equal(errno, ETIMEDOUT);
}

#define node_test(function) cmocka_unit_test_setup_teardown(function, open_node, close_node)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		node_test(test_datagram),
		node_test(test_datagrams_are_dropped),
		node_test(test_send_queue_error),
		node_test(test_buffer_too_small),
		node_test(test_shared_queue),
		node_test(test_srq_events),
		node_test(test_first_message_is_told),
		node_test(test_xrc_domains),
		node_test(test_resize),
		node_test(test_moderation),
		node_test(test_transitions),
		node_test(test_query),
		node_test(test_address_handles),
	};

	rig_parse(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
