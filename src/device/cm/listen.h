/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Listeners. */
#ifndef DPUMAP_DEVICE_CM_LISTEN_H
#define DPUMAP_DEVICE_CM_LISTEN_H

#include "device/cm/id.h"
#include "device/gid.h"

/*
 * Listen at address; if it is NULL, at the IP address of gid_index, or, with DPUMAP_GID_ANY, at all
 * IP addresses that the port of the device has now. port: in host byte order; 0: a free one. backlog:
 * how many requests wait at most.
 * DOCA_ERROR_IN_USE: the port is taken. DOCA_ERROR_NOT_FOUND: the address is not the device's.
 */
doca_error_t dpumap_cm_listen(struct dpumap_cm *cm, const struct sockaddr_storage *address,
			      int gid_index, uint16_t port, int backlog, struct dpumap_cm_id **id);

#endif
