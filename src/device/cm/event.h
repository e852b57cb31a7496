/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Events of a manager. */
#ifndef DPUMAP_DEVICE_CM_EVENT_H
#define DPUMAP_DEVICE_CM_EVENT_H

#include "device/cm/connect.h"

#define DPUMAP_CM_MAX_DATA DPUMAP_CM_ACCEPT_DATA /* the longest that arrives */

/* The reason of a REJECTED by dpumap_cm_reject() (IBA volume 1, 12.6.7.2). */
#define DPUMAP_CM_REJECTED_BY_PEER 28

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
 * Take one event. DOCA_ERROR_AGAIN: there is none now; steps of connections that need no caller may
 * have been done. After FAILED, REJECTED and DISCONNECTED the only call for the id is
 * dpumap_cm_id_destroy().
 */
doca_error_t dpumap_cm_poll(struct dpumap_cm *cm, struct dpumap_cm_event *event);

#endif
