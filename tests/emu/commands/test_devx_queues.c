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
#include "devx_context.h"
#include "fixture.h"
#include "prm.h"

#define PAGE	   4096
#define HEADER_LEN 16u
/* CREATE_QP, and with the extension of the QP context. */
#define CREATE_QP_LEN	    0x110
#define CREATE_LEN	    0x1d0
#define CREATE_CQ_TOO_SHORT 0x60
/* The bytes where the contexts begin, in commands and in answers to queries. */
#define CQC	     0x10
#define QPC	     0x18
#define QUERY_CQ_LEN 0x50
#define QUERY_LEN    (QPC + 0xe8)

/* In the CQ context; those of CREATE_CQ are from the start of the command. */
#define CQC_CQE_SZ		0x8, 3
#define CQC_OI			0xe, 1
#define CQC_CQ_PERIOD_MODE	0xf, 2
#define CQC_COMPRESSION_FORMAT	0x11, 3 /* cqe_comp_en, mini_cqe_res_format */
#define CQC_MINI_CQE_RES_FORMAT 0x12, 2
#define CQC_COMPRESSION_LAYOUT	0x11, 15 /* from cqe_comp_en to cqe_compression_layout */
#define CQC_CQE_COMP_LAYOUT	0x1e, 2
#define CQC_DBR_UMEM_ID		0x20, 32
#define CQC_LOG_CQ_SIZE		0x63, 5
#define CQC_UAR_PAGE		0x68, 24
#define CQC_CQ_PERIOD		0x84, 12
#define CQC_CQ_MAX_COUNT	0x90, 16
#define CQC_C_EQN		0xb8, 8
#define CQC_DBR_ADDR		0x1c0, 64
#define MODIFY_CQ_FIELD_SELECT	0x60, 32
#define CREATE_CQ_UMEM_OFFSET	0x280, 64
#define CREATE_CQ_UMEM_ID	0x2c0, 32

/* In the QP context; those of CREATE_QP and of the transitions are from the start of the command. */
#define QPC_STATE	      0x0, 4
#define QPC_ST		      0x8, 8
#define QPC_WQ_SIGNATURE      0x20, 1
#define QPC_PD		      0x28, 24
#define QPC_MTU		      0x40, 3
#define QPC_LOG_MSG_MAX	      0x43, 5
#define QPC_LOG_RQ_SIZE	      0x49, 4
#define QPC_LOG_RQ_STRIDE     0x4d, 3
#define QPC_NO_SQ	      0x50, 1
#define QPC_LOG_SQ_SIZE	      0x51, 4
#define QPC_UAR_PAGE	      0x68, 24
#define QPC_REMOTE_QPN	      0xa8, 24
#define QPC_LOG_SRA_MAX	      0x388, 3
#define QPC_RETRY_COUNT	      0x38d, 3
#define QPC_RNR_RETRY	      0x390, 3
#define QPC_NEXT_SEND_PSN     0x3c8, 24
#define QPC_CQN_SND	      0x3e8, 24
#define QPC_LOG_RRA_MAX	      0x488, 3
#define QPC_RRE		      0x490, 1
#define QPC_RWE		      0x491, 1
#define QPC_RAE		      0x492, 1
#define QPC_MIN_RNR_NAK	      0x4a3, 5
#define QPC_NEXT_RCV_PSN      0x4a8, 24
#define QPC_USER_INDEX	      0x88, 24
#define QPC_CQN_RCV	      0x4e8, 24
#define QPC_DBR_ADDR	      0x500, 64
#define QPC_RQ_TYPE	      0x565, 3
#define QPC_SRQN_RMPN_XRQN    0x568, 24
#define QPC_DBR_UMEM_ID	      0x720, 32
#define CREATE_QP_QPC_EXT     0x40, 1
#define IN_ECE		      0xa0, 32 /* of CREATE_QP and of the transitions */
#define CREATE_QP_UMEM_OFFSET 0x800, 64
#define CREATE_QP_UMEM_ID     0x840, 32
#define CREATE_QP_MMO	      0x882, 1
#define MODIFY_OPT_PARAM_MASK 0x80, 32
#define OUT_ECE		      0x60, 32

/* The primary address path is a structure in the QP context. */
#define ADS		   0x18
#define PATH(field)	   AT(ADS, field)
#define ADS_FL		   0x0, 1
#define ADS_ACK_TIMEOUT	   0x40, 5
#define ADS_SRC_ADDR_INDEX 0x48, 8
#define ADS_HOP_LIMIT	   0x58, 8
#define ADS_RGID_RIP	   0x10 /* a byte */
#define ADS_VHCA_PORT_NUM  0x128, 8

enum { STATE_RST, STATE_INIT, STATE_RTR, STATE_RTS, STATE_ERR = 6 };
enum { ST_UD = 2 };
enum { RQ_REGULAR, RQ_SHARED, RQ_INVALID, RQ_NONE };

#define COMPRESSED     0x4000 /* cqe_comp_en in CQC_COMPRESSION_LAYOUT */
#define OPTPAR_RWE     (1u << 3)
#define MISSING_NUMBER 0xffffff
#define MISSING_UMEM   0x7fffffff
#define NO_USER_INDEX  0xffffff
#define LOG_MSG_MAX    30

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
	prm_put(b->in, IN_OPCODE, CMD_CREATE_CQ);
	prm_put(b->in + CQC, CQC_LOG_CQ_SIZE, 4);
	prm_put(b->in + CQC, CQC_UAR_PAGE, b->uar->page_id);
	prm_put(b->in + CQC, CQC_C_EQN, b->eqn);
	prm_put(b->in + CQC, CQC_DBR_UMEM_ID, b->records->umem_id);
	prm_put(b->in, CREATE_CQ_UMEM_ID, b->ring->umem_id);
}

static struct mlx5dv_devx_obj *create(struct bench *b)
{
	return mlx5dv_devx_obj_create(b->context, b->in, sizeof(b->in), b->out, HEADER_LEN);
}

static void refused(struct bench *b, uint8_t status)
{
	assert_null(create(b));
	assert_int_equal(errno, EREMOTEIO);
	assert_int_equal(b->out[OUT_STATUS], status);
}

static uint32_t make_cq(struct bench *b)
{
	fill_cq(b);
	b->cq = create(b);
	assert_non_null(b->cq);
	return prm_get(b->out, OUT_NUMBER);
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
		prm_put(b->in, f[i].bit, f[i].width, f[i].value);
		refused(b, f[i].status);
	}
}

