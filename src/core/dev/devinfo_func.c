/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The kind of function that a device is, and its capabilities besides moving data. */
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include <doca_pcc.h>

#include "core/dev/dev.h"
#include "device/sysfs.h"
#include "log/log.h"

#define UPLINK_PORT 1

static doca_error_t get_func(const struct doca_devinfo *devinfo, struct dpumap_func *func)
{
	const char *path = dpumap_hca_sysfs_path(devinfo->hca);

	if (!dpumap_sysfs_is_on_bus(path))
		return dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED, "%s is not a PCI function",
					dpumap_hca_name(devinfo->hca));
	return dpumap_sysfs_func(path, func);
}

doca_error_t doca_devinfo_get_pci_func_type(const struct doca_devinfo *devinfo,
					    enum doca_pci_func_type *pci_func_type)
{
	static const enum doca_pci_func_type types[] = {
		[DPUMAP_FUNC_PF] = DOCA_PCI_FUNC_TYPE_PF,
		[DPUMAP_FUNC_VF] = DOCA_PCI_FUNC_TYPE_VF,
		[DPUMAP_FUNC_SF] = DOCA_PCI_FUNC_TYPE_SF,
	};
	struct dpumap_func func;
	doca_error_t result;

	if (!devinfo || !pci_func_type)
		return dpumap_fail_null(__func__);
	result = get_func(devinfo, &func);
	if (result == DOCA_SUCCESS)
		*pci_func_type = types[func.type];
	return result;
}

doca_error_t doca_devinfo_get_sf_index(const struct doca_devinfo *devinfo, uint32_t *sf_index)
{
	struct dpumap_func func;
	doca_error_t result;

	if (!devinfo || !sf_index)
		return dpumap_fail_null(__func__);
	result = get_func(devinfo, &func);
	if (result != DOCA_SUCCESS)
		return result;
	if (func.type != DPUMAP_FUNC_SF)
		return dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED, "%s is not a sub-function",
					dpumap_hca_name(devinfo->hca));
	*sf_index = func.sf_index;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_get_uplink_ib_port(const struct doca_devinfo *devinfo, uint32_t *ib_port)
{
	if (!devinfo || !ib_port)
		return dpumap_fail_null(__func__);
	*ib_port = UPLINK_PORT;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_get_iface_index(const struct doca_devinfo *devinfo, uint32_t *iface_index)
{
	char name[DOCA_DEVINFO_IFACE_NAME_SIZE];
	doca_error_t result;
	unsigned int index;

	if (!devinfo || !iface_index)
		return dpumap_fail_null(__func__);
	result = doca_devinfo_get_iface_name(devinfo, name, sizeof(name));
	if (result != DOCA_SUCCESS)
		return result;
	index = if_nametoindex(name);
	if (!index)
		return dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM,
				   "reading the index of interface %s failed: %s", name,
				   strerror(errno));
	*iface_index = index;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_get_data_direct_pci_dev(const struct doca_devinfo *devinfo,
						  char *pci_addr_str)
{
	if (!devinfo || !pci_addr_str)
		return dpumap_fail_null(__func__);
	return dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED,
				"%s: data direct functions are not supported",
				dpumap_hca_name(devinfo->hca));
}

static doca_error_t report_unsupported(const struct doca_devinfo *devinfo, uint8_t *cap,
				       const char *function)
{
	if (!devinfo || !cap)
		return dpumap_fail_null(function);
	*cap = 0;
	return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_cap_is_hotplug_manager_supported(const struct doca_devinfo *devinfo,
							   uint8_t *is_hotplug_manager)
{
	return report_unsupported(devinfo, is_hotplug_manager, __func__);
}

doca_error_t
doca_devinfo_cap_is_notification_moderation_supported(const struct doca_devinfo *devinfo,
						      uint8_t *is_notification_moderation_supported)
{
	return report_unsupported(devinfo, is_notification_moderation_supported, __func__);
}

doca_error_t doca_devinfo_cap_is_accelerate_resource_reclaim_supported(
	const struct doca_devinfo *devinfo, uint8_t *is_accelerate_resource_reclaim_supported)
{
	return report_unsupported(devinfo, is_accelerate_resource_reclaim_supported, __func__);
}

doca_error_t doca_dev_accelerate_resource_reclaim(struct doca_dev *dev)
{
	if (!dev)
		return dpumap_fail_null(__func__);
	return dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED,
				"%s: accelerated reclaim is not supported",
				dpumap_hca_name(dev->info.hca));
}

doca_error_t doca_devinfo_get_is_pcc_supported(const struct doca_devinfo *devinfo)
{
	if (!devinfo)
		return dpumap_fail_null(__func__);
	return dpumap_fail_info(DOCA_ERROR_NOT_SUPPORTED,
				"%s: programmable congestion control is not supported",
				dpumap_hca_name(devinfo->hca));
}
