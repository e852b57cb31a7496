/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "sync_event/sync_event.h"

#include "log/log.h"

struct doca_sync_event_task_get {
	struct sync_task task;
};

struct doca_sync_event_task_notify_set {
	struct sync_task task;
};

struct doca_sync_event_task_notify_add {
	struct sync_task task;
};

struct doca_sync_event_task_wait_eq {
	struct sync_task task;
};

struct doca_sync_event_task_wait_neq {
	struct sync_task task;
};

static doca_error_t configure(struct doca_sync_event *event, enum sync_kind kind,
			      sync_callback *success, sync_callback *error, uint32_t num_tasks,
			      const char *function)
{
	if (!event || !success || !error)
		return dpumap_fail_null(function);
	if (event->is_started || event->ctx.state != DOCA_CTX_STATE_IDLE)
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED,
				   "%s: sync event %p is started: stop it first", function,
				   (void *)event);
	event->pools[kind].success = success;
	event->pools[kind].error = error;
	event->pools[kind].pool.num_tasks = num_tasks;
	return DOCA_SUCCESS;
}

/* NULL: refuse() says why. */
static struct sync_task *take(struct doca_sync_event *event, enum sync_kind kind,
			      union doca_data user_data)
{
	struct task_pool *pool = &event->pools[kind].pool;
	struct sync_task *task;

	if (!dpumap_task_pool_has_task(pool, &event->ctx))
		return NULL;
	task = dpumap_sync_task_of(dpumap_task_pool_take(pool, user_data));
	task->kind = kind;
	return task;
}

static doca_error_t refuse(const struct doca_sync_event *event, enum sync_kind kind,
			   const char *function)
{
	return dpumap_task_pool_refuse(&event->pools[kind].pool, &event->ctx, function);
}

/* --- configuration, and the callbacks --------------------------------------------------------- */

