/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * doca_rdma: rdma_ctx.c is the object and its settings, rdma_connection.c its connections,
 * rdma_task.c what a user does with its tasks, rdma_post.c executes them.
 *
 * Each connection has a queue, and works off its tasks as doca_dma does (core/dma_ctx.h): in the
 * order of a list, in which a task that cannot be posted keeps its place.
 */
#ifndef DPUMAP_CORE_RDMA_CTX_H
#define DPUMAP_CORE_RDMA_CTX_H

#include <doca_rdma.h>

#include "core/buf_walk.h"
#include "core/ctx.h"
#include "core/rdma_details.h"

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

struct doca_rdma_connection {
	struct doca_rdma *rdma;
	struct dpumap_rdma *link;
	struct dpumap_queue *queue; /* of the link */
	uint64_t max_len;
	bool is_connected;
	struct rdma_task *first, *last; /* submitted */
	struct rdma_task *waiting;	/* the first that is not posted in full */
	struct doca_rdma_connection *next;
	uint8_t details[RDMA_DETAILS_SIZE];
};

/* Reads, or writes. */
struct rdma_pool {
	uint32_t num_tasks;	/* 0: not configured */
	struct rdma_task *free; /* this and the following while the context is not IDLE */
	struct rdma_task *tasks;
};

struct doca_rdma {
	struct doca_ctx ctx;
	doca_rdma_task_read_completion_cb_t read_cb, read_error_cb;
	doca_rdma_task_write_completion_cb_t write_cb, write_error_cb;
	uint32_t access;
	int gid_index;
	uint16_t max_connections;

	struct rdma_pool reads, writes;
	struct dpumap_events *events; /* this and the following while the context is not IDLE */
	uint16_t num_connections;
	struct doca_rdma_connection *connections;
	struct doca_rdma_connection *turn; /* the first to poll; NULL for the first of all */
};

static inline struct doca_rdma *dpumap_rdma_of(const struct doca_ctx *ctx)
{
	return (struct doca_rdma *)ctx;
}

extern const struct ctx_ops dpumap_rdma_ops;

/* In rdma_connection.c: all of them go. On failure those are left that could not be destroyed. */
doca_error_t dpumap_rdma_disconnect_all(struct doca_rdma *rdma);
doca_error_t dpumap_rdma_arm(struct doca_ctx *ctx);

/* In rdma_task.c. */
void dpumap_rdma_task_complete(struct doca_task *task);
void dpumap_rdma_task_release(struct doca_task *task);

/* In rdma_post.c. */
doca_error_t dpumap_rdma_task_submit(struct doca_task *task, uint32_t flags);
doca_error_t dpumap_rdma_task_check(const struct doca_task *task);
struct doca_task *dpumap_rdma_task_poll(struct doca_ctx *ctx);
void dpumap_rdma_flush(struct doca_ctx *ctx);
bool dpumap_rdma_is_ready(struct doca_ctx *ctx);

#endif
