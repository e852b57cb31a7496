/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Functions that are declared but not implemented yet. */
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

#include "log/log.h"

doca_error_t doca_comch_consumer_cap_is_supported(const struct doca_devinfo *devinfo)
{
	(void)devinfo;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_consumer_cap_get_max_consumers(const struct doca_devinfo *devinfo,
						       uint32_t *max_consumers)
{
	(void)devinfo;
	(void)max_consumers;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_consumer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo,
						       uint32_t *max_num_tasks)
{
	(void)devinfo;
	(void)max_num_tasks;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_consumer_cap_get_max_buf_size(const struct doca_devinfo *devinfo,
						      uint32_t *max_buf_size)
{
	(void)devinfo;
	(void)max_buf_size;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_consumer_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo,
							  uint32_t *max_buf_list_len)
{
	(void)devinfo;
	(void)max_buf_list_len;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_consumer_cap_get_max_imm_data_len(const struct doca_devinfo *devinfo,
							  uint32_t *max_imm_data_len)
{
	(void)devinfo;
	(void)max_imm_data_len;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_consumer_create(struct doca_comch_connection *comch_connection,
					struct doca_mmap *buf_mmap,
					struct doca_comch_consumer **consumer)
{
	(void)comch_connection;
	(void)buf_mmap;
	(void)consumer;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_consumer_destroy(struct doca_comch_consumer *consumer)
{
	(void)consumer;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

struct doca_ctx *doca_comch_consumer_as_ctx(struct doca_comch_consumer *consumer)
{
	(void)consumer;
	return NULL;
}

doca_error_t doca_comch_consumer_get_id(const struct doca_comch_consumer *consumer, uint32_t *id)
{
	(void)consumer;
	(void)id;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_consumer_set_imm_data_len(struct doca_comch_consumer *consumer,
						  uint32_t imm_data_len)
{
	(void)consumer;
	(void)imm_data_len;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_consumer_get_imm_data_len(const struct doca_comch_consumer *consumer,
						  uint32_t *imm_data_len)
{
	(void)consumer;
	(void)imm_data_len;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_consumer_task_post_recv_set_conf(
	struct doca_comch_consumer *consumer,
	doca_comch_consumer_task_post_recv_completion_cb_t task_completion_cb,
	doca_comch_consumer_task_post_recv_completion_cb_t task_error_cb, uint32_t num_tasks)
{
	(void)consumer;
	(void)task_completion_cb;
	(void)task_error_cb;
	(void)num_tasks;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t
doca_comch_consumer_task_post_recv_alloc_init(struct doca_comch_consumer *consumer,
					      struct doca_buf *buf,
					      struct doca_comch_consumer_task_post_recv **task)
{
	(void)consumer;
	(void)buf;
	(void)task;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

struct doca_task *
doca_comch_consumer_task_post_recv_as_task(struct doca_comch_consumer_task_post_recv *task)
{
	(void)task;
	return NULL;
}

void doca_comch_consumer_task_post_recv_set_buf(struct doca_comch_consumer_task_post_recv *task,
						struct doca_buf *buf)
{
	(void)task;
	(void)buf;
}

struct doca_buf *
doca_comch_consumer_task_post_recv_get_buf(const struct doca_comch_consumer_task_post_recv *task)
{
	(void)task;
	return NULL;
}

uint32_t doca_comch_consumer_task_post_recv_get_producer_id(
	const struct doca_comch_consumer_task_post_recv *task)
{
	(void)task;
	return 0;
}

uint32_t doca_comch_consumer_task_post_recv_get_imm_data_len(
	const struct doca_comch_consumer_task_post_recv *task)
{
	(void)task;
	return 0;
}

const uint8_t *doca_comch_consumer_task_post_recv_get_imm_data(
	const struct doca_comch_consumer_task_post_recv *task)
{
	(void)task;
	return NULL;
}

doca_error_t doca_comch_producer_cap_is_supported(const struct doca_devinfo *devinfo)
{
	(void)devinfo;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_producer_cap_get_max_producers(const struct doca_devinfo *devinfo,
						       uint32_t *max_producers)
{
	(void)devinfo;
	(void)max_producers;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_producer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo,
						       uint32_t *max_num_tasks)
{
	(void)devinfo;
	(void)max_num_tasks;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_producer_cap_get_max_buf_size(const struct doca_devinfo *devinfo,
						      uint32_t *max_buf_size)
{
	(void)devinfo;
	(void)max_buf_size;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_producer_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo,
							  uint32_t *max_buf_list_len)
{
	(void)devinfo;
	(void)max_buf_list_len;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_producer_create(struct doca_comch_connection *comch_connection,
					struct doca_comch_producer **producer)
{
	(void)comch_connection;
	(void)producer;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_producer_destroy(struct doca_comch_producer *producer)
{
	(void)producer;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

struct doca_ctx *doca_comch_producer_as_ctx(struct doca_comch_producer *producer)
{
	(void)producer;
	return NULL;
}

doca_error_t doca_comch_producer_get_id(const struct doca_comch_producer *producer, uint32_t *id)
{
	(void)producer;
	(void)id;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_producer_task_send_set_conf(
	struct doca_comch_producer *producer,
	doca_comch_producer_task_send_completion_cb_t task_completion_cb,
	doca_comch_producer_task_send_completion_cb_t task_error_cb, uint32_t num_send_tasks)
{
	(void)producer;
	(void)task_completion_cb;
	(void)task_error_cb;
	(void)num_send_tasks;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

doca_error_t doca_comch_producer_task_send_alloc_init(struct doca_comch_producer *producer,
						      const struct doca_buf *buf, uint8_t *imm_data,
						      uint32_t imm_data_len, uint32_t consumer_id,
						      struct doca_comch_producer_task_send **task)
{
	(void)producer;
	(void)buf;
	(void)imm_data;
	(void)imm_data_len;
	(void)consumer_id;
	(void)task;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s: not implemented", __func__);
}

struct doca_task *doca_comch_producer_task_send_as_task(struct doca_comch_producer_task_send *task)
{
	(void)task;
	return NULL;
}

void doca_comch_producer_task_send_set_buf(struct doca_comch_producer_task_send *task,
					   const struct doca_buf *buf)
{
	(void)task;
	(void)buf;
}

const struct doca_buf *
doca_comch_producer_task_send_get_buf(const struct doca_comch_producer_task_send *task)
{
	(void)task;
	return NULL;
}

void doca_comch_producer_task_send_set_consumer_id(struct doca_comch_producer_task_send *task,
						   uint32_t consumer_id)
{
	(void)task;
	(void)consumer_id;
}

uint32_t
doca_comch_producer_task_send_get_consumer_id(const struct doca_comch_producer_task_send *task)
{
	(void)task;
	return 0;
}

void doca_comch_producer_task_send_set_imm_data(struct doca_comch_producer_task_send *task,
						uint8_t *imm_data, uint32_t imm_data_len)
{
	(void)task;
	(void)imm_data;
	(void)imm_data_len;
}

uint8_t *
doca_comch_producer_task_send_get_imm_data(const struct doca_comch_producer_task_send *task)
{
	(void)task;
	return NULL;
}

uint32_t
doca_comch_producer_task_send_get_imm_data_len(const struct doca_comch_producer_task_send *task)
{
	(void)task;
	return 0;
}
