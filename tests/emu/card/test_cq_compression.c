/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Compressed completion entries. libmlx5 does not expand them: a program that asks for them reads
 * the ring itself, as these tests do through mlx5dv_init_obj().
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fixture.h"

#define DEPTH	   64u /* of the rings: receive WQEs and completions */
#define MESSAGES   2000u
#define MAX_LEN	   512u
#define COMPRESSED 3u
#define SEND	   2u /* opcodes of receptions */
#define SEND_IMM   3u
#define INVALID	   0xf0u
#define WAIT_S	   60

enum {
	HASH = MLX5DV_CQE_RES_FORMAT_HASH,
	CSUM = MLX5DV_CQE_RES_FORMAT_CSUM,
	STRIDX = MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX
};

/* A ring that the test reads, and what it has found in it. */
struct ring {
	struct ibv_cq *cq;
	struct mlx5dv_cq dv;
	uint32_t format; /* 0: compression must not occur */
	uint32_t ci;
	uint32_t sessions, longest;
	uint32_t expanded; /* completions that came in sessions */
};

/* One completion. */
struct completion {
	uint32_t qpn, byte_cnt, imm;
	uint16_t wqe_counter;
	uint8_t opcode;
};

struct verbs {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *sends;
	union ibv_gid gid;
	uint32_t max_num, formats;
	bool wide; /* entries of 128 bytes too */
};

/* Where messages come from, and a buffer of each receive WQE. */
static uint8_t memory[(DEPTH + 1) * MAX_LEN] __attribute__((aligned(4096)));

static int open_verbs(void **state)
{
	struct mlx5dv_context dv = {.comp_mask = MLX5DV_CONTEXT_MASK_CQE_COMPRESION};
	static struct verbs n;

	if (fixture_count(state))
		return -1;
	memset(&n, 0, sizeof(n));
	n.ctx = fixture_open_context();
	assert_non_null(n.ctx);
	assert_int_equal(mlx5dv_query_device(n.ctx, &dv), 0);
	n.max_num = dv.cqe_comp_caps.max_num;
	n.formats = dv.cqe_comp_caps.supported_format;
	n.wide = dv.flags & MLX5DV_CONTEXT_FLAGS_CQE_128B_COMP;
	n.pd = ibv_alloc_pd(n.ctx);
	n.mr = ibv_reg_mr(n.pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	n.sends = ibv_create_cq(n.ctx, DEPTH, NULL, NULL, 0);
	assert_non_null(n.mr);
	assert_non_null(n.sends);
	assert_int_equal(ibv_query_gid(n.ctx, 1, 1, &n.gid), 0);
	*state = &n;
	return 0;
}

static int close_verbs(void **state)
{
	struct verbs *n = *state;

	assert_int_equal(ibv_destroy_cq(n->sends), 0);
	assert_int_equal(ibv_dereg_mr(n->mr), 0);
	assert_int_equal(ibv_dealloc_pd(n->pd), 0);
	assert_int_equal(ibv_close_device(n->ctx), 0);
	return fixture_recount(state);
}

static struct ibv_cq *create_cq(const struct verbs *n, uint32_t format, uint16_t size,
				struct ibv_comp_channel *channel)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = DEPTH - 1, .channel = channel};
	struct mlx5dv_cq_init_attr dv = {.comp_mask = MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE};
	struct ibv_cq_ex *cq;

	attr.wc_flags = IBV_WC_STANDARD_FLAGS;
	dv.cqe_size = size;
	if (format) {
		dv.comp_mask |= MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE;
		dv.cqe_comp_res_format = (uint8_t)format;
	}
	cq = mlx5dv_create_cq(n->ctx, &attr, &dv);
	return cq ? ibv_cq_ex_to_cq(cq) : NULL;
}

static void open_ring(struct ring *r, const struct verbs *n, uint32_t format, uint16_t size,
		      struct ibv_comp_channel *channel)
{
	struct mlx5dv_obj obj;

	memset(r, 0, sizeof(*r));
	r->cq = create_cq(n, format, size, channel);
	assert_non_null(r->cq);
	r->format = format;
	obj.cq.in = r->cq;
	obj.cq.out = &r->dv;
	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ), 0);
	assert_int_equal(r->dv.cqe_cnt, DEPTH);
	assert_int_equal(r->dv.cqe_size, size);
}

