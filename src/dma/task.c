/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dma/dma.h"

#include <inttypes.h>

#include "core/mmap/resolve.h"
#include "core/pe/pe.h"
#include "log/log.h"

static inline struct doca_dma_task_memcpy *memcpy_task(struct doca_task *task)
{
	return (struct doca_dma_task_memcpy *)task;
}

static inline struct doca_dma *dma_of(const struct doca_ctx *ctx)
{
	return (struct doca_dma *)ctx;
}

/* The first task submitted, and the one after another; NULL if there is none. */
static inline struct doca_dma_task_memcpy *first_of(const struct doca_dma *dma)
{
	return memcpy_task(dma->submitted.first);
}

static inline struct doca_dma_task_memcpy *next_of(const struct doca_dma_task_memcpy *task)
{
	return memcpy_task(task->base.next);
}

__attribute__((cold, noinline)) static doca_error_t refuse_null(const char *function)
{
	return dpumap_fail_null(function);
}

doca_error_t doca_dma_task_memcpy_alloc_init(struct doca_dma *dma, const struct doca_buf *src,
					     struct doca_buf *dst, union doca_data user_data,
					     struct doca_dma_task_memcpy **task)
{
	struct doca_dma_task_memcpy *taken;

	if (doca_unlikely(!dma || !task))
		return refuse_null(__func__);
	if (doca_unlikely(!dpumap_task_pool_has_task(&dma->pool, &dma->ctx)))
		return dpumap_task_pool_refuse(&dma->pool, &dma->ctx, __func__);
	taken = memcpy_task(dpumap_task_pool_take(&dma->pool, user_data));
	taken->src = src;
	taken->dst = dst;
	*task = taken;
	return DOCA_SUCCESS;
}

struct doca_task *doca_dma_task_memcpy_as_task(struct doca_dma_task_memcpy *task)
{
	return task ? &task->base : NULL;
}

void doca_dma_task_memcpy_set_src(struct doca_dma_task_memcpy *task, const struct doca_buf *src)
{
	task->src = src;
}

const struct doca_buf *doca_dma_task_memcpy_get_src(const struct doca_dma_task_memcpy *task)
{
	return task->src;
}

void doca_dma_task_memcpy_set_dst(struct doca_dma_task_memcpy *task, struct doca_buf *dst)
{
	task->dst = dst;
}

struct doca_buf *doca_dma_task_memcpy_get_dst(const struct doca_dma_task_memcpy *task)
{
	return task->dst;
}

/* --- checking --------------------------------------------------------------------------------- */

static doca_error_t refuse_len(const struct doca_dma *dma, size_t len)
{
	return dpumap_fail(DOCA_ERROR_IO_FAILED,
			   "DMA task: invalid length of %zu bytes, must be 1 to %" PRIu64, len,
			   dma->max_len);
}

static doca_error_t refuse_list(uint32_t elements)
{
	return dpumap_fail(DOCA_ERROR_IO_FAILED,
			   "DMA task: a list of %" PRIu32 " bufs is too long, at most %d", elements,
			   DPUMAP_MAX_LIST_LEN);
}

static inline doca_error_t measure(const struct doca_dma *dma,
				   const struct doca_dma_task_memcpy *task, size_t *len)
{
	struct dpumap_buf_total from, to;

	if (doca_unlikely(!task->src || !task->dst))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "DMA task: the %s buf is NULL",
				   task->src ? "destination" : "source");
	from = dpumap_buf_sum(task->src, dpumap_buf_data);
	to = dpumap_buf_sum(task->dst, dpumap_buf_room);
	if (doca_unlikely(!from.len || from.len > dma->max_len))
		return refuse_len(dma, from.len);
	if (doca_unlikely(from.elements > DPUMAP_MAX_LIST_LEN || to.elements > DPUMAP_MAX_LIST_LEN))
		return refuse_list(from.elements > to.elements ? from.elements : to.elements);
	if (doca_unlikely(from.len > to.len))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "DMA task: %zu bytes of data do not fit into %zu bytes of room",
				   from.len, to.len);
	*len = from.len;
	return DOCA_SUCCESS;
}

