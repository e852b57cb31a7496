/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Measure a DMA task, compared with a program that calls mlx5dv_wr_memcpy() and polls the completion queue
 * itself (raw.h), on the same device. Without options, measure the speed; the two alternate. With --only,
 * make copies of one kind for another tool: valgrind --tool=callgrind --toggle-collect='measured_*' counts
 * the instructions in the functions measured_*(), and strace the system calls of this thread between the
 * lines "begin" and "end". The program counts allocations itself.
 */
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_pe.h>

#include "base/array.h"
#include "calls.h"
#include "peer.h"
#include "raw.h"
#include "stats.h"

#define SMALL	   ((size_t)64)
#define BIG	   ((size_t)1 << 20)
#define DEPTH	   64
#define BIG_DEPTH  8u
#define MEMORY	   (2 * BIG_DEPTH * BIG) /* the source, followed by the destination */
#define SLOT	   4096			 /* distance between small copies */
#define BIG_COPIES 16
#define MAX_ROUNDS 1000

struct bench {
	uint8_t *memory;
	struct raw raw;
	struct doca_dev *dev;
	struct doca_mmap *map;
	struct doca_buf_inventory *inventory;
	struct doca_pe *pe;
	struct doca_dma *dma;
	struct doca_buf *src[DEPTH], *dst[DEPTH];
	struct raw_copy copies[DEPTH];
	size_t left; /* tasks that the callback has still to submit again */
	size_t done;
	bool again;
	bool failed;
	unsigned long empty; /* polls that missed a completion that had already been written */
};

/* --- tasks ------------------------------------------------------------------------------------ */

static bool submit(struct bench *bench, size_t i, uint32_t flags)
{
	struct doca_dma_task_memcpy *task;

	return doca_dma_task_memcpy_alloc_init(bench->dma, bench->src[i], bench->dst[i],
					       (union doca_data){.u64 = i},
					       &task) == DOCA_SUCCESS &&
	       doca_task_submit_ex(doca_dma_task_memcpy_as_task(task), flags) == DOCA_SUCCESS;
}

static void on_success(struct doca_dma_task_memcpy *task, union doca_data task_data,
		       union doca_data ctx_data)
{
	struct bench *bench = ctx_data.ptr;

	bench->done++;
	if (!bench->again || !bench->left) {
		doca_task_free(doca_dma_task_memcpy_as_task(task));
		return;
	}
	bench->left--;
	doca_buf_reset_data_len(bench->dst[task_data.u64]);
	bench->failed |= doca_task_submit(doca_dma_task_memcpy_as_task(task)) != DOCA_SUCCESS;
}

static void on_error(struct doca_dma_task_memcpy *task, union doca_data task_data,
		     union doca_data ctx_data)
{
	struct bench *bench = ctx_data.ptr;

	bench->failed = true;
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static bool start_dma(struct bench *bench)
{
	struct doca_ctx *ctx;

	if (!bench_is_ok(doca_pe_create(&bench->pe), "an engine") ||
	    !bench_is_ok(doca_dma_create(bench->dev, &bench->dma), "a DMA context"))
		return false;
	ctx = doca_dma_as_ctx(bench->dma);
	return bench_is_ok(doca_dma_task_memcpy_set_conf(bench->dma, on_success, on_error, DEPTH),
			   "its tasks") &&
	       bench_is_ok(doca_ctx_set_user_data(ctx, (union doca_data){.ptr = bench}),
			   "its data") &&
	       bench_is_ok(doca_pe_connect_ctx(bench->pe, ctx), "its engine") &&
	       bench_is_ok(doca_ctx_start(ctx), "starting it");
}

static bool get_bufs(struct bench *bench, size_t n, size_t len, size_t stride)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t *from = bench->memory + i * stride;
		uint8_t *to = from + MEMORY / 2;

		if (!bench_is_ok(doca_buf_inventory_buf_get_by_data(bench->inventory, bench->map,
								    from, len, &bench->src[i]),
				 "a source") ||
		    !bench_is_ok(doca_buf_inventory_buf_get_by_addr(bench->inventory, bench->map,
								    to, len, &bench->dst[i]),
				 "a destination"))
			return false;
		bench->copies[i] = (struct raw_copy){(uintptr_t)to, (uintptr_t)from, len};
	}
	return true;
}