static void to_ready(const struct verbs *n, struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	assert_int_equal(
		ibv_modify_qp(qp, &a,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		0);
	a.qp_state = IBV_QPS_RTR;
	a.path_mtu = IBV_MTU_1024;
	a.dest_qp_num = peer;
	a.max_dest_rd_atomic = 1;
	a.min_rnr_timer = 1;
	a.ah_attr.is_global = 1;
	a.ah_attr.port_num = 1;
	a.ah_attr.grh.dgid = n->gid;
	a.ah_attr.grh.sgid_index = 1;
	assert_int_equal(ibv_modify_qp(qp, &a,
				       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
			 0);
	a.qp_state = IBV_QPS_RTS;
	a.timeout = 14;
	a.retry_cnt = a.rnr_retry = 7;
	a.max_rd_atomic = 1;
	assert_int_equal(ibv_modify_qp(qp, &a,
				       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					       IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					       IBV_QP_MAX_QP_RD_ATOMIC),
			 0);
}

static struct ibv_qp *make_qp(const struct verbs *n, struct ibv_cq *recv_cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = n->sends, .recv_cq = recv_cq, .qp_type = IBV_QPT_RC, .sq_sig_all = 1};
	struct ibv_qp *qp;

	init.cap.max_send_wr = init.cap.max_recv_wr = DEPTH;
	init.cap.max_send_sge = init.cap.max_recv_sge = 1;
	qp = ibv_create_qp(n->pd, &init);
	assert_non_null(qp);
	return qp;
}

/*
 * A pair of QPs; a ring receives the completions of `to`. libmlx5 does not learn which receive WQEs
 * are free again, so the test writes them.
 */
struct pair {
	struct ibv_qp *from, *to;
	struct mlx5dv_qp dv; /* of `to` */
	uint32_t sent, received;
};

static void open_pair(struct pair *p, const struct verbs *n, const struct ring *r)
{
	struct mlx5dv_obj obj;

	*p = (struct pair){.from = make_qp(n, n->sends), .to = make_qp(n, r->cq)};
	to_ready(n, p->from, p->to->qp_num);
	to_ready(n, p->to, p->from->qp_num);
	obj.qp.in = p->to;
	obj.qp.out = &p->dv;
	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP), 0);
	assert_int_equal(p->dv.rq.wqe_cnt, DEPTH);
	assert_int_equal(p->dv.rq.stride, sizeof(struct mlx5_wqe_data_seg));
}

static void close_pair(const struct pair *p)
{
	assert_int_equal(ibv_destroy_qp(p->from), 0);
	assert_int_equal(ibv_destroy_qp(p->to), 0);
}

static uint32_t length_of(uint32_t i)
{
	return 1 + i * 37 % MAX_LEN;
}

static void post_receive(const struct verbs *n, const struct pair *p, uint32_t i)
{
	uintptr_t at = (uintptr_t)p->dv.rq.buf + (size_t)(i % DEPTH) * p->dv.rq.stride;
	uintptr_t to = (uintptr_t)memory + (size_t)(1 + i % DEPTH) * MAX_LEN;

	mlx5dv_set_data_seg((struct mlx5_wqe_data_seg *)at, MAX_LEN, n->mr->lkey, to);
	__atomic_store_n(p->dv.dbrec, htonl((i + 1) & 0xffff), __ATOMIC_RELEASE);
}

static void post_send(const struct verbs *n, struct ibv_qp *qp, uint32_t i, bool imm)
{
	struct ibv_sge sge = {(uintptr_t)memory, length_of(i), n->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	wr.opcode = imm ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
	wr.imm_data = htonl(i);
	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
}

static void await_sends(const struct verbs *n, uint32_t count)
{
	time_t end = time(NULL) + WAIT_S;
	struct ibv_wc wc;

	while (count) {
		int got = ibv_poll_cq(n->sends, 1, &wc);

		assert_true(got >= 0);
		assert_true(got || time(NULL) < end);
		if (got)
			assert_int_equal(wc.status, IBV_WC_SUCCESS);
		else
			sched_yield();
		count -= (uint32_t)got;
	}
}

static void await_input(int fd)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};

	assert_int_equal(poll(&ready, 1, WAIT_S * 1000), 1);
}

