/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "core/dev/caps.h"
#include "device/port.h"
#include "device/sysfs.h"
#include "log/log.h"

static void destroy_infos(struct doca_devinfo **infos, uint32_t n)
{
	while (n) {
		dpumap_hca_put(infos[--n]->hca);
		free(infos[n]);
	}
	free(infos);
}

/* The array ends with NULL: it is destroyed without its length. */
static doca_error_t create_infos(struct dpumap_hca **hcas, uint32_t n, struct doca_devinfo ***list)
{
	struct doca_devinfo **infos = calloc((size_t)n + 1, sizeof(struct doca_devinfo *));

	if (!infos)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for %u devices", n);
	for (uint32_t i = 0; i < n; i++) {
		infos[i] = calloc(1, sizeof(*infos[i]));
		if (!infos[i]) {
			destroy_infos(infos, i);
			return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for device %s",
					   dpumap_hca_name(hcas[i]));
		}
		infos[i]->hca = dpumap_hca_get(hcas[i]);
	}
	*list = infos;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_create_list(struct doca_devinfo ***dev_list, uint32_t *nb_devs)
{
	struct dpumap_hca **hcas;
	doca_error_t result;
	uint32_t n;

	if (!dev_list || !nb_devs)
		return dpumap_fail_null(__func__);
	result = dpumap_hca_list(&hcas, &n);
	if (result != DOCA_SUCCESS)
		return result;
	result = create_infos(hcas, n, dev_list);
	if (result == DOCA_SUCCESS)
		*nb_devs = n;
	for (uint32_t i = 0; i < n; i++)
		dpumap_hca_put(hcas[i]);
	free(hcas);
	return result;
}

doca_error_t doca_devinfo_destroy_list(struct doca_devinfo **dev_list)
{
	uint32_t n = 0;

	if (!dev_list)
		return dpumap_fail_null(__func__);
	while (dev_list[n])
		n++;
	destroy_infos(dev_list, n);
	return DOCA_SUCCESS;
}

static doca_error_t check_size(const char *function, uint32_t size, uint32_t needed)
{
	if (size < needed)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "%s: buffer of %u bytes, %u needed",
				   function, size, needed);
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo, char *pci_addr_str)
{
	char addr[DPUMAP_PCI_ADDR_SIZE];
	doca_error_t result;

	if (!devinfo || !pci_addr_str)
		return dpumap_fail_null(__func__);
	if (!dpumap_sysfs_is_on_bus(dpumap_hca_sysfs_path(devinfo->hca)))
		return dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED, "%s is not a PCI device",
					dpumap_hca_name(devinfo->hca));
	result = dpumap_sysfs_pci_addr(dpumap_hca_sysfs_path(devinfo->hca), addr);
	if (result == DOCA_SUCCESS)
		memcpy(pci_addr_str, addr, sizeof(addr));
	return result;
}

doca_error_t doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *devinfo,
					    const char *pci_addr_str, uint8_t *is_equal)
{
	char wanted[DPUMAP_PCI_ADDR_SIZE];
	char addr[DPUMAP_PCI_ADDR_SIZE];
	doca_error_t result;

	if (!devinfo || !pci_addr_str || !is_equal)
		return dpumap_fail_null(__func__);
	result = dpumap_pci_addr_parse(pci_addr_str, wanted);
	if (result != DOCA_SUCCESS)
		return dpumap_fail(result,
				   "\"%s\" is not a valid PCI address: use dddd:bb:dd.f or bb:dd.f",
				   pci_addr_str);
	if (!dpumap_sysfs_is_on_bus(dpumap_hca_sysfs_path(devinfo->hca))) {
		*is_equal = 0;
		return DOCA_SUCCESS;
	}
	result = dpumap_sysfs_pci_addr(dpumap_hca_sysfs_path(devinfo->hca), addr);
	if (result == DOCA_SUCCESS)
		*is_equal = !strcmp(wanted, addr);
	return result;
}

static const void *address_of(const struct ifaddrs *entry, const char *name, int family)
{
	if (!entry->ifa_addr || entry->ifa_addr->sa_family != family ||
	    strcmp(entry->ifa_name, name) != 0)
		return NULL;
	if (family == AF_INET)
		return &((const struct sockaddr_in *)(const void *)entry->ifa_addr)->sin_addr;
	return &((const struct sockaddr_in6 *)(const void *)entry->ifa_addr)->sin6_addr;
}

static doca_error_t get_ip(const struct doca_devinfo *devinfo, int family, uint8_t *addr,
			   size_t size)
{
	char name[DOCA_DEVINFO_IFACE_NAME_SIZE];
	const void *found = NULL;
	struct ifaddrs *all;
	doca_error_t result;

	result = doca_devinfo_get_iface_name(devinfo, name, sizeof(name));
	if (result != DOCA_SUCCESS)
		return result;
	if (getifaddrs(&all))
		return dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM,
				   "listing network addresses failed: %s", strerror(errno));
	for (struct ifaddrs *i = all; i && !found; i = i->ifa_next)
		found = address_of(i, name, family);
	if (found)
		memcpy(addr, found, size);
	else
		result = dpumap_fail_info(DOCA_ERROR_NOT_FOUND, "%s has no %s address", name,
					  family == AF_INET ? "IPv4" : "IPv6");
	freeifaddrs(all);
	return result;
}

