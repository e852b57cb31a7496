/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Devices: listing, opening, properties. */
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_version.h>
#include <dpumap/dev.h>
#include <dpumap/version.h>

#include "fixture.h"

static struct doca_devinfo *first(struct doca_devinfo ***list)
{
	uint32_t n = 0;

	assert_ok(doca_devinfo_create_list(list, &n));
	assert_int_equal(n, 1);
	return (*list)[0];
}

static void list_refuses_null(void **state)
{
	struct doca_devinfo **list;
	uint32_t n;

	assert_error(doca_devinfo_create_list(NULL, &n), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_devinfo_create_list(&list, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_devinfo_destroy_list(NULL), DOCA_ERROR_INVALID_VALUE);
}

static void open_twice_is_one_device(void **state)
{
	struct doca_dev *a, *b;

	assert_ok(fixture_open_device(&a));
	assert_ok(fixture_open_device(&b));
	assert_ptr_equal(a, b);
	assert_ok(doca_dev_close(a));
	assert_non_null(doca_dev_as_devinfo(b));
	assert_ok(doca_dev_close(b));
}

/* A registration on one of them is unknown to the others. */
static void open_own_is_another_device(void **state)
{
	struct doca_devinfo **list;
	struct doca_dev *own, *other, *shared;
	struct doca_mmap *map;
	static char bytes[64];
	uint32_t key;

	assert_ok(fixture_open_device(&shared));
	assert_ok(dpumap_dev_open_own(first(&list), &own));
	assert_ok(dpumap_dev_open_own(list[0], &other));
	assert_ptr_not_equal(own, shared);
	assert_ptr_not_equal(own, other);
	assert_error(dpumap_dev_open_own(NULL, &own), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dev_open_own(list[0], NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_devinfo_destroy_list(list));

	assert_ok(doca_mmap_create(&map));
	assert_ok(doca_mmap_add_dev(map, own));
	assert_ok(doca_mmap_set_memrange(map, bytes, sizeof(bytes)));
	assert_ok(doca_mmap_start(map));
	assert_ok(doca_mmap_get_mkey(map, own, &key));
	assert_error(doca_mmap_get_mkey(map, other, &key), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_get_mkey(map, shared, &key), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_dev_close(own), DOCA_ERROR_IN_USE);
	assert_ok(doca_mmap_destroy(map));
	assert_ok(doca_dev_close(own));
	assert_ok(doca_dev_close(other));
	assert_ok(doca_dev_close(shared));
}

/* As the kernel reports it in sysfs: four groups of hexadecimal digits. */
static uint64_t card_guid_of_sysfs(struct doca_dev *dev)
{
	const char *sysfs = getenv("SYSFS_PATH");
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE], path[512];
	uint64_t guid = 0;
	unsigned int part;
	FILE *file;

	assert_ok(doca_devinfo_get_ibdev_name(doca_dev_as_devinfo(dev), name, sizeof(name)));
	snprintf(path, sizeof(path), "%s/class/infiniband/%s/sys_image_guid",
		 sysfs ? sysfs : "/sys", name);
	file = fopen(path, "r");
	assert_non_null(file);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(fscanf(file, "%4x%*1[:\n]", &part), 1);
		guid = guid << 16 | part;
	}
	fclose(file);
	return guid;
}