static doca_error_t check_maps(const struct doca_dma *dma, const struct doca_buf *buf)
{
	const struct dpumap_region *region;
	doca_error_t result = DOCA_SUCCESS;

	for (; buf && result == DOCA_SUCCESS; buf = buf->next)
		result = dpumap_mmap_resolve(buf->mmap, dma->ctx.dev, &region);
	return result;
}

doca_error_t dpumap_dma_task_check(const struct doca_task *task)
{
	const struct doca_dma_task_memcpy *copy = (const struct doca_dma_task_memcpy *)task;
	const struct doca_dma *dma = dma_of(task->ctx);
	doca_error_t result;
	size_t len;

	result = measure(dma, copy, &len);
	if (result == DOCA_SUCCESS)
		result = check_maps(dma, copy->src);
	if (result == DOCA_SUCCESS)
		result = check_maps(dma, copy->dst);
	return result;
}

/* --- posting ---------------------------------------------------------------------------------- */

/* The longest piece that is in one source buf and one destination buf. */
static inline doca_error_t next_piece(const struct doca_dma *dma, struct doca_dma_task_memcpy *task,
				      struct dpumap_copy *copy)
{
	size_t from, to;
	doca_error_t result;

	from = dpumap_buf_left(&task->from, dpumap_buf_data);
	to = dpumap_buf_left(&task->to, dpumap_buf_room);
	copy->user_data.u64 = 0;
	copy->len = from < to ? from : to;
	if (doca_unlikely(!copy->len))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "DMA task: its bufs were changed after submission");
	copy->src_addr = dpumap_buf_data_at(&task->from);
	copy->dst_addr = dpumap_buf_room_at(&task->to);
	result = dpumap_mmap_resolve(task->from.buf->mmap, dma->ctx.dev, &copy->src);
	if (doca_likely(result == DOCA_SUCCESS))
		result = dpumap_mmap_resolve(task->to.buf->mmap, dma->ctx.dev, &copy->dst);
	return result;
}

static void fail_task(struct doca_dma_task_memcpy *task, doca_error_t result)
{
	if (task->base.status == DOCA_SUCCESS)
		task->base.status = result;
	task->unposted = 0;
}

static bool has_failed(const struct doca_dma *dma)
{
	return dma->failed || (!dma->sq && dpumap_queue_has_failed(dma->queue));
}

static inline uint32_t num_posted(const struct doca_dma *dma)
{
	return dma->sq ? dpumap_sq_posted(dma->sq) : dma->posted;
}

static doca_error_t post_piece(struct doca_dma *dma, const struct dpumap_copy *copy)
{
	struct dpumap_sq_key dst, src;

	if (!dma->sq)
		return dpumap_queue_post_later(dma->queue, copy);
	dst = dpumap_sq_key(copy->dst);
	src = dpumap_sq_key(copy->src);
	return dpumap_sq_post(dma->sq, &dst, copy->dst_addr, &src, copy->src_addr, copy->len)
		       ? DOCA_SUCCESS
		       : DOCA_ERROR_AGAIN;
}

/* False: the queue is full. */
static bool post(struct doca_dma *dma, struct doca_dma_task_memcpy *task)
{
	struct dpumap_copy copy = {0};
	doca_error_t result;

	if (doca_unlikely(has_failed(dma)))
		fail_task(task, DOCA_ERROR_SHUTDOWN);
	while (task->unposted) {
		result = next_piece(dma, task, &copy);
		if (doca_likely(result == DOCA_SUCCESS))
			result = post_piece(dma, &copy);
		if (doca_unlikely(result == DOCA_ERROR_AGAIN))
			return false;
		if (doca_unlikely(result != DOCA_SUCCESS)) {
			fail_task(task, result);
			break;
		}
		dma->posted++;
		task->end = num_posted(dma);
		task->unposted -= copy.len;
		task->from.offset += copy.len;
		task->to.offset += copy.len;
	}
	return true;
}

/* If posting fails, the next poll fails the tasks. */
static inline void flush(struct doca_dma *dma)
{
	if (doca_likely(dma->sq != NULL))
		dpumap_sq_flush(dma->sq);
	else if (dpumap_queue_flush(dma->queue) != DOCA_SUCCESS)
		dpumap_pe_wake(dma->ctx.pe);
}