static void a_cq_with_an_invalid_field_is_refused(void **state)
{
	static const struct flaw flaws[] = {
		{AT(CQC, CQC_CQE_SZ), BAD_PARAM, 3},		 /* size of an entry */
		{AT(CQC, CQC_CQ_PERIOD_MODE), BAD_PARAM, 1},	 /* periods that begin with a CQE */
		{AT(CQC, CQC_COMPRESSION_FORMAT), BAD_PARAM, 6}, /* an invalid compression format */
		{AT(CQC, CQC_MINI_CQE_RES_FORMAT), BAD_PARAM, 1}, /* a format, but not compressed */
		{AT(CQC, CQC_COMPRESSION_LAYOUT), BAD_PARAM,
		 COMPRESSED | 2},			      /* compressed in another layout */
		{AT(CQC, CQC_CQE_COMP_LAYOUT), BAD_PARAM, 1}, /* another layout */
		{AT(CQC, CQC_COMPRESSION_LAYOUT), BAD_PARAM, COMPRESSED | 1},
		{AT(CQC, CQC_LOG_CQ_SIZE), BAD_PARAM, 23},	  /* entries */
		{AT(CQC, CQC_LOG_CQ_SIZE), BAD_PARAM, 7},	  /* more than the umem holds */
		{AT(CQC, CQC_UAR_PAGE), BAD_RES, MISSING_NUMBER}, /* doorbell page */
		{AT(CQC, CQC_DBR_UMEM_ID), BAD_RES, MISSING_UMEM},
		{CREATE_CQ_UMEM_ID, BAD_RES, MISSING_UMEM},
		{CREATE_CQ_UMEM_OFFSET, BAD_PARAM, PAGE - 64},
		{CREATE_CQ_UMEM_OFFSET, BAD_PARAM, 8},
		{AT(CQC, CQC_DBR_ADDR), BAD_PARAM, 2 * PAGE},
	};
	static const uint8_t compressed[] = {4, 5, 7}; /* with hash, checksum, stride index too */
	struct bench *b = *state;

	refuse_each(b, fill_cq, flaws, ARRAY_SIZE(flaws));
	for (size_t i = 0; i < sizeof(compressed); i++) {
		fill_cq(b);
		prm_put(b->in + CQC, CQC_COMPRESSION_FORMAT, compressed[i]);
		b->cq = create(b);
		assert_non_null(b->cq);
		assert_int_equal(mlx5dv_devx_obj_destroy(b->cq), 0);
		b->cq = NULL;
	}
	fill_cq(b);
	prm_put(b->in + CQC, CQC_CQE_SZ, 2); /* CQEs of 64 bytes, padded to 128 */
	b->cq = create(b);
	assert_non_null(b->cq);
	assert_int_equal(mlx5dv_devx_obj_destroy(b->cq), 0);
	b->cq = NULL;
	fill_cq(b);
	prm_put(b->in + CQC, CQC_C_EQN, 0); /* the kernel has no such event queue */
	assert_null(create(b));
	assert_int_equal(errno, ENOENT);
	fill_cq(b);
	assert_null(
		mlx5dv_devx_obj_create(b->context, b->in, CREATE_CQ_TOO_SHORT, b->out, HEADER_LEN));
	assert_int_equal(b->out[OUT_STATUS], BAD_INP_LEN);
}

/* Change the CQ; the context is from b->in. Returns the status. */
static uint8_t modify_cq(struct bench *b, uint16_t op_mod, uint32_t select)
{
	uint8_t out[HEADER_LEN] = {0};
	int err;

	prm_put(b->in, IN_OPCODE, CMD_MODIFY_CQ);
	prm_put(b->in, IN_OP_MOD, op_mod);
	prm_put(b->in, MODIFY_CQ_FIELD_SELECT, select);
	err = mlx5dv_devx_obj_modify(b->cq, b->in, CREATE_QP_LEN, out, sizeof(out));
	assert_true(!err == !out[OUT_STATUS]);
	return out[OUT_STATUS];
}

static void query_cq(struct bench *b, uint32_t cqn, uint8_t out[QUERY_CQ_LEN])
{
	uint8_t in[HEADER_LEN] = {0};

	prm_put(in, IN_OPCODE, CMD_QUERY_CQ);
	prm_put(in, IN_NUMBER, cqn);
	assert_int_equal(mlx5dv_devx_obj_query(b->cq, in, sizeof(in), out, QUERY_CQ_LEN), 0);
}

static void a_cq_gets_another_ring_and_moderation(void **state)
{
	uint8_t out[QUERY_CQ_LEN] = {0};
	struct bench *b = *state;
	uint32_t cqn = make_cq(b);

	memset(b->in, 0, sizeof(b->in));
	prm_put(b->in, IN_NUMBER, cqn);
	prm_put(b->in + CQC, CQC_CQ_PERIOD, 20);
	prm_put(b->in + CQC, CQC_CQ_MAX_COUNT, 5);
	assert_int_equal(modify_cq(b, 0, 3), 0);
	query_cq(b, cqn, out);
	assert_int_equal(prm_get(out + CQC, CQC_CQ_PERIOD), 20);
	assert_int_equal(prm_get(out + CQC, CQC_CQ_MAX_COUNT), 5);
	prm_put(b->in + CQC, CQC_LOG_CQ_SIZE, 3);
	prm_put(b->in, CREATE_CQ_UMEM_ID, b->ring->umem_id);
	assert_int_equal(modify_cq(b, 1, 3), BAD_PARAM); /* not all fields of a resize */
	assert_int_equal(modify_cq(b, 2, 7), BAD_OP);
	prm_put(b->in, CREATE_CQ_UMEM_ID, MISSING_UMEM);
	assert_int_equal(modify_cq(b, 1, 7), BAD_RES);
	prm_put(b->in, CREATE_CQ_UMEM_ID, b->ring->umem_id);
	assert_int_equal(modify_cq(b, 1, 7), 0);
	query_cq(b, cqn, out);
	assert_int_equal(prm_get(out + CQC, CQC_LOG_CQ_SIZE), 3);
}

static uint32_t cqn_of_bench;

/* 4 receive WQEs of 64 bytes and 4 blocks to send, in the ring's second KiB. */
static void fill_qp(struct bench *b)
{
	memset(b->in, 0, sizeof(b->in));
	prm_put(b->in, IN_OPCODE, CMD_CREATE_QP);
	prm_put(b->in + QPC, QPC_PD, b->pdn);
	prm_put(b->in + QPC, QPC_LOG_RQ_SIZE, 2);
	prm_put(b->in + QPC, QPC_LOG_RQ_STRIDE, 2);
	prm_put(b->in + QPC, QPC_LOG_SQ_SIZE, 2);
	prm_put(b->in + QPC, QPC_UAR_PAGE, b->uar->page_id);
	prm_put(b->in + QPC, QPC_CQN_SND, cqn_of_bench);
	prm_put(b->in + QPC, QPC_CQN_RCV, cqn_of_bench);
	prm_put(b->in + QPC, QPC_DBR_ADDR, 8);
	prm_put(b->in + QPC, QPC_DBR_UMEM_ID, b->records->umem_id);
	prm_put(b->in, CREATE_QP_UMEM_OFFSET, 1024);
	prm_put(b->in, CREATE_QP_UMEM_ID, b->ring->umem_id);
}

static void a_qp_with_an_invalid_field_is_refused(void **state)
{
	static const struct flaw flaws[] = {
		{AT(QPC, QPC_ST), BAD_PARAM, 3}, /* service type */
		{AT(QPC, QPC_WQ_SIGNATURE), BAD_PARAM, 1},
		{AT(QPC, QPC_RQ_TYPE), BAD_RES, RQ_SHARED}, /* missing shared receive queue */
		{AT(QPC, QPC_RQ_TYPE), BAD_PARAM, RQ_INVALID},
		{AT(QPC, QPC_PD), BAD_RES, MISSING_NUMBER}, /* protection domain */
		{AT(QPC, QPC_CQN_SND), BAD_RES, MISSING_NUMBER},
		{AT(QPC, QPC_CQN_RCV), BAD_RES, MISSING_NUMBER},
		{AT(QPC, QPC_UAR_PAGE), BAD_RES, MISSING_NUMBER},
		{AT(QPC, QPC_DBR_UMEM_ID), BAD_RES, MISSING_UMEM},
		{CREATE_QP_UMEM_ID, BAD_RES, MISSING_UMEM},
		{AT(QPC, QPC_LOG_SQ_SIZE), BAD_PARAM, 6}, /* more than the umem holds */
		{AT(QPC, QPC_DBR_ADDR), BAD_PARAM, 4},
	};
	struct bench *b = *state;

	cqn_of_bench = make_cq(b);
	refuse_each(b, fill_qp, flaws, ARRAY_SIZE(flaws));
	fill_qp(b);
	prm_put(b->in + QPC, QPC_LOG_RQ_SIZE, 0);   /* one receive request, */
	prm_put(b->in + QPC, QPC_LOG_RQ_STRIDE, 6); /* beyond max_wqe_sz_rq */
	assert_null(create(b));
	assert_int_equal(b->out[OUT_STATUS], BAD_PARAM);
}

