/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Parent domains, on which queues are created. */
#ifndef DPUMAP_DEVICE_DOMAIN_H
#define DPUMAP_DEVICE_DOMAIN_H

#include <stdbool.h>

#include <dpumap/parent_domain.h>

#include "device/device.h"

struct dpumap_domain;

/* allocator is copied; NULL for libmlx5's own memory. */
doca_error_t dpumap_domain_create(struct dpumap_device *device,
				  const struct dpumap_allocator *allocator, bool single_thread,
				  struct dpumap_domain **domain);
/* For queues without a domain of their own. Works with drivers without parent domains. */
doca_error_t dpumap_domain_create_default(struct dpumap_device *device,
					  struct dpumap_domain **domain);
/* On failure the domain stays, without what could be destroyed; call again. */
doca_error_t dpumap_domain_destroy(struct dpumap_domain *domain);

#endif
