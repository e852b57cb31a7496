/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "rdma/rdma.h"

#include <stdlib.h>

#include "core/pe/pe.h"
#include "device/port.h"
#include "log/log.h"
#include "rdma/connection.h"
#include "rdma/manager.h"
#include "rdma/prepare.h"
#include "rdma/stop.h"
#include "rdma/task.h"

static doca_error_t start(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = dpumap_rdma_of(ctx);
	doca_error_t result;

	/* A port that comes up is active when the program connects. */
	result = dpumap_port_check(ctx->dev->device);
	if (result != DOCA_SUCCESS && result != DOCA_ERROR_IN_PROGRESS)
		return result;
	dpumap_rdma_connections_free(rdma);
	result = dpumap_rdma_create_pools(rdma);
	if (result == DOCA_SUCCESS)
		result = dpumap_pe_get_events(ctx->pe, ctx->dev, &rdma->events);
	if (result != DOCA_SUCCESS)
		return result;
	rdma->next_id = 0;
	rdma->log_mtu = 0;
	result = dpumap_rdma_open_queue(rdma);
	if (result != DOCA_SUCCESS)
		dpumap_pe_put_events(ctx->pe, rdma->events);
	return result;
}

static void begin_stop(struct doca_ctx *ctx)
{
	dpumap_rdma_begin_stop(dpumap_rdma_of(ctx));
}

static doca_error_t stop(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = dpumap_rdma_of(ctx);
	doca_error_t result = dpumap_rdma_connections_end(rdma);

	if (result == DOCA_SUCCESS)
		result = dpumap_rdma_close_queue(rdma);
	if (result != DOCA_SUCCESS)
		return result;
	/* Not earlier: after a failure the program still has its connections. */
	dpumap_rdma_manager_close(rdma);
	dpumap_pe_put_events(ctx->pe, rdma->events);
	return DOCA_SUCCESS;
}

/* Tasks first: what arrived before the end of a connection is reported before it. */
static bool progress(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = dpumap_rdma_of(ctx);
	bool is_overdue;

	if (doca_likely(rdma->is_fast))
		return dpumap_rdma_task_progress(ctx);
	if (!rdma->cm)
		return dpumap_ctx_progress(ctx);
	is_overdue = dpumap_rdma_manager_is_overdue(rdma);
	if (!is_overdue && dpumap_ctx_progress(ctx))
		return true;
	if (dpumap_rdma_manager_is_due(rdma) && dpumap_rdma_manager_progress(rdma))
		return true;
	return is_overdue && dpumap_ctx_progress(ctx);
}

static doca_error_t arm(struct doca_ctx *ctx)
{
	dpumap_rdma_of(ctx)->poll_now = true;
	return dpumap_rdma_arm(ctx);
}

static void free_rdma(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = dpumap_rdma_of(ctx);

	dpumap_rdma_connections_free(rdma);
	dpumap_rdma_free_pools(rdma);
	free(rdma);
}

static const struct ctx_ops rdma_ops = {
	.name = "RDMA",
	/* dpumap_rdma_task_poll() decides it. */
	.survives_failure = true,
	.start = start,
	.begin_stop = begin_stop,
	.stop = stop,
	.free = free_rdma,
	.submit = dpumap_rdma_task_submit,
	.check = dpumap_rdma_task_check,
	.flush = dpumap_rdma_flush,
	.progress = progress,
	.poll = dpumap_rdma_task_poll,
	.complete = dpumap_rdma_task_complete,
	.enter_graph = dpumap_rdma_enter_graph,
	.arm = arm,
	.is_ready = dpumap_rdma_is_ready,
};

doca_error_t doca_rdma_create(struct doca_dev *dev, struct doca_rdma **rdma)
{
	struct doca_rdma *created;

	if (!dev || !rdma)
		return dpumap_fail_null(__func__);
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for an RDMA context");
	dpumap_ctx_init(&created->ctx, &rdma_ops, dev);
	dpumap_rdma_settings_init(&created->settings, dpumap_device_caps(dev->device));
	*rdma = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_destroy(struct doca_rdma *rdma)
{
	doca_error_t result;

	if (!rdma)
		return dpumap_fail_null(__func__);
	result = dpumap_ctx_check_idle(&rdma->ctx, __func__);
	if (result == DOCA_SUCCESS)
		dpumap_ctx_release(&rdma->ctx);
	return result;
}

struct doca_ctx *doca_rdma_as_ctx(struct doca_rdma *rdma)
{
	return rdma ? &rdma->ctx : NULL;
}