static void a_datagram_qp_is_created(void **state)
{
	struct bench *b = *state;
	struct mlx5dv_devx_obj *qp;

	cqn_of_bench = make_cq(b);
	fill_qp(b);
	prm_put(b->in + QPC, QPC_ST, ST_UD);
	qp = create(b);
	assert_non_null(qp);
	assert_int_equal(mlx5dv_devx_obj_destroy(qp), 0);
}

static int modify(struct bench *b, struct mlx5dv_devx_obj *qp, uint16_t opcode, uint32_t qpn)
{
	prm_put(b->in, IN_OPCODE, opcode);
	prm_put(b->in, IN_NUMBER, qpn);
	return mlx5dv_devx_obj_modify(qp, b->in, sizeof(b->in), b->out, HEADER_LEN);
}

static uint32_t state_of(struct bench *b, struct mlx5dv_devx_obj *qp, uint32_t qpn)
{
	memset(b->in, 0, sizeof(b->in));
	prm_put(b->in, IN_OPCODE, CMD_QUERY_QP);
	prm_put(b->in, IN_NUMBER, qpn);
	assert_int_equal(mlx5dv_devx_obj_query(qp, b->in, HEADER_LEN, b->out, sizeof(b->out)), 0);
	return prm_get(b->out + QPC, QPC_STATE);
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
	qpn = prm_get(b->out, OUT_NUMBER);
	assert_int_equal(state_of(b, qp, qpn), STATE_RST);
	memset(b->in, 0, sizeof(b->in));
	assert_int_not_equal(modify(b, qp, CMD_INIT2RTR_QP, qpn), 0);
	assert_int_equal(b->out[OUT_STATUS], BAD_QP_STATE);
	assert_int_not_equal(modify(b, qp, CMD_RST2INIT_QP, qpn), 0); /* invalid port */
	assert_int_equal(b->out[OUT_STATUS], BAD_PARAM);
	prm_put(b->in + QPC, PATH(ADS_VHCA_PORT_NUM), 1);
	assert_int_equal(modify(b, qp, CMD_RST2INIT_QP, qpn + 1), EINVAL);
	assert_int_equal(modify(b, qp, CMD_RST2INIT_QP, qpn), 0);
	assert_int_equal(state_of(b, qp, qpn), STATE_INIT);
	memset(b->in, 0, sizeof(b->in));
	prm_put(b->in + QPC, PATH(ADS_VHCA_PORT_NUM), 1);
	assert_int_not_equal(modify(b, qp, CMD_INIT2RTR_QP, qpn), 0); /* invalid MTU */
	assert_int_equal(b->out[OUT_STATUS], BAD_PARAM);
	prm_put(b->in + QPC, QPC_MTU, IBV_MTU_1024);
	prm_put(b->in + QPC, QPC_REMOTE_QPN, qpn);
	prm_put(b->in + QPC, QPC_LOG_RRA_MAX, 5); /* beyond log_max_ra_res_qp */
	assert_int_not_equal(modify(b, qp, CMD_INIT2RTR_QP, qpn), 0);
	assert_int_equal(b->out[OUT_STATUS], BAD_PARAM);
	prm_put(b->in + QPC, QPC_LOG_RRA_MAX, 4);
	assert_int_equal(modify(b, qp, CMD_INIT2RTR_QP, qpn), 0);
	prm_put(b->in + QPC, QPC_LOG_SRA_MAX, 5); /* beyond log_max_ra_req_qp */
	assert_int_not_equal(modify(b, qp, CMD_RTR2RTS_QP, qpn), 0);
	assert_int_equal(b->out[OUT_STATUS], BAD_PARAM);
	prm_put(b->in + QPC, QPC_LOG_SRA_MAX, 4);
	assert_int_equal(modify(b, qp, CMD_RTR2RTS_QP, qpn), 0);
	assert_int_equal(state_of(b, qp, qpn), STATE_RTS);
	assert_int_equal(modify(b, qp, CMD_2ERR_QP, qpn), 0);
	assert_int_equal(state_of(b, qp, qpn), STATE_ERR);
	assert_int_equal(modify(b, qp, CMD_2RST_QP, qpn), 0);
	assert_int_equal(state_of(b, qp, qpn), STATE_RST);
	/* Objects that it depends on cannot be destroyed. */
	assert_int_not_equal(mlx5dv_devx_obj_destroy(b->cq), 0);
	assert_int_not_equal(mlx5dv_devx_umem_dereg(b->ring), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(qp), 0);
}

static uint64_t port_of(const uint8_t *qpc)
{
	return prm_get(qpc, PATH(ADS_VHCA_PORT_NUM));
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
	assert_int_equal(state_of(b, qp, prm_get(b->out, OUT_NUMBER)), STATE_RST);
	assert_int_equal(port_of(b->out + QPC), 1);
	assert_int_equal(ibv_query_port(b->context, (uint8_t)port_of(b->out + QPC), &port), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(qp), 0);
}

struct field {
	uint16_t bit;
	uint8_t width;
	uint8_t value;
};

/* What each transition sets; all but the first leave 0 what an earlier one has set. */
static const struct field set_by_init[] = {
	{QPC_RRE, 1},		      /* remote reads */
	{QPC_RWE, 1},		      /* remote writes */
	{QPC_RAE, 1},		      /* atomics */
	{PATH(ADS_VHCA_PORT_NUM), 1}, /* port */
	{0, 0, 0},
};
static const struct field set_by_rtr[] = {
	{PATH(ADS_FL), 1},		/* forced loopback */
	{PATH(ADS_SRC_ADDR_INDEX), 2},	/* index of a GID, which loopback does not need */
	{PATH(ADS_HOP_LIMIT), 64},	/* hop limit */
	{QPC_MTU, IBV_MTU_1024},	/* MTU */
	{QPC_LOG_MSG_MAX, LOG_MSG_MAX}, /* longest message */
	{QPC_REMOTE_QPN, 77},		/* the peer */
	{QPC_LOG_RRA_MAX, 4},		/* reads and atomics as a responder */
	{QPC_MIN_RNR_NAK, 12},		/* RNR timer */
	{QPC_NEXT_RCV_PSN, 99},		/* first packet of the peer */
	{0, 0, 0},
};
static const struct field set_by_rts[] = {
	{PATH(ADS_ACK_TIMEOUT), 14}, /* timeout */
	{QPC_LOG_SRA_MAX, 4},	     /* reads and atomics as a requester */
	{QPC_RETRY_COUNT, 7},	     /* retries */
	{QPC_RNR_RETRY, 6},	     /* RNR retries */
	{QPC_NEXT_SEND_PSN, 98},     /* first packet */
	{0, 0, 0},
};

static void set_fields(struct bench *b, const struct field *f)
{
	memset(b->in, 0, sizeof(b->in));
	for (; f->width; f++)
		prm_put(b->in + QPC, f->bit, f->width, f->value);
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
	qpn = prm_get(b->out, OUT_NUMBER);
	set_fields(b, set_by_init);
	assert_int_equal(modify(b, qp, CMD_RST2INIT_QP, qpn), 0);
	set_fields(b, set_by_rtr);
	assert_int_equal(modify(b, qp, CMD_INIT2RTR_QP, qpn), 0);
	set_fields(b, set_by_rts);
	assert_int_equal(modify(b, qp, CMD_RTR2RTS_QP, qpn), 0);
	set_fields(b, &(struct field){0, 0, 0});
	assert_int_equal(modify(b, qp, CMD_RTS2RTS_QP, qpn), 0);
	assert_int_equal(state_of(b, qp, qpn), STATE_RTS);
	expect_fields(b, set_by_init);
	expect_fields(b, set_by_rtr);
	expect_fields(b, set_by_rts);
	assert_int_equal(mlx5dv_devx_obj_destroy(qp), 0);
}

