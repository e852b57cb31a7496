/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copies in pieces. A few tasks run at once; each is submitted again for the next piece. */
#include <doca_buf.h>
#include <doca_ctx.h>
#include <doca_log.h>

#include "common.h"

#define NUM_TASKS 4

DOCA_LOG_REGISTER(EXAMPLE::COPY);

struct copy {
	struct place dst, src;
	size_t len;	  /* of the whole copy */
	size_t submitted; /* bytes so far */
	uint32_t in_flight;
	doca_error_t result;
};

static void drop_bufs(struct doca_dma_task_memcpy *task)
{
	struct doca_buf *src = (struct doca_buf *)doca_dma_task_memcpy_get_src(task);

	(void)doca_buf_dec_refcount(src, NULL);
	(void)doca_buf_dec_refcount(doca_dma_task_memcpy_get_dst(task), NULL);
}

static doca_error_t get_bufs(const struct copier *copier, const struct copy *copy, size_t len,
			     struct doca_buf **src, struct doca_buf **dst)
{
	doca_error_t result;

	result = doca_buf_inventory_buf_get_by_data(copier->inventory, copy->src.mmap,
						    copy->src.addr + copy->submitted, len, src);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_buf_inventory_buf_get_by_addr(copier->inventory, copy->dst.mmap,
						    copy->dst.addr + copy->submitted, len, dst);
	if (result != DOCA_SUCCESS)
		(void)doca_buf_dec_refcount(*src, NULL);
	return result;
}

static size_t next_len(const struct copier *copier, const struct copy *copy)
{
	size_t left = copy->len - copy->submitted;

	return left < copier->max_piece ? left : (size_t)copier->max_piece;
}

/* Submit the next piece with the given task, or with a new one if NULL. Free the task on failure. */
static doca_error_t submit_next(struct copier *copier, struct doca_dma_task_memcpy *task)
{
	struct copy *copy = copier->now;
	size_t len = next_len(copier, copy);
	struct doca_buf *src, *dst;
	doca_error_t result;

	result = get_bufs(copier, copy, len, &src, &dst);
	if (result != DOCA_SUCCESS) {
		doca_task_free(task ? doca_dma_task_memcpy_as_task(task) : NULL);
		return result;
	}
	if (task) {
		doca_dma_task_memcpy_set_src(task, src);
		doca_dma_task_memcpy_set_dst(task, dst);
	} else {
		result = doca_dma_task_memcpy_alloc_init(copier->dma, src, dst,
							 (union doca_data){0}, &task);
		if (result != DOCA_SUCCESS)
			goto drop_bufs;
	}
	result = doca_task_submit(doca_dma_task_memcpy_as_task(task));
	if (result != DOCA_SUCCESS) {
		doca_task_free(doca_dma_task_memcpy_as_task(task));
		goto drop_bufs;
	}
	copy->submitted += len;
	copy->in_flight++;
	return DOCA_SUCCESS;

drop_bufs:
	(void)doca_buf_dec_refcount(src, NULL);
	(void)doca_buf_dec_refcount(dst, NULL);
	return result;
}

static void on_success(struct doca_dma_task_memcpy *task, union doca_data task_data,
		       union doca_data ctx_data)
{
	struct copier *copier = ctx_data.ptr;
	struct copy *copy = copier->now;

	(void)task_data;
	copy->in_flight--;
	drop_bufs(task);
	if (copy->result == DOCA_SUCCESS && copy->submitted < copy->len)
		copy->result = submit_next(copier, task);
	else
		doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void on_error(struct doca_dma_task_memcpy *task, union doca_data task_data,
		     union doca_data ctx_data)
{
	struct copier *copier = ctx_data.ptr;
	struct copy *copy = copier->now;

	(void)task_data;
	copy->in_flight--;
	drop_bufs(task);
	DOCA_ERROR_PROPAGATE(copy->result,
			     doca_task_get_status(doca_dma_task_memcpy_as_task(task)));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

doca_error_t open_copier(struct doca_dev *dev, struct copier *copier)
{
	doca_error_t result;

	*copier = (struct copier){.dev = dev};
	result = doca_dma_cap_task_memcpy_get_max_buf_size(doca_dev_as_devinfo(dev),
							   &copier->max_piece);
	DOCA_ERROR_PROPAGATE(result, doca_pe_create(&copier->pe));
	DOCA_ERROR_PROPAGATE(result, doca_buf_inventory_create(2 * NUM_TASKS, &copier->inventory));
	DOCA_ERROR_PROPAGATE(result, doca_buf_inventory_start(copier->inventory));
	DOCA_ERROR_PROPAGATE(result, doca_dma_create(dev, &copier->dma));
	if (result != DOCA_SUCCESS)
		goto close;
	copier->ctx = doca_dma_as_ctx(copier->dma);
	result = doca_dma_task_memcpy_set_conf(copier->dma, on_success, on_error, NUM_TASKS);
	DOCA_ERROR_PROPAGATE(result, doca_pe_connect_ctx(copier->pe, copier->ctx));
	DOCA_ERROR_PROPAGATE(result,
			     doca_ctx_set_user_data(copier->ctx, (union doca_data){.ptr = copier}));
	DOCA_ERROR_PROPAGATE(result, doca_ctx_start(copier->ctx));
	if (result == DOCA_SUCCESS)
		return DOCA_SUCCESS;
close:
	DOCA_LOG_ERR("Cannot open a DMA context: %s", doca_error_get_descr(result));
	close_copier(copier);
	return result;
}

static void stop(struct copier *copier)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	(void)doca_ctx_stop(copier->ctx);
	do
		(void)doca_pe_progress(copier->pe);
	while (doca_ctx_get_state(copier->ctx, &state) == DOCA_SUCCESS &&
	       state != DOCA_CTX_STATE_IDLE);
}

void close_copier(struct copier *copier)
{
	if (copier->ctx)
		stop(copier);
	if (copier->dma)
		(void)doca_dma_destroy(copier->dma);
	if (copier->inventory)
		(void)doca_buf_inventory_destroy(copier->inventory);
	if (copier->pe)
		(void)doca_pe_destroy(copier->pe);
	*copier = (struct copier){0};
}

doca_error_t copy(struct copier *copier, struct place dst, struct place src, size_t len)
{
	struct copy now = {.dst = dst, .src = src, .len = len, .result = DOCA_SUCCESS};

	copier->now = &now;
	while (now.result == DOCA_SUCCESS && now.submitted < len && now.in_flight < NUM_TASKS)
		now.result = submit_next(copier, NULL);
	while (now.in_flight)
		(void)doca_pe_progress(copier->pe);
	copier->now = NULL;
	if (now.result != DOCA_SUCCESS)
		DOCA_LOG_ERR("Copying %zu bytes failed: %s", len, doca_error_get_descr(now.result));
	return now.result;
}
