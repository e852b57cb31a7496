/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "comch/fast/fast.h"

#include <inttypes.h>

#include "core/pe/pe.h"
#include "device/queue/message_queue.h"
#include "log/log.h"

doca_error_t dpumap_comch_pulse_start(struct comch_pulse *pulse, const struct comch_endpoint *of)
{
	doca_error_t result;

	*pulse = (struct comch_pulse){.connection = of->connection, .pe = of->ctx->pe};
	result = dpumap_pe_watch(pulse->pe, dpumap_comch_conn_fd(pulse->connection));
	pulse->is_watching = result == DOCA_SUCCESS;
	return result;
}

void dpumap_comch_pulse_stop(struct comch_pulse *pulse)
{
	if (pulse->is_watching)
		dpumap_pe_unwatch(pulse->pe, dpumap_comch_conn_fd(pulse->connection));
	pulse->is_watching = false;
}

/* The descriptor of a connection that ended stays readable. */
bool dpumap_comch_pulse_lose(struct comch_pulse *pulse, const struct comch_endpoint *of)
{
	struct doca_ctx *ctx = of->ctx;

	dpumap_comch_pulse_stop(pulse);
	if (ctx->state != DOCA_CTX_STATE_RUNNING)
		return false;
	dpumap_log(DPUMAP_LOG_INFO, "%s %" PRIu32 " stops: its connection ended", ctx->ops->name,
		   of->id);
	dpumap_ctx_get(ctx);
	dpumap_ctx_begin_stop(ctx);
	dpumap_ctx_put(ctx);
	return true;
}

doca_error_t dpumap_comch_check_num_tasks(const struct doca_ctx *ctx, uint32_t num_tasks)
{
	uint32_t max = dpumap_mq_max_depth(ctx->dev->device);

	if (max > COMCH_MAX_TASKS)
		max = COMCH_MAX_TASKS;
	if (!num_tasks || num_tasks > max)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s context %p: invalid number of tasks %" PRIu32
				   ", must be 1 to %" PRIu32,
				   ctx->ops->name, (const void *)ctx, num_tasks, max);
	return DOCA_SUCCESS;
}

__attribute__((cold)) doca_error_t
dpumap_comch_refuse_alloc(const struct doca_ctx *ctx, uint32_t num_tasks, const char *function)
{
	if (ctx->state != DOCA_CTX_STATE_RUNNING)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: %s context %p is not running",
				   function, ctx->ops->name, (const void *)ctx);
	return dpumap_fail_quiet(DOCA_ERROR_NO_MEMORY,
				 "%s context %p: all %" PRIu32 " tasks are allocated",
				 ctx->ops->name, (const void *)ctx, num_tasks);
}
