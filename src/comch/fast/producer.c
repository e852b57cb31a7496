/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "comch/fast/producer.h"

#include <stdlib.h>

#include "comch/fast/producer_link.h"
#include "log/log.h"

doca_error_t doca_comch_producer_create(struct doca_comch_connection *comch_connection,
					struct doca_comch_producer **producer)
{
	struct doca_comch_producer *created;
	struct doca_dev *dev;
	doca_error_t result;

	if (!comch_connection || !producer)
		return dpumap_fail_null(__func__);
	if (!dpumap_comch_conn_is_up(comch_connection))
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: connection %p is not established",
				   __func__, (void *)comch_connection);
	dev = dpumap_comch_conn_dev(comch_connection);
	result = dpumap_mq_check(dev->device);
	if (result != DOCA_SUCCESS)
		return result;
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a comch producer");
	created->endpoint.ops = &dpumap_comch_producer_endpoint_ops;
	created->endpoint.ctx = &created->ctx;
	created->endpoint.is_producer = true;
	dpumap_ctx_init(&created->ctx, &dpumap_comch_producer_ctx_ops, dev);
	result = dpumap_comch_conn_add(comch_connection, &created->endpoint);
	if (result != DOCA_SUCCESS) {
		dpumap_ctx_destroy(&created->ctx);
		return result;
	}
	*producer = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_producer_destroy(struct doca_comch_producer *producer)
{
	if (!producer)
		return dpumap_fail_null(__func__);
	if (producer->ctx.state == DOCA_CTX_STATE_IDLE)
		dpumap_comch_conn_remove(&producer->endpoint);
	return dpumap_ctx_destroy(&producer->ctx);
}

struct doca_ctx *doca_comch_producer_as_ctx(struct doca_comch_producer *producer)
{
	return producer ? &producer->ctx : NULL;
}

doca_error_t doca_comch_producer_get_id(const struct doca_comch_producer *producer, uint32_t *id)
{
	if (!producer || !id)
		return dpumap_fail_null(__func__);
	*id = producer->endpoint.id;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_producer_task_send_set_conf(
	struct doca_comch_producer *producer,
	doca_comch_producer_task_send_completion_cb_t task_completion_cb,
	doca_comch_producer_task_send_completion_cb_t task_error_cb, uint32_t num_send_tasks)
{
	doca_error_t result;

	if (!producer || !task_completion_cb || !task_error_cb)
		return dpumap_fail_null(__func__);
	result = dpumap_ctx_check_idle(&producer->ctx, __func__);
	if (result == DOCA_SUCCESS)
		result = dpumap_task_pool_configure(&producer->pool, &producer->ctx, num_send_tasks,
						    dpumap_comch_max_tasks(&producer->ctx));
	if (result != DOCA_SUCCESS)
		return result;
	producer->success_cb = task_completion_cb;
	producer->error_cb = task_error_cb;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_producer_get_gpu_handle(struct doca_comch_producer *producer,
						struct doca_comch_gpu_producer **gpu_producer)
{
	if (!producer || !gpu_producer)
		return dpumap_fail_null(__func__);
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
			   "%s: producer %p is not on a GPU: use its tasks from the CPU", __func__,
			   (void *)producer);
}
