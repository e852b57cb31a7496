/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <doca_rdma.h>
#include <dpumap/dev.h>

#include "common/device.h"

doca_error_t dpumap_device_can_connect(const struct doca_devinfo *devinfo, uint8_t *supported)
{
	doca_error_t result = doca_rdma_cap_task_read_is_supported(devinfo);

	if (result == DOCA_SUCCESS)
		result = doca_rdma_cap_task_write_is_supported(devinfo);
	if (result != DOCA_SUCCESS && result != DOCA_ERROR_NOT_SUPPORTED)
		return result;
	*supported = result == DOCA_SUCCESS;
	return DOCA_SUCCESS;
}

static bool is_called(const struct doca_devinfo *info, const char *which)
{
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	uint8_t equal = 0;

	if (doca_devinfo_get_ibdev_name(info, name, sizeof(name)) == DOCA_SUCCESS &&
	    strcmp(name, which) == 0)
		return true;
	return strchr(which, ':') &&
	       doca_devinfo_is_equal_pci_addr(info, which, &equal) == DOCA_SUCCESS && equal;
}

static bool is_able(const struct doca_devinfo *info, dpumap_device_cap *cap)
{
	uint8_t supported = 0;

	return cap(info, &supported) == DOCA_SUCCESS && supported;
}

static struct doca_devinfo *choose(struct doca_devinfo **list, uint32_t n, const char *which,
				   dpumap_device_cap *cap)
{
	for (uint32_t i = 0; i < n; i++) {
		if (which ? is_called(list[i], which) : is_able(list[i], cap))
			return list[i];
	}
	return NULL;
}

static doca_error_t open_info(struct doca_devinfo *info, dpumap_device_cap *cap, const char *doing,
			      struct dpumap_device *device, struct dpumap_fault *fault)
{
	doca_error_t result;

	result = doca_devinfo_get_ibdev_name(info, device->name, sizeof(device->name));
	if (result != DOCA_SUCCESS)
		return dpumap_fault_doca(fault, result, "cannot query the name of a device");
	if (!is_able(info, cap))
		return dpumap_fault_set(fault, DOCA_ERROR_NOT_SUPPORTED, "device %s cannot %s",
					device->name, doing);
	result = doca_dev_open(info, &device->dev);
	if (result != DOCA_SUCCESS)
		return dpumap_fault_doca(fault, result, "cannot open device %s", device->name);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_device_open(const char *which, dpumap_device_cap *cap, const char *doing,
				struct dpumap_device *device, struct dpumap_fault *fault)
{
	struct doca_devinfo **list;
	struct doca_devinfo *info;
	doca_error_t result;
	uint32_t n;

	result = doca_devinfo_create_list(&list, &n);
	if (result == DOCA_ERROR_NOT_FOUND)
		return dpumap_fault_set(fault, result, "no RDMA device found; see %s doctor",
					program_invocation_short_name);
	if (result != DOCA_SUCCESS)
		return dpumap_fault_doca(fault, result, "cannot list the devices");
	info = choose(list, n, which, cap);
	if (info)
		result = open_info(info, cap, doing, device, fault);
	else if (which)
		result = dpumap_fault_set(fault, DOCA_ERROR_NOT_FOUND,
					  "device %s not found among %u devices", which, n);
	else
		result = dpumap_fault_set(fault, DOCA_ERROR_NOT_SUPPORTED,
					  "none of the %u devices found can %s; see %s doctor", n,
					  doing, program_invocation_short_name);
	doca_devinfo_destroy_list(list);
	return result;
}

doca_error_t dpumap_device_open_own(const struct dpumap_device *other, struct dpumap_device *device,
				    struct dpumap_fault *fault)
{
	doca_error_t result;

	*device = *other;
	device->dev = NULL;
	result = dpumap_dev_open_own(doca_dev_as_devinfo(other->dev), &device->dev);
	if (result != DOCA_SUCCESS)
		return dpumap_fault_doca(fault, result, "cannot open device %s again", other->name);
	return DOCA_SUCCESS;
}
