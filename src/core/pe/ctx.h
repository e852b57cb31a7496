/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The part that contexts of all libraries share. ctx.c moves a context through its states, task.c
 * has the functions of users on tasks, pe.c runs callbacks. A library object has its context as
 * its first member and provides the operations.
 *
 * User callbacks may do anything that the interface allows. Those for state changes may destroy the
 * object: code that needs a context after such a callback holds a reference (dpumap_ctx_get()). A
 * destroyed context stays IDLE. While a callback of a task runs, its context does not become IDLE.
 */
#ifndef DPUMAP_CORE_PE_CTX_H
#define DPUMAP_CORE_PE_CTX_H

#include <stdbool.h>

#include <doca_compat.h>

#include <doca_common_defines.h>
#include <doca_ctx.h>
#include <doca_pe.h>

#include "core/dev/dev.h"

struct doca_task;
struct task_pool;

/* The node of a graph that a task executes. */
struct task_node {
	void (*done)(struct task_node *node, struct doca_task *task);
};

enum {
	DPUMAP_TASK_FREE,
	DPUMAP_TASK_ALLOCATED,
	DPUMAP_TASK_FREED_EARLY, /* while it was submitted: released after its callback */
};

struct doca_task {
	struct doca_ctx *ctx;
	union doca_data user_data;
	doca_error_t status;
	uint8_t allocated; /* DPUMAP_TASK_* */
	bool submitted;
	struct doca_task *next; /* in a list of its context, or free */
	struct task_pool *pool;
	struct task_node *node; /* while it is submitted by a graph */
};

/* Functions that are marked "optional" may be NULL. */
struct ctx_ops {
	const char *name;
	/* A failed task does not stop the context. */
	bool survives_failure;
	/*
	 * A task that is freed in flight counts as freed at once. Its callback must not run, and the
	 * library returns it to its pool when it can. Otherwise it is freed after its callback.
	 */
	bool frees_inflight;

	/*
	 * Allocate the context's resources. DOCA_ERROR_IN_PROGRESS: done, but the context is
	 * STARTING until poll_start() succeeds or fails.
	 */
	doca_error_t (*start)(struct doca_ctx *ctx);
	/* DOCA_ERROR_IN_PROGRESS while the context cannot run yet. NULL if start() decides. */
	doca_error_t (*poll_start)(struct doca_ctx *ctx);
	/*
	 * Optional: a RUNNING context begins to stop, by doca_ctx_stop(), after a failed task or by
	 * dpumap_ctx_begin_stop(). It is still RUNNING. Called before stop(), and again if stop()
	 * failed.
	 */
	void (*begin_stop)(struct doca_ctx *ctx);
	/*
	 * Free the resources; no task is allocated. DOCA_ERROR_IN_PROGRESS: the library needs more
	 * time, and the context is STOPPING meanwhile. Each doca_pe_progress() of a STOPPING context
	 * calls progress(), and this function until it succeeds.
	 */
	doca_error_t (*stop)(struct doca_ctx *ctx);
	/* Free the object. */
	void (*free)(struct doca_ctx *ctx);

	/*
	 * Submit a task of a RUNNING context: DOCA_SUCCESS, or what dpumap_task_refuse() returns.
	 * Other errors become the status of the task when it completes.
	 */
	doca_error_t (*submit)(struct doca_task *task, uint32_t flags);
	/* Return the error by which the task would fail after submit(). */
	doca_error_t (*check)(const struct doca_task *task);
	/* Optional: tasks may have been submitted without DOCA_TASK_SUBMIT_FLAG_FLUSH. */
	void (*flush)(struct doca_ctx *ctx);
	/* Complete the next finished task; false if there is none. Often dpumap_ctx_progress(). */
	bool (*progress)(struct doca_ctx *ctx);
	/* For dpumap_ctx_progress(): the next finished task with its status, or NULL. */
	struct doca_task *(*poll)(struct doca_ctx *ctx);
	/* Run the user's callback for a finished task. */
	void (*complete)(struct doca_task *task);
	/* Optional: the task is about to return to its pool, where it stays readable until the next start. */
	void (*release)(struct doca_task *task);
	/*
	 * Optional: from now on until the context starts again, complete a task in a graph by
	 * dpumap_task_complete_node() instead of its callback. Without this function, tasks cannot be
	 * in graphs.
	 */
	void (*enter_graph)(struct doca_ctx *ctx);

