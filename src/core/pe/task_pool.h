/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The tasks of a context: pools from which programs allocate them, one for each kind, and lists of those in flight.
 * The first member of a task of any kind is its struct doca_task.
 */
#ifndef DPUMAP_CORE_PE_TASK_POOL_H
#define DPUMAP_CORE_PE_TASK_POOL_H

#include "core/pe/ctx.h"

/* The tasks of one kind. */
struct task_pool {
	uint32_t num_tasks;	/* 0: not configured */
	struct doca_task *free; /* while the context is not IDLE */
	void *tasks;		/* of this or the last run */
};

/* Set the number of tasks; INVALID_VALUE, logged, unless it is 1 to max. */
doca_error_t dpumap_task_pool_configure(struct task_pool *pool, const struct doca_ctx *ctx,
					uint32_t num_tasks, uint32_t max);
/* Create the tasks, of `size` bytes. Those of the last run stay readable until now. NO_MEMORY. */
doca_error_t dpumap_task_pool_create(struct task_pool *pool, struct doca_ctx *ctx, size_t size);
void dpumap_task_pool_destroy(struct task_pool *pool);

/* Whether the context is RUNNING and a task is free. */
static inline bool dpumap_task_pool_has_task(const struct task_pool *pool,
					     const struct doca_ctx *ctx)
{
	return ctx->state == DOCA_CTX_STATE_RUNNING && pool->free;
}

/* Log and return why the pool has no task. */
doca_error_t dpumap_task_pool_refuse(const struct task_pool *pool, const struct doca_ctx *ctx,
				     const char *function);

/* To be called only if the pool has a task. */
static inline struct doca_task *dpumap_task_pool_take(struct task_pool *pool,
						      union doca_data user_data)
{
	struct doca_task *task = pool->free;

	pool->free = task->next;
	task->ctx->num_allocated++;
	task->allocated = DPUMAP_TASK_ALLOCATED;
	task->user_data = user_data;
	task->status = DOCA_SUCCESS;
	return task;
}

static inline void dpumap_task_pool_put(struct doca_task *task)
{
	task->next = task->pool->free;
	task->pool->free = task;
}

/* Tasks in the order in which they were appended. */
struct task_list {
	struct doca_task *first, *last;
};

static inline void dpumap_task_list_append(struct task_list *list, struct doca_task *task)
{
	task->next = NULL;
	if (doca_likely(list->first != NULL))
		list->last->next = task;
	else
		list->first = task;
	list->last = task;
}

/* NULL if the list is empty. */
static inline struct doca_task *dpumap_task_list_take(struct task_list *list)
{
	struct doca_task *task = list->first;

	if (task)
		list->first = task->next;
	return task;
}

/* What contexts do with their tasks. */
struct doca_task;

/* After the callback of a task: free it if the program did so before the callback. */
void dpumap_task_release_early(struct doca_task *task);

#endif
