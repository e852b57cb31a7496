/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "comch/fast/consumer.h"

#include <inttypes.h>
#include <string.h>

#include "core/buf/list.h"
#include "log/log.h"

static inline struct doca_comch_consumer_task_post_recv *recv_task(const struct doca_task *task)
{
	return (struct doca_comch_consumer_task_post_recv *)task;
}

doca_error_t
doca_comch_consumer_task_post_recv_alloc_init(struct doca_comch_consumer *consumer,
					      struct doca_buf *buf,
					      struct doca_comch_consumer_task_post_recv **task)
{
	struct doca_comch_consumer_task_post_recv *taken;

	if (doca_unlikely(!consumer || !task))
		return dpumap_fail_null(__func__);
	if (doca_unlikely(!dpumap_task_pool_has_task(&consumer->pool, &consumer->ctx)))
		return dpumap_task_pool_refuse(&consumer->pool, &consumer->ctx, __func__);
	taken = recv_task(dpumap_task_pool_take(&consumer->pool, (union doca_data){0}));
	taken->buf = buf;
	taken->producer_id = 0;
	taken->imm_len = 0;
	*task = taken;
	return DOCA_SUCCESS;
}

struct doca_task *
doca_comch_consumer_task_post_recv_as_task(struct doca_comch_consumer_task_post_recv *task)
{
	return task ? &task->base : NULL;
}

void doca_comch_consumer_task_post_recv_set_buf(struct doca_comch_consumer_task_post_recv *task,
						struct doca_buf *buf)
{
	task->buf = buf;
}

struct doca_buf *
doca_comch_consumer_task_post_recv_get_buf(const struct doca_comch_consumer_task_post_recv *task)
{
	return task->buf;
}

uint32_t doca_comch_consumer_task_post_recv_get_producer_id(
	const struct doca_comch_consumer_task_post_recv *task)
{
	return task->producer_id;
}

uint32_t doca_comch_consumer_task_post_recv_get_imm_data_len(
	const struct doca_comch_consumer_task_post_recv *task)
{
	return task->imm_len;
}

const uint8_t *doca_comch_consumer_task_post_recv_get_imm_data(
	const struct doca_comch_consumer_task_post_recv *task)
{
	return task->imm_len ? task->imm : NULL;
}

/* --- posting ---------------------------------------------------------------------------------- */

/* Where the device writes a message. */
struct room {
	struct dpumap_sq_key key;
	uint64_t addr;
	uint32_t len;
};

__attribute__((cold, noinline)) static doca_error_t
refuse_buf(const struct doca_comch_consumer *consumer, const struct doca_buf *buf)
{
	return dpumap_fail(
		DOCA_ERROR_INVALID_VALUE,
		buf->next ? "comch consumer %" PRIu32 ": buf %p is a list, which a message "
			    "cannot fill"
			  : "comch consumer %" PRIu32 ": buf %p is not on the consumer's map",
		consumer->endpoint.id, (const void *)buf);
}

/* The key of a map whose first device is another one. */
__attribute__((noinline)) static doca_error_t
find_any_key(const struct doca_comch_consumer *consumer, const struct doca_mmap *mmap,
	     struct dpumap_sq_key *key)
{
	const struct dpumap_region *region = NULL;
	doca_error_t result = dpumap_mmap_resolve(mmap, consumer->ctx.dev, &region);

	if (result == DOCA_SUCCESS)
		*key = dpumap_sq_peer_key(region);
	return result;
}

