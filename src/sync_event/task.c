/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "sync_event/sync_event.h"

#include <inttypes.h>

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
			      uint32_t num_tasks, const char *function)
{
	if (event->is_started || event->ctx.state != DOCA_CTX_STATE_IDLE)
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED,
				   "%s: sync event %p is started: stop it first", function,
				   (void *)event);
	event->pools[kind].num_tasks = num_tasks;
	return DOCA_SUCCESS;
}

static doca_error_t allocate(struct doca_sync_event *event, enum sync_kind kind,
			     union doca_data user_data, struct sync_task **task,
			     const char *function)
{
	struct sync_pool *pool = &event->pools[kind];
	struct sync_task *taken = pool->free;

	if (event->ctx.state != DOCA_CTX_STATE_RUNNING)
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "%s: the context of sync event %p is not running", function,
				   (void *)event);
	if (!taken)
		return dpumap_fail_quiet(DOCA_ERROR_NO_MEMORY,
					 "%s: sync event %p: all %" PRIu32 " tasks are allocated",
					 function, (void *)event, pool->num_tasks);
	pool->free = taken->next;
	event->ctx.num_allocated++;
	taken->base.allocated = true;
	taken->base.user_data = user_data;
	taken->base.status = DOCA_SUCCESS;
	*task = taken;
	return DOCA_SUCCESS;
}

static doca_error_t allocate_wait(struct doca_sync_event *event, enum sync_kind kind,
				  uint64_t value, uint64_t mask, union doca_data user_data,
				  struct sync_task **task, const char *function)
{
	doca_error_t result = allocate(event, kind, user_data, task, function);

	if (result != DOCA_SUCCESS)
		return result;
	(*task)->value = value;
	(*task)->mask = mask;
	return DOCA_SUCCESS;
}

/* --- callbacks and pools ---------------------------------------------------------------------- */

