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

#include "device/cm/end.h"
#include "device/gid.h"

/* Longest private data, in bytes; what arrives is always that long, padded by zeros. */
#define DPUMAP_CM_REQUEST_DATA 56u
#define DPUMAP_CM_ACCEPT_DATA  196u
#define DPUMAP_CM_REJECT_DATA  148u
#define DPUMAP_CM_MAX_DATA     196u

/* The reason of a REJECTED by dpumap_cm_reject() (IBA volume 1, 12.6.7.2). */
#define DPUMAP_CM_REJECTED_BY_PEER 28

struct dpumap_cm;
struct dpumap_cm_id;

enum dpumap_cm_event_type {
	DPUMAP_CM_REQUEST,     /* id is new: accept, reject or destroy it */
	DPUMAP_CM_ESTABLISHED, /* the queue pair is in RTS, and the peer's too */
	DPUMAP_CM_REJECTED,    /* by the peer, or nobody listens at the port */
	DPUMAP_CM_FAILED, /* an address, the peer or the device cannot be used; or a listener */
	DPUMAP_CM_DISCONNECTED, /* by either side; the queue pair is in the error state */
};

struct dpumap_cm_event {
	enum dpumap_cm_event_type type;
	struct dpumap_cm_id *id;
	struct dpumap_cm_id *listener; /* of a REQUEST; else NULL */
	/*
	 * FAILED, REJECTED: why; logged. NOT_CONNECTED: nobody listens at the port, or the address
	 * has no route. TIME_OUT: the peer does not answer. CONNECTION_ABORTED: the peer rejected.
	 * DRIVER: the device failed.
	 */
	doca_error_t error;
	int reason;	  /* of a REJECTED: IBA volume 1, 12.6.7.2 */
	uint8_t data_len; /* of a REQUEST, ESTABLISHED on the active side, REJECTED */
	uint8_t data[DPUMAP_CM_MAX_DATA];
};

/*
 * DOCA_ERROR_NOT_SUPPORTED: this machine has no connection manager (module rdma_ucm).
 * DOCA_ERROR_NOT_PERMITTED: the process may not open it.
 */
doca_error_t dpumap_cm_create(const struct dpumap_device *device, struct dpumap_cm **cm);
/* All ids must have been destroyed. cm may be NULL. */
void dpumap_cm_destroy(struct dpumap_cm *cm);

/* Readable while there are events. Stays the manager's. */
int dpumap_cm_fd(const struct dpumap_cm *cm);
/*
 * Take one event. DOCA_ERROR_AGAIN: there is none now; steps of connections that need no caller may
 * have been done. After FAILED, REJECTED and DISCONNECTED the only call for the id is
 * dpumap_cm_id_destroy().
 */
doca_error_t dpumap_cm_poll(struct dpumap_cm *cm, struct dpumap_cm_event *event);

/*
 * Listen at address; if it is NULL, at the IP address of gid_index, or, with DPUMAP_GID_ANY, at all
 * IP addresses that the port of the device has now. port: in host byte order; 0: a free one. backlog:
 * how many requests wait at most.
 * DOCA_ERROR_IN_USE: the port is taken. DOCA_ERROR_NOT_FOUND: the address is not the device's.
 */
doca_error_t dpumap_cm_listen(struct dpumap_cm *cm, const struct sockaddr_storage *address,
			      int gid_index, uint16_t port, int backlog, struct dpumap_cm_id **id);
/* The port of a listener or of a connection's own end, in host byte order. */
uint16_t dpumap_cm_id_port(const struct dpumap_cm_id *id);
/* The address and port of the peer. */
void dpumap_cm_id_peer(const struct dpumap_cm_id *id, struct sockaddr_storage *address);

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
 * Destroy an id in any state: a listener stops, a request is rejected, a connection is disconnected
 * without moving its queue pair. No event follows; requests of a listener that were taken stay. id
 * may be NULL.
 */
void dpumap_cm_id_destroy(struct dpumap_cm_id *id);

/* The caller's pointer of an id; an id of a REQUEST has that of its listener. */
void dpumap_cm_id_set_user(struct dpumap_cm_id *id, void *user);
void *dpumap_cm_id_user(const struct dpumap_cm_id *id);

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