static void put_bufs(struct bench *bench)
{
	for (size_t i = 0; i < DEPTH; i++) {
		if (bench->src[i])
			doca_buf_dec_refcount(bench->src[i], NULL);
		if (bench->dst[i])
			doca_buf_dec_refcount(bench->dst[i], NULL);
		bench->src[i] = bench->dst[i] = NULL;
	}
}

/* --- batches of small copies ------------------------------------------------------------------ */

/* Not inlined, so that callgrind can detect calls and returns. */
__attribute__((noinline)) static bool measured_task_post(struct bench *bench, size_t n)
{
	for (size_t i = 0; i < n - 1; i++)
		if (!submit(bench, i, DOCA_TASK_SUBMIT_FLAG_NONE))
			return false;
	return submit(bench, n - 1, DOCA_TASK_SUBMIT_FLAG_FLUSH);
}

__attribute__((noinline)) static bool measured_task_reap(struct bench *bench, size_t n)
{
	bench->done = 0;
	while (bench->done < n && !bench->failed)
		if (!doca_pe_progress(bench->pe))
			bench->empty++;
	return !bench->failed;
}

__attribute__((noinline)) static bool measured_raw_post(struct bench *bench, size_t n)
{
	return raw_post(&bench->raw, bench->copies, n);
}

__attribute__((noinline)) static bool measured_raw_reap(struct bench *bench, size_t n)
{
	size_t done = 0;
	int got;

	while (done < n) {
		got = raw_reap(&bench->raw, (int)(n - done));
		if (got < 0)
			return false;
		if (!got)
			bench->empty++;
		done += (size_t)got;
	}
	return true;
}

struct kind {
	const char *name;
	bool raw, single_thread;
	bool (*post)(struct bench *bench, size_t n);
	bool (*reap)(struct bench *bench, size_t n);
};

static const struct kind kinds[] = {
	{"raw", true, false, measured_raw_post, measured_raw_reap},
	{"raw-single", true, true, measured_raw_post, measured_raw_reap},
	{"task", false, false, measured_task_post, measured_task_reap},
};
#define KINDS ARRAY_SIZE(kinds)

/* The device writes the completion immediately after the bytes. */
static void await_bytes(const volatile uint8_t *last)
{
	while (*last != 1)
		bench_pause(1);
	bench_pause(1);
}

static bool small_batch(struct bench *bench, const struct kind *kind, size_t n, bool is_patient)
{
	uint8_t *last = bench->memory + MEMORY / 2 + (n - 1) * SLOT + SMALL - 1;

	for (size_t i = 0; i < n; i++)
		doca_buf_reset_data_len(bench->dst[i]);
	*last = 0;
	if (!kind->post(bench, n))
		return false;
	if (is_patient)
		await_bytes(last);
	return kind->reap(bench, n);
}

static void mark(const char *line)
{
	if (write(STDOUT_FILENO, line, strlen(line)) < 0)
		perror("bench");
}

static bool make_small(struct bench *bench, const struct kind *kind, size_t batch, size_t copies,
		       bool is_patient)
{
	unsigned long before;

	/* The first batch includes one-time work. */
	if (!small_batch(bench, kind, batch, true))
		return bench_fail("a copy", DOCA_ERROR_IO_FAILED) == 0;
	mark("begin\n");
	before = bench_allocations;
	for (size_t i = 0; i < copies; i += batch)
		if (!small_batch(bench, kind, batch, is_patient))
			return bench_fail("a copy", DOCA_ERROR_IO_FAILED) == 0;
	before = bench_allocations - before;
	mark("end\n");
	printf("%s: %zu copies of %zu bytes in batches of %zu, %lu allocations, %lu empty polls\n",
	       kind->name, copies, SMALL, batch, before, bench->empty);
	return true;
}

/* --- waiting for events ----------------------------------------------------------------------- */

static bool await_event(int fd)
{
	struct pollfd event = {.fd = fd, .events = POLLIN};

	return poll(&event, 1, 10000) == 1;
}

static bool raw_event(struct bench *bench)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_req_notify_cq(bench->raw.cq, 0) || !raw_post(&bench->raw, bench->copies, 1) ||
	    !await_event(bench->raw.channel->fd) ||
	    ibv_get_cq_event(bench->raw.channel, &cq, &context))
		return false;
	ibv_ack_cq_events(cq, 1);
	return measured_raw_reap(bench, 1);
}