static uint8_t *entry(const struct ring *r, uint32_t index)
{
	return (uint8_t *)r->dv.buf + (size_t)(index & (DEPTH - 1)) * r->dv.cqe_size +
	       (r->dv.cqe_size - 64);
}

static uint32_t be32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return ntohl(v);
}

static uint16_t be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

/* Whether software owns the next entry. */
static bool is_ready(const struct ring *r)
{
	uint8_t op_own = __atomic_load_n(entry(r, r->ci) + 63, __ATOMIC_ACQUIRE);

	return op_own >> 4 != INVALID >> 4 && (op_own & 1) == (r->ci & DEPTH ? 1 : 0);
}

static void await(const struct ring *r)
{
	time_t end = time(NULL) + WAIT_S;

	while (!is_ready(r)) {
		assert_true(time(NULL) < end);
		sched_yield();
	}
}

static void parse(const uint8_t *cqe, struct completion *c)
{
	c->opcode = cqe[63] >> 4;
	c->byte_cnt = be32(cqe + 44);
	c->imm = be32(cqe + 36);
	c->qpn = be32(cqe + 56) & 0xffffff;
	c->wqe_counter = be16(cqe + 60);
}

/* What a completion reports besides its length. */
static void check_result(const struct ring *r, const uint8_t *mini, uint16_t wqe_counter)
{
	if (r->format == STRIDX) {
		assert_int_equal(be16(mini), 0);
		assert_int_equal(be16(mini + 2), wqe_counter);
	} else {
		assert_int_equal(be32(mini), 0);
	}
}

static uint32_t expand(struct ring *r, const struct completion *title, struct completion *out)
{
	uint32_t n = title->byte_cnt, i;

	assert_int_not_equal(r->format, 0);
	assert_in_range(n, 2, DEPTH);
	for (i = 0; i < n; i++) {
		uint32_t array = i < 8 ? 1 : i & ~7u;
		const uint8_t *mini = entry(r, r->ci + array) + (size_t)(i % 8) * 8;

		out[i] = *title;
		out[i].byte_cnt = be32(mini + 4);
		out[i].wqe_counter = (uint16_t)(title->wqe_counter + i);
		check_result(r, mini, out[i].wqe_counter);
	}
	r->sessions++;
	r->expanded += n;
	if (n > r->longest)
		r->longest = n;
	return n;
}

/* Read the completions of the next session, which uses as many entries. */
static uint32_t read_ring(struct ring *r, struct completion out[static DEPTH])
{
	const uint8_t *cqe = entry(r, r->ci);
	uint32_t n = 1, i;

	await(r);
	parse(cqe, &out[0]);
	if ((cqe[63] >> 2 & 3) == COMPRESSED) {
		struct completion title = out[0];

		n = expand(r, &title, out);
	} else {
		assert_int_equal(cqe[63] >> 2 & 3, 0);
	}
	for (i = 0; i < n; i++)
		entry(r, r->ci + i)[63] = INVALID;
	r->ci += n;
	__atomic_store_n(r->dv.dbrec, htonl(r->ci & 0xffffff), __ATOMIC_RELEASE);
	return n;
}

/* Every `imms`th message has immediate data; 0: none. */
static void check(const struct pair *p, const struct completion *c, uint32_t i, uint32_t imms)
{
	bool imm = imms && i % imms == 0;

	assert_int_equal(c->opcode, imm ? SEND_IMM : SEND);
	assert_int_equal(c->qpn, p->to->qp_num);
	assert_int_equal(c->byte_cnt, length_of(i));
	assert_int_equal(c->wqe_counter, i & 0xffff);
	if (imm)
		assert_int_equal(c->imm, i);
	assert_memory_equal(memory + (size_t)(1 + i % DEPTH) * MAX_LEN, memory, length_of(i));
}

