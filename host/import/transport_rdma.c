/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * An RDMA connection to dpumapd: by the address that dpumapd names over the channel, or, if it names
 * none, with the details of both queue pairs, which are exchanged over the channel.
 */
#include "host/import/transport.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_pe.h>
#include <doca_rdma.h>
#include <dpumap/rdma.h>

#include "base/clock.h"
#include "common/memlock.h"
#include "host/base/interrupt.h"

/* A request to an unreachable peer fails within about two seconds. */
#define LEAVE_NS (5 * NSEC_PER_SEC)
#define SLEEP_NS 20000

struct rdma_transport {
	struct doca_pe *pe;
	struct doca_rdma *rdma;
	struct doca_rdma_connection *connection;
	struct doca_rdma_addr *addr; /* NULL: the details were exchanged */
	bool is_established;	     /* by address */
	bool has_failed;
	struct doca_buf_inventory *bufs;
	uint32_t num_ended; /* completions that were not polled yet */
	struct dpumap_dma_completion ended[IMPORT_QUEUE_DEPTH];
};

/* --- requests --------------------------------------------------------------------------------- */

static void end_piece(struct rdma_transport *t, struct doca_task *task, union doca_data tag)
{
	t->ended[t->num_ended++] = (struct dpumap_dma_completion){
		.user_data = tag, .status = doca_task_get_status(task)};
	doca_task_free(task);
}

static void on_read(struct doca_rdma_task_read *task, union doca_data tag, union doca_data ctx)
{
	doca_buf_dec_refcount((struct doca_buf *)(uintptr_t)doca_rdma_task_read_get_src_buf(task),
			      NULL);
	doca_buf_dec_refcount(doca_rdma_task_read_get_dst_buf(task), NULL);
	end_piece(ctx.ptr, doca_rdma_task_read_as_task(task), tag);
}

static void on_write(struct doca_rdma_task_write *task, union doca_data tag, union doca_data ctx)
{
	doca_buf_dec_refcount((struct doca_buf *)(uintptr_t)doca_rdma_task_write_get_src_buf(task),
			      NULL);
	doca_buf_dec_refcount(doca_rdma_task_write_get_dst_buf(task), NULL);
	end_piece(ctx.ptr, doca_rdma_task_write_as_task(task), tag);
}

static doca_error_t make_task(const struct rdma_transport *t, enum import_direction direction,
			      const struct doca_buf *src, struct doca_buf *dst, union doca_data tag,
			      struct doca_task **task)
{
	struct doca_rdma_task_write *write;
	struct doca_rdma_task_read *read;
	doca_error_t result;

	if (direction == IMPORT_PUT) {
		result = doca_rdma_task_write_allocate_init(t->rdma, t->connection, src, dst, tag,
							    &write);
		if (result == DOCA_SUCCESS)
			*task = doca_rdma_task_write_as_task(write);
		return result;
	}
	result = doca_rdma_task_read_allocate_init(t->rdma, t->connection, src, dst, tag, &read);
	if (result == DOCA_SUCCESS)
		*task = doca_rdma_task_read_as_task(read);
	return result;
}

static doca_error_t submit(const struct rdma_transport *t, enum import_direction direction,
			   const struct doca_buf *src, struct doca_buf *dst, union doca_data tag)
{
	struct doca_task *task;
	doca_error_t result = make_task(t, direction, src, dst, tag, &task);

	if (result != DOCA_SUCCESS)
		return result;
	result = doca_task_submit(task);
	if (result != DOCA_SUCCESS)
		doca_task_free(task);
	return result;
}

static doca_error_t post(struct import *import, const struct import_piece *piece)
{
	bool is_put = piece->direction == IMPORT_PUT;
	struct rdma_transport *t = import->rdma;
	struct doca_buf *src, *dst;
	doca_error_t result;

	result = doca_buf_inventory_buf_get_by_data(t->bufs, is_put ? piece->local : import->map,
						    is_put ? piece->local_addr : piece->remote_addr,
						    piece->len, &src);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_buf_inventory_buf_get_by_addr(t->bufs, is_put ? import->map : piece->local,
						    is_put ? piece->remote_addr : piece->local_addr,
						    piece->len, &dst);
	if (result != DOCA_SUCCESS)
		goto drop_src;
	result = submit(t, piece->direction, src, dst, piece->tag);
	if (result != DOCA_SUCCESS)
		goto drop_dst;
	return DOCA_SUCCESS;

drop_dst:
	doca_buf_dec_refcount(dst, NULL);
drop_src:
	doca_buf_dec_refcount(src, NULL);
	return result;
}

