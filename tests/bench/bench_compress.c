/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Measure a task of doca_compress, compared with a program that writes the same work requests into the send queue's
 * memory and reads the completions in the completion queue's (raw.h creates both), on the same device. Without
 * options, measure the time of 64 KiB, and of zlib on the CPU. With --only, decompress streams of 64 bytes for another
 * tool: valgrind --tool=callgrind --toggle-collect='measured_*' counts the instructions in the functions
 * measured_*(). The program counts allocations and locks itself.
 */
#include <endian.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <zlib.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_compress.h>
#include <doca_ctx.h>
#include <doca_pe.h>

#include "calls.h"
#include "peer.h"
#include "raw.h"
#include "stats.h"

#define DEPTH	   64u
#define SMALL	   64u	       /* bytes of a stored block */
#define BIG	   (64u << 10) /* bytes of text */
#define HALF	   (1u << 20)  /* of the memory: sources, and destinations */
#define SLOT	   (HALF / DEPTH)
#define RESULT	   256u
#define MAX_ROUNDS 1000
#define DECOMPRESS 0x0300002fu
#define SIGNALED   0x8u
#define DBR_SEND   1
#define DBR_CQ	   0

struct bench {
	uint8_t *memory; /* the halves, and results */
	struct raw raw;
	struct mlx5dv_qp qp;
	struct mlx5dv_cq cq;
	uint32_t posted, reaped;
	size_t packed; /* bytes of each source */
	size_t plain;  /* bytes of each destination */
	struct doca_dev *dev;
	struct doca_mmap *map;
	struct doca_buf_inventory *inventory;
	struct doca_pe *pe;
	struct doca_compress *compress;
	struct doca_buf *src[DEPTH], *dst[DEPTH];
	struct doca_compress_task_decompress_deflate *task[DEPTH];
	size_t done;
	bool failed;
	unsigned long empty;
};

static struct bench bench;

static uint8_t *source(size_t i)
{
	return bench.memory + i * SLOT;
}

static uint8_t *destination(size_t i)
{
	return bench.memory + HALF + i * (HALF / DEPTH) * 4;
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
	uint32_t *wqe = NULL;
	uint64_t first = 0;

	for (size_t i = 0; i < n; i++, bench.posted++) {
		uint32_t slot = bench.posted & (bench.qp.sq.wqe_cnt - 1);

		wqe = (uint32_t *)(void *)((uint8_t *)bench.qp.sq.buf +
					   (size_t)slot * bench.qp.sq.stride);
		wqe[0] = htobe32(DECOMPRESS | (bench.posted & 0xffff) << 8);
		wqe[1] = htobe32(bench.raw.qp->qp_num << 8 | 4);
		wqe[2] = htobe32(SIGNALED);
		wqe[3] = 0;
		put(wqe + 4, 0, bench.memory + HALF + 4 * HALF + (size_t)(slot % DEPTH) * RESULT);
		put(wqe + 8, (uint32_t)bench.packed, source(i));
		put(wqe + 12, (uint32_t)bench.plain, destination(i));
	}
	__atomic_thread_fence(__ATOMIC_RELEASE);
	bench.qp.dbrec[DBR_SEND] = htobe32(bench.posted & 0xffff);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (wqe)
		memcpy(&first, wqe, sizeof(first));
	*(volatile uint64_t *)bench.qp.bf.reg = first;
	return true;
}

/* Of the next completion, or NULL. */
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
			bench.empty++;
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

static void on_end(struct doca_compress_task_decompress_deflate *task, union doca_data task_data,
		   union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	bench.done++;
	bench.failed |= doca_task_get_status(doca_compress_task_decompress_deflate_as_task(task)) !=
			DOCA_SUCCESS;
}

__attribute__((noinline)) static bool measured_task_post(size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (doca_task_submit_ex(
			    doca_compress_task_decompress_deflate_as_task(bench.task[i]),
			    i + 1 < n ? DOCA_TASK_SUBMIT_FLAG_NONE : DOCA_TASK_SUBMIT_FLAG_FLUSH) !=
		    DOCA_SUCCESS)
			return false;
	return true;
}

__attribute__((noinline)) static bool measured_task_reap(size_t n)
{
	bench.done = 0;
	while (bench.done < n && !bench.failed)
		if (!doca_pe_progress(bench.pe))
			bench.empty++;
	return !bench.failed;
}

static const struct kind {
	const char *name;
	bool (*post)(size_t n);
	bool (*reap)(size_t n);
} kinds[] = {
	{"raw", measured_raw_post, measured_raw_reap},
	{"task", measured_task_post, measured_task_reap},
};

