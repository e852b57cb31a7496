/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "common/device.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <doca_rdma.h>
#include <dpumap/dev.h>

#define DEVICES_NAMED_MAX 4

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
			      struct dpumap_device *device, struct dpumap_error *error)
{
	doca_error_t result;

	result = doca_devinfo_get_ibdev_name(info, device->name, sizeof(device->name));
	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(error, result, "cannot query the name of a device");
	if (!is_able(info, cap)) {
		if (dpumap_error_is_limit(error, doing))
			return error->code;
		dpumap_error_set(error, DOCA_ERROR_NOT_SUPPORTED, "device %s cannot %s",
				 device->name, doing);
		return dpumap_error_see_doctor(error);
	}
	result = doca_dev_open(info, &device->dev);
	if (result != DOCA_SUCCESS) {
		dpumap_error_doca(error, result, "cannot open device %s", device->name);
		return dpumap_error_see_doctor(error);
	}
	return DOCA_SUCCESS;
}

/* The devices that there are, as "mlx5_0 (0000:03:00.0), mlx5_1 (0000:03:00.1)". */
static void name_devices(struct doca_devinfo **list, uint32_t n, char *text, size_t size)
{
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE], pci[DOCA_DEVINFO_PCI_ADDR_SIZE];
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < n && used < size; i++) {
		if (i == DEVICES_NAMED_MAX) {
			snprintf(text + used, size - used, " and %u others", n - i);
			return;
		}
		if (doca_devinfo_get_ibdev_name(list[i], name, sizeof(name)) != DOCA_SUCCESS ||
		    doca_devinfo_get_pci_addr_str(list[i], pci) != DOCA_SUCCESS)
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%s (%s)", i ? ", " : "", name,
					 pci);
	}
}

static doca_error_t none_found(struct doca_devinfo **list, uint32_t n, const char *which,
			       const char *doing, struct dpumap_error *error)
{
	char names[200];

	if (dpumap_error_is_limit(error, "use the RDMA devices"))
		return error->code;
	name_devices(list, n, names, sizeof(names));
	if (n == 0)
		dpumap_error_set(error, DOCA_ERROR_NOT_FOUND, "this machine has no RDMA device");
	else if (which)
		dpumap_error_set(error, DOCA_ERROR_NOT_FOUND,
				 "device %.32s not found; this machine has %s", which, names);
	else
		dpumap_error_set(error, DOCA_ERROR_NOT_SUPPORTED,
				 "no device of this machine can %s; it has %s", doing, names);
	return dpumap_error_see_doctor(error);
}

doca_error_t dpumap_device_open(const char *which, dpumap_device_cap *cap, const char *doing,
				struct dpumap_device *device, struct dpumap_error *error)
{
	struct doca_devinfo **list;
	struct doca_devinfo *info;
	doca_error_t result;
	uint32_t n;

	result = doca_devinfo_create_list(&list, &n);
	if (result == DOCA_ERROR_NOT_FOUND)
		return none_found(NULL, 0, which, doing, error);
	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(error, result, "cannot list the devices");
	info = choose(list, n, which, cap);
	if (info)
		result = open_info(info, cap, doing, device, error);
	else
		result = none_found(list, n, which, doing, error);
	doca_devinfo_destroy_list(list);
	return result;
}

doca_error_t dpumap_device_open_own(const struct dpumap_device *other, struct dpumap_device *device,
				    struct dpumap_error *error)
{
	doca_error_t result;

	*device = *other;
	device->dev = NULL;
	result = dpumap_dev_open_own(doca_dev_as_devinfo(other->dev), &device->dev);
	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(error, result, "cannot open device %s again", other->name);
	return DOCA_SUCCESS;
}
