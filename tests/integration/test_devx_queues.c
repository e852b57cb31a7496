/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Queues made by PRM commands: what the firmware refuses, with which status, and what it holds. */
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

#define PAGE	   4096
#define CREATE_LEN 0x110
#define CQC	   0x10
#define QPC	   0x18
#define QUERY_LEN  (QPC + 0xe8)

enum { BAD_PARAM = 3, BAD_RES = 5, BAD_QP_STATE = 0x10, BAD_INP_LEN = 0x50 };

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

static uint32_t get(const uint8_t *p, unsigned int bit, unsigned int width)
{
	uint32_t v = 0;

	for (; width; width--, bit++)
		v = v << 1 | (p[bit / 8] >> (7 - bit % 8) & 1);
	return v;
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
	return get(b->out, 9 * 8, 24);
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

static void test_cq_is_checked(void **state)
{
	static const struct flaw flaws[] = {
		{CQC * 8 + 0x8, 3, BAD_PARAM, 2},	 /* size of an entry */
		{CQC * 8 + 0xe, 1, BAD_PARAM, 1},	 /* overrun ignored */
		{CQC * 8 + 0x11, 1, BAD_PARAM, 1},	 /* compression */
		{CQC * 8 + 0x63, 5, BAD_PARAM, 23},	 /* entries */
		{CQC * 8 + 0x63, 5, BAD_PARAM, 7},	 /* more than the umem holds */
		{CQC * 8 + 0x68, 24, BAD_RES, 0xffffff}, /* doorbell page */
		{CQC * 8 + 0xb8, 8, BAD_RES, 0},	 /* event queue */
		{CQC * 8 + 0x20, 32, BAD_RES, 0x7fffffff}, {0x58 * 8, 32, BAD_RES, 0x7fffffff},
		{0x50 * 8, 64, BAD_PARAM, PAGE - 64},	   {0x50 * 8, 64, BAD_PARAM, 8},
		{CQC * 8 + 0x38 * 8, 64, BAD_PARAM, 16},
	};
	struct bench *b = *state;

	refuse_each(b, fill_cq, flaws, sizeof(flaws) / sizeof(flaws[0]));
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

static void test_qp_is_checked(void **state)
{
	static const struct flaw flaws[] = {
		{QPC * 8 + 0x8, 8, BAD_PARAM, 3},	 /* service type */
		{QPC * 8 + 0x565, 3, BAD_PARAM, 1},	 /* shared receive queue */
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
	refuse_each(b, fill_qp, flaws, sizeof(flaws) / sizeof(flaws[0]));
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
	return get(b->out + QPC, 0, 4);
}

static void test_qp_goes_through_its_states(void **state)
{
	struct bench *b = *state;
	struct mlx5dv_devx_obj *qp;
	uint32_t qpn;

	cqn_of_bench = make_cq(b);
	fill_qp(b);
	qp = create(b);
	assert_non_null(qp);
	qpn = get(b->out, 9 * 8, 24);
	assert_int_equal(state_of(b, qp, qpn), 0);
	memset(b->in, 0, sizeof(b->in));
	assert_int_not_equal(modify(b, qp, 0x503, qpn), 0);
	assert_int_equal(b->out[0], BAD_QP_STATE);
	assert_int_not_equal(modify(b, qp, 0x502, qpn), 0); /* no port */
	assert_int_equal(b->out[0], BAD_PARAM);
	set(b->in + QPC + 0x18, 0x128, 8, 1);
	assert_int_equal(modify(b, qp, 0x502, qpn + 1), EINVAL);
	assert_int_equal(modify(b, qp, 0x502, qpn), 0);
	assert_int_equal(state_of(b, qp, qpn), 1);
	memset(b->in, 0, sizeof(b->in));
	set(b->in + QPC + 0x18, 0x128, 8, 1);
	assert_int_not_equal(modify(b, qp, 0x503, qpn), 0); /* no MTU */
	assert_int_equal(b->out[0], BAD_PARAM);
	set(b->in + QPC, 0x40, 3, 3);
	set(b->in + QPC, 0xa8, 24, qpn);
	assert_int_equal(modify(b, qp, 0x503, qpn), 0);
	assert_int_equal(modify(b, qp, 0x504, qpn), 0);
	assert_int_equal(state_of(b, qp, qpn), 3);
	assert_int_equal(modify(b, qp, 0x507, qpn), 0);
	assert_int_equal(state_of(b, qp, qpn), 6);
	assert_int_equal(modify(b, qp, 0x50a, qpn), 0);
	assert_int_equal(state_of(b, qp, qpn), 0);
	/* What it stands on stays. */
	assert_int_not_equal(mlx5dv_devx_obj_destroy(b->cq), 0);
	assert_int_not_equal(mlx5dv_devx_umem_dereg(b->ring), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(qp), 0);
}

#define bench_test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		bench_test(test_cq_is_checked),
		bench_test(test_qp_is_checked),
		bench_test(test_qp_goes_through_its_states),
	};

	rig_parse(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
