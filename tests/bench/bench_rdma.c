/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Measure tasks of doca_rdma, compared with a program that posts and polls with verbs itself
 * (rdma_bare.h), on the same device: a context that is connected to itself, as the queue pair of
 * that program is. Without options, measure the speed of writes of 1 MiB, small writes with and
 * without inline data, and what connections cost. With --only, execute tasks of one kind, or only
 * poll, for another tool: valgrind --tool=callgrind --toggle-collect='measured_*' counts the
 * instructions in the functions measured_*(), and strace the system calls of this thread between
 * the lines "begin" and "end". The program counts allocations and locks itself. With --connections,
 * each batch uses the next of so many.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_pe.h>
#include <doca_rdma.h>
#include <doca_rdma_bridge.h>

#include "calls.h"
#include "device.h"
#include "rdma_bare.h"
#include "stats.h"

#define DEPTH	    BARE_DEPTH
#define SMALL	    ((size_t)64)
#define BIG	    ((size_t)1 << 20)
#define BIG_DEPTH   8u
#define HALF	    (BIG_DEPTH * BIG)
#define STRIDE	    ((size_t)4096)
#define BIG_TASKS   512u
#define ALONE	    300u /* small writes in a round */
#define ROUNDS	    15u
#define MANY	    1000u
#define POLLS	    100000u
#define PERMISSIONS 0xfu /* local access and all RDMA flags */

struct bench {
	enum rdma_op op;
	bool is_bare;
	uint8_t *memory;
	struct bare bare;
	struct doca_dev *dev;
	struct doca_mmap *map, *peer_map;
	struct doca_buf_inventory *inventory;
	struct doca_pe *pe;
	struct doca_rdma *rdma;
	struct doca_rdma_connection *connections[MANY]; /* near ends */
	size_t num_connections, at;			/* at: the one for tasks */
	struct doca_buf *bufs[3][DEPTH]; /* near, far, and far for the near end's tasks */
	struct doca_task *tasks[DEPTH], *receives[DEPTH];
	size_t done, received, left;
	bool failed;
	unsigned long empty;
};

static struct bench b;

/* --- tasks ------------------------------------------------------------------------------------ */

static void again(struct doca_task *task)
{
	b.done++;
	if (!b.left)
		return;
	b.left--;
	b.failed |= doca_task_submit(task) != DOCA_SUCCESS;
}

static void on_write(struct doca_rdma_task_write *task, union doca_data task_data,
		     union doca_data ctx_data)
{
	again(doca_rdma_task_write_as_task(task));
}

static void on_read(struct doca_rdma_task_read *task, union doca_data task_data,
		    union doca_data ctx_data)
{
	doca_buf_reset_data_len(b.bufs[0][task_data.u64]);
	again(doca_rdma_task_read_as_task(task));
}

static void on_send(struct doca_rdma_task_send *task, union doca_data task_data,
		    union doca_data ctx_data)
{
	again(doca_rdma_task_send_as_task(task));
}

static void on_receive(struct doca_rdma_task_receive *task, union doca_data task_data,
		       union doca_data ctx_data)
{
	doca_buf_reset_data_len(b.bufs[1][task_data.u64]);
	b.received++;
}

static void on_write_error(struct doca_rdma_task_write *task, union doca_data task_data,
			   union doca_data ctx_data)
{
	b.failed = true;
}

static void on_read_error(struct doca_rdma_task_read *task, union doca_data task_data,
			  union doca_data ctx_data)
{
	b.failed = true;
}

static void on_send_error(struct doca_rdma_task_send *task, union doca_data task_data,
			  union doca_data ctx_data)
{
	b.failed = true;
}

/* Receives that the stop flushes fail too. */
static void on_receive_error(struct doca_rdma_task_receive *task, union doca_data task_data,
			     union doca_data ctx_data)
{
	b.failed = true;
}

static doca_error_t configure(struct doca_rdma *rdma)
{
	doca_error_t result = doca_rdma_set_permissions(rdma, PERMISSIONS);

	DOCA_ERROR_PROPAGATE(result, doca_rdma_set_max_num_connections(rdma, 2 * MANY));
	DOCA_ERROR_PROPAGATE(result, doca_rdma_set_max_send_buf_list_len(rdma, 1));
	DOCA_ERROR_PROPAGATE(result,
			     doca_rdma_task_write_set_conf(rdma, on_write, on_write_error, DEPTH));
	DOCA_ERROR_PROPAGATE(result,
			     doca_rdma_task_read_set_conf(rdma, on_read, on_read_error, DEPTH));
	DOCA_ERROR_PROPAGATE(result,
			     doca_rdma_task_send_set_conf(rdma, on_send, on_send_error, DEPTH));
	DOCA_ERROR_PROPAGATE(
		result, doca_rdma_task_receive_set_conf(rdma, on_receive, on_receive_error, DEPTH));
	return result;
}

