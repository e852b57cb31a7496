/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "mmo.h"

#include <endian.h>
#include <string.h>
#include <sys/mman.h>

#include <doca_buf_inventory.h>
#include <doca_rdma_bridge.h>

#include "batches.h"
#include "device.h"
#include "raw.h"

#define SLOT	 (MMO_BIG + 4096) /* of the memory: a source, or a destination */
#define HALF	 (MMO_DEPTH * SLOT)
#define SCRATCH	 256u
#define MEMORY	 (2 * HALF + MMO_DEPTH * SCRATCH)
#define SIGNALED 0x8u
#define DBR_SEND 1
#define DBR_CQ	 0

struct mmo mmo;

static struct {
	const struct mmo_ops *ops;
	uint8_t *memory; /* sources, destinations, and scratch memory */
	struct raw raw;
	struct mlx5dv_qp qp;
	struct mlx5dv_cq cq;
	uint32_t posted, reaped;
	struct doca_mmap *map;
	struct doca_buf_inventory *inventory;
	struct doca_pe *pe;
	struct doca_ctx *ctx;
	struct doca_buf *src[MMO_DEPTH], *dst[MMO_DEPTH];
	struct doca_task *task[MMO_DEPTH];
} bench;

static uint8_t *source(size_t i)
{
	return bench.memory + i * SLOT;
}

static uint8_t *destination(size_t i)
{
	return bench.memory + HALF + i * SLOT;
}

uint8_t *mmo_scratch(size_t i)
{
	return bench.memory + (size_t)2 * HALF + i * SCRATCH;
}

static volatile uint64_t *prepare(enum batches_way way, size_t n)
{
	(void)way;
	for (size_t i = 0; i < n; i++)
		doca_buf_reset_data_len(bench.dst[i]);
	return (volatile uint64_t *)(void *)(destination(n - 1) + mmo.out - sizeof(uint64_t));
}

/* --- by hand ---------------------------------------------------------------------------------- */

static bool map_queues(void)
{
	struct mlx5dv_obj objects = {.qp = {.in = bench.raw.qp, .out = &bench.qp},
				     .cq = {.in = bench.raw.cq, .out = &bench.cq}};

	return !mlx5dv_init_obj(&objects, MLX5DV_OBJ_QP | MLX5DV_OBJ_CQ);
}

static void put(uint32_t *to, uint32_t len, const void *addr)
{
	uint64_t where = htobe64((uintptr_t)addr);

	to[0] = htobe32(len);
	to[1] = htobe32(bench.raw.mr->lkey);
	memcpy(to + 2, &where, sizeof(where));
}

__attribute__((noinline)) static bool measured_raw_post(size_t n)
{
	const struct mmo_ops *ops = bench.ops;
	uint32_t *wqe = NULL;
	uint64_t first = 0;

	for (size_t i = 0; i < n; i++, bench.posted++) {
		uint32_t slot = bench.posted & (bench.qp.sq.wqe_cnt - 1);
		uint8_t *scratch = mmo_scratch(slot % MMO_DEPTH);

		wqe = (uint32_t *)(void *)((uint8_t *)bench.qp.sq.buf +
					   (size_t)slot * bench.qp.sq.stride);
		wqe[0] = htobe32(ops->opcode | (bench.posted & 0xffff) << 8);
		wqe[1] = htobe32(bench.raw.qp->qp_num << 8 | 4);
		wqe[2] = htobe32(SIGNALED);
		wqe[3] = htobe32(ops->control);
		if (ops->write_parameters)
			ops->write_parameters(scratch);
		put(wqe + 4, mmo.key, scratch);
		put(wqe + 8, (uint32_t)mmo.in, source(i));
		put(wqe + 12, (uint32_t)mmo.out, destination(i));
	}
	__atomic_thread_fence(__ATOMIC_RELEASE);
	bench.qp.dbrec[DBR_SEND] = htobe32(bench.posted & 0xffff);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (wqe)
		memcpy(&first, wqe, sizeof(first));
	*(volatile uint64_t *)bench.qp.bf.reg = first;
	return true;
}

/* Return the next completion, or NULL. */
static const struct mlx5_cqe64 *next_cqe(void)
{
	const uint8_t *at = (const uint8_t *)bench.cq.buf +
			    (size_t)(bench.reaped & (bench.cq.cqe_cnt - 1)) * bench.cq.cqe_size;
	const struct mlx5_cqe64 *cqe = (const void *)(at + bench.cq.cqe_size - sizeof(*cqe));
	uint8_t op_own = *(const volatile uint8_t *)&cqe->op_own;

	if (op_own >> 4 == MLX5_CQE_INVALID || (op_own & 1) != !!(bench.reaped & bench.cq.cqe_cnt))
		return NULL;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return cqe;
}

__attribute__((noinline)) static bool measured_raw_reap(size_t n)
{
	for (size_t done = 0; done < n;) {
		const struct mlx5_cqe64 *cqe = next_cqe();

		if (!cqe) {
			batches_empty++;
			continue;
		}
		if (cqe->op_own >> 4 != MLX5_CQE_REQ)
			return false;
		bench.cq.dbrec[DBR_CQ] = htobe32(++bench.reaped & 0xffffff);
		done++;
	}
	return true;
}

