/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Ids: listeners and ends of connections. */
#ifndef DPUMAP_DEVICE_CM_ID_H
#define DPUMAP_DEVICE_CM_ID_H

#include <sys/socket.h>

#include "device/cm/address.h"
#include "device/cm/cm.h"

struct rdma_cm_id;
struct dpumap_cm_id;

/* The port of a listener or of a connection's own end, in host byte order. */
uint16_t dpumap_cm_id_port(const struct dpumap_cm_id *id);
/* The address and port of the peer. */
void dpumap_cm_id_peer(const struct dpumap_cm_id *id, struct sockaddr_storage *address);

/*
 * Destroy an id in any state: a listener stops, a request is rejected, a connection is disconnected
 * without moving its queue pair. No event follows; requests of a listener that were taken stay. id
 * may be NULL.
 */
void dpumap_cm_id_destroy(struct dpumap_cm_id *id);

/* The caller's pointer of an id; an id of a REQUEST has that of its listener. */
void dpumap_cm_id_set_user(struct dpumap_cm_id *id, void *user);
void *dpumap_cm_id_user(const struct dpumap_cm_id *id);

/* --- for this room ---------------------------------------------------------------------------- */

enum dpumap_cm_state {
	DPUMAP_CM_IS_LISTENING,
	DPUMAP_CM_IS_RESOLVING,
	DPUMAP_CM_IS_CONNECTING,
	DPUMAP_CM_IS_REQUESTED,
	DPUMAP_CM_IS_ACCEPTED,
	DPUMAP_CM_IS_ESTABLISHED,
	DPUMAP_CM_IS_DISCONNECTING,
	DPUMAP_CM_IS_ENDED,
};

/* Without ids of librdmacm, of which it may get max_rdma. NULL: no memory; dpumap_cm_fail_id() says so. */
struct dpumap_cm_id *dpumap_cm_id_new(struct dpumap_cm *cm, enum dpumap_cm_state state,
				      size_t max_rdma);
doca_error_t dpumap_cm_fail_id(const struct dpumap_cm *cm);
doca_error_t dpumap_cm_id_add(struct dpumap_cm_id *id);
/* Returns text. */
const char *dpumap_cm_id_print_peer(const struct dpumap_cm_id *id,
				    char text[static DPUMAP_CM_ADDRESS_TEXT]);

bool dpumap_cm_is_on_device(const struct dpumap_cm *cm, const struct rdma_cm_id *rdma);
doca_error_t dpumap_cm_check_device(const struct dpumap_cm *cm, const struct rdma_cm_id *rdma);

#endif
