/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Measure posting and polling of RDMA writes by doca_verbs, compared (batches.h) with ibv_post_send() and ibv_poll_cq()
 * of a program that created its queues itself (raw.h), on the same device.
 */
#include <string.h>
#include <sys/mman.h>

#include <doca_verbs_bridge.h>

#include "batches.h"
#include "device.h"
#include "raw.h"

#define DEPTH 64u
#define LEN   64u
#define HALF  (DEPTH * LEN) /* of the memory: sources, and destinations */

struct bench {
	uint8_t *memory;
	struct raw raw;
	struct ibv_mr *mrs[BATCHES_NUM_WAYS];
	struct doca_verbs_context *context;
	struct doca_verbs_pd *pd;
	struct doca_verbs_cq *cq;
	struct doca_verbs_qp *qp;
	struct ibv_send_wr requests[DEPTH];
	struct ibv_sge pieces[DEPTH];
	struct ibv_wc completions[DEPTH];
};

static struct bench bench;

static bool count_completions(int num, size_t *done)
{
	if (num < 0)
		return false;
	for (int i = 0; i < num; i++)
		if (bench.completions[i].status != IBV_WC_SUCCESS)
			return false;
	batches_empty += !num;
	*done += (size_t)num;
	return true;
}

__attribute__((noinline)) static bool measured_raw_post(size_t n)
{
	struct ibv_send_wr *bad;

	(void)n; /* the requests are a list */
	return !ibv_post_send(bench.raw.qp, bench.requests, &bad);
}

__attribute__((noinline)) static bool measured_raw_reap(size_t n)
{
	for (size_t done = 0; done < n;)
		if (!count_completions(
			    ibv_poll_cq(bench.raw.cq, (int)(n - done), bench.completions), &done))
			return false;
	return true;
}

__attribute__((noinline)) static bool measured_task_post(size_t n)
{
	struct ibv_send_wr *bad;

	(void)n;
	return !doca_verbs_bridge_post_send(bench.qp, bench.requests, &bad);
}

__attribute__((noinline)) static bool measured_task_reap(size_t n)
{
	for (size_t done = 0; done < n;)
		if (!count_completions(
			    doca_verbs_bridge_poll_cq(bench.cq, (int)(n - done), bench.completions),
			    &done))
			return false;
	return true;
}

static volatile uint64_t *prepare(enum batches_way way, size_t n)
{
	uint32_t key = bench.mrs[way]->rkey;

	for (size_t i = 0; i < n; i++) {
		bench.pieces[i] = (struct ibv_sge){(uintptr_t)bench.memory + i * LEN, LEN, key};
		bench.requests[i] = (struct ibv_send_wr){
			.wr_id = i,
			.sg_list = &bench.pieces[i],
			.num_sge = 1,
			.opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED,
			.next = i + 1 < n ? &bench.requests[i + 1] : NULL,
			.wr.rdma = {(uintptr_t)bench.memory + HALF + i * LEN, key},
		};
	}
	return (volatile uint64_t *)(void *)(bench.memory + HALF + n * LEN - sizeof(uint64_t));
}

/* --- set-up ----------------------------------------------------------------------------------- */

static bool create_cq(void)
{
	struct doca_verbs_cq_attr *attr;
	bool done;

	if (!bench_is_ok(doca_verbs_cq_attr_create(&attr), "attributes"))
		return false;
	doca_verbs_cq_attr_set_cq_size(attr, DEPTH);
	done = bench_is_ok(doca_verbs_cq_create(bench.context, attr, &bench.cq), "a CQ");
	doca_verbs_cq_attr_destroy(attr);
	return done;
}

static bool create_qp(void)
{
	struct doca_verbs_qp_init_attr *attr;
	bool done;

	if (!bench_is_ok(doca_verbs_qp_init_attr_create(&attr), "attributes"))
		return false;
	doca_verbs_qp_init_attr_set_pd(attr, bench.pd);
	doca_verbs_qp_init_attr_set_send_cq(attr, bench.cq);
	doca_verbs_qp_init_attr_set_sq_wr(attr, DEPTH);
	doca_verbs_qp_init_attr_set_send_max_sges(attr, 1);
	done = bench_is_ok(doca_verbs_qp_create(bench.context, attr, &bench.qp), "a QP");
	doca_verbs_qp_init_attr_destroy(attr);
	return done;
}