static void receive(struct ring *r, struct pair *p, uint32_t until, uint32_t imms)
{
	struct completion c[DEPTH];
	uint32_t n;

	while (p->received < until) {
		n = read_ring(r, c);
		assert_in_range(p->received + n, 1, until);
		for (uint32_t i = 0; i < n; i++)
			check(p, &c[i], p->received++, imms);
	}
}

static void send_lot(const struct verbs *n, struct pair *p, uint32_t lot, uint32_t imms)
{
	for (uint32_t i = 0; i < lot; i++)
		post_receive(n, p, p->sent + i);
	for (uint32_t i = 0; i < lot; i++, p->sent++)
		post_send(n, p->from, p->sent, imms && p->sent % imms == 0);
}

/* In batches of every size, so that sessions of all lengths begin everywhere in the ring. */
static void exchange(const struct verbs *n, struct ring *r, uint32_t imms)
{
	struct pair p;

	for (uint32_t i = 0; i < MAX_LEN; i++)
		memory[i] = (uint8_t)(i * 7);
	open_pair(&p, n, r);
	for (uint32_t i = 0; p.sent < MESSAGES; i++) {
		uint32_t lot = 1 + i * 11 % DEPTH;

		send_lot(n, &p, lot, imms);
		receive(r, &p, p.sent, imms);
		await_sends(n, lot);
	}
	assert_true(r->ci > 30 * DEPTH);
	assert_false(is_ready(r));
	close_pair(&p);
}

/* Without compression no such queue can be created. */
static bool is_left_out(const struct verbs *n)
{
	if (n->max_num)
		return false;
	assert_int_equal(n->formats, 0);
	assert_false(n->wide);
	assert_null(create_cq(n, HASH, 64, NULL));
	assert_int_equal(errno, EINVAL);
	return true;
}

static void check_format(const struct verbs *n, uint32_t format, uint16_t size)
{
	struct ring r;

	open_ring(&r, n, format, size, NULL);
	exchange(n, &r, 0);
	assert_int_equal(ibv_destroy_cq(r.cq), 0);
	assert_in_range(r.longest, n->max_num > 1 ? 2 : 0, n->max_num);
	assert_int_equal(r.sessions != 0, n->max_num > 1);
}

static void formats_are_expanded(void **state)
{
	const struct verbs *n = *state;

	if (is_left_out(n))
		return;
	assert_int_equal(n->formats, HASH | CSUM | STRIDX);
	assert_true(n->wide);
	check_format(n, HASH, 64);
	check_format(n, CSUM, 64);
	check_format(n, STRIDX, 64);
	check_format(n, HASH, 128);
	check_format(n, STRIDX, 128);
}

/* Immediate data end a session. */
static void completions_that_differ_are_not_compressed(void **state)
{
	const struct verbs *n = *state;
	struct ring r;

	if (is_left_out(n))
		return;
	open_ring(&r, n, CSUM, 64, NULL);
	exchange(n, &r, 5);
	assert_int_equal(ibv_destroy_cq(r.cq), 0);
	assert_true(r.longest <= 4);
	assert_true(r.expanded <= MESSAGES / 5 * 4 + 2 * DEPTH);
}

/* A session contains one QP only, even if two QPs take turns. */
static void sessions_are_of_one_queue_pair(void **state)
{
	const struct verbs *n = *state;
	struct completion c[DEPTH];
	struct pair p[2];
	struct ring r;

	if (is_left_out(n))
		return;
	open_ring(&r, n, HASH, 64, NULL);
	open_pair(&p[0], n, &r);
	open_pair(&p[1], n, &r);
	while (p[0].sent < MESSAGES / 4) {
		uint32_t lot = 1 + p[0].sent % (DEPTH / 2);

		send_lot(n, &p[0], lot, 0);
		send_lot(n, &p[1], lot, 0);
		while (p[0].received + p[1].received < 2 * p[0].sent) {
			uint32_t count = read_ring(&r, c);

			for (uint32_t i = 0; i < count; i++) {
				struct pair *of = &p[c[i].qpn == p[1].to->qp_num];

				assert_int_equal(c[i].qpn, of->to->qp_num);
				assert_int_equal(c[i].byte_cnt, length_of(of->received));
				assert_int_equal(c[i].wqe_counter, of->received++);
			}
		}
		await_sends(n, 2 * lot);
	}
	close_pair(&p[0]);
	close_pair(&p[1]);
	assert_int_equal(ibv_destroy_cq(r.cq), 0);
}

