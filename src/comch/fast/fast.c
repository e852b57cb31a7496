/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "comch/fast/fast.h"

#include <inttypes.h>

#include "core/pe/pe.h"
#include "device/queue/message_queue.h"
#include "log/log.h"

doca_error_t dpumap_comch_poller_start(struct comch_poller *poller, const struct comch_endpoint *of)
{
	doca_error_t result;

	*poller = (struct comch_poller){.connection = of->connection, .pe = of->ctx->pe};
	result = dpumap_pe_watch(poller->pe, dpumap_comch_conn_fd(poller->connection));
	poller->is_watching = result == DOCA_SUCCESS;
	return result;
}

void dpumap_comch_poller_stop(struct comch_poller *poller)
{
	if (poller->is_watching)
		dpumap_pe_unwatch(poller->pe, dpumap_comch_conn_fd(poller->connection));
	poller->is_watching = false;
}

/* The descriptor of a connection that ended stays readable. */
bool dpumap_comch_poller_lose(struct comch_poller *poller, const struct comch_endpoint *of)
{
	struct doca_ctx *ctx = of->ctx;

	dpumap_comch_poller_stop(poller);
	if (ctx->state != DOCA_CTX_STATE_RUNNING)
		return false;
	dpumap_log(DPUMAP_LOG_INFO, "%s %" PRIu32 " stops: its connection ended", ctx->ops->name,
		   of->id);
	dpumap_ctx_get(ctx);
	dpumap_ctx_begin_stop(ctx);
	dpumap_ctx_put(ctx);
	return true;
}

uint32_t dpumap_comch_max_tasks(const struct doca_ctx *ctx)
{
	uint32_t max = dpumap_mq_max_depth(ctx->dev->device);

	return max < COMCH_MAX_TASKS ? max : COMCH_MAX_TASKS;
}
