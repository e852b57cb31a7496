/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Devices, ranges, permissions, callbacks and data of a map. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "rules.h"

/* rule: M-ADD-1 */
static void add_dev_of_null_is_invalid(void **state)
{
	struct doca_mmap *mmap = rules_blank();

	assert_error(doca_mmap_add_dev(NULL, rules.fixture.dev), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_add_dev(mmap, NULL), DOCA_ERROR_INVALID_VALUE);
}

/* rule: M-ADD-4 */
static void add_dev_twice_already_exists(void **state)
{
	struct doca_mmap *mmap = rules_new(ALL_RW);

	assert_error(doca_mmap_add_dev(mmap, rules.fixture.dev), DOCA_ERROR_ALREADY_EXIST);
	assert_ok(doca_mmap_rm_dev(mmap, rules.fixture.dev));
	assert_error(doca_mmap_rm_dev(mmap, rules.fixture.dev), DOCA_ERROR_NOT_FOUND);
}

/* rule: M-ADD-5 */
static void add_dev_beyond_the_maximum_is_no_memory(void **state)
{
	struct doca_mmap *mmap = rules_blank();

	assert_ok(doca_mmap_set_max_num_devices(mmap, 1));
	assert_ok(doca_mmap_add_dev(mmap, rules.fixture.dev));
	assert_error(doca_mmap_add_dev(mmap, rules.second), DOCA_ERROR_NO_MEMORY);
	assert_ok(doca_mmap_rm_dev(mmap, rules.fixture.dev));
	assert_ok(doca_mmap_add_dev(mmap, rules.second));
}

enum step { ADD, RANGE, PERMIT };

static void take_step(struct doca_mmap *mmap, enum step step)
{
	if (step == ADD)
		assert_ok(doca_mmap_add_dev(mmap, rules.fixture.dev));
	else if (step == RANGE)
		assert_ok(doca_mmap_set_memrange(mmap, rules.memory, RULES_LEN));
	else
		assert_ok(doca_mmap_set_permissions(mmap, LOCAL_RW | PCI_RW));
}

/* rule: M-ADD-8 */
static void order_of_configuration_is_free(void **state)
{
	static const enum step orders[][3] = {
		{ADD, RANGE, PERMIT}, {ADD, PERMIT, RANGE}, {RANGE, ADD, PERMIT},
		{RANGE, PERMIT, ADD}, {PERMIT, ADD, RANGE}, {PERMIT, RANGE, ADD},
	};
	uint8_t got[16];

	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		struct doca_mmap *mmap = rules_blank();

		for (size_t at = 0; at < 3; at++)
			take_step(mmap, orders[i][at]);
		assert_ok(doca_mmap_start(mmap));
		assert_ok(rules_read(rules_import(rules_export(mmap)), got, sizeof(got)));
		assert_memory_equal(got, rules.memory, sizeof(got));
	}
}

/* rule: M-ADD-9 */
static void two_devices_have_a_key_each(void **state)
{
	struct doca_mmap *mmap = rules_new(ALL_RW);
	doca_dpa_dev_mmap_t keys[2] = {0};
	struct rules_blob blob;

	assert_ok(doca_mmap_add_dev(mmap, rules.second));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_dev_get_dpa_handle(mmap, rules.fixture.dev, &keys[0]));
	assert_ok(doca_mmap_dev_get_dpa_handle(mmap, rules.second, &keys[1]));
	assert_int_not_equal(keys[0], 0);
	assert_int_not_equal(keys[1], 0);
	assert_ok(doca_mmap_export_pci(mmap, rules.second, &blob.bytes, &blob.len));
	assert_ptr_not_equal(blob.bytes, rules_export(mmap).bytes);
}

/* rule: M-RMD-1 */
static void rm_dev_of_null_is_invalid(void **state)
{
	struct doca_mmap *mmap = rules_new(ALL_RW);

	assert_error(doca_mmap_rm_dev(NULL, rules.fixture.dev), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_rm_dev(mmap, NULL), DOCA_ERROR_INVALID_VALUE);
}

