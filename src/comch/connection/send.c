/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "comch/connection/send.h"

#include <inttypes.h>

#include "comch/connection/connection.h"
#include "comch/connection/output.h"
#include "core/pe/pe.h"
#include "log/log.h"

static struct comch_control *control_of(const struct doca_task *task)
{
	return (struct comch_control *)task->ctx;
}

doca_error_t dpumap_comch_send_set_conf(struct comch_control *control, const char *function,
					doca_comch_task_send_completion_cb_t success_cb,
					doca_comch_task_send_completion_cb_t error_cb,
					uint32_t num_tasks)
{
	doca_error_t result;

	if (!control || !success_cb || !error_cb)
		return dpumap_fail_null(function);
	result = dpumap_ctx_check_idle(&control->ctx, function);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_task_pool_configure(&control->pool.tasks, &control->ctx, num_tasks,
					    COMCH_MAX_SEND_TASKS);
	if (result != DOCA_SUCCESS)
		return result;
	control->success_cb = success_cb;
	control->error_cb = error_cb;
	return DOCA_SUCCESS;
}

static doca_error_t check_alloc(const struct comch_control *control, const char *function,
				const struct doca_comch_connection *peer, uint32_t len)
{
	if (control->ctx.state != DOCA_CTX_STATE_RUNNING)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: %s context %p is not running",
				   function, control->ctx.ops->name, (const void *)control);
	if (peer->owner && peer->owner != &control->owner)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s: connection %p belongs to another context", function,
				   (const void *)peer);
	if (!dpumap_comch_control_owns(control, peer) || !dpumap_comch_conn_is_up(peer))
		return dpumap_fail_info(DOCA_ERROR_NOT_CONNECTED, "%s: connection %p has ended",
					function, (const void *)peer);
	if (!len || len > peer->max_message)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s: invalid length of %" PRIu32 " bytes, must be 1 to %" PRIu32,
				   function, len, peer->max_message);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_comch_send_alloc(struct comch_control *control, const char *function,
				     struct doca_comch_connection *peer, const void *msg,
				     uint32_t len, struct doca_comch_task_send **task)
{
	struct doca_comch_task_send *taken;
	doca_error_t result;

	if (!control || !peer || !msg || !task)
		return dpumap_fail_null(function);
	result = check_alloc(control, function, peer, len);
	if (result != DOCA_SUCCESS)
		return result;
	if (!dpumap_task_pool_has_task(&control->pool.tasks, &control->ctx))
		return dpumap_task_pool_refuse(&control->pool.tasks, &control->ctx, function);
	taken = comch_task_of(dpumap_task_pool_take(&control->pool.tasks, (union doca_data){0}));
	taken->connection = peer;
	taken->msg = msg;
	taken->len = len;
	dpumap_comch_conn_get(peer);
	*task = taken;
	return DOCA_SUCCESS;
}

struct doca_task *doca_comch_task_send_as_task(struct doca_comch_task_send *task)
{
	return task ? &task->base : NULL;
}

doca_error_t dpumap_comch_send_submit(struct doca_task *base, uint32_t flags)
{
	struct doca_comch_task_send *task = (struct doca_comch_task_send *)base;
	struct comch_control *control = control_of(base);

	(void)flags;
	if (!dpumap_comch_control_owns(control, task->connection) ||
	    !dpumap_comch_conn_is_up(task->connection)) {
		base->status = DOCA_ERROR_NOT_CONNECTED;
		dpumap_task_list_append(&control->late, &task->base);
		dpumap_pe_wake(control->ctx.pe);
		return DOCA_SUCCESS;
	}
	dpumap_comch_conn_lock(task->connection);
	dpumap_comch_output_message(task->connection, task);
	dpumap_comch_conn_unlock(task->connection);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_comch_send_check(const struct doca_task *base)
{
	const struct doca_comch_task_send *task = (const struct doca_comch_task_send *)base;

	return dpumap_comch_conn_is_up(task->connection) ? DOCA_SUCCESS : DOCA_ERROR_NOT_CONNECTED;
}

void dpumap_comch_send_complete(struct doca_task *base)
{
	struct comch_control *control = control_of(base);
	struct doca_comch_task_send *task = (struct doca_comch_task_send *)base;

	if (base->status == DOCA_SUCCESS)
		control->success_cb(task, base->user_data, control->ctx.user_data);
	else
		control->error_cb(task, base->user_data, control->ctx.user_data);
}

void dpumap_comch_send_release(struct doca_task *task)
{
	dpumap_comch_conn_put(comch_task_of(task)->connection);
}
