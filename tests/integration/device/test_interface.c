/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What programs query before they move data: representors, kinds of functions, capabilities,
 * versions; and access tokens. They run on both functions of the card: the DPU has a representor,
 * the host has none.
 */
#include <stdlib.h>
#include <string.h>

#include <doca_pcc.h>
#include <doca_pe.h>
#include <doca_version.h>

#include "fixture.h"
#include "peer.h"

#define HOST_ADDR "0000:3b:00.0"
#define LEN	  4096u

static struct doca_dev *dev;

static bool on_dpu(void)
{
	return !strcmp(test_options.peer_as, "host");
}

static int open_device(void **state)
{
	return fixture_count(state) || fixture_open_device(&dev) != DOCA_SUCCESS ? -1 : 0;
}

static int close_device(void **state)
{
	return doca_dev_close(dev) == DOCA_SUCCESS ? fixture_recount(state) : -1;
}

#define device_test(function) cmocka_unit_test_setup_teardown(function, open_device, close_device)

static void only_on_dpu(void)
{
	if (!on_dpu())
		skip();
}

static struct doca_dev_rep *open_rep(void)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *rep = NULL;
	uint32_t n = 0;

	assert_ok(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &n));
	assert_int_equal(n, 1);
	assert_ok(doca_dev_rep_open(list[0], &rep));
	assert_ok(doca_devinfo_rep_destroy_list(list));
	return rep;
}

static void host_has_no_representors(void **state)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	struct doca_devinfo_rep **list;
	uint8_t cap;
	uint32_t n;

	if (on_dpu())
		skip();
	assert_error(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_ALL, &list, &n),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_devinfo_rep_cap_is_filter_all_supported(info, &cap),
		     DOCA_ERROR_NOT_SUPPORTED);
}

static void dpu_finds_the_host_by_its_address(void **state)
{
	char addr[DOCA_DEVINFO_REP_PCI_ADDR_SIZE];
	struct doca_devinfo_rep *info;
	struct doca_dev_rep *rep;
	uint8_t equal = 9;

	only_on_dpu();
	rep = open_rep();
	info = doca_dev_rep_as_devinfo(rep);
	assert_non_null(info);
	assert_ok(doca_devinfo_rep_get_pci_addr_str(info, addr));
	assert_string_equal(addr, HOST_ADDR);
	assert_ok(doca_devinfo_rep_is_equal_pci_addr(info, "3B:00.0", &equal));
	assert_int_equal(equal, 1);
	assert_ok(doca_devinfo_rep_is_equal_pci_addr(info, "0000:03:00.0", &equal));
	assert_int_equal(equal, 0);
	assert_error(doca_devinfo_rep_is_equal_pci_addr(info, "pf0hpf", &equal),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_dev_rep_close(rep));
}

static void representor_describes_its_function(void **state)
{
	enum doca_pci_func_type type = DOCA_PCI_FUNC_TYPE_SF;
	char name[DOCA_DEVINFO_IFACE_NAME_SIZE];
	struct doca_devinfo_rep *info;
	struct doca_dev_rep *rep;
	uint16_t host = 0, own = 0;
	uint8_t hotplug = 9, is_host = 9, is_uplink = 9;

	only_on_dpu();
	rep = open_rep();
	info = doca_dev_rep_as_devinfo(rep);
	assert_ok(doca_devinfo_rep_get_pci_func_type(info, &type));
	assert_int_equal(type, DOCA_PCI_FUNC_TYPE_PF);
	assert_ok(doca_devinfo_rep_get_is_hotplug(info, &hotplug));
	assert_int_equal(hotplug, 0);
	assert_ok(doca_devinfo_rep_get_is_host_representor(info, &is_host));
	assert_ok(doca_devinfo_rep_get_is_uplink_representor(info, &is_uplink));
	assert_int_equal(is_host, 1);
	assert_int_equal(is_uplink, 0);
	assert_error(doca_devinfo_rep_get_is_host_representor(NULL, &is_host),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_devinfo_rep_get_is_uplink_representor(info, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_devinfo_rep_get_vhca_id(info, &host));
	assert_ok(doca_devinfo_get_vhca_id(doca_dev_as_devinfo(dev), &own));
	assert_int_not_equal(host, own);
	/* This machine has no such interface, and no such VUID. */
	assert_error(doca_devinfo_rep_get_iface_name(info, name, sizeof(name)),
		     DOCA_ERROR_OPERATING_SYSTEM);
	assert_error(doca_devinfo_rep_get_iface_name(info, name, 16), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_devinfo_rep_get_vuid(info, name, DOCA_DEVINFO_REP_VUID_SIZE),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_dev_rep_close(rep));
}

static void filters_choose_among_the_representors(void **state)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	struct doca_devinfo_rep **list;
	uint8_t all = 9, net = 9, emulated = 9;
	uint32_t n = 9;

	only_on_dpu();
	assert_ok(doca_devinfo_rep_cap_is_filter_all_supported(info, &all));
	assert_ok(doca_devinfo_rep_cap_is_filter_net_supported(info, &net));
	assert_ok(doca_devinfo_rep_cap_is_filter_emulated_supported(info, &emulated));
	assert_int_equal(all, 1);
	assert_int_equal(net, 1);
	assert_int_equal(emulated, 0);
	assert_ok(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_EMULATED, &list, &n));
	assert_int_equal(n, 0);
	assert_ok(doca_devinfo_rep_destroy_list(list));
	assert_ok(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_ALL, &list, &n));
	assert_int_equal(n, 1);
	assert_ok(doca_devinfo_rep_destroy_list(list));
	assert_error(doca_devinfo_rep_create_list(dev, 1, &list, &n), DOCA_ERROR_INVALID_VALUE);
}

