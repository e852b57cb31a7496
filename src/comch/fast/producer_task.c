/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "comch/fast/producer.h"

#include <inttypes.h>
#include <string.h>

#include "comch/fast/producer_link.h"
#include "core/buf/list.h"
#include "log/log.h"

static inline struct doca_comch_producer_task_send *send_task(const struct doca_task *task)
{
	return (struct doca_comch_producer_task_send *)task;
}

__attribute__((cold, noinline)) static doca_error_t
refuse_imm_len(const struct doca_comch_producer *producer, uint32_t imm_len, uint32_t max)
{
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
			   "comch producer %" PRIu32 ": invalid immediate data of %" PRIu32
			   " bytes, must be at most %" PRIu32,
			   producer->endpoint.id, imm_len, max);
}

static void set_imm(struct doca_comch_producer_task_send *task, const uint8_t *imm, uint32_t len)
{
	uint32_t copied = len < COMCH_MAX_IMM ? len : COMCH_MAX_IMM;

	if (task->imm_len)
		memset(task->imm, 0, sizeof(task->imm));
	task->imm_len = imm ? len : 0;
	if (imm && copied)
		memcpy(task->imm, imm, copied);
}

doca_error_t doca_comch_producer_task_send_alloc_init(struct doca_comch_producer *producer,
						      const struct doca_buf *buf, uint8_t *imm_data,
						      uint32_t imm_data_len, uint32_t consumer_id,
						      struct doca_comch_producer_task_send **task)
{
	struct doca_comch_producer_task_send *taken;
	struct producer_link *link;
	doca_error_t result;

	if (doca_unlikely(!producer || !task || (!imm_data && imm_data_len)))
		return dpumap_fail_null(__func__);
	if (doca_unlikely(!dpumap_task_pool_has_task(&producer->pool, &producer->ctx)))
		return dpumap_task_pool_refuse(&producer->pool, &producer->ctx, __func__);
	result = dpumap_comch_link_get(producer, consumer_id, &link);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	if (doca_unlikely(imm_data_len > link->imm_len))
		return refuse_imm_len(producer, imm_data_len, link->imm_len);
	taken = send_task(dpumap_task_pool_take(&producer->pool, (union doca_data){0}));
	taken->buf = buf;
	taken->link = link;
	taken->consumer_id = consumer_id;
	set_imm(taken, imm_data, imm_data_len);
	*task = taken;
	return DOCA_SUCCESS;
}

struct doca_task *doca_comch_producer_task_send_as_task(struct doca_comch_producer_task_send *task)
{
	return task ? &task->base : NULL;
}

void doca_comch_producer_task_send_set_buf(struct doca_comch_producer_task_send *task,
					   const struct doca_buf *buf)
{
	task->buf = buf;
}

const struct doca_buf *
doca_comch_producer_task_send_get_buf(const struct doca_comch_producer_task_send *task)
{
	return task->buf;
}

void doca_comch_producer_task_send_set_consumer_id(struct doca_comch_producer_task_send *task,
						   uint32_t consumer_id)
{
	task->consumer_id = consumer_id;
}

uint32_t
doca_comch_producer_task_send_get_consumer_id(const struct doca_comch_producer_task_send *task)
{
	return task->consumer_id;
}

void doca_comch_producer_task_send_set_imm_data(struct doca_comch_producer_task_send *task,
						uint8_t *imm_data, uint32_t imm_data_len)
{
	set_imm(task, imm_data, imm_data_len);
}

uint8_t *
doca_comch_producer_task_send_get_imm_data(const struct doca_comch_producer_task_send *task)
{
	return task->imm_len ? (uint8_t *)task->imm : NULL;
}

uint32_t
doca_comch_producer_task_send_get_imm_data_len(const struct doca_comch_producer_task_send *task)
{
	return task->imm_len;
}

/* --- posting ---------------------------------------------------------------------------------- */

