/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_DEVICE_DOMAIN_PRIV_H
#define DPUMAP_DEVICE_DOMAIN_PRIV_H

#include "device/device.h"
#include "device/domain.h"

struct dpumap_domain {
	struct dpumap_device *device;
	struct dpumap_allocator allocator; /* no callbacks without */
	struct ibv_td *td;		   /* NULL unless for a single thread */
	struct ibv_pd *parent;		   /* NULL where the driver has none */
};

/* What queues are created on. */
struct ibv_pd *dpumap_domain_pd(const struct dpumap_domain *domain);

/*
 * libmlx5 does not pass on why an allocator failed, not even in errno. Forget before a call that
 * allocates; afterwards this is what the allocator did wrong in this thread, or DOCA_SUCCESS.
 */
void dpumap_domain_forget_refusal(void);
doca_error_t dpumap_domain_refusal(void);

#endif
