/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Queues created by PRM commands: which commands the firmware refuses and with which status, what
 * depends on a queue, and events to subscribe to.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/mlx5dv.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "fixture.h"
#include "prm.h"

#define PAGE	   4096
#define CREATE_LEN 0x1d0 /* with the extension of the QP context */
#define CQC	   0x10
#define QPC	   0x18
#define QUERY_LEN  (QPC + 0xe8)

enum {
	BAD_OP = 2,
	BAD_PARAM = 3,
	BAD_RES = 5,
	BAD_QP_STATE = 0x10,
	BAD_INP_LEN = 0x50,
	BAD_OUTP_LEN
};

struct bench {
	struct ibv_context *context;
	struct ibv_pd *pd;
	uint32_t pdn, eqn;
	struct mlx5dv_devx_uar *uar;
	struct mlx5dv_devx_umem *ring, *records;
	void *ring_mem;
	uint64_t record_mem[2];
	struct mlx5dv_devx_obj *cq;
	uint8_t in[CREATE_LEN], out[QUERY_LEN];
};

/* Fields of mailboxes: bits from the most significant one of byte 0. */
static void set(uint8_t *p, unsigned int bit, unsigned int width, uint64_t v)
{
	for (bit += width; width; width--, v >>= 1) {
		bit--;
		p[bit / 8] = (uint8_t)((p[bit / 8] & ~(0x80u >> bit % 8)) |
				       (v & 1 ? 0x80u >> bit % 8 : 0));
	}
}

static struct ibv_context *open_devx(void)
{
	struct mlx5dv_context_attr attr = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context;

	assert_non_null(list);
	context = mlx5dv_open_device(list[0], &attr);
	ibv_free_device_list(list);
	assert_non_null(context);
	return context;
}

static int setup(void **state)
{
	struct bench *b = test_calloc(1, sizeof(*b));
	struct mlx5dv_pd dv_pd;
	struct mlx5dv_obj obj = {0};

	b->context = open_devx();
	b->pd = ibv_alloc_pd(b->context);
	obj.pd.in = b->pd;
	obj.pd.out = &dv_pd;
	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD), 0);
	b->pdn = dv_pd.pdn;
	assert_int_equal(mlx5dv_devx_query_eqn(b->context, 0, &b->eqn), 0);
	b->uar = mlx5dv_devx_alloc_uar(b->context, MLX5DV_UAR_ALLOC_TYPE_NC);
	assert_int_equal(posix_memalign(&b->ring_mem, PAGE, PAGE), 0);
	b->ring = mlx5dv_devx_umem_reg(b->context, b->ring_mem, PAGE, IBV_ACCESS_LOCAL_WRITE);
	b->records = mlx5dv_devx_umem_reg(b->context, b->record_mem, sizeof(b->record_mem),
					  IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(b->uar);
	assert_non_null(b->ring);
	assert_non_null(b->records);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	if (b->cq)
		assert_int_equal(mlx5dv_devx_obj_destroy(b->cq), 0);
	assert_int_equal(mlx5dv_devx_umem_dereg(b->ring), 0);
	assert_int_equal(mlx5dv_devx_umem_dereg(b->records), 0);
	mlx5dv_devx_free_uar(b->uar);
	assert_int_equal(ibv_dealloc_pd(b->pd), 0);
	assert_int_equal(ibv_close_device(b->context), 0);
	free(b->ring_mem);
	test_free(b);
	return 0;
}

/* 16 CQEs of 64 bytes in the ring's first KiB. */
static void fill_cq(struct bench *b)
{
	memset(b->in, 0, sizeof(b->in));
	set(b->in, 0, 16, 0x400);
	set(b->in + CQC, 0x63, 5, 4);
	set(b->in + CQC, 0x68, 24, b->uar->page_id);
	set(b->in + CQC, 0xb8, 8, b->eqn);
	set(b->in + CQC, 0x20, 32, b->records->umem_id);
	set(b->in, 0x58 * 8, 32, b->ring->umem_id);
}

static struct mlx5dv_devx_obj *create(struct bench *b)
{
	return mlx5dv_devx_obj_create(b->context, b->in, sizeof(b->in), b->out, 16);
}

static void refused(struct bench *b, uint8_t status)
{
	assert_null(create(b));
	assert_int_equal(errno, EREMOTEIO);
	assert_int_equal(b->out[0], status);
}

static uint32_t make_cq(struct bench *b)
{
	fill_cq(b);
	b->cq = create(b);
	assert_non_null(b->cq);
	return prm_get(b->out, 9 * 8, 24);
}

struct flaw {
	uint16_t bit;
	uint8_t width;
	uint8_t status;
	uint64_t value;
};

static void refuse_each(struct bench *b, void (*fill)(struct bench *b), const struct flaw *f,
			size_t n)
{
	for (size_t i = 0; i < n; i++) {
		fill(b);
		set(b->in, f[i].bit, f[i].width, f[i].value);
		refused(b, f[i].status);
	}
}

static void cq_is_checked(void **state)
{
	static const struct flaw flaws[] = {
		{CQC * 8 + 0x8, 3, BAD_PARAM, 2},	 /* size of an entry */
		{CQC * 8 + 0x11, 3, BAD_PARAM, 6},	 /* an invalid compression format */
		{CQC * 8 + 0x12, 2, BAD_PARAM, 1},	 /* a format, but not compressed */
		{CQC * 8 + 0x11, 14, BAD_PARAM, 0x2001}, /* compressed in another layout */
		{CQC * 8 + 0x1e, 2, BAD_PARAM, 1},	 /* another layout */
		{CQC * 8 + 0x11, 15, BAD_PARAM, 0x4001},
		{CQC * 8 + 0x63, 5, BAD_PARAM, 23},	 /* entries */
		{CQC * 8 + 0x63, 5, BAD_PARAM, 7},	 /* more than the umem holds */
		{CQC * 8 + 0x68, 24, BAD_RES, 0xffffff}, /* doorbell page */
		{CQC * 8 + 0xb8, 8, BAD_RES, 0},	 /* event queue */
		{CQC * 8 + 0x20, 32, BAD_RES, 0x7fffffff},
		{0x58 * 8, 32, BAD_RES, 0x7fffffff},
		{0x50 * 8, 64, BAD_PARAM, PAGE - 64},
		{0x50 * 8, 64, BAD_PARAM, 8},
		{CQC * 8 + 0x38 * 8, 64, BAD_PARAM, 16},
	};
	static const uint8_t compressed[] = {4, 5, 7}; /* with hash, checksum, stride index too */
	struct bench *b = *state;

	refuse_each(b, fill_cq, flaws, ARRAY_SIZE(flaws));
	for (size_t i = 0; i < sizeof(compressed); i++) {
		fill_cq(b);
		set(b->in + CQC, 0x11, 3, compressed[i]);
		b->cq = create(b);
		assert_non_null(b->cq);
		assert_int_equal(mlx5dv_devx_obj_destroy(b->cq), 0);
		b->cq = NULL;
	}
	fill_cq(b);
	assert_null(mlx5dv_devx_obj_create(b->context, b->in, 0x60, b->out, 16));
	assert_int_equal(b->out[0], BAD_INP_LEN);
}

static uint32_t cqn_of_bench;

