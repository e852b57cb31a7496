/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_DEVICE_QUEUE_LINK_H
#define DPUMAP_DEVICE_QUEUE_LINK_H

#include "device/device.h"

struct dpumap_queue;

/* How the device gets to the other end of a connection. */
struct dpumap_queue_path {
	struct ibv_ah_attr ah;
	enum ibv_mtu mtu;
	uint32_t qpn; /* of the other end */
	uint32_t rq_psn, sq_psn;
	int max_reads;	     /* of ours that the other end takes at a time */
	unsigned int access; /* enum ibv_access_flags: what the other end may do here */
};

/* Take a QP from RESET to RTS. */
doca_error_t dpumap_queue_link_by(const struct dpumap_device *device, struct ibv_qp *qp,
				  const struct dpumap_queue_path *path);

/* The same, connected to itself through port 1. */
doca_error_t dpumap_queue_link(const struct dpumap_device *device, struct ibv_qp *qp,
			       const struct ibv_port_attr *port);

/* Any state to RESET; abandons what was posted. */
doca_error_t dpumap_queue_unlink(const struct dpumap_device *device, struct ibv_qp *qp);

/* In queue.c. */
struct ibv_qp *dpumap_queue_qp(const struct dpumap_queue *queue);
const struct ibv_port_attr *dpumap_queue_port(const struct dpumap_queue *queue);
struct ibv_cq *dpumap_queue_cq(const struct dpumap_queue *queue, const uint32_t **num_events);
const struct dpumap_device *dpumap_queue_device(const struct dpumap_queue *queue);
uint32_t dpumap_queue_depth(const struct dpumap_queue *queue);

/* How many reads of the other end's a QP takes at a time. */
int dpumap_queue_max_reads(const struct dpumap_device *device);

/* How good an address on Ethernet is to be reached at by other machines: 1 to this, the best. */
#define DPUMAP_GID_BEST 4u
unsigned int dpumap_queue_rank_gid(const struct ibv_gid_entry *gid);

/* An IPv4 address of RoCE v2, else another one of RoCE v2, else the first of any type. */
doca_error_t dpumap_queue_find_gid(const struct dpumap_device *device,
				   const struct ibv_port_attr *port, struct ibv_gid_entry *gid);

doca_error_t dpumap_queue_query_port(const struct dpumap_device *device,
				     struct ibv_port_attr *port);

#endif
