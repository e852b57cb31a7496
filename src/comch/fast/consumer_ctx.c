/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "comch/fast/consumer.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/pe/pe.h"
#include "log/log.h"

static doca_error_t create_queue(struct doca_comch_consumer *consumer)
{
	struct doca_ctx *ctx = &consumer->ctx;
	struct dpumap_mq_attr attr = {
		.depth = consumer->pool.num_tasks,
		.header_len = dpumap_comch_header_len(consumer->imm_len),
		.vector = ctx->vector,
	};
	doca_error_t result = dpumap_pe_get_events(ctx->pe, ctx->dev, &consumer->events);

	if (result != DOCA_SUCCESS)
		return result;
	attr.events = consumer->events;
	result = dpumap_mq_recv_create(ctx->dev->device, &attr, &consumer->recv);
	if (result != DOCA_SUCCESS) {
		dpumap_pe_put_events(ctx->pe, consumer->events);
		consumer->recv = NULL;
	}
	return result;
}

/* Stop the device's access to the posted receives; idempotent. On failure call again. */
static doca_error_t close_consumer(struct doca_comch_consumer *consumer)
{
	doca_error_t result;

	if (consumer->is_closed)
		return DOCA_SUCCESS;
	result = dpumap_comch_consumer_withdraw(consumer);
	if (result == DOCA_SUCCESS)
		result = dpumap_mq_recv_stop(consumer->recv);
	consumer->is_closed = result == DOCA_SUCCESS;
	return result;
}

static doca_error_t stop(struct doca_ctx *ctx)
{
	struct doca_comch_consumer *consumer = dpumap_comch_consumer_of(ctx);
	doca_error_t result = close_consumer(consumer);

	if (result == DOCA_SUCCESS)
		result = dpumap_mq_recv_destroy(consumer->recv);
	if (result != DOCA_SUCCESS)
		return result;
	consumer->recv = NULL;
	consumer->finished = NULL;
	dpumap_comch_poller_stop(&consumer->poller);
	dpumap_pe_put_events(ctx->pe, consumer->events);
	return DOCA_SUCCESS;
}

static doca_error_t start(struct doca_ctx *ctx)
{
	struct doca_comch_consumer *consumer = dpumap_comch_consumer_of(ctx);
	doca_error_t result;

	if (!consumer->pool.num_tasks)
		return dpumap_fail(
			DOCA_ERROR_BAD_STATE,
			"comch consumer %" PRIu32
			": call doca_comch_consumer_task_post_recv_set_conf() before starting it",
			consumer->endpoint.id);
	result = dpumap_task_pool_create(&consumer->pool, ctx,
					 sizeof(struct doca_comch_consumer_task_post_recv));
	if (result == DOCA_SUCCESS)
		result = create_queue(consumer);
	if (result != DOCA_SUCCESS)
		return result;
	consumer->is_closed = false;
	result = dpumap_comch_poller_start(&consumer->poller, &consumer->endpoint);
	if (result == DOCA_SUCCESS)
		result = dpumap_comch_consumer_announce(consumer);
	if (result != DOCA_SUCCESS) {
		stop(ctx);
		return result;
	}
	return DOCA_ERROR_IN_PROGRESS;
}

static doca_error_t poll_start(struct doca_ctx *ctx)
{
	struct doca_comch_consumer *consumer = dpumap_comch_consumer_of(ctx);

	if (atomic_load(&consumer->answer) == DOCA_ERROR_IN_PROGRESS)
		dpumap_comch_poller_run(&consumer->poller, true);
	if (atomic_load(&consumer->is_down))
		return dpumap_fail(DOCA_ERROR_NOT_CONNECTED,
				   "comch consumer %" PRIu32 " cannot start: its connection ended",
				   consumer->endpoint.id);
	return atomic_load(&consumer->answer);
}

static bool is_state_ready(struct doca_ctx *ctx)
{
	struct doca_comch_consumer *consumer = dpumap_comch_consumer_of(ctx);

	return ctx->state != DOCA_CTX_STATE_STARTING || atomic_load(&consumer->is_down) ||
	       atomic_load(&consumer->answer) != DOCA_ERROR_IN_PROGRESS;
}

static void begin_stop(struct doca_ctx *ctx)
{
	(void)close_consumer(dpumap_comch_consumer_of(ctx)); /* or progress() does */
}

__attribute__((noinline)) bool dpumap_comch_consumer_idle(struct doca_comch_consumer *consumer)
{
	if (doca_unlikely(atomic_load(&consumer->is_down)))
		if (dpumap_comch_poller_lose(&consumer->poller, &consumer->endpoint))
			return true;
	if (doca_unlikely(consumer->ctx.state == DOCA_CTX_STATE_STOPPING))
		(void)close_consumer(consumer);
	dpumap_comch_poller_run(&consumer->poller, false);
	return false;
}

static doca_error_t arm(struct doca_ctx *ctx)
{
	struct doca_comch_consumer *consumer = dpumap_comch_consumer_of(ctx);

	dpumap_mq_recv_arm(consumer->recv);
	dpumap_comch_poller_run_soon(&consumer->poller);
	return DOCA_SUCCESS;
}

static bool is_ready(struct doca_ctx *ctx)
{
	struct doca_comch_consumer *consumer = dpumap_comch_consumer_of(ctx);

	if (!consumer->finished)
		consumer->finished = dpumap_comch_consumer_next_task(consumer);
	return consumer->finished ||
	       (ctx->state == DOCA_CTX_STATE_RUNNING && atomic_load(&consumer->is_down));
}

static void free_consumer(struct doca_ctx *ctx)
{
	struct doca_comch_consumer *consumer = dpumap_comch_consumer_of(ctx);

	dpumap_task_pool_destroy(&consumer->pool);
	free(consumer);
}

const struct ctx_ops dpumap_comch_consumer_ctx_ops = {
	.name = "comch consumer",
	.survives_failure = true,
	.start = start,
	.poll_start = poll_start,
	.begin_stop = begin_stop,
	.stop = stop,
	.free = free_consumer,
	.submit = dpumap_comch_consumer_task_submit,
	.check = dpumap_comch_consumer_task_check,
	.progress = dpumap_comch_consumer_task_progress,
	.complete = dpumap_comch_consumer_task_complete,
	.frees_inflight = true,
	.arm = arm,
	.is_ready = is_ready,
	.is_state_ready = is_state_ready,
};