/* rule: M-RMD-2 */
static void rm_dev_of_a_stranger_is_not_found(void **state)
{
	struct doca_mmap *mmap = rules_new(ALL_RW);

	assert_error(doca_mmap_rm_dev(mmap, rules.second), DOCA_ERROR_NOT_FOUND);
	assert_ok(doca_mmap_start(mmap));
}

/* rule: M-RMD-5 */
static void rm_dev_after_stop_takes_a_registered_device(void **state)
{
	struct doca_mmap *mmap = rules_new(ALL_RW);
	struct rules_blob blob;

	assert_ok(doca_mmap_add_dev(mmap, rules.second));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_stop(mmap));
	assert_ok(doca_mmap_rm_dev(mmap, rules.second));
	assert_ok(doca_mmap_start(mmap));
	assert_error(doca_mmap_export_pci(mmap, rules.second, &blob.bytes, &blob.len),
		     DOCA_ERROR_NOT_FOUND);
	rules_export(mmap);
}

/* rule: M-RNG-1 */
static void range_that_wraps_around_is_invalid(void **state)
{
	struct doca_mmap *mmap = rules_blank();
	void *dpa = rules.memory;
	int fd = memfd_create("range", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_error(doca_mmap_set_memrange(mmap, rules.memory, SIZE_MAX),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_dmabuf_memrange(mmap, fd, rules.memory, 0, SIZE_MAX),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_dpa_memrange(mmap, dpa, UINT64_MAX, 2),
		     DOCA_ERROR_INVALID_VALUE);
	close(fd);
	assert_ok(doca_mmap_set_memrange(mmap, rules.memory, RULES_LEN));
}

/* rule: M-RNG-2 */
static void range_of_nothing_is_invalid(void **state)
{
	struct doca_mmap *mmap = rules_blank();
	void *dpa = rules.memory;

	assert_error(doca_mmap_set_memrange(mmap, NULL, 1), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_memrange(mmap, rules.memory, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_dmabuf_memrange(mmap, -1, rules.memory, 0, RULES_LEN),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_dmabuf_memrange(mmap, 0, rules.memory, 0, 0),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_dpa_memrange(mmap, NULL, 4096, 1), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_dpa_memrange(mmap, dpa, 4096, 0), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_set_memrange(mmap, rules.memory, RULES_LEN));
}

static int filled_memfd(size_t len)
{
	int fd = memfd_create("range", MFD_CLOEXEC);
	uint8_t *bytes = malloc(len);

	assert_true(fd >= 0);
	assert_non_null(bytes);
	fixture_fill(bytes, len, 7);
	assert_int_equal(write(fd, bytes, len), len);
	free(bytes);
	return fd;
}

/* rule: M-RNG-8 */
static void dmabuf_is_named_by_addr_and_begins_at_its_offset(void **state)
{
	const size_t page = 4096;
	int fd = filled_memfd(4 * page);
	struct doca_mmap *mmap = rules_blank();
	uint8_t wanted[64], got[64];
	void *name = (void *)(uintptr_t)0x7000000000, *addr;
	size_t len;

	assert_ok(doca_mmap_set_dmabuf_memrange(mmap, fd, name, page, 2 * page));
	assert_ok(doca_mmap_set_permissions(mmap, LOCAL_RW | PCI_RW));
	assert_ok(doca_mmap_add_dev(mmap, rules.fixture.dev));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_get_memrange(mmap, &addr, &len));
	assert_ptr_equal(addr, name);
	assert_int_equal(len, 2 * page);
	assert_ok(rules_read(mmap, got, sizeof(got)));
	assert_int_equal(pread(fd, wanted, sizeof(wanted), (off_t)page), sizeof(wanted));
	assert_memory_equal(got, wanted, sizeof(got));
	memset(wanted, 0x5a, sizeof(wanted));
	assert_ok(rules_write(mmap, wanted, sizeof(wanted)));
	assert_int_equal(pread(fd, got, sizeof(got), (off_t)page), sizeof(got));
	assert_memory_equal(got, wanted, sizeof(got));
	close(fd);
}

/* rule: M-RNG-8 */
static void destroy_gives_the_dmabuf_back(void **state)
{
	int fd = filled_memfd(RULES_LEN), before = dup(fd), after;
	struct doca_mmap *mmap = rules_blank();

	close(before);
	assert_ok(doca_mmap_set_dmabuf_memrange(mmap, fd, rules.memory, 0, 4096));
	rules_destroy(mmap);
	after = dup(fd);
	assert_int_equal(after, before);
	close(after);
	close(fd);
}

/* rule: M-RNG-9 */
static void second_range_of_another_kind_is_not_permitted(void **state)
{
	int fd = filled_memfd(RULES_LEN);
	struct doca_mmap *first = rules_blank(), *second = rules_blank();
	void *addr;
	size_t len;

	assert_ok(doca_mmap_set_dmabuf_memrange(first, fd, rules.memory, 0, 4096));
	assert_error(doca_mmap_set_memrange(first, rules.memory, RULES_LEN),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_get_memrange(first, &addr, &len));
	assert_int_equal(len, 4096);
	assert_ok(doca_mmap_set_memrange(second, rules.memory, RULES_LEN));
	assert_error(doca_mmap_set_dmabuf_memrange(second, fd, rules.memory, 0, 4096),
		     DOCA_ERROR_NOT_PERMITTED);
	close(fd);
}

/* rule: M-RNG-10-here */
static void dpa_range_is_not_supported(void **state)
{
	struct doca_mmap *mmap = rules_blank();
	void *dpa = rules.memory;

	assert_error(doca_mmap_set_dpa_memrange(mmap, dpa, 4096, RULES_LEN),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_mmap_set_memrange(mmap, rules.memory, RULES_LEN));
}

/* rule: M-RNG-11 */
static void range_that_was_never_set_is_bad_state(void **state)
{
	void *addr = rules.memory;
	size_t len = 77;

	assert_error(doca_mmap_get_memrange(rules_blank(), &addr, &len), DOCA_ERROR_BAD_STATE);
	assert_ptr_equal(addr, rules.memory);
	assert_int_equal(len, 77);
}

/* rule: M-RNG-14 */
static void range_needs_no_alignment(void **state)
{
	static const size_t lens[] = {1, 3, 7, 63, 4097};
	uint8_t got[4097];

	for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
		struct doca_mmap *mmap = rules_blank();

		assert_ok(doca_mmap_set_memrange(mmap, rules.memory + 2 * i + 1, lens[i]));
		assert_ok(doca_mmap_set_permissions(mmap, ALL_RW));
		assert_ok(doca_mmap_add_dev(mmap, rules.fixture.dev));
		assert_ok(doca_mmap_start(mmap));
		assert_ok(rules_read(rules_import(rules_export(mmap)), got, lens[i]));
		assert_memory_equal(got, rules.memory + 2 * i + 1, lens[i]);
	}
}