/* --- tasks ------------------------------------------------------------------------------------ */

__attribute__((noinline)) static bool measured_task_post(size_t n)
{
	const struct mmo_ops *ops = bench.ops;

	for (size_t i = 0; i < n; i++) {
		if (ops->set_parameters)
			ops->set_parameters(bench.task[i]);
		if (doca_task_submit_ex(bench.task[i], i + 1 < n ? DOCA_TASK_SUBMIT_FLAG_NONE
								 : DOCA_TASK_SUBMIT_FLAG_FLUSH) !=
		    DOCA_SUCCESS)
			return false;
	}
	return true;
}

__attribute__((noinline)) static bool measured_task_reap(size_t n)
{
	mmo.done = 0;
	while (mmo.done < n && !mmo.failed)
		if (!doca_pe_progress(bench.pe))
			batches_empty++;
	return !mmo.failed;
}

/* --- set-up ----------------------------------------------------------------------------------- */

static bool fill(bool is_small)
{
	static uint8_t text[MMO_BIG];
	uint32_t random = 1;

	bench.memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (bench.memory == MAP_FAILED)
		return false;
	for (size_t i = 0; i < sizeof(text); i++) {
		random = random * 1103515245 + 12345;
		text[i] = (uint8_t)('a' + (random >> 20) % 12);
	}
	for (size_t i = 0; i < MMO_DEPTH; i++)
		if (!bench.ops->fill(source(i), text, is_small ? MMO_SMALL : MMO_BIG))
			return false;
	return true;
}

static bool open_library(void)
{
	if (!bench_is_ok(doca_rdma_bridge_open_dev_from_pd(bench.raw.pd, &mmo.dev), "a device"))
		return false;
	bench.map = bench_map(mmo.dev, bench.memory, MEMORY, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	if (!bench.map ||
	    !bench_is_ok(doca_buf_inventory_create((size_t)2 * MMO_DEPTH, &bench.inventory),
			 "bufs") ||
	    !bench_is_ok(doca_buf_inventory_start(bench.inventory), "starting them") ||
	    !bench_is_ok(doca_pe_create(&bench.pe), "an engine"))
		return false;
	bench.ctx = bench.ops->create();
	return bench.ctx &&
	       bench_is_ok(doca_pe_connect_ctx(bench.pe, bench.ctx), "the context's engine") &&
	       bench_is_ok(doca_ctx_start(bench.ctx), "starting the context");
}

static bool get_tasks(void)
{
	for (size_t i = 0; i < MMO_DEPTH; i++)
		if (!bench_is_ok(doca_buf_inventory_buf_get_by_data(bench.inventory, bench.map,
								    source(i), mmo.in,
								    &bench.src[i]),
				 "a source") ||
		    !bench_is_ok(doca_buf_inventory_buf_get_by_addr(bench.inventory, bench.map,
								    destination(i), mmo.out,
								    &bench.dst[i]),
				 "a destination") ||
		    !bench_is_ok(bench.ops->alloc(bench.src[i], bench.dst[i], &bench.task[i]),
				 "a task"))
			return false;
	return true;
}

static bool open_all(bool is_small)
{
	return fill(is_small) && raw_open(&bench.raw, MMO_DEPTH, false, bench.memory, MEMORY) &&
	       map_queues() && open_library() && get_tasks();
}

static void close_all(void)
{
	for (size_t i = 0; i < MMO_DEPTH; i++) {
		doca_task_free(bench.task[i]);
		if (bench.src[i])
			doca_buf_dec_refcount(bench.src[i], NULL);
		if (bench.dst[i])
			doca_buf_dec_refcount(bench.dst[i], NULL);
	}
	if (bench.ctx)
		doca_ctx_stop(bench.ctx);
	bench.ops->destroy();
	if (bench.pe)
		doca_pe_destroy(bench.pe);
	if (bench.inventory)
		doca_buf_inventory_destroy(bench.inventory);
	if (bench.map)
		doca_mmap_destroy(bench.map);
	if (mmo.dev)
		doca_dev_close(mmo.dev);
	raw_close(&bench.raw);
}

static bool on_cpu(void)
{
	return bench.ops->on_cpu(source(0), destination(0));
}

int mmo_main(const struct mmo_ops *ops, int argc, char **argv)
{
	const struct batches batches = {
		.many = ops->many,
		.title = ops->title,
		.names = {"raw", "tasks"},
		.ratio = ops->ratio,
		.goal = "at most 1.2",
		.max_batch = MMO_DEPTH,
		.open = open_all,
		.close = close_all,
		.prepare = prepare,
		.post = {measured_raw_post, measured_task_post},
		.reap = {measured_raw_reap, measured_task_reap},
		.cpu = ops->cpu,
		.on_cpu = on_cpu,
	};

	bench.ops = ops;
	return batches_main(&batches, argc, argv);
}
