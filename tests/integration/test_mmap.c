/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The life of a map in one process: every state, every refusal, as docs of doca_mmap.h say. */
#include <string.h>
#include <sys/mman.h>

#include <dpumap/desc.h>

#include "fixture.h"

static struct rig rig;
static uint8_t memory[8192];

static int open_rig(void **state)
{
	if (fixture_count(state))
		return -1;
	return rig_open(&rig) == DOCA_SUCCESS ? 0 : -1;
}

static int close_rig(void **state)
{
	if (rig_close(&rig) != DOCA_SUCCESS)
		return -1;
	return fixture_recount(state);
}

static struct doca_mmap *new_map(uint32_t access)
{
	struct doca_mmap *mmap;

	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_set_memrange(mmap, memory, sizeof(memory)));
	assert_ok(doca_mmap_set_permissions(mmap, access));
	assert_ok(doca_mmap_add_dev(mmap, rig.dev));
	return mmap;
}

static struct doca_mmap *started_map(uint32_t access)
{
	struct doca_mmap *mmap = new_map(access);

	assert_ok(doca_mmap_start(mmap));
	return mmap;
}

static struct doca_mmap *imported_map(struct doca_mmap *from)
{
	struct doca_mmap *mmap;
	const void *desc;
	size_t len;

	assert_ok(doca_mmap_export_pci(from, rig.dev, &desc, &len));
	assert_ok(doca_mmap_create_from_export(NULL, desc, len, rig.dev, &mmap));
	return mmap;
}

