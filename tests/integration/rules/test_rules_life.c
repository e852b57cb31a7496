/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Create, destroy, start and stop. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "peer.h"
#include "rules.h"

static const union doca_data no_data;

/* rule: M-CRE-1, M-0 */
static void create_without_output_is_invalid(void **state)
{
	assert_error(doca_mmap_create(NULL), DOCA_ERROR_INVALID_VALUE);
}

/* rule: M-CRE-3, T-2.3-create, M-USR-2 */
static void created_map_is_blank(void **state)
{
	struct doca_mmap *mmap = rules_blank();
	union doca_data data = {.u64 = 1};
	uint8_t exported = 9, imported = 9;
	uint32_t bufs = 9;
	void *addr;
	size_t len;

	assert_ok(doca_mmap_get_user_data(mmap, &data));
	assert_int_equal(data.u64, 0);
	assert_ok(doca_mmap_get_exported(mmap, &exported));
	assert_int_equal(exported, 0);
	assert_ok(doca_mmap_get_from_export(mmap, &imported));
	assert_int_equal(imported, 0);
	assert_ok(doca_mmap_get_num_bufs(mmap, &bufs));
	assert_int_equal(bufs, 0);
	assert_error(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_ERROR_BAD_STATE);
	assert_error(doca_mmap_rm_dev(mmap, rules.fixture.dev), DOCA_ERROR_NOT_FOUND);
}

/* rule: M-CRE-4 */
static void map_without_permissions_is_local_read_write(void **state)
{
	struct doca_mmap *mmap = rules_blank();
	uint8_t sent[64], got[64];
	struct rules_blob blob;

	assert_ok(doca_mmap_set_memrange(mmap, rules.memory, RULES_LEN));
	assert_ok(doca_mmap_add_dev(mmap, rules.fixture.dev));
	assert_ok(doca_mmap_start(mmap));
	fixture_fill(sent, sizeof(sent), 2);
	assert_ok(rules_write(mmap, sent, sizeof(sent)));
	assert_ok(rules_read(mmap, got, sizeof(got)));
	assert_memory_equal(got, sent, sizeof(sent));
	assert_error(doca_mmap_export_pci(mmap, rules.fixture.dev, &blob.bytes, &blob.len),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_export_rdma(mmap, rules.fixture.dev, &blob.bytes, &blob.len),
		     DOCA_ERROR_NOT_PERMITTED);
}