/* Set the first task that is not fully posted, or NULL. Later tasks wait behind it. */
static void set_waiting(struct doca_dma *dma, struct doca_dma_task_memcpy *task)
{
	dma->waiting = task;
	dma->fast_max_len = task || dma->failed || !dma->sq ? 0 : dma->max_len;
}

static void post_waiting(struct doca_dma *dma)
{
	struct doca_dma_task_memcpy *task = dma->waiting;

	while (task && post(dma, task))
		task = next_of(task);
	set_waiting(dma, task);
	flush(dma);
}

static inline bool is_finished(const struct doca_dma *dma, const struct doca_dma_task_memcpy *task)
{
	return doca_likely(!task->unposted) && (int32_t)(dma->completed - task->end) >= 0;
}

static doca_error_t append_and_flush(struct doca_dma *dma, struct doca_dma_task_memcpy *task,
				     uint32_t flags)
{
	dpumap_task_list_append(&dma->submitted, &task->base);
	if (flags & DOCA_TASK_SUBMIT_FLAG_FLUSH)
		flush(dma);
	return DOCA_SUCCESS;
}

static __attribute__((noinline)) doca_error_t
submit_any(struct doca_dma *dma, struct doca_dma_task_memcpy *task, uint32_t flags)
{
	task->len = 0;
	task->end = num_posted(dma);
	task->base.status = measure(dma, task, &task->len);
	task->unposted = task->len;
	task->from = (struct dpumap_buf_position){.buf = task->src};
	task->to = (struct dpumap_buf_position){.buf = task->dst};
	if (!dma->waiting && !post(dma, task))
		set_waiting(dma, task);
	if (is_finished(dma, task))
		dpumap_pe_wake(dma->ctx.pe);
	return append_and_flush(dma, task, flags);
}

/* Fast path: one source buf, one destination buf, no error, and no task is waiting. */
doca_error_t dpumap_dma_task_submit(struct doca_task *base, uint32_t flags)
{
	struct doca_dma_task_memcpy *task = memcpy_task(base);
	struct doca_dma *dma = dma_of(base->ctx);
	const struct doca_buf *src = task->src, *dst = task->dst;
	size_t len;

	if (doca_unlikely(!src || !dst || src->next || dst->next))
		return submit_any(dma, task, flags);
	len = src->data_len;
	if (doca_unlikely(len - 1 >= dma->fast_max_len || len > dpumap_buf_room(dst) ||
			  !dpumap_mmap_has_fast_key(src->mmap, dma->ctx.dev) ||
			  !dpumap_mmap_has_fast_key(dst->mmap, dma->ctx.dev) ||
			  !dpumap_sq_post(dma->sq, &dst->mmap->fast_key,
					  (uintptr_t)dst->data + dst->data_len,
					  &src->mmap->fast_key, (uintptr_t)src->data, len)))
		return submit_any(dma, task, flags);
	base->status = DOCA_SUCCESS;
	task->len = len;
	task->end = dpumap_sq_posted(dma->sq);
	dpumap_task_list_append(&dma->submitted, &task->base);
	if (flags & DOCA_TASK_SUBMIT_FLAG_FLUSH)
		dpumap_sq_flush(dma->sq);
	return DOCA_SUCCESS;
}

void dpumap_dma_flush(struct doca_ctx *ctx)
{
	flush(dma_of(ctx));
}

/* --- completing ------------------------------------------------------------------------------- */

/* The queue completes nothing any more: fail all tasks in flight. */
static void fail_all(struct doca_dma *dma, doca_error_t result)
{
	for (struct doca_dma_task_memcpy *task = first_of(dma); task; task = next_of(task))
		fail_task(task, result);
	dma->completed = num_posted(dma);
	set_waiting(dma, NULL);
}

/*
 * The work request before `end` failed. Those posted before it are completed. If an earlier one
 * failed, those without a completion of their own were flushed.
 */
__attribute__((cold, noinline)) static void fail_at(struct doca_dma *dma, uint32_t end,
						    doca_error_t status)
{
	struct doca_dma_task_memcpy *task = first_of(dma);

	for (; task && (int32_t)(task->end - end) < 0; task = next_of(task))
		if (dma->failed && (int32_t)(task->end - dma->completed) > 0)
			fail_task(task, DOCA_ERROR_SHUTDOWN);
	if (task)
		fail_task(task, status);
	dma->failed = true;
	dma->fast_max_len = 0;
}

