/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Measure posting and polling by doca_verbs, compared with ibv_post_send() and ibv_poll_cq() of a program that created
 * its queues itself (raw.h), on the same device. Without options, measure the time of an RDMA write of 64 bytes. With
 * --only, write for another tool: valgrind --tool=callgrind --toggle-collect='measured_*' counts the instructions in
 * the functions measured_*(). The program counts allocations and locks itself.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <doca_verbs_bridge.h>

#include "calls.h"
#include "peer.h"
#include "raw.h"
#include "stats.h"

#define DEPTH	   64u
#define LEN	   64u
#define HALF	   (DEPTH * LEN) /* of the memory: sources, and destinations */
#define MAX_ROUNDS 1000

struct bench {
	uint8_t *memory;
	struct raw raw;
	struct ibv_mr *mrs[2]; /* of each kind */
	struct doca_verbs_context *context;
	struct doca_verbs_pd *pd;
	struct doca_verbs_cq *cq;
	struct doca_verbs_qp *qp;
	struct ibv_send_wr requests[DEPTH];
	struct ibv_sge pieces[DEPTH];
	struct ibv_wc completions[DEPTH];
	unsigned long empty;
};

static struct bench bench;

static bool count_completions(int num, size_t *done)
{
	if (num < 0)
		return false;
	for (int i = 0; i < num; i++)
		if (bench.completions[i].status != IBV_WC_SUCCESS)
			return false;
	bench.empty += !num;
	*done += (size_t)num;
	return true;
}

__attribute__((noinline)) static bool measured_raw_post(void)
{
	struct ibv_send_wr *bad;

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

__attribute__((noinline)) static bool measured_task_post(void)
{
	struct ibv_send_wr *bad;

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

static const struct kind {
	const char *name;
	bool (*post)(void);
	bool (*reap)(size_t n);
} kinds[] = {
	{"raw", measured_raw_post, measured_raw_reap},
	{"task", measured_task_post, measured_task_reap},
};

static void prepare(const struct kind *kind, size_t n)
{
	uint32_t key = bench.mrs[kind - kinds]->rkey;

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
}

/* The device writes the completion immediately after the bytes, which are not 0. */
static void await_bytes(const volatile uint8_t *last)
{
	for (int i = 0; !*last && i < 100000; i++)
		bench_pause(1);
	bench_pause(2);
}

static bool run_batch(const struct kind *kind, size_t n, bool is_patient)
{
	uint8_t *last = bench.memory + HALF + n * LEN - 1;

	*last = 0;
	if (!kind->post())
		return false;
	if (is_patient)
		await_bytes(last);
	return kind->reap(n);
}

/* The first batch includes one-time work, and is measured by the tool as well. */
static bool count_writes(const struct kind *kind, size_t batch, size_t writes)
{
	unsigned long allocations, locks;

	prepare(kind, batch);
	if (!run_batch(kind, batch, true))
		return false;
	allocations = bench_allocations;
	locks = bench_locks;
	for (size_t i = 0; i < writes; i += batch)
		if (!run_batch(kind, batch, true))
			return false;
	printf("%s: %zu writes in batches of %zu, %lu allocations, %lu locks, %lu empty polls\n",
	       kind->name, writes, batch, bench_allocations - allocations, bench_locks - locks,
	       bench.empty);
	return true;
}

/* --- time ------------------------------------------------------------------------------------- */

static bool time_of(const struct kind *kind, double *us)
{
	double begin;

	prepare(kind, 1);
	begin = bench_now();
	if (!run_batch(kind, 1, false))
		return false;
	*us = (bench_now() - begin) * 1e6;
	return true;
}

static bool compare(size_t rounds)
{
	static double raws[MAX_ROUNDS], verbs[MAX_ROUNDS], ratios[MAX_ROUNDS];
	struct bench_stats raw, task, ratio;

	for (size_t i = 0; i <= rounds; i++) {
		size_t at = i ? i - 1 : 0; /* the first round warms up */

		if (!time_of(&kinds[i % 2], i % 2 ? &verbs[at] : &raws[at]) ||
		    !time_of(&kinds[!(i % 2)], i % 2 ? &raws[at] : &verbs[at]))
			return false;
		ratios[at] = verbs[at] / raws[at];
	}
	bench_stats(raws, rounds, &raw);
	bench_stats(verbs, rounds, &task);
	bench_stats(ratios, rounds, &ratio);
	printf("RDMA write of 64 bytes, one at a time, us: median (range) of %zu rounds\n"
	       "  libibverbs  %6.1f (%.1f to %.1f)\n  doca_verbs  %6.1f (%.1f to %.1f)\n"
	       "  ratio       %6.3f (%.3f to %.3f)\n",
	       rounds, raw.median, raw.min, raw.max, task.median, task.min, task.max, ratio.median,
	       ratio.min, ratio.max);
	bench_record(&ratio, NULL, "time of an RDMA write : libibverbs");
	return true;
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

static bool open_all(void)
{
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
	bench.mrs[0] = register_memory(bench.raw.pd);
	bench.mrs[1] = register_memory(doca_verbs_bridge_verbs_pd_get_ibv_pd(bench.pd));
	return bench.mrs[0] && bench.mrs[1] && create_cq() && create_qp() && connect_qp();
}

static void close_all(void)
{
	if (bench.qp)
		doca_verbs_qp_destroy(bench.qp);
	if (bench.cq)
		doca_verbs_cq_destroy(bench.cq);
	for (int i = 0; i < 2; i++)
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
	static const struct option long_options[] = {{"only", required_argument, NULL, 'o'},
						     {"batch", required_argument, NULL, 'b'},
						     {"writes", required_argument, NULL, 'w'},
						     {"rounds", required_argument, NULL, 'r'},
						     {0}};
	const struct kind *only = NULL;
	size_t batch = 1, writes = 64, rounds = 101;
	bool done;
	int opt;

	while ((opt = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (opt == 'o')
			only = &kinds[!strcmp(optarg, "task")];
		else if (opt == 'b')
			batch = strtoul(optarg, NULL, 10);
		else if (opt == 'w')
			writes = strtoul(optarg, NULL, 10);
		else if (opt == 'r')
			rounds = strtoul(optarg, NULL, 10);
		else
			return 2;
	}
	if (!batch || batch > DEPTH || !rounds || rounds > MAX_ROUNDS)
		return 2;
	done = open_all() && (only ? count_writes(only, batch, writes) : compare(rounds));
	close_all();
	if (!done)
		fprintf(stderr, "bench_verbs: failed\n");
	return done ? 0 : 1;
}