static void run_tool(const char *const argv[])
{
	assert_int_equal(process_run(argv), 0);
}

/* A failing device is an error, not a device without representors. */
static void representors_of_a_failing_device_are_an_error(void **state)
{
	const char *const fail[] = {test_options.emu, "fault",	"--method", "devx.other",
				    "--errno",	      "ENOMEM", NULL};
	struct doca_devinfo_rep **list;
	uint8_t cap;
	uint32_t n;

	only_on_dpu();
	run_tool(fail);
	assert_error(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_ALL, &list, &n),
		     DOCA_ERROR_DRIVER);
	run_tool(fail);
	assert_error(doca_devinfo_rep_cap_is_filter_all_supported(doca_dev_as_devinfo(dev), &cap),
		     DOCA_ERROR_DRIVER);
	assert_ok(doca_dev_rep_close(open_rep()));
}

static void representors_refuse_null(void **state)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *rep;
	uint8_t cap;
	uint32_t n;

	assert_error(doca_devinfo_rep_create_list(NULL, 0, &list, &n), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_devinfo_rep_create_list(dev, 0, NULL, &n), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_devinfo_rep_destroy_list(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_dev_rep_open(NULL, &rep), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_dev_rep_close(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_devinfo_rep_cap_is_filter_net_supported(NULL, &cap),
		     DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_dev_rep_as_devinfo(NULL));
}

static void function_is_physical_and_has_an_interface(void **state)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	enum doca_pci_func_type type = DOCA_PCI_FUNC_TYPE_SF;
	char addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
	uint32_t index = 0, port = 0;

	assert_ok(doca_devinfo_get_pci_func_type(info, &type));
	assert_int_equal(type, DOCA_PCI_FUNC_TYPE_PF);
	assert_error(doca_devinfo_get_sf_index(info, &index), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_devinfo_get_iface_index(info, &index));
	assert_int_not_equal(index, 0);
	assert_ok(doca_devinfo_get_uplink_ib_port(info, &port));
	assert_int_equal(port, 1);
	assert_error(doca_devinfo_get_data_direct_pci_dev(info, addr), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_devinfo_get_pci_func_type(info, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_devinfo_get_sf_index(NULL, &index), DOCA_ERROR_INVALID_VALUE);
}

static void optional_capabilities_are_not_supported(void **state)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(dev);
	uint8_t hotplug = 9, moderation = 9, reclaim = 9;

	assert_ok(doca_devinfo_cap_is_hotplug_manager_supported(info, &hotplug));
	assert_ok(doca_devinfo_cap_is_notification_moderation_supported(info, &moderation));
	assert_ok(doca_devinfo_cap_is_accelerate_resource_reclaim_supported(info, &reclaim));
	assert_int_equal(hotplug | moderation | reclaim, 0);
	assert_error(doca_devinfo_cap_is_hotplug_manager_supported(info, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_dev_accelerate_resource_reclaim(dev), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_dev_accelerate_resource_reclaim(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_devinfo_get_is_pcc_supported(info), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_devinfo_get_is_pcc_supported(NULL), DOCA_ERROR_INVALID_VALUE);
}

static void task_batches_are_refused(void **state)
{
	int place = 0;
	struct doca_task_batch *batch = (struct doca_task_batch *)&place;

	assert_error(doca_task_batch_submit(batch), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_task_batch_try_submit(batch), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_task_batch_get_status(batch), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_task_batch_submit(NULL), DOCA_ERROR_INVALID_VALUE);
	doca_task_batch_set_user_data(batch, (union doca_data){.u64 = 7});
	assert_int_equal(doca_task_batch_get_user_data(batch).u64, 0);
	assert_int_equal(doca_task_batch_get_ctx_user_data(batch).u64, 0);
	assert_int_equal(doca_task_batch_get_tasks_num(batch), 0);
	assert_null(doca_task_batch_get_ctx(batch));
	doca_task_batch_free(batch);
	assert_int_equal(place, 0);
}

struct versioned {
	DOCA_STRUCT_START;
	int value;
};

static void constructors_set_the_version_of_a_struct(void **state)
{
	DOCA_STRUCT_DEF(struct versioned, defined);
	struct versioned s = {.value = 5};
	struct versioned *p = &s;

	assert_int_equal(DOCA_STRUCT_GET_VERSION(&defined), DOCA_VERSION_EXACT);
	assert_int_equal(defined.value, 0);
	DOCA_STRUCT_CTOR(s);
	assert_int_equal(DOCA_STRUCT_GET_VERSION(p), DOCA_VERSION_EXACT);
	assert_int_equal(s.value, 5);
	DOCA_STRUCT_MEMSET_CTOR(s);
	assert_int_equal(s.value, 0);
	s = (struct versioned){.value = 6};
	DOCA_STRUCT_PTR_CTOR(p);
	assert_int_equal(s.__doca_api_version, DOCA_VERSION_EXACT);
	assert_int_equal(s.value, 6);
	DOCA_STRUCT_PTR_MEMSET_CTOR(p);
	assert_int_equal(s.__doca_api_version, DOCA_VERSION_EXACT);
	assert_int_equal(s.value, 0);
}

/* --- access tokens ---------------------------------------------------------------------------- */

static struct doca_mmap *new_map(uint8_t *bytes)
{
	struct doca_mmap *mmap = NULL;

	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_set_memrange(mmap, bytes, LEN));
	assert_ok(doca_mmap_set_permissions(mmap, LOCAL_RW | PCI_RW));
	assert_ok(doca_mmap_add_dev(mmap, dev));
	return mmap;
}

static bool contains(const uint8_t *bytes, size_t len, const uint8_t *token, size_t token_len)
{
	return memmem(bytes, len, token, token_len) != NULL;
}

static void token_is_the_exports_key(void **state)
{
	static const uint8_t token[] = "a secret of the program's own..";
	static const uint8_t padded[sizeof(token)] = {'a', ' ', 's', 'e', 'c', 'r', 'e', 't'};
	uint8_t *bytes = calloc(1, LEN);
	struct doca_mmap *mmap = new_map(bytes), *import = NULL;
	const void *desc;
	size_t len, max = 0;

	assert_ok(doca_mmap_cap_get_max_export_access_token_size(doca_dev_as_devinfo(dev), &max));
	assert_int_equal(max, sizeof(token));
	assert_ok(doca_mmap_set_export_access_token(mmap, dev, token, sizeof(token)));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_export_pci(mmap, dev, &desc, &len));
	assert_true(contains(desc, len, token, sizeof(token)));
	assert_ok(doca_mmap_create_from_export(NULL, desc, len, dev, &import));
	assert_ok(doca_mmap_destroy(import));

	/* The token remains for the next start, and can be replaced. */
	assert_ok(doca_mmap_stop(mmap));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_export_pci(mmap, dev, &desc, &len));
	assert_true(contains(desc, len, token, sizeof(token)));
	assert_ok(doca_mmap_stop(mmap));
	assert_ok(doca_mmap_set_export_access_token(mmap, dev, token, 8));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_export_pci(mmap, dev, &desc, &len));
	assert_true(contains(desc, len, padded, sizeof(padded)));
	assert_ok(doca_mmap_destroy(mmap));
	free(bytes);
}

