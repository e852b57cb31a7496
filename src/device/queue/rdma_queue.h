/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What all connections of an RDMA context share: one completion queue and, to receive messages, one
 * shared receive queue. Each connection has a queue pair on it (device/queue/rdma_qp.h). On any RDMA
 * device. One thread at a time may use the queue together with its queue pairs.
 */
#ifndef DPUMAP_DEVICE_QUEUE_RDMA_QUEUE_H
#define DPUMAP_DEVICE_QUEUE_RDMA_QUEUE_H

#include <doca_types.h>

#include "device/memory/region.h"
#include "device/queue/events.h"

struct dpumap_rdma_queue;

struct dpumap_rdma_queue_attr {
	uint32_t num_sends;	  /* work requests of all connections at a time; not 0 */
	uint32_t num_recvs;	  /* receives at a time; 0: nothing is received */
	uint32_t max_recv_pieces; /* of one receive; not used if num_recvs is 0 */
	uint16_t max_qps;	  /* that exist at a time; not 0 */
	struct dpumap_events *events;
	uint32_t vector; /* below dpumap_device_num_vectors() */
};

/* Bytes in registered memory. */
struct dpumap_rdma_piece {
	uint64_t addr; /* as the key counts */
	uint32_t len;
	uint32_t key;
};

struct dpumap_rdma_piece dpumap_rdma_piece(const struct dpumap_region *region, uint64_t addr,
					   size_t len);

enum dpumap_rdma_received {
	DPUMAP_RDMA_RECEIVED_SEND,
	DPUMAP_RDMA_RECEIVED_SEND_IMM,
	DPUMAP_RDMA_RECEIVED_WRITE_IMM,
};

/* One completion. */
struct dpumap_rdma_done {
	/*
	 * Of the queue pair; all its work requests with lower numbers have completed too. NULL for a
	 * receive that dpumap_rdma_queue_stop() has ended.
	 */
	void *owner;
	void *cookie; /* of a receive */
	/*
	 * DOCA_ERROR_SHUTDOWN: flushed. DOCA_ERROR_NOT_PERMITTED: a key or the connection does not
	 * permit it. DOCA_ERROR_INVALID_VALUE: a message is longer than its receive; or, not of a
	 * message, the peer refuses such a request. DOCA_ERROR_CONNECTION_ABORTED: the peer does not
	 * answer. DOCA_ERROR_DRIVER: this and earlier work requests did not reach the device.
	 * DOCA_ERROR_IO_FAILED: others. After a failure the queue pair only flushes.
	 */
	doca_error_t status;
	/* The result of work requests with lower numbers that no earlier completion covers: DOCA_SUCCESS or flushed. */
	doca_error_t before;
	uint32_t number; /* of the work request, if not is_receive */
	bool is_receive;
	/* The following of a receive with DOCA_SUCCESS. */
	enum dpumap_rdma_received kind;
	uint32_t len; /* bytes that arrived in its pieces, or by the write */
	uint32_t imm; /* as the peer's program has it in memory */
};

doca_error_t dpumap_rdma_queue_create(struct dpumap_device *device,
				      const struct dpumap_rdma_queue_attr *attr,
				      struct dpumap_rdma_queue **queue);

/*
 * Post a receive for one message of any connection. DOCA_ERROR_AGAIN, without a message, if
 * `num_recvs` receives are posted.
 */
doca_error_t dpumap_rdma_queue_receive(struct dpumap_rdma_queue *queue,
				       const struct dpumap_rdma_piece *pieces, uint32_t num_pieces,
				       void *cookie);

/* Let the device read the work requests that were posted on all queue pairs. */
void dpumap_rdma_queue_flush(struct dpumap_rdma_queue *queue);

/* Take up to max completions; *n says how many. A failure means that none will follow. */
doca_error_t dpumap_rdma_queue_poll(struct dpumap_rdma_queue *queue, struct dpumap_rdma_done *done,
				    uint32_t max, uint32_t *n);

/*
 * Request an event for the next completion. A completion that arrived earlier need not raise one:
 * poll again afterwards.
 */
doca_error_t dpumap_rdma_queue_arm(struct dpumap_rdma_queue *queue);

/*
 * Stop the device's access to the posted receives; to be called after all queue pairs were
 * destroyed. dpumap_rdma_queue_poll() then returns what has completed, and after it the remaining
 * receives in posting order, with DOCA_ERROR_SHUTDOWN. On failure call again.
 */
doca_error_t dpumap_rdma_queue_stop(struct dpumap_rdma_queue *queue);
/* Also stops. On failure the object stays, without what could be destroyed; call again. */
doca_error_t dpumap_rdma_queue_destroy(struct dpumap_rdma_queue *queue);

#endif