static doca_error_t poll(struct import *import, struct dpumap_dma_completion *out, uint32_t max,
			 uint32_t *n)
{
	struct rdma_transport *t = import->rdma;
	uint32_t taken = 0;

	/* ended has room for all tasks in flight. */
	while (doca_pe_progress(t->pe))
		;
	while (taken < max && taken < t->num_ended) {
		out[taken] = t->ended[taken];
		taken++;
	}
	for (uint32_t i = taken; i < t->num_ended; i++)
		t->ended[i - taken] = t->ended[i];
	t->num_ended -= taken;
	*n = taken;
	return DOCA_SUCCESS;
}

/* --- the connection --------------------------------------------------------------------------- */

static void on_established(struct doca_rdma_connection *connection, union doca_data unused,
			   union doca_data ctx)
{
	struct rdma_transport *t = ctx.ptr;

	(void)unused;
	t->connection = connection;
	t->is_established = true;
}

/* Tasks of a connection that ended fail. */
static void on_end(struct doca_rdma_connection *connection, union doca_data unused,
		   union doca_data ctx)
{
	struct rdma_transport *t = ctx.ptr;

	(void)connection, (void)unused;
	t->has_failed = true;
}

static doca_error_t set_callbacks(struct rdma_transport *t)
{
	doca_error_t result =
		doca_rdma_task_read_set_conf(t->rdma, on_read, on_read, IMPORT_QUEUE_DEPTH);

	if (result == DOCA_SUCCESS)
		result = doca_rdma_task_write_set_conf(t->rdma, on_write, on_write,
						       IMPORT_QUEUE_DEPTH);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_set_connection_state_callbacks(t->rdma, NULL, on_established,
								  on_end, on_end);
	return result;
}

static doca_error_t set_up(struct rdma_transport *t)
{
	const union doca_data self = {.ptr = t};
	struct doca_ctx *ctx = doca_rdma_as_ctx(t->rdma);
	doca_error_t result = doca_pe_connect_ctx(t->pe, ctx);

	if (result == DOCA_SUCCESS)
		result = doca_ctx_set_user_data(ctx, self);
	if (result == DOCA_SUCCESS)
		result = set_callbacks(t);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(ctx);
	/* The port is not active yet. */
	return result == DOCA_ERROR_IN_PROGRESS ? DOCA_ERROR_NOT_CONNECTED : result;
}

static doca_error_t make_end(struct import *import)
{
	struct rdma_transport *t = import->rdma;
	doca_error_t result = doca_pe_create(&t->pe);

	if (result == DOCA_SUCCESS)
		result = doca_rdma_create(import->device.dev, &t->rdma);
	if (result == DOCA_SUCCESS)
		result = set_up(t);
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_create(2 * (size_t)IMPORT_QUEUE_DEPTH, &t->bufs);
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_start(t->bufs);
	return result;
}

static doca_error_t await_connection(const struct import *import,
				     const struct remote_address *address,
				     struct dpumap_error *error)
{
	const struct timespec time = {.tv_nsec = SLEEP_NS};
	uint64_t limit = monotonic_ns() + import->timeout_ns;
	const struct rdma_transport *t = import->rdma;

	while (!t->is_established && !t->has_failed) {
		if (interrupt_signal)
			return dpumap_error_set(error, DOCA_ERROR_SHUTDOWN, "interrupted");
		if (monotonic_ns() > limit)
			return dpumap_error_set(
				error, DOCA_ERROR_TIME_OUT,
				"cannot connect to %s from %s: address %s port %" PRIu16
				" of dpumapd does not answer: see the log of dpumapd",
				import->name, import->device.name, address->address, address->port);
		if (!doca_pe_progress(t->pe))
			nanosleep(&time, NULL);
	}
	if (!t->has_failed)
		return DOCA_SUCCESS;
	return dpumap_error_set(error, DOCA_ERROR_CONNECTION_ABORTED,
				"cannot connect to %s from %s: address %s port %" PRIu16
				" of dpumapd cannot be reached or refuses: see the log of dpumapd",
				import->name, import->device.name, address->address, address->port);
}

/* NOT_SUPPORTED: this machine has no connection manager. */
static doca_error_t connect_by_address(struct import *import, const struct remote_address *address,
				       struct dpumap_error *error)
{
	enum doca_rdma_addr_type type =
		strchr(address->address, ':') ? DOCA_RDMA_ADDR_TYPE_IPv6 : DOCA_RDMA_ADDR_TYPE_IPv4;
	struct rdma_transport *t = import->rdma;
	doca_error_t result;

