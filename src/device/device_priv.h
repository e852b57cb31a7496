/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The fields of an open device. */
#ifndef DPUMAP_DEVICE_DEVICE_PRIV_H
#define DPUMAP_DEVICE_DEVICE_PRIV_H

#include <infiniband/verbs.h>

#include "device/device.h"

#define DPUMAP_DEVICE_PORT  1
#define DPUMAP_LOG_MTU_BASE 7 /* enum ibv_mtu counts from 256 bytes as 1 */

struct dpumap_domain;

struct dpumap_device {
	struct dpumap_hca *hca;
	struct ibv_context *context;
	struct ibv_pd *pd;
	bool user_pd; /* context and protection domain belong to the user */
	bool is_limited;
	uint32_t pdn;
	struct dpumap_domain *domain; /* of queues without a domain of their own */
	struct dpumap_caps caps;
	struct ibv_device_attr attr;
};

/* Make a device of an open context. Takes the context over on success only. */
doca_error_t dpumap_device_create(struct dpumap_hca *hca, struct ibv_context *context, bool devx,
				  struct dpumap_device **device);

/* Find the number of device->pd, on mlx5, and create the default domain of queues. */
doca_error_t dpumap_device_init_pd(struct dpumap_device *device);

/* The number by which the firmware knows a protection domain; on mlx5 only. */
doca_error_t dpumap_device_find_pdn(const struct dpumap_device *device, struct ibv_pd *pd,
				    uint32_t *pdn);

/* Open the kernel context that a file descriptor stands for; fd stays the caller's. */
doca_error_t dpumap_context_import(int fd, struct ibv_context **context);

#endif
