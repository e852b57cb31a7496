/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Exports over PCI and RDMA, keys, capabilities. */
#include <string.h>

#include <dpumap/desc.h>

#include "base/array.h"
#include "peer.h"
#include "rules.h"

typedef doca_error_t export_fn(struct doca_mmap *mmap, const struct doca_dev *dev,
			       const void **desc, size_t *len);

static export_fn *const exports[] = {doca_mmap_export_pci, doca_mmap_export_rdma};
#define N_EXPORTS ARRAY_SIZE(exports)

/* rule: M-EXP-1, M-EXR-0 */
static void export_with_null_is_invalid(void **state)
{
	struct doca_mmap *mmap = rules_map(STARTED);
	struct rules_blob blob;

	for (size_t i = 0; i < N_EXPORTS; i++) {
		assert_error(exports[i](NULL, rules.fixture.dev, &blob.bytes, &blob.len),
			     DOCA_ERROR_INVALID_VALUE);
		assert_error(exports[i](mmap, NULL, &blob.bytes, &blob.len),
			     DOCA_ERROR_INVALID_VALUE);
		assert_error(exports[i](mmap, rules.fixture.dev, NULL, &blob.len),
			     DOCA_ERROR_INVALID_VALUE);
		assert_error(exports[i](mmap, rules.fixture.dev, &blob.bytes, NULL),
			     DOCA_ERROR_INVALID_VALUE);
	}
}

/* rule: M-EXP-2, M-EXR-0 */
static void export_for_a_stranger_is_not_found(void **state)
{
	struct doca_mmap *mmap = rules_map(STARTED);
	struct rules_blob blob;

	for (size_t i = 0; i < N_EXPORTS; i++) {
		assert_error(exports[i](mmap, rules.second, &blob.bytes, &blob.len),
			     DOCA_ERROR_NOT_FOUND);
		assert_error(exports[i](rules_blank(), rules.fixture.dev, &blob.bytes, &blob.len),
			     DOCA_ERROR_NOT_FOUND);
	}
}

/* rule: M-EXP-5 */
static void export_pci_without_pci_permission_is_not_permitted(void **state)
{
	static const uint32_t without[] = {0, LOCAL_RW, LOCAL_RW | RDMA_RW,
					   DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING};
	struct rules_blob blob;

	for (size_t i = 0; i < ARRAY_SIZE(without); i++)
		assert_error(doca_mmap_export_pci(rules_started(without[i]), rules.fixture.dev,
						  &blob.bytes, &blob.len),
			     DOCA_ERROR_NOT_PERMITTED);
	rules_export(rules_started(PCI_RO));
	rules_export(rules_started(PCI_RW));
}

/* rule: M-EXP-9, M-EXR-0 */
static void descriptor_lasts_until_stop(void **state)
{
	struct doca_mmap *mmap = rules_map(STARTED);
	uint8_t copy[DESCRIPTOR_ROOM];
	struct rules_blob blob = rules_export(mmap), rdma;

	assert_in_range(blob.len, 1, sizeof(copy));
	memcpy(copy, blob.bytes, blob.len);
	rdma = rules_export_rdma(mmap);
	assert_in_range(rdma.len, 1, sizeof(copy));
	rules_import(blob);
	rules_export(mmap);
	assert_memory_equal(copy, blob.bytes, blob.len);
}

/* rule: M-EXP-10, M-EXR-0, T-2.3-EXPORTED-export-again */
static void export_for_another_device_gives_another_descriptor(void **state)
{
	struct doca_mmap *mmap = rules_new(ALL_RW);
	struct rules_blob first, second;

	assert_ok(doca_mmap_add_dev(mmap, rules.second));
	assert_ok(doca_mmap_start(mmap));
	for (size_t i = 0; i < N_EXPORTS; i++) {
		assert_ok(exports[i](mmap, rules.fixture.dev, &first.bytes, &first.len));
		assert_ok(exports[i](mmap, rules.second, &second.bytes, &second.len));
		assert_ptr_not_equal(first.bytes, second.bytes);
		assert_true(first.len != second.len ||
			    memcmp(first.bytes, second.bytes, first.len) != 0);
	}
}