/* Part of a file, as programs map what they only read. */
static uint8_t *mmap_read_only(void)
{
	int fd = memfd_create("file", MFD_CLOEXEC);
	uint8_t bytes[RULES_LEN];
	void *memory;

	fixture_fill(bytes, sizeof(bytes), 3);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	memory = mmap(NULL, RULES_LEN, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	close(fd);
	return memory;
}

/* rule: M-CRE-5 */
static void memory_of_a_map_without_permissions_may_be_read_only(void **state)
{
	struct doca_mmap *mmap = rules_blank(), *strict = rules_blank();
	uint8_t got[64], nothing[64] = {0};
	uint8_t *memory = mmap_read_only();

	assert_ok(doca_mmap_set_memrange(mmap, memory, RULES_LEN));
	assert_ok(doca_mmap_add_dev(mmap, rules.fixture.dev));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(rules_read(mmap, got, sizeof(got)));
	assert_memory_equal(got, memory, sizeof(got));
	assert_error(rules_write(mmap, nothing, sizeof(nothing)), DOCA_ERROR_NOT_PERMITTED);
	assert_memory_equal(got, memory, sizeof(got));
	/* A program that asks for the right to write gets it, or an error. */
	assert_ok(doca_mmap_set_memrange(strict, memory, RULES_LEN));
	assert_ok(doca_mmap_add_dev(strict, rules.fixture.dev));
	assert_ok(doca_mmap_set_permissions(strict, LOCAL_RW));
	assert_error(doca_mmap_start(strict), DOCA_ERROR_DRIVER);
	assert_ok(doca_mmap_set_permissions(strict, 0));
	assert_ok(doca_mmap_start(strict));
	rules_destroy(strict);
	rules_destroy(mmap);
	munmap(memory, RULES_LEN);
}

/* rule: M-0 */
static void calls_without_a_map_are_invalid(void **state)
{
	void *dpa = rules.memory;
	struct rules_blob blob;
	uint32_t number;
	uint8_t flag;

	assert_error(doca_mmap_set_memrange(NULL, rules.memory, 1), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_dmabuf_memrange(NULL, 0, rules.memory, 0, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_dpa_memrange(NULL, dpa, 4096, 1), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_permissions(NULL, LOCAL_RW), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_free_cb(NULL, NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_user_data(NULL, no_data), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_max_num_devices(NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_get_max_num_devices(NULL, &number), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_get_num_bufs(NULL, &number), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_get_exported(NULL, &flag), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_get_from_export(NULL, &flag), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_export_pci(NULL, rules.fixture.dev, &blob.bytes, &blob.len),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_export_rdma(NULL, rules.fixture.dev, &blob.bytes, &blob.len),
		     DOCA_ERROR_INVALID_VALUE);
}

/* rule: M-0 */
static void getters_without_output_are_invalid(void **state)
{
	struct doca_mmap *mmap = rules_map(STARTED);
	void *addr;
	size_t len;

	assert_error(doca_mmap_get_memrange(mmap, NULL, &len), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_get_memrange(mmap, &addr, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_get_memrange(NULL, &addr, &len), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_get_user_data(mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_get_max_num_devices(mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_get_num_bufs(mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_get_exported(mmap, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_get_from_export(mmap, NULL), DOCA_ERROR_INVALID_VALUE);
}

/* rule: M-0 */
static void failed_calls_leave_outputs_alone(void **state)
{
	struct doca_mmap *mmap = rules_new(ALL_RW);
	struct rules_blob blob = {rules.memory, 77};
	struct doca_mmap *imported = mmap;
	doca_dpa_dev_mmap_t handle = 77;

	assert_error(doca_mmap_export_pci(mmap, rules.fixture.dev, &blob.bytes, &blob.len),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_export_rdma(mmap, rules.fixture.dev, &blob.bytes, &blob.len),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_dev_get_dpa_handle(mmap, rules.fixture.dev, &handle),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_error(
		doca_mmap_create_from_export(NULL, rules.memory, 64, rules.fixture.dev, &imported),
		DOCA_ERROR_INVALID_VALUE);
	assert_ptr_equal(blob.bytes, rules.memory);
	assert_int_equal(blob.len, 77);
	assert_int_equal(handle, 77);
	assert_ptr_equal(imported, mmap);
}

/* rule: M-DES-1 */
static void destroy_of_null_is_invalid(void **state)
{
	assert_error(doca_mmap_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
}

/* rule: M-DES-5, M-STO-4 */
static void destroy_stops_a_started_map(void **state)
{
	struct doca_mmap *mmap = rules_map(EXPORTED);
	struct doca_mmap *imported = rules_import(rules_export(mmap));
	uint8_t got[16];

	assert_ok(rules_read(imported, got, sizeof(got)));
	rules_destroy(mmap);
	assert_error(rules_read(imported, got, sizeof(got)), DOCA_ERROR_NOT_PERMITTED);
}

/* rule: M-DES-6 */
static void destroy_ends_the_descriptors(void **state)
{
	struct doca_mmap *mmap = rules_map(EXPORTED);
	struct rules_blob blob = rules_export(mmap);
	uint8_t copy[DESCRIPTOR_ROOM];
	struct doca_mmap *imported;

	assert_true(blob.len <= sizeof(copy));
	memcpy(copy, blob.bytes, blob.len);
	rules_destroy(mmap);
	assert_error(
		doca_mmap_create_from_export(NULL, copy, blob.len, rules.fixture.dev, &imported),
		DOCA_ERROR_NOT_PERMITTED);
}

/* rule: M-STA-1 */
static void start_of_null_is_invalid(void **state)
{
	assert_error(doca_mmap_start(NULL), DOCA_ERROR_INVALID_VALUE);
}

/* rule: M-STA-2, M-RNG-6, T-2.3-NEW-start-no-range */
static void start_without_range_is_invalid(void **state)
{
	struct doca_mmap *mmap = rules_blank();

	assert_ok(doca_mmap_add_dev(mmap, rules.fixture.dev));
	assert_error(doca_mmap_start(mmap), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_set_memrange(mmap, rules.memory, RULES_LEN));
	assert_ok(doca_mmap_start(mmap));
}

/* rule: M-STA-2 */
static void start_without_device_is_invalid(void **state)
{
	struct doca_mmap *mmap = rules_blank();

	assert_ok(doca_mmap_set_memrange(mmap, rules.memory, RULES_LEN));
	assert_error(doca_mmap_start(mmap), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_add_dev(mmap, rules.fixture.dev));
	assert_ok(doca_mmap_start(mmap));
}

/* rule: M-STA-5 */
static void start_of_memory_that_cannot_be_pinned_is_a_driver_error(void **state)
{
	struct doca_mmap *mmap = rules_blank();
	struct rules_blob blob;

	assert_ok(doca_mmap_set_memrange(mmap, (void *)(uintptr_t)4096, 4096));
	assert_ok(doca_mmap_set_permissions(mmap, ALL_RW));
	assert_ok(doca_mmap_add_dev(mmap, rules.fixture.dev));
	assert_error(doca_mmap_start(mmap), DOCA_ERROR_DRIVER);
	assert_error(doca_mmap_export_pci(mmap, rules.fixture.dev, &blob.bytes, &blob.len),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_rm_dev(mmap, rules.fixture.dev));
}

/* rule: M-STA-6 */
static void start_allows_exports_and_ends_configuration(void **state)
{
	struct doca_mmap *mmap = rules_new(ALL_RW);
	struct rules_blob blob;

	assert_error(doca_mmap_export_pci(mmap, rules.fixture.dev, &blob.bytes, &blob.len),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_set_permissions(mmap, ALL_RW));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_export_pci(mmap, rules.fixture.dev, &blob.bytes, &blob.len));
	assert_error(doca_mmap_set_permissions(mmap, ALL_RW), DOCA_ERROR_BAD_STATE);
	assert_error(doca_mmap_rm_dev(mmap, rules.fixture.dev), DOCA_ERROR_NOT_PERMITTED);
}

/* rule: M-STA-7, M-MAX-1 */
static void first_start_fixes_the_maximum_of_devices(void **state)
{
	struct doca_mmap *mmap = rules_new(ALL_RW);
	uint32_t max = 0;

	assert_ok(doca_mmap_set_max_num_devices(mmap, 3));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_stop(mmap));
	assert_error(doca_mmap_set_max_num_devices(mmap, 4), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_get_max_num_devices(mmap, &max));
	assert_int_equal(max, 3);
}

/* rule: M-STO-1 */
static void stop_of_null_is_invalid(void **state)
{
	assert_error(doca_mmap_stop(NULL), DOCA_ERROR_INVALID_VALUE);
}

/* rule: M-STO-3, T-2.3-EXPORTED-stop, M-GET-4 */
static void stop_ends_descriptors_and_imports(void **state)
{
	struct doca_mmap *mmap = rules_map(EXPORTED);
	struct rules_blob blob = rules_export(mmap);
	struct doca_mmap *imported = rules_import(blob);
	uint8_t copy[DESCRIPTOR_ROOM], got[16];
	struct doca_mmap *again;
	uint8_t exported = 9;

	memcpy(copy, blob.bytes, blob.len);
	assert_ok(rules_read(imported, got, sizeof(got)));
	assert_ok(doca_mmap_stop(mmap));
	assert_error(rules_read(imported, got, sizeof(got)), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_create_from_export(NULL, copy, blob.len, rules.fixture.dev, &again),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_get_exported(mmap, &exported));
	assert_int_equal(exported, 0);
}

/* rule: M-STO-6, T-2.3-IMPORTED-stop */
static void stopped_import_is_no_longer_usable(void **state)
{
	struct doca_mmap *imported = rules_map(IMPORTED);
	uint8_t got[16], flag = 9;

	assert_ok(rules_read(imported, got, sizeof(got)));
	assert_ok(doca_mmap_stop(imported));
	assert_ok(doca_mmap_stop(imported));
	assert_ok(doca_mmap_get_from_export(imported, &flag));
	assert_int_equal(flag, 1);
	assert_error(rules_read(imported, got, sizeof(got)), DOCA_ERROR_BAD_STATE);
	assert_error(doca_mmap_start(imported), DOCA_ERROR_NOT_PERMITTED);
}

/* rule: M-STO-7, T-2.3-STOPPED-configure */
static void stopped_map_is_configurable_and_starts_again(void **state)
{
	struct doca_mmap *mmap = rules_map(EXPORTED);
	struct rules_blob blob;
	uint8_t got[16];

	assert_ok(doca_mmap_stop(mmap));
	assert_error(doca_mmap_export_pci(mmap, rules.fixture.dev, &blob.bytes, &blob.len),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_set_permissions(mmap, LOCAL_RW | PCI_RO));
	assert_ok(doca_mmap_set_user_data(mmap, (union doca_data){.u64 = 5}));
	assert_ok(doca_mmap_rm_dev(mmap, rules.fixture.dev));
	assert_ok(doca_mmap_add_dev(mmap, rules.fixture.dev));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(rules_read(rules_import(rules_export(mmap)), got, sizeof(got)));
	assert_memory_equal(got, rules.memory, sizeof(got));
}

/* rule: M-STO-8 */
static void stop_of_a_map_that_is_not_started_changes_nothing(void **state)
{
	struct doca_mmap *mmap = rules_new(ALL_RW);

	assert_ok(doca_mmap_stop(mmap));
	assert_ok(doca_mmap_set_max_num_devices(mmap, 5));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_stop(mmap));
	assert_ok(doca_mmap_stop(mmap));
	assert_ok(doca_mmap_start(mmap));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		rule_test(create_without_output_is_invalid),
		rule_test(created_map_is_blank),
		rule_test(map_without_permissions_is_local_read_write),
		rule_test(memory_of_a_map_without_permissions_may_be_read_only),
		rule_test(calls_without_a_map_are_invalid),
		rule_test(getters_without_output_are_invalid),
		rule_test(failed_calls_leave_outputs_alone),
		rule_test(destroy_of_null_is_invalid),
		rule_test(destroy_stops_a_started_map),
		rule_test(destroy_ends_the_descriptors),
		rule_test(start_of_null_is_invalid),
		rule_test(start_without_range_is_invalid),
		rule_test(start_without_device_is_invalid),
		rule_test(start_of_memory_that_cannot_be_pinned_is_a_driver_error),
		rule_test(start_allows_exports_and_ends_configuration),
		rule_test(first_start_fixes_the_maximum_of_devices),
		rule_test(stop_of_null_is_invalid),
		rule_test(stop_ends_descriptors_and_imports),
		rule_test(stopped_import_is_no_longer_usable),
		rule_test(stopped_map_is_configurable_and_starts_again),
		rule_test(stop_of_a_map_that_is_not_started_changes_nothing),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