/* rule: M-PER-1 */
static void undefined_permission_is_invalid(void **state)
{
	struct doca_mmap *mmap = rules_new(ALL_RW);

	for (uint32_t bit = 0x80; bit; bit <<= 1)
		assert_error(doca_mmap_set_permissions(mmap, LOCAL_RW | bit),
			     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_start(mmap));
	rules_export(mmap);
}

/* rule: M-PER-2 */
static void contradicting_permissions_are_invalid(void **state)
{
	const uint32_t relaxed = DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING;
	struct doca_mmap *mmap = rules_new(ALL_RW);

	assert_error(doca_mmap_set_permissions(mmap, PCI_RO | PCI_RW), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_permissions(mmap, PCI_RO | relaxed), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_permissions(mmap, PCI_RW | relaxed), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_set_permissions(mmap, LOCAL_RW | relaxed));
}

/* rule: M-PER-4 */
static void last_permissions_count(void **state)
{
	struct doca_mmap *mmap = rules_new(ALL_RW);
	struct rules_blob blob;

	assert_ok(doca_mmap_set_permissions(mmap, LOCAL_RW));
	assert_ok(doca_mmap_set_permissions(mmap, PCI_RO));
	assert_ok(doca_mmap_start(mmap));
	rules_export(mmap);
	assert_error(doca_mmap_export_rdma(mmap, rules.fixture.dev, &blob.bytes, &blob.len),
		     DOCA_ERROR_NOT_PERMITTED);
}