static doca_error_t open_context(void)
{
	doca_error_t result = doca_rdma_create(b.dev, &b.rdma);

	if (result != DOCA_SUCCESS)
		return result;
	result = doca_pe_connect_ctx(b.pe, doca_rdma_as_ctx(b.rdma));
	DOCA_ERROR_PROPAGATE(result, configure(b.rdma));
	DOCA_ERROR_PROPAGATE(result, doca_ctx_start(doca_rdma_as_ctx(b.rdma)));
	return result;
}

/* Two connections that are connected to each other. */
static bool connect_pair(void)
{
	struct doca_rdma_connection *near, *far;
	const void *of_near, *of_far;
	size_t near_len, far_len;
	doca_error_t result;

	result = doca_rdma_export(b.rdma, &of_near, &near_len, &near);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_export(b.rdma, &of_far, &far_len, &far);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_connect(b.rdma, of_far, far_len, near);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_connect(b.rdma, of_near, near_len, far);
	if (result != DOCA_SUCCESS)
		return bench_is_ok(result, "a connection");
	b.connections[b.num_connections++] = near;
	return true;
}

static bool connect_pairs(size_t num)
{
	while (b.num_connections < num)
		if (!connect_pair())
			return false;
	return true;
}

static doca_error_t get_bufs(size_t i, size_t len, size_t stride)
{
	uint8_t *near = b.memory + i * stride, *far = near + HALF;
	bool is_read = b.op == OP_READ;
	doca_error_t result;

	result =
		(is_read ? doca_buf_inventory_buf_get_by_addr : doca_buf_inventory_buf_get_by_data)(
			b.inventory, b.map, near, len, &b.bufs[0][i]);
	DOCA_ERROR_PROPAGATE(result, doca_buf_inventory_buf_get_by_addr(b.inventory, b.map, far,
									len, &b.bufs[1][i]));
	DOCA_ERROR_PROPAGATE(result, (is_read ? doca_buf_inventory_buf_get_by_data
					      : doca_buf_inventory_buf_get_by_addr)(
					     b.inventory, b.peer_map, far, len, &b.bufs[2][i]));
	return result;
}

static void put_bufs(void)
{
	for (size_t i = 0; i < DEPTH; i++) {
		if (b.tasks[i])
			doca_task_free(b.tasks[i]);
		if (b.receives[i])
			doca_task_free(b.receives[i]);
		b.tasks[i] = b.receives[i] = NULL;
		for (size_t k = 0; k < 3; k++) {
			if (b.bufs[k][i])
				doca_buf_dec_refcount(b.bufs[k][i], NULL);
			b.bufs[k][i] = NULL;
		}
	}
}

static doca_error_t alloc_task(size_t i)
{
	struct doca_rdma_connection *connection = b.connections[b.at];
	union doca_data data = {.u64 = i};
	struct doca_rdma_task_write *write;
	struct doca_rdma_task_read *read;
	struct doca_rdma_task_send *send;
	doca_error_t result;

	switch (b.op) {
	case OP_WRITE:
		result = doca_rdma_task_write_allocate_init(b.rdma, connection, b.bufs[0][i],
							    b.bufs[2][i], data, &write);
		if (result == DOCA_SUCCESS)
			b.tasks[i] = doca_rdma_task_write_as_task(write);
		return result;
	case OP_READ:
		result = doca_rdma_task_read_allocate_init(b.rdma, connection, b.bufs[2][i],
							   b.bufs[0][i], data, &read);
		if (result == DOCA_SUCCESS)
			b.tasks[i] = doca_rdma_task_read_as_task(read);
		return result;
	default:
		result = doca_rdma_task_send_allocate_init(b.rdma, connection, b.bufs[0][i], data,
							   &send);
		if (result == DOCA_SUCCESS)
			b.tasks[i] = doca_rdma_task_send_as_task(send);
		return result;
	}
}

static doca_error_t alloc_receive(size_t i)
{
	struct doca_rdma_task_receive *receive;
	doca_error_t result = doca_rdma_task_receive_allocate_init(
		b.rdma, b.bufs[1][i], (union doca_data){.u64 = i}, &receive);

	if (result == DOCA_SUCCESS)
		b.receives[i] = doca_rdma_task_receive_as_task(receive);
	return result;
}

