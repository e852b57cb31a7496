/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A queue of copies: a completion queue and a reliable queue pair, which is connected to itself. */
#ifndef DPUMAP_DEVICE_QUEUE_QUEUE_H
#define DPUMAP_DEVICE_QUEUE_QUEUE_H

#include <dpumap/dma.h>

#include "device/memory/region.h"
#include "device/queue/events.h"

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

struct dpumap_queue_attr {
	struct dpumap_domain *domain; /* NULL for the device's default */
	uint32_t depth;		      /* copies in flight */
	struct dpumap_events *events; /* NULL if the queue is only polled */
	uint32_t vector;	      /* below dpumap_device_num_vectors() */
};

/* DOCA_ERROR_NOT_SUPPORTED if the device has no queues of copies. */
doca_error_t dpumap_queue_check_copies(const struct dpumap_device *device);
doca_error_t dpumap_queue_create(struct dpumap_device *device, const struct dpumap_queue_attr *attr,
				 struct dpumap_queue **queue);
doca_error_t dpumap_queue_destroy(struct dpumap_queue *queue);
enum dpumap_dma_engine dpumap_queue_engine(const struct dpumap_queue *queue);
uint64_t dpumap_queue_max_len(const struct dpumap_queue *queue);

/* Post a copy; DOCA_ERROR_AGAIN, without a message, if `depth` copies are in flight. */
doca_error_t dpumap_queue_post(struct dpumap_queue *queue, const struct dpumap_copy *copy);
/* As dpumap_queue_post(), but the doorbell rings at the next dpumap_queue_flush(). */
doca_error_t dpumap_queue_post_later(struct dpumap_queue *queue, const struct dpumap_copy *copy);
doca_error_t dpumap_queue_flush(struct dpumap_queue *queue);
/* Whether the queue is in error: posted work is flushed, and posting fails. */
bool dpumap_queue_has_failed(const struct dpumap_queue *queue);
doca_error_t dpumap_queue_poll(struct dpumap_queue *queue, struct dpumap_dma_completion *out,
			       uint32_t max, uint32_t *n);
doca_error_t dpumap_queue_reset(struct dpumap_queue *queue);
/*
 * Request an event for the next completion. A completion that arrived earlier need not raise one:
 * poll again afterwards.
 */
doca_error_t dpumap_queue_arm(struct dpumap_queue *queue);

#endif
