/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "ends.h"

#include <stdlib.h>
#include <string.h>

#define PATIENCE_MS 20000
#define NUM_BUFS    2048

static void record_change(const union doca_data user_data, struct doca_ctx *ctx,
			  enum doca_ctx_states prev, enum doca_ctx_states next)
{
	struct end *end = user_data.ptr;

	(void)ctx;
	if (end->num_changes < END_MAX_CHANGES)
		end->changes[end->num_changes] = (struct end_change){prev, next};
	end->num_changes++;
}

static void record_end(struct end *end, struct doca_task *task, union doca_data data)
{
	doca_error_t status = doca_task_get_status(task);

	end->last_error = status;
	end->last_data = data.u64;
	if (!end->keep_tasks)
		doca_task_free(task);
}

static void on_read(struct doca_rdma_task_read *task, union doca_data task_data,
		    union doca_data ctx_data)
{
	struct end *end = ctx_data.ptr;

	end->num_done++;
	record_end(end, doca_rdma_task_read_as_task(task), task_data);
}

static void on_read_error(struct doca_rdma_task_read *task, union doca_data task_data,
			  union doca_data ctx_data)
{
	struct end *end = ctx_data.ptr;

	end->num_failed++;
	record_end(end, doca_rdma_task_read_as_task(task), task_data);
}

static void on_write(struct doca_rdma_task_write *task, union doca_data task_data,
		     union doca_data ctx_data)
{
	struct end *end = ctx_data.ptr;

	end->num_done++;
	record_end(end, doca_rdma_task_write_as_task(task), task_data);
}

static void on_write_error(struct doca_rdma_task_write *task, union doca_data task_data,
			   union doca_data ctx_data)
{
	struct end *end = ctx_data.ptr;

	end->num_failed++;
	record_end(end, doca_rdma_task_write_as_task(task), task_data);
}

static doca_error_t open_memory(struct end *end, uint32_t access)
{
	doca_error_t result;

	end->bytes = malloc(END_LEN);
	if (!end->bytes)
		return DOCA_ERROR_NO_MEMORY;
	result = doca_mmap_create(&end->mmap);
	DOCA_ERROR_PROPAGATE(result, doca_mmap_set_memrange(end->mmap, end->bytes, END_LEN));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_set_permissions(end->mmap, access));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_add_dev(end->mmap, end->dev));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_start(end->mmap));
	DOCA_ERROR_PROPAGATE(result, doca_buf_inventory_create(NUM_BUFS, &end->inventory));
	DOCA_ERROR_PROPAGATE(result, doca_buf_inventory_start(end->inventory));
	return result;
}

static doca_error_t open_context(struct end *end, uint32_t access)
{
	union doca_data data = {.ptr = end};
	doca_error_t result;

	result = doca_pe_create(&end->pe);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_create(end->dev, &end->rdma);
	if (result != DOCA_SUCCESS)
		return result;
	end->ctx = doca_rdma_as_ctx(end->rdma);
	result = doca_pe_connect_ctx(end->pe, end->ctx);
	DOCA_ERROR_PROPAGATE(result, doca_ctx_set_user_data(end->ctx, data));
	DOCA_ERROR_PROPAGATE(result, doca_ctx_set_state_changed_cb(end->ctx, record_change));
	DOCA_ERROR_PROPAGATE(result, doca_rdma_set_permissions(end->rdma, access));
	DOCA_ERROR_PROPAGATE(
		result, doca_rdma_task_read_set_conf(end->rdma, on_read, on_read_error, END_TASKS));
	DOCA_ERROR_PROPAGATE(result, doca_rdma_task_write_set_conf(end->rdma, on_write,
								   on_write_error, END_TASKS));
	return result;
}

doca_error_t end_open(struct end *end, struct doca_dev *dev, uint32_t map_access, uint32_t access)
{
	doca_error_t result;

	memset(end, 0, sizeof(*end));
	end->dev = dev;
	result = open_memory(end, map_access);
	return result == DOCA_SUCCESS ? open_context(end, access) : result;
}

static doca_error_t forget_peer(struct end *end)
{
	doca_error_t result = DOCA_SUCCESS;

	if (end->peer)
		result = doca_mmap_destroy(end->peer);
	end->peer = NULL;
	return result;
}

doca_error_t end_close(struct end *end)
{
	doca_error_t result = DOCA_SUCCESS;

	if (end->rdma) {
		result = end_stop(end);
		DOCA_ERROR_PROPAGATE(result, doca_rdma_destroy(end->rdma));
	}
	if (end->pe)
		DOCA_ERROR_PROPAGATE(result, doca_pe_destroy(end->pe));
	if (end->inventory)
		DOCA_ERROR_PROPAGATE(result, doca_buf_inventory_destroy(end->inventory));
	DOCA_ERROR_PROPAGATE(result, forget_peer(end));
	if (end->mmap)
		DOCA_ERROR_PROPAGATE(result, doca_mmap_destroy(end->mmap));
	free(end->bytes);
	memset(end, 0, sizeof(*end));
	return result;
}

static doca_error_t keep(struct side_desc *desc, const void *blob, size_t len)
{
	if (len > sizeof(desc->bytes))
		return DOCA_ERROR_TOO_BIG;
	memcpy(desc->bytes, blob, len);
	desc->len = len;
	return DOCA_SUCCESS;
}