doca_error_t doca_devinfo_get_ipv4_addr(const struct doca_devinfo *devinfo, uint8_t *ipv4_addr,
					uint32_t size)
{
	doca_error_t result;

	if (!devinfo || !ipv4_addr)
		return dpumap_fail_null(__func__);
	result = check_size(__func__, size, DOCA_DEVINFO_IPV4_ADDR_SIZE);
	if (result != DOCA_SUCCESS)
		return result;
	return get_ip(devinfo, AF_INET, ipv4_addr, DOCA_DEVINFO_IPV4_ADDR_SIZE);
}

doca_error_t doca_devinfo_get_ipv6_addr(const struct doca_devinfo *devinfo, uint8_t *ipv6_addr,
					uint32_t size)
{
	doca_error_t result;

	if (!devinfo || !ipv6_addr)
		return dpumap_fail_null(__func__);
	result = check_size(__func__, size, DOCA_DEVINFO_IPV6_ADDR_SIZE);
	if (result != DOCA_SUCCESS)
		return result;
	return get_ip(devinfo, AF_INET6, ipv6_addr, DOCA_DEVINFO_IPV6_ADDR_SIZE);
}

doca_error_t doca_devinfo_get_mac_addr(const struct doca_devinfo *devinfo, uint8_t *mac_addr,
				       uint32_t size)
{
	uint8_t mac[DPUMAP_MAC_SIZE];
	doca_error_t result;

	if (!devinfo || !mac_addr)
		return dpumap_fail_null(__func__);
	result = check_size(__func__, size, DOCA_DEVINFO_MAC_ADDR_SIZE);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_sysfs_mac(dpumap_hca_sysfs_path(devinfo->hca), mac);
	if (result != DOCA_SUCCESS)
		return DOCA_ERROR_NOT_SUPPORTED;
	memcpy(mac_addr, mac, sizeof(mac));
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo, char *iface_name,
					 uint32_t size)
{
	char name[DOCA_DEVINFO_IFACE_NAME_SIZE];
	doca_error_t result;

	if (!devinfo || !iface_name)
		return dpumap_fail_null(__func__);
	result = check_size(__func__, size, DOCA_DEVINFO_IFACE_NAME_SIZE);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_sysfs_iface(dpumap_hca_sysfs_path(devinfo->hca), name, sizeof(name));
	if (result != DOCA_SUCCESS)
		return DOCA_ERROR_OPERATING_SYSTEM;
	memcpy(iface_name, name, strlen(name) + 1);
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo, char *ibdev_name,
					 uint32_t size)
{
	doca_error_t result;
	const char *name;

	if (!devinfo || !ibdev_name)
		return dpumap_fail_null(__func__);
	result = check_size(__func__, size, DOCA_DEVINFO_IBDEV_NAME_SIZE);
	if (result != DOCA_SUCCESS)
		return result;
	name = dpumap_hca_name(devinfo->hca);
	memcpy(ibdev_name, name, strlen(name) + 1);
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_get_lid(const struct doca_devinfo *devinfo, uint16_t *lid)
{
	struct dpumap_port port;
	doca_error_t result;

	if (!devinfo || !lid)
		return dpumap_fail_null(__func__);
	result = dpumap_port_query(devinfo->hca, &port);
	if (result != DOCA_SUCCESS)
		return result;
	if (!port.is_infiniband)
		return dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED, "%s: the port is not InfiniBand",
					dpumap_hca_name(devinfo->hca));
	*lid = port.lid;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_get_active_rate(const struct doca_devinfo *devinfo, uint64_t *active_rate)
{
	struct dpumap_port port;
	doca_error_t result;

	if (!devinfo || !active_rate)
		return dpumap_fail_null(__func__);
	result = dpumap_port_query(devinfo->hca, &port);
	if (result == DOCA_SUCCESS)
		*active_rate = port.rate;
	return result;
}

doca_error_t doca_devinfo_get_vhca_id(const struct doca_devinfo *devinfo, uint16_t *vhca_id)
{
	struct dpumap_caps caps;
	doca_error_t result = dpumap_devinfo_get_caps(__func__, devinfo, vhca_id, &caps);

	if (result != DOCA_SUCCESS)
		return result;
	if (!caps.is_mlx5)
		return dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED, "%s is not a function of a card",
					dpumap_hca_name(devinfo->hca));
	if (!caps.has_vhca_id)
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: the driver does not pass firmware commands on (DEVX)",
				   dpumap_hca_name(devinfo->hca));
	*vhca_id = caps.vhca_id;
	return DOCA_SUCCESS;
}
