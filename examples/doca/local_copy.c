/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Copies between scattered pieces of memory of one process. It shows chained bufs, tasks that are
 * submitted when the context starts, and a loop that sleeps until a task completes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <doca_buf.h>
#include <doca_ctx.h>
#include <doca_log.h>

#include "common.h"

#define NUM_TASKS 8
#define BLOCK	  ((size_t)64 << 10) /* bytes that one task copies */
#define SRC_PARTS 3
#define DST_PARTS 2

DOCA_LOG_REGISTER(EXAMPLE::LOCAL_COPY);

struct app {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_dma *dma;
	struct doca_ctx *ctx;
	struct doca_buf_inventory *inventory;
	struct memory src, dst;
	uint32_t num_left;
	uint32_t num_wakeups;
	bool is_idle;
	doca_error_t result;
};

/* Length of a part of a block. Each part is a quarter of the block; the last part is the rest. */
static size_t part_len(uint32_t part, uint32_t num_parts)
{
	size_t first = BLOCK / 4;

	if (part + 1 < num_parts)
		return first;
	return BLOCK - first * (num_parts - 1);
}

typedef doca_error_t (*get_part)(struct doca_buf_inventory *inventory, struct doca_mmap *mmap,
				 void *addr, size_t len, struct doca_buf **buf);

/*
 * Make a chain of a block of memory. The first element of the chain is the last part of the block,
 * so the parts lie in memory in reverse order.
 */
static doca_error_t get_chain(struct app *app, const struct memory *memory, uint32_t block,
			      uint32_t num_parts, get_part get, struct doca_buf **head)
{
	char *at = memory->bytes + (size_t)(block + 1) * BLOCK;
	struct doca_buf *part;
	doca_error_t result;

	*head = NULL;
	for (uint32_t i = 0; i < num_parts; i++) {
		size_t len = part_len(i, num_parts);

		at -= len;
		result = get(app->inventory, memory->mmap, at, len, &part);
		if (result == DOCA_SUCCESS && *head) {
			result = doca_buf_chain_list(*head, part);
			if (result != DOCA_SUCCESS)
				(void)doca_buf_dec_refcount(part, NULL);
		} else if (result == DOCA_SUCCESS) {
			*head = part;
		}
		if (result != DOCA_SUCCESS) {
			if (*head)
				(void)doca_buf_dec_refcount(*head, NULL);
			return result;
		}
	}
	return DOCA_SUCCESS;
}

static void drop_task(struct doca_dma_task_memcpy *task)
{
	struct doca_buf *src = (struct doca_buf *)doca_dma_task_memcpy_get_src(task);
	struct doca_buf *dst = doca_dma_task_memcpy_get_dst(task);

	doca_task_free(doca_dma_task_memcpy_as_task(task));
	(void)doca_buf_dec_refcount(src, NULL); /* releasing the head releases the chain */
	(void)doca_buf_dec_refcount(dst, NULL);
}

static doca_error_t submit_block(struct app *app, uint32_t block)
{
	union doca_data data = {.u64 = block};
	struct doca_dma_task_memcpy *task;
	struct doca_buf *src, *dst;
	doca_error_t result;

	result = get_chain(app, &app->src, block, SRC_PARTS, doca_buf_inventory_buf_get_by_data,
			   &src);
	if (result != DOCA_SUCCESS)
		return result;
	result = get_chain(app, &app->dst, block, DST_PARTS, doca_buf_inventory_buf_get_by_addr,
			   &dst);
	if (result != DOCA_SUCCESS) {
		(void)doca_buf_dec_refcount(src, NULL);
		return result;
	}
	result = doca_dma_task_memcpy_alloc_init(app->dma, src, dst, data, &task);
	if (result != DOCA_SUCCESS) {
		(void)doca_buf_dec_refcount(src, NULL);
		(void)doca_buf_dec_refcount(dst, NULL);
		return result;
	}
	result = doca_task_submit(doca_dma_task_memcpy_as_task(task));
	if (result != DOCA_SUCCESS)
		drop_task(task);
	return result;
}

static void submit_all(struct app *app)
{
	for (uint32_t block = 0; block < NUM_TASKS && app->result == DOCA_SUCCESS; block++) {
		app->result = submit_block(app, block);
		if (app->result == DOCA_SUCCESS)
			app->num_left++;
	}
	if (!app->num_left)
		(void)doca_ctx_stop(app->ctx);
}

static void on_state(const union doca_data user_data, struct doca_ctx *ctx,
		     enum doca_ctx_states prev, enum doca_ctx_states next)
{
	struct app *app = user_data.ptr;

	(void)ctx;
	(void)prev;
	if (next == DOCA_CTX_STATE_RUNNING)
		submit_all(app);
	else if (next == DOCA_CTX_STATE_IDLE)
		app->is_idle = true;
}

static void on_end(struct doca_dma_task_memcpy *task, union doca_data task_data,
		   union doca_data ctx_data)
{
	doca_error_t status = doca_task_get_status(doca_dma_task_memcpy_as_task(task));
	struct app *app = ctx_data.ptr;

	if (status != DOCA_SUCCESS)
		DOCA_LOG_ERR("Block %u: %s", (unsigned int)task_data.u64,
			     doca_error_get_descr(status));
	DOCA_ERROR_PROPAGATE(app->result, status);
	drop_task(task);
	if (!--app->num_left)
		(void)doca_ctx_stop(app->ctx); /* the context becomes IDLE */
}

