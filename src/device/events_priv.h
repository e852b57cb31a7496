/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_DEVICE_EVENTS_PRIV_H
#define DPUMAP_DEVICE_EVENTS_PRIV_H

#include <infiniband/verbs.h>

/* The context of a completion queue with events is the uint32_t that counts them. */
struct dpumap_events {
	struct dpumap_device *device;
	struct ibv_comp_channel *channel;
};

#endif