/* --- receive memory pools --------------------------------------------------------------------- */

#define RMPC	       0x20
#define WQ	       (RMPC + 0x30)
#define RMPC_STATE     0x8, 4
#define WQ_TYPE	       0x0, 4
#define WQ_SIGNATURE   0x4, 1
#define WQ_PD	       0x48, 24
#define WQ_DBR_ADDR    0x80, 64
#define WQ_LOG_STRIDE  0x10c, 4
#define WQ_LOG_SIZE    0x11b, 5
#define WQ_DBR_UMEM_ID 0x140, 32
#define WQ_UMEM_ID     0x160, 32
#define WQ_UMEM_OFFSET 0x180, 64

#define RMPC_STATE_RDY 1
#define WQ_TYPE_CYCLIC 1

/* 8 WQEs of 64 bytes in the ring's third KiB. */
static void fill_rmp(struct bench *b)
{
	memset(b->in, 0, sizeof(b->in));
	prm_put(b->in, IN_OPCODE, CMD_CREATE_RMP);
	prm_put(b->in + RMPC, RMPC_STATE, RMPC_STATE_RDY);
	prm_put(b->in + WQ, WQ_TYPE, WQ_TYPE_CYCLIC);
	prm_put(b->in + WQ, WQ_PD, b->pdn);
	prm_put(b->in + WQ, WQ_DBR_ADDR, 8);
	prm_put(b->in + WQ, WQ_LOG_STRIDE, 6);
	prm_put(b->in + WQ, WQ_LOG_SIZE, 3);
	prm_put(b->in + WQ, WQ_DBR_UMEM_ID, b->records->umem_id);
	prm_put(b->in + WQ, WQ_UMEM_ID, b->ring->umem_id);
	prm_put(b->in + WQ, WQ_UMEM_OFFSET, 2048);
}

