/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The states of a reliable queue pair. */
#ifndef DPUMAP_DEVICE_QUEUE_QP_H
#define DPUMAP_DEVICE_QUEUE_QP_H

#include <infiniband/verbs.h>

#include "device/device.h"

/* How the device reaches the peer. */
#define DPUMAP_ACK_TIMEOUT 14 /* 67 ms */

struct dpumap_qp_path {
	struct ibv_ah_attr ah;
	enum ibv_mtu mtu;
	uint32_t qpn; /* of the peer */
	uint32_t rq_psn, sq_psn;
	int max_reads;	     /* that the peer accepts at a time */
	uint8_t ack_timeout; /* before the next attempt: 4.096 us * 2^this */
	uint8_t rnr_retry;   /* attempts to send what the peer does not receive */
	unsigned int access; /* enum ibv_access_flags: what the peer may do */
};

/* Take a queue pair from RESET to RTS. */
doca_error_t dpumap_qp_connect(const struct dpumap_device *device, struct ibv_qp *qp,
			       const struct dpumap_qp_path *path);
/* The same, connected to itself. */
doca_error_t dpumap_qp_connect_to_self(const struct dpumap_device *device, struct ibv_qp *qp,
				       const struct ibv_port_attr *port);
/* The same, connected to another of the device. */
doca_error_t dpumap_qp_connect_here(const struct dpumap_device *device, struct ibv_qp *qp,
				    const struct ibv_port_attr *port, uint32_t qpn);

/* From any state to RESET; abandons posted work requests. */
doca_error_t dpumap_qp_reset(const struct dpumap_device *device, struct ibv_qp *qp);

/* How many reads of the peer a queue pair accepts at a time. */
int dpumap_qp_max_reads(const struct dpumap_device *device);

#endif
