/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Connections by address, with the kernel's connection manager. This room is the only one that calls
 * librdmacm.
 *
 * A manager is an event channel for one device. It has ids: each id is a listener or one end of a
 * connection. The queue pairs stay the caller's: the manager takes them from RESET or INIT to RTS.
 *
 * No function waits for the peer. Only one thread at a time may use a manager and its ids.
 */
#ifndef DPUMAP_DEVICE_CM_CM_H
#define DPUMAP_DEVICE_CM_CM_H

#include <sys/socket.h>

#include "device/device.h"
#include "device/gid.h"

struct dpumap_cm;
struct dpumap_cm_id;

/*
 * DOCA_ERROR_NOT_SUPPORTED: this machine has no connection manager (module rdma_ucm).
 * DOCA_ERROR_NOT_PERMITTED: the process may not open it.
 * DOCA_ERROR_NO_MEMORY, DOCA_ERROR_DRIVER: opening it fails for another reason.
 */
doca_error_t dpumap_cm_create(const struct dpumap_device *device, struct dpumap_cm **cm);
/* All ids must have been destroyed. cm may be NULL. */
void dpumap_cm_destroy(struct dpumap_cm *cm);

/* Readable while there are events. Stays the manager's. */
int dpumap_cm_fd(const struct dpumap_cm *cm);
/* The name of its HCA, for messages. */
const char *dpumap_cm_name(const struct dpumap_cm *cm);

/* Listeners. */

/*
 * Listen at address; if it is NULL, at the IP address of gid_index, or, with DPUMAP_GID_ANY, at all
 * IP addresses that the port of the device has now. port: in host byte order; 0: a free one. backlog:
 * how many requests wait at most.
 * DOCA_ERROR_IN_USE: the port is taken. DOCA_ERROR_NOT_FOUND: the address is not the device's.
 */
doca_error_t dpumap_cm_listen(struct dpumap_cm *cm, const struct sockaddr_storage *address,
			      int gid_index, uint16_t port, int backlog, struct dpumap_cm_id **id);

#endif