doca_error_t
doca_sync_event_task_get_set_conf(struct doca_sync_event *event,
				  doca_sync_event_task_get_completion_cb_t success_completion_cb,
				  doca_sync_event_task_get_completion_cb_t error_completion_cb,
				  uint32_t num_tasks)
{
	doca_error_t result;

	if (!event || !success_completion_cb || !error_completion_cb)
		return dpumap_fail_null(__func__);
	result = configure(event, SYNC_GET, num_tasks, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	event->success.get = success_completion_cb;
	event->error.get = error_completion_cb;
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_task_notify_set_set_conf(
	struct doca_sync_event *event,
	doca_sync_event_task_notify_set_completion_cb_t success_completion_cb,
	doca_sync_event_task_notify_set_completion_cb_t error_completion_cb, uint32_t num_tasks)
{
	doca_error_t result;

	if (!event || !success_completion_cb || !error_completion_cb)
		return dpumap_fail_null(__func__);
	result = configure(event, SYNC_NOTIFY_SET, num_tasks, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	event->success.notify_set = success_completion_cb;
	event->error.notify_set = error_completion_cb;
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_task_notify_add_set_conf(
	struct doca_sync_event *event,
	doca_sync_event_task_notify_add_completion_cb_t success_completion_cb,
	doca_sync_event_task_notify_add_completion_cb_t error_completion_cb, uint32_t num_tasks)
{
	doca_error_t result;

	if (!event || !success_completion_cb || !error_completion_cb)
		return dpumap_fail_null(__func__);
	result = configure(event, SYNC_NOTIFY_ADD, num_tasks, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	event->success.notify_add = success_completion_cb;
	event->error.notify_add = error_completion_cb;
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_task_wait_eq_set_conf(
	struct doca_sync_event *event,
	doca_sync_event_task_wait_eq_completion_cb_t success_completion_cb,
	doca_sync_event_task_wait_eq_completion_cb_t error_completion_cb, uint32_t num_tasks)
{
	doca_error_t result;

	if (!event || !success_completion_cb || !error_completion_cb)
		return dpumap_fail_null(__func__);
	result = configure(event, SYNC_WAIT_EQ, num_tasks, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	event->success.wait_eq = success_completion_cb;
	event->error.wait_eq = error_completion_cb;
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_task_wait_neq_set_conf(
	struct doca_sync_event *event,
	doca_sync_event_task_wait_neq_completion_cb_t success_completion_cb,
	doca_sync_event_task_wait_neq_completion_cb_t error_completion_cb, uint32_t num_tasks)
{
	doca_error_t result;

	if (!event || !success_completion_cb || !error_completion_cb)
		return dpumap_fail_null(__func__);
	result = configure(event, SYNC_WAIT_NEQ, num_tasks, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	event->success.wait_neq = success_completion_cb;
	event->error.wait_neq = error_completion_cb;
	return DOCA_SUCCESS;
}

struct doca_task *doca_sync_event_task_get_as_doca_task(struct doca_sync_event_task_get *task)
{
	return task ? &task->task.base : NULL;
}

struct doca_task *
doca_sync_event_task_notify_set_as_doca_task(struct doca_sync_event_task_notify_set *task)
{
	return task ? &task->task.base : NULL;
}

struct doca_task *
doca_sync_event_task_notify_add_as_doca_task(struct doca_sync_event_task_notify_add *task)
{
	return task ? &task->task.base : NULL;
}

struct doca_task *
doca_sync_event_task_wait_eq_as_doca_task(struct doca_sync_event_task_wait_eq *task)
{
	return task ? &task->task.base : NULL;
}

struct doca_task *
doca_sync_event_task_wait_neq_as_doca_task(struct doca_sync_event_task_wait_neq *task)
{
	return task ? &task->task.base : NULL;
}

/* The program may destroy the event in its callback. */
static void call(const struct sync_callbacks *cb, struct sync_task *task, union doca_data ctx_data)
{
	union doca_data data = task->base.user_data;

	switch (task->kind) {
	case SYNC_GET:
		cb->get((struct doca_sync_event_task_get *)task, data, ctx_data);
		break;
	case SYNC_NOTIFY_SET:
		cb->notify_set((struct doca_sync_event_task_notify_set *)task, data, ctx_data);
		break;
	case SYNC_NOTIFY_ADD:
		cb->notify_add((struct doca_sync_event_task_notify_add *)task, data, ctx_data);
		break;
	case SYNC_WAIT_EQ:
		cb->wait_eq((struct doca_sync_event_task_wait_eq *)task, data, ctx_data);
		break;
	default:
		cb->wait_neq((struct doca_sync_event_task_wait_neq *)task, data, ctx_data);
	}
}

void dpumap_sync_complete(struct doca_task *base)
{
	struct sync_task *task = (struct sync_task *)base;
	struct doca_sync_event *event = dpumap_sync_of(base->ctx);
	bool good = base->status == DOCA_SUCCESS;

	if (good && task->out)
		*task->out = task->op.value;
	if (!dpumap_task_complete_node(base))
		call(good ? &event->success : &event->error, task, event->ctx.user_data);
}

/* Each completion looks for a node. */
void dpumap_sync_enter_graph(struct doca_ctx *ctx)
{
	(void)ctx;
}

void dpumap_sync_release(struct doca_task *base)
{
	struct sync_task *task = (struct sync_task *)base;
	struct sync_pool *pool = &dpumap_sync_of(base->ctx)->pools[task->kind];

	task->next = pool->free;
	pool->free = task;
}

/* --- allocation ------------------------------------------------------------------------------- */

doca_error_t doca_sync_event_task_get_alloc_init(struct doca_sync_event *event,
						 uint64_t *ret_val_ptr, union doca_data user_data,
						 struct doca_sync_event_task_get **task)
{
	struct sync_task *taken;
	doca_error_t result;

	if (!event || !ret_val_ptr || !task)
		return dpumap_fail_null(__func__);
	result = allocate(event, SYNC_GET, user_data, &taken, __func__);
	if (result != DOCA_SUCCESS)
		return result;
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
	doca_error_t result;

	if (!event || !task)
		return dpumap_fail_null(__func__);
	result = allocate(event, SYNC_NOTIFY_SET, user_data, &taken, __func__);
	if (result != DOCA_SUCCESS)
		return result;
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
	doca_error_t result;

	if (!event || !fetched_val_ptr || !task)
		return dpumap_fail_null(__func__);
	result = allocate(event, SYNC_NOTIFY_ADD, user_data, &taken, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	taken->value = inc_val;
	taken->out = fetched_val_ptr;
	*task = (struct doca_sync_event_task_notify_add *)taken;
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_task_wait_eq_alloc_init(struct doca_sync_event *event,
						     uint64_t wait_val, uint64_t mask,
						     union doca_data user_data,
						     struct doca_sync_event_task_wait_eq **task)
{
	struct sync_task *taken;
	doca_error_t result;

	if (!event || !task)
		return dpumap_fail_null(__func__);
	result = allocate_wait(event, SYNC_WAIT_EQ, wait_val, mask, user_data, &taken, __func__);
	if (result == DOCA_SUCCESS)
		*task = (struct doca_sync_event_task_wait_eq *)taken;
	return result;
}

doca_error_t doca_sync_event_task_wait_neq_alloc_init(struct doca_sync_event *event,
						      uint64_t wait_val, uint64_t mask,
						      union doca_data user_data,
						      struct doca_sync_event_task_wait_neq **task)
{
	struct sync_task *taken;
	doca_error_t result;

	if (!event || !task)
		return dpumap_fail_null(__func__);
	result = allocate_wait(event, SYNC_WAIT_NEQ, wait_val, mask, user_data, &taken, __func__);
	if (result == DOCA_SUCCESS)
		*task = (struct doca_sync_event_task_wait_neq *)taken;
	return result;
}

/* --- arguments -------------------------------------------------------------------------------- */

void doca_sync_event_task_get_set_ret_val_ptr(struct doca_sync_event_task_get *task,
					      uint64_t *ret_val_ptr)
{
	task->task.out = ret_val_ptr;
}

uint64_t *doca_sync_event_task_get_get_ret_val_ptr(const struct doca_sync_event_task_get *task)
{
	return task->task.out;
}

void doca_sync_event_task_notify_set_set_set_val(struct doca_sync_event_task_notify_set *task,
						 uint64_t set_val)
{
	task->task.value = set_val;
}

uint64_t
doca_sync_event_task_notify_set_get_set_val(const struct doca_sync_event_task_notify_set *task)
{
	return task->task.value;
}

void doca_sync_event_task_notify_add_set_inc_val(struct doca_sync_event_task_notify_add *task,
						 uint64_t inc_val)
{
	task->task.value = inc_val;
}

uint64_t
doca_sync_event_task_notify_add_get_inc_val(const struct doca_sync_event_task_notify_add *task)
{
	return task->task.value;
}

void doca_sync_event_task_notify_add_set_fetched_val_ptr(
	struct doca_sync_event_task_notify_add *task, uint64_t *fetched_val_ptr)
{
	task->task.out = fetched_val_ptr;
}

uint64_t *doca_sync_event_task_notify_add_get_fetched_val_ptr(
	const struct doca_sync_event_task_notify_add *task)
{
	return task->task.out;
}

void doca_sync_event_task_wait_eq_set_wait_val(struct doca_sync_event_task_wait_eq *task,
					       uint64_t wait_val)
{
	task->task.value = wait_val;
}

uint64_t doca_sync_event_task_wait_eq_get_wait_val(const struct doca_sync_event_task_wait_eq *task)
{
	return task->task.value;
}

void doca_sync_event_task_wait_eq_set_mask(struct doca_sync_event_task_wait_eq *task, uint64_t mask)
{
	task->task.mask = mask;
}

uint64_t doca_sync_event_task_wait_eq_get_mask(const struct doca_sync_event_task_wait_eq *task)
{
	return task->task.mask;
}

void doca_sync_event_task_wait_neq_set_wait_val(struct doca_sync_event_task_wait_neq *task,
						uint64_t wait_val)
{
	task->task.value = wait_val;
}

uint64_t
doca_sync_event_task_wait_neq_get_wait_val(const struct doca_sync_event_task_wait_neq *task)
{
	return task->task.value;
}

void doca_sync_event_task_wait_neq_set_mask(struct doca_sync_event_task_wait_neq *task,
					    uint64_t mask)
{
	task->task.mask = mask;
}

uint64_t doca_sync_event_task_wait_neq_get_mask(const struct doca_sync_event_task_wait_neq *task)
{
	return task->task.mask;
}
