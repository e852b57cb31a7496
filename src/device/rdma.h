/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One end of a reliable connection to a peer: a queue of transfers (device/queue.h) whose QP is
 * connected by what both ends tell each other.
 */
#ifndef DPUMAP_DEVICE_RDMA_H
#define DPUMAP_DEVICE_RDMA_H

#include "device/queue.h"

#define DPUMAP_GID_SIZE	    16
#define DPUMAP_MIN_LOG_MTU  8u	       /* 256 bytes */
#define DPUMAP_MAX_LOG_MTU  12u	       /* 4096 bytes */
#define DPUMAP_QPN_LIMIT    (1u << 24) /* of numbers of queue pairs and of packets */
#define DPUMAP_RDMA_ANY_GID (-1)

/* What the other end has to know of an end. */
struct dpumap_rdma_end {
	uint32_t qpn;
	uint32_t psn; /* of its first packet */
	uint16_t lid; /* on InfiniBand */
	uint8_t log_mtu;
	uint8_t max_reads; /* that it takes at a time; not 0 */
	bool is_infiniband;
	uint8_t gid[DPUMAP_GID_SIZE]; /* on Ethernet */
};

struct dpumap_rdma_attr {
	struct dpumap_queue_attr queue;
	uint32_t access; /* of enum doca_access_flag: what the other end may do */
	int gid_index;	 /* or DPUMAP_RDMA_ANY_GID */
};

struct dpumap_rdma;

/* Can connections be made? DOCA_ERROR_IN_PROGRESS, without a line in the log: not yet. */
doca_error_t dpumap_rdma_check_port(const struct dpumap_device *device);
/* DOCA_ERROR_NOT_FOUND when the port has no address there. */
doca_error_t dpumap_rdma_check_gid(const struct dpumap_device *device, int gid_index);

doca_error_t dpumap_rdma_create(struct dpumap_device *device, const struct dpumap_rdma_attr *attr,
				struct dpumap_rdma **rdma);
/* On failure it is still there, without what could be destroyed; call again. */
doca_error_t dpumap_rdma_destroy(struct dpumap_rdma *rdma);
struct dpumap_queue *dpumap_rdma_queue(const struct dpumap_rdma *rdma);
void dpumap_rdma_describe(const struct dpumap_rdma *rdma, struct dpumap_rdma_end *end);
/* On failure it is as before. */
doca_error_t dpumap_rdma_connect(struct dpumap_rdma *rdma, const struct dpumap_rdma_end *peer);

#endif
