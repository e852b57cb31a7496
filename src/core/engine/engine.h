/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Contexts whose tasks are one work request each for an engine of the device. A request is written straight to the send
 * queue, with a completion of its own. The device completes them in the order in which they were submitted. Data that
 * are wrong fail a task alone; all other errors fail the queue, and stop the context.
 */
#ifndef DPUMAP_CORE_ENGINE_ENGINE_H
#define DPUMAP_CORE_ENGINE_ENGINE_H

#include "core/buf/list.h"
#include "core/mmap/bufs.h"
#include "core/mmap/resolve.h"
#include "core/pe/task_pool.h"
#include "device/queue/queue.h"
#include "device/queue/send_queue.h"

/* A callback of the program, of any kind of tasks. */
typedef void engine_callback(void);

/* A task of any kind begins with it. */
struct engine_task {
	struct doca_task base;
	uint32_t kind;
	uint32_t number; /* of its work request */
};

/* The tasks of one kind. */
struct engine_pool {
	struct task_pool pool; /* first, so that a task finds its pool */
	engine_callback *success, *error;
	bool is_supported; /* by the device */
};

/* What contexts differ in. */
struct engine_ops {
	const char *what; /* in messages: "compress" */
	size_t task_size;
	doca_error_t (*open)(struct dpumap_queue *queue, struct dpumap_sq **sq);
	void (*log_data_error)(const struct doca_task *task, enum dpumap_sq_data_error error);
	/* Run the program's callback, by the kind of the task. */
	void (*const *call)(struct engine_task *task, engine_callback *callback);
};

/* An object with such a context begins with it. */
struct engine_ctx {
	struct doca_ctx ctx;
	const struct engine_ops *ops;
	struct engine_pool *pools; /* by the kind of their tasks; parts of the object */
	uint32_t num_kinds;

	struct dpumap_queue *queue; /* this and the following while the context is not IDLE */
	struct dpumap_sq *sq;
	struct dpumap_events *events;
	uint32_t completed; /* work requests */
	bool failed;	    /* the queue: it completes nothing any more */
	struct task_list submitted;
};

static inline struct engine_ctx *dpumap_engine_of(const struct doca_ctx *ctx)
{
	return (struct engine_ctx *)ctx;
}

void dpumap_engine_init(struct engine_ctx *engine, const struct ctx_ops *ctx_ops,
			const struct engine_ops *ops, struct doca_dev *dev);
/* The most tasks of all kinds together: each task has a place in the queue. */
doca_error_t dpumap_engine_get_max_tasks(const struct engine_ctx *engine, uint32_t *max,
					 const char *function);
doca_error_t dpumap_engine_configure(struct engine_ctx *engine, uint32_t kind,
				     engine_callback *success, engine_callback *error,
				     uint32_t num_tasks, const char *function);
/* NULL: *why says why, and is logged. */
struct engine_task *dpumap_engine_take(struct engine_ctx *engine, uint32_t kind,
				       union doca_data user_data, doca_error_t *why,
				       const char *function);