static bool task_event(struct bench *bench)
{
	doca_notification_handle_t handle;

	doca_buf_reset_data_len(bench->dst[0]);
	return doca_pe_get_notification_handle(bench->pe, &handle) == DOCA_SUCCESS &&
	       doca_pe_request_notification(bench->pe) == DOCA_SUCCESS &&
	       submit(bench, 0, DOCA_TASK_SUBMIT_FLAG_FLUSH) && await_event(handle) &&
	       doca_pe_clear_notification(bench->pe, handle) == DOCA_SUCCESS &&
	       measured_task_reap(bench, 1);
}

static bool make_events(struct bench *bench, const struct kind *kind, size_t n)
{
	bool (*wait)(struct bench * bench) = kind->raw ? raw_event : task_event;

	if (!wait(bench))
		return bench_fail("waiting for a copy", DOCA_ERROR_IO_FAILED) == 0;
	mark("begin\n");
	for (size_t i = 0; i < n; i++)
		if (!wait(bench))
			return bench_fail("waiting for a copy", DOCA_ERROR_IO_FAILED) == 0;
	mark("end\n");
	printf("%s: %zu copies waited for\n", kind->name, n);
	return true;
}

/* --- speed ------------------------------------------------------------------------------------ */

static bool raw_big(struct bench *bench)
{
	size_t posted = BIG_DEPTH, done = 0;
	int got;

	if (!raw_post(&bench->raw, bench->copies, BIG_DEPTH))
		return false;
	for (; done < BIG_COPIES; done += (size_t)got) {
		got = raw_reap(&bench->raw, 1);
		if (got < 0)
			return false;
		if (got && posted < BIG_COPIES &&
		    !raw_post(&bench->raw, &bench->copies[posted++ % BIG_DEPTH], 1))
			return false;
	}
	return true;
}

static bool task_big(struct bench *bench)
{
	bench->again = true;
	bench->left = BIG_COPIES - BIG_DEPTH;
	for (size_t i = 0; i < BIG_DEPTH; i++)
		doca_buf_reset_data_len(bench->dst[i]);
	if (!measured_task_post(bench, BIG_DEPTH) || !measured_task_reap(bench, BIG_COPIES))
		return false;
	bench->again = false;
	return true;
}

static bool big_speed(struct bench *bench, bool (*run)(struct bench *bench), double *speed)
{
	double begin = bench_now();

	if (!run(bench))
		return bench_fail("a copy", DOCA_ERROR_IO_FAILED) == 0;
	*speed = (double)BIG * BIG_COPIES / (bench_now() - begin) / 1e9;
	return true;
}

static bool compare_big(struct bench *bench, size_t rounds)
{
	static double raws[MAX_ROUNDS], tasks[MAX_ROUNDS], ratios[MAX_ROUNDS];
	struct bench_stats raw, task, ratio;

	for (size_t i = 0; i <= rounds; i++) {
		size_t at = i ? i - 1 : 0; /* the first round warms up */
		bool first = i % 2;

		if ((first && !big_speed(bench, task_big, &tasks[at])) ||
		    !big_speed(bench, raw_big, &raws[at]) ||
		    (!first && !big_speed(bench, task_big, &tasks[at])))
			return false;
		ratios[at] = tasks[at] / raws[at];
	}
	bench_stats(raws, rounds, &raw);
	bench_stats(tasks, rounds, &task);
	bench_stats(ratios, rounds, &ratio);
	printf("1 MiB copies, %u in flight, GB/s: median (range) of %zu rounds\n"
	       "  raw    %6.3f (%.3f to %.3f)\n  tasks  %6.3f (%.3f to %.3f)\n"
	       "  ratio  %6.3f (%.3f to %.3f), best : best %.3f (goal: at least 0.97)\n",
	       BIG_DEPTH, rounds, raw.median, raw.min, raw.max, task.median, task.min, task.max,
	       ratio.median, ratio.min, ratio.max, task.max / raw.max);
	bench_record(&ratio, "at least 0.97", "bandwidth at 1 MiB : verbs");
	return true;
}

/* --- set-up ----------------------------------------------------------------------------------- */

static bool start_memory(struct bench *bench)
{
	bench->memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (bench->memory == MAP_FAILED) {
		bench->memory = NULL;
		return bench_is_ok(DOCA_ERROR_NO_MEMORY, "memory");
	}
	memset(bench->memory, 1, MEMORY / 2);
	return true;
}

static doca_error_t can_copy(const struct doca_devinfo *devinfo, uint8_t *supported)
{
	*supported = doca_dma_cap_task_memcpy_is_supported(devinfo) == DOCA_SUCCESS;
	return DOCA_SUCCESS;
}