	result = doca_rdma_addr_create(type, address->address, address->port, &t->addr);
	if (result == DOCA_SUCCESS)
		result = dpumap_rdma_connect_to_addr(t->rdma, t->addr, address->ticket,
						     sizeof(address->ticket), (union doca_data){0});
	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(
			error, result, "cannot connect to %s from %s at address %s port %" PRIu16,
			import->name, import->device.name, address->address, address->port);
	return await_connection(import, address, error);
}

/* dpumapd's queue pair is ready before anything is sent to it. */
static doca_error_t exchange_details(struct import *import, struct dpumap_client *client,
				     struct dpumap_error *error)
{
	uint8_t theirs[DPUMAP_DETAILS_MAX];
	size_t their_len = sizeof(theirs), len;
	struct rdma_transport *t = import->rdma;
	const void *ours;
	doca_error_t result;

	result = doca_rdma_export(t->rdma, &ours, &len, &t->connection);
	if (result != DOCA_SUCCESS)
		return dpumap_error_locking(error, result, 0,
					    "cannot create an RDMA connection on %s",
					    import->device.name);
	result = remote_connect_rdma(client, import->name, ours, len, theirs, &their_len, error);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_rdma_connect(t->rdma, theirs, their_len, t->connection);
	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(error, result, "cannot connect to %s from %s",
					 import->name, import->device.name);
	return DOCA_SUCCESS;
}

static doca_error_t join(struct import *import, struct dpumap_client *client,
			 struct dpumap_error *error)
{
	struct remote_address address;
	doca_error_t result = remote_ask_address(client, import->name, &address, error);

	if (result == DOCA_SUCCESS)
		result = connect_by_address(import, &address, error);
	if (result == DOCA_ERROR_NOT_SUPPORTED)
		result = exchange_details(import, client, error);
	return result;
}

static doca_error_t open_connection(struct import *import, struct dpumap_client *client,
				    struct dpumap_error *error)
{
	uint32_t max = 0;
	doca_error_t result;

	if (!client)
		return dpumap_error_set(
			error, DOCA_ERROR_NOT_SUPPORTED,
			"%s: a saved descriptor of an RDMA export cannot be imported without a "
			"connection to dpumapd: import the export by name",
			import->name);
	import->rdma = calloc(1, sizeof(*import->rdma));
	if (!import->rdma)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY,
					"no memory for an RDMA connection");
	result = make_end(import);
	if (result == DOCA_SUCCESS)
		result = doca_rdma_cap_get_max_message_size(doca_dev_as_devinfo(import->device.dev),
							    &max);
	if (result != DOCA_SUCCESS)
		return dpumap_error_locking(error, result, 0,
					    "cannot create an RDMA connection on %s",
					    import->device.name);
	import->max_request = max;
	import->engine = "RDMA connection";
	return join(import, client, error);
}

/* Tasks in flight must complete first: they may still write to local memory. */
static bool leave(struct rdma_transport *t)
{
	const struct timespec time = {.tv_nsec = SLEEP_NS};
	struct doca_ctx *ctx = doca_rdma_as_ctx(t->rdma);
	enum doca_ctx_states state = DOCA_CTX_STATE_RUNNING;
	uint64_t limit = monotonic_ns() + LEAVE_NS;
	doca_error_t result = doca_ctx_stop(ctx);

	while (result == DOCA_ERROR_IN_PROGRESS && state != DOCA_CTX_STATE_IDLE &&
	       monotonic_ns() < limit) {
		if (!doca_pe_progress(t->pe))
			nanosleep(&time, NULL);
		t->num_ended = 0;
		doca_ctx_get_state(ctx, &state);
	}
	return doca_rdma_destroy(t->rdma) == DOCA_SUCCESS;
}

static bool close_connection(struct import *import)
{
	struct rdma_transport *t = import->rdma;

	if (!t)
		return true;
	if (t->rdma && !leave(t))
		return false;
	if (t->addr)
		doca_rdma_addr_destroy(t->addr);
	if (t->bufs)
		doca_buf_inventory_destroy(t->bufs);
	if (t->pe)
		doca_pe_destroy(t->pe);
	free(t);
	import->rdma = NULL;
	return true;
}

const struct transport transport_rdma = {
	.is_supported = dpumap_device_can_connect,
	.capability = "be connected over RDMA",
	.open = open_connection,
	.post = post,
	.poll = poll,
	.close = close_connection,
};
