/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "comch/fast/producer.h"

#include <inttypes.h>
#include <stdlib.h>

#include "comch/fast/producer_link.h"
#include "core/pe/pe.h"
#include "log/log.h"

static void set_open(struct doca_comch_producer *producer, bool is_open)
{
	dpumap_comch_conn_lock(producer->endpoint.connection);
	producer->is_open = is_open;
	dpumap_comch_conn_unlock(producer->endpoint.connection);
}

static doca_error_t start(struct doca_ctx *ctx)
{
	struct doca_comch_producer *producer = dpumap_comch_producer_of(ctx);
	doca_error_t result;

	if (!producer->pool.num_tasks)
		return dpumap_fail(
			DOCA_ERROR_BAD_STATE,
			"comch producer %" PRIu32
			": call doca_comch_producer_task_send_set_conf() before starting it",
			producer->endpoint.id);
	if (!dpumap_comch_conn_is_up(producer->endpoint.connection))
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "comch producer %" PRIu32 " cannot start: its connection ended",
				   producer->endpoint.id);
	result = dpumap_task_pool_create(&producer->pool, ctx,
					 sizeof(struct doca_comch_producer_task_send));
	if (result == DOCA_SUCCESS)
		result = dpumap_pe_get_events(ctx->pe, ctx->dev, &producer->events);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_comch_poller_start(&producer->poller, &producer->endpoint);
	if (result != DOCA_SUCCESS) {
		dpumap_pe_put_events(ctx->pe, producer->events);
		return result;
	}
	set_open(producer, true);
	return DOCA_SUCCESS;
}

static void begin_stop(struct doca_ctx *ctx)
{
	(void)dpumap_comch_link_close_all(dpumap_comch_producer_of(ctx)); /* or progress() does */
}

static doca_error_t stop(struct doca_ctx *ctx)
{
	struct doca_comch_producer *producer = dpumap_comch_producer_of(ctx);

	if (!dpumap_comch_link_close_all(producer))
		return DOCA_ERROR_DRIVER;
	set_open(producer, false);
	dpumap_comch_poller_stop(&producer->poller);
	dpumap_pe_put_events(ctx->pe, producer->events);
	return DOCA_SUCCESS;
}

static bool is_opening(const struct doca_comch_producer *producer)
{
	const struct producer_link *link = producer->links;

	while (link && atomic_load_explicit(&link->state, memory_order_relaxed) != LINK_OPENING)
		link = link->next;
	return link;
}

/* The connection ended. */
static bool lose(struct doca_comch_producer *producer)
{
	dpumap_comch_poller_stop(&producer->poller);
	return !dpumap_comch_link_is_any_draining(producer) &&
	       dpumap_comch_poller_lose(&producer->poller, &producer->endpoint);
}

static bool is_to_lose(const struct doca_comch_producer *producer)
{
	return producer->ctx.state == DOCA_CTX_STATE_RUNNING && atomic_load(&producer->is_down) &&
	       !dpumap_comch_link_is_any_draining(producer);
}

__attribute__((noinline)) bool dpumap_comch_producer_idle(struct doca_comch_producer *producer)
{
	if (doca_unlikely(atomic_load(&producer->has_link_events)))
		dpumap_comch_link_handle_events(producer);
	if (doca_unlikely(atomic_load(&producer->is_down)) && lose(producer))
		return true;
	if (doca_unlikely(producer->ctx.state == DOCA_CTX_STATE_STOPPING))
		(void)dpumap_comch_link_close_all(producer);
	dpumap_comch_poller_run(&producer->poller, is_opening(producer));
	return false;
}

static doca_error_t arm(struct doca_ctx *ctx)
{
	struct doca_comch_producer *producer = dpumap_comch_producer_of(ctx);

	for (struct producer_link *link = producer->links; link; link = link->next)
		if (dpumap_comch_link_is_up(link))
			dpumap_mq_send_arm(link->send);
	dpumap_comch_poller_run_soon(&producer->poller);
	return DOCA_SUCCESS;
}

static bool is_ready(struct doca_ctx *ctx)
{
	struct doca_comch_producer *producer = dpumap_comch_producer_of(ctx);
	struct doca_comch_producer_task_send *task;

	if (producer->finished.first || atomic_load(&producer->has_link_events) ||
	    is_to_lose(producer))
		return true;
	task = dpumap_comch_producer_next_task(producer);
	if (task)
		dpumap_task_list_append(&producer->finished, &task->base);
	return task;
}

static void free_producer(struct doca_ctx *ctx)
{
	struct doca_comch_producer *producer = dpumap_comch_producer_of(ctx);
	struct producer_link *link;

	while ((link = producer->links)) {
		producer->links = link->next;
		free(link);
	}
	dpumap_task_pool_destroy(&producer->pool);
	free(producer);
}

const struct ctx_ops dpumap_comch_producer_ctx_ops = {
	.name = "comch producer",
	.survives_failure = true,
	.start = start,
	.begin_stop = begin_stop,
	.stop = stop,
	.free = free_producer,
	.submit = dpumap_comch_producer_task_submit,
	.check = dpumap_comch_producer_task_check,
	.flush = dpumap_comch_producer_flush,
	.progress = dpumap_comch_producer_task_progress,
	.complete = dpumap_comch_producer_task_complete,
	.arm = arm,
	.is_ready = is_ready,
};
