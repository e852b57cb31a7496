/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "endpoint.h"

#include <stdlib.h>
#include <string.h>

#define PATIENCE_MS 60000
#define NUM_BUFS    2048

static void record_change(const union doca_data user_data, struct doca_ctx *ctx,
			  enum doca_ctx_states prev, enum doca_ctx_states next)
{
	struct endpoint *endpoint = user_data.ptr;

	if (endpoint->num_changes < ENDPOINT_MAX_CHANGES)
		endpoint->changes[endpoint->num_changes] = (struct endpoint_change){prev, next};
	endpoint->num_changes++;
}

static void record_end(struct endpoint *endpoint, struct doca_task *task, union doca_data data)
{
	doca_error_t status = doca_task_get_status(task);

	endpoint->last_error = status;
	endpoint->last_data = data.u64;
	if (!endpoint->keep_tasks)
		doca_task_free(task);
}

static void on_read(struct doca_rdma_task_read *task, union doca_data task_data,
		    union doca_data ctx_data)
{
	struct endpoint *endpoint = ctx_data.ptr;

	endpoint->num_done++;
	record_end(endpoint, doca_rdma_task_read_as_task(task), task_data);
}

static void on_read_error(struct doca_rdma_task_read *task, union doca_data task_data,
			  union doca_data ctx_data)
{
	struct endpoint *endpoint = ctx_data.ptr;

	endpoint->num_failed++;
	record_end(endpoint, doca_rdma_task_read_as_task(task), task_data);
}

static void on_write(struct doca_rdma_task_write *task, union doca_data task_data,
		     union doca_data ctx_data)
{
	struct endpoint *endpoint = ctx_data.ptr;

	endpoint->num_done++;
	record_end(endpoint, doca_rdma_task_write_as_task(task), task_data);
}

static void on_write_error(struct doca_rdma_task_write *task, union doca_data task_data,
			   union doca_data ctx_data)
{
	struct endpoint *endpoint = ctx_data.ptr;

	endpoint->num_failed++;
	record_end(endpoint, doca_rdma_task_write_as_task(task), task_data);
}

static doca_error_t open_memory(struct endpoint *endpoint, uint32_t access)
{
	doca_error_t result;

	endpoint->bytes = malloc(ENDPOINT_LEN);
	if (!endpoint->bytes)
		return DOCA_ERROR_NO_MEMORY;
	result = doca_mmap_create(&endpoint->mmap);
	DOCA_ERROR_PROPAGATE(result,
			     doca_mmap_set_memrange(endpoint->mmap, endpoint->bytes, ENDPOINT_LEN));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_set_permissions(endpoint->mmap, access));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_add_dev(endpoint->mmap, endpoint->dev));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_start(endpoint->mmap));
	DOCA_ERROR_PROPAGATE(result, doca_buf_inventory_create(NUM_BUFS, &endpoint->inventory));
	DOCA_ERROR_PROPAGATE(result, doca_buf_inventory_start(endpoint->inventory));
	return result;
}

static doca_error_t open_context(struct endpoint *endpoint, uint32_t access)
{
	union doca_data data = {.ptr = endpoint};
	doca_error_t result;

	result = doca_pe_create(&endpoint->pe);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_create(endpoint->dev, &endpoint->rdma);
	if (result != DOCA_SUCCESS)
		return result;
	endpoint->ctx = doca_rdma_as_ctx(endpoint->rdma);
	result = doca_pe_connect_ctx(endpoint->pe, endpoint->ctx);
	DOCA_ERROR_PROPAGATE(result, doca_ctx_set_user_data(endpoint->ctx, data));
	DOCA_ERROR_PROPAGATE(result, doca_ctx_set_state_changed_cb(endpoint->ctx, record_change));
	DOCA_ERROR_PROPAGATE(result, doca_rdma_set_permissions(endpoint->rdma, access));
	DOCA_ERROR_PROPAGATE(result, doca_rdma_task_read_set_conf(endpoint->rdma, on_read,
								  on_read_error, ENDPOINT_TASKS));
	DOCA_ERROR_PROPAGATE(result, doca_rdma_task_write_set_conf(endpoint->rdma, on_write,
								   on_write_error, ENDPOINT_TASKS));
	return result;
}

