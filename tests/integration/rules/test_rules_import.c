/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Maps that are created from an export. */
#include <string.h>

#include <dpumap/desc.h>

#include "peer.h"
#include "rules.h"

static doca_error_t import(const void *bytes, size_t len, struct doca_mmap **mmap)
{
	return doca_mmap_create_from_export(NULL, bytes, len, rules.fixture.dev, mmap);
}

/* rule: M-IMP-1 */
static void import_with_bad_arguments_is_invalid(void **state)
{
	struct rules_blob blob = rules_export(rules_map(STARTED));
	struct doca_mmap *mmap = NULL;

	assert_error(import(NULL, blob.len, &mmap), DOCA_ERROR_INVALID_VALUE);
	assert_error(import(blob.bytes, 0, &mmap), DOCA_ERROR_INVALID_VALUE);
	assert_error(import(blob.bytes, blob.len, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_create_from_export(NULL, blob.bytes, blob.len, NULL, &mmap),
		     DOCA_ERROR_INVALID_VALUE);
	assert_null(mmap);
}

static doca_error_t import_changed(const struct dpumap_desc *fields)
{
	uint8_t bytes[DESCRIPTOR_ROOM];
	struct doca_mmap *mmap;
	size_t len = 0;

	assert_int_equal(dpumap_desc_encode(fields, bytes, sizeof(bytes), &len), DPUMAP_DESC_OK);
	return import(bytes, len, &mmap);
}

/* rule: M-IMP-4 */
static void import_that_the_exporter_did_not_grant_is_not_permitted(void **state)
{
	struct rules_blob blob = rules_export(rules_map(STARTED));
	struct dpumap_desc fields;

	assert_int_equal(dpumap_desc_decode(blob.bytes, blob.len, &fields), DPUMAP_DESC_OK);
	fields.access_key[0] ^= 1;
	assert_error(import_changed(&fields), DOCA_ERROR_NOT_PERMITTED);
	fields.access_key[0] ^= 1;
	fields.mkey ^= 0x00800000;
	assert_error(import_changed(&fields), DOCA_ERROR_NOT_PERMITTED);
	dpumap_desc_wipe(&fields);
}

/* rule: M-IMP-5, M-USR-3 */
static void import_without_user_data_has_zero(void **state)
{
	struct doca_mmap *mmap = rules_map(IMPORTED);
	union doca_data data = {.u64 = 1};

	assert_ok(doca_mmap_get_user_data(mmap, &data));
	assert_int_equal(data.u64, 0);
}

/* rule: M-USR-3 */
static void import_keeps_its_user_data(void **state)
{
	struct rules_blob blob = rules_export(rules_map(STARTED));
	union doca_data given = {.u64 = 0xfeed}, got = {0};
	struct doca_mmap *mmap;

	assert_ok(doca_mmap_create_from_export(&given, blob.bytes, blob.len, rules.fixture.dev,
					       &mmap));
	rules_keep(mmap);
	assert_ok(doca_mmap_get_user_data(mmap, &got));
	assert_int_equal(got.u64, 0xfeed);
}

/* rule: M-IMP-6 */
static void import_on_another_card_is_not_permitted(void **state)
{
	struct rules_blob blob = rules_export(rules_map(STARTED));
	struct doca_mmap *mmap;

	assert_error(doca_mmap_create_from_export(NULL, blob.bytes, blob.len, rules.second, &mmap),
		     DOCA_ERROR_NOT_PERMITTED);
	rules_import(blob);
}

/* rule: M-IMP-7, M-RNG-13, T-2.3-create_from_export */
static void import_has_range_permissions_and_device_of_the_export(void **state)
{
	struct doca_mmap *mmap = rules_import(rules_export(rules_started(PCI_RO | RDMA_RW)));
	doca_dpa_dev_mmap_t handle;
	uint8_t byte = 0, flag = 0;
	void *addr;
	size_t len;

	assert_ok(doca_mmap_get_from_export(mmap, &flag));
	assert_int_equal(flag, 1);
	assert_ok(doca_mmap_get_memrange(mmap, &addr, &len));
	assert_ptr_equal(addr, rules.memory);
	assert_int_equal(len, RULES_LEN);
	assert_ok(doca_mmap_dev_get_dpa_handle(mmap, rules.fixture.dev, &handle));
	assert_error(doca_mmap_dev_get_dpa_handle(mmap, rules.second, &handle),
		     DOCA_ERROR_NOT_FOUND);
	rules_export_rdma(mmap);
	assert_ok(rules_read(mmap, &byte, 1));
	assert_error(rules_write(mmap, &byte, 1), DOCA_ERROR_NOT_PERMITTED);
}

/* rule: M-IMP-9 */
static void import_cannot_be_configured_even_when_stopped(void **state)
{
	struct doca_mmap *mmap = rules_map(IMPORTED);
	struct rules_blob blob;

	assert_ok(doca_mmap_stop(mmap));
	assert_error(doca_mmap_set_memrange(mmap, rules.memory, 1), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_add_dev(mmap, rules.second), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_rm_dev(mmap, rules.fixture.dev), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_export_pci(mmap, rules.fixture.dev, &blob.bytes, &blob.len),
		     DOCA_ERROR_NOT_PERMITTED);
}

/* rule: M-IMP-10 */
static void descriptor_may_be_moved_anywhere(void **state)
{
	struct rules_blob blob = rules_export(rules_map(STARTED));
	uint8_t bytes[DESCRIPTOR_ROOM + 8], got[16];

	for (size_t at = 0; at < 8; at++) {
		struct doca_mmap *mmap;

		memset(bytes, 0xff, sizeof(bytes));
		memcpy(bytes + at, blob.bytes, blob.len);
		mmap = rules_import((struct rules_blob){bytes + at, blob.len});
		memset(bytes, 0, sizeof(bytes));
		assert_ok(rules_read(mmap, got, sizeof(got)));
		assert_memory_equal(got, rules.memory, sizeof(got));
	}
}

/* rule: M-IMP-11 */
static void truncated_descriptor_is_invalid(void **state)
{
	struct doca_mmap *from = rules_map(STARTED), *mmap;
	const struct rules_blob blobs[] = {rules_export(from), rules_export_rdma(from)};

	for (size_t i = 0; i < 2; i++)
		for (size_t len = 0; len < blobs[i].len; len++)
			assert_error(import(blobs[i].bytes, len, &mmap), DOCA_ERROR_INVALID_VALUE);
}

/* rule: M-IMP-11 */
static void corrupted_descriptor_is_invalid(void **state)
{
	struct doca_mmap *from = rules_map(STARTED), *mmap;
	const struct rules_blob blobs[] = {rules_export(from), rules_export_rdma(from)};
	uint8_t bytes[DESCRIPTOR_ROOM];

	for (size_t i = 0; i < 2; i++) {
		memcpy(bytes, blobs[i].bytes, blobs[i].len);
		for (size_t bit = 0; bit < blobs[i].len * 8; bit++) {
			bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
			assert_error(import(bytes, blobs[i].len, &mmap), DOCA_ERROR_INVALID_VALUE);
			bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
	}
}

/* rule: M-IMP-11 */
static void foreign_bytes_are_invalid(void **state)
{
	uint8_t bytes[DESCRIPTOR_ROOM];
	struct doca_mmap *mmap;

	for (uint32_t seed = 0; seed < 100; seed++) {
		fixture_fill(bytes, sizeof(bytes), seed);
		assert_error(import(bytes, sizeof(bytes), &mmap), DOCA_ERROR_INVALID_VALUE);
	}
}

/* rule: M-IMP-12 */
static void exporting_process_may_import_and_more_than_once(void **state)
{
	struct rules_blob blob = rules_export(rules_map(STARTED));
	struct doca_mmap *first = rules_import(blob), *second = rules_import(blob);
	uint8_t sent[16] = {1, 2, 3}, got[16];

	assert_ok(rules_write(first, sent, sizeof(sent)));
	assert_ok(rules_read(second, got, sizeof(got)));
	assert_memory_equal(got, sent, sizeof(sent));
	rules_destroy(first);
	assert_ok(rules_read(second, got, sizeof(got)));
}

/* rule: M-IMP-12 */
static void rdma_import_may_be_on_another_card(void **state)
{
	struct rules_blob blob = rules_export_rdma(rules_map(STARTED));
	struct doca_mmap *mmap;
	size_t len = 0;
	void *addr;

	assert_ok(doca_mmap_create_from_export(NULL, blob.bytes, blob.len, rules.second, &mmap));
	rules_keep(mmap);
	assert_ok(doca_mmap_get_memrange(mmap, &addr, &len));
	assert_ptr_equal(addr, rules.memory);
	assert_int_equal(len, RULES_LEN);
}

/* rule: M-IMP-13 */
static void import_outlives_its_exporter_without_access(void **state)
{
	struct doca_mmap *from = rules_map(STARTED);
	struct doca_mmap *mmap = rules_import(rules_export(from));
	uint8_t byte = 0;
	uint8_t flag = 0;

	assert_ok(rules_read(mmap, &byte, 1));
	assert_ok(doca_mmap_stop(from));
	assert_error(rules_read(mmap, &byte, 1), DOCA_ERROR_NOT_PERMITTED);
	assert_error(rules_write(mmap, &byte, 1), DOCA_ERROR_NOT_PERMITTED);
	rules_destroy(from);
	assert_ok(doca_mmap_get_from_export(mmap, &flag));
	assert_int_equal(flag, 1);
	rules_destroy(mmap);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		rule_test(import_with_bad_arguments_is_invalid),
		rule_test(import_that_the_exporter_did_not_grant_is_not_permitted),
		rule_test(import_without_user_data_has_zero),
		rule_test(import_keeps_its_user_data),
		rule_test(import_on_another_card_is_not_permitted),
		rule_test(import_has_range_permissions_and_device_of_the_export),
		rule_test(import_cannot_be_configured_even_when_stopped),
		rule_test(descriptor_may_be_moved_anywhere),
		rule_test(truncated_descriptor_is_invalid),
		rule_test(corrupted_descriptor_is_invalid),
		rule_test(foreign_bytes_are_invalid),
		rule_test(exporting_process_may_import_and_more_than_once),
		rule_test(rdma_import_may_be_on_another_card),
		rule_test(import_outlives_its_exporter_without_access),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