static void an_rmp_with_an_invalid_field_is_refused(void **state)
{
	static const struct flaw flaws[] = {
		{AT(RMPC, RMPC_STATE), BAD_PARAM, 0}, /* not ready */
		{AT(WQ, WQ_TYPE), BAD_PARAM, 2},      /* several packets in a WQE */
		{AT(WQ, WQ_SIGNATURE), BAD_PARAM, 1}, /* signatures */
		{AT(WQ, WQ_LOG_STRIDE), BAD_PARAM, 4},
		{AT(WQ, WQ_LOG_SIZE), BAD_PARAM, 16},
		{AT(WQ, WQ_LOG_SIZE), BAD_PARAM, 6}, /* more than the umem holds */
		{AT(WQ, WQ_PD), BAD_RES, MISSING_NUMBER},
		{AT(WQ, WQ_DBR_UMEM_ID), BAD_RES, MISSING_UMEM},
		{AT(WQ, WQ_UMEM_ID), BAD_RES, MISSING_UMEM},
		{AT(WQ, WQ_DBR_ADDR), BAD_PARAM, 12},
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
	rmpn = prm_get(b->out, OUT_NUMBER);
	cqn_of_bench = make_cq(b);
	fill_qp(b);
	prm_put(b->in + QPC, QPC_RQ_TYPE, RQ_SHARED);
	prm_put(b->in + QPC, QPC_SRQN_RMPN_XRQN, rmpn);
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
	prm_put(b->in, IN_OPCODE, CMD_INIT2RTR_QP);
	prm_put(b->in, IN_NUMBER, qp->qp_num);
	prm_put(b->in, MODIFY_OPT_PARAM_MASK, OPTPAR_RWE);
	prm_put(b->in + QPC, QPC_RWE, 1);
	prm_put(b->in + QPC, PATH(ADS_VHCA_PORT_NUM), 1);
	assert_int_not_equal(mlx5dv_devx_qp_modify(qp, b->in, sizeof(b->in), b->out, HEADER_LEN),
			     0);
	assert_int_equal(b->out[OUT_STATUS], BAD_PARAM); /* invalid MTU */
	prm_put(b->in + QPC, QPC_MTU, IBV_MTU_1024);
	prm_put(b->in + QPC, QPC_REMOTE_QPN, 0x123);
	assert_int_equal(mlx5dv_devx_qp_modify(qp, b->in, sizeof(b->in), b->out, HEADER_LEN), 0);
	assert_int_equal(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
	assert_int_equal(attr.qp_state, IBV_QPS_RTR);
	assert_int_equal(attr.dest_qp_num, 0x123);
	assert_int_equal(attr.path_mtu, IBV_MTU_1024);
	assert_int_equal(attr.qp_access_flags, IBV_ACCESS_REMOTE_WRITE);
	memset(b->in, 0, HEADER_LEN);
	prm_put(b->in, IN_OPCODE, CMD_QUERY_QP);
	assert_int_not_equal(mlx5dv_devx_qp_query(qp, b->in, HEADER_LEN, b->out, sizeof(b->out)),
			     0);
	prm_put(b->in, IN_NUMBER, qp->qp_num);
	assert_int_equal(mlx5dv_devx_qp_query(qp, b->in, HEADER_LEN, b->out, sizeof(b->out)), 0);
	assert_int_equal(prm_get(b->out + QPC, QPC_STATE), STATE_RTR);
	assert_int_equal(prm_get(b->out + QPC, QPC_REMOTE_QPN), 0x123);
	assert_int_equal(prm_get(b->out + QPC, QPC_RQ_TYPE), RQ_REGULAR);
	assert_int_not_equal(prm_get(b->out + QPC, QPC_CQN_SND), 0);
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
	prm_put(b->in, IN_OPCODE, CMD_RST2INIT_QP);
	prm_put(b->in, IN_NUMBER, qp->qp_num);
	assert_int_equal(mlx5dv_devx_qp_modify(qp, b->in, sizeof(b->in), b->out, HEADER_LEN), 0);
	set_fields(b, set_by_rtr);
	prm_put(b->in, IN_OPCODE, CMD_INIT2RTR_QP);
	prm_put(b->in, IN_NUMBER, qp->qp_num);
	assert_int_equal(mlx5dv_devx_qp_modify(qp, b->in, sizeof(b->in), b->out, HEADER_LEN), 0);
	assert_int_equal(ibv_query_qp(qp, &attr, IBV_QP_PORT, &init), 0);
	assert_int_equal(attr.qp_state, IBV_QPS_RTR);
	assert_int_equal(attr.port_num, 1);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
}

/* --- events ----------------------------------------------------------------------------------- */

enum { COMPLETION = 0, CQ_ERROR = 4, PORT_CHANGE = 9, GENERAL = 0x22 };

/* The control segment of a work request, and its first data. */
#define CTRL_OPMOD     0x0, 8
#define CTRL_WQE_INDEX 0x8, 16
#define CTRL_OPCODE    0x18, 8
#define CTRL_QPN       0x20, 24
#define CTRL_DS	       0x38, 8
#define CTRL_FM_CE_SE  0x58, 8
#define CTRL_IMM       0x60, 32
#define CTRL_BYTES     16u

enum { WQE_NOP = 0x0, WQE_SEND = 0xa, WQE_UMR = 0x25, WQE_MMO = 0x2f, OPMOD_MMO_DMA = 0x1 };
enum { CE_CQE_ALWAYS = 2 << 2 };

/* Doorbell records. */
#define DBR_RECEIVE_COUNTER 0x0, 32
#define DBR_SEND_COUNTER    0x20, 32
#define DBR_UPDATE_CI	    0x0, 32
#define DBR_ARM_CI	    0x20, 32

#define CQE_SRQN_UIDX	    0x108, 24
/* Bytes of a CQE. */
enum { CQE_SYNDROME = 55, CQE_WQE_COUNTER = 60, CQE_OP_OWN = 63, CQE_BYTES };
enum { CQE_REQ = 0x0, CQE_RESP_SEND = 0x2, CQE_REQ_ERR = 0xd, CQE_INVALID = 0xf };
enum { SYN_LOC_QP_OP = 2, SYN_FLUSH = 5, SYN_MW_BIND = 6 };

/* Of an EQE: its type, and of one on a CQ its number. */
#define EQE_TYPE 1
#define EQE_CQN	 0x108, 24

static struct mlx5dv_devx_obj *connected_qp(struct bench *b, uint32_t *qpn)
{
	struct mlx5dv_devx_obj *qp;
	union ibv_gid gid;

	fill_qp(b);
	qp = create(b);
	assert_non_null(qp);
	*qpn = prm_get(b->out, OUT_NUMBER);
	assert_int_equal(ibv_query_gid(b->context, 1, 0, &gid), 0);
	memset(b->in, 0, sizeof(b->in));
	prm_put(b->in + QPC, PATH(ADS_VHCA_PORT_NUM), 1);
	assert_int_equal(modify(b, qp, CMD_RST2INIT_QP, *qpn), 0);
	prm_put(b->in + QPC, QPC_MTU, IBV_MTU_1024);
	prm_put(b->in + QPC, QPC_LOG_MSG_MAX, LOG_MSG_MAX);
	prm_put(b->in + QPC, QPC_REMOTE_QPN, *qpn);
	memcpy(b->in + QPC + ADS + ADS_RGID_RIP, gid.raw, sizeof(gid.raw));
	assert_int_equal(modify(b, qp, CMD_INIT2RTR_QP, *qpn), 0);
	assert_int_equal(modify(b, qp, CMD_RTR2RTS_QP, *qpn), 0);
	return qp;
}

/* Tell the device of all requests before the block `counter`, of which this is the last. */
static void ring_doorbell(struct bench *b, const uint8_t *wqe, uint32_t counter)
{
	uint64_t doorbell;

	prm_put((uint8_t *)&b->record_mem[1], DBR_SEND_COUNTER, counter);
	memcpy(&doorbell, wqe, sizeof(doorbell));
	*(volatile uint64_t *)b->uar->reg_addr = doorbell;
}

/* A NOP in block `i` of the send ring. */
static void post_nop(struct bench *b, uint32_t qpn, uint32_t i)
{
	uint8_t *ring = (uint8_t *)b->ring_mem + 1024 + 4 * 64, *wqe = ring + i % 4 * 64;

	memset(wqe, 0, 64);
	prm_put(wqe, CTRL_WQE_INDEX, i);
	prm_put(wqe, CTRL_OPCODE, WQE_NOP);
	prm_put(wqe, CTRL_QPN, qpn);
	prm_put(wqe, CTRL_DS, 1);
	prm_put(wqe, CTRL_FM_CE_SE, CE_CQE_ALWAYS);
	ring_doorbell(b, wqe, i + 1);
}

/* A CQ of one entry: the second completion overruns it. */
static uint32_t make_small_cq(struct bench *b)
{
	fill_cq(b);
	prm_put(b->in + CQC, CQC_LOG_CQ_SIZE, 0);
	b->cq = create(b);
	assert_non_null(b->cq);
	return prm_get(b->out, OUT_NUMBER);
}

static bool is_readable(int fd, int timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, timeout_ms) == 1 && p.revents & POLLIN;
}

#define PATIENCE_MS 60000

/* Wait for the CQ's `n`th completion, that of the request which begins in that block. */
static void await_nth(const void *ring, uint32_t entries, unsigned int n, uint16_t block)
{
	const volatile uint8_t *cqe = (const uint8_t *)ring + n % entries * CQE_BYTES;

	for (int i = 0; i < PATIENCE_MS * 10 && cqe[CQE_OP_OWN] >> 4 != CQE_REQ_ERR; i++) {
		if (cqe[CQE_OP_OWN] >> 4 == CQE_REQ && (cqe[CQE_OP_OWN] & 1) == (n / entries & 1) &&
		    (cqe[CQE_WQE_COUNTER] << 8 | cqe[CQE_WQE_COUNTER + 1]) == block)
			return;
		usleep(100);
	}
	fail_msg("completion %u: op_own %#x, syndrome %#x", n, cqe[CQE_OP_OWN], cqe[CQE_SYNDROME]);
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
	prm_put(b->in + QPC, QPC_RQ_TYPE, RQ_NONE);
	prm_put(b->in + QPC, QPC_CQN_RCV, 0);
	prm_put(b->in, CREATE_QP_UMEM_OFFSET,
		1024 + 4 * 64); /* where post_nop() expects the send ring */
}

static void fill_receiver(struct bench *b)
{
	fill_qp(b);
	prm_put(b->in + QPC, QPC_NO_SQ, 1);
	prm_put(b->in + QPC, QPC_CQN_SND, 0);
	prm_put(b->in + QPC, QPC_UAR_PAGE, 0);
}

/* Neither queue: also no rings, no doorbell record and no doorbell page. */
static void fill_without_queues(struct bench *b)
{
	memset(b->in, 0, sizeof(b->in));
	prm_put(b->in, IN_OPCODE, CMD_CREATE_QP);
	prm_put(b->in + QPC, QPC_PD, b->pdn);
	prm_put(b->in + QPC, QPC_NO_SQ, 1);
	prm_put(b->in + QPC, QPC_RQ_TYPE, RQ_NONE);
}

/* With `fl` the path leads back to the function, whatever the address is. */
static void connect_to_itself(struct bench *b, struct mlx5dv_devx_obj *qp, uint32_t qpn)
{
	memset(b->in, 0, sizeof(b->in));
	prm_put(b->in + QPC, PATH(ADS_VHCA_PORT_NUM), 1);
	assert_int_equal(modify(b, qp, CMD_RST2INIT_QP, qpn), 0);
	prm_put(b->in + QPC, QPC_MTU, IBV_MTU_256);
	prm_put(b->in + QPC, QPC_LOG_MSG_MAX, LOG_MSG_MAX);
	prm_put(b->in + QPC, QPC_REMOTE_QPN, qpn);
	prm_put(b->in + QPC, PATH(ADS_FL), 1);
	assert_int_equal(modify(b, qp, CMD_INIT2RTR_QP, qpn), 0);
	assert_int_equal(modify(b, qp, CMD_RTR2RTS_QP, qpn), 0);
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
	qpn = prm_get(b->out, OUT_NUMBER);
	connect_to_itself(b, qp, qpn);
	assert_int_equal(state_of(b, qp, qpn), STATE_RTS);
	assert_int_equal(prm_get(b->out + QPC, QPC_RQ_TYPE), RQ_NONE);
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
	qpn = prm_get(b->out, OUT_NUMBER);
	connect_to_itself(b, qp, qpn);
	assert_int_equal(state_of(b, qp, qpn), STATE_RTS);
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
	qpn = prm_get(b->out, OUT_NUMBER);
	connect_to_itself(b, qp, qpn);
	assert_int_equal(state_of(b, qp, qpn), STATE_RTS);
	assert_int_equal(mlx5dv_devx_obj_destroy(qp), 0);
}

/* An empty message, in the first block of the send ring. */
static void post_send(struct bench *b, uint32_t qpn)
{
	uint8_t *wqe = (uint8_t *)b->ring_mem + 1024;

	memset(wqe, 0, 64);
	prm_put(wqe, CTRL_OPCODE, WQE_SEND);
	prm_put(wqe, CTRL_QPN, qpn);
	prm_put(wqe, CTRL_DS, 1);
	prm_put(wqe, CTRL_FM_CE_SE, CE_CQE_ALWAYS);
	ring_doorbell(b, wqe, 1);
}

/* What the CQ's `n`th completion, of a type, says of its queue. */
static uint32_t await_index(const struct bench *b, unsigned int n, uint8_t opcode)
{
	const volatile uint8_t *cqe = (const uint8_t *)b->ring_mem + (size_t)n * CQE_BYTES;

	for (int i = 0; i < PATIENCE_MS * 10 && cqe[CQE_OP_OWN] >> 4 == CQE_INVALID; i++)
		usleep(100);
	assert_int_equal(cqe[CQE_OP_OWN] >> 4, opcode);
	return prm_get((const uint8_t *)b->ring_mem + (size_t)n * CQE_BYTES, CQE_SRQN_UIDX);
}

/* Completions of version 0. */
static void completions_without_a_user_index_name_the_shared_queue(void **state)
{
	struct bench *b = *state;
	struct mlx5dv_devx_obj *rmp, *qp;
	uint32_t rmpn, qpn;

	memset(b->ring_mem, 0xff, 1024);
	memset((uint8_t *)b->ring_mem + 1024, 0, PAGE - 1024);
	fill_rmp(b);
	rmp = create(b);
	assert_non_null(rmp);
	rmpn = prm_get(b->out, OUT_NUMBER);
	cqn_of_bench = make_cq(b);
	fill_qp(b);
	prm_put(b->in + QPC, QPC_RQ_TYPE, RQ_SHARED);
	prm_put(b->in + QPC, QPC_SRQN_RMPN_XRQN, rmpn);
	prm_put(b->in + QPC, QPC_USER_INDEX, NO_USER_INDEX);
	qp = create(b);
	assert_non_null(qp);
	qpn = prm_get(b->out, OUT_NUMBER);
	connect_to_itself(b, qp, qpn);
	prm_put((uint8_t *)&b->record_mem[1], DBR_RECEIVE_COUNTER, 1);
	post_send(b, qpn);
	assert_int_equal(await_index(b, 0, CQE_RESP_SEND), rmpn);
	assert_int_equal(await_index(b, 1, CQE_REQ), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(qp), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(rmp), 0);
}

/* Whatever names a part must name one that exists, also where the part is optional. */
static void optional_parts_of_a_qp_must_exist(void **state)
{
	static const struct flaw sender[] = {
		{AT(QPC, QPC_CQN_SND), BAD_RES, 0},
		{AT(QPC, QPC_CQN_RCV), BAD_RES, MISSING_NUMBER},
		{AT(QPC, QPC_UAR_PAGE), BAD_RES, 0},
		{AT(QPC, QPC_DBR_UMEM_ID), BAD_RES, 0},
		{CREATE_QP_UMEM_ID, BAD_RES, 0},
	};
	static const struct flaw receiver[] = {
		{AT(QPC, QPC_CQN_RCV), BAD_RES, 0},
		{AT(QPC, QPC_CQN_SND), BAD_RES, MISSING_NUMBER},
		{AT(QPC, QPC_UAR_PAGE), BAD_RES, MISSING_NUMBER},
		{AT(QPC, QPC_DBR_UMEM_ID), BAD_RES, 0},
		{CREATE_QP_UMEM_ID, BAD_RES, 0},
	};
	static const struct flaw neither[] = {
		{AT(QPC, QPC_PD), BAD_RES, MISSING_NUMBER},
		{AT(QPC, QPC_CQN_SND), BAD_RES, MISSING_NUMBER},
		{AT(QPC, QPC_CQN_RCV), BAD_RES, MISSING_NUMBER},
		{AT(QPC, QPC_UAR_PAGE), BAD_RES, MISSING_NUMBER},
		{AT(QPC, QPC_DBR_UMEM_ID), BAD_RES, MISSING_UMEM},
		{CREATE_QP_UMEM_ID, BAD_RES, MISSING_UMEM},
		{AT(QPC, QPC_RQ_TYPE), BAD_RES, RQ_SHARED}, /* a shared receive queue needs a CQ */
	};
	struct bench *b = *state;

	cqn_of_bench = make_cq(b);
	refuse_each(b, fill_sender, sender, ARRAY_SIZE(sender));
	refuse_each(b, fill_receiver, receiver, ARRAY_SIZE(receiver));
	refuse_each(b, fill_without_queues, neither, ARRAY_SIZE(neither));
}

static void put_data(uint8_t *segment, uint32_t bytes, uint32_t key, uint64_t addr)
{
	prm_put(segment, KLM_BYTE_COUNT, bytes);
	prm_put(segment, KLM_MKEY, key);
	prm_put(segment, KLM_ADDRESS, addr);
}

/* A copy by the DMA engine, from the ring's last 64 bytes to those before them. */
static void post_copy(struct bench *b, uint32_t qpn, uint32_t key)
{
	uint8_t *wqe = (uint8_t *)b->ring_mem + 1024 + 4 * 64;
	uint64_t end = (uintptr_t)b->ring_mem + PAGE;

	memset(wqe, 0, 64);
	prm_put(wqe, CTRL_OPMOD, OPMOD_MMO_DMA);
	prm_put(wqe, CTRL_OPCODE, WQE_MMO);
	prm_put(wqe, CTRL_QPN, qpn);
	prm_put(wqe, CTRL_DS, 4);
	prm_put(wqe, CTRL_FM_CE_SE, CE_CQE_ALWAYS);
	put_data(wqe + 16, 0, key, end - 3 * 64); /* the engine's scratch memory */
	put_data(wqe + 32, 64, key, end - 64);
	put_data(wqe + 48, 64, key, end - 2 * 64);
	ring_doorbell(b, wqe, 1);
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
	prm_put(b->in, CREATE_QP_QPC_EXT, 1);
	prm_put(b->in, CREATE_QP_MMO, 1);
	assert_null(mlx5dv_devx_obj_create(b->context, b->in, CREATE_QP_LEN, b->out, HEADER_LEN));
	assert_int_equal(b->out[OUT_STATUS], BAD_INP_LEN);
	qp = create(b);
	assert_non_null(qp);
	qpn = prm_get(b->out, OUT_NUMBER);
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
	prm_put(b->in, IN_ECE, ECE_VERSION | 1);
	qp = create(b);
	assert_non_null(qp);
	qpn = prm_get(b->out, OUT_NUMBER);
	assert_int_equal(prm_get(b->out, OUT_ECE), ECE_VERSION);
	memset(b->in, 0, sizeof(b->in));
	prm_put(b->in + QPC, PATH(ADS_VHCA_PORT_NUM), 1);
	prm_put(b->in, IN_ECE, ECE_VERSION | 1);
	assert_int_equal(modify(b, qp, CMD_RST2INIT_QP, qpn), 0);
	assert_int_equal(prm_get(b->out, OUT_ECE), ECE_VERSION);
	assert_int_equal(mlx5dv_devx_obj_destroy(qp), 0);
}

static int query(struct bench *b, uint16_t opcode, size_t out_len)
{
	prm_put(b->in, IN_OPCODE, opcode);
	memset(b->out, 0xff, sizeof(b->out));
	return mlx5dv_devx_general_cmd(b->context, b->in, HEADER_LEN, b->out, out_len);
}

#define LAG_CONTEXT	   0x40, 64
#define ISSI_CURRENT	   0x50, 16
#define ISSI_SUPPORTED_DW0 0x360, 32
#define VPORT_STATES	   0x78, 8 /* admin_state, state */
#define VPORT_UP	   1u
#define QUERY_ISSI_LEN	   0x70

/* UCX and DPDK send them when they open the device. */
static void queries_at_open_are_answered(void **state)
{
	static const struct {
		uint16_t opcode;
		size_t len;
	} queries[] = {{CMD_QUERY_LAG, HEADER_LEN},
		       {CMD_QUERY_ISSI, QUERY_ISSI_LEN},
		       {CMD_QUERY_VPORT_STATE, HEADER_LEN},
		       {CMD_NOP, HEADER_LEN}};
	struct bench *b = *state;

	memset(b->in, 0, sizeof(b->in));
	for (size_t i = 0; i < ARRAY_SIZE(queries); i++) {
		assert_int_equal(query(b, queries[i].opcode, queries[i].len), 0);
		assert_int_equal(b->out[OUT_STATUS], 0);
		prm_put(b->in, IN_OP_MOD, 1);
		assert_int_not_equal(query(b, queries[i].opcode, queries[i].len), 0);
		assert_int_equal(b->out[OUT_STATUS], BAD_OP);
		prm_put(b->in, IN_OP_MOD, 0);
		prm_put(b->in, IN_OTHER_FUNCTION, 1);
		assert_int_not_equal(query(b, queries[i].opcode, queries[i].len), 0);
		assert_int_equal(b->out[OUT_STATUS], BAD_PARAM);
		prm_put(b->in, IN_OTHER_FUNCTION, 0);
	}
	assert_int_equal(query(b, CMD_QUERY_LAG, HEADER_LEN), 0);
	assert_int_equal(prm_get(b->out, LAG_CONTEXT), 0); /* no bond */
	assert_int_equal(query(b, CMD_QUERY_ISSI, QUERY_ISSI_LEN), 0);
	assert_int_equal(prm_get(b->out, ISSI_CURRENT), 1);
	assert_int_equal(prm_get(b->out, ISSI_SUPPORTED_DW0), 2);
	assert_int_not_equal(query(b, CMD_QUERY_ISSI, QUERY_ISSI_LEN - 4), 0);
	assert_int_equal(b->out[OUT_STATUS], BAD_OUTP_LEN);
	assert_int_equal(query(b, CMD_QUERY_VPORT_STATE, HEADER_LEN), 0);
	assert_int_equal(prm_get(b->out, VPORT_STATES), VPORT_UP << 4 | VPORT_UP);
}

#define ENTRIES 80u /* more than fit in a work request */

/* An mkey for UMR, with a list of ENTRIES pieces of any length. */
static struct mlx5dv_devx_obj *create_list_mkey(struct bench *b, uint32_t *key)
{
	struct mlx5dv_devx_obj *made;

	memset(b->in, 0, sizeof(b->in));
	prm_put(b->in, IN_OPCODE, CMD_CREATE_MKEY);
	prm_put(b->in, MKC_FREE, 1);
	prm_put(b->in, MKC_UMR_EN, 1);
	prm_put(b->in, MKC_A_TO_LR, MKC_LW | MKC_LR);
	prm_put(b->in, MKC_ACCESS_MODE_1_0, KLM);
	prm_put(b->in, MKC_QPN, MKC_QPN_ANY);
	prm_put(b->in, MKC_PD, b->pdn);
	prm_put(b->in, MKC_TRANSLATIONS_OCTWORD_SIZE, ENTRIES);
	made = mlx5dv_devx_obj_create(b->context, b->in, MKEY_ENTRIES, b->out, HEADER_LEN);
	assert_non_null(made);
	*key = (uint32_t)prm_get(b->out, OUT_NUMBER) << 8;
	return made;
}

struct umr {
	uint32_t qpn, key, lkey, length;
	uint64_t offset; /* of its 4 entries in the list */
	uint8_t flags;
};

/* The segment behind the control segment; an mkey context and entries follow in blocks of their own. */
#define UMR_FLAGS		     0x0, 8
#define UMR_KLM_OCTOWORDS	     0x20, 16
#define UMR_TRANSLATION_OFFSET	     0x30, 16
#define UMR_MKEY_MASK		     0x40, 64
#define UMR_TRANSLATION_OFFSET_47_16 0x80, 32

enum { UMR_MASK_LEN = 1 << 0, UMR_MASK_FREE = 1 << 29 };
enum { UMR_AT_OFFSET = 0x10, UMR_INLINE = 0x80 };

/* 4 entries of 1 byte each, and the length of the mkey; three blocks at the start of the ring. */
static void post_umr(struct bench *b, const struct umr *u, uint16_t index)
{
	uint8_t *ring = (uint8_t *)b->ring_mem + 1024, wqe[192] = {0}, *umr = wqe + CTRL_BYTES;
	uint64_t mem = (uintptr_t)b->ring_mem + 2048;

	prm_put(wqe, CTRL_WQE_INDEX, index);
	prm_put(wqe, CTRL_OPCODE, WQE_UMR);
	prm_put(wqe, CTRL_QPN, u->qpn);
	prm_put(wqe, CTRL_DS, 12);
	prm_put(wqe, CTRL_FM_CE_SE, CE_CQE_ALWAYS);
	prm_put(wqe, CTRL_IMM, u->key);
	prm_put(umr, UMR_FLAGS, u->flags);
	prm_put(umr, UMR_KLM_OCTOWORDS, 4);
	prm_put(umr, UMR_TRANSLATION_OFFSET, u->offset & 0xffff);
	prm_put(umr, UMR_MKEY_MASK, UMR_MASK_LEN | UMR_MASK_FREE);
	prm_put(umr, UMR_TRANSLATION_OFFSET_47_16, u->offset >> 16);
	prm_put(wqe + 64 - HEADER_LEN, MKC_LEN, u->length); /* the context begins at 64 */
	for (unsigned int i = 0; i < 4; i++)
		put_data(wqe + 128 + i * MKEY_ENTRY_LEN, 1, u->lkey, mem + u->offset + i);
	for (unsigned int i = 0; i < 3; i++)
		memcpy(ring + (index + i) % 4 * 64, wqe + i * 64, 64);
	ring_doorbell(b, wqe, index + 3u);
}

static struct mlx5dv_devx_obj *sender(struct bench *b, uint32_t *qpn)
{
	struct mlx5dv_devx_obj *qp;

	fill_sender(b);
	prm_put(b->in, CREATE_QP_UMEM_OFFSET, 1024);
	qp = create(b);
	assert_non_null(qp);
	*qpn = prm_get(b->out, OUT_NUMBER);
	connect_to_itself(b, qp, *qpn);
	return qp;
}

/* Part by part, a list becomes longer than one request could make it. */
static void umr_changes_entries_at_an_offset(void **state)
{
	struct umr u = {.length = ENTRIES, .flags = UMR_INLINE | UMR_AT_OFFSET};
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
		prm_put((uint8_t *)b->record_mem, DBR_UPDATE_CI, u.offset / 4 + 1);
	}
	/* Once more in the middle: the entries behind it remain. */
	u.offset = 8;
	post_umr(b, &u, index);
	await_nth(b->ring_mem, 16, ENTRIES / 4, index);
	list_out = test_calloc(1, MKEY_ENTRIES + ENTRIES * MKEY_ENTRY_LEN);
	memset(b->in, 0, HEADER_LEN);
	prm_put(b->in, IN_OPCODE, CMD_QUERY_MKEY);
	prm_put(b->in, IN_NUMBER, u.key >> 8);
	assert_int_equal(mlx5dv_devx_obj_query(list, b->in, HEADER_LEN, list_out,
					       MKEY_ENTRIES + ENTRIES * MKEY_ENTRY_LEN),
			 0);
	for (unsigned int i = 0; i < ENTRIES; i++)
		assert_true(prm_get(list_out + MKEY_ENTRIES + i * MKEY_ENTRY_LEN, KLM_ADDRESS) ==
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
	} bad[] = {
		{4, UMR_INLINE | UMR_AT_OFFSET, SYN_MW_BIND},
		{1ull << 16, UMR_INLINE | UMR_AT_OFFSET, SYN_MW_BIND},
		{1ull << 47, UMR_INLINE | UMR_AT_OFFSET, SYN_MW_BIND},
		{4, UMR_INLINE, SYN_LOC_QP_OP},
		{1ull << 16, UMR_INLINE, SYN_LOC_QP_OP},
	};
	struct bench *b = *state;

	cqn_of_bench = make_cq(b);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct umr u = {.length = 4, .flags = bad[i].flags, .offset = bad[i].offset};
		const volatile uint8_t *cqe = (const uint8_t *)b->ring_mem + i * 64;
		struct mlx5dv_devx_obj *list = create_list_mkey(b, &u.key);
		struct mlx5dv_devx_obj *qp;

		memset((uint8_t *)b->ring_mem + i * 64, 0xff, 64);
		b->record_mem[1] = 0;
		qp = sender(b, &u.qpn);
		post_umr(b, &u, 0);
		for (int wait = 0; wait < PATIENCE_MS * 10 && cqe[CQE_OP_OWN] >> 4 == CQE_INVALID;
		     wait++)
			usleep(100);
		assert_int_equal(cqe[CQE_OP_OWN] >> 4, CQE_REQ_ERR);
		assert_int_equal(cqe[CQE_SYNDROME], bad[i].syndrome);
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
	assert_int_equal(eqe[EQE_TYPE], CQ_ERROR);
	assert_int_equal(prm_get(eqe, EQE_CQN), cqn_of_bench);
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

	cqn_of_bench = make_small_cq(b);
	qp = connected_qp(b, &qpn);
	channel = mlx5dv_devx_create_event_channel(b->context, flags);
	assert_non_null(channel);
	for (int i = 0; i < 2; i++)
		assert_int_equal(mlx5dv_devx_subscribe_devx_event(channel, b->cq, sizeof(number),
								  &number, 1u << i),
				 0);
	post_nop(b, qpn, 0);
	post_nop(b, qpn, 1);
	for (int i = 0; i < 2; i++) {
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
	uint32_t qpn;

	qp = connected_qp(b, &qpn);
	for (uint32_t i = 0; i < 3 * entries; i++) {
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
	prm_put(b->in + CQC, CQC_LOG_CQ_SIZE, 0);
	prm_put(b->in + CQC, CQC_OI, 1);
	memset(b->ring_mem, 0xff, 64);
	b->cq = create(b);
	assert_non_null(b->cq);
	cqn_of_bench = prm_get(b->out, OUT_NUMBER);
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

	cqn_of_bench = make_cq(b);
	connected_qp(b, &qpn);
	if (process_run(argv))
		_exit(2);
	post_nop(b, qpn, 0);
	for (int i = 0; i < PATIENCE_MS * 10 && cqe[CQE_OP_OWN] >> 4 != CQE_REQ_ERR; i++)
		usleep(100);
	_exit(cqe[CQE_OP_OWN] >> 4 != CQE_REQ_ERR || cqe[CQE_SYNDROME] != SYN_FLUSH);
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
	prm_put((uint8_t *)b->record_mem, DBR_ARM_CI, 0); /* armed for the first entry */
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

static void subscriptions_to_unknown_events_or_files_are_refused(void **state)
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
	uint8_t in[HEADER_LEN] = {0};

	assert_non_null(answers);
	prm_put(in, IN_NUMBER, make_cq(b));
	prm_put(in, IN_OPCODE, CMD_QUERY_CQ);
	assert_int_equal(
		mlx5dv_devx_obj_query_async(b->cq, in, sizeof(in), QUERY_CQ_LEN, 31, answers), 0);
	assert_int_equal(
		mlx5dv_devx_obj_query_async(b->cq, in, sizeof(in), HEADER_LEN, 32, answers), 0);
	expect_short(answers->fd, sizeof(answer.hdr) + QUERY_CQ_LEN - 1,
		     ENOSPC); /* the answer stays */
	assert_int_equal(mlx5dv_devx_get_async_cmd_comp(answers, &answer.hdr,
							sizeof(answer.hdr) + QUERY_CQ_LEN),
			 0);
	assert_int_equal(answer.hdr.wr_id, 31);
	assert_int_equal(out[OUT_STATUS], 0);
	assert_int_equal(prm_get(out + CQC, CQC_LOG_CQ_SIZE), 4);
	/* A failed command is answered as well. */
	assert_int_equal(mlx5dv_devx_get_async_cmd_comp(answers, &answer.hdr,
							sizeof(answer.hdr) + HEADER_LEN),
			 0);
	assert_int_equal(answer.hdr.wr_id, 32);
	assert_int_not_equal(out[OUT_STATUS], 0);
	prm_put(in, IN_OPCODE, CMD_QUERY_QP); /* not of a CQ */
	assert_int_equal(
		mlx5dv_devx_obj_query_async(b->cq, in, sizeof(in), QUERY_CQ_LEN, 33, answers),
		EINVAL);
	mlx5dv_devx_destroy_cmd_comp(answers);
}

/*
 * Opcodes that Linux lets through reach the firmware, which knows some of them; it refuses all others
 * itself (devx.c: devx_is_general_cmd(), devx_is_obj_create_cmd()).
 */
static void kernel_lets_general_commands_through(void **state)
{
	static const uint16_t passed[] = {CMD_QUERY_ROCE_ADDRESS, CMD_QUERY_VNIC_ENV,
					  CMD_GET_DROPPED_PACKET_LOG, CMD_QUERY_CONG_STATUS,
					  CMD_QUERY_CONG_STATISTICS};
	static const uint16_t refused_by_kernel[] = {0x73a, 0x76a, 0x83d, CMD_GENERAL_BEGIN - 1,
						     CMD_GENERAL_END};
	static const uint16_t executed[] = {CMD_QUERY_ADAPTER, CMD_QUERY_NIC_VPORT_CONTEXT,
					    CMD_NOP};
	struct bench *b = *state;
	uint8_t out[0x200];

	memset(b->in, 0, sizeof(b->in));
	for (size_t i = 0; i < ARRAY_SIZE(executed); i++) {
		prm_put(b->in, IN_OPCODE, executed[i]);
		assert_int_equal(
			mlx5dv_devx_general_cmd(b->context, b->in, HEADER_LEN, out, sizeof(out)),
			0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(passed); i++) {
		prm_put(b->in, IN_OPCODE, passed[i]);
		assert_int_not_equal(
			mlx5dv_devx_general_cmd(b->context, b->in, HEADER_LEN, b->out, HEADER_LEN),
			0);
		assert_int_equal(errno, EREMOTEIO);
	}
	for (size_t i = 0; i < ARRAY_SIZE(refused_by_kernel); i++) {
		prm_put(b->in, IN_OPCODE, refused_by_kernel[i]);
		assert_int_not_equal(
			mlx5dv_devx_general_cmd(b->context, b->in, HEADER_LEN, b->out, HEADER_LEN),
			0);
		assert_int_equal(errno, EINVAL);
	}
}

#define bench_test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		bench_test(kernel_lets_general_commands_through),
		bench_test(a_cq_with_an_invalid_field_is_refused),
		bench_test(a_cq_gets_another_ring_and_moderation),
		bench_test(a_qp_with_an_invalid_field_is_refused),
		bench_test(a_datagram_qp_is_created),
		bench_test(qp_goes_through_its_states),
		bench_test(queue_pair_in_reset_reports_port_1),
		bench_test(field_that_a_transition_leaves_0_keeps_its_value),
		bench_test(an_rmp_with_an_invalid_field_is_refused),
		bench_test(qp_holds_its_rmp),
		bench_test(completions_without_a_user_index_name_the_shared_queue),
		bench_test(qp_without_receive_queue_sends),
		bench_test(qp_without_send_queue_is_created),
		bench_test(qp_without_queues_is_created),
		bench_test(optional_parts_of_a_qp_must_exist),
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
		bench_test(subscriptions_to_unknown_events_or_files_are_refused),
		bench_test(query_is_answered_later),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