/* As dpumap_sq_poll(), on a queue that reports each work request. */
static bool poll_queue(struct doca_dma *dma, struct dpumap_sq_completion *completion)
{
	struct dpumap_dma_completion polled;
	doca_error_t result;
	uint32_t n;

	result = dpumap_queue_poll(dma->queue, &polled, 1, &n);
	if (doca_unlikely(result != DOCA_SUCCESS)) {
		fail_all(dma, result);
		*completion = (struct dpumap_sq_completion){.end = dma->completed};
		return true;
	}
	if (!n)
		return false;
	*completion =
		(struct dpumap_sq_completion){.end = dma->completed + 1, .status = polled.status};
	return true;
}

/* Take one completion; false if there is none. */
static bool take_completion(struct doca_dma *dma)
{
	struct dpumap_sq_completion completion;

	if (!(doca_likely(dma->sq != NULL) ? dpumap_sq_poll(dma->sq, &completion)
					   : poll_queue(dma, &completion)))
		return false;
	if (doca_unlikely(completion.status != DOCA_SUCCESS))
		fail_at(dma, completion.end, completion.status);
	dma->completed = completion.end;
	if (doca_unlikely(dma->waiting != NULL))
		post_waiting(dma);
	return true;
}

/* Take completions until the task is finished; false if there are too few. */
static bool poll_until_finished(struct doca_dma *dma, const struct doca_dma_task_memcpy *task)
{
	while (!is_finished(dma, task))
		if (!take_completion(dma))
			return false;
	return true;
}

bool dpumap_dma_is_ready(struct doca_ctx *ctx)
{
	struct doca_dma *dma = dma_of(ctx);

	struct doca_dma_task_memcpy *task = first_of(dma);

	return task && poll_until_finished(dma, task);
}

void dpumap_dma_task_complete(struct doca_task *base)
{
	struct doca_dma_task_memcpy *task = memcpy_task(base);
	struct doca_dma *dma = dma_of(base->ctx);

	if (doca_likely(base->status == DOCA_SUCCESS)) {
		dpumap_buf_grow(task->dst, task->len);
		dma->success_cb(task, base->user_data, dma->ctx.user_data);
	} else if (!dpumap_task_complete_node(base)) {
		dma->error_cb(task, base->user_data, dma->ctx.user_data);
	}
}

static void complete_node_or_task(struct doca_dma_task_memcpy *task, union doca_data task_user_data,
				  union doca_data ctx_user_data)
{
	if (!dpumap_task_complete_node(&task->base))
		dma_of(task->base.ctx)->user_success_cb(task, task_user_data, ctx_user_data);
}

/* The callback looks for a node, so that the path of contexts without graphs does not. */
void dpumap_dma_enter_graph(struct doca_ctx *ctx)
{
	dma_of(ctx)->success_cb = complete_node_or_task;
}

static bool progress(struct doca_dma *dma, struct doca_dma_task_memcpy *task);

static __attribute__((noinline)) bool poll_and_progress(struct doca_dma *dma,
							struct doca_dma_task_memcpy *task)
{
	return poll_until_finished(dma, task) && progress(dma, task);
}

static __attribute__((noinline)) bool deliver(struct doca_dma *dma,
					      struct doca_dma_task_memcpy *task)
{
	dma->submitted.first = task->base.next;
	dpumap_ctx_complete_task(&dma->ctx, &task->base);
	return true;
}

static inline bool progress(struct doca_dma *dma, struct doca_dma_task_memcpy *task)
{
	if (doca_unlikely(!is_finished(dma, task)))
		return poll_and_progress(dma, task);
	if (doca_unlikely(task->base.status != DOCA_SUCCESS || task->dst->next))
		return deliver(dma, task);
	dma->submitted.first = task->base.next;
	dpumap_ctx_before_callback(&dma->ctx, &task->base);
	task->dst->data_len += task->len;
	dma->success_cb(task, task->base.user_data, dma->ctx.user_data);
	dpumap_ctx_after_callback(&dma->ctx, &task->base);
	return true;
}

bool dpumap_dma_task_progress(struct doca_ctx *ctx)
{
	struct doca_dma *dma = dma_of(ctx);
	struct doca_dma_task_memcpy *task = first_of(dma);

	return task && progress(dma, task);
}