/* The device writes the result and the completion immediately after the bytes, which are not 0. */
static void await_bytes(const volatile uint8_t *last)
{
	while (!*last)
		bench_pause(1);
	bench_pause(2);
}

static bool run_batch(const struct kind *kind, size_t n, bool is_patient)
{
	uint8_t *last = destination(n - 1) + bench.plain - 1;

	for (size_t i = 0; i < n; i++)
		doca_buf_reset_data_len(bench.dst[i]);
	*last = 0;
	if (!kind->post(n))
		return false;
	if (is_patient)
		await_bytes(last);
	return kind->reap(n);
}

/* The first batch includes one-time work, and is measured by the tool as well. */
static bool count_small(const struct kind *kind, size_t batch, size_t tasks)
{
	unsigned long allocations, locks;

	if (!run_batch(kind, batch, true))
		return false;
	allocations = bench_allocations;
	locks = bench_locks;
	for (size_t i = 0; i < tasks; i += batch)
		if (!run_batch(kind, batch, true))
			return false;
	printf("%s: %zu streams in batches of %zu, %lu allocations, %lu locks, %lu empty polls\n",
	       kind->name, tasks, batch, bench_allocations - allocations, bench_locks - locks,
	       bench.empty);
	return true;
}

/* --- time ------------------------------------------------------------------------------------- */

static bool inflate_one(void)
{
	z_stream z = {.next_in = source(0),
		      .avail_in = (uInt)bench.packed,
		      .next_out = destination(0),
		      .avail_out = (uInt)bench.plain};
	bool done = inflateInit2(&z, -MAX_WBITS) == Z_OK && inflate(&z, Z_FINISH) == Z_STREAM_END;

	inflateEnd(&z);
	return done;
}

static bool time_of(bool (*once)(void), const struct kind *kind, double *us)
{
	double begin = bench_now();

	if (kind ? !run_batch(kind, 1, false) : !once())
		return false;
	*us = (bench_now() - begin) * 1e6;
	return true;
}

static bool compare(size_t rounds)
{
	static double raws[MAX_ROUNDS], tasks[MAX_ROUNDS], zlibs[MAX_ROUNDS], ratios[MAX_ROUNDS];
	struct bench_stats raw, task, on_cpu, ratio;

	for (size_t i = 0; i <= rounds; i++) {
		size_t at = i ? i - 1 : 0; /* the first round warms up */

		if (!time_of(NULL, &kinds[i % 2], i % 2 ? &tasks[at] : &raws[at]) ||
		    !time_of(NULL, &kinds[!(i % 2)], i % 2 ? &raws[at] : &tasks[at]) ||
		    !time_of(inflate_one, NULL, &zlibs[at]))
			return false;
		ratios[at] = tasks[at] / raws[at];
	}
	bench_stats(raws, rounds, &raw);
	bench_stats(tasks, rounds, &task);
	bench_stats(zlibs, rounds, &on_cpu);
	bench_stats(ratios, rounds, &ratio);
	printf("64 KiB decompressed, one at a time, us: median (range) of %zu rounds\n"
	       "  raw    %6.1f (%.1f to %.1f)\n  tasks  %6.1f (%.1f to %.1f)\n"
	       "  zlib   %6.1f (%.1f to %.1f), by this thread\n"
	       "  ratio  %6.3f (%.3f to %.3f) of tasks : raw (goal: at most 1.2)\n",
	       rounds, raw.median, raw.min, raw.max, task.median, task.min, task.max, on_cpu.median,
	       on_cpu.min, on_cpu.max, ratio.median, ratio.min, ratio.max);
	bench_record(&ratio, "at most 1.2", "time of 64 KiB decompressed : work request");
	return true;
}

/* --- set-up ----------------------------------------------------------------------------------- */

