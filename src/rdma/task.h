/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The tasks of doca_rdma, of all kinds: their pools, their submission and their completion. */
#ifndef DPUMAP_RDMA_TASK_H
#define DPUMAP_RDMA_TASK_H

#include "rdma/rdma.h"

struct doca_rdma_task_receive {
	struct rdma_task task;
};

struct doca_rdma_task_send {
	struct rdma_task task;
};

struct doca_rdma_task_send_imm {
	struct rdma_task task;
};

struct doca_rdma_task_read {
	struct rdma_task task;
};

struct doca_rdma_task_write {
	struct rdma_task task;
};

struct doca_rdma_task_write_imm {
	struct rdma_task task;
};

struct doca_rdma_task_atomic_cmp_swp {
	struct rdma_task task;
};

struct doca_rdma_task_atomic_fetch_add {
	struct rdma_task task;
};

struct doca_rdma_task_remote_net_sync_event_get {
	struct rdma_task task;
};

struct doca_rdma_task_remote_net_sync_event_notify_set {
	struct rdma_task task;
};

struct doca_rdma_task_remote_net_sync_event_notify_add {
	struct rdma_task task;
};

/* Create the tasks of all kinds. Those of the last run stay readable until now. */
doca_error_t dpumap_rdma_create_pools(struct doca_rdma *rdma);
void dpumap_rdma_free_pools(struct doca_rdma *rdma);
/* How many tasks of all kinds there are, without receives. */
uint64_t dpumap_rdma_num_tasks(const struct doca_rdma *rdma);

doca_error_t dpumap_rdma_configure(struct doca_rdma *rdma, enum rdma_kind kind,
				   rdma_callback *success, rdma_callback *error, uint32_t num_tasks,
				   const char *function);
/* connection is NULL for a receive. */
doca_error_t dpumap_rdma_allocate(struct doca_rdma *rdma, struct doca_rdma_connection *connection,
				  enum rdma_kind kind, union doca_data user_data,
				  struct rdma_task **task, const char *function);

/* Complete a task that has succeeded. */
void dpumap_rdma_task_succeed(struct rdma_task *task);

/* Operations of the context. */
void dpumap_rdma_task_complete(struct doca_task *task);
void dpumap_rdma_enter_graph(struct doca_ctx *ctx);

/* Completion: what the device has completed becomes finished tasks, whose callbacks progress runs. */
struct doca_task *dpumap_rdma_task_poll(struct doca_ctx *ctx);
/* As dpumap_ctx_progress(), if the context is_fast. */
bool dpumap_rdma_task_progress(struct doca_ctx *ctx);
doca_error_t dpumap_rdma_arm(struct doca_ctx *ctx);
bool dpumap_rdma_is_ready(struct doca_ctx *ctx);

/* Take all completions that the device has written. Callbacks run in progress. */
void dpumap_rdma_take_completions(struct doca_rdma *rdma);

/* Submission: each task becomes a work request, or waits until the queue of its connection has room. */
doca_error_t dpumap_rdma_task_submit(struct doca_task *task, uint32_t flags);
void dpumap_rdma_flush(struct doca_ctx *ctx);

/* Post a task, whatever its kind. On failure it completes with the error. */
void dpumap_rdma_execute(struct doca_rdma *rdma, struct rdma_task *task);
/* Post the tasks that wait for room in queues. To be called after completions. */
void dpumap_rdma_post_waiting(struct doca_rdma *rdma);

/* Call what dpumap_rdma_configure() was given, as the type that it has. */
void dpumap_rdma_call(struct rdma_task *task, rdma_callback *callback);

#endif
