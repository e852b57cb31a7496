/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The completion mode of a work request (ce in its control segment): whether it completes if it succeeds,
 * fails, or is flushed. docs/emu/emulator.md has the table. libmlx5 uses two of the modes, so the test writes
 * the requests itself.
 */
#include <endian.h>
#include <infiniband/mlx5dv.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "fixture.h"
#include "rc.h"
#include "verbs.h"

#define PATIENCE_MS   60000
#define BAD_OPCODE    0x3f
#define MODE(mode)    ((uint8_t)((mode) << 2))
#define ALWAYS	      2
#define LOC_QP_OP_ERR 2
#define WR_FLUSH_ERR  5

struct queue {
	struct rc rc;
	struct mlx5dv_qp qp;
	struct mlx5dv_cq cq;
	uint16_t posted;
	uint32_t seen;
};

static void open_queue(struct queue *q, struct ibv_pd *pd)
{
	struct mlx5dv_obj objects = {.qp = {.out = &q->qp}, .cq = {.out = &q->cq}};

	memset(q, 0, sizeof(*q));
	assert_true(rc_open_loopback(&q->rc, pd));
	objects.qp.in = q->rc.qp;
	objects.cq.in = q->rc.cq;
	assert_int_equal(mlx5dv_init_obj(&objects, MLX5DV_OBJ_QP | MLX5DV_OBJ_CQ), 0);
}

/* Without a doorbell. */
static void write_request(struct queue *q, uint8_t opcode, unsigned int mode)
{
	uint8_t *block =
		(uint8_t *)q->qp.sq.buf + (size_t)(q->posted % q->qp.sq.wqe_cnt) * q->qp.sq.stride;
	struct mlx5_wqe_ctrl_seg *ctrl = (void *)block;

	memset(ctrl, 0, sizeof(*ctrl));
	ctrl->opmod_idx_opcode = htobe32((uint32_t)q->posted << 8 | opcode);
	ctrl->qpn_ds = htobe32(q->rc.qp->qp_num << 8 | 1);
	ctrl->fm_ce_se = MODE(mode);
	q->posted++;
}

static void ring(struct queue *q)
{
	const uint8_t *block = (const uint8_t *)q->qp.sq.buf +
			       (size_t)((q->posted - 1u) % q->qp.sq.wqe_cnt) * q->qp.sq.stride;
	uint64_t doorbell;

	__atomic_store_n(&q->qp.dbrec[MLX5_SND_DBR], htobe32(q->posted), __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	memcpy(&doorbell, block, sizeof(doorbell));
	*(volatile uint64_t *)q->qp.bf.reg = doorbell;
}

struct outcome {
	int request; /* the number of its block */
	int syndrome;
};

static struct outcome next_completion(struct queue *q)
{
	const uint8_t *entry = (const uint8_t *)q->cq.buf +
			       (size_t)(q->seen % q->cq.cqe_cnt) * q->cq.cqe_size +
			       (q->cq.cqe_size - sizeof(struct mlx5_cqe64));
	const volatile uint8_t *op_own = entry + sizeof(struct mlx5_cqe64) - 1;
	struct mlx5_err_cqe cqe;

	for (int i = 0; i < PATIENCE_MS * 10 && *op_own >> 4 == MLX5_CQE_INVALID; i++)
		usleep(100);
	assert_int_not_equal(*op_own >> 4, MLX5_CQE_INVALID);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	memcpy(&cqe, entry, sizeof(cqe));
	q->seen++;
	return (struct outcome){be16toh(cqe.wqe_counter),
				*op_own >> 4 == MLX5_CQE_REQ_ERR ? cqe.syndrome : 0};
}

static void expect(struct queue *q, bool reported, int request, int syndrome)
{
	struct outcome seen;

	if (!reported)
		return;
	seen = next_completion(q);
	assert_int_equal(seen.request, request);
	assert_int_equal(seen.syndrome, syndrome);
}

static const struct {
	bool success, first_error, flushed;
} reported[] = {
	[0] = {false, true, true},
	[1] = {false, true, false},
	[2] = {true, true, true},
	[3] = {true, true, true},
};

#define MODES ARRAY_SIZE(reported)

/* Requests complete in order: the last one, which always completes, shows that the others have ended. */
static void mode_decides_which_results_complete(void **state)
{
	const struct verbs *n = *state;
	struct queue q;

	for (unsigned int mode = 0; mode < MODES; mode++) {
		open_queue(&q, n->pd);
		write_request(&q, MLX5_OPCODE_NOP, mode);
		write_request(&q, BAD_OPCODE, mode);
		write_request(&q, MLX5_OPCODE_NOP, mode);
		write_request(&q, MLX5_OPCODE_NOP, ALWAYS);
		ring(&q);
		expect(&q, reported[mode].success, 0, 0);
		expect(&q, reported[mode].first_error, 1, LOC_QP_OP_ERR);
		expect(&q, reported[mode].flushed, 2, WR_FLUSH_ERR);
		expect(&q, true, 3, WR_FLUSH_ERR);
		assert_true(rc_close(&q.rc));
	}
}

/* No request has failed: the program has moved the queue pair to ERR. */
static void mode_decides_which_flushed_requests_complete(void **state)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	const struct verbs *n = *state;
	struct queue q;

	for (unsigned int mode = 0; mode < MODES; mode++) {
		open_queue(&q, n->pd);
		assert_int_equal(ibv_modify_qp(q.rc.qp, &attr, IBV_QP_STATE), 0);
		write_request(&q, MLX5_OPCODE_NOP, mode);
		write_request(&q, MLX5_OPCODE_NOP, ALWAYS);
		ring(&q);
		expect(&q, reported[mode].flushed, 0, WR_FLUSH_ERR);
		expect(&q, true, 1, WR_FLUSH_ERR);
		assert_true(rc_close(&q.rc));
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(mode_decides_which_results_complete, verbs_open,
						verbs_close),
		cmocka_unit_test_setup_teardown(mode_decides_which_flushed_requests_complete,
						verbs_open, verbs_close),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