/* What all kinds of tasks of all objects have alike for users. `task_type` begins with a struct engine_task. */
#define ENGINE_TASK(object, name, kind, task_type)                                             \
	struct object##_task_##name {                                                          \
		task_type task;                                                                \
	};                                                                                     \
	doca_error_t object##_task_##name##_set_conf(                                          \
		struct object *owner, object##_task_##name##_completion_cb_t success,          \
		object##_task_##name##_completion_cb_t error, uint32_t num_tasks)              \
	{                                                                                      \
		return dpumap_engine_configure(owner ? &owner->engine : NULL, kind,            \
					       (engine_callback *)success,                     \
					       (engine_callback *)error, num_tasks, __func__); \
	}                                                                                      \
	struct doca_task *object##_task_##name##_as_task(struct object##_task_##name *task)    \
	{                                                                                      \
		return task ? &task->task.task.base : NULL;                                    \
	}                                                                                      \
	static void call_##name(struct engine_task *task, engine_callback *callback)           \
	{                                                                                      \
		((object##_task_##name##_completion_cb_t)callback)(                            \
			(struct object##_task_##name *)task, task->base.user_data,             \
			task->base.ctx->user_data);                                            \
	}

/* The functions of a field of a task. */
#define ENGINE_FIELD(object, name, field, type)                                                \
	void object##_task_##name##_set_##field(struct object##_task_##name *task, type field) \
	{                                                                                      \
		task->task.field = field;                                                      \
	}                                                                                      \
	type object##_task_##name##_get_##field(const struct object##_task_##name *task)       \
	{                                                                                      \
		return task->task.field;                                                       \
	}

/* --- submitting ------------------------------------------------------------------------------- */

/* A buf's part of a work request, and its key if no other place has it. */
struct engine_piece {
	struct dpumap_sq_piece at;
	struct dpumap_sq_key key;
};

/* Of a map that was imported, or that this device has not used yet. */
doca_error_t dpumap_engine_find_key(const struct engine_ctx *engine, const struct doca_buf *buf,
				    uint32_t op, struct engine_piece *piece);

/* op: DPUMAP_DESC_OP_READ or DPUMAP_DESC_OP_WRITE */
static inline doca_error_t dpumap_engine_find_piece(const struct engine_ctx *engine,
						    const struct doca_buf *buf, uint64_t addr,
						    size_t len, uint32_t op,
						    struct engine_piece *piece)
{
	piece->at = (struct dpumap_sq_piece){&buf->mmap->fast_key, addr, len};
	if (doca_likely(dpumap_mmap_has_fast_key(buf->mmap, engine->ctx.dev) &&
			buf->mmap->ops == DPUMAP_DESC_OP_ALL))
		return DOCA_SUCCESS;
	return dpumap_engine_find_key(engine, buf, op, piece);
}

/* A task needs one buf on both sides. Log what it has: that is an invalid value. */
void dpumap_engine_log_bufs(const struct engine_ctx *engine, const struct doca_buf *src,
			    const struct doca_buf *dst);

/* The task's work request is posted. */
static inline doca_error_t dpumap_engine_append(struct engine_ctx *engine, struct doca_task *task,
						uint32_t flags)
{
	task->status = DOCA_SUCCESS;
	dpumap_task_list_append(&engine->submitted, task);
	if (flags & DOCA_TASK_SUBMIT_FLAG_FLUSH)
		dpumap_sq_flush(engine->sq);
	return DOCA_SUCCESS;
}

/* The task is finished; run its callback, or that of its node. */
void dpumap_engine_complete(struct doca_task *task, bool good);

/* --- operations of contexts: core/pe/ctx.h ------------------------------------------------------ */

/* All but name, submit, check and complete. */
#define ENGINE_CTX_OPS                                                                             \
	.survives_failure = true, .start = dpumap_engine_start, .stop = dpumap_engine_stop,        \
	.free = dpumap_engine_free, .flush = dpumap_engine_flush, .progress = dpumap_ctx_progress, \
	.poll = dpumap_engine_poll, .enter_graph = dpumap_engine_enter_graph,                      \
	.arm = dpumap_engine_arm, .is_ready = dpumap_engine_is_ready

doca_error_t dpumap_engine_start(struct doca_ctx *ctx);
doca_error_t dpumap_engine_stop(struct doca_ctx *ctx);
/* Free the object. */
void dpumap_engine_free(struct doca_ctx *ctx);
void dpumap_engine_flush(struct doca_ctx *ctx);
struct doca_task *dpumap_engine_poll(struct doca_ctx *ctx);
bool dpumap_engine_is_ready(struct doca_ctx *ctx);
doca_error_t dpumap_engine_arm(struct doca_ctx *ctx);
/* Each completion looks for a node. */
void dpumap_engine_enter_graph(struct doca_ctx *ctx);

#endif
