/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_DEVICE_QUEUE_LINK_H
#define DPUMAP_DEVICE_QUEUE_LINK_H

#include "device/device.h"

/* Take a QP from RESET to RTS, connected to itself through port 1. */
doca_error_t dpumap_queue_link(const struct dpumap_device *device, struct ibv_qp *qp,
			       const struct ibv_port_attr *port);

/* Any state to RESET; abandons what was posted. */
doca_error_t dpumap_queue_unlink(const struct dpumap_device *device, struct ibv_qp *qp);

doca_error_t dpumap_queue_query_port(const struct dpumap_device *device,
				     struct ibv_port_attr *port);

#endif
