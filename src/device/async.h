/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Asynchronous events of an open device: it failed, or its port changed. */
#ifndef DPUMAP_DEVICE_ASYNC_H
#define DPUMAP_DEVICE_ASYNC_H

#include <dpumap/dev.h>

#include "device/device.h"

/* NOT_SUPPORTED on the user's context: the user reads its events. *fd stays the device's. */
doca_error_t dpumap_device_event_fd(const struct dpumap_device *device, int *fd);
/* Take an event. AGAIN: there is none. */
doca_error_t dpumap_device_next_event(const struct dpumap_device *device,
				      enum dpumap_dev_event *event);

#endif