/* 4 receive WQEs of 64 bytes and 4 blocks to send, in the ring's second KiB. */
static void fill_qp(struct bench *b)
{
	memset(b->in, 0, sizeof(b->in));
	set(b->in, 0, 16, 0x500);
	set(b->in + QPC, 0x28, 24, b->pdn);
	set(b->in + QPC, 0x49, 4, 2);
	set(b->in + QPC, 0x4d, 3, 2);
	set(b->in + QPC, 0x51, 4, 2);
	set(b->in + QPC, 0x68, 24, b->uar->page_id);
	set(b->in + QPC, 0x3e8, 24, cqn_of_bench);
	set(b->in + QPC, 0x4e8, 24, cqn_of_bench);
	set(b->in + QPC, 0x500, 64, 8);
	set(b->in + QPC, 0x720, 32, b->records->umem_id);
	set(b->in, 0x100 * 8, 64, 1024);
	set(b->in, 0x108 * 8, 32, b->ring->umem_id);
}

static void qp_is_checked(void **state)
{
	static const struct flaw flaws[] = {
		{QPC * 8 + 0x8, 8, BAD_PARAM, 3}, /* service type */
		{QPC * 8 + 0x565, 3, BAD_RES, 1}, /* missing shared receive queue */
		{QPC * 8 + 0x565, 3, BAD_PARAM, 2},
		{QPC * 8 + 0x28, 24, BAD_RES, 0xffffff}, /* protection domain */
		{QPC * 8 + 0x3e8, 24, BAD_RES, 0xffffff},
		{QPC * 8 + 0x4e8, 24, BAD_RES, 0xffffff},
		{QPC * 8 + 0x68, 24, BAD_RES, 0xffffff},
		{QPC * 8 + 0x720, 32, BAD_RES, 0x7fffffff},
		{0x108 * 8, 32, BAD_RES, 0x7fffffff},
		{QPC * 8 + 0x51, 4, BAD_PARAM, 6}, /* more than the umem holds */
		{QPC * 8 + 0x500, 64, BAD_PARAM, 4},
	};
	struct bench *b = *state;

	cqn_of_bench = make_cq(b);
	refuse_each(b, fill_qp, flaws, ARRAY_SIZE(flaws));
	fill_qp(b);
	set(b->in + QPC, 0x49, 4, 0); /* one receive request, */
	set(b->in + QPC, 0x4d, 3, 6); /* beyond max_wqe_sz_rq */
	assert_null(create(b));
	assert_int_equal(b->out[0], BAD_PARAM);
}

static int modify(struct bench *b, struct mlx5dv_devx_obj *qp, uint16_t opcode, uint32_t qpn)
{
	set(b->in, 0, 16, opcode);
	set(b->in, 9 * 8, 24, qpn);
	return mlx5dv_devx_obj_modify(qp, b->in, sizeof(b->in), b->out, 16);
}

static uint32_t state_of(struct bench *b, struct mlx5dv_devx_obj *qp, uint32_t qpn)
{
	memset(b->in, 0, sizeof(b->in));
	set(b->in, 0, 16, 0x50b);
	set(b->in, 9 * 8, 24, qpn);
	assert_int_equal(mlx5dv_devx_obj_query(qp, b->in, 16, b->out, sizeof(b->out)), 0);
	return prm_get(b->out + QPC, 0, 4);
}

static void qp_goes_through_its_states(void **state)
{
	struct bench *b = *state;
	struct mlx5dv_devx_obj *qp;
	uint32_t qpn;

	cqn_of_bench = make_cq(b);
	fill_qp(b);
	qp = create(b);
	assert_non_null(qp);
	qpn = prm_get(b->out, 9 * 8, 24);
	assert_int_equal(state_of(b, qp, qpn), 0);
	memset(b->in, 0, sizeof(b->in));
	assert_int_not_equal(modify(b, qp, 0x503, qpn), 0);
	assert_int_equal(b->out[0], BAD_QP_STATE);
	assert_int_not_equal(modify(b, qp, 0x502, qpn), 0); /* invalid port */
	assert_int_equal(b->out[0], BAD_PARAM);
	set(b->in + QPC + 0x18, 0x128, 8, 1);
	assert_int_equal(modify(b, qp, 0x502, qpn + 1), EINVAL);
	assert_int_equal(modify(b, qp, 0x502, qpn), 0);
	assert_int_equal(state_of(b, qp, qpn), 1);
	memset(b->in, 0, sizeof(b->in));
	set(b->in + QPC + 0x18, 0x128, 8, 1);
	assert_int_not_equal(modify(b, qp, 0x503, qpn), 0); /* invalid MTU */
	assert_int_equal(b->out[0], BAD_PARAM);
	set(b->in + QPC, 0x40, 3, 3);
	set(b->in + QPC, 0xa8, 24, qpn);
	set(b->in + QPC, 0x488, 3, 5); /* beyond log_max_ra_res_qp */
	assert_int_not_equal(modify(b, qp, 0x503, qpn), 0);
	assert_int_equal(b->out[0], BAD_PARAM);
	set(b->in + QPC, 0x488, 3, 4);
	assert_int_equal(modify(b, qp, 0x503, qpn), 0);
	set(b->in + QPC, 0x388, 3, 5); /* beyond log_max_ra_req_qp */
	assert_int_not_equal(modify(b, qp, 0x504, qpn), 0);
	assert_int_equal(b->out[0], BAD_PARAM);
	set(b->in + QPC, 0x388, 3, 4);
	assert_int_equal(modify(b, qp, 0x504, qpn), 0);
	assert_int_equal(state_of(b, qp, qpn), 3);
	assert_int_equal(modify(b, qp, 0x507, qpn), 0);
	assert_int_equal(state_of(b, qp, qpn), 6);
	assert_int_equal(modify(b, qp, 0x50a, qpn), 0);
	assert_int_equal(state_of(b, qp, qpn), 0);
	/* Objects that it depends on cannot be destroyed. */
	assert_int_not_equal(mlx5dv_devx_obj_destroy(b->cq), 0);
	assert_int_not_equal(mlx5dv_devx_umem_dereg(b->ring), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(qp), 0);
}

static uint64_t port_of(const uint8_t *qpc)
{
	return prm_get(qpc + 0x18, 0x128, 8);
}

/* Programs ask which port a new queue pair has, and query that port. */
static void queue_pair_in_reset_reports_port_1(void **state)
{
	struct bench *b = *state;
	struct ibv_port_attr port;
	struct mlx5dv_devx_obj *qp;

	cqn_of_bench = make_cq(b);
	fill_qp(b);
	qp = create(b);
	assert_non_null(qp);
	assert_int_equal(state_of(b, qp, prm_get(b->out, 9 * 8, 24)), 0);
	assert_int_equal(port_of(b->out + QPC), 1);
	assert_int_equal(ibv_query_port(b->context, (uint8_t)port_of(b->out + QPC), &port), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(qp), 0);
}

struct field {
	uint16_t bit;
	uint8_t width;
	uint8_t value;
};

#define PATH(bit) (0x18 * 8 + (bit))

