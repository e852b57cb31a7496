/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What contexts of all libraries have in common. ctx.c moves a context through its states, task.c
 * is what a user does with a task, pe.c runs callbacks. A library object has its context as its
 * first member and fills in the operations.
 *
 * User callbacks may do anything that the interface allows, down to destroying the object. So a
 * context is kept (dpumap_ctx_get()) by whoever still needs it after a callback, and is IDLE for
 * good once it was destroyed.
 */
#ifndef DPUMAP_CORE_CTX_H
#define DPUMAP_CORE_CTX_H

#include <stdbool.h>

#include <doca_compat.h>

#include <doca_common_defines.h>
#include <doca_ctx.h>
#include <doca_pe.h>

#include "core/dev.h"

struct doca_task {
	struct doca_ctx *ctx;
	union doca_data user_data;
	doca_error_t status;
	bool allocated;
	bool submitted;
};

struct ctx_ops {
	const char *name;
	/* Allocate the context's resources. DOCA_ERROR_IN_PROGRESS: it has them, and is STARTING
	 * until proceed() says otherwise. */
	doca_error_t (*start)(struct doca_ctx *ctx);
	/* Can it run? DOCA_ERROR_IN_PROGRESS when that is not known yet. NULL if start() knows. */
	doca_error_t (*proceed)(struct doca_ctx *ctx);
	/* Give them back; no task is allocated. What fails is tried again. */
	doca_error_t (*stop)(struct doca_ctx *ctx);
	/* Free the object. */
	void (*free)(struct doca_ctx *ctx);

	/* Take over a task of a RUNNING context: always DOCA_SUCCESS. What is wrong with it is its
	 * status when it ends. */
	doca_error_t (*submit)(struct doca_task *task, uint32_t flags);
	/* What submit would make fail later. */
	doca_error_t (*check)(const struct doca_task *task);
	void (*flush)(struct doca_ctx *ctx);
	/* Deliver the next task that ended; false if there is none yet. By dpumap_ctx_progress(),
	 * or something shorter. */
	bool (*progress)(struct doca_ctx *ctx);
	/* For that: the next task that ended, its status set; NULL if there is none yet. */
	struct doca_task *(*poll)(struct doca_ctx *ctx);
	/* Run the user's callback for such a task. */
	void (*complete)(struct doca_task *task);
	/* Take a task back into the pool. */
	void (*release)(struct doca_task *task);

	/* Notify at the next completion. */
	doca_error_t (*arm)(struct doca_ctx *ctx);
	/*
	 * Is there a task to deliver? Asked after arm(): a device need not notify of completions
	 * that were there before.
	 */
	bool (*is_ready)(struct doca_ctx *ctx);
};

struct doca_ctx {
	const struct ctx_ops *ops;
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_ctx *next, *prev; /* round the engine */
	enum doca_ctx_states state;
	union doca_data user_data;
	doca_ctx_state_changed_callback_t state_cb;
	size_t num_inflight;
	size_t num_allocated;
	uint32_t vector;
	uint32_t refs;
};

void dpumap_ctx_init(struct doca_ctx *ctx, const struct ctx_ops *ops, struct doca_dev *dev);

/* The object's destructor: DOCA_ERROR_IN_USE unless the context is IDLE. */
doca_error_t dpumap_ctx_destroy(struct doca_ctx *ctx);

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

/* A task ended: call back, and stop the context if it failed. */
void dpumap_ctx_deliver(struct doca_ctx *ctx, struct doca_task *task);

bool dpumap_ctx_progress(struct doca_ctx *ctx);

/* Around the callback of a task that ended. */
static inline void dpumap_ctx_before_callback(struct doca_ctx *ctx, struct doca_task *task)
{
	dpumap_ctx_get(ctx);
	ctx->num_inflight--;
	task->submitted = false;
}

/* Go on with a context that is STARTING; false if it still is. */
bool dpumap_ctx_proceed(struct doca_ctx *ctx);

/* If the context is STOPPING and nothing is left to wait for, make it IDLE. */
doca_error_t dpumap_ctx_settle(struct doca_ctx *ctx);

static inline void dpumap_ctx_after_callback(struct doca_ctx *ctx)
{
	if (doca_unlikely(ctx->state == DOCA_CTX_STATE_STOPPING))
		dpumap_ctx_settle(ctx);
	dpumap_ctx_put(ctx);
}

/* Log and return BAD_STATE unless the context is IDLE. */
doca_error_t dpumap_ctx_check_idle(const struct doca_ctx *ctx, const char *function);

#endif
