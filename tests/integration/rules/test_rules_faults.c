/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rules about failures below the library: allocations, commands to the device, deregistration; and
 * a device without the capability, which refuses to open its firmware interface.
 */
#include <errno.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "faults.h"
#include "peer.h"
#include "rules.h"

static bool refuse_firmware;
static bool refuse_dereg;

struct ibv_context *__real_mlx5dv_open_device(struct ibv_device *device,
					      struct mlx5dv_context_attr *attr);
struct ibv_context *__wrap_mlx5dv_open_device(struct ibv_device *device,
					      struct mlx5dv_context_attr *attr);
int __real_ibv_dereg_mr(struct ibv_mr *mr);
int __wrap_ibv_dereg_mr(struct ibv_mr *mr);

struct ibv_context *__wrap_mlx5dv_open_device(struct ibv_device *device,
					      struct mlx5dv_context_attr *attr)
{
	if (!refuse_firmware)
		return __real_mlx5dv_open_device(device, attr);
	errno = EOPNOTSUPP;
	return NULL;
}

int __wrap_ibv_dereg_mr(struct ibv_mr *mr)
{
	return refuse_dereg ? EBUSY : __real_ibv_dereg_mr(mr);
}

/* An operation on a map, or one that creates it. */
typedef doca_error_t call_fn(struct doca_mmap **mmap);

/* Let the first event fail, then the second, and so on until the call has no more. */
static void assert_each_fault(enum fault_kind kind, int err, call_fn *call, struct doca_mmap **mmap,
			      doca_error_t wanted)
{
	doca_error_t result;
	unsigned int n = 0;

	do {
		fault_arm(kind, ++n, err);
		result = call(mmap);
		fault_disarm();
		assert_error(result, fault_fired() ? wanted : DOCA_SUCCESS);
	} while (fault_fired());
	assert_true(n > 1);
}

static struct rules_blob imported;

static doca_error_t call_create(struct doca_mmap **mmap)
{
	return doca_mmap_create(mmap);
}

static doca_error_t call_start(struct doca_mmap **mmap)
{
	return doca_mmap_start(*mmap);
}

static doca_error_t call_export(struct doca_mmap **mmap)
{
	struct rules_blob blob;

	return doca_mmap_export_pci(*mmap, rules.fixture.dev, &blob.bytes, &blob.len);
}

static doca_error_t call_export_rdma(struct doca_mmap **mmap)
{
	struct rules_blob blob;

	return doca_mmap_export_rdma(*mmap, rules.fixture.dev, &blob.bytes, &blob.len);
}

static doca_error_t call_import(struct doca_mmap **mmap)
{
	return doca_mmap_create_from_export(NULL, imported.bytes, imported.len, rules.fixture.dev,
					    mmap);
}

static doca_error_t call_add_dev(struct doca_mmap **mmap)
{
	return doca_mmap_add_dev(*mmap, rules.second);
}

static doca_error_t call_thread_safety(struct doca_mmap **mmap)
{
	return doca_mmap_enable_thread_safety(*mmap);
}

/* A failed export leaves nothing on the device. */
static doca_error_t counted(call_fn *call, struct doca_mmap **mmap)
{
	struct objects before, after;
	uint8_t exported = 9;
	doca_error_t result;

	assert_true(objects_read(&before));
	result = call(mmap);
	if (result == DOCA_SUCCESS)
		return result;
	assert_true(objects_read(&after));
	assert_true(objects_equal(&before, &after));
	assert_ok(doca_mmap_get_exported(*mmap, &exported));
	assert_int_equal(exported, 0);
	return result;
}

static doca_error_t call_export_counted(struct doca_mmap **mmap)
{
	return counted(call_export, mmap);
}

static doca_error_t call_export_rdma_counted(struct doca_mmap **mmap)
{
	return counted(call_export_rdma, mmap);
}

/* rule: M-CRE-2 */
static void create_without_memory_is_no_memory(void **state)
{
	struct doca_mmap *mmap = NULL;

	assert_each_fault(FAULT_ALLOC, 0, call_create, &mmap, DOCA_ERROR_NO_MEMORY);
	rules_keep(mmap);
}