static void card_guid_is_that_of_the_kernel(void **state)
{
	struct doca_dev *dev;
	uint64_t guid = 0;

	assert_ok(fixture_open_device(&dev));
	assert_error(dpumap_dev_get_card_guid(NULL, &guid), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dev_get_card_guid(dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(dpumap_dev_get_card_guid(dev, &guid));
	assert_true(guid != 0);
	assert_true(guid == card_guid_of_sysfs(dev));
	assert_ok(doca_dev_close(dev));
}

static void open_refuses_null_and_close_ignores_it(void **state)
{
	struct doca_dev *dev;

	assert_error(doca_dev_open(NULL, &dev), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_dev_close(NULL));
	assert_null(doca_dev_as_devinfo(NULL));
}

static void devinfo_outlives_list(void **state)
{
	char before[DOCA_DEVINFO_IBDEV_NAME_SIZE], after[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	struct doca_devinfo **list;
	struct doca_devinfo *info = first(&list);
	struct doca_dev *dev;

	assert_ok(doca_devinfo_get_ibdev_name(info, before, sizeof(before)));
	assert_ok(doca_dev_open(info, &dev));
	assert_ok(doca_devinfo_destroy_list(list));
	assert_ok(doca_devinfo_get_ibdev_name(doca_dev_as_devinfo(dev), after, sizeof(after)));
	assert_string_equal(after, before);
	assert_ok(doca_dev_close(dev));
}

static void close_of_a_device_in_use_is_refused(void **state)
{
	struct doca_mmap *mmap;
	struct doca_dev *dev;

	assert_ok(fixture_open_device(&dev));
	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_add_dev(mmap, dev));
	assert_error(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_dev_close(dev));
}

static void pci_address_is_compared_with_or_without_its_domain(void **state)
{
	char addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
	struct doca_devinfo **list;
	struct doca_devinfo *info = first(&list);
	uint8_t equal = 9;

	assert_ok(doca_devinfo_get_pci_addr_str(info, addr));
	assert_int_equal(strlen(addr), DOCA_DEVINFO_PCI_ADDR_SIZE - 1);
	assert_ok(doca_devinfo_is_equal_pci_addr(info, addr, &equal));
	assert_int_equal(equal, 1);
	if (!strncmp(addr, "0000:", 5)) {
		assert_ok(doca_devinfo_is_equal_pci_addr(info, addr + 5, &equal));
		assert_int_equal(equal, 1);
	}
	assert_ok(doca_devinfo_is_equal_pci_addr(info, "ff:1f.7", &equal));
	assert_int_equal(equal, 0);
	assert_error(doca_devinfo_is_equal_pci_addr(info, "mlx5_0", &equal),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_devinfo_is_equal_pci_addr(info, "0000:03:00.0 ", &equal),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_devinfo_destroy_list(list));
}

static void name_needs_room(void **state)
{
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	struct doca_devinfo **list;
	struct doca_devinfo *info = first(&list);

	assert_error(doca_devinfo_get_ibdev_name(info, name, sizeof(name) - 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_devinfo_get_ibdev_name(info, NULL, sizeof(name)),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_devinfo_destroy_list(list));
}

static void port_has_a_rate_but_no_lid(void **state)
{
	struct doca_devinfo **list;
	struct doca_devinfo *info = first(&list);
	uint64_t rate = 0;
	uint16_t lid;

	assert_ok(doca_devinfo_get_active_rate(info, &rate));
	assert_true(rate > 0);
	assert_error(doca_devinfo_get_lid(info, &lid), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_devinfo_get_active_rate(info, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_devinfo_destroy_list(list));
}

/* Does the interface have the address? */
static bool has_address(const char *interface, int family, const void *addr, size_t len)
{
	struct ifaddrs *all;
	bool found = false;

	assert_int_equal(getifaddrs(&all), 0);
	for (const struct ifaddrs *a = all; a && !found; a = a->ifa_next) {
		const uint8_t *at = (const uint8_t *)a->ifa_addr;

		if (!at || a->ifa_addr->sa_family != family || strcmp(a->ifa_name, interface) != 0)
			continue;
		at += family == AF_INET ? offsetof(struct sockaddr_in, sin_addr)
					: offsetof(struct sockaddr_in6, sin6_addr);
		found = !memcmp(at, addr, len);
	}
	freeifaddrs(all);
	return found;
}

static void network_properties_are_those_of_the_interface(void **state)
{
	static const uint8_t none[DOCA_DEVINFO_MAC_ADDR_SIZE];
	char name[DOCA_DEVINFO_IFACE_NAME_SIZE];
	uint8_t mac[DOCA_DEVINFO_MAC_ADDR_SIZE] = {0};
	uint8_t ip4[DOCA_DEVINFO_IPV4_ADDR_SIZE];
	uint8_t ip6[DOCA_DEVINFO_IPV6_ADDR_SIZE] = {0};
	struct doca_devinfo **list;
	struct doca_devinfo *info = first(&list);
	doca_error_t result;

	assert_ok(doca_devinfo_get_iface_name(info, name, sizeof(name)));
	assert_true(if_nametoindex(name));
	assert_error(doca_devinfo_get_iface_name(info, name, 2), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_devinfo_get_mac_addr(info, mac, sizeof(mac)));
	assert_memory_not_equal(mac, none, sizeof(mac));
	assert_error(doca_devinfo_get_mac_addr(info, mac, 5), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_devinfo_get_ipv4_addr(info, ip4, sizeof(ip4)));
	assert_true(has_address(name, AF_INET, ip4, sizeof(ip4)));
	assert_error(doca_devinfo_get_ipv4_addr(info, ip4, 3), DOCA_ERROR_INVALID_VALUE);
	/* Not every machine has IPv6. */
	result = doca_devinfo_get_ipv6_addr(info, ip6, sizeof(ip6));
	assert_true(result == DOCA_ERROR_NOT_FOUND ||
		    (result == DOCA_SUCCESS && has_address(name, AF_INET6, ip6, sizeof(ip6))));
	assert_error(doca_devinfo_get_ipv6_addr(info, NULL, sizeof(ip6)), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_devinfo_destroy_list(list));
}

static void capabilities_are_known_without_opening(void **state)
{
	struct doca_devinfo **list;
	struct doca_devinfo *info = first(&list);
	uint8_t can = 0;
	uint16_t vhca_id;

	assert_ok(doca_mmap_cap_is_export_pci_supported(info, &can));
	assert_int_equal(can, 1);
	can = 0;
	assert_ok(doca_mmap_cap_is_create_from_export_pci_supported(info, &can));
	assert_int_equal(can, 1);
	assert_ok(doca_devinfo_get_vhca_id(info, &vhca_id));
	assert_error(doca_mmap_cap_is_export_pci_supported(NULL, &can), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_cap_is_export_pci_supported(info, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_devinfo_destroy_list(list));
}

static void each_error_has_a_name_unless_it_is_unknown(void **state)
{
	assert_string_equal(doca_error_get_name(DOCA_SUCCESS), "DOCA_SUCCESS");
	assert_string_equal(doca_error_get_name(DOCA_ERROR_CONNECTION_INPROGRESS),
			    "DOCA_ERROR_CONNECTION_INPROGRESS");
	assert_string_equal(doca_error_get_name(DOCA_ERROR_SKIPPED), "DOCA_ERROR_SKIPPED");
	assert_string_equal(doca_error_get_name((doca_error_t)31), "unrecognized error code");
	assert_string_equal(doca_error_get_descr((doca_error_t)-1), "unrecognized error code");
	assert_string_equal(doca_version_runtime(), doca_version());
	assert_string_equal(dpumap_version(), DPUMAP_VERSION_STRING);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		counted_test(list_refuses_null),
		counted_test(open_twice_is_one_device),
		counted_test(open_own_is_another_device),
		counted_test(card_guid_is_that_of_the_kernel),
		counted_test(open_refuses_null_and_close_ignores_it),
		counted_test(devinfo_outlives_list),
		counted_test(close_of_a_device_in_use_is_refused),
		counted_test(pci_address_is_compared_with_or_without_its_domain),
		counted_test(name_needs_room),
		counted_test(port_has_a_rate_but_no_lid),
		counted_test(network_properties_are_those_of_the_interface),
		counted_test(capabilities_are_known_without_opening),
		cmocka_unit_test(each_error_has_a_name_unless_it_is_unknown),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