/* What each transition sets; all but the first leave 0 what an earlier one has set. */
static const struct field set_by_init[] = {
	{0x490, 1, 1},	     /* remote reads */
	{0x491, 1, 1},	     /* remote writes */
	{0x492, 1, 1},	     /* atomics */
	{PATH(0x128), 8, 1}, /* port */
	{0, 0, 0},
};
static const struct field set_by_rtr[] = {
	{PATH(0x0), 1, 1},   /* forced loopback */
	{PATH(0x48), 8, 2},  /* index of a GID, which loopback does not need */
	{PATH(0x58), 8, 64}, /* hop limit */
	{0x40, 3, 3},	     /* MTU */
	{0x43, 5, 30},	     /* longest message */
	{0xa8, 24, 77},	     /* the peer */
	{0x488, 3, 4},	     /* reads and atomics as a responder */
	{0x4a3, 5, 12},	     /* RNR timer */
	{0x4a8, 24, 99},     /* first packet of the peer */
	{0, 0, 0},
};
static const struct field set_by_rts[] = {
	{PATH(0x40), 5, 14}, /* timeout */
	{0x388, 3, 4},	     /* reads and atomics as a requester */
	{0x38d, 3, 7},	     /* retries */
	{0x390, 3, 6},	     /* RNR retries */
	{0x3c8, 24, 98},     /* first packet */
	{0, 0, 0},
};

static void set_fields(struct bench *b, const struct field *f)
{
	memset(b->in, 0, sizeof(b->in));
	for (; f->width; f++)
		set(b->in + QPC, f->bit, f->width, f->value);
}

static void expect_fields(const struct bench *b, const struct field *f)
{
	for (; f->width; f++)
		if (prm_get(b->out + QPC, f->bit, f->width) != f->value)
			fail_msg("bit %#x of the context is not %u", f->bit, f->value);
}

static void field_that_a_transition_leaves_0_keeps_its_value(void **state)
{
	struct bench *b = *state;
	struct mlx5dv_devx_obj *qp;
	uint32_t qpn;

	cqn_of_bench = make_cq(b);
	fill_qp(b);
	qp = create(b);
	assert_non_null(qp);
	qpn = prm_get(b->out, 9 * 8, 24);
	set_fields(b, set_by_init);
	assert_int_equal(modify(b, qp, 0x502, qpn), 0);
	set_fields(b, set_by_rtr);
	assert_int_equal(modify(b, qp, 0x503, qpn), 0);
	set_fields(b, set_by_rts);
	assert_int_equal(modify(b, qp, 0x504, qpn), 0);
	set_fields(b, &(struct field){0, 0, 0});
	assert_int_equal(modify(b, qp, 0x505, qpn), 0);
	assert_int_equal(state_of(b, qp, qpn), 3);
	expect_fields(b, set_by_init);
	expect_fields(b, set_by_rtr);
	expect_fields(b, set_by_rts);
	assert_int_equal(mlx5dv_devx_obj_destroy(qp), 0);
}

/* --- receive memory pools --------------------------------------------------------------------- */

#define RMPC 0x20
#define WQ   (RMPC + 0x30)

/* 8 WQEs of 64 bytes in the ring's third KiB. */
static void fill_rmp(struct bench *b)
{
	memset(b->in, 0, sizeof(b->in));
	set(b->in, 0, 16, 0x90c);
	set(b->in + RMPC, 0x8, 4, 1);
	set(b->in + WQ, 0x0, 4, 1);
	set(b->in + WQ, 0x48, 24, b->pdn);
	set(b->in + WQ, 0x80, 64, 8);
	set(b->in + WQ, 0x10c, 4, 6);
	set(b->in + WQ, 0x11b, 5, 3);
	set(b->in + WQ, 0x140, 32, b->records->umem_id);
	set(b->in + WQ, 0x160, 32, b->ring->umem_id);
	set(b->in + WQ, 0x180, 64, 2048);
}

static void rmp_is_checked(void **state)
{
	static const struct flaw flaws[] = {
		{RMPC * 8 + 0x8, 4, BAD_PARAM, 0}, /* not ready */
		{WQ * 8 + 0x0, 4, BAD_PARAM, 2},   /* several packets in a WQE */
		{WQ * 8 + 0x4, 1, BAD_PARAM, 1},   /* signatures */
		{WQ * 8 + 0x10c, 4, BAD_PARAM, 4},
		{WQ * 8 + 0x11b, 5, BAD_PARAM, 16},
		{WQ * 8 + 0x11b, 5, BAD_PARAM, 6}, /* more than the umem holds */
		{WQ * 8 + 0x48, 24, BAD_RES, 0xffffff},
		{WQ * 8 + 0x140, 32, BAD_RES, 0x7fffffff},
		{WQ * 8 + 0x160, 32, BAD_RES, 0x7fffffff},
		{WQ * 8 + 0x80, 64, BAD_PARAM, 12},
	};

	refuse_each(*state, fill_rmp, flaws, ARRAY_SIZE(flaws));
}

static void qp_holds_its_rmp(void **state)
{
	struct bench *b = *state;
	struct mlx5dv_devx_obj *rmp, *qp;
	uint32_t rmpn;

	fill_rmp(b);
	rmp = create(b);
	assert_non_null(rmp);
	rmpn = prm_get(b->out, 9 * 8, 24);
	cqn_of_bench = make_cq(b);
	fill_qp(b);
	set(b->in + QPC, 0x565, 3, 1);
	set(b->in + QPC, 0x568, 24, rmpn);
	qp = create(b);
	assert_non_null(qp);
	assert_int_not_equal(mlx5dv_devx_obj_destroy(rmp), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(qp), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(rmp), 0);
}

/* --- PRM commands on a QP of verbs ------------------------------------------------------------ */