/* As the queue pair of libibverbs, which is connected to itself. */
static bool connect_qp(void)
{
	static const int masks[] = {
		IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
		IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC};
	struct doca_verbs_ah_attr *ah = NULL;
	struct doca_verbs_qp_attr *attr = NULL;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr like;
	bool done = !ibv_query_qp(bench.raw.qp, &like, masks[0] | masks[1] | masks[2], &init) &&
		    doca_verbs_qp_attr_create(&attr) == DOCA_SUCCESS &&
		    doca_verbs_ah_attr_create(bench.context, &ah) == DOCA_SUCCESS &&
		    doca_verbs_qp_attr_set_ah_attr(attr, ah) == DOCA_SUCCESS;

	like.dest_qp_num = doca_verbs_qp_get_qpn(bench.qp);
	for (int i = 0; i < 3 && done; i++) {
		like.qp_state = IBV_QPS_INIT + i;
		done = bench_is_ok(doca_verbs_bridge_qp_attr_set(attr, &like, masks[i]),
				   "a state") &&
		       bench_is_ok(
			       doca_verbs_qp_modify(bench.qp, attr,
						    doca_verbs_bridge_get_qp_attr_mask(masks[i])),
			       "a transition");
	}
	if (ah)
		doca_verbs_ah_attr_destroy(ah);
	if (attr)
		doca_verbs_qp_attr_destroy(attr);
	return done;
}

static struct ibv_mr *register_memory(struct ibv_pd *pd)
{
	return ibv_reg_mr(pd, bench.memory, (size_t)2 * HALF,
			  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
}

static bool open_all(bool is_small)
{
	(void)is_small; /* all writes are */
	bench.memory = mmap(NULL, (size_t)2 * HALF, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (bench.memory == MAP_FAILED)
		return false;
	memset(bench.memory, 0x5a, HALF);
	if (!raw_open(&bench.raw, DEPTH, false, bench.memory, (size_t)2 * HALF) ||
	    !bench_is_ok(doca_verbs_bridge_verbs_context_create(bench.raw.context->device, 0,
								&bench.context),
			 "a context") ||
	    !bench_is_ok(doca_verbs_pd_create(bench.context, &bench.pd), "a PD"))
		return false;
	bench.mrs[BATCHES_RAW] = register_memory(bench.raw.pd);
	bench.mrs[BATCHES_TASK] = register_memory(doca_verbs_bridge_verbs_pd_get_ibv_pd(bench.pd));
	return bench.mrs[BATCHES_RAW] && bench.mrs[BATCHES_TASK] && create_cq() && create_qp() &&
	       connect_qp();
}

static void close_all(void)
{
	if (bench.qp)
		doca_verbs_qp_destroy(bench.qp);
	if (bench.cq)
		doca_verbs_cq_destroy(bench.cq);
	for (int i = 0; i < BATCHES_NUM_WAYS; i++)
		if (bench.mrs[i])
			ibv_dereg_mr(bench.mrs[i]);
	if (bench.pd)
		doca_verbs_pd_destroy(bench.pd);
	if (bench.context)
		doca_verbs_context_destroy(bench.context);
	raw_close(&bench.raw);
}

int main(int argc, char **argv)
{
	static const struct batches batches = {
		.many = "writes",
		.title = "RDMA write of 64 bytes",
		.names = {"libibverbs", "doca_verbs"},
		.ratio = "time of an RDMA write : libibverbs",
		.goal = "",
		.max_batch = DEPTH,
		.open = open_all,
		.close = close_all,
		.prepare = prepare,
		.post = {measured_raw_post, measured_task_post},
		.reap = {measured_raw_reap, measured_task_reap},
	};

	return batches_main(&batches, argc, argv);
}