static size_t pack(uint8_t *out, size_t room, size_t plain, int level)
{
	static uint8_t text[BIG];
	z_stream z = {
		.next_in = text, .avail_in = (uInt)plain, .next_out = out, .avail_out = (uInt)room};
	uint32_t random = 1;

	for (size_t i = 0; i < plain; i++) {
		random = random * 1103515245 + 12345;
		text[i] = (uint8_t)('a' + (random >> 20) % 12);
	}
	if (deflateInit2(&z, level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
	    deflate(&z, Z_FINISH) != Z_STREAM_END)
		return 0;
	deflateEnd(&z);
	return z.total_out;
}

static bool fill(bool is_small)
{
	size_t memory = HALF + 4 * HALF + DEPTH * RESULT;

	bench.memory = mmap(NULL, memory, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (bench.memory == MAP_FAILED)
		return false;
	bench.plain = is_small ? SMALL : BIG;
	for (size_t i = 0; i < (is_small ? DEPTH : 1u); i++)
		bench.packed = pack(source(i), is_small ? SLOT : HALF, bench.plain,
				    is_small ? Z_NO_COMPRESSION : Z_DEFAULT_COMPRESSION);
	return bench.packed && raw_open(&bench.raw, DEPTH, false, bench.memory, memory) &&
	       map_queues();
}

static doca_error_t can_decompress(const struct doca_devinfo *devinfo, uint8_t *supported)
{
	*supported =
		doca_compress_cap_task_decompress_deflate_is_supported(devinfo) == DOCA_SUCCESS;
	return DOCA_SUCCESS;
}

static bool open_context(void)
{
	struct doca_ctx *ctx;

	bench.dev = bench_open_device(can_decompress);
	if (!bench.dev)
		return false;
	bench.map = bench_map(bench.dev, bench.memory, 5 * HALF, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	if (!bench.map ||
	    !bench_is_ok(doca_buf_inventory_create((size_t)2 * DEPTH, &bench.inventory), "bufs") ||
	    !bench_is_ok(doca_buf_inventory_start(bench.inventory), "starting them") ||
	    !bench_is_ok(doca_pe_create(&bench.pe), "an engine") ||
	    !bench_is_ok(doca_compress_create(bench.dev, &bench.compress), "a context"))
		return false;
	ctx = doca_compress_as_ctx(bench.compress);
	return bench_is_ok(doca_compress_task_decompress_deflate_set_conf(bench.compress, on_end,
									  on_end, DEPTH),
			   "its tasks") &&
	       bench_is_ok(doca_pe_connect_ctx(bench.pe, ctx), "its engine") &&
	       bench_is_ok(doca_ctx_start(ctx), "starting it");
}

static bool get_tasks(void)
{
	for (size_t i = 0; i < DEPTH; i++)
		if (!bench_is_ok(doca_buf_inventory_buf_get_by_data(bench.inventory, bench.map,
								    source(i), bench.packed,
								    &bench.src[i]),
				 "a source") ||
		    !bench_is_ok(doca_buf_inventory_buf_get_by_addr(bench.inventory, bench.map,
								    destination(i), bench.plain,
								    &bench.dst[i]),
				 "a destination") ||
		    !bench_is_ok(doca_compress_task_decompress_deflate_alloc_init(
					 bench.compress, bench.src[i], bench.dst[i],
					 (union doca_data){0}, &bench.task[i]),
				 "a task"))
			return false;
	return true;
}

static void close_all(void)
{
	for (size_t i = 0; i < DEPTH; i++) {
		doca_task_free(doca_compress_task_decompress_deflate_as_task(bench.task[i]));
		if (bench.src[i])
			doca_buf_dec_refcount(bench.src[i], NULL);
		if (bench.dst[i])
			doca_buf_dec_refcount(bench.dst[i], NULL);
	}
	if (bench.compress) {
		doca_ctx_stop(doca_compress_as_ctx(bench.compress));
		doca_compress_destroy(bench.compress);
	}
	if (bench.pe)
		doca_pe_destroy(bench.pe);
	if (bench.inventory)
		doca_buf_inventory_destroy(bench.inventory);
	if (bench.map)
		doca_mmap_destroy(bench.map);
	if (bench.dev)
		doca_dev_close(bench.dev);
	raw_close(&bench.raw);
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {{"only", required_argument, NULL, 'o'},
						     {"batch", required_argument, NULL, 'b'},
						     {"tasks", required_argument, NULL, 't'},
						     {"rounds", required_argument, NULL, 'r'},
						     {0}};
	const struct kind *only = NULL;
	size_t batch = 1, tasks = 64, rounds = 101;
	bool done;
	int opt;

	while ((opt = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (opt == 'o')
			only = &kinds[!strcmp(optarg, "task")];
		else if (opt == 'b')
			batch = strtoul(optarg, NULL, 10);
		else if (opt == 't')
			tasks = strtoul(optarg, NULL, 10);
		else if (opt == 'r')
			rounds = strtoul(optarg, NULL, 10);
		else
			return 2;
	}
	if (!batch || batch > DEPTH || !rounds || rounds > MAX_ROUNDS)
		return 2;
	done = fill(only) && open_context() && get_tasks() &&
	       (only ? count_small(only, batch, tasks) : compare(rounds));
	close_all();
	if (!done)
		fprintf(stderr, "bench_compress: a stream could not be decompressed\n");
	return done ? 0 : 1;
}