static void verbs_qp_is_connected_by_command(void **state)
{
	struct bench *b = *state;
	struct ibv_cq *cq = ibv_create_cq(b->context, 4, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
	};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct ibv_qp *qp;

	assert_non_null(cq);
	qp = ibv_create_qp(b->pd, &init);
	assert_non_null(qp);
	assert_int_equal(
		ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		0);
	memset(b->in, 0, sizeof(b->in));
	set(b->in, 0, 16, 0x503);
	set(b->in, 9 * 8, 24, qp->qp_num);
	set(b->in, 0x10 * 8, 32, 1u << 3); /* optional: remote writes */
	set(b->in + QPC, 0x491, 1, 1);
	set(b->in + QPC + 0x18, 0x128, 8, 1);
	assert_int_not_equal(mlx5dv_devx_qp_modify(qp, b->in, sizeof(b->in), b->out, 16), 0);
	assert_int_equal(b->out[0], BAD_PARAM); /* invalid MTU */
	set(b->in + QPC, 0x40, 3, IBV_MTU_1024);
	set(b->in + QPC, 0xa8, 24, 0x123);
	assert_int_equal(mlx5dv_devx_qp_modify(qp, b->in, sizeof(b->in), b->out, 16), 0);
	assert_int_equal(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
	assert_int_equal(attr.qp_state, IBV_QPS_RTR);
	assert_int_equal(attr.dest_qp_num, 0x123);
	assert_int_equal(attr.path_mtu, IBV_MTU_1024);
	assert_int_equal(attr.qp_access_flags, IBV_ACCESS_REMOTE_WRITE);
	memset(b->in, 0, 16);
	set(b->in, 0, 16, 0x50b);
	assert_int_not_equal(mlx5dv_devx_qp_query(qp, b->in, 16, b->out, sizeof(b->out)), 0);
	set(b->in, 9 * 8, 24, qp->qp_num);
	assert_int_equal(mlx5dv_devx_qp_query(qp, b->in, 16, b->out, sizeof(b->out)), 0);
	assert_int_equal(prm_get(b->out + QPC, 0, 4), 2); /* RTR */
	assert_int_equal(prm_get(b->out + QPC, 0xa8, 24), 0x123);
	assert_int_equal(prm_get(b->out + QPC, 0x565, 3), 0);
	assert_int_not_equal(prm_get(b->out + QPC, 0x3e8, 24), 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
}

/* A driver of a storage stack does this: it connects a verbs QP to itself, by the port that the QP reports. */
static void verbs_qp_is_looped_back_by_the_port_it_reports(void **state)
{
	struct bench *b = *state;
	struct ibv_cq *cq = ibv_create_cq(b->context, 4, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
	};
	struct ibv_qp_attr attr;
	struct ibv_port_attr port;
	struct ibv_qp *qp;

	assert_non_null(cq);
	qp = ibv_create_qp(b->pd, &init);
	assert_non_null(qp);
	assert_int_equal(ibv_query_qp(qp, &attr, IBV_QP_PORT, &init), 0);
	assert_int_equal(attr.port_num, 1);
	assert_int_equal(attr.ah_attr.port_num, 1);
	assert_int_equal(ibv_query_port(b->context, attr.port_num, &port), 0);
	set_fields(b, set_by_init);
	set(b->in, 0, 16, 0x502);
	set(b->in, 9 * 8, 24, qp->qp_num);
	assert_int_equal(mlx5dv_devx_qp_modify(qp, b->in, sizeof(b->in), b->out, 16), 0);
	set_fields(b, set_by_rtr);
	set(b->in, 0, 16, 0x503);
	set(b->in, 9 * 8, 24, qp->qp_num);
	assert_int_equal(mlx5dv_devx_qp_modify(qp, b->in, sizeof(b->in), b->out, 16), 0);
	assert_int_equal(ibv_query_qp(qp, &attr, IBV_QP_PORT, &init), 0);
	assert_int_equal(attr.qp_state, IBV_QPS_RTR);
	assert_int_equal(attr.port_num, 1);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
}

/* --- events ----------------------------------------------------------------------------------- */

enum { COMPLETION = 0, CQ_ERROR = 4, PORT_CHANGE = 9, GENERAL = 0x22 };

static struct mlx5dv_devx_obj *connected_qp(struct bench *b, uint32_t *qpn)
{
	struct mlx5dv_devx_obj *qp;
	union ibv_gid gid;

	fill_qp(b);
	qp = create(b);
	assert_non_null(qp);
	*qpn = prm_get(b->out, 9 * 8, 24);
	assert_int_equal(ibv_query_gid(b->context, 1, 0, &gid), 0);
	memset(b->in, 0, sizeof(b->in));
	set(b->in + QPC + 0x18, 0x128, 8, 1);
	assert_int_equal(modify(b, qp, 0x502, *qpn), 0);
	set(b->in + QPC, 0x40, 3, 3);
	set(b->in + QPC, 0x43, 5, 30);
	set(b->in + QPC, 0xa8, 24, *qpn);
	memcpy(b->in + QPC + 0x18 + 0x10, gid.raw, sizeof(gid.raw));
	assert_int_equal(modify(b, qp, 0x503, *qpn), 0);
	assert_int_equal(modify(b, qp, 0x504, *qpn), 0);
	return qp;
}

/* A NOP in block `i` of the send ring. */
static void post_nop(struct bench *b, uint32_t qpn, uint32_t i)
{
	uint8_t *ring = (uint8_t *)b->ring_mem + 1024 + 4 * 64, *wqe = ring + i % 4 * 64;
	uint64_t doorbell;

	memset(wqe, 0, 64);
	set(wqe, 8, 16, i);
	set(wqe, 32, 24, qpn);
	set(wqe, 56, 8, 1);
	wqe[11] = 8;
	set((uint8_t *)&b->record_mem[1], 32, 32, i + 1);
	memcpy(&doorbell, wqe, sizeof(doorbell));
	*(volatile uint64_t *)b->uar->reg_addr = doorbell;
}

/* A CQ of one entry: the second completion overruns it. */
static uint32_t make_small_cq(struct bench *b)
{
	fill_cq(b);
	set(b->in + CQC, 0x63, 5, 0);
	b->cq = create(b);
	assert_non_null(b->cq);
	return prm_get(b->out, 9 * 8, 24);
}

static bool is_readable(int fd, int timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, timeout_ms) == 1 && p.revents & POLLIN;
}

#define PATIENCE_MS  60000
#define REQ_ERR	     0xd
#define WR_FLUSH_ERR 5

/* Wait for the CQ's `n`th completion, that of the request which begins in that block. */
static void await_nth(const void *ring, uint32_t entries, unsigned int n, uint16_t block)
{
	const volatile uint8_t *cqe = (const uint8_t *)ring + n % entries * 64;
	int i;

	for (i = 0; i < PATIENCE_MS * 10 && cqe[63] >> 4 != REQ_ERR; i++) {
		if (cqe[63] >> 4 == 0 && (cqe[63] & 1) == (n / entries & 1) &&
		    (cqe[60] << 8 | cqe[61]) == block)
			return;
		usleep(100);
	}
	fail_msg("completion %u: op_own %#x, syndrome %#x", n, cqe[63], cqe[55]);
}

/* Each request is one block. */
static void await_cqe(const void *ring, uint32_t entries, uint16_t n)
{
	await_nth(ring, entries, n, n);
}

/* --- queue pairs that lack a part ------------------------------------------------------------- */

/* A queue pair that sends only, as drivers make them: rq_type 3, and no CQ to receive with. */
static void fill_sender(struct bench *b)
{
	fill_qp(b);
	set(b->in + QPC, 0x565, 3, 3);
	set(b->in + QPC, 0x4e8, 24, 0);
	set(b->in, 0x100 * 8, 64, 1024 + 4 * 64); /* where post_nop() expects the send ring */
}

static void fill_receiver(struct bench *b)
{
	fill_qp(b);
	set(b->in + QPC, 0x50, 1, 1);
	set(b->in + QPC, 0x3e8, 24, 0);
	set(b->in + QPC, 0x68, 24, 0);
}

/* Neither queue: also no rings, no doorbell record and no doorbell page. */
static void fill_without_queues(struct bench *b)
{
	memset(b->in, 0, sizeof(b->in));
	set(b->in, 0, 16, 0x500);
	set(b->in + QPC, 0x28, 24, b->pdn);
	set(b->in + QPC, 0x50, 1, 1);
	set(b->in + QPC, 0x565, 3, 3);
}

/* With `fl` the path leads back to the function, whatever the address is. */
static void connect_to_itself(struct bench *b, struct mlx5dv_devx_obj *qp, uint32_t qpn)
{
	memset(b->in, 0, sizeof(b->in));
	set(b->in + QPC + 0x18, 0x128, 8, 1);
	assert_int_equal(modify(b, qp, 0x502, qpn), 0);
	set(b->in + QPC, 0x40, 3, 1);
	set(b->in + QPC, 0x43, 5, 30);
	set(b->in + QPC, 0xa8, 24, qpn);
	set(b->in + QPC + 0x18, 0, 1, 1);
	assert_int_equal(modify(b, qp, 0x503, qpn), 0);
	assert_int_equal(modify(b, qp, 0x504, qpn), 0);
}

static void qp_without_receive_queue_sends(void **state)
{
	struct bench *b = *state;
	struct mlx5dv_devx_obj *qp;
	uint32_t qpn;

	cqn_of_bench = make_cq(b);
	memset(b->ring_mem, 0xff, PAGE);
	fill_sender(b);
	qp = create(b);
	assert_non_null(qp);
	qpn = prm_get(b->out, 9 * 8, 24);
	connect_to_itself(b, qp, qpn);
	assert_int_equal(state_of(b, qp, qpn), 3);
	assert_int_equal(prm_get(b->out + QPC, 0x565, 3), 3);
	post_nop(b, qpn, 0);
	await_cqe(b->ring_mem, 16, 0);
	assert_int_not_equal(mlx5dv_devx_obj_destroy(b->cq), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(qp), 0);
}

static void qp_without_send_queue_is_created(void **state)
{
	struct bench *b = *state;
	struct mlx5dv_devx_obj *qp;
	uint32_t qpn;

	cqn_of_bench = make_cq(b);
	fill_receiver(b);
	qp = create(b);
	assert_non_null(qp);
	qpn = prm_get(b->out, 9 * 8, 24);
	connect_to_itself(b, qp, qpn);
	assert_int_equal(state_of(b, qp, qpn), 3);
	assert_int_not_equal(mlx5dv_devx_obj_destroy(b->cq), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(qp), 0);
}

static void qp_without_queues_is_created(void **state)
{
	struct bench *b = *state;
	struct mlx5dv_devx_obj *qp;
	uint32_t qpn;

	fill_without_queues(b);
	qp = create(b);
	assert_non_null(qp);
	qpn = prm_get(b->out, 9 * 8, 24);
	connect_to_itself(b, qp, qpn);
	assert_int_equal(state_of(b, qp, qpn), 3);
	assert_int_equal(mlx5dv_devx_obj_destroy(qp), 0);
}

/* Whatever names a part must name one that exists, also where the part is optional. */
static void optional_parts_of_qp_are_checked(void **state)
{
	static const struct flaw sender[] = {
		{QPC * 8 + 0x3e8, 24, BAD_RES, 0}, {QPC * 8 + 0x4e8, 24, BAD_RES, 0xffffff},
		{QPC * 8 + 0x68, 24, BAD_RES, 0},  {QPC * 8 + 0x720, 32, BAD_RES, 0},
		{0x108 * 8, 32, BAD_RES, 0},
	};
	static const struct flaw receiver[] = {
		{QPC * 8 + 0x4e8, 24, BAD_RES, 0},
		{QPC * 8 + 0x3e8, 24, BAD_RES, 0xffffff},
		{QPC * 8 + 0x68, 24, BAD_RES, 0xffffff},
		{QPC * 8 + 0x720, 32, BAD_RES, 0},
		{0x108 * 8, 32, BAD_RES, 0},
	};
	static const struct flaw neither[] = {
		{QPC * 8 + 0x28, 24, BAD_RES, 0xffffff},
		{QPC * 8 + 0x3e8, 24, BAD_RES, 0xffffff},
		{QPC * 8 + 0x4e8, 24, BAD_RES, 0xffffff},
		{QPC * 8 + 0x68, 24, BAD_RES, 0xffffff},
		{QPC * 8 + 0x720, 32, BAD_RES, 0x7fffffff},
		{0x108 * 8, 32, BAD_RES, 0x7fffffff},
		{QPC * 8 + 0x565, 3, BAD_RES, 1}, /* a shared receive queue needs a CQ */
	};
	struct bench *b = *state;

	cqn_of_bench = make_cq(b);
	refuse_each(b, fill_sender, sender, ARRAY_SIZE(sender));
	refuse_each(b, fill_receiver, receiver, ARRAY_SIZE(receiver));
	refuse_each(b, fill_without_queues, neither, ARRAY_SIZE(neither));
}

/* A copy by the DMA engine, from the ring's last 64 bytes to those before them. */
static void post_copy(struct bench *b, uint32_t qpn, uint32_t key)
{
	uint8_t *wqe = (uint8_t *)b->ring_mem + 1024 + 4 * 64,
		*last = (uint8_t *)b->ring_mem + PAGE;

	memset(wqe, 0, 64);
	wqe[0] = 1;
	wqe[3] = 0x2f;
	set(wqe, 32, 24, qpn);
	set(wqe, 56, 8, 4);
	wqe[11] = 8;
	set(wqe + 16, 32, 32, key);
	set(wqe + 16, 64, 64, (uintptr_t)last - 3 * 64);
	set(wqe + 32, 0, 32, 64);
	set(wqe + 32, 32, 32, key);
	set(wqe + 32, 64, 64, (uintptr_t)last - 64);
	set(wqe + 48, 0, 32, 64);
	set(wqe + 48, 32, 32, key);
	set(wqe + 48, 64, 64, (uintptr_t)last - 2 * 64);
	set((uint8_t *)&b->record_mem[1], 32, 32, 1);
	*(volatile uint64_t *)b->uar->reg_addr = *(uint64_t *)(void *)wqe;
}

/* DPDK's drivers enable the DMA engine this way: no INIT2INIT follows. */
static void qp_is_created_with_its_extension(void **state)
{
	struct bench *b = *state;
	struct mlx5dv_devx_obj *qp;
	struct ibv_mr *mr;
	uint32_t qpn;

	cqn_of_bench = make_cq(b);
	memset(b->ring_mem, 0xff, PAGE);
	memset((uint8_t *)b->ring_mem + PAGE - 64, 0x5a, 64);
	mr = ibv_reg_mr(b->pd, b->ring_mem, PAGE, IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(mr);
	fill_sender(b);
	set(b->in, 0x40, 1, 1);
	set(b->in, 0x110 * 8 + 2, 1, 1);
	assert_null(mlx5dv_devx_obj_create(b->context, b->in, 0x110, b->out, 16));
	assert_int_equal(b->out[0], BAD_INP_LEN);
	qp = create(b);
	assert_non_null(qp);
	qpn = prm_get(b->out, 9 * 8, 24);
	connect_to_itself(b, qp, qpn);
	post_copy(b, qpn, mr->lkey);
	await_cqe(b->ring_mem, 16, 0);
	assert_memory_equal((uint8_t *)b->ring_mem + PAGE - 2 * 64,
			    (uint8_t *)b->ring_mem + PAGE - 64, 64);
	assert_int_equal(mlx5dv_devx_obj_destroy(qp), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

/* --- ECE, UMR and queries --------------------------------------------------------------------- */

#define ECE_VERSION 0x10000000u

/* CREATE_QP and the transitions answer with the options that the device supports too. */
static void ece_is_negotiated_by_commands(void **state)
{
	struct bench *b = *state;
	struct mlx5dv_devx_obj *qp;
	uint32_t qpn;

	cqn_of_bench = make_cq(b);
	fill_sender(b);
	set(b->in, 0x14 * 8, 32, ECE_VERSION | 1);
	qp = create(b);
	assert_non_null(qp);
	qpn = prm_get(b->out, 9 * 8, 24);
	assert_int_equal(prm_get(b->out, 0x0c * 8, 32), ECE_VERSION);
	memset(b->in, 0, sizeof(b->in));
	set(b->in + QPC + 0x18, 0x128, 8, 1);
	set(b->in, 0x14 * 8, 32, ECE_VERSION | 1);
	assert_int_equal(modify(b, qp, 0x502, qpn), 0);
	assert_int_equal(prm_get(b->out, 0x0c * 8, 32), ECE_VERSION);
	assert_int_equal(mlx5dv_devx_obj_destroy(qp), 0);
}

static int query(struct bench *b, uint16_t opcode, size_t out_len)
{
	set(b->in, 0, 16, opcode);
	memset(b->out, 0xff, sizeof(b->out));
	return mlx5dv_devx_general_cmd(b->context, b->in, 16, b->out, out_len);
}

/* UCX and DPDK send them when they open the device. */
static void queries_at_open_are_answered(void **state)
{
	static const struct {
		uint16_t opcode;
		size_t len;
	} queries[] = {{0x842, 16}, {0x10a, 0x70}, {0x750, 16}, {0x80d, 16}};
	struct bench *b = *state;
	size_t i;

	memset(b->in, 0, sizeof(b->in));
	for (i = 0; i < ARRAY_SIZE(queries); i++) {
		assert_int_equal(query(b, queries[i].opcode, queries[i].len), 0);
		assert_int_equal(b->out[0], 0);
		set(b->in, 0x30, 16, 1); /* op_mod */
		assert_int_not_equal(query(b, queries[i].opcode, queries[i].len), 0);
		assert_int_equal(b->out[0], BAD_OP);
		set(b->in, 0x30, 16, 0);
		set(b->in, 0x40, 1, 1); /* of another function */
		assert_int_not_equal(query(b, queries[i].opcode, queries[i].len), 0);
		assert_int_equal(b->out[0], BAD_PARAM);
		set(b->in, 0x40, 1, 0);
	}
	assert_int_equal(query(b, 0x842, 16), 0);
	assert_int_equal(prm_get(b->out, 0x40, 64), 0); /* no bond */
	assert_int_equal(query(b, 0x10a, 0x70), 0);
	assert_int_equal(prm_get(b->out, 0x50, 16), 1);
	assert_int_equal(prm_get(b->out, 0x6c * 8, 32), 2);
	assert_int_not_equal(query(b, 0x10a, 0x6c), 0);
	assert_int_equal(b->out[0], BAD_OUTP_LEN);
	assert_int_equal(query(b, 0x750, 16), 0);
	assert_int_equal(prm_get(b->out, 0x78, 8), 0x11); /* up, as configured */
}

#define ENTRIES 80u /* more than fit in a work request */

/* An mkey for UMR, with a list of ENTRIES pieces of any length. */
static struct mlx5dv_devx_obj *create_list_mkey(struct bench *b, uint32_t *key)
{
	struct mlx5dv_devx_obj *made;
	uint8_t *mkc = b->in + 0x10;

	memset(b->in, 0, sizeof(b->in));
	set(b->in, 0, 16, 0x200);
	set(mkc, 0x01, 1, 1); /* free */
	set(mkc, 0x10, 1, 1); /* umr_en */
	set(mkc, 0x14, 2, 3); /* lw, lr */
	set(mkc, 0x16, 2, 2); /* KLM */
	set(mkc, 0x20, 24, 0xffffff);
	set(mkc, 0x68, 24, b->pdn);
	set(mkc, 0x1a0, 32, ENTRIES);
	made = mlx5dv_devx_obj_create(b->context, b->in, 0x110, b->out, 16);
	assert_non_null(made);
	*key = (uint32_t)prm_get(b->out, 8 * 8, 32) << 8;
	return made;
}

struct umr {
	uint32_t qpn, key, lkey, length;
	uint64_t offset; /* of its 4 entries in the list */
	uint8_t flags;
};

/* 4 entries of 1 byte each, and the length of the mkey; three blocks at the start of the ring. */
static void post_umr(struct bench *b, const struct umr *u, uint16_t index)
{
	uint8_t *ring = (uint8_t *)b->ring_mem + 1024, wqe[192] = {0};
	uint64_t doorbell;
	unsigned int i;

	set(wqe, 8, 16, index);
	wqe[3] = 0x25;
	set(wqe, 32, 24, u->qpn);
	set(wqe, 56, 8, 12);
	wqe[11] = 8;
	set(wqe + 12, 0, 32, u->key);
	wqe[16] = u->flags;
	set(wqe + 16, 32, 16, 4);
	set(wqe + 16, 48, 16, u->offset & 0xffff);
	set(wqe + 16, 64, 64, 1u | 1u << 29); /* len and free */
	set(wqe + 16, 128, 32, u->offset >> 16);
	set(wqe + 64, 0xc0, 64, u->length);
	for (i = 0; i < 4; i++) {
		set(wqe + 128 + i * 16, 0, 32, 1);
		set(wqe + 128 + i * 16, 32, 32, u->lkey);
		set(wqe + 128 + i * 16, 64, 64, (uintptr_t)b->ring_mem + 2048 + u->offset + i);
	}
	for (i = 0; i < 3; i++)
		memcpy(ring + (index + i) % 4 * 64, wqe + i * 64, 64);
	set((uint8_t *)&b->record_mem[1], 32, 32, index + 3u);
	memcpy(&doorbell, wqe, sizeof(doorbell));
	*(volatile uint64_t *)b->uar->reg_addr = doorbell;
}

static struct mlx5dv_devx_obj *sender(struct bench *b, uint32_t *qpn)
{
	struct mlx5dv_devx_obj *qp;

	fill_sender(b);
	set(b->in, 0x100 * 8, 64, 1024);
	qp = create(b);
	assert_non_null(qp);
	*qpn = prm_get(b->out, 9 * 8, 24);
	connect_to_itself(b, qp, *qpn);
	return qp;
}

/* Part by part, a list becomes longer than one request could make it. */
static void umr_changes_entries_at_an_offset(void **state)
{
	struct umr u = {.length = ENTRIES, .flags = 0x90}; /* inline, at an offset */
	struct mlx5dv_devx_obj *qp, *list;
	struct bench *b = *state;
	uint8_t *list_out;
	struct ibv_mr *mr;
	uint16_t index = 0;

	cqn_of_bench = make_cq(b);
	memset(b->ring_mem, 0xff, PAGE);
	mr = ibv_reg_mr(b->pd, b->ring_mem, PAGE, IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(mr);
	list = create_list_mkey(b, &u.key);
	qp = sender(b, &u.qpn);
	u.lkey = mr->lkey;
	for (u.offset = 0; u.offset < ENTRIES; u.offset += 4, index += 3) {
		post_umr(b, &u, index);
		await_nth(b->ring_mem, 16, (unsigned int)u.offset / 4, index);
		set((uint8_t *)b->record_mem, 0, 32, u.offset / 4 + 1);
	}
	/* Once more in the middle: the entries behind it remain. */
	u.offset = 8;
	post_umr(b, &u, index);
	await_nth(b->ring_mem, 16, ENTRIES / 4, index);
	list_out = test_calloc(1, 0x110 + ENTRIES * 16);
	memset(b->in, 0, 16);
	set(b->in, 0, 16, 0x201);
	set(b->in, 9 * 8, 24, u.key >> 8);
	assert_int_equal(mlx5dv_devx_obj_query(list, b->in, 16, list_out, 0x110 + ENTRIES * 16), 0);
	for (unsigned int i = 0; i < ENTRIES; i++)
		assert_true(prm_get(list_out + 0x110 + i * 16, 64, 64) ==
			    (uintptr_t)b->ring_mem + 2048 + i);
	test_free(list_out);
	assert_int_equal(mlx5dv_devx_obj_destroy(qp), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(list), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

/* Behind the list; with a high part; without the flag that says that there is an offset. */
static void umr_at_a_bad_offset_is_refused(void **state)
{
	static const struct {
		uint64_t offset;
		uint8_t flags, syndrome;
	} bad[] = {{4, 0x90, 6},
		   {1ull << 16, 0x90, 6},
		   {1ull << 47, 0x90, 6},
		   {4, 0x80, 2},
		   {1ull << 16, 0x80, 2}};
	struct bench *b = *state;
	size_t i;

	cqn_of_bench = make_cq(b);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct umr u = {.length = 4, .flags = bad[i].flags, .offset = bad[i].offset};
		const volatile uint8_t *cqe = (const uint8_t *)b->ring_mem + i * 64;
		struct mlx5dv_devx_obj *list = create_list_mkey(b, &u.key);
		struct mlx5dv_devx_obj *qp;
		int wait;

		memset((uint8_t *)b->ring_mem + i * 64, 0xff, 64);
		b->record_mem[1] = 0;
		qp = sender(b, &u.qpn);
		post_umr(b, &u, 0);
		for (wait = 0; wait < PATIENCE_MS * 10 && cqe[63] >> 4 == 0xf; wait++)
			usleep(100);
		assert_int_equal(cqe[63] >> 4, REQ_ERR);
		assert_int_equal(cqe[55], bad[i].syndrome);
		assert_int_equal(mlx5dv_devx_obj_destroy(qp), 0);
		assert_int_equal(mlx5dv_devx_obj_destroy(list), 0);
	}
}

static void overrun_event_names_its_queue(void **state)
{
	union {
		struct mlx5dv_devx_async_event_hdr hdr;
		uint8_t raw[sizeof(uint64_t) + 64];
	} event;
	const uint8_t *eqe = event.raw + sizeof(uint64_t);
	struct bench *b = *state;
	struct mlx5dv_devx_event_channel *channel;
	uint16_t number = CQ_ERROR;
	struct mlx5dv_devx_obj *qp;
	uint32_t qpn;

	cqn_of_bench = make_small_cq(b);
	qp = connected_qp(b, &qpn);
	channel = mlx5dv_devx_create_event_channel(b->context, 0);
	assert_non_null(channel);
	assert_int_equal(
		mlx5dv_devx_subscribe_devx_event(channel, b->cq, sizeof(number), &number, 77), 0);
	post_nop(b, qpn, 0);
	post_nop(b, qpn, 1);
	assert_true(is_readable(channel->fd, PATIENCE_MS));
	assert_int_equal(mlx5dv_devx_get_event(channel, &event.hdr, sizeof(event)), sizeof(event));
	assert_int_equal(event.hdr.cookie, 77);
	assert_int_equal(eqe[1], CQ_ERROR);
	assert_int_equal(prm_get(eqe, (0x20 + 1) * 8, 24), cqn_of_bench);
	assert_false(is_readable(channel->fd, 0));
	assert_int_equal(mlx5dv_devx_obj_destroy(qp), 0);
	mlx5dv_devx_destroy_event_channel(channel);
}

static void expect_short(int fd, size_t len, int error)
{
	uint8_t bytes[4096];

	errno = 0;
	assert_int_equal(read(fd, bytes, len), -1);
	assert_int_equal(errno, error);
}

static uint64_t cookie_of_next(int fd, size_t record)
{
	uint8_t bytes[4096];
	uint64_t cookie;

	assert_int_equal(read(fd, bytes, sizeof(bytes)), record);
	memcpy(&cookie, bytes, sizeof(cookie));
	return cookie;
}

/* The CQ fails once, and two subscriptions report it. */
static void read_one_by_one(struct bench *b, int flags, size_t record)
{
	struct mlx5dv_devx_event_channel *channel;
	uint16_t number = CQ_ERROR;
	struct mlx5dv_devx_obj *qp;
	uint64_t cookies = 0;
	uint32_t qpn;
	int i;

	cqn_of_bench = make_small_cq(b);
	qp = connected_qp(b, &qpn);
	channel = mlx5dv_devx_create_event_channel(b->context, flags);
	assert_non_null(channel);
	for (i = 0; i < 2; i++)
		assert_int_equal(mlx5dv_devx_subscribe_devx_event(channel, b->cq, sizeof(number),
								  &number, 1u << i),
				 0);
	post_nop(b, qpn, 0);
	post_nop(b, qpn, 1);
	for (i = 0; i < 2; i++) {
		expect_short(channel->fd, record - 1, EINVAL);
		cookies |= cookie_of_next(channel->fd, record);
	}
	assert_int_equal(cookies, 3);
	assert_false(is_readable(channel->fd, 0));
	assert_int_equal(mlx5dv_devx_obj_destroy(qp), 0);
	mlx5dv_devx_destroy_event_channel(channel);
}

static void event_channel_gives_one_event_a_read(void **state)
{
	read_one_by_one(*state, 0, sizeof(uint64_t) + 64);
}

static void event_channel_without_data_gives_one_event_a_read(void **state)
{
	read_one_by_one(*state, MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA,
			sizeof(uint64_t));
}

/* More completions than the CQ has room for, and none of them is polled. */
static void overrun(struct bench *b, const void *ring, uint32_t entries)
{
	struct mlx5dv_devx_obj *qp;
	uint32_t qpn, i;

	qp = connected_qp(b, &qpn);
	for (i = 0; i < 3 * entries; i++) {
		post_nop(b, qpn, i);
		await_cqe(ring, entries, (uint16_t)i);
	}
	assert_int_equal(mlx5dv_devx_obj_destroy(qp), 0);
}

/* With `oi` the queue does not overrun: new completions overwrite the oldest ones. */
static void overrun_may_be_ignored(void **state)
{
	struct bench *b = *state;

	fill_cq(b);
	set(b->in + CQC, 0x63, 5, 0);
	set(b->in + CQC, 0xe, 1, 1);
	memset(b->ring_mem, 0xff, 64);
	b->cq = create(b);
	assert_non_null(b->cq);
	cqn_of_bench = prm_get(b->out, 9 * 8, 24);
	overrun(b, b->ring_mem, 1);
}

static void overrun_may_be_ignored_by_verbs(void **state)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = 1, .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS};
	struct mlx5dv_obj obj = {0};
	struct bench *b = *state;
	struct mlx5dv_cq dv;
	struct ibv_cq *cq;

	attr.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
	cq = ibv_cq_ex_to_cq(ibv_create_cq_ex(b->context, &attr));
	assert_non_null(cq);
	obj.cq.in = cq;
	obj.cq.out = &dv;
	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ), 0);
	cqn_of_bench = dv.cqn;
	overrun(b, dv.buf, dv.cqe_cnt);
	assert_int_equal(ibv_destroy_cq(cq), 0);
}

/* The device fails: posted requests are flushed, however the queue was created. */
static void die_with_a_queue(struct bench *b)
{
	const char *const argv[] = {test_options.emu, "fault", "device", NULL};
	const volatile uint8_t *cqe = b->ring_mem;
	uint32_t qpn;
	int i;

	cqn_of_bench = make_cq(b);
	connected_qp(b, &qpn);
	if (process_run(argv))
		_exit(2);
	post_nop(b, qpn, 0);
	for (i = 0; i < PATIENCE_MS * 10 && cqe[63] >> 4 != REQ_ERR; i++)
		usleep(100);
	_exit(cqe[63] >> 4 != REQ_ERR || cqe[55] != WR_FLUSH_ERR);
}

static void queues_of_a_dead_device_can_be_destroyed(void **state)
{
	const char *const argv[] = {test_options.emu, "fault", "clear", NULL};
	pid_t pid = fork();
	void *own = NULL;
	int status = 0;

	if (!pid) {
		setup(&own);
		die_with_a_queue(own);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(process_run(argv), 0);
}

/* Two subscriptions, to an eventfd and to a file without data; the object is destroyed first. */
static void armed_queue_reports_one_completion(void **state)
{
	struct bench *b = *state;
	struct mlx5dv_devx_event_channel *channel;
	uint16_t number = COMPLETION;
	struct mlx5dv_devx_obj *qp;
	uint64_t cookie = 0;
	uint32_t qpn;
	int fd;

	cqn_of_bench = make_cq(b);
	qp = connected_qp(b, &qpn);
	fd = eventfd(0, EFD_NONBLOCK);
	channel = mlx5dv_devx_create_event_channel(
		b->context, MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA);
	assert_non_null(channel);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event_fd(channel, fd, b->cq, number), 0);
	assert_int_equal(
		mlx5dv_devx_subscribe_devx_event(channel, b->cq, sizeof(number), &number, 5), 0);
	set((uint8_t *)b->record_mem, 32, 32, 0); /* armed for the first entry */
	post_nop(b, qpn, 0);
	assert_true(is_readable(fd, PATIENCE_MS));
	assert_true(is_readable(channel->fd, PATIENCE_MS));
	assert_int_equal(read(channel->fd, &cookie, sizeof(cookie)), sizeof(cookie));
	assert_int_equal(cookie, 5);
	assert_int_equal(mlx5dv_devx_obj_destroy(qp), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(b->cq), 0);
	b->cq = NULL;
	mlx5dv_devx_destroy_event_channel(channel);
	close(fd);
}

static void subscriptions_are_checked(void **state)
{
	static const uint16_t known[] = {CQ_ERROR, COMPLETION}, unknown[] = {CQ_ERROR, GENERAL};
	static const uint16_t port = PORT_CHANGE, many[17];
	struct bench *b = *state;
	struct mlx5dv_devx_event_channel *channel;
	int null = open("/dev/null", O_RDONLY);

	make_cq(b);
	channel = mlx5dv_devx_create_event_channel(
		b->context, (enum mlx5dv_devx_create_event_channel_flags)0x80);
	assert_null(channel);
	assert_int_equal(errno, EINVAL);
	channel = mlx5dv_devx_create_event_channel(b->context, 0);
	assert_non_null(channel);
#define SUBSCRIBE(obj, list) \
	mlx5dv_devx_subscribe_devx_event(channel, obj, sizeof(list), (uint16_t *)(list), 1)
	assert_int_equal(SUBSCRIBE(b->cq, known), 0);
	assert_int_equal(SUBSCRIBE(b->cq, unknown), EINVAL);
	assert_int_equal(SUBSCRIBE(b->cq, many), EINVAL);
	assert_int_equal(SUBSCRIBE(NULL, known), EINVAL);
	assert_int_equal(
		mlx5dv_devx_subscribe_devx_event(channel, NULL, sizeof(port), (uint16_t *)&port, 1),
		0);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event_fd(channel, null, b->cq, CQ_ERROR),
			 EINVAL);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event_fd(channel, 9999, b->cq, CQ_ERROR),
			 EBADF);
	mlx5dv_devx_destroy_event_channel(channel);
	close(null);
}