static doca_error_t open_app(const struct config *config, struct app *app)
{
	uint32_t rw = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE;
	doca_error_t result;

	result = open_device(config->pci_addr, can_copy, &app->dev);
	if (result != DOCA_SUCCESS)
		return result;
	result = create_memory(app->dev, NUM_TASKS * BLOCK, rw, &app->src);
	DOCA_ERROR_PROPAGATE(result, create_memory(app->dev, NUM_TASKS * BLOCK, rw, &app->dst));
	DOCA_ERROR_PROPAGATE(result,
			     doca_buf_inventory_create(NUM_TASKS * (size_t)(SRC_PARTS + DST_PARTS),
						       &app->inventory));
	DOCA_ERROR_PROPAGATE(result, doca_buf_inventory_start(app->inventory));
	DOCA_ERROR_PROPAGATE(result, doca_pe_create(&app->pe));
	DOCA_ERROR_PROPAGATE(result, doca_dma_create(app->dev, &app->dma));
	if (result != DOCA_SUCCESS)
		return result;
	app->ctx = doca_dma_as_ctx(app->dma);
	result = doca_dma_task_memcpy_set_conf(app->dma, on_end, on_end, NUM_TASKS);
	DOCA_ERROR_PROPAGATE(result, doca_pe_connect_ctx(app->pe, app->ctx));
	DOCA_ERROR_PROPAGATE(result,
			     doca_ctx_set_user_data(app->ctx, (union doca_data){.ptr = app}));
	DOCA_ERROR_PROPAGATE(result, doca_ctx_set_state_changed_cb(app->ctx, on_state));
	return result;
}

static void close_app(struct app *app)
{
	if (app->dma)
		(void)doca_dma_destroy(app->dma);
	if (app->pe)
		(void)doca_pe_destroy(app->pe);
	if (app->inventory)
		(void)doca_buf_inventory_destroy(app->inventory);
	destroy_memory(&app->dst);
	destroy_memory(&app->src);
	(void)doca_dev_close(app->dev);
}

/* Arm, sleep, clear the notification, and make progress until no work is left. */
static doca_error_t wait_for_work(struct app *app, int epoll, doca_notification_handle_t handle)
{
	struct epoll_event event;
	doca_error_t result;

	result = doca_pe_request_notification(app->pe);
	if (result != DOCA_SUCCESS)
		return result;
	while (epoll_wait(epoll, &event, 1, -1) < 0)
		if (errno != EINTR)
			return DOCA_ERROR_OPERATING_SYSTEM;
	app->num_wakeups++;
	result = doca_pe_clear_notification(app->pe, handle);
	while (!app->is_idle && doca_pe_progress(app->pe))
		;
	return result;
}

static doca_error_t loop(struct app *app)
{
	struct epoll_event event = {.events = EPOLLIN};
	doca_notification_handle_t handle = 0;
	doca_error_t result;
	int epoll;

	result = doca_pe_get_notification_handle(app->pe, &handle);
	if (result != DOCA_SUCCESS)
		return result;
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, handle, &event))
		result = DOCA_ERROR_OPERATING_SYSTEM;
	while (result == DOCA_SUCCESS && !app->is_idle)
		result = wait_for_work(app, epoll, handle);
	if (epoll >= 0)
		close(epoll);
	return result;
}

/* Compare each block part by part. The parts of a chain lie in reverse order, see get_chain(). */
static bool is_copied(const struct app *app)
{
	char *expected = malloc(BLOCK), *found = malloc(BLOCK);
	bool same = expected && found;

	for (uint32_t block = 0; block < NUM_TASKS && same; block++) {
		const char *src = app->src.bytes + (size_t)(block + 1) * BLOCK;
		const char *dst = app->dst.bytes + (size_t)(block + 1) * BLOCK;
		size_t at = 0;

		for (uint32_t i = 0; i < SRC_PARTS; at += part_len(i++, SRC_PARTS))
			memcpy(expected + at, src -= part_len(i, SRC_PARTS),
			       part_len(i, SRC_PARTS));
		at = 0;
		for (uint32_t i = 0; i < DST_PARTS; at += part_len(i++, DST_PARTS))
			memcpy(found + at, dst -= part_len(i, DST_PARTS), part_len(i, DST_PARTS));
		same = !memcmp(expected, found, BLOCK);
	}
	free(expected);
	free(found);
	return same;
}

static doca_error_t run(const struct config *config)
{
	struct app app = {0};
	doca_error_t result = open_app(config, &app);

	if (result == DOCA_SUCCESS) {
		for (size_t i = 0; i < app.src.len; i++)
			app.src.bytes[i] = (char)(i * 7 + i / BLOCK);
		result = doca_ctx_start(app.ctx); /* calls on_state(), which submits the tasks */
		DOCA_ERROR_PROPAGATE(result, loop(&app));
		DOCA_ERROR_PROPAGATE(result, app.result);
	}
	if (result == DOCA_SUCCESS && !is_copied(&app)) {
		DOCA_LOG_ERR("The destination differs from the source");
		result = DOCA_ERROR_UNEXPECTED;
	}
	if (result == DOCA_SUCCESS)
		DOCA_LOG_INFO("%d tasks, %zu bytes each, %d parts to %d: %u wake-ups", NUM_TASKS,
			      BLOCK, SRC_PARTS, DST_PARTS, app.num_wakeups);
	close_app(&app);
	return result;
}

int main(int argc, char **argv)
{
	struct config config = {0};
	doca_error_t result = start_logs();

	DOCA_ERROR_PROPAGATE(result, parse_arguments(argc, argv, "p", &config));
	DOCA_ERROR_PROPAGATE(result, run(&config));
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("Ends with %s", doca_error_get_name(result));
	return result == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
