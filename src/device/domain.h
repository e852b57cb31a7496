/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What queues are created on: a parent domain over the device's protection domain.
 */
#ifndef DPUMAP_DEVICE_DOMAIN_H
#define DPUMAP_DEVICE_DOMAIN_H

#include <stdbool.h>

#include <dpumap/parent_domain.h>

#include "device/hca.h"

struct dpumap_domain;

/* allocator is copied; NULL for the memory of libmlx5. */
doca_error_t dpumap_domain_create(struct dpumap_device *device,
				  const struct dpumap_allocator *allocator, bool single_thread,
				  struct dpumap_domain **domain);
/* Of queues that have none of their own: a driver without parent domains takes what it has. */
doca_error_t dpumap_domain_create_default(struct dpumap_device *device,
					  struct dpumap_domain **domain);
/* On failure the domain is still there, without what could be destroyed; call again. */
doca_error_t dpumap_domain_destroy(struct dpumap_domain *domain);

#endif