/* Prepare n tasks of either kind. */
static bool prepare(size_t n, size_t len, size_t stride)
{
	bare_prepare(&b.bare, b.memory, HALF, len, stride);
	for (size_t i = 0; i < n; i++)
		if (!bench_is_ok(get_bufs(i, len, stride), "bufs") ||
		    !bench_is_ok(alloc_task(i), "a task") ||
		    (b.op == OP_SEND && !bench_is_ok(alloc_receive(i), "a receive")))
			return false;
	return true;
}

/* --- batches of small tasks ------------------------------------------------------------------- */

/* Not inlined, so that callgrind can detect calls and returns. */
__attribute__((noinline)) static bool measured_receive(size_t n)
{
	if (b.is_bare)
		return bare_post_receives(&b.bare, n);
	for (size_t i = 0; i < n; i++)
		if (doca_task_submit_ex(b.receives[i], i == n - 1 ? DOCA_TASK_SUBMIT_FLAG_FLUSH
								  : DOCA_TASK_SUBMIT_FLAG_NONE) !=
		    DOCA_SUCCESS)
			return false;
	return true;
}

__attribute__((noinline)) static bool measured_post(size_t n)
{
	if (b.is_bare)
		return bare_post(&b.bare, 0, n);
	for (size_t i = 0; i < n; i++)
		if (doca_task_submit_ex(b.tasks[i], i == n - 1 ? DOCA_TASK_SUBMIT_FLAG_FLUSH
							       : DOCA_TASK_SUBMIT_FLAG_NONE) !=
		    DOCA_SUCCESS)
			return false;
	return true;
}

__attribute__((noinline)) static bool measured_reap(size_t n)
{
	while (b.done + b.received < n) {
		int got;

		if (!b.is_bare) {
			b.empty += !doca_pe_progress(b.pe);
			if (b.failed)
				return false;
			continue;
		}
		got = bare_reap(&b.bare, n - b.done);
		if (got < 0)
			return false;
		b.empty += !got;
		b.done += (size_t)got;
	}
	return true;
}

/* The device has executed all tasks before they are reaped, so that no poll is in vain. */
static bool small_batch(size_t n)
{
	const bool is_send = b.op == OP_SEND;
	uint8_t *target = b.op == OP_READ ? b.memory : b.memory + HALF;
	volatile uint8_t *last = target + (n - 1) * STRIDE + SMALL - 1;

	b.done = b.received = b.left = 0;
	*last = 0;
	if ((is_send && !measured_receive(n)) || !measured_post(n))
		return false;
	while (!*last)
		bench_pause(5);
	bench_pause(5);
	return measured_reap(is_send ? 2 * n : n);
}

static void mark(const char *line)
{
	if (write(STDERR_FILENO, line, strlen(line)) < 0)
		perror("bench");
}

/* The next batch uses another connection, if there is one. */
static bool change_connection(size_t batch)
{
	if (b.num_connections == 1)
		return true;
	put_bufs();
	b.at = (b.at + 1) % b.num_connections;
	return prepare(batch, SMALL, STRIDE);
}

static bool count_tasks(size_t batch, size_t tasks)
{
	static const char *const names[OPS] = {"writes", "reads", "sends"};
	unsigned long allocations, locks;
	bool done;

	memset(b.memory, 1, 2 * HALF);
	/* The first batch includes one-time work. */
	if (!prepare(batch, SMALL, STRIDE) || !small_batch(batch))
		return bench_is_ok(DOCA_ERROR_IO_FAILED, "a task");
	allocations = bench_allocations;
	locks = bench_locks;
	done = true;
	mark("begin\n");
	for (size_t i = 0; i < tasks && done; i += batch)
		done = change_connection(batch) && small_batch(batch);
	mark("end\n");
	printf("%s: %zu %s of %zu bytes in batches of %zu, %lu allocations, %lu locks, %lu empty "
	       "polls\n",
	       b.is_bare ? "verbs" : "tasks", tasks, names[b.op], SMALL, batch,
	       bench_allocations - allocations, bench_locks - locks, b.empty);
	return done;
}

/* Nothing is to be polled. */
__attribute__((noinline)) static bool measured_idle(size_t polls)
{
	for (size_t i = 0; i < polls; i++)
		if (doca_pe_progress(b.pe))
			return false;
	return true;
}

/* --- speed ------------------------------------------------------------------------------------ */

static bool bare_big(void)
{
	size_t posted = BIG_DEPTH, done = 0;

	if (!bare_post(&b.bare, 0, BIG_DEPTH))
		return false;
	while (done < BIG_TASKS) {
		int got = bare_reap(&b.bare, 1);

		if (got < 0)
			return false;
		done += (size_t)got;
		if (got && posted < BIG_TASKS && !bare_post(&b.bare, posted++ % BIG_DEPTH, 1))
			return false;
	}
	return true;
}

