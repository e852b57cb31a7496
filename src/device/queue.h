/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A queue of copies on the device: a completion queue and a reliable QP connected to itself. Or one
 * of transfers to and from a peer: the QP is then connected to it by device/rdma.h.
 */
#ifndef DPUMAP_DEVICE_QUEUE_H
#define DPUMAP_DEVICE_QUEUE_H

#include <dpumap/dma.h>

#include "device/events.h"
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

/* Between memory here and that of a peer. */
struct dpumap_transfer {
	bool is_read; /* from the peer; else to it */
	const struct dpumap_region *local;
	uint64_t local_addr;
	uint32_t peer_key;
	uint64_t peer_addr;
	size_t len; /* 1 to the maximum of the queue */
};

struct dpumap_queue_attr {
	struct dpumap_domain *domain; /* of the device; NULL for its own */
	uint32_t depth;		      /* copies in flight */
	struct dpumap_events *events; /* NULL: it is only polled */
	uint32_t vector;	      /* below dpumap_device_num_vectors() */
	bool to_peer;		      /* for transfers; it is not connected to anything yet */
};

/* Before a queue that is not to_peer: DOCA_ERROR_NOT_SUPPORTED if the device has none. */
doca_error_t dpumap_queue_check_copies(const struct dpumap_device *device);
doca_error_t dpumap_queue_create(struct dpumap_device *device, const struct dpumap_queue_attr *attr,
				 struct dpumap_queue **queue);
doca_error_t dpumap_queue_destroy(struct dpumap_queue *queue);
enum dpumap_dma_engine dpumap_queue_engine(const struct dpumap_queue *queue);
uint64_t dpumap_queue_max_len(const struct dpumap_queue *queue);

/* DOCA_ERROR_AGAIN, without a line in the log, when as many as the depth are in flight. */
doca_error_t dpumap_queue_post(struct dpumap_queue *queue, const struct dpumap_copy *copy);
/* As dpumap_queue_post(), but the device hears of it with the next dpumap_queue_flush(). */
doca_error_t dpumap_queue_post_later(struct dpumap_queue *queue, const struct dpumap_copy *copy);
/* The same on a queue to a peer. */
doca_error_t dpumap_queue_transfer_later(struct dpumap_queue *queue,
					 const struct dpumap_transfer *transfer);
doca_error_t dpumap_queue_flush(struct dpumap_queue *queue);
/* It is in error: what was posted is flushed, nothing can be posted. */
bool dpumap_queue_has_failed(const struct dpumap_queue *queue);
doca_error_t dpumap_queue_poll(struct dpumap_queue *queue, struct dpumap_dma_completion *out,
			       uint32_t max, uint32_t *n);
doca_error_t dpumap_queue_reset(struct dpumap_queue *queue);
/* An event at the next completion. One that is there need not be told of: poll for it then. */
doca_error_t dpumap_queue_arm(struct dpumap_queue *queue);

#endif
