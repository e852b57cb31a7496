/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "tasks.h"

#include <stdlib.h>
#include <string.h>

#define PATIENCE_MS 60000

struct tasks tasks;

static void record_change(const union doca_data user_data, struct doca_ctx *ctx,
			  enum doca_ctx_states prev, enum doca_ctx_states next)
{
	struct tasks *t = user_data.ptr;
	enum doca_ctx_states now;

	assert_ok(doca_ctx_get_state(ctx, &now));
	assert_int_equal(now, next);
	assert_true(t->num_changes < MAX_CHANGES);
	t->changes[t->num_changes] = (struct change){prev, next};
	t->num_changes++;
	if (t->on_state)
		t->on_state(t, &(struct change){prev, next});
}

static void record_end(struct tasks *t, struct doca_dma_task_memcpy *task, union doca_data data)
{
	assert_false(t->inside);
	t->last_data = data.u64;
	t->last_error = doca_task_get_status(doca_dma_task_memcpy_as_task(task));
	if (t->on_task)
		t->on_task(t, task);
	else
		doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void on_success(struct doca_dma_task_memcpy *task, union doca_data task_data,
		       union doca_data ctx_data)
{
	struct tasks *t = ctx_data.ptr;

	assert_ok(doca_task_get_status(doca_dma_task_memcpy_as_task(task)));
	t->num_done++;
	record_end(t, task, task_data);
}

static void on_error(struct doca_dma_task_memcpy *task, union doca_data task_data,
		     union doca_data ctx_data)
{
	struct tasks *t = ctx_data.ptr;

	assert_int_not_equal(doca_task_get_status(doca_dma_task_memcpy_as_task(task)),
			     DOCA_SUCCESS);
	t->num_failed++;
	record_end(t, task, task_data);
}

static doca_error_t open_memory(void)
{
	doca_error_t result;

	tasks.bytes = calloc(2, TASKS_LEN);
	if (!tasks.bytes)
		return DOCA_ERROR_NO_MEMORY;
	fixture_fill(tasks.bytes, TASKS_LEN, 1);
	result = doca_mmap_create(&tasks.mmap);
	DOCA_ERROR_PROPAGATE(result,
			     doca_mmap_set_memrange(tasks.mmap, tasks.bytes, 2 * TASKS_LEN));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_add_dev(tasks.mmap, tasks.dev));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_start(tasks.mmap));
	DOCA_ERROR_PROPAGATE(result, doca_buf_inventory_create(4096, &tasks.inventory));
	DOCA_ERROR_PROPAGATE(result, doca_buf_inventory_start(tasks.inventory));
	return result;
}

int tasks_open(void **state)
{
	doca_error_t result;

	if (fixture_count(state))
		return -1;
	memset(&tasks, 0, sizeof(tasks));
	result = fixture_open_device(&tasks.dev);
	DOCA_ERROR_PROPAGATE(result, open_memory());
	DOCA_ERROR_PROPAGATE(result, doca_pe_create(&tasks.pe));
	DOCA_ERROR_PROPAGATE(result, doca_dma_create(tasks.dev, &tasks.dma));
	if (result != DOCA_SUCCESS)
		return -1;
	tasks.ctx = doca_dma_as_ctx(tasks.dma);
	result = doca_dma_task_memcpy_set_conf(tasks.dma, on_success, on_error, TASKS_NUM);
	DOCA_ERROR_PROPAGATE(result, doca_pe_connect_ctx(tasks.pe, tasks.ctx));
	DOCA_ERROR_PROPAGATE(result,
			     doca_ctx_set_user_data(tasks.ctx, (union doca_data){.ptr = &tasks}));
	DOCA_ERROR_PROPAGATE(result, doca_ctx_set_state_changed_cb(tasks.ctx, record_change));
	return result == DOCA_SUCCESS ? 0 : -1;
}

int tasks_close(void **state)
{
	doca_error_t result = DOCA_SUCCESS;

	if (tasks.dma)
		DOCA_ERROR_PROPAGATE(result, doca_dma_destroy(tasks.dma));
	DOCA_ERROR_PROPAGATE(result, doca_pe_destroy(tasks.pe));
	DOCA_ERROR_PROPAGATE(result, doca_buf_inventory_destroy(tasks.inventory));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_destroy(tasks.mmap));
	DOCA_ERROR_PROPAGATE(result, doca_dev_close(tasks.dev));
	free(tasks.bytes);
	return result == DOCA_SUCCESS ? fixture_recount(state) : -1;
}

void tasks_start(void)
{
	assert_ok(doca_ctx_start(tasks.ctx));
}

void tasks_stop(void)
{
	uint64_t end = monotonic_ms() + PATIENCE_MS;
	doca_error_t result = doca_ctx_stop(tasks.ctx);

	if (result != DOCA_ERROR_IN_PROGRESS)
		assert_ok(result);
	while (tasks_state() != DOCA_CTX_STATE_IDLE) {
		doca_pe_progress(tasks.pe);
		assert_true(monotonic_ms() < end);
	}
}

struct doca_buf *tasks_source(size_t offset, size_t len)
{
	struct doca_buf *buf = NULL;

	assert_ok(doca_buf_inventory_buf_get_by_data(tasks.inventory, tasks.mmap,
						     tasks.bytes + offset, len, &buf));
	return buf;
}

struct doca_buf *tasks_room(size_t offset, size_t len)
{
	struct doca_buf *buf = NULL;

	assert_ok(doca_buf_inventory_buf_get_by_addr(tasks.inventory, tasks.mmap,
						     tasks.bytes + TASKS_LEN + offset, len, &buf));
	return buf;
}

void tasks_drop(struct doca_buf *buf)
{
	assert_ok(doca_buf_dec_refcount(buf, NULL));
}

struct doca_dma_task_memcpy *tasks_alloc(struct doca_buf *src, struct doca_buf *dst, uint64_t data)
{
	struct doca_dma_task_memcpy *task = NULL;

	assert_ok(doca_dma_task_memcpy_alloc_init(tasks.dma, src, dst,
						  (union doca_data){.u64 = data}, &task));
	return task;
}

void tasks_submit(struct doca_dma_task_memcpy *task)
{
	bool was_inside = tasks.inside;

	tasks.inside = true;
	assert_ok(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	tasks.inside = was_inside;
}

void tasks_wait(unsigned int num)
{
	uint64_t end = monotonic_ms() + PATIENCE_MS;

	while (tasks.num_done + tasks.num_failed < num) {
		doca_pe_progress(tasks.pe);
		assert_true(monotonic_ms() < end);
	}
	assert_int_equal(tasks.num_done + tasks.num_failed, num);
}

enum doca_ctx_states tasks_state(void)
{
	enum doca_ctx_states now;

	assert_ok(doca_ctx_get_state(tasks.ctx, &now));
	return now;
}

void assert_change(unsigned int at, enum doca_ctx_states prev, enum doca_ctx_states next)
{
	assert_true(at < tasks.num_changes);
	assert_int_equal(tasks.changes[at].prev, prev);
	assert_int_equal(tasks.changes[at].next, next);
}
