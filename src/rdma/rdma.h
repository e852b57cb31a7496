/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * doca_rdma: rdma.c has the object, settings.c its properties, caps.c the capabilities of devices,
 * connection.c the connections, task.c the functions of users on tasks, post.c executes them.
 *
 * Each connection has a queue and executes its tasks in the order of a list, as doca_dma does
 * (dma/dma.h). A task that cannot be posted keeps its place in the list.
 */
#ifndef DPUMAP_RDMA_RDMA_H
#define DPUMAP_RDMA_RDMA_H

#include <doca_rdma.h>

#include "core/buf/walk.h"
#include "core/pe/ctx.h"
#include "device/queue/details.h"

struct rdma_task {
	struct doca_task base;
	struct rdma_task *next; /* in the list of tasks submitted, or free */
	struct doca_rdma_connection *connection;
	const struct doca_buf *src;
	struct doca_buf *dst;
	size_t len;
	size_t unposted; /* bytes of len */
	uint32_t pieces; /* posted and not completed */
	bool is_read;
	struct dpumap_buf_place from, to;
};

struct doca_rdma_task_read {
	struct rdma_task task;
};

struct doca_rdma_task_write {
	struct rdma_task task;
};

enum rdma_connection_state {
	RDMA_EXPORTED,	 /* by doca_rdma_export(), not connected yet */
	RDMA_REQUESTED,	 /* by a client: the program accepts or rejects it */
	RDMA_CONNECTING, /* by address */
	RDMA_CONNECTED,
	RDMA_ENDED, /* it never connects again */
};

struct doca_rdma_connection {
	struct doca_rdma *rdma;
	enum rdma_connection_state state;
	uint32_t id;
	union doca_data user_data;
	struct dpumap_rc_qp *qp;
	struct dpumap_queue *queue; /* of qp */
	uint64_t max_len;
	struct rdma_task *first, *last; /* submitted */
	struct rdma_task *waiting;	/* the first that is not posted in full */
	struct doca_rdma_connection *next;
	uint8_t details[RDMA_DETAILS_SIZE];
};

/* The tasks of one kind. */
struct rdma_pool {
	uint32_t num_tasks;	 /* 0: not configured */
	struct rdma_task *free;	 /* this and the following while the context is not IDLE */
	struct rdma_task *tasks; /* of this or the last run */
};

/* What the program has set while the context was IDLE. */
struct rdma_settings {
	uint32_t access; /* mask of enum doca_access_flag */
	int gid_index;	 /* or DPUMAP_GID_ANY */
	uint32_t send_queue_size;
	uint32_t max_send_list;	   /* bufs of the local list of a task */
	uint32_t max_receive_list; /* bufs of a receive */
	uint16_t max_connections;
	uint16_t request_timeout_ms;
	uint8_t log_mtu; /* in bytes; 0: the largest that both ports have */
	uint8_t service_level;
	uint8_t rnr_retries;
};

struct rdma_callbacks {
	doca_rdma_connection_request_cb_t request;
	doca_rdma_connection_established_cb_t established;
	doca_rdma_connection_failure_cb_t failure;
	doca_rdma_connection_disconnection_cb_t disconnection;
};

struct doca_rdma {
	struct doca_ctx ctx;
	doca_rdma_task_read_completion_cb_t read_cb, read_error_cb;
	doca_rdma_task_write_completion_cb_t write_cb, write_error_cb;
	struct rdma_settings settings;
	struct rdma_callbacks callbacks; /* each may be NULL */

	struct rdma_pool reads, writes;
	struct dpumap_events *events; /* this and the following while the context is not IDLE */
	uint16_t num_connections;
	uint32_t next_id;
	struct doca_rdma_connection *connections;
	struct doca_rdma_connection *next_polled; /* NULL for the first */
};

static inline struct doca_rdma *dpumap_rdma_of(const struct doca_ctx *ctx)
{
	return (struct doca_rdma *)ctx;
}

#endif