/* rule: M-STA-3 */
static void start_without_memory_is_no_memory(void **state)
{
	struct doca_mmap *mmap = rules_new(ALL_RW);

	assert_each_fault(FAULT_ALLOC, 0, call_start, &mmap, DOCA_ERROR_NO_MEMORY);
}

/* rule: M-ADD-5 */
static void add_dev_without_memory_is_no_memory(void **state)
{
	struct doca_mmap *mmap = rules_new(ALL_RW);

	assert_each_fault(FAULT_ALLOC, 0, call_add_dev, &mmap, DOCA_ERROR_NO_MEMORY);
}

/* rule: M-DES-5, M-DES-6 */
static void destroy_frees_the_memory_of_all_devices(void **state)
{
	unsigned int live = fault_count_live();
	struct doca_mmap *mmap = rules_new(ALL_RW);

	assert_ok(doca_mmap_add_dev(mmap, rules.second));
	assert_ok(doca_mmap_start(mmap));
	rules_export(mmap);
	rules_destroy(mmap);
	assert_int_equal(fault_count_live(), live);
}

/* rule: M-THR-7 */
static void thread_safety_without_memory_is_no_memory(void **state)
{
	struct doca_mmap *mmap = rules_new(ALL_RW);

	assert_each_fault(FAULT_ALLOC, 0, call_thread_safety, &mmap, DOCA_ERROR_NO_MEMORY);
}

/* rule: M-EXP-6, M-EXR-0 */
static void export_without_memory_is_no_memory(void **state)
{
	struct doca_mmap *pci = rules_map(STARTED), *rdma = rules_map(STARTED);
	struct doca_mmap *own_key = rules_started(PCI_RW | DOCA_ACCESS_FLAG_RDMA_READ);

	assert_each_fault(FAULT_ALLOC, 0, call_export_counted, &pci, DOCA_ERROR_NO_MEMORY);
	assert_each_fault(FAULT_ALLOC, 0, call_export_rdma_counted, &rdma, DOCA_ERROR_NO_MEMORY);
	assert_each_fault(FAULT_ALLOC, 0, call_export_rdma_counted, &own_key, DOCA_ERROR_NO_MEMORY);
}

/* rule: M-IMP-2 */
static void import_without_memory_is_no_memory(void **state)
{
	struct doca_mmap *from = rules_map(STARTED), *mmap = NULL;

	imported = rules_export(from);
	assert_each_fault(FAULT_ALLOC, 0, call_import, &mmap, DOCA_ERROR_NO_MEMORY);
	rules_keep(mmap);
	imported = rules_export_rdma(from);
	assert_each_fault(FAULT_ALLOC, 0, call_import, &mmap, DOCA_ERROR_NO_MEMORY);
	rules_keep(mmap);
}

/* rule: M-STA-5 */
static void start_that_the_device_refuses_is_a_driver_error(void **state)
{
	struct doca_mmap *mmap = rules_new(ALL_RW);

	assert_each_fault(FAULT_COMMAND, EIO, call_start, &mmap, DOCA_ERROR_DRIVER);
}

