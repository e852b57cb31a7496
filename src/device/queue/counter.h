/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Access to a counter of 8 bytes by the device: read, write, and fetch-and-add. Additions of all
 * functions of the card are atomic among each other, which those of a processor need not be. The
 * requests go through a pair of queue pairs of the device.
 */
#ifndef DPUMAP_DEVICE_QUEUE_COUNTER_H
#define DPUMAP_DEVICE_QUEUE_COUNTER_H

#include "device/memory/region.h"
#include "device/queue/events.h"

struct dpumap_counter;

enum dpumap_counter_kind {
	DPUMAP_COUNTER_READ,
	DPUMAP_COUNTER_WRITE,
	DPUMAP_COUNTER_ADD,
};

/* A request. It belongs to the counter while is_posted. */
struct dpumap_counter_op {
	enum dpumap_counter_kind kind;
	bool is_posted;
	doca_error_t status; /* afterwards */
	/* What to write or to add; afterwards what was read, or what was there before the addition. */
	uint64_t value;
};

struct dpumap_counter_attr {
	const struct dpumap_region *region; /* registered or imported; must exist as long */
	uint64_t addr;			    /* a multiple of 8 */
	struct dpumap_events *events;	    /* NULL if the counter is only polled */
	uint32_t vector;		    /* below dpumap_device_num_vectors() */
};

doca_error_t dpumap_counter_create(struct dpumap_device *device,
				   const struct dpumap_counter_attr *attr,
				   struct dpumap_counter **counter);
/* Requests that are posted end without a result. On failure call again. */
doca_error_t dpumap_counter_destroy(struct dpumap_counter *counter);

/*
 * Post a request. DOCA_ERROR_AGAIN, without a message: poll first. Requests are executed in the order
 * in which they were posted.
 */
doca_error_t dpumap_counter_post(struct dpumap_counter *counter, struct dpumap_counter_op *op);

/* End the requests that have completed. A device that does not answer fails them after a time. */
void dpumap_counter_poll(struct dpumap_counter *counter);

/*
 * Post a request and poll until it has completed. DOCA_ERROR_NOT_PERMITTED: the memory does not permit
 * it, or its export has ended. DOCA_ERROR_IO_FAILED: the device failed. The same are its status.
 */
doca_error_t dpumap_counter_execute(struct dpumap_counter *counter, struct dpumap_counter_op *op);

/*
 * Request an event for the next completion. A completion that arrived earlier need not raise one:
 * poll again afterwards.
 */
doca_error_t dpumap_counter_arm(struct dpumap_counter *counter);

#endif
