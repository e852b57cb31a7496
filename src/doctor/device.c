/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "doctor/device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include <doca_mmap.h>

static bool is_called(const struct doca_devinfo *info, const char *name)
{
	char own[DOCA_DEVINFO_IBDEV_NAME_SIZE];

	return doca_devinfo_get_ibdev_name(info, own, sizeof(own)) == DOCA_SUCCESS &&
	       strcmp(own, name) == 0;
}

static bool has_address(const struct doca_devinfo *info, const char *which)
{
	uint8_t equal = 0;

	return strchr(which, ':') &&
	       doca_devinfo_is_equal_pci_addr(info, which, &equal) == DOCA_SUCCESS && equal;
}

void doctor_device_list(struct device *device)
{
	device->list = ibv_get_device_list(&device->num);
	if (!device->list)
		device->num = 0;
	if (doca_devinfo_create_list(&device->infos, &device->num_infos) != DOCA_SUCCESS) {
		device->infos = NULL;
		device->num_infos = 0;
	}
}

static struct doca_devinfo *find_info(const struct device *device, const char *name)
{
	for (uint32_t i = 0; i < device->num_infos; i++)
		if (is_called(device->infos[i], name))
			return device->infos[i];
	return NULL;
}

static void take(struct device *device, struct ibv_device *ibdev)
{
	device->ibdev = ibdev;
	device->is_mlx5 = mlx5dv_is_supported(ibdev);
	device->info = find_info(device, ibv_get_device_name(ibdev));
}

static void take_called(struct device *device, const char *which)
{
	for (int i = 0; i < device->num && !device->ibdev; i++) {
		const char *name = ibv_get_device_name(device->list[i]);
		const struct doca_devinfo *info = find_info(device, name);

		if (strcmp(name, which) == 0 || (info && has_address(info, which)))
			take(device, device->list[i]);
	}
}

static bool is_able(const struct doca_devinfo *info, enum dpumap_doctor_side side)
{
	uint8_t able = 0;
	doca_error_t result =
		side == DPUMAP_DOCTOR_HOST
			? doca_mmap_cap_is_create_from_export_pci_supported(info, &able)
			: doca_mmap_cap_is_export_pci_supported(info, &able);

	return result == DOCA_SUCCESS && able;
}

static void take_able(struct device *device, enum dpumap_doctor_side side)
{
	for (int i = 0; i < device->num && !device->ibdev; i++) {
		const struct doca_devinfo *info =
			find_info(device, ibv_get_device_name(device->list[i]));

		if (info && is_able(info, side))
			take(device, device->list[i]);
	}
}

static void take_any(struct device *device)
{
	for (int i = 0; i < device->num && !device->ibdev; i++)
		if (mlx5dv_is_supported(device->list[i]))
			take(device, device->list[i]);
	if (!device->ibdev && device->num)
		take(device, device->list[0]);
}

void doctor_device_choose(struct device *device, const struct dpumap_doctor_options *options)
{
	if (options->device) {
		take_called(device, options->device);
		return;
	}
	take_able(device, options->side);
	if (!device->ibdev)
		take_any(device);
}

const char *doctor_device_name(const struct device *device)
{
	return ibv_get_device_name(device->ibdev);
}

bool doctor_device_open(struct device *device)
{
	struct mlx5dv_context_attr attr = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};

	if (device->is_mlx5)
		device->context = mlx5dv_open_device(device->ibdev, &attr);
	device->devx = device->context != NULL;
	if (!device->context)
		device->context = ibv_open_device(device->ibdev);
	return device->context != NULL;
}

void doctor_device_close(struct device *device)
{
	if (device->context)
		ibv_close_device(device->context);
	if (device->infos)
		doca_devinfo_destroy_list(device->infos);
	if (device->list)
		ibv_free_device_list(device->list);
	*device = (struct device){0};
}
