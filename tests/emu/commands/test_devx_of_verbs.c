/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* PRM commands on queues that verbs create: what their contexts say, and what the commands change. */
#include <fcntl.h>
#include <infiniband/mlx5dv.h>
#include <string.h>

#include "devx_context.h"
#include "fixture.h"
#include "prm.h"

#define HEADER_LEN	16u
#define COMMAND_LEN	0x110u
#define CMD_QUERY_RMP	0x90f
#define CMD_ARM_XRC_SRQ 0x708
/* The contexts of completion queues and of XRC shared receive queues are at 0x10 of an answer. */
#define CQC_LOG_CQ_SIZE	 AT(0x10, 0x63, 5)
#define CQC_CQ_PERIOD	 AT(0x10, 0x84, 12)
#define CQC_CQ_MAX_COUNT AT(0x10, 0x90, 16)
#define CQC_OI		 AT(0x10, 0xe, 1)
#define QPC_PM_STATE	 AT(0x18, 0x13, 2)
#define QPC_LOG_SQ_SIZE	 AT(0x18, 0x51, 4)
#define WQ_LOG_SIZE	 AT(0x50, 0x11b, 5)
#define WQ_LOG_STRIDE	 AT(0x50, 0x10c, 4)
#define XRC_LOG_SIZE	 AT(0x10, 0x4, 4)
#define XRC_USER_INDEX	 AT(0x10, 0x88, 24)
#define FIELD_SELECT	 0x60, 32
#define PERIOD_AND_COUNT 3u

struct bench {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	uint8_t in[COMMAND_LEN], out[0x200];
};

static uint32_t cqn_of(struct ibv_cq *cq)
{
	struct mlx5dv_cq dv = {0};
	struct mlx5dv_obj obj = {.cq = {.in = cq, .out = &dv}};

	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ), 0);
	return dv.cqn;
}

static uint32_t srqn_of(struct ibv_srq *srq)
{
	struct mlx5dv_srq dv = {.comp_mask = MLX5DV_SRQ_MASK_SRQN};
	struct mlx5dv_obj obj = {.srq = {.in = srq, .out = &dv}};

	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_SRQ), 0);
	return dv.srqn;
}

static void command(struct bench *b, uint16_t opcode, uint32_t number)
{
	memset(b->in, 0, sizeof(b->in));
	prm_put(b->in, IN_OPCODE, opcode);
	prm_put(b->in, IN_NUMBER, number);
}

static int query_cq(struct bench *b, uint32_t cqn)
{
	command(b, CMD_QUERY_CQ, cqn);
	return mlx5dv_devx_cq_query(b->cq, b->in, HEADER_LEN, b->out, sizeof(b->out));
}

static int query_srq(struct bench *b, struct ibv_srq *srq, uint16_t opcode, uint32_t srqn)
{
	command(b, opcode, srqn);
	return mlx5dv_devx_srq_query(srq, b->in, HEADER_LEN, b->out, sizeof(b->out));
}

static void cq_has_the_size_that_it_got(void **state)
{
	struct bench *b = *state;

	assert_int_equal(query_cq(b, cqn_of(b->cq)), 0);
	assert_int_equal(prm_get(b->out, CQC_LOG_CQ_SIZE), 3);
	assert_int_equal(prm_get(b->out, CQC_OI), 0);
	assert_int_equal(ibv_resize_cq(b->cq, 100), 0);
	assert_int_equal(query_cq(b, cqn_of(b->cq)), 0);
	assert_int_equal(prm_get(b->out, CQC_LOG_CQ_SIZE), 7);
	assert_int_not_equal(query_cq(b, cqn_of(b->cq) + 1), 0);
}

static void cq_is_moderated_by_verbs_and_by_command(void **state)
{
	struct ibv_modify_cq_attr attr = {.attr_mask = IBV_CQ_ATTR_MODERATE,
					  .moderate = {.cq_count = 5, .cq_period = 6}};
	struct bench *b = *state;
	uint32_t cqn = cqn_of(b->cq);

	assert_int_equal(ibv_modify_cq(b->cq, &attr), 0);
	assert_int_equal(query_cq(b, cqn), 0);
	assert_int_equal(prm_get(b->out, CQC_CQ_MAX_COUNT), 5);
	assert_int_equal(prm_get(b->out, CQC_CQ_PERIOD), 6);
	command(b, CMD_MODIFY_CQ, cqn);
	prm_put(b->in, FIELD_SELECT, PERIOD_AND_COUNT);
	prm_put(b->in, CQC_CQ_MAX_COUNT, 7);
	prm_put(b->in, CQC_CQ_PERIOD, 8);
	assert_int_equal(mlx5dv_devx_cq_modify(b->cq, b->in, sizeof(b->in), b->out, HEADER_LEN), 0);
	assert_int_equal(query_cq(b, cqn), 0);
	assert_int_equal(prm_get(b->out, CQC_CQ_MAX_COUNT), 7);
	assert_int_equal(prm_get(b->out, CQC_CQ_PERIOD), 8);
}

