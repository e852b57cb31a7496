/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One map with thread safety, used by many threads at once, for ThreadSanitizer to check: bufs from
 * an inventory of each thread, exports, imports of the export, getters, look-ups.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>

#include "base/array.h"
#include "fixture.h"
#include "peer.h"

#define LEN	 65536u
#define THREADS	 8
#define ROUNDS	 20000u
#define BUFS	 16u
#define RESTARTS 40u
#define COOKIE	 UINT64_C(0x5eedf00d)
#define ACCESS	 (LOCAL_RW | PCI_RW | (uint32_t)DOCA_ACCESS_FLAG_RDMA_READ)

static struct doca_dev *dev;
static struct doca_mmap *map;
static uint8_t memory[LEN];
static struct descriptor exported;
static atomic_bool go;

struct worker {
	pthread_t thread;
	struct doca_buf_inventory *inventory;
	const char *failed; /* the first call with a wrong result, and the result */
	doca_error_t error;
	uint32_t random;
	bool restarted; /* another thread stops and starts the map meanwhile */
};

static uint32_t draw(struct worker *worker, uint32_t below)
{
	worker->random = worker->random * 1664525u + 1013904223u;
	return (worker->random >> 8) % below;
}

static void blame(struct worker *worker, const char *what, doca_error_t error)
{
	if (worker->failed)
		return;
	worker->failed = what;
	worker->error = error;
}

/* stopped: the result that is also valid, because the map may be stopped. */
static bool went_well(struct worker *worker, const char *what, doca_error_t result,
		      doca_error_t stopped)
{
	if (result == DOCA_SUCCESS)
		return true;
	if (!worker->restarted || result != stopped)
		blame(worker, what, result);
	return false;
}

static void check_buf(struct worker *worker, struct doca_buf *buf, void *addr, size_t len)
{
	void *head;
	size_t got;

	if (doca_buf_get_head(buf, &head) != DOCA_SUCCESS ||
	    doca_buf_get_len(buf, &got) != DOCA_SUCCESS || head != addr || got != len)
		blame(worker, "buf is not the one asked for", DOCA_ERROR_UNEXPECTED);
}

static void put_buf(struct worker *worker, struct doca_buf *buf)
{
	went_well(worker, "dec_refcount", doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
}

static void use_bufs(struct worker *worker)
{
	uint32_t offset = draw(worker, LEN - 1), len = draw(worker, LEN - offset) + 1, n = 0;
	struct doca_buf *bufs[BUFS], *twin;
	doca_error_t result;

	while (n < BUFS / 2) {
		result = doca_buf_inventory_buf_get_by_addr(worker->inventory, map, memory + offset,
							    len, &bufs[n]);
		if (!went_well(worker, "buf_get_by_addr", result, DOCA_ERROR_BAD_STATE))
			break;
		check_buf(worker, bufs[n++], memory + offset, len);
	}
	if (n) {
		result = doca_buf_inventory_buf_dup(worker->inventory, bufs[0], &twin);
		if (went_well(worker, "buf_dup", result, DOCA_ERROR_BAD_STATE)) {
			check_buf(worker, twin, memory + offset, len);
			put_buf(worker, twin);
		}
	}
	while (n)
		put_buf(worker, bufs[--n]);
}

static void miss_range(struct worker *worker)
{
	struct doca_buf *buf;
	doca_error_t result;

	result = doca_buf_inventory_buf_get_by_data(worker->inventory, map, memory + LEN - 1, 2,
						    &buf);
	if (result != DOCA_ERROR_INVALID_VALUE &&
	    !(worker->restarted && result == DOCA_ERROR_BAD_STATE))
		blame(worker, "buf beyond the range", result);
}

static void export_it(struct worker *worker)
{
	const void *desc;
	size_t len;

	went_well(worker, "export_pci", doca_mmap_export_pci(map, dev, &desc, &len),
		  DOCA_ERROR_NOT_PERMITTED);
	went_well(worker, "export_rdma", doca_mmap_export_rdma(map, dev, &desc, &len),
		  DOCA_ERROR_NOT_PERMITTED);
}

static void import_it(struct worker *worker)
{
	struct doca_mmap *import;
	doca_error_t result;

	result = doca_mmap_create_from_export(NULL, exported.bytes, exported.len, dev, &import);
	if (went_well(worker, "create_from_export", result, DOCA_ERROR_NOT_PERMITTED))
		went_well(worker, "destroy", doca_mmap_destroy(import), DOCA_SUCCESS);
}

static void look_up(struct worker *worker)
{
	doca_dpa_dev_mmap_t handle;
	uint32_t mkey;

	went_well(worker, "get_mkey", doca_mmap_get_mkey(map, dev, &mkey),
		  DOCA_ERROR_INVALID_VALUE);
	went_well(worker, "dev_get_dpa_handle", doca_mmap_dev_get_dpa_handle(map, dev, &handle),
		  DOCA_ERROR_NOT_PERMITTED);
}

static void get_flags(struct worker *worker)
{
	uint8_t flag_exported, from_export = 9;
	uint32_t num_bufs, max_devs = 0;

	went_well(worker, "get_exported", doca_mmap_get_exported(map, &flag_exported),
		  DOCA_SUCCESS);
	went_well(worker, "get_from_export", doca_mmap_get_from_export(map, &from_export),
		  DOCA_SUCCESS);
	went_well(worker, "get_num_bufs", doca_mmap_get_num_bufs(map, &num_bufs), DOCA_SUCCESS);
	went_well(worker, "get_max_num_devices", doca_mmap_get_max_num_devices(map, &max_devs),
		  DOCA_SUCCESS);
	if (from_export || !max_devs)
		blame(worker, "getter of a flag", DOCA_ERROR_UNEXPECTED);
}

static void get_range(struct worker *worker)
{
	union doca_data data = {0};
	void *addr = NULL;
	size_t len = 0;

	went_well(worker, "get_memrange", doca_mmap_get_memrange(map, &addr, &len), DOCA_SUCCESS);
	went_well(worker, "get_user_data", doca_mmap_get_user_data(map, &data), DOCA_SUCCESS);
	if (addr != memory || len != LEN || data.u64 != COOKIE)
		blame(worker, "getter of the range", DOCA_ERROR_UNEXPECTED);
}

static void (*const uses[])(struct worker *) = {
	use_bufs, miss_range, export_it, look_up, get_flags, get_range,
};
#define N_USES	     ARRAY_SIZE(uses)
#define IMPORT_EVERY 64u

static void *work(void *arg)
{
	struct worker *worker = arg;

	while (!atomic_load(&go))
		;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uses[draw(worker, N_USES)](worker);
		if (i % IMPORT_EVERY == 0)
			import_it(worker);
	}
	return NULL;
}

