/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "rdma_peer.h"

#include <string.h>
#include <time.h>

#include <doca_buf.h>
#include <doca_ctx.h>
#include <doca_log.h>

DOCA_LOG_REGISTER(EXAMPLE::RDMA_PEER);

#define PERMISSIONS                                                                  \
	((uint32_t)(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | \
		    DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC))
#define IDLE_NS 50000

doca_error_t can_talk(const struct doca_devinfo *devinfo)
{
	doca_error_t result = doca_rdma_cap_task_receive_is_supported(devinfo);

	if (result == DOCA_SUCCESS)
		result = doca_sync_event_cap_is_export_to_remote_net_supported(devinfo);
	return result;
}

/* --- callbacks: all of them run inside doca_pe_progress() ------------------------------------- */

static void on_request(struct doca_rdma_connection *connection, union doca_data ctx_data)
{
	struct peer *peer = ctx_data.ptr;

	if (peer->connection) /* this example serves one client */
		(void)doca_rdma_connection_reject(connection);
	else if (doca_rdma_connection_accept(connection, NULL, 0) == DOCA_SUCCESS)
		peer->connection = connection;
}

static void on_established(struct doca_rdma_connection *connection, union doca_data data,
			   union doca_data ctx_data)
{
	struct peer *peer = ctx_data.ptr;

	(void)data;
	peer->connection = connection;
	peer->is_connected = true;
}

/* The attempt to connect has failed, or the connection has ended. */
static void on_end(struct doca_rdma_connection *connection, union doca_data data,
		   union doca_data ctx_data)
{
	struct peer *peer = ctx_data.ptr;

	(void)data;
	if (!peer->connection || connection == peer->connection)
		peer->has_ended = true;
}

static void on_receive(struct doca_rdma_task_receive *task, union doca_data data,
		       union doca_data ctx_data)
{
	struct peer *peer = ctx_data.ptr;

	(void)data;
	peer->has_message = true;
	peer->message_result = doca_task_get_status(doca_rdma_task_receive_as_task(task));
	doca_task_free(doca_rdma_task_receive_as_task(task));
}

static void finish(struct peer *peer, struct doca_task *task)
{
	peer->result = doca_task_get_status(task);
	peer->is_busy = false;
	doca_task_free(task);
}

/* The callback of a task of this type, for success and for errors. */
#define ON_DONE(type)                                                                   \
	static void on_##type(struct doca_rdma_task_##type *task, union doca_data data, \
			      union doca_data ctx_data)                                 \
	{                                                                               \
		(void)data;                                                             \
		finish(ctx_data.ptr, doca_rdma_task_##type##_as_task(task));            \
	}
ON_DONE(send)
ON_DONE(read)
ON_DONE(write)
ON_DONE(remote_net_sync_event_notify_add)

/* --- opening ---------------------------------------------------------------------------------- */

static doca_error_t configure(struct peer *peer)
{
	struct doca_rdma *rdma = peer->rdma;
	doca_error_t result;

	result = doca_rdma_set_permissions(rdma, PERMISSIONS);
	DOCA_ERROR_PROPAGATE(result, doca_rdma_set_connection_state_callbacks(
					     rdma, on_request, on_established, on_end, on_end));
	DOCA_ERROR_PROPAGATE(result,
			     doca_rdma_task_receive_set_conf(rdma, on_receive, on_receive, 1));
	DOCA_ERROR_PROPAGATE(result, doca_rdma_task_send_set_conf(rdma, on_send, on_send, 1));
	DOCA_ERROR_PROPAGATE(result, doca_rdma_task_read_set_conf(rdma, on_read, on_read, 1));
	DOCA_ERROR_PROPAGATE(result, doca_rdma_task_write_set_conf(rdma, on_write, on_write, 1));
	DOCA_ERROR_PROPAGATE(result, doca_rdma_task_remote_net_sync_event_notify_add_set_conf(
					     rdma, on_remote_net_sync_event_notify_add,
					     on_remote_net_sync_event_notify_add, 1));
	return result;
}

doca_error_t open_peer(struct doca_dev *dev, struct peer *peer)
{
	doca_error_t result;

	*peer = (struct peer){.dev = dev};
	result = create_memory(dev, 3 * (size_t)MAX_MESSAGE_LEN, PERMISSIONS, &peer->memory);
	DOCA_ERROR_PROPAGATE(result, doca_buf_inventory_create(3, &peer->inventory));
	DOCA_ERROR_PROPAGATE(result, doca_buf_inventory_start(peer->inventory));
	DOCA_ERROR_PROPAGATE(result, doca_pe_create(&peer->pe));
	DOCA_ERROR_PROPAGATE(result, doca_rdma_create(dev, &peer->rdma));
	if (result != DOCA_SUCCESS)
		return result;
	peer->ctx = doca_rdma_as_ctx(peer->rdma);
	result = doca_pe_connect_ctx(peer->pe, peer->ctx);
	DOCA_ERROR_PROPAGATE(result,
			     doca_ctx_set_user_data(peer->ctx, (union doca_data){.ptr = peer}));
	DOCA_ERROR_PROPAGATE(result, configure(peer));
	DOCA_ERROR_PROPAGATE(result, doca_ctx_start(peer->ctx));
	return result;
}

/* The receive that waits for a message completes with an error. */
static void stop(struct peer *peer)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	(void)doca_ctx_get_state(peer->ctx, &state);
	if (state != DOCA_CTX_STATE_IDLE)
		(void)doca_ctx_stop(peer->ctx);
	while (doca_ctx_get_state(peer->ctx, &state) == DOCA_SUCCESS &&
	       state != DOCA_CTX_STATE_IDLE)
		(void)doca_pe_progress(peer->pe);
}

