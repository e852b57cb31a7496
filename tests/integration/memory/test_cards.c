/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Two cards in one host: a map on both devices, and what is limited to one card. */
#include <string.h>

#include <dpumap/umem.h>

#include "fixture.h"

#define LEN 4096

static struct doca_dev *devs[2];
static uint8_t memory[LEN];

static int open_both(void **state)
{
	struct doca_devinfo **list;
	uint32_t n = 0;
	int bad;

	if (fixture_count(state) || doca_devinfo_create_list(&list, &n) != DOCA_SUCCESS)
		return -1;
	bad = n != 2 || doca_dev_open(list[0], &devs[0]) != DOCA_SUCCESS ||
	      doca_dev_open(list[1], &devs[1]) != DOCA_SUCCESS;
	doca_devinfo_destroy_list(list);
	return bad ? -1 : 0;
}

static int close_both(void **state)
{
	if (doca_dev_close(devs[0]) != DOCA_SUCCESS || doca_dev_close(devs[1]) != DOCA_SUCCESS)
		return -1;
	return fixture_recount(state);
}

static struct doca_mmap *map_on_both(void)
{
	struct doca_mmap *mmap;

	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_set_memrange(mmap, memory, LEN));
	assert_ok(doca_mmap_set_permissions(mmap, LOCAL_RW | PCI_RW));
	assert_ok(doca_mmap_add_dev(mmap, devs[0]));
	assert_ok(doca_mmap_add_dev(mmap, devs[1]));
	return mmap;
}

static void devices_of_two_cards_are_two(void **state)
{
	assert_ptr_not_equal(devs[0], devs[1]);
}

static void each_device_has_its_export(void **state)
{
	struct doca_mmap *mmap = map_on_both();
	struct doca_mmap *imported;
	const void *descs[2];
	size_t lens[2];

	assert_ok(doca_mmap_start(mmap));
	for (int i = 0; i < 2; i++)
		assert_ok(doca_mmap_export_pci(mmap, devs[i], &descs[i], &lens[i]));
	assert_ptr_not_equal(descs[0], descs[1]);
	for (int i = 0; i < 2; i++) {
		assert_error(doca_mmap_create_from_export(NULL, descs[i], lens[i], devs[1 - i],
							  &imported),
			     DOCA_ERROR_NOT_PERMITTED);
		assert_ok(
			doca_mmap_create_from_export(NULL, descs[i], lens[i], devs[i], &imported));
		assert_ok(doca_mmap_destroy(imported));
	}
	assert_ok(doca_mmap_destroy(mmap));
}

static void start_is_on_all_devices_or_none(void **state)
{
	struct objects before, after;
	struct dpumap_dm *dm;
	struct doca_mmap *mmap;

	assert_ok(dpumap_dm_alloc(devs[0], LEN, 0, &dm));
	assert_ok(doca_mmap_create(&mmap));
	assert_ok(dpumap_mmap_set_dm_memrange(mmap, dm, 0, LEN));
	assert_ok(doca_mmap_add_dev(mmap, devs[0]));
	assert_ok(doca_mmap_add_dev(mmap, devs[1]));
	assert_true(objects_read(&before));
	assert_error(doca_mmap_start(mmap), DOCA_ERROR_INVALID_VALUE);
	assert_true(objects_read(&after));
	assert_true(objects_equal(&before, &after));
	assert_ok(doca_mmap_rm_dev(mmap, devs[1]));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(dpumap_dm_free(dm));
}

static void memory_of_another_device_is_refused(void **state)
{
	struct dpumap_umem *umem;
	struct dpumap_dm *dm;
	struct doca_mmap *mmaps[2];

	assert_ok(dpumap_dm_alloc(devs[0], LEN, 0, &dm));
	assert_ok(dpumap_umem_register(devs[0], memory, LEN, LOCAL_RW, &umem));
	for (int i = 0; i < 2; i++) {
		assert_ok(doca_mmap_create(&mmaps[i]));
		assert_ok(doca_mmap_add_dev(mmaps[i], devs[1]));
	}
	assert_ok(dpumap_mmap_set_dm_memrange(mmaps[0], dm, 0, LEN));
	assert_ok(dpumap_mmap_set_umem_memrange(mmaps[1], umem, 0, LEN));
	for (int i = 0; i < 2; i++) {
		assert_error(doca_mmap_start(mmaps[i]), DOCA_ERROR_INVALID_VALUE);
		assert_ok(doca_mmap_destroy(mmaps[i]));
	}
	assert_ok(dpumap_umem_deregister(umem));
	assert_ok(dpumap_dm_free(dm));
}

static void copy_needs_the_queues_device(void **state)
{
	struct fixture second = {.dev = devs[1]};
	struct doca_mmap *mmap;
	struct fixture_buf buf;

	assert_ok(dpumap_dma_create(devs[1], 1, &second.dma));
	assert_ok(fixture_buf_create(&second, LEN, LOCAL_RW, &buf));
	mmap = map_on_both();
	assert_ok(doca_mmap_rm_dev(mmap, devs[1]));
	assert_ok(doca_mmap_start(mmap));
	assert_error(
		fixture_copy(&second, &(struct fixture_copy){mmap, memory, buf.mmap, buf.bytes, 1}),
		DOCA_ERROR_NOT_FOUND);
	assert_ok(doca_mmap_stop(mmap));
	assert_ok(doca_mmap_add_dev(mmap, devs[1]));
	assert_ok(doca_mmap_start(mmap));
	fixture_fill(buf.bytes, LEN, 8);
	assert_ok(fixture_copy(&second,
			       &(struct fixture_copy){mmap, memory, buf.mmap, buf.bytes, LEN}));
	assert_memory_equal(memory, buf.bytes, LEN);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(fixture_buf_destroy(&buf));
	assert_ok(dpumap_dma_destroy(second.dma));
}

static void devices_of_a_map_have_a_maximum(void **state)
{
	struct doca_mmap *mmap;

	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_set_max_num_devices(mmap, 1));
	assert_ok(doca_mmap_add_dev(mmap, devs[0]));
	assert_error(doca_mmap_add_dev(mmap, devs[1]), DOCA_ERROR_NO_MEMORY);
	assert_ok(doca_mmap_set_max_num_devices(mmap, 2));
	assert_ok(doca_mmap_add_dev(mmap, devs[1]));
	assert_error(doca_mmap_set_max_num_devices(mmap, 1), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_set_max_num_devices(mmap, 2));
	assert_ok(doca_mmap_destroy(mmap));
}

#define cards_test(function) cmocka_unit_test_setup_teardown(function, open_both, close_both)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cards_test(devices_of_two_cards_are_two),
		cards_test(each_device_has_its_export),
		cards_test(start_is_on_all_devices_or_none),
		cards_test(memory_of_another_device_is_refused),
		cards_test(copy_needs_the_queues_device),
		cards_test(devices_of_a_map_have_a_maximum),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
