/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the files of this room know of an open device, and nobody else.
 */
#ifndef DPUMAP_DEVICE_DEVICE_H
#define DPUMAP_DEVICE_DEVICE_H

#include <infiniband/verbs.h>

#include "device/hca.h"

#define DPUMAP_DEVICE_PORT 1

struct dpumap_domain;
#define DPUMAP_DM_LOG_LINE 6u /* the driver gives device memory by lines of 64 bytes */

struct dpumap_device {
	struct dpumap_hca *hca;
	struct ibv_context *context;
	struct ibv_pd *pd;
	bool borrowed; /* context and protection domain are the user's */
	uint32_t pdn;
	struct dpumap_domain *domain; /* of queues that have none of their own */
	struct dpumap_caps caps;
	struct ibv_device_attr attr;
};

bool dpumap_ibdev_is_mlx5(struct ibv_device *ibdev);
bool dpumap_hca_has(const struct dpumap_hca *hca, const struct ibv_device *ibdev);

/* Make a device of an open context, which it owns from then on. On failure it is the caller's. */
doca_error_t dpumap_device_set_up(struct dpumap_hca *hca, struct ibv_context *context, bool devx,
				  struct dpumap_device **device);

/* Open without a protection domain; with DEVX where the device and the kernel have it. */
struct ibv_context *dpumap_context_open(struct ibv_device *ibdev, bool *devx);

/* The same of a listed device; logs why it does not open. */
struct ibv_context *dpumap_hca_open_context(const struct dpumap_hca *hca, bool *devx);

/* Learn the number of the protection domain, on mlx5, and make the domain of its queues. */
doca_error_t dpumap_device_adopt_pd(struct dpumap_device *device);

doca_error_t dpumap_caps_query(struct ibv_context *context, bool devx, struct dpumap_caps *caps,
			       struct ibv_device_attr *attr);

#endif
