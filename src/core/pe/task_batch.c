/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Batches of tasks. The library cannot create them, so each call fails. */
#include <doca_compat.h>

#include <doca_pe.h>

#include "log/log.h"

static doca_error_t refuse(const struct doca_task_batch *task_batch, const char *function)
{
	if (!task_batch)
		return dpumap_fail_null(function);
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: batches of tasks are not supported",
			   function);
}

doca_error_t doca_task_batch_submit(struct doca_task_batch *task_batch)
{
	return refuse(task_batch, __func__);
}

doca_error_t doca_task_batch_try_submit(struct doca_task_batch *task_batch)
{
	return refuse(task_batch, __func__);
}

void doca_task_batch_free(struct doca_task_batch *task_batch)
{
	(void)task_batch;
}

doca_error_t doca_task_batch_get_status(const struct doca_task_batch *task_batch)
{
	return refuse(task_batch, __func__);
}

void doca_task_batch_set_user_data(struct doca_task_batch *task_batch, union doca_data user_data)
{
	(void)task_batch;
	(void)user_data;
}

union doca_data doca_task_batch_get_user_data(const struct doca_task_batch *task_batch)
{
	(void)task_batch;
	return (union doca_data){.u64 = 0};
}

struct doca_ctx *doca_task_batch_get_ctx(const struct doca_task_batch *task_batch)
{
	(void)task_batch;
	return NULL;
}

union doca_data doca_task_batch_get_ctx_user_data(const struct doca_task_batch *task_batch)
{
	(void)task_batch;
	return (union doca_data){.u64 = 0};
}

uint32_t doca_task_batch_get_tasks_num(const struct doca_task_batch *task_batch)
{
	(void)task_batch;
	return 0;
}
