/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Measure a map: start, export, import and destroy, compared with the same verbs and DEVX commands without
 * the library, which alternate in each round. Also a repeated export, memory, and many maps at once. Runs on
 * any device that exports and imports: dpumap-emu run --as dpu.
 */
#include <getopt.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>

#include <infiniband/mlx5dv.h>

#include <doca_dev.h>
#include <doca_mmap.h>

#include "device.h"
#include "device/prm.h"
#include "stats.h"

#define LEN	    4096
#define ROUNDS	    25
#define LIVES	    200 /* in a round */
#define REEXPORTS   100000
#define WEIGHED	    1000
#define PERCENT	    100
#define EDGE	    5 /* percents at the beginning and the end that are compared */
#define MAX_WORKERS 3
#define WORK	    200 /* maps of a thread in a round */
#define KEY_LEN	    32
#define KSM_LOG	    31
#define KSM_COUNT   2 /* one more than the range needs, as in the library */
#define ACCESS	    (DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE)
#define RAW_RIGHTS  (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)

static uint8_t memory[LEN] __attribute__((aligned(LEN)));

struct raw {
	struct ibv_context *context;
	struct ibv_pd *pd;
	uint32_t pdn;
	uint16_t vhca_id;
};

struct raw_life {
	struct ibv_mr *mr;
	struct mlx5dv_devx_obj *ksm, *alias;
	uint32_t mkey;
	uint8_t key[KEY_LEN];
};

static bool raw_open(struct raw *raw, struct doca_dev *dev)
{
	struct mlx5dv_context_attr attr = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct mlx5dv_pd pd = {0};
	struct mlx5dv_obj obj = {.pd.out = &pd};

	if (!list)
		return false;
	raw->context = list[0] ? mlx5dv_open_device(list[0], &attr) : NULL;
	ibv_free_device_list(list);
	if (!raw->context)
		return false;
	raw->pd = ibv_alloc_pd(raw->context);
	obj.pd.in = raw->pd;
	if (!raw->pd || mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD))
		return false;
	raw->pdn = pd.pdn;
	return doca_devinfo_get_vhca_id(doca_dev_as_devinfo(dev), &raw->vhca_id) == DOCA_SUCCESS;
}

static void raw_close(struct raw *raw)
{
	ibv_dealloc_pd(raw->pd);
	ibv_close_device(raw->context);
}

static bool raw_export(const struct raw *raw, struct raw_life *life)
{
	uint8_t in[PRM_CREATE_MKEY_IN_LEN + KSM_COUNT * PRM_KSM_LEN] = {0};
	uint8_t out[PRM_CREATE_MKEY_OUT_LEN] = {0};
	uint8_t allow[PRM_ALLOW_IN_LEN] = {0}, allowed[PRM_ALLOW_OUT_LEN] = {0};
	uint8_t *mkc = in + PRM_CREATE_MKEY_CONTEXT, *ksm = in + PRM_CREATE_MKEY_IN_LEN;

	prm_set(in, PRM_IN_OPCODE, PRM_OP_CREATE_MKEY);
	prm_set(in, PRM_CREATE_MKEY_ENTRIES, KSM_COUNT);
	prm_set(mkc, PRM_MKC_ACCESS_MODE_1_0, PRM_ACCESS_MODE_KSM);
	prm_set(mkc, PRM_MKC_LR, 1);
	prm_set(mkc, PRM_MKC_RR, 1);
	prm_set(mkc, PRM_MKC_LW, 1);
	prm_set(mkc, PRM_MKC_RW, 1);
	prm_set(mkc, PRM_MKC_QPN, PRM_QPN_ANY);
	prm_set(mkc, PRM_MKC_PD, raw->pdn);
	prm_set(mkc, PRM_MKC_START_ADDR, (uintptr_t)memory);
	prm_set(mkc, PRM_MKC_LEN, LEN);
	prm_set(mkc, PRM_MKC_TRANSLATION_OCTWORDS, KSM_COUNT);
	prm_set(mkc, PRM_MKC_LOG_ENTITY_SIZE, KSM_LOG);
	for (uint64_t i = 0; i < KSM_COUNT; i++, ksm += PRM_KSM_LEN) {
		prm_set(ksm, PRM_KSM_BYTE_COUNT, UINT64_C(1) << KSM_LOG);
		prm_set(ksm, PRM_KSM_MKEY, life->mr->lkey);
		prm_set(ksm, PRM_KSM_ADDRESS, (uintptr_t)memory + (i << KSM_LOG));
	}
	life->ksm = mlx5dv_devx_obj_create(raw->context, in, sizeof(in), out, sizeof(out));
	if (!life->ksm || getrandom(life->key, KEY_LEN, 0) != KEY_LEN)
		return false;
	life->mkey = (uint32_t)prm_get(out, PRM_CREATE_MKEY_INDEX);
	prm_set(allow, PRM_IN_OPCODE, PRM_OP_ALLOW_OTHER_VHCA_ACCESS);
	prm_set(allow, PRM_ALLOW_OBJECT_TYPE, PRM_OBJ_TYPE_MKEY);
	prm_set(allow, PRM_ALLOW_OBJECT_ID, life->mkey);
	memcpy(allow + PRM_ALLOW_ACCESS_KEY, life->key, KEY_LEN);
	return !mlx5dv_devx_general_cmd(raw->context, allow, sizeof(allow), allowed,
					sizeof(allowed));
}