doca_error_t close_peer(struct peer *peer)
{
	doca_error_t result = DOCA_SUCCESS;

	if (peer->is_connected)
		(void)doca_rdma_connection_disconnect(peer->connection);
	if (peer->rdma) {
		stop(peer);
		result = doca_rdma_destroy(peer->rdma);
	}
	if (peer->addr)
		result = keep_first(result, doca_rdma_addr_destroy(peer->addr));
	if (peer->pe)
		result = keep_first(result, doca_pe_destroy(peer->pe));
	if (peer->message)
		result = keep_first(result, doca_buf_dec_refcount(peer->message, NULL));
	if (peer->inventory)
		result = keep_first(result, doca_buf_inventory_destroy(peer->inventory));
	destroy_memory(&peer->memory);
	return result;
}

/* --- connecting ------------------------------------------------------------------------------- */

doca_error_t progress_peer(struct peer *peer)
{
	const struct timespec pause = {.tv_nsec = IDLE_NS};

	if (!doca_pe_progress(peer->pe))
		nanosleep(&pause, NULL);
	return peer->has_ended ? DOCA_ERROR_CONNECTION_RESET : DOCA_SUCCESS;
}

static doca_error_t await_connection(struct peer *peer)
{
	doca_error_t result = DOCA_SUCCESS;

	while (!peer->is_connected && result == DOCA_SUCCESS)
		result = progress_peer(peer);
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("The connection was not established");
	return result;
}

doca_error_t accept_peer(struct peer *peer)
{
	doca_error_t result = doca_rdma_start_listen_to_port(peer->rdma, PORT);

	if (result != DOCA_SUCCESS)
		return result;
	DOCA_LOG_INFO("Waiting for a client at port %d", PORT);
	return await_connection(peer);
}

doca_error_t connect_to(const char *address, struct peer *peer)
{
	enum doca_rdma_addr_type type =
		strchr(address, ':') ? DOCA_RDMA_ADDR_TYPE_IPv6 : DOCA_RDMA_ADDR_TYPE_IPv4;
	doca_error_t result = doca_rdma_addr_create(type, address, PORT, &peer->addr);

	if (result != DOCA_SUCCESS)
		return result;
	result = doca_rdma_connect_to_addr(peer->rdma, peer->addr, (union doca_data){0});
	return result == DOCA_SUCCESS ? await_connection(peer) : result;
}

/* --- tasks ------------------------------------------------------------------------------------ */

/* Submit a task, if it was allocated, and wait until it has completed. */
static doca_error_t run(struct peer *peer, const char *what, doca_error_t result,
			struct doca_task *task)
{
	if (result == DOCA_SUCCESS) {
		peer->is_busy = true;
		result = doca_task_submit(task);
	}
	if (result == DOCA_SUCCESS) {
		/* A task of a connection that ended completes too, with an error. */
		while (peer->is_busy)
			(void)progress_peer(peer);
		result = peer->result;
	}
	if (result != DOCA_SUCCESS)
		DOCA_LOG_ERR("The %s failed: %s", what, doca_error_get_descr(result));
	return result;
}

/* A buf with data, and one with room. */
static doca_error_t get_bufs(struct peer *peer, struct place src, struct place dst, size_t len,
			     struct doca_buf *bufs[2])
{
	doca_error_t result;

	result = doca_buf_inventory_buf_get_by_data(peer->inventory, src.mmap, src.addr, len,
						    &bufs[0]);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_buf_inventory_buf_get_by_addr(peer->inventory, dst.mmap, dst.addr, len,
						    &bufs[1]);
	if (result != DOCA_SUCCESS)
		(void)doca_buf_dec_refcount(bufs[0], NULL);
	return result;
}

