/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The device that the doctor checks. */
#ifndef DPUMAP_DOCTOR_DEVICE_H
#define DPUMAP_DOCTOR_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#include <doca_dev.h>

#include "doctor/doctor.h"

/* A device in libibverbs and in the library. */
struct device {
	struct ibv_device **list;
	struct doca_devinfo **infos; /* devices that the library supports */
	struct ibv_device *ibdev;    /* the device to check; NULL: none */
	struct doca_devinfo *info;   /* the same; NULL if the library does not support it */
	struct ibv_context *context;
	struct ibv_device_attr_ex attr;
	struct ibv_port_attr port;
	int num;
	uint32_t num_infos;
	bool is_mlx5;
	bool devx;
	bool has_attr;
	bool has_port;
};

/* Selects the device that the agent would use. */
void doctor_device_list(struct device *device);
void doctor_device_choose(struct device *device, const struct dpumap_doctor_options *options);
bool doctor_device_open(struct device *device);
void doctor_device_close(struct device *device);
const char *doctor_device_name(const struct device *device);

#endif
