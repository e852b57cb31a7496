/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* An open device: a context and a protection domain. */
#ifndef DPUMAP_DEVICE_DEVICE_H
#define DPUMAP_DEVICE_DEVICE_H

#include <dpumap/dev.h>

#include "device/hca.h"

struct dpumap_device;

doca_error_t dpumap_device_open(struct dpumap_hca *hca, struct dpumap_device **device);
void dpumap_device_close(struct dpumap_device *device);
const struct dpumap_caps *dpumap_device_caps(const struct dpumap_device *device);

/* Asynchronous events of an open device: it failed, or its port changed. */

/* NOT_SUPPORTED on the user's context: the user reads its events. *fd stays the device's. */
doca_error_t dpumap_device_event_fd(const struct dpumap_device *device, int *fd);
/* Take an event. AGAIN: there is none. */
doca_error_t dpumap_device_next_event(const struct dpumap_device *device,
				      enum dpumap_dev_event *event);

/* The kernel context of a device as a file descriptor, by which processes share it. */

/* The caller closes *fd. */
doca_error_t dpumap_device_export_fd(const struct dpumap_device *device, int *fd);
/* fd stays the caller's; *hca is a reference. */
doca_error_t dpumap_device_import_fd(int fd, struct dpumap_hca **hca,
				     struct dpumap_device **device);

/* Devices on a protection domain of the user's. */
struct ibv_pd;

/* *hca is a reference. Closing the device leaves the protection domain as it was. */
doca_error_t dpumap_device_open_pd(struct ibv_pd *pd, bool is_limited, struct dpumap_hca **hca,
				   struct dpumap_device **device);
/* Whether memory can be neither exported nor imported with it. */
bool dpumap_device_is_limited(const struct dpumap_device *device);

struct ibv_pd *dpumap_device_pd(const struct dpumap_device *device);
/* Whether pd, a struct ibv_pd, is the protection domain of the device. */
bool dpumap_device_has_pd(const struct dpumap_device *device, const void *pd);

#endif