__attribute__((cold, noinline)) static doca_error_t
refuse_buf(const struct doca_comch_producer *producer, const struct doca_buf *buf, uint32_t max_len)
{
	if (buf->next)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "comch producer %" PRIu32
				   ": buf %p is a list, which a message cannot have",
				   producer->endpoint.id, (const void *)buf);
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
			   "comch producer %" PRIu32
			   ": invalid message of %zu bytes, must be at most %" PRIu32,
			   producer->endpoint.id, buf->data_len, max_len);
}

/* The link of a task if it is up, which is usual. */
static inline struct producer_link *fast_link(const struct doca_comch_producer_task_send *task)
{
	struct producer_link *link = task->link;

	return doca_likely(link && link->consumer_id == task->consumer_id &&
			   dpumap_comch_link_is_up(link))
		       ? link
		       : NULL;
}

/* The key of a map whose first device is another one. */
__attribute__((noinline)) static doca_error_t
find_any_key(const struct doca_comch_producer *producer, const struct doca_mmap *mmap,
	     struct dpumap_sq_key *key)
{
	const struct dpumap_region *region = NULL;
	doca_error_t result = dpumap_mmap_resolve(mmap, producer->ctx.dev, &region);

	if (result == DOCA_SUCCESS)
		*key = dpumap_sq_key(region);
	return result;
}