doca_error_t end_offer(struct end *end, struct end_offer *offer)
{
	const void *blob;
	doca_error_t result;
	size_t len;

	memset(offer, 0, sizeof(*offer));
	result = doca_rdma_export(end->rdma, &blob, &len, &end->connection);
	if (result == DOCA_SUCCESS)
		result = keep(&offer->details, blob, len);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_mmap_export_rdma(end->mmap, end->dev, &blob, &len);
	if (result == DOCA_ERROR_NOT_PERMITTED)
		return DOCA_SUCCESS;
	return result == DOCA_SUCCESS ? keep(&offer->map, blob, len) : result;
}

doca_error_t end_accept(struct end *end, const struct end_offer *offer)
{
	void *addr = NULL;
	doca_error_t result;
	size_t len;

	result = doca_rdma_connect(end->rdma, offer->details.bytes, offer->details.len,
				   end->connection);
	DOCA_ERROR_PROPAGATE(result, forget_peer(end));
	if (result != DOCA_SUCCESS || !offer->map.len)
		return result;
	result = doca_mmap_create_from_export(NULL, offer->map.bytes, offer->map.len, end->dev,
					      &end->peer);
	DOCA_ERROR_PROPAGATE(result, doca_mmap_get_memrange(end->peer, &addr, &len));
	end->peer_addr = addr;
	return result;
}

doca_error_t end_pair(struct end *a, struct end *b)
{
	struct end_offer of_a, of_b;
	doca_error_t result = DOCA_SUCCESS;

	if (end_state(a) == DOCA_CTX_STATE_IDLE)
		result = doca_ctx_start(a->ctx);
	if (end_state(b) == DOCA_CTX_STATE_IDLE)
		DOCA_ERROR_PROPAGATE(result, doca_ctx_start(b->ctx));
	DOCA_ERROR_PROPAGATE(result, end_offer(a, &of_a));
	DOCA_ERROR_PROPAGATE(result, end_offer(b, &of_b));
	if (result == DOCA_SUCCESS)
		result = end_accept(a, &of_b);
	if (result == DOCA_SUCCESS)
		result = end_accept(b, &of_a);
	return result;
}

enum doca_ctx_states end_state(const struct end *end)
{
	enum doca_ctx_states now = DOCA_CTX_STATE_IDLE;

	doca_ctx_get_state(end->ctx, &now);
	return now;
}

doca_error_t end_stop(struct end *end)
{
	uint64_t limit = rig_now_ms() + PATIENCE_MS;
	doca_error_t result = doca_ctx_stop(end->ctx);

	if (result != DOCA_ERROR_IN_PROGRESS)
		return result;
	while (end_state(end) != DOCA_CTX_STATE_IDLE) {
		doca_pe_progress(end->pe);
		if (rig_now_ms() > limit)
			return DOCA_ERROR_TIME_OUT;
	}
	return DOCA_SUCCESS;
}

struct doca_buf *end_source(struct end *end, struct doca_mmap *mmap, const uint8_t *at, size_t len)
{
	struct doca_buf *buf = NULL;

	doca_buf_inventory_buf_get_by_data(end->inventory, mmap, (void *)(uintptr_t)at, len, &buf);
	return buf;
}

struct doca_buf *end_room(struct end *end, struct doca_mmap *mmap, const uint8_t *at, size_t len)
{
	struct doca_buf *buf = NULL;

	doca_buf_inventory_buf_get_by_addr(end->inventory, mmap, (void *)(uintptr_t)at, len, &buf);
	return buf;
}

doca_error_t end_submit(struct end *end, bool is_read, const struct doca_buf *src,
			struct doca_buf *dst, uint64_t data)
{
	union doca_data user_data = {.u64 = data};
	struct doca_rdma_task_write *write;
	struct doca_rdma_task_read *read;
	struct doca_task *task = NULL;
	doca_error_t result;

	if (is_read) {
		result = doca_rdma_task_read_allocate_init(end->rdma, end->connection, src, dst,
							   user_data, &read);
		if (result == DOCA_SUCCESS)
			task = doca_rdma_task_read_as_task(read);
	} else {
		result = doca_rdma_task_write_allocate_init(end->rdma, end->connection, src, dst,
							    user_data, &write);
		if (result == DOCA_SUCCESS)
			task = doca_rdma_task_write_as_task(write);
	}
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_task_submit(task);
	if (result != DOCA_SUCCESS)
		doca_task_free(task);
	return result;
}

doca_error_t end_wait(struct end *end, unsigned int num)
{
	uint64_t limit = rig_now_ms() + PATIENCE_MS;

	while (end->num_done + end->num_failed < num) {
		doca_pe_progress(end->pe);
		if (rig_now_ms() > limit)
			return DOCA_ERROR_TIME_OUT;
	}
	return DOCA_SUCCESS;
}

static doca_error_t move(struct end *end, bool is_read, struct doca_buf *src, struct doca_buf *dst)
{
	unsigned int before = end->num_done + end->num_failed;
	doca_error_t result = src && dst ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;

	DOCA_ERROR_PROPAGATE(result, end_submit(end, is_read, src, dst, 0));
	if (result == DOCA_SUCCESS)
		result = end_wait(end, before + 1);
	if (result == DOCA_SUCCESS)
		result = end->last_error;
	if (src)
		doca_buf_dec_refcount(src, NULL);
	if (dst)
		doca_buf_dec_refcount(dst, NULL);
	return result;
}

doca_error_t end_read(struct end *end, size_t here, size_t there, size_t len)
{
	return move(end, true, end_source(end, end->peer, end->peer_addr + there, len),
		    end_room(end, end->mmap, end->bytes + here, len));
}

doca_error_t end_write(struct end *end, size_t here, size_t there, size_t len)
{
	return move(end, false, end_source(end, end->mmap, end->bytes + here, len),
		    end_room(end, end->peer, end->peer_addr + there, len));
}