static void token_goes_with_its_device(void **state)
{
	static const uint8_t token[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
	uint8_t *bytes = calloc(1, LEN);
	struct doca_mmap *mmap = new_map(bytes);
	const void *desc;
	size_t len;

	assert_ok(doca_mmap_set_export_access_token(mmap, dev, token, sizeof(token)));
	assert_ok(doca_mmap_rm_dev(mmap, dev));
	assert_error(doca_mmap_set_export_access_token(mmap, dev, token, sizeof(token)),
		     DOCA_ERROR_NOT_FOUND);
	assert_ok(doca_mmap_add_dev(mmap, dev));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_export_pci(mmap, dev, &desc, &len));
	assert_false(contains(desc, len, token, sizeof(token)));
	assert_ok(doca_mmap_destroy(mmap));
	free(bytes);
}

static void invalid_tokens_are_refused(void **state)
{
	uint8_t token[33] = {1};
	uint8_t *bytes = calloc(1, LEN);
	struct doca_mmap *mmap = new_map(bytes), *import = NULL;
	size_t len;

	assert_error(doca_mmap_set_export_access_token(mmap, dev, token, sizeof(token)),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_export_access_token(mmap, dev, token, 0),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_export_access_token(mmap, dev, NULL, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_export_access_token(mmap, NULL, token, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_cap_get_max_export_access_token_size(NULL, &len),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_start(mmap));
	assert_error(doca_mmap_set_export_access_token(mmap, dev, token, 1), DOCA_ERROR_BAD_STATE);
	import = fixture_import_pci(dev, mmap);
	assert_error(doca_mmap_set_export_access_token(import, dev, token, 1),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_destroy(import));
	assert_ok(doca_mmap_destroy(mmap));
	free(bytes);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		device_test(host_has_no_representors),
		device_test(dpu_finds_the_host_by_its_address),
		device_test(representor_describes_its_function),
		device_test(filters_choose_among_the_representors),
		device_test(representors_of_a_failing_device_are_an_error),
		device_test(representors_refuse_null),
		device_test(function_is_physical_and_has_an_interface),
		device_test(optional_capabilities_are_not_supported),
		cmocka_unit_test(task_batches_are_refused),
		cmocka_unit_test(constructors_set_the_version_of_a_struct),
		device_test(token_is_the_exports_key),
		device_test(token_goes_with_its_device),
		device_test(invalid_tokens_are_refused),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