static void query_is_answered_later(void **state)
{
	union {
		struct mlx5dv_devx_async_cmd_hdr hdr;
		uint8_t raw[sizeof(uint64_t) + QUERY_LEN];
	} answer;
	const uint8_t *out = answer.raw + sizeof(uint64_t);
	struct bench *b = *state;
	struct mlx5dv_devx_cmd_comp *answers = mlx5dv_devx_create_cmd_comp(b->context);
	uint8_t in[16] = {0};

	assert_non_null(answers);
	set(in, 9 * 8, 24, make_cq(b));
	set(in, 0, 16, 0x402);
	assert_int_equal(mlx5dv_devx_obj_query_async(b->cq, in, sizeof(in), 0x50, 31, answers), 0);
	assert_int_equal(mlx5dv_devx_obj_query_async(b->cq, in, sizeof(in), 0x10, 32, answers), 0);
	expect_short(answers->fd, sizeof(answer.hdr) + 0x4f, ENOSPC); /* the answer stays */
	assert_int_equal(
		mlx5dv_devx_get_async_cmd_comp(answers, &answer.hdr, sizeof(answer.hdr) + 0x50), 0);
	assert_int_equal(answer.hdr.wr_id, 31);
	assert_int_equal(out[0], 0);
	assert_int_equal(prm_get(out + CQC, 0x63, 5), 4);
	/* A failed command is answered as well. */
	assert_int_equal(
		mlx5dv_devx_get_async_cmd_comp(answers, &answer.hdr, sizeof(answer.hdr) + 0x10), 0);
	assert_int_equal(answer.hdr.wr_id, 32);
	assert_int_not_equal(out[0], 0);
	set(in, 0, 16, 0x50b); /* not of a CQ */
	assert_int_equal(mlx5dv_devx_obj_query_async(b->cq, in, sizeof(in), 0x50, 33, answers),
			 EINVAL);
	mlx5dv_devx_destroy_cmd_comp(answers);
}

