/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What uses, reads and ends a map, in each of its states. */
#include "rules.h"

static void assert_getters(const struct doca_mmap *mmap, uint8_t exported, uint8_t imported)
{
	union doca_data word = {.u64 = 1};
	uint32_t max = 0, bufs = 9;
	uint8_t flag = 9;
	size_t len = 0;
	void *addr;

	assert_ok(doca_mmap_get_memrange(mmap, &addr, &len));
	assert_ptr_equal(addr, rules.memory);
	assert_int_equal(len, RULES_LEN);
	assert_ok(doca_mmap_get_user_data(mmap, &word));
	assert_int_equal(word.u64, 0);
	assert_ok(doca_mmap_get_max_num_devices(mmap, &max));
	assert_true(max >= 1);
	assert_ok(doca_mmap_get_num_bufs(mmap, &bufs));
	assert_int_equal(bufs, 0);
	assert_ok(doca_mmap_get_exported(mmap, &flag));
	assert_int_equal(flag, exported);
	assert_ok(doca_mmap_get_from_export(mmap, &flag));
	assert_int_equal(flag, imported);
}

/* rule: T-2.4-start-NEW, T-2.3-NEW-start */
static void start_on_new_map_succeeds(void **state)
{
	(void)state;
	assert_ok(doca_mmap_start(rules_map(NEW)));
}