static inline doca_error_t find_room(const struct doca_comch_consumer *consumer,
				     const struct doca_buf *buf, struct room *room)
{
	size_t len;

	if (!buf) {
		room->len = 0;
		return DOCA_SUCCESS;
	}
	if (doca_unlikely(buf->mmap != consumer->mmap || buf->next))
		return refuse_buf(consumer, buf);
	len = dpumap_buf_room(buf);
	room->len = len < COMCH_MAX_BUF ? (uint32_t)len : COMCH_MAX_BUF;
	room->addr = (uintptr_t)buf->data + buf->data_len;
	if (doca_unlikely(!dpumap_mmap_has_fast_key(buf->mmap, consumer->ctx.dev))) {
		struct dpumap_sq_key key = {0}; /* so that *room can be in registers */
		doca_error_t result = find_any_key(consumer, buf->mmap, &key);

		room->key = key;
		return result;
	}
	room->key = buf->mmap->fast_peer_key;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_comch_consumer_task_check(const struct doca_task *task)
{
	struct room room;

	return find_room(dpumap_comch_consumer_of(task->ctx), recv_task(task)->buf, &room);
}

static inline doca_error_t post(struct doca_comch_consumer *consumer,
				struct doca_comch_consumer_task_post_recv *task)
{
	struct room room = {0};
	doca_error_t result = find_room(consumer, task->buf, &room);

	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	task->base.status = DOCA_SUCCESS;
	task->producer_id = 0;
	task->imm_len = 0;
	return doca_likely(
		       dpumap_mq_recv_post(consumer->recv, &room.key, room.addr, room.len, task))
		       ? DOCA_SUCCESS
		       : DOCA_ERROR_AGAIN;
}

/* The device sees a receive at once: there is nothing to flush. */
doca_error_t dpumap_comch_consumer_task_submit(struct doca_task *base, uint32_t flags)
{
	doca_error_t result = post(dpumap_comch_consumer_of(base->ctx), recv_task(base));

	(void)flags;
	return doca_likely(result == DOCA_SUCCESS) ? DOCA_SUCCESS
						   : dpumap_task_refuse(base, result);
}

/* --- completing ------------------------------------------------------------------------------- */

static inline void complete(const struct doca_comch_consumer *consumer,
			    struct doca_comch_consumer_task_post_recv *task)
{
	if (doca_unlikely(task->base.status != DOCA_SUCCESS)) {
		consumer->error_cb(task, task->base.user_data, consumer->ctx.user_data);
		return;
	}
	if (task->buf)
		task->buf->data_len += task->len;
	consumer->success_cb(task, task->base.user_data, consumer->ctx.user_data);
}

void dpumap_comch_consumer_task_complete(struct doca_task *base)
{
	complete(dpumap_comch_consumer_of(base->ctx), recv_task(base));
}

static inline void take_message(const struct doca_comch_consumer *consumer,
				struct doca_comch_consumer_task_post_recv *task,
				const struct dpumap_mq_received *received)
{
	uint32_t imm_len = dpumap_comch_tag_imm_len(received->tag);

	task->len = received->len;
	task->producer_id = dpumap_comch_tag_producer(received->tag);
	if (doca_likely(!imm_len))
		return;
	if (doca_unlikely(imm_len > consumer->imm_len)) {
		task->base.status = dpumap_fail_from(
			COMCH_PEERS, DOCA_ERROR_IO_FAILED,
			"comch consumer %" PRIu32 ": producer %" PRIu32 " claims %" PRIu32
			" bytes of immediate data, at most %" PRIu32 " are possible",
			consumer->endpoint.id, task->producer_id, imm_len, consumer->imm_len);
		return;
	}
	memcpy(task->imm, dpumap_mq_recv_header(consumer->recv, received), imm_len);
	task->imm_len = imm_len;
}

/*
 * A receive without a message. If the sender is to blame, it stays posted, behind the others; so it
 * does if its sender's path was closed in the middle of a message.
 */
__attribute__((cold, noinline)) static bool
keep_posted(struct doca_comch_consumer *consumer, struct doca_comch_consumer_task_post_recv *task,
	    doca_error_t status)
{
	task->base.status = status == DOCA_ERROR_TOO_BIG ? DOCA_ERROR_SHUTDOWN : status;
	if (task->base.status != DOCA_ERROR_SHUTDOWN || consumer->is_closed)
		return false;
	if (status == DOCA_ERROR_TOO_BIG)
		dpumap_log_from(COMCH_PEERS, DPUMAP_LOG_WARNING, DOCA_SUCCESS,
				"comch consumer %" PRIu32
				": a message is longer than the buf posted for it: "
				"its producer gets an error, and the buf stays posted",
				consumer->endpoint.id);
	status = post(consumer, task);
	if (status == DOCA_SUCCESS)
		return true;
	task->base.status = status;
	return false;
}

static inline struct doca_comch_consumer_task_post_recv *
next_task(struct doca_comch_consumer *consumer)
{
	struct doca_comch_consumer_task_post_recv *task;
	struct dpumap_mq_received received;

	while (dpumap_mq_recv_poll(consumer->recv, &received)) {
		task = received.cookie;
		if (doca_unlikely(!task->base.allocated)) { /* freed while it was posted */
			dpumap_task_pool_put(&task->base);
			continue;
		}
		if (doca_likely(received.status == DOCA_SUCCESS)) {
			take_message(consumer, task, &received);
			return task;
		}
		if (!keep_posted(consumer, task, received.status))
			return task;
	}
	return NULL;
}

struct doca_comch_consumer_task_post_recv *
dpumap_comch_consumer_next_task(struct doca_comch_consumer *consumer)
{
	return next_task(consumer);
}

/* Found by is_ready(); freed since, or not. */
static __attribute__((noinline)) struct doca_comch_consumer_task_post_recv *
take_finished(struct doca_comch_consumer *consumer)
{
	struct doca_comch_consumer_task_post_recv *task = consumer->finished;

	consumer->finished = NULL;
	if (task->base.allocated)
		return task;
	dpumap_task_pool_put(&task->base);
	return next_task(consumer);
}

bool dpumap_comch_consumer_task_progress(struct doca_ctx *ctx)
{
	struct doca_comch_consumer *consumer = dpumap_comch_consumer_of(ctx);
	struct doca_comch_consumer_task_post_recv *task =
		doca_likely(!consumer->finished) ? next_task(consumer) : take_finished(consumer);

	if (!task)
		return dpumap_comch_consumer_idle(consumer);
	dpumap_ctx_before_callback(&consumer->ctx, &task->base);
	complete(consumer, task);
	dpumap_ctx_after_callback(&consumer->ctx, &task->base);
	return true;
}