doca_error_t endpoint_open(struct endpoint *endpoint, struct doca_dev *dev, uint32_t map_access,
			   uint32_t access)
{
	doca_error_t result;

	memset(endpoint, 0, sizeof(*endpoint));
	endpoint->dev = dev;
	result = open_memory(endpoint, map_access);
	return result == DOCA_SUCCESS ? open_context(endpoint, access) : result;
}

static doca_error_t forget_peer(struct endpoint *endpoint)
{
	doca_error_t result = DOCA_SUCCESS;

	if (endpoint->peer)
		result = doca_mmap_destroy(endpoint->peer);
	endpoint->peer = NULL;
	return result;
}

doca_error_t endpoint_close(struct endpoint *endpoint)
{
	doca_error_t result = DOCA_SUCCESS;

	if (endpoint->rdma) {
		result = endpoint_stop(endpoint);
		DOCA_ERROR_PROPAGATE(result, doca_rdma_destroy(endpoint->rdma));
	}
	if (endpoint->pe)
		DOCA_ERROR_PROPAGATE(result, doca_pe_destroy(endpoint->pe));
	if (endpoint->inventory)
		DOCA_ERROR_PROPAGATE(result, doca_buf_inventory_destroy(endpoint->inventory));
	DOCA_ERROR_PROPAGATE(result, forget_peer(endpoint));
	if (endpoint->mmap)
		DOCA_ERROR_PROPAGATE(result, doca_mmap_destroy(endpoint->mmap));
	free(endpoint->bytes);
	memset(endpoint, 0, sizeof(*endpoint));
	return result;
}

static doca_error_t keep(struct descriptor *desc, const void *blob, size_t len)
{
	if (len > sizeof(desc->bytes))
		return DOCA_ERROR_TOO_BIG;
	memcpy(desc->bytes, blob, len);
	desc->len = len;
	return DOCA_SUCCESS;
}

doca_error_t endpoint_offer(struct endpoint *endpoint, struct endpoint_offer *offer)
{
	const void *blob;
	doca_error_t result;
	size_t len;

	memset(offer, 0, sizeof(*offer));
	result = doca_rdma_export(endpoint->rdma, &blob, &len, &endpoint->connection);
	if (result == DOCA_SUCCESS)
		result = keep(&offer->details, blob, len);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_mmap_export_rdma(endpoint->mmap, endpoint->dev, &blob, &len);
	if (result == DOCA_ERROR_NOT_PERMITTED)
		return DOCA_SUCCESS;
	return result == DOCA_SUCCESS ? keep(&offer->map, blob, len) : result;
}

doca_error_t endpoint_accept(struct endpoint *endpoint, const struct endpoint_offer *offer)
{
	void *addr = NULL;
	doca_error_t result;
	size_t len;

	result = doca_rdma_connect(endpoint->rdma, offer->details.bytes, offer->details.len,
				   endpoint->connection);
	DOCA_ERROR_PROPAGATE(result, forget_peer(endpoint));
	if (result != DOCA_SUCCESS || !offer->map.len)
		return result;
	result = doca_mmap_create_from_export(NULL, offer->map.bytes, offer->map.len, endpoint->dev,
					      &endpoint->peer);
	DOCA_ERROR_PROPAGATE(result, doca_mmap_get_memrange(endpoint->peer, &addr, &len));
	endpoint->peer_addr = addr;
	return result;
}

doca_error_t endpoint_pair(struct endpoint *a, struct endpoint *b)
{
	struct endpoint_offer of_a, of_b;
	doca_error_t result = DOCA_SUCCESS;

	if (endpoint_state(a) == DOCA_CTX_STATE_IDLE)
		result = doca_ctx_start(a->ctx);
	if (endpoint_state(b) == DOCA_CTX_STATE_IDLE)
		DOCA_ERROR_PROPAGATE(result, doca_ctx_start(b->ctx));
	DOCA_ERROR_PROPAGATE(result, endpoint_offer(a, &of_a));
	DOCA_ERROR_PROPAGATE(result, endpoint_offer(b, &of_b));
	if (result == DOCA_SUCCESS)
		result = endpoint_accept(a, &of_b);
	if (result == DOCA_SUCCESS)
		result = endpoint_accept(b, &of_a);
	return result;
}