/*
 * Opcodes that Linux lets through reach the firmware, which does not know these; it refuses all others
 * itself (devx.c: devx_is_general_cmd(), devx_is_obj_create_cmd()).
 */
static void kernel_lets_general_commands_through(void **state)
{
	static const uint16_t passed[] = {0x760, 0x76f, 0x80a, 0x822, 0x826};
	static const uint16_t refused_by_kernel[] = {0x73a, 0x76a, 0x83d, 0xaff, 0xd00};
	struct bench *b = *state;

	memset(b->in, 0, sizeof(b->in));
	for (size_t i = 0; i < ARRAY_SIZE(passed); i++) {
		set(b->in, 0, 16, passed[i]);
		assert_int_not_equal(mlx5dv_devx_general_cmd(b->context, b->in, 16, b->out, 16), 0);
		assert_int_equal(errno, EREMOTEIO);
	}
	for (size_t i = 0; i < ARRAY_SIZE(refused_by_kernel); i++) {
		set(b->in, 0, 16, refused_by_kernel[i]);
		assert_int_not_equal(mlx5dv_devx_general_cmd(b->context, b->in, 16, b->out, 16), 0);
		assert_int_equal(errno, EINVAL);
	}
}

#define bench_test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		bench_test(kernel_lets_general_commands_through),
		bench_test(cq_is_checked),
		bench_test(qp_is_checked),
		bench_test(qp_goes_through_its_states),
		bench_test(queue_pair_in_reset_reports_port_1),
		bench_test(field_that_a_transition_leaves_0_keeps_its_value),
		bench_test(rmp_is_checked),
		bench_test(qp_holds_its_rmp),
		bench_test(qp_without_receive_queue_sends),
		bench_test(qp_without_send_queue_is_created),
		bench_test(qp_without_queues_is_created),
		bench_test(optional_parts_of_qp_are_checked),
		bench_test(qp_is_created_with_its_extension),
		bench_test(ece_is_negotiated_by_commands),
		bench_test(queries_at_open_are_answered),
		bench_test(umr_changes_entries_at_an_offset),
		bench_test(umr_at_a_bad_offset_is_refused),
		bench_test(verbs_qp_is_connected_by_command),
		bench_test(verbs_qp_is_looped_back_by_the_port_it_reports),
		bench_test(overrun_event_names_its_queue),
		bench_test(event_channel_gives_one_event_a_read),
		bench_test(event_channel_without_data_gives_one_event_a_read),
		bench_test(overrun_may_be_ignored),
		bench_test(overrun_may_be_ignored_by_verbs),
		cmocka_unit_test(queues_of_a_dead_device_can_be_destroyed),
		bench_test(armed_queue_reports_one_completion),
		bench_test(subscriptions_are_checked),
		bench_test(query_is_answered_later),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
