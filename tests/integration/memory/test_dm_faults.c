/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Device memory under faults: each allocation of the library and each command to the device fails
 * once, in each step of its life. The step must return a documented error, change nothing, and
 * succeed when called again. In the end no object may be left.
 */
#include <errno.h>
#include <stdlib.h>

#include <dpumap/dm_pool.h>

#include "base/array.h"
#include "faults.h"
#include "fixture.h"

#define LEN	4096u
#define ENDLESS 1000u

static unsigned int swept;

struct life {
	uint64_t longest, total;
	struct dpumap_dm *dm, *import;
	struct dpumap_dm_pool *pool;
	struct dpumap_dm_piece piece;
	struct doca_mmap *map;
	const void *desc;
	size_t desc_len;
};

static doca_error_t alloc_dm(struct life *life)
{
	return dpumap_dm_alloc(fixture.dev, LEN, 12, &life->dm);
}

static doca_error_t query_free(struct life *life)
{
	return dpumap_dm_query_free(fixture.dev, &life->longest, &life->total);
}

static doca_error_t import_dm(struct life *life)
{
	uint32_t handle = 0;
	doca_error_t result = dpumap_dm_get_handle(life->dm, &handle);

	DOCA_ERROR_PROPAGATE(result, dpumap_dm_import(fixture.dev, handle, &life->import));
	return result;
}

static doca_error_t create_pool(struct life *life)
{
	return dpumap_dm_pool_create(life->import, 0, &life->pool);
}

static doca_error_t take_piece(struct life *life)
{
	return dpumap_dm_pool_alloc(life->pool, 1000, 0, &life->piece);
}

static doca_error_t create_map(struct life *life)
{
	return doca_mmap_create(&life->map);
}

static doca_error_t set_range(struct life *life)
{
	doca_error_t result = doca_mmap_set_permissions(life->map, LOCAL_RW | PCI_RW);

	DOCA_ERROR_PROPAGATE(result,
			     dpumap_mmap_set_dm_memrange(life->map, life->import,
							 life->piece.offset, life->piece.len));
	return result;
}

static doca_error_t add_dev(struct life *life)
{
	return doca_mmap_add_dev(life->map, fixture.dev);
}

static doca_error_t start_map(struct life *life)
{
	return doca_mmap_start(life->map);
}

static doca_error_t export_map(struct life *life)
{
	return doca_mmap_export_pci(life->map, fixture.dev, &life->desc, &life->desc_len);
}

static doca_error_t destroy_map(struct life *life)
{
	return doca_mmap_destroy(life->map);
}

static doca_error_t give_piece_back(struct life *life)
{
	return dpumap_dm_pool_free(life->pool, &life->piece);
}

static doca_error_t destroy_pool(struct life *life)
{
	return dpumap_dm_pool_destroy(life->pool);
}

static doca_error_t free_import(struct life *life)
{
	return dpumap_dm_free(life->import);
}

static doca_error_t free_dm(struct life *life)
{
	return dpumap_dm_free(life->dm);
}

/* error: what the step returns when the device fails. */
static const struct step {
	doca_error_t (*run)(struct life *life);
	doca_error_t error;
} steps[] = {
	{alloc_dm, DOCA_ERROR_DRIVER},
	{query_free, DOCA_ERROR_DRIVER},
	{import_dm, DOCA_ERROR_DRIVER},
	{create_pool, DOCA_ERROR_DRIVER},
	{take_piece, DOCA_ERROR_DRIVER},
	{create_map, DOCA_ERROR_DRIVER},
	{set_range, DOCA_ERROR_DRIVER},
	{add_dev, DOCA_ERROR_DRIVER},
	{start_map, DOCA_ERROR_DRIVER},
	{export_map, DOCA_ERROR_DRIVER},
	{destroy_map, DOCA_ERROR_NOT_PERMITTED},
	{give_piece_back, DOCA_ERROR_DRIVER},
	{destroy_pool, DOCA_ERROR_DRIVER},
	{free_import, DOCA_ERROR_DRIVER},
	{free_dm, DOCA_ERROR_DRIVER},
};
#define STEPS ARRAY_SIZE(steps)

static bool is_documented(const struct step *step, enum fault_kind kind, int err,
			  doca_error_t result)
{
	if (kind == FAULT_ALLOC)
		return result == DOCA_ERROR_NO_MEMORY;
	/* Missing device memory is not a failure of the device. */
	if (err == ENOMEM && result == DOCA_ERROR_NO_MEMORY)
		return true;
	/* A device that refuses to share an mkey cannot share such memory. */
	if (err == EREMOTEIO && result == DOCA_ERROR_NOT_SUPPORTED)
		return step->run == export_map;
	return result == step->error;
}

/* Returns false when the step has no n-th event. */
static bool fail_once(size_t step, enum fault_kind kind, unsigned int n, int err)
{
	struct life life = {0}, before;
	doca_error_t result;
	bool fired;

	for (size_t i = 0; i < step; i++)
		assert_ok(steps[i].run(&life));
	before = life;
	fault_arm(kind, n, err);
	result = steps[step].run(&life);
	fired = fault_fired();
	fault_disarm();
	swept += fired;
	if (fired && result != DOCA_SUCCESS) {
		assert_true(is_documented(&steps[step], kind, err, result));
		assert_memory_equal(&life, &before, sizeof(life));
		result = steps[step].run(&life);
	} else if (fired) {
		/* ENOMEM is a valid answer to a query; and a failed free is repeated. */
		assert_true(steps[step].run == query_free &&
			    (err == ENOMEM || kind == FAULT_DESTROY));
	}
	assert_ok(result);
	for (size_t i = step + 1; i < STEPS; i++)
		assert_ok(steps[i].run(&life));
	return fired;
}

static void sweep(enum fault_kind kind, int err)
{
	struct objects before;
	unsigned int live;

	assert_true(objects_read(&before));
	live = fault_count_live();
	for (size_t step = 0; step < STEPS; step++) {
		for (unsigned int n = 1; fail_once(step, kind, n, err); n++)
			assert_true(n < ENDLESS);
	}
	assert_int_equal(fault_count_live(), live);
	assert_true(objects_wait(&before));
}

static void each_failure_of_device_memory_leaves_nothing_behind(void **state)
{
	static const int errors[] = {EIO, ENOMEM, EREMOTEIO};

	swept = 0;
	sweep(FAULT_ALLOC, ENOMEM);
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		sweep(FAULT_COMMAND, errors[i]);
		sweep(FAULT_DESTROY, errors[i]);
	}
	print_message("%u points swept\n", swept);
	assert_true(swept > 0);
}

static void free_of_busy_memory_is_in_use(void **state)
{
	struct dpumap_dm *dm;

	assert_ok(dpumap_dm_alloc(fixture.dev, LEN, 0, &dm));
	fault_arm(FAULT_DESTROY, 1, EBUSY);
	assert_error(dpumap_dm_free(dm), DOCA_ERROR_IN_USE);
	fault_disarm();
	assert_ok(dpumap_dm_free(dm));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		fixture_test(each_failure_of_device_memory_leaves_nothing_behind),
		fixture_test(free_of_busy_memory_is_in_use),
	};

	test_parse_options(argc, argv);
	setenv("DPUMAP_LOG_LEVEL", "off", 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
