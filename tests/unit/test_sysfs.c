/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What sysfs reports about a device, in trees as Linux creates them for each kind of function. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/sysfs.h"

#define PF "devices/pci0000:00/0000:03:00.0"

static char root[64];

static int make_root(void **state)
{
	strcpy(root, "/tmp/dpumap-sysfs.XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static int remove_root(void **state)
{
	return nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_path(const char *path, char *full, size_t size)
{
	snprintf(full, size, "%s/%s", root, path);
	for (char *c = full + strlen(root) + 1; *c; c++) {
		if (*c != '/')
			continue;
		*c = '\0';
		mkdir(full, 0700);
		*c = '/';
	}
}

static void put(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	make_path(path, full, sizeof(full));
	f = fopen(full, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* An RDMA device whose "device" links to its place on the bus. */
static const char *ibdev_of(const char *device)
{
	static char path[128];
	char full[512], target[256];

	make_path("class/mlx5_0/device", full, sizeof(full));
	snprintf(target, sizeof(target), "../../%s", device);
	assert_int_equal(symlink(target, full), 0);
	snprintf(path, sizeof(path), "%s/class/mlx5_0", root);
	return path;
}

static void function_without_physfn_is_physical(void **state)
{
	struct dpumap_func func = {.type = DPUMAP_FUNC_SF};

	put(PF "/vendor", "0x15b3\n");
	assert_int_equal(dpumap_sysfs_func(ibdev_of(PF), &func), DOCA_SUCCESS);
	assert_int_equal(func.type, DPUMAP_FUNC_PF);
}

static void function_with_physfn_is_virtual(void **state)
{
	struct dpumap_func func = {.type = DPUMAP_FUNC_SF};

	put(PF "/physfn/vendor", "0x15b3\n");
	assert_int_equal(dpumap_sysfs_func(ibdev_of(PF), &func), DOCA_SUCCESS);
	assert_int_equal(func.type, DPUMAP_FUNC_VF);
}

static void sub_function_has_an_index_and_the_address_of_its_parent(void **state)
{
	char addr[DPUMAP_PCI_ADDR_SIZE];
	struct dpumap_func func = {0};
	const char *ibdev;

	put(PF "/mlx5_core.sf.17/sfnum", "88\n");
	ibdev = ibdev_of(PF "/mlx5_core.sf.17");
	assert_int_equal(dpumap_sysfs_func(ibdev, &func), DOCA_SUCCESS);
	assert_int_equal(func.type, DPUMAP_FUNC_SF);
	assert_int_equal(func.sf_index, 17);
	assert_int_equal(dpumap_sysfs_pci_addr(ibdev, addr), DOCA_SUCCESS);
	assert_string_equal(addr, "0000:03:00.0");
}

static void function_with_a_similar_name_is_not_a_sub_function(void **state)
{
	struct dpumap_func func = {.type = DPUMAP_FUNC_SF};

	put(PF "/mlx5_core.sf.17x/sfnum", "88\n");
	assert_int_equal(dpumap_sysfs_func(ibdev_of(PF "/mlx5_core.sf.17x"), &func), DOCA_SUCCESS);
	assert_int_equal(func.type, DPUMAP_FUNC_PF);
}

static void missing_device_is_an_operating_system_error(void **state)
{
	struct dpumap_func func;

	assert_int_equal(dpumap_sysfs_func(ibdev_of("devices/nowhere"), &func),
			 DOCA_ERROR_OPERATING_SYSTEM);
}

static void host_interface_is_found(const char *port_name)
{
	char name[32] = "";

	put(PF "/net/p0/phys_port_name", "p0\n");
	put(PF "/net/pf0vf0/phys_port_name", "c1pf0vf0\n");
	put(PF "/net/pf0sf4/phys_port_name", "pf0sf4\n");
	put(PF "/net/lonely/address", "02:00:00:00:00:01\n");
	put(PF "/net/pf0hpf/phys_port_name", port_name);
	assert_int_equal(dpumap_sysfs_rep_iface(ibdev_of(PF), name, sizeof(name)), DOCA_SUCCESS);
	assert_string_equal(name, "pf0hpf");
}

static void interface_of_the_host_is_found(void **state)
{
	host_interface_is_found("c1pf0\n");
}

static void interface_of_the_host_without_a_controller_is_found(void **state)
{
	host_interface_is_found("pf0\n");
}

static void missing_interface_of_the_host_is_not_found(void **state)
{
	char name[32];

	put(PF "/net/p0/phys_port_name", "p0\n");
	assert_int_equal(dpumap_sysfs_rep_iface(ibdev_of(PF), name, sizeof(name)),
			 DOCA_ERROR_NOT_FOUND);
}

static void interface_is_found_by_its_directory(void **state)
{
	const char *ibdev = ibdev_of(PF);
	char name[32], short_name[3];

	put(PF "/net/enp3s0f0np0/address", "02:00:5E:10:00:ff\n");
	assert_int_equal(dpumap_sysfs_iface(ibdev, name, sizeof(name)), DOCA_SUCCESS);
	assert_string_equal(name, "enp3s0f0np0");
	assert_int_equal(dpumap_sysfs_iface(ibdev, short_name, sizeof(short_name)),
			 DOCA_ERROR_NOT_FOUND);
}

static void device_without_interface_is_not_found(void **state)
{
	const char *ibdev = ibdev_of(PF);
	uint8_t mac[DPUMAP_MAC_SIZE];
	char name[32];

	put(PF "/uevent", "DRIVER=mlx5_core\n");
	assert_int_equal(dpumap_sysfs_iface(ibdev, name, sizeof(name)), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(dpumap_sysfs_mac(ibdev, mac), DOCA_ERROR_NOT_FOUND);
}

static void mac_address_is_read_in_upper_and_lower_case(void **state)
{
	static const uint8_t wanted[DPUMAP_MAC_SIZE] = {0x02, 0x00, 0x5e, 0x10, 0x00, 0xff};
	uint8_t mac[DPUMAP_MAC_SIZE] = {0};

	put(PF "/net/p0/address", "02:00:5E:10:00:ff\n");
	assert_int_equal(dpumap_sysfs_mac(ibdev_of(PF), mac), DOCA_SUCCESS);
	assert_memory_equal(mac, wanted, sizeof(wanted));
}

static void mac_address_of_another_length_is_not_found(void **state)
{
	uint8_t mac[DPUMAP_MAC_SIZE];

	put(PF "/net/ib0/address", "80:00:00:48:fe:80:00:00:00:00:00:00:02:00:5e:10:00:ff:00:01\n");
	assert_int_equal(dpumap_sysfs_mac(ibdev_of(PF), mac), DOCA_ERROR_NOT_FOUND);
}

static void pci_addr_is(const char *device, const char *wanted)
{
	char addr[DPUMAP_PCI_ADDR_SIZE] = "";

	assert_int_equal(dpumap_sysfs_pci_addr(ibdev_of(device), addr), DOCA_SUCCESS);
	assert_string_equal(addr, wanted);
}

static void pci_address_of_a_function_is_its_directory(void **state)
{
	put(PF "/uevent", "PCI_SLOT_NAME=0000:99:00.0\n");
	pci_addr_is(PF, "0000:03:00.0");
}

static void pci_address_of_a_sub_function_is_that_of_its_parent(void **state)
{
	put(PF "/mlx5_core.sf.4/sfnum", "88\n");
	pci_addr_is(PF "/mlx5_core.sf.4", "0000:03:00.0");
}

static void pci_address_is_read_from_uevent(void **state)
{
	put("devices/platform/card/uevent", "DRIVER=mlx5_core\nPCI_SLOT_NAME=0000:AF:00.1\n");
	pci_addr_is("devices/platform/card", "0000:af:00.1");
}

static void malformed_pci_address_is_refused(void **state)
{
	char addr[DPUMAP_PCI_ADDR_SIZE];

	put("devices/platform/card/uevent", "PCI_SLOT_NAME=af:00\n");
	assert_int_equal(dpumap_sysfs_pci_addr(ibdev_of("devices/platform/card"), addr),
			 DOCA_ERROR_OPERATING_SYSTEM);
}

#define tree_test(function) cmocka_unit_test_setup_teardown(function, make_root, remove_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		tree_test(function_without_physfn_is_physical),
		tree_test(function_with_physfn_is_virtual),
		tree_test(sub_function_has_an_index_and_the_address_of_its_parent),
		tree_test(function_with_a_similar_name_is_not_a_sub_function),
		tree_test(missing_device_is_an_operating_system_error),
		tree_test(interface_of_the_host_is_found),
		tree_test(interface_of_the_host_without_a_controller_is_found),
		tree_test(missing_interface_of_the_host_is_not_found),
		tree_test(interface_is_found_by_its_directory),
		tree_test(device_without_interface_is_not_found),
		tree_test(mac_address_is_read_in_upper_and_lower_case),
		tree_test(mac_address_of_another_length_is_not_found),
		tree_test(pci_address_of_a_function_is_its_directory),
		tree_test(pci_address_of_a_sub_function_is_that_of_its_parent),
		tree_test(pci_address_is_read_from_uevent),
		tree_test(malformed_pci_address_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