/* rule: M-PER-5 */
static void no_permission_means_local_read_only(void **state)
{
	struct doca_mmap *mmap = rules_started(0);
	uint8_t before[16], got[16], sent[16] = {0};

	memcpy(before, rules.memory, sizeof(before));
	assert_ok(rules_read(mmap, got, sizeof(got)));
	assert_memory_equal(got, before, sizeof(got));
	assert_error(rules_write(mmap, sent, sizeof(sent)), DOCA_ERROR_NOT_PERMITTED);
	assert_memory_equal(rules.memory, before, sizeof(before));
}

#define RDMA_A ((uint32_t)DOCA_ACCESS_FLAG_RDMA_ATOMIC)

/* What this process may do with its map, and with the import of the map if it can be exported. */
static const struct {
	const char *name;
	uint32_t access;
	bool owner_writes, has_import, importer_writes;
} permissions[] = {
	{"0", 0, false, false, false},
	{"LOCAL_READ_WRITE", LOCAL_RW, true, false, false},
	{"RDMA_READ", DOCA_ACCESS_FLAG_RDMA_READ, false, false, false},
	{"RDMA_WRITE", DOCA_ACCESS_FLAG_RDMA_WRITE, false, false, false},
	{"RDMA_ATOMIC", RDMA_A, false, false, false},
	{"PCI_READ_ONLY", PCI_RO, false, true, false},
	{"PCI_READ_WRITE", PCI_RW, true, true, true},
	{"PCI_RELAXED_ORDERING", DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING, false, false, false},
	{"LOCAL_READ_WRITE, PCI_READ_ONLY", LOCAL_RW | PCI_RO, true, true, false},
	{"LOCAL_READ_WRITE, PCI_READ_WRITE", LOCAL_RW | PCI_RW, true, true, true},
	{"LOCAL_READ_WRITE, RDMA", LOCAL_RW | RDMA_RW | RDMA_A, true, false, false},
	{"PCI_READ_ONLY, RDMA", PCI_RO | RDMA_RW | RDMA_A, false, true, false},
	{"PCI_READ_WRITE, RDMA", PCI_RW | RDMA_RW | RDMA_A, true, true, true},
};

/* As source and as destination of a copy. */
static void assert_use(const char *name, const char *what, struct doca_mmap *mmap, bool may_write)
{
	uint8_t got[16], sent[16] = {1, 2, 3};
	doca_error_t result = rules_read(mmap, got, sizeof(got));

	if (result != DOCA_SUCCESS || memcmp(got, rules.memory, sizeof(got)) != 0)
		fail_msg("%s: reading the %s map: %s", name, what, doca_error_get_name(result));
	sent[3] = (uint8_t)(rules.memory[3] + 1);
	result = rules_write(mmap, sent, sizeof(sent));
	if (result != (may_write ? DOCA_SUCCESS : DOCA_ERROR_NOT_PERMITTED) ||
	    !memcmp(sent, rules.memory, sizeof(sent)) != may_write)
		fail_msg("%s: writing the %s map: %s", name, what, doca_error_get_name(result));
}

/* rule: M-PER-7 */
static void permissions_permit_what_the_table_says(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(permissions); i++) {
		const char *name = permissions[i].name;
		struct doca_mmap *mmap = rules_started(permissions[i].access), *import;

		assert_use(name, "local", mmap, permissions[i].owner_writes);
		if (permissions[i].access & (RDMA_RW | RDMA_A))
			rules_export_rdma(mmap);
		if (permissions[i].has_import) {
			import = rules_import(rules_export(mmap));
			assert_use(name, "imported", import, permissions[i].importer_writes);
			rules_destroy(import);
		}
		assert_use(name, "exported", mmap, permissions[i].owner_writes);
		rules_destroy(mmap);
	}
}