static bool task_big(void)
{
	b.is_bare = false;
	b.done = b.received = 0;
	b.left = BIG_TASKS - BIG_DEPTH;
	return measured_post(BIG_DEPTH) && measured_reap(BIG_TASKS);
}

static bool time_big(bool (*run)(void), double *speed)
{
	double begin = bench_now();

	if (!run())
		return bench_is_ok(DOCA_ERROR_IO_FAILED, "a write");
	*speed = (double)BIG * BIG_TASKS / (bench_now() - begin) / 1e9;
	return true;
}

static bool compare_big(void)
{
	static double bare[ROUNDS], tasks[ROUNDS], ratios[ROUNDS];
	struct bench_stats x, y, r;

	if (!prepare(BIG_DEPTH, BIG, BIG))
		return false;
	for (size_t i = 0; i <= ROUNDS; i++) {
		size_t at = i ? i - 1 : 0; /* the first round warms up */
		bool first = i % 2;

		if ((first && !time_big(task_big, &tasks[at])) || !time_big(bare_big, &bare[at]) ||
		    (!first && !time_big(task_big, &tasks[at])))
			return false;
		ratios[at] = tasks[at] / bare[at];
	}
	bench_stats(bare, ROUNDS, &x);
	bench_stats(tasks, ROUNDS, &y);
	bench_stats(ratios, ROUNDS, &r);
	printf("writes of 1 MiB, %u in flight, GB/s: median (range) of %u rounds\n"
	       "  verbs  %6.3f (%.3f to %.3f)\n  tasks  %6.3f (%.3f to %.3f)\n"
	       "  ratio  %6.3f (%.3f to %.3f), best : best %.3f (goal: at least 0.97)\n",
	       BIG_DEPTH, ROUNDS, x.median, x.min, x.max, y.median, y.min, y.max, r.median, r.min,
	       r.max, y.max / x.max);
	bench_record(&r, "at least 0.97", "bandwidth at 1 MiB : verbs");
	return true;
}

/* --- inline data ------------------------------------------------------------------------------ */

/* Microseconds for a write that is alone. */
static bool time_alone(bool is_inline, double *us)
{
	double begin;

	bare_set_inline(&b.bare, is_inline);
	begin = bench_now();
	for (unsigned int i = 0; i < ALONE; i++) {
		int got = 0;

		if (!bare_post(&b.bare, 0, 1))
			return false;
		while (!got)
			got = bare_reap(&b.bare, 1);
		if (got < 0)
			return false;
	}
	*us = (bench_now() - begin) / ALONE * 1e6;
	return true;
}

/* Whether doca_rdma should copy small data into work requests. */
static bool compare_inline(size_t len)
{
	static double by_key[ROUNDS], in_line[ROUNDS], ratios[ROUNDS];
	struct bench_stats x, y, r;

	bare_prepare(&b.bare, b.memory, HALF, len, STRIDE);
	for (size_t i = 0; i <= ROUNDS; i++) {
		size_t at = i ? i - 1 : 0; /* the first round warms up */

		if (!time_alone(false, &by_key[at]) || !time_alone(true, &in_line[at]))
			return bench_is_ok(DOCA_ERROR_IO_FAILED, "a write");
		ratios[at] = in_line[at] / by_key[at];
	}
	bench_stats(by_key, ROUNDS, &x);
	bench_stats(in_line, ROUNDS, &y);
	bench_stats(ratios, ROUNDS, &r);
	printf("a write of %zu bytes with verbs, alone, us: by key %.2f, inline %.2f, %.2fx (%.2f "
	       "to %.2f)\n",
	       len, x.median, y.median, r.median, r.min, r.max);
	bench_record(&r, "", "inline : by key, %zu bytes, verbs", len);
	return true;
}

/* --- connections ------------------------------------------------------------------------------ */

static double time_polls(void)
{
	double begin = bench_cpu_time();

	for (unsigned int i = 0; i < POLLS; i++)
		doca_pe_progress(b.pe);
	return (bench_cpu_time() - begin) / POLLS * 1e9;
}

/* Private memory of this process, in KiB. */
static long private_memory(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[128];
	long kib = -1;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "RssAnon: %ld kB", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib;
}

