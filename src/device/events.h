/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Completion events of a device, for any number of its queues. The file descriptor is readable
 * while there are some and never blocks.
 */
#ifndef DPUMAP_DEVICE_EVENTS_H
#define DPUMAP_DEVICE_EVENTS_H

#include "device/hca.h"

struct dpumap_events;

doca_error_t dpumap_events_create(struct dpumap_device *device, struct dpumap_events **events);
/* No queue uses them any more. */
void dpumap_events_destroy(struct dpumap_events *events);
int dpumap_events_fd(const struct dpumap_events *events);

/* Take one event if there is one. */
doca_error_t dpumap_events_take(struct dpumap_events *events);

uint32_t dpumap_device_num_vectors(const struct dpumap_device *device);

#endif