static void test_create_has_defaults(void **state)
{
	union doca_data data = {.u64 = 1};
	struct doca_mmap *mmap;
	uint32_t max = 0;
	uint8_t flag = 9;
	void *addr;
	size_t len;

	(void)state;
	assert_error(doca_mmap_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_get_user_data(mmap, &data));
	assert_int_equal(data.u64, 0);
	assert_ok(doca_mmap_get_exported(mmap, &flag));
	assert_int_equal(flag, 0);
	assert_ok(doca_mmap_get_from_export(mmap, &flag));
	assert_int_equal(flag, 0);
	assert_ok(doca_mmap_get_max_num_devices(mmap, &max));
	assert_true(max >= 2);
	assert_error(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_mmap_destroy(mmap));
	assert_error(doca_mmap_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
}

static void test_memrange_bad_values(void **state)
{
	struct doca_mmap *mmap;
	void *addr;
	size_t len;

	(void)state;
	assert_ok(doca_mmap_create(&mmap));
	assert_error(doca_mmap_set_memrange(NULL, memory, 1), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_memrange(mmap, NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_memrange(mmap, memory, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_memrange(mmap, memory, SIZE_MAX), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_mmap_destroy(mmap));
}

static void test_memrange_once_in_life(void **state)
{
	struct doca_mmap *mmap = new_map(LOCAL_RW);
	void *addr = NULL;
	size_t len = 0;

	(void)state;
	assert_error(doca_mmap_set_memrange(mmap, memory, 1), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_start(mmap));
	assert_error(doca_mmap_set_memrange(mmap, memory, 1), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_mmap_stop(mmap));
	assert_error(doca_mmap_set_memrange(mmap, memory, 1), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_get_memrange(mmap, &addr, &len));
	assert_ptr_equal(addr, memory);
	assert_int_equal(len, sizeof(memory));
	assert_ok(doca_mmap_destroy(mmap));
}

static void test_permissions_that_programs_set(void **state)
{
	static const uint32_t masks[] = {0, 1, 2, 3, 4, 5, 7, 10, 12, 16, 32, 33, 39, 65, 71};

	(void)state;
	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++)
		assert_ok(doca_mmap_destroy(started_map(masks[i])));
}

static void test_permissions_bad_values(void **state)
{
	struct doca_mmap *mmap = new_map(LOCAL_RW);

	(void)state;
	assert_error(doca_mmap_set_permissions(mmap, 0x80), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_permissions(mmap, PCI_RW | PCI_RO), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_permissions(mmap, PCI_RW | 64), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_permissions(mmap, PCI_RO | 64), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_permissions(NULL, LOCAL_RW), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_destroy(mmap));
}

static void test_start_needs_range_and_device(void **state)
{
	struct doca_mmap *mmap;

	(void)state;
	assert_error(doca_mmap_start(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_add_dev(mmap, rig.dev));
	assert_error(doca_mmap_start(mmap), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_set_memrange(mmap, memory, sizeof(memory)));
	assert_ok(doca_mmap_rm_dev(mmap, rig.dev));
	assert_error(doca_mmap_start(mmap), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_add_dev(mmap, rig.dev));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_destroy(mmap));
}

static void test_start_of_unmapped_memory(void **state)
{
	struct doca_mmap *mmap;

	(void)state;
	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_set_memrange(mmap, (void *)(uintptr_t)4096, 4096));
	assert_ok(doca_mmap_add_dev(mmap, rig.dev));
	assert_error(doca_mmap_start(mmap), DOCA_ERROR_DRIVER);
	assert_ok(doca_mmap_rm_dev(mmap, rig.dev));
	assert_ok(doca_mmap_destroy(mmap));
}

static void test_started_map_cannot_change(void **state)
{
	struct doca_mmap *mmap = started_map(LOCAL_RW);
	union doca_data data = {.u64 = 1};

	(void)state;
	assert_error(doca_mmap_start(mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_set_permissions(mmap, LOCAL_RW), DOCA_ERROR_BAD_STATE);
	assert_error(doca_mmap_set_user_data(mmap, data), DOCA_ERROR_BAD_STATE);
	assert_error(doca_mmap_set_free_cb(mmap, NULL, NULL), DOCA_ERROR_BAD_STATE);
	assert_error(doca_mmap_set_max_num_devices(mmap, 4), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_add_dev(mmap, rig.dev), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_rm_dev(mmap, rig.dev), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_destroy(mmap));
}

static void test_stopped_map_can_change(void **state)
{
	struct doca_mmap *mmap = started_map(LOCAL_RW);
	union doca_data data = {.u64 = 77};

	(void)state;
	assert_ok(doca_mmap_stop(mmap));
	assert_ok(doca_mmap_stop(mmap));
	assert_ok(doca_mmap_set_permissions(mmap, PCI_RO));
	assert_ok(doca_mmap_set_user_data(mmap, data));
	assert_error(doca_mmap_set_max_num_devices(mmap, 4), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_rm_dev(mmap, rig.dev));
	assert_ok(doca_mmap_add_dev(mmap, rig.dev));
	assert_ok(doca_mmap_start(mmap));
	data.u64 = 0;
	assert_ok(doca_mmap_get_user_data(mmap, &data));
	assert_int_equal(data.u64, 77);
	assert_ok(doca_mmap_destroy(mmap));
}

static void test_stop_before_start(void **state)
{
	struct doca_mmap *mmap = new_map(LOCAL_RW);

	(void)state;
	assert_error(doca_mmap_stop(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_stop(mmap));
	assert_ok(doca_mmap_destroy(mmap));
}

static void test_devices_of_a_map(void **state)
{
	struct doca_mmap *mmap;
	uint32_t max = 0;

	(void)state;
	assert_ok(doca_mmap_create(&mmap));
	assert_error(doca_mmap_add_dev(mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_rm_dev(mmap, rig.dev), DOCA_ERROR_NOT_FOUND);
	assert_error(doca_mmap_set_max_num_devices(mmap, 0), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_set_max_num_devices(mmap, 1));
	assert_ok(doca_mmap_get_max_num_devices(mmap, &max));
	assert_int_equal(max, 1);
	assert_ok(doca_mmap_add_dev(mmap, rig.dev));
	assert_error(doca_mmap_add_dev(mmap, rig.dev), DOCA_ERROR_ALREADY_EXIST);
	assert_ok(doca_mmap_rm_dev(mmap, rig.dev));
	assert_error(doca_mmap_rm_dev(mmap, rig.dev), DOCA_ERROR_NOT_FOUND);
	assert_ok(doca_mmap_destroy(mmap));
}

struct freed {
	unsigned int calls;
	void *addr;
	size_t len;
};

static void note_free(void *addr, size_t len, void *cookie)
{
	struct freed *freed = cookie;

	freed->calls++;
	freed->addr = addr;
	freed->len = len;
}

static void test_free_cb_called_once_started(void **state)
{
	struct doca_mmap *mmap = new_map(LOCAL_RW);
	struct freed freed = {0};

	(void)state;
	assert_ok(doca_mmap_set_free_cb(mmap, note_free, &freed));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_stop(mmap));
	assert_int_equal(freed.calls, 0);
	assert_ok(doca_mmap_destroy(mmap));
	assert_int_equal(freed.calls, 1);
	assert_ptr_equal(freed.addr, memory);
	assert_int_equal(freed.len, sizeof(memory));
}

static void test_free_cb_not_called_unless_started_with_it(void **state)
{
	struct freed freed = {0};
	struct doca_mmap *mmap;

	(void)state;
	mmap = new_map(LOCAL_RW);
	assert_ok(doca_mmap_set_free_cb(mmap, note_free, &freed));
	assert_ok(doca_mmap_destroy(mmap));
	assert_int_equal(freed.calls, 0);

	mmap = started_map(LOCAL_RW);
	assert_ok(doca_mmap_stop(mmap));
	assert_ok(doca_mmap_set_free_cb(mmap, note_free, &freed));
	assert_ok(doca_mmap_destroy(mmap));
	assert_int_equal(freed.calls, 0);
}

static void test_export_refusals(void **state)
{
	struct doca_mmap *mmap = new_map(PCI_RW);
	struct doca_mmap *without_flag = started_map(LOCAL_RW);
	struct doca_mmap *without_dev;
	const void *desc = NULL;
	size_t len = 0;

	(void)state;
	assert_ok(doca_mmap_create(&without_dev));
	assert_error(doca_mmap_export_pci(NULL, rig.dev, &desc, &len), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_export_pci(mmap, NULL, &desc, &len), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_export_pci(mmap, rig.dev, NULL, &len), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_export_pci(mmap, rig.dev, &desc, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_export_pci(mmap, rig.dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_export_pci(without_flag, rig.dev, &desc, &len),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_export_pci(without_dev, rig.dev, &desc, &len), DOCA_ERROR_NOT_FOUND);
	assert_null(desc);
	assert_int_equal(len, 0);
	assert_ok(doca_mmap_destroy(without_dev));
	assert_ok(doca_mmap_destroy(without_flag));
	assert_ok(doca_mmap_destroy(mmap));
}

static void test_export_again_is_the_same(void **state)
{
	struct doca_mmap *mmap = started_map(PCI_RW);
	struct rig_counts before, after;
	const void *first, *second;
	size_t first_len, second_len;
	uint8_t exported = 9;

	(void)state;
	assert_ok(doca_mmap_get_exported(mmap, &exported));
	assert_int_equal(exported, 0);
	assert_ok(doca_mmap_export_pci(mmap, rig.dev, &first, &first_len));
	assert_true(rig_read_counts(&before));
	assert_ok(doca_mmap_export_pci(mmap, rig.dev, &second, &second_len));
	assert_true(rig_read_counts(&after));
	assert_true(rig_counts_equal(&before, &after));
	assert_ptr_equal(first, second);
	assert_int_equal(first_len, second_len);
	assert_true(first_len <= 128);
	assert_ok(doca_mmap_get_exported(mmap, &exported));
	assert_int_equal(exported, 1);
	assert_ok(doca_mmap_stop(mmap));
	assert_ok(doca_mmap_get_exported(mmap, &exported));
	assert_int_equal(exported, 0);
	assert_error(doca_mmap_export_pci(mmap, rig.dev, &second, &second_len),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_destroy(mmap));
}

static struct dpumap_desc exported_fields(struct doca_mmap *mmap)
{
	struct dpumap_desc fields;
	const void *desc;
	size_t len;

	assert_ok(doca_mmap_export_pci(mmap, rig.dev, &desc, &len));
	assert_int_equal(dpumap_desc_decode(desc, len, &fields), DPUMAP_DESC_OK);
	return fields;
}

static void test_every_export_has_its_own_key(void **state)
{
	struct doca_mmap *mmap = started_map(PCI_RW);
	struct dpumap_desc first, second;

	(void)state;
	first = exported_fields(mmap);
	assert_ok(doca_mmap_stop(mmap));
	assert_ok(doca_mmap_start(mmap));
	second = exported_fields(mmap);
	assert_memory_not_equal(first.access_key, second.access_key, sizeof(first.access_key));
	assert_int_equal(second.kind, DPUMAP_DESC_KIND_PCI);
	assert_int_equal(second.source, DPUMAP_DESC_SOURCE_MEMORY);
	assert_int_equal(second.access, PCI_RW);
	assert_int_equal(second.addr, (uintptr_t)memory);
	assert_int_equal(second.len, sizeof(memory));
	dpumap_desc_wipe(&first);
	dpumap_desc_wipe(&second);
	assert_ok(doca_mmap_destroy(mmap));
}

static void test_imported_map_cannot_change(void **state)
{
	struct doca_mmap *from = started_map(LOCAL_RW | PCI_RW);
	struct doca_mmap *mmap = imported_map(from);
	union doca_data data = {.u64 = 1};
	const void *desc;
	uint8_t flag = 0;
	size_t len;
	void *addr;

	(void)state;
	assert_ok(doca_mmap_get_from_export(mmap, &flag));
	assert_int_equal(flag, 1);
	assert_ok(doca_mmap_get_memrange(mmap, &addr, &len));
	assert_ptr_equal(addr, memory);
	assert_int_equal(len, sizeof(memory));
	assert_ok(doca_mmap_get_user_data(mmap, &data));
	assert_int_equal(data.u64, 0);
	assert_error(doca_mmap_start(mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_set_memrange(mmap, memory, 1), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_set_permissions(mmap, LOCAL_RW), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_set_user_data(mmap, data), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_set_free_cb(mmap, NULL, NULL), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_set_max_num_devices(mmap, 4), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_add_dev(mmap, rig.dev), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_rm_dev(mmap, rig.dev), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_export_pci(mmap, rig.dev, &desc, &len), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_stop(mmap));
	assert_error(doca_mmap_start(mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_mmap_destroy(from));
}

static void test_import_keeps_user_data(void **state)
{
	struct doca_mmap *from = started_map(PCI_RO);
	union doca_data given = {.u64 = 0xfeed};
	union doca_data got = {0};
	struct doca_mmap *mmap;
	const void *desc;
	size_t len;

	(void)state;
	assert_ok(doca_mmap_export_pci(from, rig.dev, &desc, &len));
	assert_ok(doca_mmap_create_from_export(&given, desc, len, rig.dev, &mmap));
	assert_ok(doca_mmap_get_user_data(mmap, &got));
	assert_int_equal(got.u64, 0xfeed);
	assert_ok(doca_mmap_destroy(from));
	assert_ok(doca_mmap_destroy(mmap));
}

static void test_import_refuses_bad_bytes(void **state)
{
	struct doca_mmap *from = started_map(PCI_RW);
	struct doca_mmap *mmap = NULL;
	uint8_t bytes[SIDE_DESC_ROOM];
	const void *desc;
	size_t len;

	(void)state;
	assert_ok(doca_mmap_export_pci(from, rig.dev, &desc, &len));
	assert_error(doca_mmap_create_from_export(NULL, NULL, len, rig.dev, &mmap),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_create_from_export(NULL, desc, len, NULL, &mmap),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_create_from_export(NULL, desc, len, rig.dev, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	for (size_t cut = 0; cut < len; cut++)
		assert_error(doca_mmap_create_from_export(NULL, desc, cut, rig.dev, &mmap),
			     DOCA_ERROR_INVALID_VALUE);
	for (size_t bit = 0; bit < len * 8; bit++) {
		memcpy(bytes, desc, len);
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_error(doca_mmap_create_from_export(NULL, bytes, len, rig.dev, &mmap),
			     DOCA_ERROR_INVALID_VALUE);
	}
	assert_null(mmap);
	assert_ok(doca_mmap_destroy(from));
}

static void test_import_of_unaligned_copy(void **state)
{
	struct doca_mmap *from = started_map(PCI_RW);
	uint8_t bytes[SIDE_DESC_ROOM];
	struct doca_mmap *mmap;
	const void *desc;
	size_t len;

	(void)state;
	assert_ok(doca_mmap_export_pci(from, rig.dev, &desc, &len));
	memcpy(bytes + 3, desc, len);
	assert_ok(doca_mmap_create_from_export(NULL, bytes + 3, len, rig.dev, &mmap));
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_mmap_destroy(from));
}

/* More than one entry of 2 GiB in the exported mkey; the pages between are never touched. */
static void test_import_across_mkey_entries(void **state)
{
	const size_t entry = (size_t)1 << 31, len = 2 * entry + 8192, piece = 4096;
	struct doca_mmap *from, *to;
	struct rig_buf buf;
	uint8_t *area;

	(void)state;
	area = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		    -1, 0);
	if (area == MAP_FAILED)
		skip();
	assert_ok(rig_buf_create(&rig, piece, LOCAL_RW, &buf));
	assert_ok(doca_mmap_create(&from));
	assert_ok(doca_mmap_set_memrange(from, area + 100, len - 100));
	assert_ok(doca_mmap_set_permissions(from, LOCAL_RW | PCI_RW));
	assert_ok(doca_mmap_add_dev(from, rig.dev));
	assert_ok(doca_mmap_start(from));
	to = imported_map(from);
	for (size_t at = entry; at < len; at += entry) {
		uint8_t *border = area + 100 + at - piece / 2;

		rig_fill(border, piece, (uint32_t)(at >> 31));
		assert_ok(
			rig_copy(&rig, &(struct rig_copy){buf.mmap, buf.bytes, to, border, piece}));
		assert_memory_equal(buf.bytes, border, piece);
	}
	assert_ok(rig_copy(&rig,
			   &(struct rig_copy){to, area + len - piece, buf.mmap, buf.bytes, piece}));
	assert_memory_equal(area + len - piece, buf.bytes, piece);
	assert_ok(doca_mmap_destroy(to));
	assert_ok(doca_mmap_destroy(from));
	assert_ok(rig_buf_destroy(&buf));
	munmap(area, len);
}

#define rig_test(function) cmocka_unit_test_setup_teardown(function, open_rig, close_rig)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		rig_test(test_create_has_defaults),
		rig_test(test_memrange_bad_values),
		rig_test(test_memrange_once_in_life),
		rig_test(test_permissions_that_programs_set),
		rig_test(test_permissions_bad_values),
		rig_test(test_start_needs_range_and_device),
		rig_test(test_start_of_unmapped_memory),
		rig_test(test_started_map_cannot_change),
		rig_test(test_stopped_map_can_change),
		rig_test(test_stop_before_start),
		rig_test(test_devices_of_a_map),
		rig_test(test_free_cb_called_once_started),
		rig_test(test_free_cb_not_called_unless_started_with_it),
		rig_test(test_export_refusals),
		rig_test(test_export_again_is_the_same),
		rig_test(test_every_export_has_its_own_key),
		rig_test(test_imported_map_cannot_change),
		rig_test(test_import_keeps_user_data),
		rig_test(test_import_refuses_bad_bytes),
		rig_test(test_import_of_unaligned_copy),
		rig_test(test_import_across_mkey_entries),
	};

	rig_parse(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