static inline doca_error_t find_data(const struct doca_comch_producer *producer,
				     const struct doca_comch_producer_task_send *task,
				     const struct producer_link *link, struct dpumap_sq_key *key)
{
	const struct doca_buf *buf = task->buf;

	if (doca_unlikely(task->imm_len > link->imm_len))
		return refuse_imm_len(producer, task->imm_len, link->imm_len);
	if (!buf)
		return DOCA_SUCCESS;
	if (doca_unlikely(buf->next || buf->data_len > link->max_len))
		return refuse_buf(producer, buf, link->max_len);
	if (doca_unlikely(!dpumap_mmap_has_fast_key(buf->mmap, producer->ctx.dev)))
		return find_any_key(producer, buf->mmap, key);
	*key = buf->mmap->fast_key;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_comch_producer_task_check(const struct doca_task *base)
{
	const struct doca_comch_producer_task_send *task = send_task(base);
	struct doca_comch_producer *producer = dpumap_comch_producer_of(base->ctx);
	struct producer_link *link = fast_link(task);
	struct dpumap_sq_key key;
	doca_error_t result = DOCA_SUCCESS;

	if (!link)
		result = dpumap_comch_link_get(producer, task->consumer_id, &link);
	return result == DOCA_SUCCESS ? find_data(producer, task, link, &key) : result;
}

static inline void flush_link(struct doca_comch_producer *producer, struct producer_link *link,
			      uint32_t flags)
{
	if (doca_unlikely(producer->unflushed != link)) {
		if (producer->unflushed)
			dpumap_mq_send_flush(producer->unflushed->send);
		producer->unflushed = link;
	}
	if (flags & DOCA_TASK_SUBMIT_FLAG_FLUSH) {
		dpumap_mq_send_flush(link->send);
		producer->unflushed = NULL;
	}
}

static inline doca_error_t prepare(const struct doca_comch_producer *producer,
				   struct doca_comch_producer_task_send *task,
				   struct producer_link *link)
{
	doca_error_t result = find_data(producer, task, link, &task->key);

	task->base.status = DOCA_SUCCESS;
	task->link = link;
	task->len = task->buf ? (uint32_t)task->buf->data_len : 0;
	task->addr = task->buf ? (uintptr_t)task->buf->data : 0;
	return result;
}

/* Through a link that is not up yet, or full. */
static __attribute__((noinline)) doca_error_t
submit_slow(struct doca_comch_producer *producer, struct doca_comch_producer_task_send *task)
{
	struct producer_link *link;
	doca_error_t result = dpumap_comch_link_get(producer, task->consumer_id, &link);

	if (result == DOCA_SUCCESS)
		result = prepare(producer, task, link);
	if (result == DOCA_SUCCESS && !dpumap_comch_link_submit(producer, link, task))
		result = DOCA_ERROR_AGAIN;
	return result == DOCA_SUCCESS ? result : dpumap_task_refuse(&task->base, result);
}

doca_error_t dpumap_comch_producer_task_submit(struct doca_task *base, uint32_t flags)
{
	struct doca_comch_producer_task_send *task = send_task(base);
	struct doca_comch_producer *producer = dpumap_comch_producer_of(base->ctx);
	struct producer_link *link = fast_link(task);
	doca_error_t result;

	if (doca_unlikely(!link))
		return submit_slow(producer, task);
	result = prepare(producer, task, link);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return dpumap_task_refuse(base, result);
	if (doca_unlikely(!dpumap_comch_link_post(producer, link, task, flags)))
		return submit_slow(producer, task);
	flush_link(producer, link, flags);
	return DOCA_SUCCESS;
}

void dpumap_comch_producer_flush(struct doca_ctx *ctx)
{
	struct doca_comch_producer *producer = dpumap_comch_producer_of(ctx);

	if (producer->unflushed)
		dpumap_mq_send_flush(producer->unflushed->send);
	producer->unflushed = NULL;
}

/* --- completing ------------------------------------------------------------------------------- */

static inline void complete(const struct doca_comch_producer *producer,
			    struct doca_comch_producer_task_send *task)
{
	(doca_likely(task->base.status == DOCA_SUCCESS)
		 ? producer->success_cb
		 : producer->error_cb)(task, task->base.user_data, producer->ctx.user_data);
}

void dpumap_comch_producer_task_complete(struct doca_task *base)
{
	complete(dpumap_comch_producer_of(base->ctx), send_task(base));
}

/* Take a completion of a link that is up. */
static inline struct doca_comch_producer_task_send *poll_link(struct doca_comch_producer *producer,
							      struct producer_link *link)
{
	struct doca_comch_producer_task_send *task;
	struct dpumap_mq_sent sent;

	if (!dpumap_comch_link_is_up(link) || !dpumap_mq_send_poll(link->send, &sent))
		return NULL;
	task = sent.cookie;
	task->base.status = DOCA_SUCCESS; /* an earlier queue pair may have flushed it */
	if (doca_unlikely(sent.status != DOCA_SUCCESS))
		task->base.status = dpumap_comch_link_recover(producer, link, sent.status);
	return task;
}

static __attribute__((noinline)) struct doca_comch_producer_task_send *
poll_others(struct doca_comch_producer *producer, const struct producer_link *first)
{
	struct producer_link *link = first->next ? first->next : producer->links;
	struct doca_comch_producer_task_send *task = NULL;

	while (!task && link != first) {
		producer->next_polled = link->next;
		task = poll_link(producer, link);
		link = link->next ? link->next : producer->links;
	}
	return task;
}

static inline struct doca_comch_producer_task_send *next_task(struct doca_comch_producer *producer)
{
	struct producer_link *first =
		producer->next_polled ? producer->next_polled : producer->links;
	struct doca_comch_producer_task_send *task;

	if (doca_unlikely(producer->finished.first != NULL) || !first)
		return send_task(dpumap_task_list_take(&producer->finished));
	producer->next_polled = first->next;
	task = poll_link(producer, first);
	return doca_likely(task != NULL) ? task : poll_others(producer, first);
}

struct doca_comch_producer_task_send *
dpumap_comch_producer_next_task(struct doca_comch_producer *producer)
{
	return next_task(producer);
}

bool dpumap_comch_producer_task_progress(struct doca_ctx *ctx)
{
	struct doca_comch_producer *producer = dpumap_comch_producer_of(ctx);
	struct doca_comch_producer_task_send *task = next_task(producer);

	if (!task)
		return dpumap_comch_producer_idle(producer);
	dpumap_ctx_before_callback(&producer->ctx, &task->base);
	complete(producer, task);
	dpumap_ctx_after_callback(&producer->ctx, &task->base);
	return true;
}