static doca_error_t put_bufs(doca_error_t result, struct doca_buf *bufs[2])
{
	for (unsigned int i = 0; i < 2; i++)
		result = keep_first(result, doca_buf_dec_refcount(bufs[i], NULL));
	return result;
}

doca_error_t write_to(struct peer *peer, struct place remote, struct place local, size_t len)
{
	struct doca_rdma_task_write *task = NULL;
	struct doca_buf *bufs[2];
	doca_error_t result = get_bufs(peer, local, remote, len, bufs);

	if (result != DOCA_SUCCESS)
		return result;
	result = doca_rdma_task_write_allocate_init(peer->rdma, peer->connection, bufs[0], bufs[1],
						    (union doca_data){0}, &task);
	result = run(peer, "write", result, doca_rdma_task_write_as_task(task));
	return put_bufs(result, bufs);
}

doca_error_t read_from(struct peer *peer, struct place local, struct place remote, size_t len)
{
	struct doca_rdma_task_read *task = NULL;
	struct doca_buf *bufs[2];
	doca_error_t result = get_bufs(peer, remote, local, len, bufs);

	if (result != DOCA_SUCCESS)
		return result;
	result = doca_rdma_task_read_allocate_init(peer->rdma, peer->connection, bufs[0], bufs[1],
						   (union doca_data){0}, &task);
	result = run(peer, "read", result, doca_rdma_task_read_as_task(task));
	return put_bufs(result, bufs);
}

doca_error_t add_to(struct peer *peer, struct doca_sync_event_remote_net *event, uint64_t number,
		    uint64_t *before)
{
	struct doca_rdma_task_remote_net_sync_event_notify_add *task = NULL;
	char *addr = peer->memory.bytes + 2 * (size_t)MAX_MESSAGE_LEN;
	struct doca_buf *buf;
	doca_error_t result;

	result = doca_buf_inventory_buf_get_by_addr(peer->inventory, peer->memory.mmap, addr,
						    sizeof(*before), &buf);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
		peer->rdma, peer->connection, event, buf, number, (union doca_data){0}, &task);
	result = run(peer, "addition", result,
		     doca_rdma_task_remote_net_sync_event_notify_add_as_task(task));
	if (result == DOCA_SUCCESS)
		memcpy(before, addr, sizeof(*before));
	return keep_first(result, doca_buf_dec_refcount(buf, NULL));
}

doca_error_t send_bytes(struct peer *peer, const void *bytes, size_t len)
{
	struct doca_rdma_task_send *task = NULL;
	char *addr = peer->memory.bytes + MAX_MESSAGE_LEN;
	struct doca_buf *buf;
	doca_error_t result;

	if (len > MAX_MESSAGE_LEN)
		return DOCA_ERROR_TOO_BIG;
	memcpy(addr, bytes, len);
	result = doca_buf_inventory_buf_get_by_data(peer->inventory, peer->memory.mmap, addr, len,
						    &buf);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_rdma_task_send_allocate_init(peer->rdma, peer->connection, buf,
						   (union doca_data){0}, &task);
	result = run(peer, "send", result, doca_rdma_task_send_as_task(task));
	return keep_first(result, doca_buf_dec_refcount(buf, NULL));
}

/* A receive belongs to the context: it takes the next message of any connection. */
static doca_error_t post_receive(struct peer *peer)
{
	struct doca_rdma_task_receive *task = NULL;
	doca_error_t result;

	if (peer->message)
		(void)doca_buf_dec_refcount(peer->message, NULL);
	peer->message = NULL;
	peer->has_message = false;
	result = doca_buf_inventory_buf_get_by_addr(peer->inventory, peer->memory.mmap,
						    peer->memory.bytes, MAX_MESSAGE_LEN,
						    &peer->message);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_rdma_task_receive_allocate_init(peer->rdma, peer->message,
						      (union doca_data){0}, &task);
	if (result == DOCA_SUCCESS)
		result = doca_task_submit(doca_rdma_task_receive_as_task(task));
	return result;
}

doca_error_t receive_bytes(struct peer *peer, const void **bytes, size_t *len)
{
	doca_error_t result = post_receive(peer);

	while (result == DOCA_SUCCESS && !peer->has_message)
		result = progress_peer(peer);
	if (result == DOCA_SUCCESS)
		result = peer->message_result;
	if (result == DOCA_SUCCESS)
		result = doca_buf_get_data_len(peer->message, len);
	if (result == DOCA_SUCCESS)
		*bytes = peer->memory.bytes;
	else
		DOCA_LOG_ERR("No message arrived: %s", doca_error_get_descr(result));
	return result;
}