static doca_error_t call_start_unstarted(struct doca_mmap **mmap)
{
	struct objects before, after;
	doca_error_t result;

	assert_true(objects_read(&before));
	result = doca_mmap_start(*mmap);
	if (result == DOCA_SUCCESS)
		return result;
	assert_true(objects_read(&after));
	assert_true(objects_equal(&before, &after));
	assert_error(call_export(mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_set_permissions(*mmap, ALL_RW));
	return result;
}

/* rule: M-STA-8 */
static void start_registers_on_all_devices_or_on_none(void **state)
{
	struct doca_mmap *mmap = rules_new(ALL_RW);

	assert_ok(doca_mmap_add_dev(mmap, rules.second));
	assert_each_fault(FAULT_COMMAND, EIO, call_start_unstarted, &mmap, DOCA_ERROR_DRIVER);
	rules_export(mmap);
}

/* rule: M-EXP-8 */
static void export_that_the_device_refuses_is_a_driver_error(void **state)
{
	struct doca_mmap *mmap = rules_map(STARTED);

	assert_each_fault(FAULT_COMMAND, EIO, call_export_counted, &mmap, DOCA_ERROR_DRIVER);
}

/* rule: M-IMP-4 */
static void import_that_the_device_fails_is_a_driver_error(void **state)
{
	struct doca_mmap *mmap = NULL;

	imported = rules_export(rules_map(STARTED));
	assert_each_fault(FAULT_COMMAND, EIO, call_import, &mmap, DOCA_ERROR_DRIVER);
	rules_keep(mmap);
}

static unsigned int frees;

static void count_free(void *addr, size_t len, void *cookie)
{
	frees++;
}

/* rule: M-DES-3, M-DES-9 */
static void destroy_that_cannot_deregister_is_not_permitted(void **state)
{
	struct doca_mmap *mmap = rules_new(ALL_RW);

	frees = 0;
	assert_ok(doca_mmap_set_free_cb(mmap, count_free, NULL));
	assert_ok(doca_mmap_start(mmap));
	refuse_dereg = true;
	assert_error(doca_mmap_destroy(mmap), DOCA_ERROR_NOT_PERMITTED);
	refuse_dereg = false;
	assert_int_equal(frees, 0);
	rules_destroy(mmap);
	assert_int_equal(frees, 1);
}

/* rule: M-STO-9 */
static void stop_that_cannot_deregister_can_be_tried_again(void **state)
{
	struct doca_mmap *mmap = rules_map(STARTED);

	refuse_dereg = true;
	assert_error(doca_mmap_stop(mmap), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_set_permissions(mmap, ALL_RW), DOCA_ERROR_BAD_STATE);
	refuse_dereg = false;
	assert_ok(doca_mmap_stop(mmap));
	assert_ok(doca_mmap_set_permissions(mmap, ALL_RW));
}

/* rule: M-RMD-4, M-DES-3 */
static void rm_dev_that_cannot_deregister_is_not_permitted(void **state)
{
	struct doca_mmap *mmap = rules_new(ALL_RW);

	assert_ok(doca_mmap_add_dev(mmap, rules.second));
	/* A start that fails on the second device, and cannot deregister from the first one. */
	fault_arm(FAULT_COMMAND, 2, EIO);
	refuse_dereg = true;
	assert_error(doca_mmap_start(mmap), DOCA_ERROR_DRIVER);
	fault_disarm();
	assert_error(doca_mmap_rm_dev(mmap, rules.fixture.dev), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_destroy(mmap), DOCA_ERROR_NOT_PERMITTED);
	refuse_dereg = false;
	assert_ok(doca_mmap_rm_dev(mmap, rules.fixture.dev));
	assert_error(doca_mmap_rm_dev(mmap, rules.fixture.dev), DOCA_ERROR_NOT_FOUND);
}

/* rule: M-CAP-3 */
static void capability_that_cannot_be_asked_is_a_driver_error(void **state)
{
	unsigned int failed = 0, n = 0;
	struct doca_devinfo **list;
	doca_error_t result;
	uint8_t flag;
	uint32_t len;

	do {
		flag = 9;
		assert_ok(doca_devinfo_create_list(&list, &len));
		fault_arm(FAULT_COMMAND, ++n, EIO);
		result = doca_mmap_cap_is_export_pci_supported(list[0], &flag);
		fault_disarm();
		/*
		 * A device that only refuses its firmware interface reports that it lacks the
		 * capability.
		 */
		assert_either(result, DOCA_ERROR_DRIVER, DOCA_SUCCESS);
		failed += result == DOCA_ERROR_DRIVER;
		assert_true((result == DOCA_ERROR_DRIVER) == (flag == 9));
		assert_ok(doca_devinfo_destroy_list(list));
	} while (fault_fired());
	assert_true(failed > 0);
	assert_int_equal(flag, 1);
}

static uint8_t saved[DESCRIPTOR_ROOM];
static size_t saved_len;

static doca_error_t save_export(struct doca_dev *dev)
{
	struct doca_mmap *mmap;
	struct rules_blob blob;

	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_set_memrange(mmap, rules.memory, RULES_LEN));
	assert_ok(doca_mmap_set_permissions(mmap, ALL_RW));
	assert_ok(doca_mmap_add_dev(mmap, dev));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_export_pci(mmap, dev, &blob.bytes, &blob.len));
	assert_true(blob.len <= sizeof(saved));
	memcpy(saved, blob.bytes, blob.len);
	saved_len = blob.len;
	return doca_mmap_destroy(mmap);
}