/* rule: M-PER-6 */
static void permissions_that_programs_set_are_accepted(void **state)
{
	static const uint32_t masks[] = {0, 1, 2, 3, 4, 5, 7, 10, 12, 16, 32, 33, 39, 65, 71};

	for (size_t i = 0; i < ARRAY_SIZE(masks); i++)
		rules_started(masks[i]);
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

/* rule: M-DES-7, M-FCB-3 */
static void destroy_calls_the_callback_the_map_was_started_with(void **state)
{
	struct doca_mmap *mmap = rules_new(ALL_RW);
	struct freed freed = {0};

	assert_ok(doca_mmap_set_free_cb(mmap, note_free, &freed));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_stop(mmap));
	assert_int_equal(freed.calls, 0);
	rules_destroy(mmap);
	assert_int_equal(freed.calls, 1);
	assert_ptr_equal(freed.addr, rules.memory);
	assert_int_equal(freed.len, RULES_LEN);
}

/* rule: M-DES-8 */
static void destroy_of_a_map_never_started_calls_no_callback(void **state)
{
	struct doca_mmap *mmap = rules_new(ALL_RW);
	struct freed freed = {0};

	assert_ok(doca_mmap_set_free_cb(mmap, note_free, &freed));
	rules_destroy(mmap);
	assert_int_equal(freed.calls, 0);
}

/* rule: M-FCB-2 */
static void callback_changed_after_stop_is_not_called(void **state)
{
	struct doca_mmap *mmap = rules_new(ALL_RW), *again = rules_new(ALL_RW);
	struct freed first = {0}, second = {0};

	assert_ok(doca_mmap_set_free_cb(mmap, note_free, &first));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_stop(mmap));
	assert_ok(doca_mmap_set_free_cb(mmap, note_free, &second));
	rules_destroy(mmap);
	assert_int_equal(first.calls + second.calls, 0);

	assert_ok(doca_mmap_start(again));
	assert_ok(doca_mmap_stop(again));
	assert_ok(doca_mmap_set_free_cb(again, note_free, &second));
	assert_ok(doca_mmap_start(again));
	rules_destroy(again);
	assert_int_equal(second.calls, 1);
}

static unsigned int calls_without_cookie;

static void count_without_cookie(void *addr, size_t len, void *cookie)
{
	calls_without_cookie += cookie == NULL;
}

/* rule: M-FCB-3 */
static void callback_may_have_no_cookie(void **state)
{
	struct doca_mmap *mmap = rules_new(ALL_RW);

	calls_without_cookie = 0;
	assert_ok(doca_mmap_set_free_cb(mmap, count_without_cookie, NULL));
	assert_ok(doca_mmap_start(mmap));
	rules_destroy(mmap);
	assert_int_equal(calls_without_cookie, 1);
}

/* rule: M-USR-2 */
static void user_data_is_zero_unless_set(void **state)
{
	struct doca_mmap *mmap = rules_new(ALL_RW);
	union doca_data data = {.u64 = 1};

	assert_ok(doca_mmap_get_user_data(mmap, &data));
	assert_int_equal(data.u64, 0);
	data.u64 = UINT64_MAX;
	assert_ok(doca_mmap_set_user_data(mmap, data));
	assert_ok(doca_mmap_start(mmap));
	data.u64 = 0;
	assert_ok(doca_mmap_get_user_data(mmap, &data));
	assert_true(data.u64 == UINT64_MAX);
}

