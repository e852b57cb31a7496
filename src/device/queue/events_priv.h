/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The fields of the completion events of a device. */
#ifndef DPUMAP_DEVICE_QUEUE_EVENTS_PRIV_H
#define DPUMAP_DEVICE_QUEUE_EVENTS_PRIV_H

#include <infiniband/verbs.h>

/* The cq_context of a completion queue is a pointer to a uint32_t that counts its events. */
struct dpumap_events {
	struct dpumap_device *device;
	struct ibv_comp_channel *channel;
};

#endif
