/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Both ends of a connection. */
#ifndef DPUMAP_DEVICE_CM_CONNECT_H
#define DPUMAP_DEVICE_CM_CONNECT_H

#include "device/cm/end.h"
#include "device/cm/id.h"
#include "device/gid.h"

/* Longest private data, in bytes; what arrives is always that long, padded by zeros. */
#define DPUMAP_CM_REQUEST_DATA 56u
#define DPUMAP_CM_ACCEPT_DATA  196u
#define DPUMAP_CM_REJECT_DATA  148u

/*
 * Connect from the address of gid_index, or, with DPUMAP_GID_ANY, from the device's best address of
 * the family of the peer. ESTABLISHED, REJECTED or FAILED follows.
 * DOCA_ERROR_NOT_CONNECTED: the device has no address of that family.
 */
doca_error_t dpumap_cm_connect(struct dpumap_cm *cm, const struct sockaddr_storage *peer,
			       int gid_index, const struct dpumap_cm_end *end,
			       struct dpumap_cm_id **id);
/*
 * Accept a request. ESTABLISHED, REJECTED or FAILED follows. On failure the id waits for
 * dpumap_cm_id_destroy(), which rejects.
 */
doca_error_t dpumap_cm_accept(struct dpumap_cm_id *id, const struct dpumap_cm_end *end);
doca_error_t dpumap_cm_reject(struct dpumap_cm_id *id, const void *data, uint8_t data_len);
/*
 * End an established connection: its queue pair goes to the error state. DISCONNECTED follows.
 * DOCA_SUCCESS also if it has ended already.
 */
doca_error_t dpumap_cm_disconnect(struct dpumap_cm_id *id);
/*
 * Make an id of a request that the program took from its own channel. On success id owns the
 * program's rdma_cm_id, whose events stay on the program's channel: dpumap_cm_poll() never returns
 * the id, and the program says when its connection is established. The program must acknowledge its
 * events before the id is destroyed.
 * DOCA_ERROR_INVALID_VALUE: it is on another device.
 */
doca_error_t dpumap_cm_adopt(struct dpumap_cm *cm, struct rdma_cm_id *request,
			     struct dpumap_cm_id **id);
void dpumap_cm_set_established(struct dpumap_cm_id *id);

#endif
