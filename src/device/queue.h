/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A queue of copies on the device: a completion queue and a reliable QP connected to itself.
 */
#ifndef DPUMAP_DEVICE_QUEUE_H
#define DPUMAP_DEVICE_QUEUE_H

#include <dpumap/dma.h>

#include "device/region.h"

struct dpumap_domain;
struct dpumap_queue;

struct dpumap_copy {
	const struct dpumap_region *dst;
	uint64_t dst_addr;
	const struct dpumap_region *src;
	uint64_t src_addr;
	size_t len; /* 1 to the maximum of the queue */
	union doca_data user_data;
};

/* On a domain of the device; NULL for the device's own. */
doca_error_t dpumap_queue_create(struct dpumap_device *device, struct dpumap_domain *domain,
				 uint32_t depth, struct dpumap_queue **queue);
doca_error_t dpumap_queue_destroy(struct dpumap_queue *queue);
enum dpumap_dma_engine dpumap_queue_engine(const struct dpumap_queue *queue);
uint64_t dpumap_queue_max_len(const struct dpumap_queue *queue);
doca_error_t dpumap_queue_post(struct dpumap_queue *queue, const struct dpumap_copy *copy);
doca_error_t dpumap_queue_poll(struct dpumap_queue *queue, struct dpumap_dma_completion *out,
			       uint32_t max, uint32_t *n);
doca_error_t dpumap_queue_reset(struct dpumap_queue *queue);

#endif