static bool raw_import(const struct raw *raw, struct raw_life *life)
{
	uint8_t in[PRM_ALIAS_LEN] = {0}, out[PRM_ALIAS_LEN] = {0};
	uint8_t *alias = in + PRM_ALIAS_CONTEXT;

	prm_set(in, PRM_IN_OPCODE, PRM_OP_CREATE_GENERAL_OBJECT);
	prm_set(in, PRM_OBJECT_TYPE, PRM_OBJ_TYPE_MKEY);
	prm_set(in, PRM_OBJECT_IS_ALIAS, 1);
	prm_set(alias, PRM_ALIAS_VHCA_ID, raw->vhca_id);
	prm_set(alias, PRM_ALIAS_OBJECT_ID, life->mkey);
	prm_set(alias, PRM_ALIAS_METADATA_1, raw->pdn);
	memcpy(alias + PRM_ALIAS_ACCESS_KEY, life->key, KEY_LEN);
	life->alias = mlx5dv_devx_obj_create(raw->context, in, sizeof(in), out, sizeof(out));
	return life->alias != NULL;
}

static bool raw_live(const struct raw *raw)
{
	struct raw_life life = {.mr = ibv_reg_mr(raw->pd, memory, LEN, RAW_RIGHTS)};
	bool ok = life.mr && raw_export(raw, &life) && raw_import(raw, &life);

	if (life.alias)
		ok &= !mlx5dv_devx_obj_destroy(life.alias);
	if (life.ksm)
		ok &= !mlx5dv_devx_obj_destroy(life.ksm);
	if (life.mr)
		ok &= !ibv_dereg_mr(life.mr);
	return ok;
}

static bool live(struct doca_dev *dev)
{
	struct doca_mmap *map = bench_map(dev, memory, LEN, ACCESS), *import;
	doca_error_t result;
	const void *desc;
	size_t len;

	if (!map)
		return false;
	result = doca_mmap_export_pci(map, dev, &desc, &len);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_create_from_export(NULL, desc, len, dev, &import);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_destroy(import);
	DOCA_ERROR_PROPAGATE(result, doca_mmap_destroy(map));
	return bench_is_ok(result, "life of a map");
}

static bool compare_lives(struct doca_dev *dev, const struct raw *raw)
{
	double ours[ROUNDS], theirs[ROUNDS], ratios[ROUNDS], begin;
	struct bench_stats our, their, ratio;

	for (int round = 0; round < ROUNDS; round++) {
		begin = bench_now();
		for (int i = 0; i < LIVES; i++)
			if (!live(dev))
				return false;
		ours[round] = (bench_now() - begin) / LIVES * 1e6;
		begin = bench_now();
		for (int i = 0; i < LIVES; i++)
			if (!raw_live(raw))
				return false;
		theirs[round] = (bench_now() - begin) / LIVES * 1e6;
		ratios[round] = ours[round] / theirs[round];
	}
	bench_stats(ours, ROUNDS, &our);
	bench_stats(theirs, ROUNDS, &their);
	bench_stats(ratios, ROUNDS, &ratio);
	printf("start+export+import+destroy of %d bytes: %.1f us (%.1f-%.1f), by hand %.1f us "
	       "(%.1f-%.1f), ratio %.3f (%.3f-%.3f)\n",
	       LEN, our.median, our.min, our.max, their.median, their.min, their.max, ratio.median,
	       ratio.min, ratio.max);
	bench_record(&ratio, "", "life of a map : verbs and DEVX by hand");
	return true;
}

