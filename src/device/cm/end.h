/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The queue pair at one end of a connection by address. */
#ifndef DPUMAP_DEVICE_CM_END_H
#define DPUMAP_DEVICE_CM_END_H

#include <infiniband/verbs.h>

#include "device/device.h"

struct rdma_cm_id;
struct rdma_conn_param;

struct dpumap_cm_end {
	/*
	 * A reliable queue pair of the manager's HCA, in RESET or INIT. It must live until the id is
	 * destroyed.
	 */
	struct ibv_qp *qp;
	unsigned int access;   /* enum ibv_access_flags: what the peer may do */
	bool has_srq;	       /* the queue pair has a shared receive queue */
	uint8_t retries;       /* 0 to 7 */
	uint8_t rnr_retries;   /* 0 to 7; 7 is endless */
	uint8_t min_rnr_timer; /* IBA volume 1, table 46 */
	uint8_t ack_timeout;   /* 4.096 us * 2^n; 0: as the manager chooses */
	uint8_t data_len;      /* of the private data, in bytes */
	uint16_t resolve_ms;   /* milliseconds to find the address, and then a route */
	const void *data;      /* private data for the peer, copied; NULL if data_len is 0 */
};

/* The values that the queue pairs of this library use; without a queue pair and data. */
struct dpumap_cm_end dpumap_cm_end_default(void);

/* How many reads an end serves and sends at a time, at most `reads` of the peer. */
void dpumap_cm_end_describe(const struct dpumap_cm_end *end, const struct dpumap_device *device,
			    struct rdma_conn_param *param);

/* Take the queue pair to RTS, as the connection manager describes the path. */
doca_error_t dpumap_cm_end_connect(const struct dpumap_cm_end *end,
				   const struct dpumap_device *device, struct rdma_cm_id *id);
/* From any state to the error state, in which all work requests are flushed. */
void dpumap_cm_end_fail(const struct dpumap_cm_end *end);

#endif
