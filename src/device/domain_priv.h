/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The fields of a parent domain, and errors of its allocator. */
#ifndef DPUMAP_DEVICE_DOMAIN_PRIV_H
#define DPUMAP_DEVICE_DOMAIN_PRIV_H

#include "device/device_priv.h"
#include "device/domain.h"

struct dpumap_domain {
	struct dpumap_device *device;
	struct dpumap_allocator allocator; /* callbacks are NULL without an allocator */
	struct ibv_td *td;		   /* NULL unless for a single thread */
	struct ibv_pd *parent;		   /* NULL if the driver does not support parent domains */
};

/* The protection domain to create queues on. */
struct ibv_pd *dpumap_domain_pd(const struct dpumap_domain *domain);

/*
 * libmlx5 does not report why an allocator failed. So clear the error before a call that allocates;
 * afterwards it is the error of the allocator in this thread, or DOCA_SUCCESS.
 */
void dpumap_domain_clear_alloc_error(void);
doca_error_t dpumap_domain_alloc_error(void);

#endif