static bool time_reexport(struct doca_dev *dev)
{
	struct doca_mmap *map = bench_map(dev, memory, LEN, ACCESS);
	doca_error_t result = DOCA_SUCCESS;
	const void *desc;
	double begin, first, again;
	size_t len;

	if (!map)
		return false;
	begin = bench_now();
	result = doca_mmap_export_pci(map, dev, &desc, &len);
	first = bench_now() - begin;
	begin = bench_now();
	for (int i = 0; i < REEXPORTS && result == DOCA_SUCCESS; i++)
		result = doca_mmap_export_pci(map, dev, &desc, &len);
	again = (bench_now() - begin) / REEXPORTS;
	printf("export: %.1f us, again: %.1f ns\n", first * 1e6, again * 1e9);
	DOCA_ERROR_PROPAGATE(result, doca_mmap_destroy(map));
	return bench_is_ok(result, "exporting again");
}

static size_t heap(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static bool weigh(struct doca_dev *dev, const struct raw *raw)
{
	static struct doca_mmap *maps[WEIGHED];
	static struct ibv_mr *mrs[WEIGHED];
	size_t before = heap(), ours, theirs;
	bool ok = true;
	int n = 0;

	while (n < WEIGHED && ok)
		ok = (maps[n++] = bench_map(dev, memory, LEN, ACCESS)) != NULL;
	ours = heap() - before;
	while (n)
		ok &= maps[--n] && doca_mmap_destroy(maps[n]) == DOCA_SUCCESS;
	before = heap();
	while (n < WEIGHED && ok)
		ok = (mrs[n++] = ibv_reg_mr(raw->pd, memory, LEN, RAW_RIGHTS)) != NULL;
	theirs = heap() - before;
	while (n)
		ok &= mrs[--n] && !ibv_dereg_mr(mrs[n]);
	printf("memory of a started map: %zu bytes, of these %zu of rdma-core\n", ours / WEIGHED,
	       theirs / WEIGHED);
	return ok;
}

/* Return the user time of this thread: that of the library and rdma-core, not that of the device. */
static double own_time(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
}

/* Microseconds for one map, of each percent of the maps in their order. */
struct course {
	double time[PERCENT];
	double own[PERCENT];
};

static bool start_one(struct doca_dev *dev, struct doca_mmap **map)
{
	*map = bench_map(dev, memory, LEN, ACCESS);
	return *map;
}

static bool destroy_one(struct doca_dev *dev, struct doca_mmap **map)
{
	(void)dev;
	return bench_is_ok(doca_mmap_destroy(*map), "destroying a map");
}

/* Do it to all maps, in their order. */
static bool go_through(struct doca_dev *dev, struct doca_mmap **maps, size_t n,
		       bool (*act)(struct doca_dev *dev, struct doca_mmap **map),
		       struct course *course)
{
	size_t step = n / PERCENT;
	double begin, own;

	for (size_t i = 0; i < PERCENT; i++) {
		begin = bench_now();
		own = own_time();
		for (size_t j = 0; j < step; j++)
			if (!act(dev, &maps[i * step + j]))
				return false;
		course->time[i] = (bench_now() - begin) / (double)step * 1e6;
		course->own[i] = (own_time() - own) / (double)step * 1e6;
	}
	return true;
}

/* One percent alone varies by a quarter: two wake-ups of other threads take most of its time. */
static double median_of(const double *percents)
{
	double sorted[EDGE];
	struct bench_stats stats;

	memcpy(sorted, percents, sizeof(sorted));
	bench_stats(sorted, EDGE, &stats);
	return stats.median;
}

static double print_course(const char *what, const struct course *course)
{
	double first = median_of(course->time), last = median_of(course->time + PERCENT - EDGE);
	double sorted[PERCENT], ratio = last / first;
	struct bench_stats time, own;

	memcpy(sorted, course->time, sizeof(sorted));
	bench_stats(sorted, PERCENT, &time);
	memcpy(sorted, course->own, sizeof(sorted));
	bench_stats(sorted, PERCENT, &own);
	printf("%s one: %.1f us (%.1f-%.1f), %.2f us of it in user space; median of the first %d "
	       "%% "
	       "%.1f us, of the last %d %% %.1f us, %.2fx\n",
	       what, time.median, time.min, time.max, own.median, EDGE, first, EDGE, last, ratio);
	bench_record(&(struct bench_stats){ratio, ratio, ratio}, "at most 1.2",
		     "%s maps, last %d %% : first %d %%", what, EDGE, EDGE);
	return time.median;
}

static bool crowd(struct doca_dev *dev, size_t n)
{
	struct doca_mmap **maps = calloc(n, sizeof(struct doca_mmap *));
	struct course starts, destroys;
	double start, destroy, ratio;
	bool ok;

	ok = maps && go_through(dev, maps, n, start_one, &starts) &&
	     go_through(dev, maps, n, destroy_one, &destroys);
	free(maps);
	if (!ok)
		return false;
	printf("%zu maps live at once\n", n);
	start = print_course("starting", &starts);
	destroy = print_course("destroying", &destroys);
	ratio = destroy / start;
	printf("destroying compared with starting: %.2fx\n", ratio);
	bench_record(&(struct bench_stats){ratio, ratio, ratio}, "at most 1.5",
		     "destroying : starting, %zu maps", n);
	return true;
}

/* A thread that starts and destroys maps. */
struct worker {
	pthread_t thread;
	struct doca_dev *dev;
	bool ok;
};

static void *work(void *arg)
{
	struct worker *w = arg;

	w->ok = true;
	for (int i = 0; i < WORK && w->ok; i++) {
		struct doca_mmap *map = bench_map(w->dev, memory, LEN, ACCESS);

		w->ok = map && doca_mmap_destroy(map) == DOCA_SUCCESS;
	}
	return NULL;
}

/* Return the microseconds that n threads together need for starting and destroying one. */
static double time_threads(struct doca_dev *dev, size_t n)
{
	struct worker workers[MAX_WORKERS];
	double begin = bench_now();
	size_t begun = 0;
	bool ok = true;

	for (; begun < n; begun++) {
		workers[begun].dev = dev;
		if (pthread_create(&workers[begun].thread, NULL, work, &workers[begun]))
			break;
	}
	for (size_t i = 0; i < begun; i++) {
		pthread_join(workers[i].thread, NULL);
		ok &= workers[i].ok;
	}
	return ok && begun == n ? (bench_now() - begin) / (double)(n * WORK) * 1e6 : -1;
}

static bool compare_threads(struct doca_dev *dev)
{
	double times[MAX_WORKERS][ROUNDS];
	struct bench_stats time;

	for (size_t i = 0; i < ROUNDS; i++)
		for (size_t n = 0; n < MAX_WORKERS; n++) {
			times[n][i] = time_threads(dev, n + 1);
			if (times[n][i] < 0)
				return false;
		}
	for (size_t n = 0; n < MAX_WORKERS; n++) {
		bench_stats(times[n], ROUNDS, &time);
		printf("%zu threads start and destroy maps: %.1f us (%.1f-%.1f) for one\n", n + 1,
		       time.median, time.min, time.max);
	}
	return true;
}

static int usage(FILE *to)
{
	fprintf(to, "usage: bench_map [--maps N]\n");
	return to == stderr ? 2 : 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"maps", required_argument, NULL, 'm'}, {"help", no_argument, NULL, 'h'}, {0}};
	size_t maps = 100000;
	struct doca_dev *dev;
	struct raw raw = {0};
	bool ok;
	int opt;

	while ((opt = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (opt == 'h')
			return usage(stdout);
		if (opt != 'm')
			return usage(stderr);
		maps = strtoul(optarg, NULL, 10);
	}
	if (maps < PERCENT || optind < argc)
		return usage(stderr);
	setenv("DPUMAP_LOG_LEVEL", "error", 0);
	dev = bench_open_device(NULL);
	if (!dev)
		return 1;
	if (!raw_open(&raw, dev)) {
		fprintf(stderr, "bench: the device cannot be opened without the library\n");
		return 1;
	}
	ok = compare_lives(dev, &raw) && time_reexport(dev) && weigh(dev, &raw) &&
	     compare_threads(dev) && crowd(dev, maps);
	raw_close(&raw);
	ok &= doca_dev_close(dev) == DOCA_SUCCESS;
	return !ok;
}
