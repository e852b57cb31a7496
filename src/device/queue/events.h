/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Completion events of a device, for any number of its queues. The file descriptor is non-blocking
 * and readable while there are events.
 */
#ifndef DPUMAP_DEVICE_QUEUE_EVENTS_H
#define DPUMAP_DEVICE_QUEUE_EVENTS_H

#include "device/device.h"

struct dpumap_events;

doca_error_t dpumap_events_create(struct dpumap_device *device, struct dpumap_events **events);
/* To be called after all queues were destroyed. */
void dpumap_events_destroy(struct dpumap_events *events);
int dpumap_events_fd(const struct dpumap_events *events);

/* Read one event if there is one. */
doca_error_t dpumap_events_take(struct dpumap_events *events);

uint32_t dpumap_device_num_vectors(const struct dpumap_device *device);

#endif