static void start_worker(struct worker *worker, uint32_t number, bool restarted)
{
	*worker = (struct worker){.random = number * 7919 + 1, .restarted = restarted};
	assert_ok(doca_buf_inventory_create(BUFS, &worker->inventory));
	assert_ok(doca_buf_inventory_start(worker->inventory));
	assert_int_equal(pthread_create(&worker->thread, NULL, work, worker), 0);
}

static void finish_worker(struct worker *worker)
{
	assert_int_equal(pthread_join(worker->thread, NULL), 0);
	assert_ok(doca_buf_inventory_destroy(worker->inventory));
	if (worker->failed)
		fail_msg("%s: %s", worker->failed, doca_error_get_name(worker->error));
}

static void restart(void)
{
	for (uint32_t i = 0; i < RESTARTS; i++) {
		assert_ok(doca_mmap_stop(map));
		assert_ok(doca_mmap_start(map));
	}
}

static void share_map(bool restarted)
{
	struct worker workers[THREADS];

	atomic_store(&go, false);
	for (uint32_t i = 0; i < THREADS; i++)
		start_worker(&workers[i], i, restarted);
	atomic_store(&go, true);
	if (restarted)
		restart();
	for (uint32_t i = 0; i < THREADS; i++)
		finish_worker(&workers[i]);
}

static int open_map(void **state)
{
	const void *desc;

	if (fixture_count(state))
		return -1;
	assert_ok(fixture_open_device(&dev));
	assert_ok(doca_mmap_create(&map));
	assert_ok(doca_mmap_set_memrange(map, memory, LEN));
	assert_ok(doca_mmap_set_permissions(map, ACCESS));
	assert_ok(doca_mmap_set_user_data(map, (union doca_data){.u64 = COOKIE}));
	assert_ok(doca_mmap_add_dev(map, dev));
	assert_ok(doca_mmap_enable_thread_safety(map));
	assert_ok(doca_mmap_start(map));
	assert_ok(doca_mmap_export_pci(map, dev, &desc, &exported.len));
	assert_true(exported.len <= sizeof(exported.bytes));
	memcpy(exported.bytes, desc, exported.len);
	return 0;
}

static int close_map(void **state)
{
	if (doca_mmap_destroy(map) != DOCA_SUCCESS || doca_dev_close(dev) != DOCA_SUCCESS)
		return -1;
	return fixture_recount(state);
}

static void threads_use_one_map(void **state)
{
	share_map(false);
}

static void threads_use_a_map_that_is_restarted(void **state)
{
	share_map(true);
}

#define map_test(function) cmocka_unit_test_setup_teardown(function, open_map, close_map)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		map_test(threads_use_one_map),
		map_test(threads_use_a_map_that_is_restarted),
	};

	test_parse_options(argc, argv);
	setenv("DPUMAP_LOG_LEVEL", "off", 0); /* refused calls count as well */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