static bool measure_connections(void)
{
	double one = time_polls(), begin = bench_now(), setup, many;
	long before = private_memory();

	if (!connect_pairs(MANY))
		return false;
	setup = bench_now() - begin;
	many = time_polls();
	printf("%u connections of a context to itself: set up in %.3f s, %.1f KiB for each of both "
	       "ends\n"
	       "empty progress, ns of CPU time: %.0f with 1 connection, %.0f with %u, %.2fx\n",
	       MANY, setup, (double)(private_memory() - before) / (2.0 * (MANY - 1)), one, many,
	       MANY, many / one);
	return true;
}

/* --- set-up ----------------------------------------------------------------------------------- */

static bool open_maps(void)
{
	const void *export;
	size_t len;

	b.memory = mmap(NULL, 2 * HALF, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (b.memory == MAP_FAILED) {
		b.memory = NULL;
		return bench_is_ok(DOCA_ERROR_NO_MEMORY, "memory");
	}
	b.map = bench_map(b.dev, b.memory, 2 * HALF, PERMISSIONS);
	return b.map &&
	       bench_is_ok(doca_mmap_export_rdma(b.map, b.dev, &export, &len), "an export") &&
	       bench_is_ok(doca_mmap_create_from_export(NULL, export, len, b.dev, &b.peer_map),
			   "an import") &&
	       bench_is_ok(doca_buf_inventory_create((size_t)3 * DEPTH, &b.inventory), "bufs") &&
	       bench_is_ok(doca_buf_inventory_start(b.inventory), "starting them");
}

static bool open_all(size_t connections)
{
	struct ibv_pd *pd;

	b.dev = bench_open_device(NULL);
	return b.dev && open_maps() &&
	       bench_is_ok(doca_rdma_bridge_get_dev_pd(b.dev, &pd), "a protection domain") &&
	       bare_open(&b.bare, pd, b.op, b.memory, HALF) &&
	       bench_is_ok(doca_pe_create(&b.pe), "an engine") &&
	       bench_is_ok(open_context(), "a context") && connect_pairs(connections);
}

static void close_context(void)
{
	if (!b.rdma)
		return;
	doca_ctx_stop(doca_rdma_as_ctx(b.rdma));
	bench_is_ok(doca_rdma_destroy(b.rdma), "destroying a context");
}

static void close_all(void)
{
	put_bufs();
	close_context();
	bare_close(&b.bare);
	if (b.pe)
		doca_pe_destroy(b.pe);
	if (b.inventory)
		doca_buf_inventory_destroy(b.inventory);
	if (b.peer_map)
		doca_mmap_destroy(b.peer_map);
	if (b.map)
		doca_mmap_destroy(b.map);
	if (b.dev)
		doca_dev_close(b.dev);
	if (b.memory)
		munmap(b.memory, 2 * HALF);
}

static int usage(FILE *to)
{
	fprintf(to, "usage: bench_rdma [--only verbs|task|idle] [--op write|read|send] [--batch N] "
		    "[--tasks N] [--connections N]\n");
	return to == stderr ? 2 : 0;
}

static bool set_op(const char *name)
{
	static const char *const names[OPS] = {"write", "read", "send"};

	for (b.op = 0; b.op < OPS; b.op++)
		if (!strcmp(name, names[b.op]))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{"only", required_argument, NULL, 'o'},
		{"op", required_argument, NULL, 'k'},
		{"batch", required_argument, NULL, 'b'},
		{"tasks", required_argument, NULL, 't'},
		{"connections", required_argument, NULL, 'c'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	size_t batch = 1, tasks = 1024, connections = 1;
	const char *only = NULL;
	bool done;
	int opt;

	while ((opt = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (opt == 'o')
			only = optarg;
		else if (opt == 'k' && !set_op(optarg))
			return usage(stderr);
		else if (opt == 'b')
			batch = strtoul(optarg, NULL, 10);
		else if (opt == 't')
			tasks = strtoul(optarg, NULL, 10);
		else if (opt == 'c')
			connections = strtoul(optarg, NULL, 10);
		else if (opt != 'k')
			return usage(opt == 'h' ? stdout : stderr);
	}
	if (!batch || batch > DEPTH || !connections || connections > MANY ||
	    (only && strcmp(only, "verbs") != 0 && strcmp(only, "task") != 0 &&
	     strcmp(only, "idle") != 0))
		return usage(stderr);
	b.is_bare = only && !strcmp(only, "verbs");
	done = open_all(connections);
	if (done && !only)
		done = compare_big() && compare_inline(16) && compare_inline(BARE_INLINE) &&
		       measure_connections();
	else if (done)
		done = strcmp(only, "idle") != 0 ? count_tasks(batch, tasks) : measured_idle(tasks);
	close_all();
	return done ? 0 : 1;
}