/* rule: T-2.4-start-STARTED, T-2.3-STARTED-start */
static void start_on_started_map_is_not_permitted(void **state)
{
	(void)state;
	assert_error(doca_mmap_start(rules_map(STARTED)), DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-start-EXPORTED, M-STA-4 */
static void start_on_exported_map_is_not_permitted(void **state)
{
	(void)state;
	assert_error(doca_mmap_start(rules_map(EXPORTED)), DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-start-STOPPED, T-2.3-STOPPED-start */
static void start_on_stopped_map_succeeds(void **state)
{
	(void)state;
	assert_ok(doca_mmap_start(rules_map(STOPPED)));
}

/* rule: T-2.4-start-IMPORTED, T-2.3-IMPORTED-start, M-STA-4 */
static void start_on_imported_map_is_not_permitted(void **state)
{
	(void)state;
	assert_error(doca_mmap_start(rules_map(IMPORTED)), DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-stop-NEW, M-STO-8 */
static void stop_on_new_map_succeeds(void **state)
{
	(void)state;
	assert_ok(doca_mmap_stop(rules_map(NEW)));
}

/* rule: T-2.4-stop-STARTED, T-2.3-STARTED-stop */
static void stop_on_started_map_succeeds(void **state)
{
	(void)state;
	assert_ok(doca_mmap_stop(rules_map(STARTED)));
}

/* rule: T-2.4-stop-EXPORTED, T-2.3-EXPORTED-stop, M-STO-5 */
static void stop_on_exported_map_succeeds(void **state)
{
	(void)state;
	assert_ok(doca_mmap_stop(rules_map(EXPORTED)));
}

/* rule: T-2.4-stop-STOPPED, M-STO-8 */
static void stop_on_stopped_map_succeeds(void **state)
{
	(void)state;
	assert_ok(doca_mmap_stop(rules_map(STOPPED)));
}

/* rule: T-2.4-stop-IMPORTED, T-2.3-IMPORTED-stop, M-STO-6 */
static void stop_on_imported_map_succeeds(void **state)
{
	(void)state;
	assert_ok(doca_mmap_stop(rules_map(IMPORTED)));
}

/* rule: T-2.4-export_pci-NEW, M-EXP-3 */
static void export_pci_on_new_map_is_not_permitted(void **state)
{
	struct rules_blob blob;

	(void)state;
	assert_error(doca_mmap_export_pci(rules_map(NEW), rules.rig.dev, &blob.bytes, &blob.len),
		     DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-export_pci-STARTED, T-2.3-STARTED-export */
static void export_pci_on_started_map_succeeds(void **state)
{
	struct rules_blob blob;

	(void)state;
	assert_ok(doca_mmap_export_pci(rules_map(STARTED), rules.rig.dev, &blob.bytes, &blob.len));
}

/* rule: T-2.4-export_pci-EXPORTED */
static void export_pci_on_exported_map_succeeds(void **state)
{
	struct rules_blob blob;

	(void)state;
	assert_ok(doca_mmap_export_pci(rules_map(EXPORTED), rules.rig.dev, &blob.bytes, &blob.len));
}

/* rule: T-2.4-export_pci-STOPPED, M-EXP-3 */
static void export_pci_on_stopped_map_is_not_permitted(void **state)
{
	struct rules_blob blob;

	(void)state;
	assert_error(
		doca_mmap_export_pci(rules_map(STOPPED), rules.rig.dev, &blob.bytes, &blob.len),
		DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-export_pci-IMPORTED, T-2.3-IMPORTED-export_pci, M-EXP-4 */
static void export_pci_on_imported_map_is_not_permitted(void **state)
{
	struct rules_blob blob;

	(void)state;
	assert_error(
		doca_mmap_export_pci(rules_map(IMPORTED), rules.rig.dev, &blob.bytes, &blob.len),
		DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-export_rdma-NEW */
static void export_rdma_on_new_map_is_not_permitted(void **state)
{
	struct rules_blob blob;

	(void)state;
	assert_error(doca_mmap_export_rdma(rules_map(NEW), rules.rig.dev, &blob.bytes, &blob.len),
		     DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-export_rdma-STARTED, T-2.3-STARTED-export */
static void export_rdma_on_started_map_succeeds(void **state)
{
	struct rules_blob blob;

	(void)state;
	assert_ok(doca_mmap_export_rdma(rules_map(STARTED), rules.rig.dev, &blob.bytes, &blob.len));
}

/* rule: T-2.4-export_rdma-EXPORTED */
static void export_rdma_on_exported_map_succeeds(void **state)
{
	struct rules_blob blob;

	(void)state;
	assert_ok(
		doca_mmap_export_rdma(rules_map(EXPORTED), rules.rig.dev, &blob.bytes, &blob.len));
}

/* rule: T-2.4-export_rdma-STOPPED */
static void export_rdma_on_stopped_map_is_not_permitted(void **state)
{
	struct rules_blob blob;

	(void)state;
	assert_error(
		doca_mmap_export_rdma(rules_map(STOPPED), rules.rig.dev, &blob.bytes, &blob.len),
		DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-export_rdma-IMPORTED, T-2.3-IMPORTED-export_rdma, M-EXR-4 */
static void export_rdma_on_imported_map_succeeds(void **state)
{
	struct rules_blob blob;

	(void)state;
	assert_ok(
		doca_mmap_export_rdma(rules_map(IMPORTED), rules.rig.dev, &blob.bytes, &blob.len));
}

/* rule: T-2.4-dev_get_dpa_handle-NEW, M-DPA-3 */
static void dev_get_dpa_handle_on_new_map_is_not_permitted(void **state)
{
	doca_dpa_dev_mmap_t handle;

	(void)state;
	assert_error(doca_mmap_dev_get_dpa_handle(rules_map(NEW), rules.rig.dev, &handle),
		     DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-dev_get_dpa_handle-STARTED, M-DPA-4 */
static void dev_get_dpa_handle_on_started_map_succeeds(void **state)
{
	doca_dpa_dev_mmap_t handle;

	(void)state;
	assert_ok(doca_mmap_dev_get_dpa_handle(rules_map(STARTED), rules.rig.dev, &handle));
}

/* rule: T-2.4-dev_get_dpa_handle-EXPORTED */
static void dev_get_dpa_handle_on_exported_map_succeeds(void **state)
{
	doca_dpa_dev_mmap_t handle;

	(void)state;
	assert_ok(doca_mmap_dev_get_dpa_handle(rules_map(EXPORTED), rules.rig.dev, &handle));
}

/* rule: T-2.4-dev_get_dpa_handle-STOPPED, M-DPA-3 */
static void dev_get_dpa_handle_on_stopped_map_is_not_permitted(void **state)
{
	doca_dpa_dev_mmap_t handle;

	(void)state;
	assert_error(doca_mmap_dev_get_dpa_handle(rules_map(STOPPED), rules.rig.dev, &handle),
		     DOCA_ERROR_NOT_PERMITTED);
}

/* rule: T-2.4-dev_get_dpa_handle-IMPORTED, M-DPA-4 */
static void dev_get_dpa_handle_on_imported_map_succeeds(void **state)
{
	doca_dpa_dev_mmap_t handle;

	(void)state;
	assert_ok(doca_mmap_dev_get_dpa_handle(rules_map(IMPORTED), rules.rig.dev, &handle));
}

/* rule: T-2.4-getters-NEW, M-RNG-12 */
static void getters_on_new_map_succeed(void **state)
{
	(void)state;
	assert_getters(rules_map(NEW), 0, 0);
}

/* rule: T-2.4-getters-STARTED, M-RNG-12 */
static void getters_on_started_map_succeed(void **state)
{
	(void)state;
	assert_getters(rules_map(STARTED), 0, 0);
}

/* rule: T-2.4-getters-EXPORTED, M-RNG-12 */
static void getters_on_exported_map_succeed(void **state)
{
	(void)state;
	assert_getters(rules_map(EXPORTED), 1, 0);
}

/* rule: T-2.4-getters-STOPPED, M-RNG-12 */
static void getters_on_stopped_map_succeed(void **state)
{
	(void)state;
	assert_getters(rules_map(STOPPED), 0, 0);
}

/* rule: T-2.4-getters-IMPORTED */
static void getters_on_imported_map_succeed(void **state)
{
	(void)state;
	assert_getters(rules_map(IMPORTED), 0, 1);
}

/* rule: T-2.4-destroy-NEW, M-DES-5, T-2.3-any-destroy */
static void destroy_on_new_map_succeeds(void **state)
{
	(void)state;
	rules_destroy(rules_map(NEW));
}

/* rule: T-2.4-destroy-STARTED, M-DES-5, T-2.3-any-destroy */
static void destroy_on_started_map_succeeds(void **state)
{
	(void)state;
	rules_destroy(rules_map(STARTED));
}

/* rule: T-2.4-destroy-EXPORTED, M-DES-5, T-2.3-any-destroy */
static void destroy_on_exported_map_succeeds(void **state)
{
	(void)state;
	rules_destroy(rules_map(EXPORTED));
}

/* rule: T-2.4-destroy-STOPPED, M-DES-5, T-2.3-any-destroy */
static void destroy_on_stopped_map_succeeds(void **state)
{
	(void)state;
	rules_destroy(rules_map(STOPPED));
}

/* rule: T-2.4-destroy-IMPORTED, M-DES-5, T-2.3-any-destroy */
static void destroy_on_imported_map_succeeds(void **state)
{
	(void)state;
	rules_destroy(rules_map(IMPORTED));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		rule_test(start_on_new_map_succeeds),
		rule_test(start_on_started_map_is_not_permitted),
		rule_test(start_on_exported_map_is_not_permitted),
		rule_test(start_on_stopped_map_succeeds),
		rule_test(start_on_imported_map_is_not_permitted),
		rule_test(stop_on_new_map_succeeds),
		rule_test(stop_on_started_map_succeeds),
		rule_test(stop_on_exported_map_succeeds),
		rule_test(stop_on_stopped_map_succeeds),
		rule_test(stop_on_imported_map_succeeds),
		rule_test(export_pci_on_new_map_is_not_permitted),
		rule_test(export_pci_on_started_map_succeeds),
		rule_test(export_pci_on_exported_map_succeeds),
		rule_test(export_pci_on_stopped_map_is_not_permitted),
		rule_test(export_pci_on_imported_map_is_not_permitted),
		rule_test(export_rdma_on_new_map_is_not_permitted),
		rule_test(export_rdma_on_started_map_succeeds),
		rule_test(export_rdma_on_exported_map_succeeds),
		rule_test(export_rdma_on_stopped_map_is_not_permitted),
		rule_test(export_rdma_on_imported_map_succeeds),
		rule_test(dev_get_dpa_handle_on_new_map_is_not_permitted),
		rule_test(dev_get_dpa_handle_on_started_map_succeeds),
		rule_test(dev_get_dpa_handle_on_exported_map_succeeds),
		rule_test(dev_get_dpa_handle_on_stopped_map_is_not_permitted),
		rule_test(dev_get_dpa_handle_on_imported_map_succeeds),
		rule_test(getters_on_new_map_succeed),
		rule_test(getters_on_started_map_succeed),
		rule_test(getters_on_exported_map_succeed),
		rule_test(getters_on_stopped_map_succeed),
		rule_test(getters_on_imported_map_succeed),
		rule_test(destroy_on_new_map_succeeds),
		rule_test(destroy_on_started_map_succeeds),
		rule_test(destroy_on_exported_map_succeeds),
		rule_test(destroy_on_stopped_map_succeeds),
		rule_test(destroy_on_imported_map_succeeds),
	};

	rig_parse(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
