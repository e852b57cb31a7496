/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "verbs.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#define WAIT_MS	 60000
#define QUIET_MS 30

static uint8_t memory[VERBS_BUF] __attribute__((aligned(4096)));

struct verbs *verbs_open_device(void)
{
	static struct verbs n;

	n.ctx = fixture_open_context();
	assert_non_null(n.ctx);
	assert_int_equal(fcntl(n.ctx->async_fd, F_SETFL, O_NONBLOCK), 0);
	n.buf = memory;
	memset(n.buf, 0, VERBS_BUF);
	n.pd = ibv_alloc_pd(n.ctx);
	n.cq = ibv_create_cq(n.ctx, 64, NULL, NULL, 0);
	n.mr = ibv_reg_mr(n.pd, n.buf, VERBS_BUF, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	assert_non_null(n.mr);
	assert_non_null(n.cq);
	assert_int_equal(ibv_query_gid(n.ctx, 1, 1, &n.gid), 0);
	return &n;
}

int verbs_open(void **state)
{
	if (fixture_count(state))
		return -1;
	*state = verbs_open_device();
	return 0;
}

int verbs_close(void **state)
{
	struct verbs *n = *state;

	assert_int_equal(ibv_dereg_mr(n->mr), 0);
	assert_int_equal(ibv_destroy_cq(n->cq), 0);
	assert_int_equal(ibv_dealloc_pd(n->pd), 0);
	assert_int_equal(ibv_close_device(n->ctx), 0);
	return fixture_recount(state);
}

struct ibv_qp *verbs_make_qp(struct verbs *n, enum ibv_qp_type type, struct ibv_srq *srq)
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

int verbs_modify(struct ibv_qp *qp, enum ibv_qp_state to, int mask)
{
	struct ibv_qp_attr a = {
		.qp_state = to, .port_num = 1, .qkey = VERBS_QKEY, .sq_psn = VERBS_PSN};

	a.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	return ibv_modify_qp(qp, &a, IBV_QP_STATE | mask);
}

static struct ibv_qp *make_ud(struct verbs *n)
{
	struct ibv_qp *qp = verbs_make_qp(n, IBV_QPT_UD, NULL);

	assert_int_equal(
		verbs_modify(qp, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY), 0);
	assert_int_equal(verbs_modify(qp, IBV_QPS_RTR, 0), 0);
	assert_int_equal(verbs_modify(qp, IBV_QPS_RTS, IBV_QP_SQ_PSN), 0);
	return qp;
}

void verbs_make_ready_to_receive(const struct verbs *n, struct ibv_qp *qp, uint32_t to)
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

void verbs_make_ready_to_send(struct ibv_qp *qp)
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

void verbs_connect_qp(const struct verbs *n, struct ibv_qp *qp, uint32_t to)
{
	verbs_make_ready_to_receive(n, qp, to);
	verbs_make_ready_to_send(qp);
}

static struct ibv_ah *make_ah(const struct verbs *n)
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

struct ibv_sge verbs_piece(const struct verbs *n, uint32_t off, uint32_t len)
{
	struct ibv_sge s = {(uintptr_t)n->buf + off, len, n->mr->lkey};

	return s;
}

void verbs_recv_into(const struct verbs *n, struct ibv_qp *qp, uint32_t off, uint32_t len)
{
	struct ibv_sge sge = verbs_piece(n, off, len);
	struct ibv_recv_wr wr = {.wr_id = off, .sg_list = &sge, .num_sge = 1}, *bad;

	if (qp->srq)
		assert_int_equal(ibv_post_srq_recv(qp->srq, &wr, &bad), 0);
	else
		assert_int_equal(ibv_post_recv(qp, &wr, &bad), 0);
}

void verbs_send_from(const struct verbs *n, struct ibv_qp *qp, uint32_t off, uint32_t len)
{
	struct ibv_sge sge = verbs_piece(n, off, len);
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1}, *bad;

	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
}

void verbs_send_ud(const struct verbs *n, struct ibv_qp *qp, struct verbs_target to, uint32_t len)
{
	struct ibv_sge sge = verbs_piece(n, 0, len);
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

struct ibv_wc verbs_completion(struct ibv_cq *cq)
{
	struct ibv_wc wc = {0};

	for (int i = 0; i < WAIT_MS; i++) {
		int n = ibv_poll_cq(cq, 1, &wc);

		assert_true(n >= 0);
		if (n)
			return wc;
		pause_ms(1);
	}
	fail_msg("no completion");
	return wc;
}

struct ibv_wc verbs_expect(struct ibv_cq *cq, enum ibv_wc_status status)
{
	struct ibv_wc wc = verbs_completion(cq);

	assert_string_equal(ibv_wc_status_str(wc.status), ibv_wc_status_str(status));
	return wc;
}

void verbs_expect_nothing(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	pause_ms(QUIET_MS);
	assert_int_equal(ibv_poll_cq(cq, 1, &wc), 0);
}

/* Send and receive completions may come in any order. */
struct ibv_wc verbs_expect_both(struct ibv_cq *cq)
{
	struct ibv_wc a = verbs_expect(cq, IBV_WC_SUCCESS);
	struct ibv_wc b = verbs_expect(cq, IBV_WC_SUCCESS);

	assert_true((a.opcode == IBV_WC_RECV) != (b.opcode == IBV_WC_RECV));
	return a.opcode == IBV_WC_RECV ? a : b;
}

struct ibv_async_event verbs_expect_event(const struct verbs *n, enum ibv_event_type type)
{
	struct pollfd p = {.fd = n->ctx->async_fd, .events = POLLIN};
	struct ibv_async_event e;

	assert_int_equal(poll(&p, 1, WAIT_MS), 1);
	assert_int_equal(ibv_get_async_event(n->ctx, &e), 0);
	assert_string_equal(ibv_event_type_str(e.event_type), ibv_event_type_str(type));
	return e;
}

void verbs_expect_no_event(const struct verbs *n)
{
	struct pollfd p = {.fd = n->ctx->async_fd, .events = POLLIN};

	assert_int_equal(poll(&p, 1, QUIET_MS), 0);
}

enum ibv_qp_state verbs_state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;

	assert_int_equal(ibv_query_qp(qp, &a, IBV_QP_STATE, &init), 0);
	return a.qp_state;
}

struct verbs_pair verbs_open_pair(struct verbs *n)
{
	struct verbs_pair p = {make_ud(n), make_ud(n), make_ah(n), {0}};

	p.to_b = (struct verbs_target){p.ah, p.b->qp_num, VERBS_QKEY};
	return p;
}

void verbs_close_pair(struct verbs_pair *p)
{
	assert_int_equal(ibv_destroy_ah(p->ah), 0);
	assert_int_equal(ibv_destroy_qp(p->a), 0);
	assert_int_equal(ibv_destroy_qp(p->b), 0);
}