static void qp_has_what_the_driver_sets(void **state)
{
	struct bench *b = *state;
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = b->cq,
		.recv_cq = b->cq,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
	};
	struct ibv_qp *qp = ibv_create_qp(b->pd, &init);

	assert_non_null(qp);
	command(b, CMD_QUERY_QP, qp->qp_num);
	assert_int_equal(mlx5dv_devx_qp_query(qp, b->in, HEADER_LEN, b->out, sizeof(b->out)), 0);
	assert_int_equal(prm_get(b->out, QPC_PM_STATE), 3); /* migrated */
	assert_in_range(prm_get(b->out, QPC_LOG_SQ_SIZE), 1, 15);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void srq_is_a_memory_pool(void **state)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 20, .max_sge = 1}};
	struct bench *b = *state;
	struct ibv_srq *srq = ibv_create_srq(b->pd, &init);
	uint32_t srqn;

	assert_non_null(srq);
	srqn = srqn_of(srq);
	assert_int_equal(query_srq(b, srq, CMD_QUERY_RMP, srqn), 0);
	assert_in_range(prm_get(b->out, WQ_LOG_SIZE), 5, 6); /* libmlx5 may add room */
	assert_int_equal(prm_get(b->out, WQ_LOG_STRIDE), 5);
	assert_int_not_equal(query_srq(b, srq, CMD_QUERY_RMP, srqn + 1), 0);
	assert_int_not_equal(query_srq(b, srq, CMD_QUERY_XRC_SRQ, srqn), 0);
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

static void xrc_srq_is_read_and_armed_by_command(void **state)
{
	struct bench *b = *state;
	struct ibv_xrcd_init_attr domain = {.comp_mask = IBV_XRCD_INIT_ATTR_FD |
							 IBV_XRCD_INIT_ATTR_OFLAGS,
					    .fd = -1,
					    .oflags = O_CREAT};
	struct ibv_xrcd *xrcd = ibv_open_xrcd(b->context, &domain);
	struct ibv_srq_init_attr_ex init = {
		.attr = {.max_wr = 10, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.pd = b->pd,
		.xrcd = xrcd,
		.cq = b->cq,
	};
	struct ibv_srq *srq;
	uint32_t srqn;

	assert_non_null(xrcd);
	srq = ibv_create_srq_ex(b->context, &init);
	assert_non_null(srq);
	assert_int_equal(ibv_get_srq_num(srq, &srqn), 0);
	assert_int_equal(query_srq(b, srq, CMD_QUERY_XRC_SRQ, srqn), 0);
	assert_in_range(prm_get(b->out, XRC_LOG_SIZE), 4, 5);
	assert_int_not_equal(prm_get(b->out, XRC_USER_INDEX), 0xffffff);
	assert_int_not_equal(query_srq(b, srq, CMD_QUERY_RMP, srqn), 0);
	command(b, CMD_ARM_XRC_SRQ, srqn);
	prm_put(b->in, IN_OP_MOD, 1);
	prm_put(b->in, 0x70, 16, 1);
	assert_int_equal(mlx5dv_devx_srq_modify(srq, b->in, HEADER_LEN, b->out, HEADER_LEN), 0);
	assert_int_equal(ibv_destroy_srq(srq), 0);
	assert_int_equal(ibv_close_xrcd(xrcd), 0);
}

static int setup(void **state)
{
	static struct bench b;

	b.context = open_devx();
	b.pd = ibv_alloc_pd(b.context);
	b.cq = ibv_create_cq(b.context, 7, NULL, NULL, 0);
	*state = &b;
	return b.pd && b.cq ? 0 : -1;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	return ibv_destroy_cq(b->cq) || ibv_dealloc_pd(b->pd) || ibv_close_device(b->context);
}

#define bench_test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		bench_test(cq_has_the_size_that_it_got),
		bench_test(cq_is_moderated_by_verbs_and_by_command),
		bench_test(qp_has_what_the_driver_sets),
		bench_test(srq_is_a_memory_pool),
		bench_test(xrc_srq_is_read_and_armed_by_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