static bool open_tasks(struct bench *bench)
{
	bench->dev = bench_open_device(can_copy);
	if (!bench->dev)
		return false;
	bench->map =
		bench_map(bench->dev, bench->memory, MEMORY, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	return bench->map &&
	       bench_is_ok(doca_buf_inventory_create((size_t)2 * DEPTH, &bench->inventory),
			   "bufs") &&
	       bench_is_ok(doca_buf_inventory_start(bench->inventory), "starting them");
}

static void close_tasks(struct bench *bench)
{
	put_bufs(bench);
	if (bench->dma) {
		doca_ctx_stop(doca_dma_as_ctx(bench->dma));
		bench_is_ok(doca_dma_destroy(bench->dma), "destroying the context");
	}
	if (bench->pe)
		bench_is_ok(doca_pe_destroy(bench->pe), "destroying the engine");
	if (bench->inventory)
		bench_is_ok(doca_buf_inventory_destroy(bench->inventory), "destroying the bufs");
	if (bench->map)
		bench_is_ok(doca_mmap_destroy(bench->map), "destroying the map");
	if (bench->dev)
		bench_is_ok(doca_dev_close(bench->dev), "closing the device");
}

struct options {
	const struct kind *only;
	size_t batch, copies, events, rounds;
	bool spin;
};

static bool run(struct bench *bench, const struct options *options)
{
	const struct kind *kind = options->only;

	if (!get_bufs(bench, kind ? DEPTH : BIG_DEPTH, kind ? SMALL : BIG, kind ? SLOT : BIG))
		return false;
	if (!kind)
		return compare_big(bench, options->rounds);
	if (options->events)
		return make_events(bench, kind, options->events);
	return make_small(bench, kind, options->batch, options->copies, !options->spin);
}

static bool open_and_run(struct bench *bench, const struct options *options)
{
	bool single_thread = options->only && options->only->single_thread;
	bool done;

	if (!start_memory(bench) ||
	    !raw_open(&bench->raw, DEPTH, single_thread, bench->memory, MEMORY))
		return false;
	done = open_tasks(bench) && start_dma(bench) && run(bench, options);
	close_tasks(bench);
	raw_close(&bench->raw);
	return done;
}

static int usage(FILE *to)
{
	fprintf(to,
		"usage: bench_task [--rounds N]\n"
		"       bench_task --only KIND [--batch N] [--copies N] [--spin]\n"
		"       bench_task --only KIND --events N\n\n"
		"KIND is raw, raw-single or task. --spin polls for completions all the time\n"
		"instead of sleeping first; --events waits for each copy by file descriptor.\n");
	return to == stderr ? 2 : 0;
}

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < KINDS; i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

/* Return 0 to continue, or the exit status plus 1. */
static int parse(int argc, char **argv, struct options *options)
{
	static const struct option long_options[] = {
		{"only", required_argument, NULL, 'o'},	  {"batch", required_argument, NULL, 'b'},
		{"copies", required_argument, NULL, 'c'}, {"events", required_argument, NULL, 'e'},
		{"rounds", required_argument, NULL, 'r'}, {"spin", no_argument, NULL, 's'},
		{"help", no_argument, NULL, 'h'},	  {0}};
	int opt;

	while ((opt = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		size_t number = optarg ? strtoul(optarg, NULL, 10) : 0;

		if (opt == 'h')
			return usage(stdout) + 1;
		if (opt == 'o')
			options->only = optarg ? find_kind(optarg) : NULL;
		else if (opt == 's')
			options->spin = true;
		else if (opt == '?' || !number)
			return usage(stderr) + 1;
		if (opt == 'o' && !options->only)
			return usage(stderr) + 1;
		*(opt == 'b'   ? &options->batch
		  : opt == 'c' ? &options->copies
		  : opt == 'e' ? &options->events
		  : opt == 'r' ? &options->rounds
			       : &number) = number;
	}
	if (optind < argc || options->batch > DEPTH || options->rounds > MAX_ROUNDS)
		return usage(stderr) + 1;
	return 0;
}

int main(int argc, char **argv)
{
	static struct bench bench;
	struct options options = {.batch = 1, .copies = 1024, .rounds = 201};
	int status = parse(argc, argv, &options);
	bool done;

	if (status)
		return status - 1;
	done = open_and_run(&bench, &options);
	if (bench.memory)
		munmap(bench.memory, MEMORY);
	return done ? 0 : 1;
}
