/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the files of this room know of an open device, and nobody else.
 */
#ifndef DPUMAP_DEVICE_DEVICE_H
#define DPUMAP_DEVICE_DEVICE_H

#include <infiniband/verbs.h>

#include "device/hca.h"

#define DPUMAP_DEVICE_PORT 1

struct dpumap_device {
	struct dpumap_hca *hca;
	struct ibv_context *context;
	struct ibv_pd *pd;
	uint32_t pdn;
	struct dpumap_caps caps;
	struct ibv_device_attr attr;
};

/* Open without a protection domain; with DEVX where the device and the kernel have it. */
struct ibv_context *dpumap_context_open(struct ibv_device *ibdev, bool *devx);

doca_error_t dpumap_caps_query(struct ibv_context *context, bool devx, struct dpumap_caps *caps,
			       struct ibv_device_attr *attr);

#endif
