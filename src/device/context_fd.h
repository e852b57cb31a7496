/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The kernel context of a device as a file descriptor, by which processes share it. */
#ifndef DPUMAP_DEVICE_CONTEXT_FD_H
#define DPUMAP_DEVICE_CONTEXT_FD_H

#include "device/device.h"

/* The caller closes *fd. */
doca_error_t dpumap_device_export_fd(const struct dpumap_device *device, int *fd);
/* fd stays the caller's; *hca is a reference. */
doca_error_t dpumap_device_import_fd(int fd, struct dpumap_hca **hca,
				     struct dpumap_device **device);

#endif
