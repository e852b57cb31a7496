/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Properties and limits of message queues: device/queue/message_queue.h. */
#ifndef DPUMAP_DEVICE_QUEUE_MESSAGE_ATTR_H
#define DPUMAP_DEVICE_QUEUE_MESSAGE_ATTR_H

#include "device/queue/events.h"

#define DPUMAP_MQ_MAX_HEADER 48u

struct dpumap_mq_attr {
	uint32_t depth;	     /* messages posted and not completed; a power of two is best */
	uint32_t header_len; /* multiple of 8 to DPUMAP_MQ_MAX_HEADER; equal on both ends */
	struct dpumap_events *events; /* NULL if the queue is only polled */
	uint32_t vector;	      /* below dpumap_device_num_vectors() */
};

/* DOCA_ERROR_NOT_SUPPORTED if the device has no message queues. Logged. */
doca_error_t dpumap_mq_check(const struct dpumap_device *device);
/* Largest depth of a queue; 0 if the device has no message queues. */
uint32_t dpumap_mq_max_depth(const struct dpumap_device *device);
/* Longest data of a message; 0 if the device has no message queues. */
uint32_t dpumap_mq_max_len(const struct dpumap_device *device);

/* DOCA_ERROR_NOT_SUPPORTED as above, or DOCA_ERROR_INVALID_VALUE. */
doca_error_t dpumap_mq_attr_check(const struct dpumap_device *device,
				  const struct dpumap_mq_attr *attr);

#endif