/* rule: M-MAX-2 */
static void maximum_below_what_the_map_has_is_invalid(void **state)
{
	struct doca_mmap *mmap = rules_new(ALL_RW);
	uint32_t max = 0;

	assert_ok(doca_mmap_add_dev(mmap, rules.second));
	assert_ok(doca_mmap_set_max_num_devices(mmap, 3));
	assert_error(doca_mmap_set_max_num_devices(mmap, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_max_num_devices(mmap, 1), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_get_max_num_devices(mmap, &max));
	assert_int_equal(max, 3);
}

/* rule: M-MAX-3 */
static void two_devices_fit_by_default(void **state)
{
	struct doca_mmap *mmap = rules_blank();
	uint32_t max = 0;

	assert_ok(doca_mmap_get_max_num_devices(mmap, &max));
	assert_true(max >= 2);
	assert_ok(doca_mmap_add_dev(mmap, rules.fixture.dev));
	assert_ok(doca_mmap_add_dev(mmap, rules.second));
}

/* rule: M-MAX-4 */
static void maximum_can_be_one_or_two_before_add_dev(void **state)
{
	for (uint32_t max = 1; max <= 2; max++) {
		struct doca_mmap *mmap = rules_blank();
		uint32_t got = 0;

		assert_ok(doca_mmap_set_max_num_devices(mmap, max));
		assert_ok(doca_mmap_get_max_num_devices(mmap, &got));
		assert_int_equal(got, max);
		assert_ok(doca_mmap_add_dev(mmap, rules.fixture.dev));
	}
}

/* rule: M-GET-3 */
static void exported_begins_with_the_first_export(void **state)
{
	struct doca_mmap *pci = rules_map(STARTED), *rdma = rules_map(STARTED);
	struct doca_mmap *imported = rules_map(IMPORTED);
	uint8_t flag = 9;

	assert_ok(doca_mmap_get_exported(pci, &flag));
	assert_int_equal(flag, 0);
	rules_export(pci);
	assert_ok(doca_mmap_get_exported(pci, &flag));
	assert_int_equal(flag, 1);
	rules_export_rdma(rdma);
	assert_ok(doca_mmap_get_exported(rdma, &flag));
	assert_int_equal(flag, 1);
	assert_ok(doca_mmap_get_from_export(rdma, &flag));
	assert_int_equal(flag, 0);
	assert_ok(doca_mmap_get_from_export(imported, &flag));
	assert_int_equal(flag, 1);
	assert_ok(doca_mmap_get_exported(imported, &flag));
	assert_int_equal(flag, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		rule_test(add_dev_of_null_is_invalid),
		rule_test(add_dev_twice_already_exists),
		rule_test(add_dev_beyond_the_maximum_is_no_memory),
		rule_test(order_of_configuration_is_free),
		rule_test(two_devices_have_a_key_each),
		rule_test(rm_dev_of_null_is_invalid),
		rule_test(rm_dev_of_a_stranger_is_not_found),
		rule_test(rm_dev_after_stop_takes_a_registered_device),
		rule_test(range_that_wraps_around_is_invalid),
		rule_test(range_of_nothing_is_invalid),
		rule_test(dmabuf_is_named_by_addr_and_begins_at_its_offset),
		rule_test(destroy_gives_the_dmabuf_back),
		rule_test(second_range_of_another_kind_is_not_permitted),
		rule_test(dpa_range_is_not_supported),
		rule_test(range_that_was_never_set_is_bad_state),
		rule_test(range_needs_no_alignment),
		rule_test(undefined_permission_is_invalid),
		rule_test(contradicting_permissions_are_invalid),
		rule_test(last_permissions_count),
		rule_test(no_permission_means_local_read_only),
		rule_test(permissions_permit_what_the_table_says),
		rule_test(permissions_that_programs_set_are_accepted),
		rule_test(destroy_calls_the_callback_the_map_was_started_with),
		rule_test(destroy_of_a_map_never_started_calls_no_callback),
		rule_test(callback_changed_after_stop_is_not_called),
		rule_test(callback_may_have_no_cookie),
		rule_test(user_data_is_zero_unless_set),
		rule_test(maximum_below_what_the_map_has_is_invalid),
		rule_test(two_devices_fit_by_default),
		rule_test(maximum_can_be_one_or_two_before_add_dev),
		rule_test(exported_begins_with_the_first_export),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