#define TASK(name, kind)                                                                     \
	doca_error_t doca_sync_event_task_##name##_set_conf(                                 \
		struct doca_sync_event *event,                                               \
		doca_sync_event_task_##name##_completion_cb_t success_completion_cb,         \
		doca_sync_event_task_##name##_completion_cb_t error_completion_cb,           \
		uint32_t num_tasks)                                                          \
	{                                                                                    \
		return configure(event, kind, (sync_callback *)success_completion_cb,        \
				 (sync_callback *)error_completion_cb, num_tasks, __func__); \
	}                                                                                    \
	struct doca_task *doca_sync_event_task_##name##_as_doca_task(                        \
		struct doca_sync_event_task_##name *task)                                    \
	{                                                                                    \
		return task ? &task->task.base : NULL;                                       \
	}                                                                                    \
	static void call_##name(struct sync_task *task, sync_callback *callback)             \
	{                                                                                    \
		((doca_sync_event_task_##name##_completion_cb_t)callback)(                   \
			(struct doca_sync_event_task_##name *)task, task->base.user_data,    \
			task->base.ctx->user_data);                                          \
	}

TASK(get, SYNC_GET)
TASK(notify_set, SYNC_NOTIFY_SET)
TASK(notify_add, SYNC_NOTIFY_ADD)
TASK(wait_eq, SYNC_WAIT_EQ)
TASK(wait_neq, SYNC_WAIT_NEQ)

static void call(struct sync_task *task, sync_callback *callback)
{
	static void (*const calls[SYNC_NUM_KINDS])(struct sync_task *, sync_callback *) = {
		[SYNC_GET] = call_get,
		[SYNC_NOTIFY_SET] = call_notify_set,
		[SYNC_NOTIFY_ADD] = call_notify_add,
		[SYNC_WAIT_EQ] = call_wait_eq,
		[SYNC_WAIT_NEQ] = call_wait_neq,
	};

	calls[task->kind](task, callback);
}

void dpumap_sync_complete(struct doca_task *base)
{
	struct sync_task *task = (struct sync_task *)base;
	const struct sync_pool *pool = (const struct sync_pool *)base->pool;
	bool good = base->status == DOCA_SUCCESS;

	if (good && task->out)
		*task->out = task->op.value;
	if (!dpumap_task_complete_node(base))
		call(task, good ? pool->success : pool->error);
}

/* Each completion looks for a node. */
void dpumap_sync_enter_graph(struct doca_ctx *ctx)
{
	(void)ctx;
}

/* --- allocation ------------------------------------------------------------------------------- */

doca_error_t doca_sync_event_task_get_alloc_init(struct doca_sync_event *event,
						 uint64_t *ret_val_ptr, union doca_data user_data,
						 struct doca_sync_event_task_get **task)
{
	struct sync_task *taken;

	if (!event || !ret_val_ptr || !task)
		return dpumap_fail_null(__func__);
	taken = take(event, SYNC_GET, user_data);
	if (!taken)
		return refuse(event, SYNC_GET, __func__);
	taken->out = ret_val_ptr;
	*task = (struct doca_sync_event_task_get *)taken;
	return DOCA_SUCCESS;
}

doca_error_t
doca_sync_event_task_notify_set_alloc_init(struct doca_sync_event *event, uint64_t set_val,
					   union doca_data user_data,
					   struct doca_sync_event_task_notify_set **task)
{
	struct sync_task *taken;

	if (!event || !task)
		return dpumap_fail_null(__func__);
	taken = take(event, SYNC_NOTIFY_SET, user_data);
	if (!taken)
		return refuse(event, SYNC_NOTIFY_SET, __func__);
	taken->value = set_val;
	*task = (struct doca_sync_event_task_notify_set *)taken;
	return DOCA_SUCCESS;
}

doca_error_t
doca_sync_event_task_notify_add_alloc_init(struct doca_sync_event *event, uint64_t inc_val,
					   uint64_t *fetched_val_ptr, union doca_data user_data,
					   struct doca_sync_event_task_notify_add **task)
{
	struct sync_task *taken;

	if (!event || !fetched_val_ptr || !task)
		return dpumap_fail_null(__func__);
	taken = take(event, SYNC_NOTIFY_ADD, user_data);
	if (!taken)
		return refuse(event, SYNC_NOTIFY_ADD, __func__);
	taken->value = inc_val;
	taken->out = fetched_val_ptr;
	*task = (struct doca_sync_event_task_notify_add *)taken;
	return DOCA_SUCCESS;
}

#define ALLOC_WAIT(name, kind)                                                        \
	doca_error_t doca_sync_event_task_##name##_alloc_init(                        \
		struct doca_sync_event *event, uint64_t wait_val, uint64_t mask,      \
		union doca_data user_data, struct doca_sync_event_task_##name **task) \
	{                                                                             \
		struct sync_task *taken;                                              \
                                                                                      \
		if (!event || !task)                                                  \
			return dpumap_fail_null(__func__);                            \
		taken = take(event, kind, user_data);                                 \
		if (!taken)                                                           \
			return refuse(event, kind, __func__);                         \
		taken->value = wait_val;                                              \
		taken->mask = mask;                                                   \
		*task = (struct doca_sync_event_task_##name *)taken;                  \
		return DOCA_SUCCESS;                                                  \
	}

ALLOC_WAIT(wait_eq, SYNC_WAIT_EQ)
ALLOC_WAIT(wait_neq, SYNC_WAIT_NEQ)

/* --- arguments -------------------------------------------------------------------------------- */

#define FIELD(name, field, type, member)                                                         \
	void doca_sync_event_task_##name##_set_##field(struct doca_sync_event_task_##name *task, \
						       type field)                               \
	{                                                                                        \
		task->task.member = field;                                                       \
	}                                                                                        \
	type doca_sync_event_task_##name##_get_##field(                                          \
		const struct doca_sync_event_task_##name *task)                                  \
	{                                                                                        \
		return task->task.member;                                                        \
	}

FIELD(get, ret_val_ptr, uint64_t *, out)
FIELD(notify_set, set_val, uint64_t, value)
FIELD(notify_add, inc_val, uint64_t, value)
FIELD(notify_add, fetched_val_ptr, uint64_t *, out)
FIELD(wait_eq, wait_val, uint64_t, value)
FIELD(wait_eq, mask, uint64_t, mask)
FIELD(wait_neq, wait_val, uint64_t, value)
FIELD(wait_neq, mask, uint64_t, mask)
