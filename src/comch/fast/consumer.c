/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "comch/fast/consumer.h"

#include <inttypes.h>
#include <stdlib.h>

#include "log/log.h"

static bool permits_messages(const struct doca_mmap *mmap)
{
	return dpumap_mmap_is_imported(mmap)
		       ? mmap->ops & DPUMAP_DESC_OP_WRITE
		       : mmap->access & (uint32_t)DOCA_ACCESS_FLAG_PCI_READ_WRITE;
}

static doca_error_t check_map(const struct doca_mmap *mmap, const struct doca_dev *dev)
{
	const char *why;

	if (!dpumap_mmap_is_usable(mmap))
		why = "is not started";
	else if (!permits_messages(mmap))
		why = "does not have DOCA_ACCESS_FLAG_PCI_READ_WRITE";
	else if (!dpumap_mmap_find_slot(mmap, dev))
		why = "does not have the device of the connection";
	else
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "comch consumer: its map %p %s",
			   (const void *)mmap, why);
}

doca_error_t doca_comch_consumer_create(struct doca_comch_connection *comch_connection,
					struct doca_mmap *buf_mmap,
					struct doca_comch_consumer **consumer)
{
	struct doca_comch_consumer *created;
	struct doca_dev *dev;
	doca_error_t result;

	if (!comch_connection || !buf_mmap || !consumer)
		return dpumap_fail_null(__func__);
	if (!dpumap_comch_conn_is_up(comch_connection))
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: connection %p is not established",
				   __func__, (void *)comch_connection);
	dev = dpumap_comch_conn_dev(comch_connection);
	result = dpumap_mq_check(dev->device);
	if (result == DOCA_SUCCESS)
		result = check_map(buf_mmap, dev);
	if (result != DOCA_SUCCESS)
		return result;
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a comch consumer");
	created->mmap = buf_mmap;
	created->imm_len = COMCH_MAX_IMM;
	created->endpoint.ops = &dpumap_comch_consumer_endpoint_ops;
	created->endpoint.ctx = &created->ctx;
	dpumap_ctx_init(&created->ctx, &dpumap_comch_consumer_ctx_ops, dev);
	result = dpumap_comch_conn_add(comch_connection, &created->endpoint);
	if (result != DOCA_SUCCESS) {
		dpumap_ctx_destroy(&created->ctx);
		return result;
	}
	*consumer = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_destroy(struct doca_comch_consumer *consumer)
{
	if (!consumer)
		return dpumap_fail_null(__func__);
	if (consumer->ctx.state == DOCA_CTX_STATE_IDLE)
		dpumap_comch_conn_remove(&consumer->endpoint);
	return dpumap_ctx_destroy(&consumer->ctx);
}

struct doca_ctx *doca_comch_consumer_as_ctx(struct doca_comch_consumer *consumer)
{
	return consumer ? &consumer->ctx : NULL;
}

doca_error_t doca_comch_consumer_get_id(const struct doca_comch_consumer *consumer, uint32_t *id)
{
	if (!consumer || !id)
		return dpumap_fail_null(__func__);
	*id = consumer->endpoint.id;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_set_imm_data_len(struct doca_comch_consumer *consumer,
						  uint32_t imm_data_len)
{
	doca_error_t result;

	if (!consumer)
		return dpumap_fail_null(__func__);
	result = dpumap_ctx_check_idle(&consumer->ctx, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (imm_data_len > COMCH_MAX_IMM)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s: invalid length %" PRIu32 ", must be at most %u", __func__,
				   imm_data_len, COMCH_MAX_IMM);
	consumer->imm_len = imm_data_len;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_get_imm_data_len(const struct doca_comch_consumer *consumer,
						  uint32_t *imm_data_len)
{
	if (!consumer || !imm_data_len)
		return dpumap_fail_null(__func__);
	*imm_data_len = consumer->imm_len;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_task_post_recv_set_conf(
	struct doca_comch_consumer *consumer,
	doca_comch_consumer_task_post_recv_completion_cb_t task_completion_cb,
	doca_comch_consumer_task_post_recv_completion_cb_t task_error_cb, uint32_t num_tasks)
{
	doca_error_t result;

	if (!consumer || !task_completion_cb || !task_error_cb)
		return dpumap_fail_null(__func__);
	result = dpumap_ctx_check_idle(&consumer->ctx, __func__);
	if (result == DOCA_SUCCESS)
		result = dpumap_task_pool_configure(&consumer->pool, &consumer->ctx, num_tasks,
						    dpumap_comch_max_tasks(&consumer->ctx));
	if (result != DOCA_SUCCESS)
		return result;
	consumer->success_cb = task_completion_cb;
	consumer->error_cb = task_error_cb;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_get_gpu_handle(struct doca_comch_consumer *consumer,
						struct doca_comch_gpu_consumer **gpu_consumer)
{
	if (!consumer || !gpu_consumer)
		return dpumap_fail_null(__func__);
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
			   "%s: consumer %p is not on a GPU: use its tasks from the CPU", __func__,
			   (void *)consumer);
}
