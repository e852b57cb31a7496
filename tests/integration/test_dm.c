/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Device memory: its limits, CPU access, and maps over it. */
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

static struct rig rig;
static uint64_t max_len;

static int open_rig(void **state)
{
	if (fixture_count(state) || rig_open(&rig) != DOCA_SUCCESS)
		return -1;
	return dpumap_dm_cap_get_max_len(doca_dev_as_devinfo(rig.dev), &max_len) == DOCA_SUCCESS
		       ? 0
		       : -1;
}

static int close_rig(void **state)
{
	if (rig_close(&rig) != DOCA_SUCCESS)
		return -1;
	return fixture_recount(state);
}

static void test_limits(void **state)
{
	struct dpumap_dm *dm = NULL;
	size_t len = 0;

	(void)state;
	assert_true(max_len >= 4096);
	assert_error(dpumap_dm_alloc(rig.dev, 0, 0, &dm), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_alloc(rig.dev, max_len + 1, 0, &dm), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_alloc(rig.dev, SIZE_MAX, 0, &dm), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_alloc(rig.dev, 64, 63, &dm), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_alloc(NULL, 64, 0, &dm), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_alloc(rig.dev, 64, 0, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(dm);
	assert_ok(dpumap_dm_alloc(rig.dev, max_len, 0, &dm));
	assert_ok(dpumap_dm_get_len(dm, &len));
	assert_int_equal(len, max_len);
	assert_ok(dpumap_dm_free(dm));
	assert_error(dpumap_dm_free(NULL), DOCA_ERROR_INVALID_VALUE);
}

static void test_exhaustion(void **state)
{
	struct dpumap_dm *pieces[256];
	doca_error_t result;
	unsigned int n = 0;

	(void)state;
	do {
		result = dpumap_dm_alloc(rig.dev, max_len, 0, &pieces[n]);
	} while (result == DOCA_SUCCESS && ++n < 256);
	assert_error(result, DOCA_ERROR_NO_MEMORY);
	assert_true(n > 0);
	while (n)
		assert_ok(dpumap_dm_free(pieces[--n]));
}

static void test_cpu_access(void **state)
{
	uint8_t out[256], in[256] = {0};
	struct dpumap_dm *dm;

	(void)state;
	rig_fill(out, sizeof(out), 1);
	assert_ok(dpumap_dm_alloc(rig.dev, 1000, 0, &dm));
	assert_ok(dpumap_dm_write(dm, 744, out, sizeof(out)));
	assert_ok(dpumap_dm_read(dm, 744, in, sizeof(in)));
	assert_memory_equal(in, out, sizeof(in));
	assert_error(dpumap_dm_write(dm, 748, out, sizeof(out)), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_read(dm, SIZE_MAX - 3, in, 8), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_write(dm, 2, out, 4), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_read(dm, 4, in, 6), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_read(NULL, 0, in, 4), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_write(dm, 0, NULL, 4), DOCA_ERROR_INVALID_VALUE);
	assert_ok(dpumap_dm_free(dm));
}

static struct doca_mmap *map_of(struct dpumap_dm *dm, size_t offset, size_t len, uint32_t access)
{
	struct doca_mmap *mmap;

	assert_ok(doca_mmap_create(&mmap));
	assert_ok(dpumap_mmap_set_dm_memrange(mmap, dm, offset, len));
	assert_ok(doca_mmap_set_permissions(mmap, access));
	assert_ok(doca_mmap_add_dev(mmap, rig.dev));
	return mmap;
}

static void test_memrange_bad_values(void **state)
{
	struct doca_mmap *mmap;
	struct dpumap_dm *dm;

	(void)state;
	assert_ok(dpumap_dm_alloc(rig.dev, 4096, 0, &dm));
	assert_ok(doca_mmap_create(&mmap));
	assert_error(dpumap_mmap_set_dm_memrange(NULL, dm, 0, 64), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_mmap_set_dm_memrange(mmap, NULL, 0, 64), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_mmap_set_dm_memrange(mmap, dm, 0, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_mmap_set_dm_memrange(mmap, dm, 64, 4096), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_mmap_set_dm_memrange(mmap, dm, SIZE_MAX, 2), DOCA_ERROR_INVALID_VALUE);
	assert_ok(dpumap_mmap_set_dm_memrange(mmap, dm, 64, 4032));
	assert_error(dpumap_mmap_set_dm_memrange(mmap, dm, 0, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(dpumap_dm_free(dm));
}

static void test_free_while_mapped(void **state)
{
	struct doca_mmap *mmap;
	struct dpumap_dm *dm;

	(void)state;
	assert_ok(dpumap_dm_alloc(rig.dev, 4096, 0, &dm));
	mmap = map_of(dm, 0, 4096, LOCAL_RW);
	assert_ok(doca_mmap_start(mmap));
	assert_error(dpumap_dm_free(dm), DOCA_ERROR_IN_USE);
	assert_ok(doca_mmap_stop(mmap));
	assert_ok(dpumap_dm_free(dm));
	assert_error(doca_mmap_start(mmap), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_mmap_destroy(mmap));
}

static void test_two_maps_have_two_names(void **state)
{
	struct doca_mmap *low, *high, *other;
	struct dpumap_dm *a, *b;
	void *low_addr, *high_addr, *other_addr;
	size_t len;

	(void)state;
	assert_ok(dpumap_dm_alloc(rig.dev, 4096, 0, &a));
	assert_ok(dpumap_dm_alloc(rig.dev, 4096, 0, &b));
	low = map_of(a, 0, 1024, LOCAL_RW);
	high = map_of(a, 1024, 1024, LOCAL_RW);
	other = map_of(b, 0, 1024, LOCAL_RW);
	assert_ok(doca_mmap_get_memrange(low, &low_addr, &len));
	assert_ok(doca_mmap_get_memrange(high, &high_addr, &len));
	assert_ok(doca_mmap_get_memrange(other, &other_addr, &len));
	assert_int_equal(len, 1024);
	assert_ptr_equal((uint8_t *)low_addr + 1024, high_addr);
	assert_ptr_not_equal(low_addr, other_addr);
	assert_ok(doca_mmap_destroy(low));
	assert_ok(doca_mmap_destroy(high));
	assert_ok(doca_mmap_destroy(other));
	assert_ok(dpumap_dm_free(a));
	assert_ok(dpumap_dm_free(b));
}

static void test_copy_through_device_memory(void **state)
{
	struct rig_buf from, to;
	struct doca_mmap *mmap;
	struct dpumap_dm *dm;
	uint8_t in[1024];
	void *addr;
	size_t len;

	(void)state;
	assert_ok(rig_buf_create(&rig, 1024, LOCAL_RW, &from));
	assert_ok(rig_buf_create(&rig, 1024, LOCAL_RW, &to));
	rig_fill(from.bytes, from.len, 3);
	assert_ok(dpumap_dm_alloc(rig.dev, 4096, 0, &dm));
	mmap = map_of(dm, 512, 2048, LOCAL_RW);
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_get_memrange(mmap, &addr, &len));
	assert_ok(rig_copy(&rig, &(struct rig_copy){mmap, (uint8_t *)addr + 256, from.mmap,
						    from.bytes, 1024}));
	assert_ok(dpumap_dm_read(dm, 512 + 256, in, sizeof(in)));
	assert_memory_equal(in, from.bytes, sizeof(in));
	assert_ok(rig_copy(
		&rig, &(struct rig_copy){to.mmap, to.bytes, mmap, (uint8_t *)addr + 256, 1024}));
	assert_memory_equal(to.bytes, from.bytes, to.len);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(dpumap_dm_free(dm));
	assert_ok(rig_buf_destroy(&from));
	assert_ok(rig_buf_destroy(&to));
}

#define rig_test(function) cmocka_unit_test_setup_teardown(function, open_rig, close_rig)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		rig_test(test_limits),
		rig_test(test_exhaustion),
		rig_test(test_cpu_access),
		rig_test(test_memrange_bad_values),
		rig_test(test_free_while_mapped),
		rig_test(test_two_maps_have_two_names),
		rig_test(test_copy_through_device_memory),
	};

	rig_parse(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