/* rule: M-EXP-11, M-EXR-0 */
static void export_again_gives_the_same_descriptor(void **state)
{
	struct doca_mmap *mmap = rules_map(STARTED);
	struct rules_blob first, second;
	struct objects before, after;

	for (size_t i = 0; i < N_EXPORTS; i++) {
		assert_ok(exports[i](mmap, rules.fixture.dev, &first.bytes, &first.len));
		assert_true(objects_read(&before));
		assert_ok(exports[i](mmap, rules.fixture.dev, &second.bytes, &second.len));
		assert_true(objects_read(&after));
		assert_true(objects_equal(&before, &after));
		assert_ptr_equal(first.bytes, second.bytes);
		assert_int_equal(first.len, second.len);
		assert_true(first.len <= 128);
	}
}

static struct dpumap_desc fields_of(struct rules_blob blob)
{
	struct dpumap_desc fields;

	assert_int_equal(dpumap_desc_decode(blob.bytes, blob.len, &fields), DPUMAP_DESC_OK);
	return fields;
}

/* rule: M-EXP-12 */
static void descriptor_holds_a_secret_of_its_own(void **state)
{
	static const uint8_t zeros[DPUMAP_DESC_ACCESS_KEY_SIZE];
	struct dpumap_desc first, second;

	first = fields_of(rules_export(rules_map(STARTED)));
	second = fields_of(rules_export(rules_map(STARTED)));
	assert_memory_not_equal(first.access_key, zeros, sizeof(zeros));
	assert_memory_not_equal(first.access_key, second.access_key, sizeof(zeros));
	dpumap_desc_wipe(&first);
	dpumap_desc_wipe(&second);
}

/* rule: M-EXR-1 */
static void export_rdma_without_rdma_permission_is_not_permitted(void **state)
{
	static const uint32_t without[] = {0, LOCAL_RW, PCI_RO, LOCAL_RW | PCI_RW};
	struct rules_blob blob;

	for (size_t i = 0; i < ARRAY_SIZE(without); i++)
		assert_error(doca_mmap_export_rdma(rules_started(without[i]), rules.fixture.dev,
						   &blob.bytes, &blob.len),
			     DOCA_ERROR_NOT_PERMITTED);
}

/* rule: M-EXR-2 */
static void any_rdma_permission_allows_export_rdma(void **state)
{
	static const uint32_t masks[] = {DOCA_ACCESS_FLAG_RDMA_READ, DOCA_ACCESS_FLAG_RDMA_WRITE,
					 DOCA_ACCESS_FLAG_RDMA_ATOMIC};

	for (size_t i = 0; i < ARRAY_SIZE(masks); i++)
		rules_export_rdma(rules_started(masks[i]));
}

/* rule: M-EXR-4, T-2.3-IMPORTED-export_rdma */
static void import_without_rdma_permission_cannot_be_exported_over_rdma(void **state)
{
	struct doca_mmap *from = rules_started(LOCAL_RW | PCI_RW);
	struct rules_blob blob;
	uint8_t exported = 9;

	assert_error(doca_mmap_export_rdma(rules_import(rules_export(from)), rules.fixture.dev,
					   &blob.bytes, &blob.len),
		     DOCA_ERROR_NOT_PERMITTED);
	from = rules_map(IMPORTED);
	rules_export_rdma(from);
	assert_ok(doca_mmap_get_exported(from, &exported));
	assert_int_equal(exported, 1);
}

/* rule: M-EXR-6 */
static void import_over_rdma_is_not_exported_again(void **state)
{
	struct doca_mmap *mmap = rules_import(rules_export_rdma(rules_map(STARTED)));
	struct rules_blob blob;

	assert_error(doca_mmap_export_rdma(mmap, rules.fixture.dev, &blob.bytes, &blob.len),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_mmap_export_pci(mmap, rules.fixture.dev, &blob.bytes, &blob.len),
		     DOCA_ERROR_NOT_PERMITTED);
}

/* rule: M-EXR-5 */
static void map_can_be_exported_both_ways(void **state)
{
	struct doca_mmap *mmap = rules_map(STARTED);
	struct dpumap_desc pci, rdma;

	pci = fields_of(rules_export(mmap));
	rdma = fields_of(rules_export_rdma(mmap));
	assert_int_equal(pci.kind, DPUMAP_DESC_KIND_PCI);
	assert_int_equal(rdma.kind, DPUMAP_DESC_KIND_RDMA);
	assert_true(pci.addr == rdma.addr);
	assert_true(pci.len == rdma.len);
	dpumap_desc_wipe(&pci);
}

/* rule: M-DPA-1 */
static void dpa_handle_with_null_is_invalid(void **state)
{
	struct doca_mmap *mmap = rules_map(STARTED);
	doca_dpa_dev_mmap_t handle;

	assert_error(doca_mmap_dev_get_dpa_handle(NULL, rules.fixture.dev, &handle),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_dev_get_dpa_handle(mmap, NULL, &handle), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_dev_get_dpa_handle(mmap, rules.fixture.dev, NULL),
		     DOCA_ERROR_INVALID_VALUE);
}

