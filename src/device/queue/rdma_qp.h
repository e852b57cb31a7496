/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The queue pair of one connection of an RDMA context (device/queue/rdma_queue.h). It is connected by
 * exchanged information (struct dpumap_qp_info), or by attributes that a connection manager gives.
 *
 * Work requests are numbered from 0 and complete in that order.
 */
#ifndef DPUMAP_DEVICE_QUEUE_RDMA_QP_H
#define DPUMAP_DEVICE_QUEUE_RDMA_QP_H

#include "device/queue/rc_end.h"
#include "device/queue/rdma_queue.h"

struct dpumap_rdma_qp_attr {
	uint32_t depth;	     /* work requests at a time; may become more */
	uint32_t max_pieces; /* of one work request, at most dpumap_caps.max_send_pieces */
	uint32_t access;     /* mask of enum doca_access_flag: what the peer may do */
	int gid_index;	     /* or DPUMAP_GID_ANY */
	uint8_t log_mtu;     /* at most; 0: that of the port */
	uint8_t sl;	     /* service level, 0 to 15 */
	uint8_t rnr_retry;   /* 0 to DPUMAP_RNR_ENDLESS */
	void *owner;	     /* for dpumap_rdma_done */
};

enum dpumap_rdma_op {
	DPUMAP_RDMA_SEND,
	DPUMAP_RDMA_SEND_IMM,
	DPUMAP_RDMA_WRITE,
	DPUMAP_RDMA_WRITE_IMM,
	DPUMAP_RDMA_READ,
	DPUMAP_RDMA_CMP_SWP,
	DPUMAP_RDMA_FETCH_ADD,
};

struct dpumap_rdma_request {
	enum dpumap_rdma_op op;
	const struct dpumap_rdma_piece *pieces; /* local; of an atomic operation one of 8 bytes */
	uint32_t num_pieces;
	uint32_t imm; /* as the program has it in memory */
	uint32_t peer_key;
	uint64_t peer_addr;
	uint64_t operand; /* to add, or to compare with */
	uint64_t swap;
};

struct ibv_gid_entry;
struct ibv_qp;
struct dpumap_rdma_qp;

doca_error_t dpumap_rdma_qp_create(struct dpumap_rdma_queue *queue,
				   const struct dpumap_rdma_qp_attr *attr,
				   struct dpumap_rdma_qp **qp);
void dpumap_rdma_qp_describe(const struct dpumap_rdma_qp *qp, struct dpumap_qp_info *info);
/* Its address; NULL on InfiniBand. */
const struct ibv_gid_entry *dpumap_rdma_qp_gid(const struct dpumap_rdma_qp *qp);
/* For a connection manager, which takes it from RESET to RTS instead of dpumap_rdma_qp_connect(). */
struct ibv_qp *dpumap_rdma_qp_verbs(const struct dpumap_rdma_qp *qp);
/* What the peer may do, as enum ibv_access_flags. */
unsigned int dpumap_rdma_qp_access(const struct dpumap_rdma_qp *qp);
/* From RESET to RTS. On failure the state is as before. */
doca_error_t dpumap_rdma_qp_connect(struct dpumap_rdma_qp *qp, const struct dpumap_qp_info *peer);
/* The MTU of the connection, base 2 logarithm, after dpumap_rdma_qp_connect(). */
uint8_t dpumap_rdma_qp_log_mtu(const struct dpumap_rdma_qp *qp);

/*
 * Post a work request; the device reads it at the latest after dpumap_rdma_queue_flush().
 * DOCA_ERROR_AGAIN, without a message: there is no room before others have completed.
 * DOCA_ERROR_SHUTDOWN, without a message: the queue pair has failed or was ended.
 */
doca_error_t dpumap_rdma_qp_post(struct dpumap_rdma_qp *qp,
				 const struct dpumap_rdma_request *request);
/* The number of the next work request. */
uint32_t dpumap_rdma_qp_posted(const struct dpumap_rdma_qp *qp);

/*
 * Flush: the work requests in flight complete with DOCA_ERROR_SHUTDOWN, and receives that a message
 * has entered in part. The peer notices it with its next request. Without effect if it is not connected.
 */
void dpumap_rdma_qp_fail(struct dpumap_rdma_qp *qp);
/*
 * Also flushes. Completions that the device has written are returned by dpumap_rdma_queue_poll();
 * those of work requests that it has not completed are not. On failure call again.
 */
doca_error_t dpumap_rdma_qp_destroy(struct dpumap_rdma_qp *qp);

#endif