	/* Request an event for the next completion. */
	doca_error_t (*arm)(struct doca_ctx *ctx);
	/*
	 * Whether a task is finished. Called after arm(): a device need not raise an event for
	 * completions that arrived earlier.
	 */
	bool (*is_ready)(struct doca_ctx *ctx);
	/*
	 * Optional: whether poll_start() of a STARTING context, or stop() of a STOPPING context
	 * without tasks, would not return DOCA_ERROR_IN_PROGRESS now. If not, the library later
	 * makes a watched descriptor readable (dpumap_pe_watch()) or calls dpumap_pe_wake(). Without
	 * this function, such a context keeps the notification handle readable.
	 */
	bool (*is_state_ready)(struct doca_ctx *ctx);
};

struct doca_ctx {
	const struct ctx_ops *ops;
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_ctx *next, *prev; /* circular list of the engine */
	enum doca_ctx_states state;
	union doca_data user_data;
	doca_ctx_state_changed_callback_t state_cb;
	size_t num_inflight;
	size_t num_allocated;
	uint32_t vector;
	uint32_t refs;
	uint32_t busy;	/* callbacks that are running */
	bool has_early; /* a task was freed early, at some time */
	bool is_slow;	/* STOPPING, or has_early */
};

/* The device is NULL for a context without one. */
void dpumap_ctx_init(struct doca_ctx *ctx, const struct ctx_ops *ops, struct doca_dev *dev);

/* Destroy the object; DOCA_ERROR_IN_USE unless the context is IDLE. */
doca_error_t dpumap_ctx_destroy(struct doca_ctx *ctx);
/* The same for a context that is IDLE. */
void dpumap_ctx_release(struct doca_ctx *ctx);

static inline struct doca_ctx *dpumap_ctx_get(struct doca_ctx *ctx)
{
	ctx->refs++;
	return ctx;
}

static inline void dpumap_ctx_put(struct doca_ctx *ctx)
{
	if (doca_unlikely(!--ctx->refs))
		ctx->ops->free(ctx);
}

/* Run the callback of a finished task; stop the context if the task failed. */
void dpumap_ctx_complete_task(struct doca_ctx *ctx, struct doca_task *task);

bool dpumap_ctx_progress(struct doca_ctx *ctx);

/* To be called before and after the callback of a finished task. */
static inline void dpumap_ctx_before_callback(struct doca_ctx *ctx, struct doca_task *task)
{
	ctx->busy++;
	ctx->num_inflight--;
	task->submitted = false;
}

/* If a graph submitted the task, report its completion to the graph. */
static inline bool dpumap_task_complete_node(struct doca_task *task)
{
	struct task_node *node = task->node;

	if (doca_likely(!node))
		return false;
	task->node = NULL;
	node->done(node, task);
	return true;
}

/* Poll a context that is STARTING; false if it still is. */
bool dpumap_ctx_poll_start(struct doca_ctx *ctx);

/*
 * Make a RUNNING context STOPPING from within ctx_ops.progress(), for example because its peer is
 * gone. Its state callback may destroy it: hold a reference.
 */
void dpumap_ctx_begin_stop(struct doca_ctx *ctx);

/*
 * To be returned by ctx_ops.submit(): the task is not in flight and still belongs to the program.
 * Logs nothing.
 */
static inline doca_error_t dpumap_task_refuse(struct doca_task *task, doca_error_t error)
{
	task->submitted = false;
	task->ctx->num_inflight--;
	return error;
}

/* Make the context IDLE if it is STOPPING, no task is left and no callback is running. */
doca_error_t dpumap_ctx_try_stop(struct doca_ctx *ctx);

/* Do what waits for the end of a callback; the context may be gone afterwards. */
void dpumap_ctx_catch_up(struct doca_ctx *ctx, struct doca_task *task);

/* After a callback before which ctx->busy was raised; task is NULL if it was of no task. */
static inline void dpumap_ctx_after_callback(struct doca_ctx *ctx, struct doca_task *task)
{
	ctx->busy--;
	if (doca_unlikely(ctx->is_slow))
		dpumap_ctx_catch_up(ctx, task);
}

/* Log and return BAD_STATE unless the context is IDLE. */
doca_error_t dpumap_ctx_check_idle(const struct doca_ctx *ctx, const char *function);

#endif