enum doca_ctx_states endpoint_state(const struct endpoint *endpoint)
{
	enum doca_ctx_states now = DOCA_CTX_STATE_IDLE;

	doca_ctx_get_state(endpoint->ctx, &now);
	return now;
}

doca_error_t endpoint_stop(struct endpoint *endpoint)
{
	uint64_t limit = monotonic_ms() + PATIENCE_MS;
	doca_error_t result = doca_ctx_stop(endpoint->ctx);

	if (result != DOCA_ERROR_IN_PROGRESS)
		return result;
	while (endpoint_state(endpoint) != DOCA_CTX_STATE_IDLE) {
		doca_pe_progress(endpoint->pe);
		if (monotonic_ms() > limit)
			return DOCA_ERROR_TIME_OUT;
	}
	return DOCA_SUCCESS;
}

struct doca_buf *endpoint_source(struct endpoint *endpoint, struct doca_mmap *mmap,
				 const uint8_t *at, size_t len)
{
	struct doca_buf *buf = NULL;

	doca_buf_inventory_buf_get_by_data(endpoint->inventory, mmap, (void *)(uintptr_t)at, len,
					   &buf);
	return buf;
}

struct doca_buf *endpoint_room(struct endpoint *endpoint, struct doca_mmap *mmap, const uint8_t *at,
			       size_t len)
{
	struct doca_buf *buf = NULL;

	doca_buf_inventory_buf_get_by_addr(endpoint->inventory, mmap, (void *)(uintptr_t)at, len,
					   &buf);
	return buf;
}

doca_error_t endpoint_submit(struct endpoint *endpoint, bool is_read, const struct doca_buf *src,
			     struct doca_buf *dst, uint64_t data)
{
	union doca_data user_data = {.u64 = data};
	struct doca_rdma_task_write *write;
	struct doca_rdma_task_read *read;
	struct doca_task *task = NULL;
	doca_error_t result;

	if (is_read) {
		result = doca_rdma_task_read_allocate_init(endpoint->rdma, endpoint->connection,
							   src, dst, user_data, &read);
		if (result == DOCA_SUCCESS)
			task = doca_rdma_task_read_as_task(read);
	} else {
		result = doca_rdma_task_write_allocate_init(endpoint->rdma, endpoint->connection,
							    src, dst, user_data, &write);
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

doca_error_t endpoint_wait(struct endpoint *endpoint, unsigned int num)
{
	uint64_t limit = monotonic_ms() + PATIENCE_MS;

	while (endpoint->num_done + endpoint->num_failed < num) {
		doca_pe_progress(endpoint->pe);
		if (monotonic_ms() > limit)
			return DOCA_ERROR_TIME_OUT;
	}
	return DOCA_SUCCESS;
}

static doca_error_t move(struct endpoint *endpoint, bool is_read, struct doca_buf *src,
			 struct doca_buf *dst)
{
	unsigned int before = endpoint->num_done + endpoint->num_failed;
	doca_error_t result = src && dst ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;

	DOCA_ERROR_PROPAGATE(result, endpoint_submit(endpoint, is_read, src, dst, 0));
	if (result == DOCA_SUCCESS)
		result = endpoint_wait(endpoint, before + 1);
	if (result == DOCA_SUCCESS)
		result = endpoint->last_error;
	if (src)
		doca_buf_dec_refcount(src, NULL);
	if (dst)
		doca_buf_dec_refcount(dst, NULL);
	return result;
}

doca_error_t endpoint_read(struct endpoint *endpoint, size_t local, size_t remote, size_t len)
{
	return move(endpoint, true,
		    endpoint_source(endpoint, endpoint->peer, endpoint->peer_addr + remote, len),
		    endpoint_room(endpoint, endpoint->mmap, endpoint->bytes + local, len));
}

doca_error_t endpoint_write(struct endpoint *endpoint, size_t local, size_t remote, size_t len)
{
	return move(endpoint, false,
		    endpoint_source(endpoint, endpoint->mmap, endpoint->bytes + local, len),
		    endpoint_room(endpoint, endpoint->peer, endpoint->peer_addr + remote, len));
}