/* rule: M-DPA-2 */
static void dpa_handle_for_a_stranger_is_not_found(void **state)
{
	doca_dpa_dev_mmap_t handle;

	assert_error(doca_mmap_dev_get_dpa_handle(rules_map(STARTED), rules.second, &handle),
		     DOCA_ERROR_NOT_FOUND);
}

/* rule: M-DPA-4 */
static void dpa_handle_is_the_key_of_the_map(void **state)
{
	struct doca_mmap *mmaps[] = {rules_map(STARTED), rules_map(IMPORTED)};

	for (size_t i = 0; i < 2; i++) {
		doca_dpa_dev_mmap_t handle = 0;
		uint32_t key = 0;

		assert_ok(doca_mmap_dev_get_dpa_handle(mmaps[i], rules.fixture.dev, &handle));
		assert_ok(doca_mmap_get_mkey(mmaps[i], rules.fixture.dev, &key));
		assert_int_not_equal(key, 0);
		assert_int_equal(handle, key);
	}
}

/* rule: M-KEY-1 */
static void mkey_of_bad_arguments_is_invalid(void **state)
{
	struct doca_mmap *mmap = rules_map(STARTED);
	uint32_t key;

	assert_error(doca_mmap_get_mkey(NULL, rules.fixture.dev, &key), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_get_mkey(mmap, NULL, &key), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_get_mkey(mmap, rules.fixture.dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_get_mkey(mmap, rules.second, &key), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_get_mkey(rules_map(NEW), rules.fixture.dev, &key),
		     DOCA_ERROR_INVALID_VALUE);
}

/* rule: M-KEY-2 */
static void mkey_of_an_rdma_import_is_the_exporters(void **state)
{
	struct rules_blob blob = rules_export_rdma(rules_map(STARTED));
	struct dpumap_desc fields = fields_of(blob);
	uint32_t key = 0;

	assert_ok(doca_mmap_get_mkey(rules_import(blob), rules.fixture.dev, &key));
	assert_int_not_equal(key, 0);
	assert_int_equal(key, fields.mkey);
}

/* rule: M-CAP-1 */
static void capability_of_null_is_invalid(void **state)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(rules.fixture.dev);
	uint8_t flag = 9;

	assert_error(doca_mmap_cap_is_export_pci_supported(NULL, &flag), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_cap_is_export_pci_supported(info, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_cap_is_create_from_export_pci_supported(NULL, &flag),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_cap_is_create_from_export_pci_supported(info, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(flag, 9);
}

/* rule: M-CAP-2 */
static void capability_needs_no_open_device(void **state)
{
	uint8_t can_export = 9, can_import = 9;
	struct doca_devinfo **list;
	uint32_t n;

	assert_ok(doca_devinfo_create_list(&list, &n));
	assert_true(n > 0);
	assert_ok(doca_mmap_cap_is_export_pci_supported(list[0], &can_export));
	assert_ok(doca_mmap_cap_is_create_from_export_pci_supported(list[0], &can_import));
	assert_ok(doca_devinfo_destroy_list(list));
	assert_int_equal(can_export, 1);
	assert_int_equal(can_import, 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		rule_test(export_with_null_is_invalid),
		rule_test(export_for_a_stranger_is_not_found),
		rule_test(export_pci_without_pci_permission_is_not_permitted),
		rule_test(descriptor_lasts_until_stop),
		rule_test(export_for_another_device_gives_another_descriptor),
		rule_test(export_again_gives_the_same_descriptor),
		rule_test(descriptor_holds_a_secret_of_its_own),
		rule_test(export_rdma_without_rdma_permission_is_not_permitted),
		rule_test(any_rdma_permission_allows_export_rdma),
		rule_test(import_without_rdma_permission_cannot_be_exported_over_rdma),
		rule_test(import_over_rdma_is_not_exported_again),
		rule_test(map_can_be_exported_both_ways),
		rule_test(dpa_handle_with_null_is_invalid),
		rule_test(dpa_handle_for_a_stranger_is_not_found),
		rule_test(dpa_handle_is_the_key_of_the_map),
		rule_test(mkey_of_bad_arguments_is_invalid),
		rule_test(mkey_of_an_rdma_import_is_the_exporters),
		rule_test(capability_of_null_is_invalid),
		rule_test(capability_needs_no_open_device),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