static void nothing_is_compressed_unasked(void **state)
{
	const struct verbs *n = *state;
	struct ring r;

	open_ring(&r, n, 0, 64, NULL);
	exchange(n, &r, 0);
	assert_int_equal(ibv_destroy_cq(r.cq), 0);
	assert_int_equal(r.sessions, 0);
}

/* The event arrives when the session has been written. */
static void armed_queue_reports_a_compressed_session(void **state)
{
	const struct verbs *n = *state;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	void *context;
	struct ring r;
	struct pair p;

	if (is_left_out(n))
		return;
	channel = ibv_create_comp_channel(n->ctx);
	assert_non_null(channel);
	open_ring(&r, n, HASH, 64, channel);
	open_pair(&p, n, &r);
	/* libmlx5 arms at its own consumer index, which stays 0, so there is one event only. */
	assert_int_equal(ibv_req_notify_cq(r.cq, 0), 0);
	send_lot(n, &p, DEPTH / 2, 0);
	await_input(channel->fd);
	assert_int_equal(ibv_get_cq_event(channel, &cq, &context), 0);
	assert_ptr_equal(cq, r.cq);
	assert_true(is_ready(&r));
	ibv_ack_cq_events(cq, 1);
	receive(&r, &p, p.sent, 0);
	await_sends(n, DEPTH / 2);
	for (uint32_t i = 0; i < DEPTH; i++)
		entry(&r, i)[63] = INVALID;
	close_pair(&p);
	assert_int_equal(ibv_destroy_cq(r.cq), 0);
	assert_int_equal(ibv_destroy_comp_channel(channel), 0);
}

/*
 * More completions than the ring holds: the session is written first, then the queue is in error.
 */
static void overrun_is_found(void **state)
{
	const struct verbs *n = *state;
	struct ibv_async_event event;
	struct completion c[DEPTH];
	uint32_t got = 0, i;
	struct pair p;
	struct ring r;

	if (is_left_out(n))
		return;
	open_ring(&r, n, HASH, 64, NULL);
	open_pair(&p, n, &r);
	/* In two parts, so that the second one is not full when the ring is. */
	send_lot(n, &p, DEPTH / 4, 0);
	await_sends(n, DEPTH / 4);
	await(&r);
	send_lot(n, &p, DEPTH / 4 * 3 + 1, 0);
	do {
		await_input(n->ctx->async_fd);
		assert_int_equal(ibv_get_async_event(n->ctx, &event), 0);
		ibv_ack_async_event(&event);
	} while (event.event_type != IBV_EVENT_CQ_ERR);
	while (got < DEPTH) {
		uint32_t count = read_ring(&r, c);

		for (i = 0; i < count; i++, got++)
			assert_int_equal(c[i].wqe_counter, got);
	}
	assert_false(is_ready(&r));
	close_pair(&p);
	assert_int_equal(ibv_destroy_cq(r.cq), 0);
}

static void only_known_formats_are_accepted(void **state)
{
	const struct verbs *n = *state;

	for (uint32_t format = 1; format < 0x100; format++) {
		bool good = n->max_num && (format == HASH || format == CSUM || format == STRIDX);
		struct ibv_cq *cq = create_cq(n, format, 64, NULL);

		assert_int_equal(cq != NULL, good);
		if (good)
			assert_int_equal(ibv_destroy_cq(cq), 0);
		else
			assert_int_equal(errno, EINVAL);
	}
}

#define node_test(function) cmocka_unit_test_setup_teardown(function, open_verbs, close_verbs)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		node_test(only_known_formats_are_accepted),
		node_test(formats_are_expanded),
		node_test(completions_that_differ_are_not_compressed),
		node_test(sessions_are_of_one_queue_pair),
		node_test(nothing_is_compressed_unasked),
		node_test(armed_queue_reports_a_compressed_session),
		node_test(overrun_is_found),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