/* The device must not be open yet: a second open would return the first one. */
static int open_incapable(void **state)
{
	struct doca_dev *dev;

	if (fixture_count(state) || fixture_open_device(&dev) != DOCA_SUCCESS)
		return -1;
	if (save_export(dev) != DOCA_SUCCESS || doca_dev_close(dev) != DOCA_SUCCESS)
		return -1;
	refuse_firmware = true;
	return 0;
}

static int close_incapable(void **state)
{
	refuse_firmware = false;
	return fixture_recount(state);
}

static void assert_capabilities(struct doca_dev *dev, uint8_t wanted)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	uint8_t flag = 9;

	assert_ok(doca_mmap_cap_is_export_pci_supported(info, &flag));
	assert_int_equal(flag, wanted);
	flag = 9;
	assert_ok(doca_mmap_cap_is_create_from_export_pci_supported(info, &flag));
	assert_int_equal(flag, wanted);
}

/* rule: M-EXP-7, M-CAP-4 */
static void export_by_an_incapable_device_is_not_supported(void **state)
{
	struct doca_mmap *mmap;
	struct rules_blob blob;
	struct doca_dev *dev;

	assert_ok(fixture_open_device(&dev));
	assert_capabilities(dev, 0);
	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_set_memrange(mmap, rules.memory, RULES_LEN));
	assert_ok(doca_mmap_set_permissions(mmap, ALL_RW));
	assert_ok(doca_mmap_add_dev(mmap, dev));
	assert_ok(doca_mmap_start(mmap));
	assert_error(doca_mmap_export_pci(mmap, dev, &blob.bytes, &blob.len),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_dev_close(dev));
}

/* rule: M-IMP-3, M-CAP-4 */
static void import_by_an_incapable_device_is_not_supported(void **state)
{
	struct doca_mmap *mmap = NULL;
	struct doca_dev *dev;

	assert_ok(fixture_open_device(&dev));
	assert_capabilities(dev, 0);
	assert_error(doca_mmap_create_from_export(NULL, saved, saved_len, dev, &mmap),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_null(mmap);
	assert_ok(doca_dev_close(dev));
}

#define incapable_test(function) \
	cmocka_unit_test_setup_teardown(function, open_incapable, close_incapable)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		rule_test(create_without_memory_is_no_memory),
		rule_test(start_without_memory_is_no_memory),
		rule_test(add_dev_without_memory_is_no_memory),
		rule_test(destroy_frees_the_memory_of_all_devices),
		rule_test(thread_safety_without_memory_is_no_memory),
		rule_test(export_without_memory_is_no_memory),
		rule_test(import_without_memory_is_no_memory),
		rule_test(start_that_the_device_refuses_is_a_driver_error),
		rule_test(start_registers_on_all_devices_or_on_none),
		rule_test(export_that_the_device_refuses_is_a_driver_error),
		rule_test(import_that_the_device_fails_is_a_driver_error),
		rule_test(destroy_that_cannot_deregister_is_not_permitted),
		rule_test(stop_that_cannot_deregister_can_be_tried_again),
		rule_test(rm_dev_that_cannot_deregister_is_not_permitted),
		rule_test(capability_that_cannot_be_asked_is_a_driver_error),
		incapable_test(export_by_an_incapable_device_is_not_supported),
		incapable_test(import_by_an_incapable_device_is_not_supported),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
