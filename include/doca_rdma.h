/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * RDMA. A context (doca_ctx.h) has connections to peers. Its tasks send and receive messages, read and
 * write memory that a peer exported with doca_mmap_export_rdma(), execute atomics on such memory, and
 * read and update sync events (doca_sync_event.h) of a peer.
 *
 * doca_ctx_start() returns DOCA_SUCCESS, and the context is RUNNING; or it returns an error.
 *
 * There are three ways to connect:
 *
 * - With connection details: both processes call doca_rdma_export() for a new connection, send the
 *   details to the peer over any channel, and call doca_rdma_connect() with the details of the peer. The
 *   connection is ready when doca_rdma_connect() returns. No callback belongs to this way.
 * - By address: the server calls doca_rdma_start_listen_to_port(), and the client calls
 *   doca_rdma_connect_to_addr(). Progress then calls the callbacks of
 *   doca_rdma_set_connection_state_callbacks(). The server calls doca_rdma_connection_accept() or
 *   doca_rdma_connection_reject() for each request.
 * - With a connection identifier of librdmacm that the program manages itself:
 *   doca_rdma_bridge_prepare_connection(), doca_rdma_bridge_accept(), doca_rdma_bridge_established().
 *
 * Connections belong to their context, and end at the latest when it becomes IDLE. A connection that has
 * ended may be passed to functions until 1,024 others have ended after it, and as long as a task names it;
 * one that the context ended, until it starts again or is destroyed. A process that only exports memory
 * needs neither tasks nor progress. Receive tasks belong to the context, not to a
 * connection: a message of any connection consumes the receive task that was submitted first.
 *
 * The data of the source of a task is its data part. The data that arrives in a local destination is
 * appended to its data. Local source and destination bufs may be lists; of a remote buf, and of the bufs
 * of atomics, only the head counts. A remote buf is on a map that was imported over RDMA from the peer of
 * the connection. Tasks of one connection complete in the order in which they were submitted. After a
 * task has failed, later tasks of its connection complete with success or are flushed, and tasks of other
 * connections complete normally.
 *
 * A task that fails makes its context STOPPING, unless its connection was made by address or with an
 * identifier of librdmacm. Then the context stays RUNNING, and the program ends the connection with
 * doca_rdma_connection_disconnect(). A receive that fails before it reaches the device has no connection
 * and makes the context STOPPING. A STOPPING context becomes IDLE once all tasks are freed, which ends all
 * connections.
 *
 * Thread safety of all functions: only one thread at a time may use a context, its connections, its tasks
 * and its progress engine. Capability functions may be called from any thread, and so may the functions
 * of an address that is not in use. On any error the outputs keep their values. Semantics: DOCA 3.0,
 * doca_rdma.h; docs/doca-rdma-rules.md marks the rules that DOCA does not document with R.
 */
#ifndef DOCA_RDMA_H_
#define DOCA_RDMA_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

/* Programs that use librdmacm with DOCA expect its header here. */
#ifdef __has_include
#if __has_include(<rdma/rdma_cma.h>)
#include <rdma/rdma_cma.h>
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct rdma_cm_id;

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_dpa_completion;
struct doca_gpu_dev_rdma;
struct doca_rdma;
struct doca_rdma_addr;
struct doca_rdma_connection;
struct doca_rdma_task_atomic_cmp_swp;
struct doca_rdma_task_atomic_fetch_add;
struct doca_rdma_task_read;
struct doca_rdma_task_receive;
struct doca_rdma_task_remote_net_sync_event_get;
struct doca_rdma_task_remote_net_sync_event_notify_add;
struct doca_rdma_task_remote_net_sync_event_notify_set;
struct doca_rdma_task_send;
struct doca_rdma_task_send_imm;
struct doca_rdma_task_write;
struct doca_rdma_task_write_imm;
struct doca_sync_event_remote_net;
struct doca_task;

/** Handle for code of a DPA, which is not supported. */
typedef uint64_t doca_dpa_dev_rdma_t;

/** Transport of a connection. */
enum doca_rdma_transport_type {
	DOCA_RDMA_TRANSPORT_TYPE_RC = 0, /**< Reliable connection: one queue pair per peer. */
	DOCA_RDMA_TRANSPORT_TYPE_DC = 1, /**< Dynamically connected; not supported. */
};

/** Kind of an address. */
enum doca_rdma_addr_type {
	DOCA_RDMA_ADDR_TYPE_IPv4 = 0, /**< IPv4, for example "192.0.2.1". */
	DOCA_RDMA_ADDR_TYPE_IPv6 = 1, /**< IPv6, for example "2001:db8::1". */
	DOCA_RDMA_ADDR_TYPE_GID = 2,  /**< GID, written as an IPv6 address. */
};

/** Operation of the peer that completed a receive task. */
enum doca_rdma_opcode {
	DOCA_RDMA_OPCODE_RECV_SEND = 0,		  /**< Send. */
	DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM = 1,  /**< Send with immediate data. */
	DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM = 2, /**< Write with immediate data. */
};

/** An address of a port. */
struct doca_rdma_gid {
	uint8_t raw[DOCA_GID_BYTE_LENGTH]; /**< The GID, in network byte order. */
};

/**
 * Report a request of a client. The callback, or the program later, calls
 * doca_rdma_connection_accept() or doca_rdma_connection_reject().
 *
 * @param rdma_connection the new connection; it belongs to the context
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_rdma_connection_request_cb_t)(struct doca_rdma_connection *rdma_connection,
						  union doca_data ctx_user_data);

/**
 * Report that a connection is established. Tasks of the connection can be submitted from now on, in
 * this callback too.
 *
 * @param rdma_connection the connection; it belongs to the context
 * @param connection_user_data the current user data of the connection
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_rdma_connection_established_cb_t)(struct doca_rdma_connection *rdma_connection,
						      union doca_data connection_user_data,
						      union doca_data ctx_user_data);

/**
 * Report that a connection could not be established. The connection cannot be used any more.
 *
 * @param rdma_connection the connection; it belongs to the context
 * @param connection_user_data the current user data of the connection
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_rdma_connection_failure_cb_t)(struct doca_rdma_connection *rdma_connection,
						  union doca_data connection_user_data,
						  union doca_data ctx_user_data);

/**
 * Report that a connection ended. This is called at most once per connection, and also after
 * doca_rdma_connection_disconnect() of this process.
 *
 * @param rdma_connection the connection; it belongs to the context
 * @param connection_user_data the current user data of the connection
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_rdma_connection_disconnection_cb_t)(
	struct doca_rdma_connection *rdma_connection, union doca_data connection_user_data,
	union doca_data ctx_user_data);

/**
 * Report the completion of a receive. The program owns the task again and may free it, submit it
 * again or keep it. doca_task_get_status() returns one of:
 *
 * - DOCA_SUCCESS: a message, or the immediate data of a write, arrived
 * - DOCA_ERROR_INVALID_VALUE: the message is longer than the free space of the destination
 * - DOCA_ERROR_NOT_PERMITTED: the map of the destination does not permit the access
 * - DOCA_ERROR_IO_FAILED: the list of bufs is too long, or another error occurred
 * - DOCA_ERROR_SHUTDOWN: the context was stopped
 *
 * @param task the task
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_rdma_task_receive_completion_cb_t)(struct doca_rdma_task_receive *task,
						       union doca_data task_user_data,
						       union doca_data ctx_user_data);

/**
 * Report the completion of a send. The program owns the task again and may free it, submit it again
 * or keep it. doca_task_get_status() returns one of:
 *
 * - DOCA_SUCCESS: the operation was executed
 * - DOCA_ERROR_NOT_PERMITTED: the peer or the local map does not permit the access, or no longer
 *   permits it
 * - DOCA_ERROR_CONNECTION_ABORTED: the peer does not answer, or ended the connection
 * - DOCA_ERROR_NOT_CONNECTED: the connection was never connected
 * - DOCA_ERROR_SHUTDOWN: an earlier task of the connection failed, or the context was stopped
 * - DOCA_ERROR_INVALID_VALUE: the bufs do not fit together
 * - DOCA_ERROR_NOT_SUPPORTED: a remote buf is not on a map of a peer, or a local buf is
 * - DOCA_ERROR_IO_FAILED: there is too much data, or a list is too long, for one task; or another
 *   error occurred
 *
 * @param task the task
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_rdma_task_send_completion_cb_t)(struct doca_rdma_task_send *task,
						    union doca_data task_user_data,
						    union doca_data ctx_user_data);

/**
 * Report the completion of a send with immediate data. The program owns the task again and may free
 * it, submit it again or keep it. doca_task_get_status() returns one of the results of
 * doca_rdma_task_send_completion_cb_t.
 *
 * @param task the task
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_rdma_task_send_imm_completion_cb_t)(struct doca_rdma_task_send_imm *task,
							union doca_data task_user_data,
							union doca_data ctx_user_data);

/**
 * Report the completion of a read. The program owns the task again and may free it, submit it again
 * or keep it. doca_task_get_status() returns one of the results of
 * doca_rdma_task_send_completion_cb_t.
 *
 * @param task the task
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_rdma_task_read_completion_cb_t)(struct doca_rdma_task_read *task,
						    union doca_data task_user_data,
						    union doca_data ctx_user_data);

/**
 * Report the completion of a write. The program owns the task again and may free it, submit it
 * again or keep it. doca_task_get_status() returns one of the results of
 * doca_rdma_task_send_completion_cb_t.
 *
 * @param task the task
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_rdma_task_write_completion_cb_t)(struct doca_rdma_task_write *task,
						     union doca_data task_user_data,
						     union doca_data ctx_user_data);

/**
 * Report the completion of a write with immediate data. The program owns the task again and may
 * free it, submit it again or keep it. doca_task_get_status() returns one of the results of
 * doca_rdma_task_send_completion_cb_t.
 *
 * @param task the task
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_rdma_task_write_imm_completion_cb_t)(struct doca_rdma_task_write_imm *task,
							 union doca_data task_user_data,
							 union doca_data ctx_user_data);

/**
 * Report the completion of a compare-and-swap. The program owns the task again and may free it,
 * submit it again or keep it. doca_task_get_status() returns one of the results of
 * doca_rdma_task_send_completion_cb_t.
 *
 * @param task the task
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_rdma_task_atomic_cmp_swp_completion_cb_t)(
	struct doca_rdma_task_atomic_cmp_swp *task, union doca_data task_user_data,
	union doca_data ctx_user_data);

/**
 * Report the completion of a fetch-and-add. The program owns the task again and may free it, submit
 * it again or keep it. doca_task_get_status() returns one of the results of
 * doca_rdma_task_send_completion_cb_t.
 *
 * @param task the task
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_rdma_task_atomic_fetch_add_completion_cb_t)(
	struct doca_rdma_task_atomic_fetch_add *task, union doca_data task_user_data,
	union doca_data ctx_user_data);

/**
 * Report the completion of a read of a remote sync event. The program owns the task again and may
 * free it, submit it again or keep it. doca_task_get_status() returns one of the results of
 * doca_rdma_task_send_completion_cb_t.
 *
 * @param task the task
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_rdma_task_remote_net_sync_event_get_completion_cb_t)(
	struct doca_rdma_task_remote_net_sync_event_get *task, union doca_data task_user_data,
	union doca_data ctx_user_data);

/**
 * Report the completion of an assignment to a remote sync event. The program owns the task again
 * and may free it, submit it again or keep it. doca_task_get_status() returns one of the results of
 * doca_rdma_task_send_completion_cb_t.
 *
 * @param task the task
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t)(
	struct doca_rdma_task_remote_net_sync_event_notify_set *task,
	union doca_data task_user_data, union doca_data ctx_user_data);

/**
 * Report the completion of an addition to a remote sync event. The program owns the task again and
 * may free it, submit it again or keep it. doca_task_get_status() returns one of the results of
 * doca_rdma_task_send_completion_cb_t.
 *
 * @param task the task
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t)(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task,
	union doca_data task_user_data, union doca_data ctx_user_data);

/**
 * Check whether contexts of the device can execute receives.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no port
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_cap_task_receive_is_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether contexts of the device can execute sends.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no port
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_cap_task_send_is_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether contexts of the device can execute sends with immediate data.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no port
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_cap_task_send_imm_is_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether contexts of the device can execute reads.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no port
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_cap_task_read_is_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether contexts of the device can execute writes.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no port
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_cap_task_write_is_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether contexts of the device can execute writes with immediate data.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no port
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_cap_task_write_imm_is_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether contexts of the device can execute compare-and-swaps.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no port, or no atomics
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_cap_task_atomic_cmp_swp_is_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether contexts of the device can execute fetch-and-adds.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no port, or no atomics
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_cap_task_atomic_fetch_add_is_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether contexts of the device can execute reads of remote sync events.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no port
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_cap_task_remote_net_sync_event_get_is_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether contexts of the device can execute assignments to remote sync events.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no port
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_task_remote_net_sync_event_notify_set_is_supported(
	const struct doca_devinfo *devinfo);

/**
 * Check whether contexts of the device can execute additions to remote sync events.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no port, or no atomics
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_task_remote_net_sync_event_notify_add_is_supported(
	const struct doca_devinfo *devinfo);

/**
 * Get the maximum number of receive tasks of a context.
 *
 * @param devinfo the device, open or not
 * @param max_recv_queue_size out: number of tasks; 0 if the device has no port
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_get_max_recv_queue_size(
	const struct doca_devinfo *devinfo, uint32_t *max_recv_queue_size);

/**
 * Get the maximum number of tasks of one connection that the device can hold.
 *
 * @param devinfo the device, open or not
 * @param max_send_queue_size out: number of tasks; 0 if the device has no port
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_get_max_send_queue_size(
	const struct doca_devinfo *devinfo, uint32_t *max_send_queue_size);

/**
 * Get the maximum length of a local list of bufs of all tasks but receives.
 *
 * @param devinfo the device, open or not
 * @param max_send_buf_list_len out: number of bufs, including the head
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_get_max_send_buf_list_len(
	const struct doca_devinfo *devinfo, uint32_t *max_send_buf_list_len);

/**
 * Get the maximum number of bytes that one task can send, receive, read or write.
 *
 * @param devinfo the device, open or not
 * @param max_message_size out: number of bytes, the sum over all bufs of the list; 0 if the device
 *         has no port
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_cap_get_max_message_size(const struct doca_devinfo *devinfo, uint32_t *max_message_size);

/**
 * Get the number of entries of the GID table of the port.
 *
 * @param devinfo the device, open or not
 * @param gid_table_size out: number of entries; 0 if the device has no port
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_get_gid_table_size(const struct doca_devinfo *devinfo,
								uint32_t *gid_table_size);

/**
 * Get entries of the GID table of the port. An entry without an address is zero.
 *
 * @param devinfo the device, open or not
 * @param start_index first entry
 * @param num_entries number of entries, not 0; all are in the table
 * @param gid_array out: array of num_entries entries, owned by the caller
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, the number is 0, or an entry is not in the table
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_get_gid(const struct doca_devinfo *devinfo,
						     uint32_t start_index, uint32_t num_entries,
						     struct doca_rdma_gid *gid_array);

/**
 * Check whether connections of the device can use a transport.
 *
 * @param devinfo the device, open or not
 * @param transport_type the transport
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the device is NULL, or the transport does not exist
 * - DOCA_ERROR_NOT_SUPPORTED: the transport is DOCA_RDMA_TRANSPORT_TYPE_DC, or the device has no
 *   port
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_transport_type_is_supported(
	const struct doca_devinfo *devinfo, enum doca_rdma_transport_type transport_type);

/**
 * Get the maximum length of the list of bufs of a receive.
 *
 * @param devinfo the device, open or not
 * @param transport_type the transport of the connections
 * @param max_buf_list_len out: number of bufs, including the head
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or the transport does not exist
 * - DOCA_ERROR_NOT_SUPPORTED: the transport is DOCA_RDMA_TRANSPORT_TYPE_DC
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_task_receive_get_max_dst_buf_list_len(
	const struct doca_devinfo *devinfo, enum doca_rdma_transport_type transport_type,
	uint32_t *max_buf_list_len);

/**
 * Create an RDMA object.
 *
 * @param dev an open device; in use until doca_rdma_destroy()
 * @param rdma out: the object, owned by the caller until doca_rdma_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_create(struct doca_dev *dev, struct doca_rdma **rdma);

/**
 * Destroy an RDMA object and disconnect its context from its progress engine. Its own callbacks may
 * call this function.
 *
 * @param rdma an object whose context is IDLE; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_destroy(struct doca_rdma *rdma);

/**
 * Get the context of an RDMA object.
 *
 * @param rdma the object
 * @return the context, valid until doca_rdma_destroy(); NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_ctx *doca_rdma_as_ctx(struct doca_rdma *rdma);

/**
 * Set the permissions of peers for memory of this process. An access needs the permission of the
 * connection and of the map.
 *
 * @param rdma an object whose context is IDLE
 * @param permissions bits of DOCA_ACCESS_FLAG_RDMA_READ, _WRITE and _ATOMIC, and
 *         DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, which permits nothing to peers. The default is
 *         DOCA_ACCESS_FLAG_LOCAL_READ_WRITE
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object is NULL, or a flag is not allowed
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_permissions(struct doca_rdma *rdma,
							 uint32_t permissions);

/**
 * Get the permissions of peers.
 *
 * @param rdma the object, in any state of its context
 * @param permissions out: bits of enum doca_access_flag
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_permissions(struct doca_rdma *rdma,
							 uint32_t *permissions);

/**
 * Set the address (GID) that connections use. By default, connections use a RoCE v2 address if the
 * port has one, preferably an IPv4 address.
 *
 * @param rdma an object whose context is IDLE
 * @param gid_index index in the GID table of the port
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object is NULL, or the index has no address
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_gid_index(struct doca_rdma *rdma, uint32_t gid_index);

/**
 * Get the index set by doca_rdma_set_gid_index().
 *
 * @param rdma the object, in any state of its context
 * @param gid_index out: the index; 0 if none was set
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_gid_index(const struct doca_rdma *rdma,
						       uint32_t *gid_index);

/**
 * Set the transport. Only the reliable connection is supported.
 *
 * @param rdma an object whose context is IDLE
 * @param transport_type the transport
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object is NULL, or the transport does not exist
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * - DOCA_ERROR_NOT_SUPPORTED: the transport is DOCA_RDMA_TRANSPORT_TYPE_DC
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_set_transport_type(struct doca_rdma *rdma, enum doca_rdma_transport_type transport_type);

/**
 * Get the transport.
 *
 * @param rdma the object, in any state of its context
 * @param transport_type out: DOCA_RDMA_TRANSPORT_TYPE_RC
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_transport_type(
	const struct doca_rdma *rdma, enum doca_rdma_transport_type *transport_type);

/**
 * Set the maximum number of connections of the context. The default is 1.
 *
 * @param rdma an object whose context is IDLE
 * @param max_num_connections the number, not 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * - DOCA_ERROR_NOT_SUPPORTED: the number is 0
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_max_num_connections(struct doca_rdma *rdma,
								 uint16_t max_num_connections);

/**
 * Get the maximum number of connections of the context.
 *
 * @param rdma the object, in any state of its context
 * @param max_num_connections out: the number
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_max_num_connections(struct doca_rdma *rdma,
								 uint16_t *max_num_connections);

/**
 * Set the number of tasks of one connection that the device holds at once. More tasks can be
 * submitted; they wait in the library. The number is rounded up to a power of two. The default is
 * 128.
 *
 * @param rdma an object whose context is IDLE
 * @param send_queue_size number of tasks, not 0 and at most doca_rdma_cap_get_max_send_queue_size()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object is NULL, or the number is 0
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * - DOCA_ERROR_NOT_SUPPORTED: the number is larger than the capability
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_send_queue_size(struct doca_rdma *rdma,
							     uint32_t send_queue_size);

/**
 * Get the number of tasks of one connection that the device holds at once.
 *
 * @param rdma the object, in any state of its context
 * @param send_queue_size out: number of tasks, at least the number that was set
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_send_queue_size(const struct doca_rdma *rdma,
							     uint32_t *send_queue_size);

/**
 * Set the size of the receive queue of one connection. All connections of a context share one
 * receive queue, so this is not supported; the size is the number of receive tasks.
 *
 * @param rdma an object whose context is IDLE
 * @param recv_queue_size number of receives
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_recv_queue_size(struct doca_rdma *rdma,
							     uint32_t recv_queue_size);

/**
 * Get the size of the receive queue of one connection. This is not supported, as
 * doca_rdma_set_recv_queue_size() describes.
 *
 * @param rdma an object whose context is IDLE
 * @param recv_queue_size out: number of receives
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_recv_queue_size(const struct doca_rdma *rdma,
							     uint32_t *recv_queue_size);

/**
 * Set the maximum length of a local list of bufs of all tasks but receives. The default is the
 * capability.
 *
 * @param rdma an object whose context is IDLE
 * @param max_send_buf_list_len number of bufs, including the head; not 0 and at most
 *         doca_rdma_cap_get_max_send_buf_list_len()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object is NULL, or the number is 0 or larger than the capability
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_max_send_buf_list_len(struct doca_rdma *rdma,
								   uint32_t max_send_buf_list_len);

/**
 * Get the maximum length of a local list of bufs of all tasks but receives.
 *
 * @param rdma the object, in any state of its context
 * @param max_send_buf_list_len out: number of bufs, including the head; at least the number that
 *         was set
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_max_send_buf_list_len(const struct doca_rdma *rdma,
								   uint32_t *max_send_buf_list_len);

/**
 * Set the service level of connections, the priority on InfiniBand and RoCE networks. The default
 * is 0.
 *
 * @param rdma an object whose context is IDLE
 * @param sl the service level, 0 to 15
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object is NULL, or the level is larger than 15
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_sl(struct doca_rdma *rdma, uint32_t sl);

/**
 * Get the service level of connections.
 *
 * @param rdma the object, in any state of its context
 * @param sl out: the service level
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_sl(const struct doca_rdma *rdma, uint32_t *sl);

/**
 * Set the path MTU of connections with exchanged details. By default, a connection uses the smaller
 * active MTU of both ports. Connections by address use the MTU of the network.
 *
 * @param rdma an object whose context is IDLE
 * @param mtu the MTU
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object is NULL, or the MTU does not exist
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * - DOCA_ERROR_NOT_SUPPORTED: the MTU is DOCA_MTU_SIZE_RAW_ETHERNET, or larger than the maximum of
 *   the port
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_mtu(struct doca_rdma *rdma, enum doca_mtu_size mtu);

/**
 * Get the path MTU of connections.
 *
 * @param rdma the object, in any state of its context
 * @param mtu out: the MTU that was set. If none was set: the maximum of the port, and after a
 *         connection the MTU of that connection
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_mtu(const struct doca_rdma *rdma,
						 enum doca_mtu_size *mtu);

/**
 * Set whether connections use a global route header (GRH). Connections on Ethernet need it, and
 * connections on InfiniBand do not have it.
 *
 * @param rdma an object whose context is IDLE
 * @param grh_enabled 0 or 1
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object is NULL, or the value is larger than 1
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * - DOCA_ERROR_NOT_SUPPORTED: the value is 0 and the port is on Ethernet, or 1 and the port is on
 *   InfiniBand
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_grh_enabled(struct doca_rdma *rdma,
							 uint8_t grh_enabled);

/**
 * Get whether connections use a global route header.
 *
 * @param rdma the object, in any state of its context
 * @param grh_enabled out: 1 if the port is on Ethernet, else 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_grh_enabled(const struct doca_rdma *rdma,
							 uint8_t *grh_enabled);

/**
 * Set how often the device sends a message again if the peer has not posted a receive. The default
 * is 7: without end.
 *
 * @param rdma an object whose context is IDLE
 * @param rnr_retry_count number of retries, 0 to 6; or 7 to retry without end
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object is NULL, or the number is larger than 7
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_rnr_retry_count(struct doca_rdma *rdma,
							     uint8_t rnr_retry_count);

/**
 * Get how often the device sends a message again if the peer has not posted a receive.
 *
 * @param rdma the object, in any state of its context
 * @param rnr_retry_count out: the number
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_rnr_retry_count(const struct doca_rdma *rdma,
							     uint8_t *rnr_retry_count);

/**
 * Set how long a connection by address tries to find the address of the peer, and then a route to
 * it. The time that a server takes to accept is not limited by it. The default is 2000.
 *
 * @param rdma an object whose context is IDLE
 * @param connection_request_timeout milliseconds, not 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object is NULL, or the time is 0
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_connection_request_timeout(
	struct doca_rdma *rdma, uint16_t connection_request_timeout);

/**
 * Get how long doca_rdma_connect_to_addr() tries.
 *
 * @param rdma the object, in any state of its context
 * @param connection_request_timeout out: milliseconds
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_connection_request_timeout(
	const struct doca_rdma *rdma, uint16_t *connection_request_timeout);

/**
 * Get the handle for code of a DPA. No context is on the data path of a DPA.
 *
 * @param rdma an object
 * @param dpa_rdma never written
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE in all other cases, as the context is on the data path of the CPU
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_dpa_handle(struct doca_rdma *rdma,
							doca_dpa_dev_rdma_t *dpa_rdma);

/**
 * Get the handle for code of a GPU. No context is on the data path of a GPU.
 *
 * @param rdma an object
 * @param gpu_rdma never written
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE in all other cases, as the context is on the data path of the CPU
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_gpu_handle(struct doca_rdma *rdma,
							struct doca_gpu_dev_rdma **gpu_rdma);

/**
 * Attach a completion context of a DPA. No context is on the data path of a DPA.
 *
 * @param rdma an object
 * @param dpa_comp never read
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE in all other cases, as the context is on the data path of the CPU
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_dpa_completion_attach(struct doca_rdma *rdma, struct doca_dpa_completion *dpa_comp);

/**
 * Set the callbacks for connections by address and of the bridge. They are called by the progress
 * of the context.
 *
 * @param rdma an object whose context is IDLE
 * @param request_cb called for each request of a client; NULL to reject all requests
 * @param established_cb called when a connection is established, or NULL
 * @param failure_cb called when a connection could not be established, or NULL
 * @param disconnection_cb called when a connection ended, or NULL
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_connection_state_callbacks(
	struct doca_rdma *rdma, doca_rdma_connection_request_cb_t request_cb,
	doca_rdma_connection_established_cb_t established_cb,
	doca_rdma_connection_failure_cb_t failure_cb,
	doca_rdma_connection_disconnection_cb_t disconnection_cb);

/**
 * Create a connection and return the details that the peer needs. The details contain no secret.
 * Each connection has its own details.
 *
 * @param rdma an object whose context is RUNNING
 * @param local_rdma_conn_details out: at most 512 bytes, owned by the connection
 * @param local_rdma_conn_details_size out: number of bytes
 * @param rdma_connection out: the connection. The context owns it and its details
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_FULL: the context has its maximum number of connections
 * - DOCA_ERROR_CONNECTION_ABORTED: the port is not active or has no address, memory is exhausted,
 *   or the device fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_export(struct doca_rdma *rdma,
						const void **local_rdma_conn_details,
						size_t *local_rdma_conn_details_size,
						struct doca_rdma_connection **rdma_connection);

/**
 * Connect to the peer. Tasks can be submitted at once. The peer may connect later: tasks that need
 * it wait until the retries of the transport are exhausted: 2 to 8 seconds, which depends on
 * the device.
 *
 * @param rdma an object whose context is RUNNING
 * @param remote_rdma_conn_details the details that doca_rdma_export() returned to the peer; owned
 *         by the caller
 * @param remote_rdma_conn_details_size number of bytes
 * @param rdma_connection a connection of doca_rdma_export(); after an error it may be connected
 *         again
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the connection belongs to another object or
 *   is not of doca_rdma_export()
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING, or the connection is already connected
 * - DOCA_ERROR_CONNECTION_ABORTED: the details are damaged or not from this library, the peer is on
 *   another kind of network, or the device fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_connect(struct doca_rdma *rdma,
						 const void *remote_rdma_conn_details,
						 size_t remote_rdma_conn_details_size,
						 struct doca_rdma_connection *rdma_connection);

/**
 * Create an address of a server.
 *
 * @param addr_type kind of the address
 * @param address text of the address, at most 128 characters; owned by the caller, may be freed
 *         after the call
 * @param port port in host byte order, not 0
 * @param addr out: the address, owned by the caller until doca_rdma_addr_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, the kind does not exist, the text is not an
 *   address of the kind, or the port is 0
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_addr_create(enum doca_rdma_addr_type addr_type,
						     const char *address, uint16_t port,
						     struct doca_rdma_addr **addr);

/**
 * Destroy an address.
 *
 * @param addr an address of doca_rdma_addr_create(); invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_BAD_STATE: a connection that is not established, and has not failed, uses the
 *   address; or the library owns the address
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_addr_destroy(struct doca_rdma_addr *addr);

/**
 * Get the parts of an address.
 *
 * @param addr the address, of this process or of doca_rdma_connection_get_addr()
 * @param addr_type out: kind of the address
 * @param address out: text of the address, valid until the address is destroyed
 * @param port out: port in host byte order
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_addr_get_params(struct doca_rdma_addr *addr,
							 enum doca_rdma_addr_type *addr_type,
							 const char **address, uint16_t *port);

/**
 * Accept requests of clients on a port, on the addresses of the device. A context can listen on
 * several ports.
 *
 * @param rdma an object whose context is RUNNING
 * @param port port in host byte order, not 0
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object is NULL, or the port is 0
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no port, or librdmacm does not find the device
 * - DOCA_ERROR_CONNECTION_ABORTED: the context already listens on the port, or the system refuses
 *   the port
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_start_listen_to_port(struct doca_rdma *rdma,
							      uint16_t port);

/**
 * Stop accepting requests on a port. Connections that are established stay, and requests that are
 * not accepted yet are rejected.
 *
 * @param rdma an object whose context is RUNNING
 * @param port port in host byte order
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object is NULL, or the context does not listen on the port
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_stop_listen_to_port(struct doca_rdma *rdma, uint16_t port);

/**
 * Start to connect to a server. Progress then calls the callback for an established connection or
 * for a failure.
 *
 * @param rdma an object whose context is RUNNING
 * @param addr address of the server; in use until the connection is established or has failed, or
 *         the context is IDLE
 * @param connection_user_data user data of the connection
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object or the address is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no port, or librdmacm does not find the device
 * - DOCA_ERROR_CONNECTION_ABORTED: the context has its maximum number of connections, or the
 *   address cannot be reached from the device
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_connect_to_addr(struct doca_rdma *rdma,
							 struct doca_rdma_addr *addr,
							 union doca_data connection_user_data);

/**
 * Accept the request of a client. Progress then calls the callback for an established connection or
 * for a failure.
 *
 * @param rdma_connection a connection of the request callback
 * @param private_data bytes for the client, owned by the caller; or NULL
 * @param private_data_len number of bytes; 0 if private_data is NULL
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the connection is NULL; there is no request to accept; or the private
 *   data is NULL with a length, or too long
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: memory is exhausted
 * - DOCA_ERROR_CONNECTION_ABORTED: the client gave up, or the device fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_connection_accept(
	struct doca_rdma_connection *rdma_connection, void *private_data, uint8_t private_data_len);

/**
 * Reject the request of a client. No callback of the connection follows, and the connection must
 * not be used any more.
 *
 * @param rdma_connection a connection of the request callback
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the connection is NULL, or there is no request to reject
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_CONNECTION_ABORTED: the device fails
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_connection_reject(struct doca_rdma_connection *rdma_connection);

/**
 * End a connection. Its tasks are flushed. Progress then calls the callback for the disconnection,
 * unless it was called already. A connection that ended before stays as it is.
 *
 * @param rdma_connection a connection, in any state
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the connection is NULL
 * - DOCA_ERROR_BAD_STATE: the context is IDLE, and has ended the connection
 * - DOCA_ERROR_CONNECTION_ABORTED: the device fails
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_connection_disconnect(struct doca_rdma_connection *rdma_connection);

/**
 * Set the user data of a connection.
 *
 * @param rdma_connection the connection
 * @param connection_user_data the user data; callbacks of the connection get the current value
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the connection is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_connection_set_user_data(
	struct doca_rdma_connection *rdma_connection, union doca_data connection_user_data);

/**
 * Get the user data of a connection.
 *
 * @param rdma_connection the connection
 * @param connection_user_data out: the user data; zero if none was set
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_connection_get_user_data(
	const struct doca_rdma_connection *rdma_connection, union doca_data *connection_user_data);

/**
 * Get the address of a connection. For a connection of a listener, it has the port of the listener;
 * for a connection of doca_rdma_connect_to_addr(), it is that of the server.
 *
 * @param rdma_connection the connection
 * @param addr out: the address; the library owns it, and it is valid as long as the connection
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the connection was not made by address
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_connection_get_addr(
	const struct doca_rdma_connection *rdma_connection, struct doca_rdma_addr **addr);

/**
 * Get the number of a connection, which is unique in its context.
 *
 * @param rdma_connection the connection
 * @param connection_id out: the number
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_connection_get_id(
	const struct doca_rdma_connection *rdma_connection, uint32_t *connection_id);

/**
 * Create a connection from the connection identifier of librdmacm that a request of a client has.
 * doca_rdma_bridge_accept() must follow. The program keeps handling the events of the identifier:
 * when the connection is established, it calls doca_rdma_bridge_established(), and when it ends,
 * doca_rdma_connection_disconnect(). No callback of the context belongs to the connection.
 *
 * @param rdma an object whose context is RUNNING
 * @param cm_id the identifier, on the device of the context and without a queue pair. After
 *         success the library owns it and destroys it when the connection ends: the program must
 *         have acknowledged its events by then
 * @param rdma_connection out: the connection; the context owns it
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_FULL: the context has its maximum number of connections
 * - DOCA_ERROR_NO_MEMORY: memory is exhausted
 * - DOCA_ERROR_NOT_SUPPORTED: the identifier is on another device, or the system has no connection
 *   manager
 * - DOCA_ERROR_CONNECTION_ABORTED: the device fails
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_bridge_prepare_connection(struct doca_rdma *rdma, struct rdma_cm_id *cm_id,
				    struct doca_rdma_connection **rdma_connection);

/**
 * Accept the request of the connection identifier.
 *
 * @param rdma an object whose context is RUNNING
 * @param private_data bytes for the peer, owned by the caller; or NULL
 * @param private_data_len number of bytes; 0 if private_data is NULL
 * @param rdma_connection a connection of doca_rdma_bridge_prepare_connection()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object or the connection is NULL; the connection belongs to
 *   another object or is not of the bridge; or the private data is NULL with a length, or too long
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING, or the connection was accepted already
 * - DOCA_ERROR_CONNECTION_ABORTED: the peer gave up, or the device fails
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_bridge_accept(struct doca_rdma *rdma, void *private_data, uint8_t private_data_len,
			struct doca_rdma_connection *rdma_connection);

/**
 * Report that the program received the event for an established connection. The connection can be
 * used when the function returns.
 *
 * @param rdma an object whose context is RUNNING
 * @param rdma_connection a connection of doca_rdma_bridge_accept()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the connection belongs to another object or
 *   is not of the bridge
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING, or the connection was not accepted
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_bridge_established(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection);

/**
 * Set the maximum length of the list of bufs of a receive. The default is 1.
 *
 * @param rdma an object whose context is IDLE
 * @param dst_buf_list_len number of bufs, including the head; not 0 and at most
 *         doca_rdma_cap_task_receive_get_max_dst_buf_list_len()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object is NULL, or the number is 0 or larger than the capability
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_task_receive_set_dst_buf_list_len(struct doca_rdma *rdma, uint32_t dst_buf_list_len);

/**
 * Get the maximum length of the list of bufs of a receive.
 *
 * @param rdma the object, in any state of its context
 * @param dst_buf_list_len out: number of bufs, including the head; at least the number that was set
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_receive_get_dst_buf_list_len(
	const struct doca_rdma *rdma, uint32_t *dst_buf_list_len);

/**
 * Configure receives. This is required before the context is started if the program needs them.
 *
 * @param rdma an object whose context is IDLE
 * @param successful_task_completion_cb called for tasks that succeeded
 * @param error_task_completion_cb called for tasks that failed; may be the same function
 * @param num_tasks number of tasks that can be allocated at once, from 1 to the maximum of the
 *         device
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number of tasks is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_receive_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_receive_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_receive_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Allocate a receive. It receives one message of any connection of the context. It can be submitted
 * many times, each time with other arguments.
 *
 * @param rdma an object whose context is RUNNING
 * @param dst_buf list to whose data the message is appended; NULL for messages without data; owned
 *         by the caller, must exist until the task has completed
 * @param user_data user data of the task
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object or the output is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks are allocated, or no tasks were configured
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_receive_allocate_init(
	struct doca_rdma *rdma, struct doca_buf *dst_buf, union doca_data user_data,
	struct doca_rdma_task_receive **task);

/**
 * Get the generic task of a receive.
 *
 * @param task the task
 * @return the generic task, valid until doca_task_free(); NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_task *
doca_rdma_task_receive_as_task(struct doca_rdma_task_receive *task);

/**
 * Set the destination of a receive.
 *
 * @param task a task that is not submitted, not NULL
 * @param dst_buf list to whose data the message is appended; NULL for messages without data; owned
 *         by the caller, must exist until the task has completed
 */
DOCA_EXPERIMENTAL void doca_rdma_task_receive_set_dst_buf(struct doca_rdma_task_receive *task,
							  struct doca_buf *dst_buf);

/**
 * Get the destination of a receive.
 *
 * @param task the task, not NULL
 * @return the buf or list, owned by the caller
 */
DOCA_EXPERIMENTAL struct doca_buf *
doca_rdma_task_receive_get_dst_buf(const struct doca_rdma_task_receive *task);

/**
 * Get the number of bytes that a receive received.
 *
 * @param task a task that completed with success, not NULL
 * @return number of bytes
 */
DOCA_EXPERIMENTAL uint32_t
doca_rdma_task_receive_get_result_len(const struct doca_rdma_task_receive *task);

/**
 * Get the operation of the peer that completed a receive.
 *
 * @param task a task that completed with success, not NULL
 * @return the operation
 */
DOCA_EXPERIMENTAL enum doca_rdma_opcode
doca_rdma_task_receive_get_result_opcode(const struct doca_rdma_task_receive *task);

/**
 * Get the immediate data of the peer.
 *
 * @param task a task that completed with success and an operation with immediate data, not NULL
 * @return the 32 bits as the peer set them
 */
DOCA_EXPERIMENTAL doca_be32_t
doca_rdma_task_receive_get_result_immediate_data(const struct doca_rdma_task_receive *task);

/**
 * Get the connection that a message arrived on.
 *
 * @param task a task in its callback for success, not NULL
 * @return the connection, valid until the context is IDLE
 */
DOCA_EXPERIMENTAL const struct doca_rdma_connection *
doca_rdma_task_receive_get_result_rdma_connection(const struct doca_rdma_task_receive *task);

/**
 * Configure sends. This is required before the context is started if the program needs them.
 *
 * @param rdma an object whose context is IDLE
 * @param successful_task_completion_cb called for tasks that succeeded
 * @param error_task_completion_cb called for tasks that failed; may be the same function
 * @param num_tasks number of tasks that can be allocated at once, from 1 to the maximum of the
 *         device
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number of tasks is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_send_set_conf(
	struct doca_rdma *rdma, doca_rdma_task_send_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_send_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Allocate a send. A receive task of the peer receives the message. It can be submitted many times,
 * each time with other arguments.
 *
 * @param rdma an object whose context is RUNNING
 * @param rdma_connection the connection to the peer
 * @param src_buf list whose data is sent; NULL for an empty message; owned by the caller, must
 *         exist until the task has completed
 * @param user_data user data of the task
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object, the connection or the output is NULL, or the connection
 *   belongs to another object
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks are allocated, or no tasks were configured
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_send_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
	const struct doca_buf *src_buf, union doca_data user_data,
	struct doca_rdma_task_send **task);

/**
 * Get the generic task of a send.
 *
 * @param task the task
 * @return the generic task, valid until doca_task_free(); NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_task *doca_rdma_task_send_as_task(struct doca_rdma_task_send *task);

/**
 * Set the connection of a send.
 *
 * @param task a task that is not submitted, not NULL
 * @param rdma_connection a connection of the context of the task
 */
DOCA_EXPERIMENTAL void
doca_rdma_task_send_set_rdma_connection(struct doca_rdma_task_send *task,
					struct doca_rdma_connection *rdma_connection);

/**
 * Get the connection of a send.
 *
 * @param task the task, not NULL
 * @return the connection, valid until the context is IDLE
 */
DOCA_EXPERIMENTAL const struct doca_rdma_connection *
doca_rdma_task_send_get_rdma_connection(const struct doca_rdma_task_send *task);

/**
 * Set the source of a send.
 *
 * @param task a task that is not submitted, not NULL
 * @param src_buf list whose data is sent; NULL for an empty message; owned by the caller, must
 *         exist until the task has completed
 */
DOCA_EXPERIMENTAL void doca_rdma_task_send_set_src_buf(struct doca_rdma_task_send *task,
						       const struct doca_buf *src_buf);

/**
 * Get the source of a send.
 *
 * @param task the task, not NULL
 * @return the list, owned by the caller
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_rdma_task_send_get_src_buf(const struct doca_rdma_task_send *task);

/**
 * Configure sends with immediate data. This is required before the context is started if the
 * program needs them.
 *
 * @param rdma an object whose context is IDLE
 * @param successful_task_completion_cb called for tasks that succeeded
 * @param error_task_completion_cb called for tasks that failed; may be the same function
 * @param num_tasks number of tasks that can be allocated at once, from 1 to the maximum of the
 *         device
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number of tasks is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_send_imm_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_send_imm_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_send_imm_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Allocate a send with immediate data. A receive task of the peer receives the message and the
 * immediate data. It can be submitted many times, each time with other arguments.
 *
 * @param rdma an object whose context is RUNNING
 * @param rdma_connection the connection to the peer
 * @param src_buf list whose data is sent; NULL for an empty message; owned by the caller, must
 *         exist until the task has completed
 * @param immediate_data 32 bits that the peer receives unchanged
 * @param user_data user data of the task
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object, the connection or the output is NULL, or the connection
 *   belongs to another object
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks are allocated, or no tasks were configured
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_send_imm_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
	const struct doca_buf *src_buf, doca_be32_t immediate_data, union doca_data user_data,
	struct doca_rdma_task_send_imm **task);

/**
 * Get the generic task of a send with immediate data.
 *
 * @param task the task
 * @return the generic task, valid until doca_task_free(); NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_task *
doca_rdma_task_send_imm_as_task(struct doca_rdma_task_send_imm *task);

/**
 * Set the connection of a send with immediate data.
 *
 * @param task a task that is not submitted, not NULL
 * @param rdma_connection a connection of the context of the task
 */
DOCA_EXPERIMENTAL void
doca_rdma_task_send_imm_set_rdma_connection(struct doca_rdma_task_send_imm *task,
					    struct doca_rdma_connection *rdma_connection);

/**
 * Get the connection of a send with immediate data.
 *
 * @param task the task, not NULL
 * @return the connection, valid until the context is IDLE
 */
DOCA_EXPERIMENTAL const struct doca_rdma_connection *
doca_rdma_task_send_imm_get_rdma_connection(const struct doca_rdma_task_send_imm *task);

/**
 * Set the source of a send with immediate data.
 *
 * @param task a task that is not submitted, not NULL
 * @param src_buf list whose data is sent; NULL for an empty message; owned by the caller, must
 *         exist until the task has completed
 */
DOCA_EXPERIMENTAL void doca_rdma_task_send_imm_set_src_buf(struct doca_rdma_task_send_imm *task,
							   const struct doca_buf *src_buf);

/**
 * Get the source of a send with immediate data.
 *
 * @param task the task, not NULL
 * @return the list, owned by the caller
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_rdma_task_send_imm_get_src_buf(const struct doca_rdma_task_send_imm *task);

/**
 * Set the immediate data of a send with immediate data.
 *
 * @param task a task that is not submitted, not NULL
 * @param immediate_data 32 bits that the peer receives unchanged
 */
DOCA_EXPERIMENTAL void
doca_rdma_task_send_imm_set_immediate_data(struct doca_rdma_task_send_imm *task,
					   doca_be32_t immediate_data);

/**
 * Get the immediate data of a send with immediate data.
 *
 * @param task the task, not NULL
 * @return the value
 */
DOCA_EXPERIMENTAL doca_be32_t
doca_rdma_task_send_imm_get_immediate_data(const struct doca_rdma_task_send_imm *task);

/**
 * Configure reads. This is required before the context is started if the program needs them.
 *
 * @param rdma an object whose context is IDLE
 * @param successful_task_completion_cb called for tasks that succeeded
 * @param error_task_completion_cb called for tasks that failed; may be the same function
 * @param num_tasks number of tasks that can be allocated at once, from 1 to the maximum of the
 *         device
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number of tasks is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_read_set_conf(
	struct doca_rdma *rdma, doca_rdma_task_read_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_read_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Allocate a read. It can be submitted many times, each time with other arguments.
 *
 * @param rdma an object whose context is RUNNING
 * @param rdma_connection the connection to the peer
 * @param src_buf buf whose data is read, on a map imported from the peer; NULL together with
 *         dst_buf for an empty read; owned by the caller, must exist until the task has completed
 * @param dst_buf list to whose data the read data is appended; NULL together with src_buf for an
 *         empty read; owned by the caller, must exist until the task has completed
 * @param user_data user data of the task
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object, the connection or the output is NULL, or the connection
 *   belongs to another object
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks are allocated, or no tasks were configured
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_read_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
	const struct doca_buf *src_buf, struct doca_buf *dst_buf, union doca_data user_data,
	struct doca_rdma_task_read **task);

/**
 * Get the generic task of a read.
 *
 * @param task the task
 * @return the generic task, valid until doca_task_free(); NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_task *doca_rdma_task_read_as_task(struct doca_rdma_task_read *task);

/**
 * Set the connection of a read.
 *
 * @param task a task that is not submitted, not NULL
 * @param rdma_connection a connection of the context of the task
 */
DOCA_EXPERIMENTAL void
doca_rdma_task_read_set_rdma_connection(struct doca_rdma_task_read *task,
					struct doca_rdma_connection *rdma_connection);

/**
 * Get the connection of a read.
 *
 * @param task the task, not NULL
 * @return the connection, valid until the context is IDLE
 */
DOCA_EXPERIMENTAL const struct doca_rdma_connection *
doca_rdma_task_read_get_rdma_connection(const struct doca_rdma_task_read *task);

/**
 * Set the source of a read.
 *
 * @param task a task that is not submitted, not NULL
 * @param src_buf buf whose data is read, on a map imported from the peer; NULL together with
 *         dst_buf for an empty read; owned by the caller, must exist until the task has completed
 */
DOCA_EXPERIMENTAL void doca_rdma_task_read_set_src_buf(struct doca_rdma_task_read *task,
						       const struct doca_buf *src_buf);

/**
 * Get the source of a read.
 *
 * @param task the task, not NULL
 * @return the list, owned by the caller
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_rdma_task_read_get_src_buf(const struct doca_rdma_task_read *task);

/**
 * Set the destination of a read.
 *
 * @param task a task that is not submitted, not NULL
 * @param dst_buf list to whose data the read data is appended; NULL together with src_buf for an
 *         empty read; owned by the caller, must exist until the task has completed
 */
DOCA_EXPERIMENTAL void doca_rdma_task_read_set_dst_buf(struct doca_rdma_task_read *task,
						       struct doca_buf *dst_buf);

/**
 * Get the destination of a read.
 *
 * @param task the task, not NULL
 * @return the buf or list, owned by the caller
 */
DOCA_EXPERIMENTAL struct doca_buf *
doca_rdma_task_read_get_dst_buf(const struct doca_rdma_task_read *task);

/**
 * Get the number of bytes of a read.
 *
 * @param task a task that completed with success, not NULL
 * @return number of bytes
 */
DOCA_EXPERIMENTAL uint32_t
doca_rdma_task_read_get_result_len(const struct doca_rdma_task_read *task);

/**
 * Configure writes. This is required before the context is started if the program needs them.
 *
 * @param rdma an object whose context is IDLE
 * @param successful_task_completion_cb called for tasks that succeeded
 * @param error_task_completion_cb called for tasks that failed; may be the same function
 * @param num_tasks number of tasks that can be allocated at once, from 1 to the maximum of the
 *         device
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number of tasks is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_write_set_conf(
	struct doca_rdma *rdma, doca_rdma_task_write_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_write_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Allocate a write. It can be submitted many times, each time with other arguments.
 *
 * @param rdma an object whose context is RUNNING
 * @param rdma_connection the connection to the peer
 * @param src_buf list whose data is written; NULL together with dst_buf for an empty write; owned
 *         by the caller, must exist until the task has completed
 * @param dst_buf buf on a map imported from the peer; the data is written after its data, whose
 *         length stays as it is; NULL together with src_buf for an empty write; owned by the caller,
 *         must exist until the task has completed
 * @param user_data user data of the task
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object, the connection or the output is NULL, or the connection
 *   belongs to another object
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks are allocated, or no tasks were configured
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_write_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
	const struct doca_buf *src_buf, struct doca_buf *dst_buf, union doca_data user_data,
	struct doca_rdma_task_write **task);

/**
 * Get the generic task of a write.
 *
 * @param task the task
 * @return the generic task, valid until doca_task_free(); NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_task *doca_rdma_task_write_as_task(struct doca_rdma_task_write *task);

/**
 * Set the connection of a write.
 *
 * @param task a task that is not submitted, not NULL
 * @param rdma_connection a connection of the context of the task
 */
DOCA_EXPERIMENTAL void
doca_rdma_task_write_set_rdma_connection(struct doca_rdma_task_write *task,
					 struct doca_rdma_connection *rdma_connection);

/**
 * Get the connection of a write.
 *
 * @param task the task, not NULL
 * @return the connection, valid until the context is IDLE
 */
DOCA_EXPERIMENTAL const struct doca_rdma_connection *
doca_rdma_task_write_get_rdma_connection(const struct doca_rdma_task_write *task);

/**
 * Set the source of a write.
 *
 * @param task a task that is not submitted, not NULL
 * @param src_buf list whose data is written; NULL together with dst_buf for an empty write; owned
 *         by the caller, must exist until the task has completed
 */
DOCA_EXPERIMENTAL void doca_rdma_task_write_set_src_buf(struct doca_rdma_task_write *task,
							const struct doca_buf *src_buf);

/**
 * Get the source of a write.
 *
 * @param task the task, not NULL
 * @return the list, owned by the caller
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_rdma_task_write_get_src_buf(const struct doca_rdma_task_write *task);

/**
 * Set the destination of a write.
 *
 * @param task a task that is not submitted, not NULL
 * @param dst_buf buf on a map imported from the peer; the data is written after its data, whose
 *         length stays as it is; NULL together with src_buf for an empty write; owned by the caller,
 *         must exist until the task has completed
 */
DOCA_EXPERIMENTAL void doca_rdma_task_write_set_dst_buf(struct doca_rdma_task_write *task,
							struct doca_buf *dst_buf);

/**
 * Get the destination of a write.
 *
 * @param task the task, not NULL
 * @return the buf or list, owned by the caller
 */
DOCA_EXPERIMENTAL struct doca_buf *
doca_rdma_task_write_get_dst_buf(const struct doca_rdma_task_write *task);

/**
 * Configure writes with immediate data. This is required before the context is started if the
 * program needs them.
 *
 * @param rdma an object whose context is IDLE
 * @param successful_task_completion_cb called for tasks that succeeded
 * @param error_task_completion_cb called for tasks that failed; may be the same function
 * @param num_tasks number of tasks that can be allocated at once, from 1 to the maximum of the
 *         device
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number of tasks is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_write_imm_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_write_imm_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_write_imm_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Allocate a write with immediate data. After the data is written, the immediate data completes a
 * receive task of the peer. It can be submitted many times, each time with other arguments.
 *
 * @param rdma an object whose context is RUNNING
 * @param rdma_connection the connection to the peer
 * @param src_buf list whose data is written; NULL together with dst_buf for an empty write; owned
 *         by the caller, must exist until the task has completed
 * @param dst_buf buf on a map imported from the peer; the data is written after its data, whose
 *         length stays as it is; NULL together with src_buf for an empty write; owned by the caller,
 *         must exist until the task has completed
 * @param immediate_data 32 bits that the peer receives unchanged
 * @param user_data user data of the task
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object, the connection or the output is NULL, or the connection
 *   belongs to another object
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks are allocated, or no tasks were configured
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_write_imm_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
	const struct doca_buf *src_buf, struct doca_buf *dst_buf, doca_be32_t immediate_data,
	union doca_data user_data, struct doca_rdma_task_write_imm **task);

/**
 * Get the generic task of a write with immediate data.
 *
 * @param task the task
 * @return the generic task, valid until doca_task_free(); NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_task *
doca_rdma_task_write_imm_as_task(struct doca_rdma_task_write_imm *task);

/**
 * Set the connection of a write with immediate data.
 *
 * @param task a task that is not submitted, not NULL
 * @param rdma_connection a connection of the context of the task
 */
DOCA_EXPERIMENTAL void
doca_rdma_task_write_imm_set_rdma_connection(struct doca_rdma_task_write_imm *task,
					     struct doca_rdma_connection *rdma_connection);

/**
 * Get the connection of a write with immediate data.
 *
 * @param task the task, not NULL
 * @return the connection, valid until the context is IDLE
 */
DOCA_EXPERIMENTAL const struct doca_rdma_connection *
doca_rdma_task_write_imm_get_rdma_connection(const struct doca_rdma_task_write_imm *task);

/**
 * Set the source of a write with immediate data.
 *
 * @param task a task that is not submitted, not NULL
 * @param src_buf list whose data is written; NULL together with dst_buf for an empty write; owned
 *         by the caller, must exist until the task has completed
 */
DOCA_EXPERIMENTAL void doca_rdma_task_write_imm_set_src_buf(struct doca_rdma_task_write_imm *task,
							    const struct doca_buf *src_buf);

/**
 * Get the source of a write with immediate data.
 *
 * @param task the task, not NULL
 * @return the list, owned by the caller
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_rdma_task_write_imm_get_src_buf(const struct doca_rdma_task_write_imm *task);

/**
 * Set the destination of a write with immediate data.
 *
 * @param task a task that is not submitted, not NULL
 * @param dst_buf buf on a map imported from the peer; the data is written after its data, whose
 *         length stays as it is; NULL together with src_buf for an empty write; owned by the caller,
 *         must exist until the task has completed
 */
DOCA_EXPERIMENTAL void doca_rdma_task_write_imm_set_dst_buf(struct doca_rdma_task_write_imm *task,
							    struct doca_buf *dst_buf);

/**
 * Get the destination of a write with immediate data.
 *
 * @param task the task, not NULL
 * @return the buf or list, owned by the caller
 */
DOCA_EXPERIMENTAL struct doca_buf *
doca_rdma_task_write_imm_get_dst_buf(const struct doca_rdma_task_write_imm *task);

/**
 * Set the immediate data of a write with immediate data.
 *
 * @param task a task that is not submitted, not NULL
 * @param immediate_data 32 bits that the peer receives unchanged
 */
DOCA_EXPERIMENTAL void
doca_rdma_task_write_imm_set_immediate_data(struct doca_rdma_task_write_imm *task,
					    doca_be32_t immediate_data);

/**
 * Get the immediate data of a write with immediate data.
 *
 * @param task the task, not NULL
 * @return the value
 */
DOCA_EXPERIMENTAL doca_be32_t
doca_rdma_task_write_imm_get_immediate_data(const struct doca_rdma_task_write_imm *task);

/**
 * Configure compare-and-swaps. This is required before the context is started if the program needs
 * them.
 *
 * @param rdma an object whose context is IDLE
 * @param successful_task_completion_cb called for tasks that succeeded
 * @param error_task_completion_cb called for tasks that failed; may be the same function
 * @param num_tasks number of tasks that can be allocated at once, from 1 to the maximum of the
 *         device
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number of tasks is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_atomic_cmp_swp_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_atomic_cmp_swp_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_atomic_cmp_swp_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Allocate a compare-and-swap. The device compares the remote value with the compare data, and
 * replaces it with the swap data if they are equal. It can be submitted many times, each time with
 * other arguments.
 *
 * @param rdma an object whose context is RUNNING
 * @param rdma_connection the connection to the peer
 * @param dst_buf buf whose first 8 bytes of data are the value, on a map imported from the peer;
 *         the address is a multiple of 8; owned by the caller, must exist until the task has
 *         completed
 * @param result_buf buf to whose data the old value is appended, 8 bytes in host byte order; owned
 *         by the caller, must exist until the task has completed
 * @param cmp_data value that is compared, in host byte order
 * @param swap_data new value, in host byte order
 * @param user_data user data of the task
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object, the connection or the output is NULL, or the connection
 *   belongs to another object
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks are allocated, or no tasks were configured
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_atomic_cmp_swp_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
	struct doca_buf *dst_buf, struct doca_buf *result_buf, uint64_t cmp_data,
	uint64_t swap_data, union doca_data user_data, struct doca_rdma_task_atomic_cmp_swp **task);

/**
 * Get the generic task of a compare-and-swap.
 *
 * @param task the task
 * @return the generic task, valid until doca_task_free(); NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_task *
doca_rdma_task_atomic_cmp_swp_as_task(struct doca_rdma_task_atomic_cmp_swp *task);

/**
 * Set the connection of a compare-and-swap.
 *
 * @param task a task that is not submitted, not NULL
 * @param rdma_connection a connection of the context of the task
 */
DOCA_EXPERIMENTAL void
doca_rdma_task_atomic_cmp_swp_set_rdma_connection(struct doca_rdma_task_atomic_cmp_swp *task,
						  struct doca_rdma_connection *rdma_connection);

/**
 * Get the connection of a compare-and-swap.
 *
 * @param task the task, not NULL
 * @return the connection, valid until the context is IDLE
 */
DOCA_EXPERIMENTAL const struct doca_rdma_connection *
doca_rdma_task_atomic_cmp_swp_get_rdma_connection(const struct doca_rdma_task_atomic_cmp_swp *task);

/**
 * Set the destination of a compare-and-swap.
 *
 * @param task a task that is not submitted, not NULL
 * @param dst_buf buf whose first 8 bytes of data are the value, on a map imported from the peer;
 *         the address is a multiple of 8; owned by the caller, must exist until the task has
 *         completed
 */
DOCA_EXPERIMENTAL void
doca_rdma_task_atomic_cmp_swp_set_dst_buf(struct doca_rdma_task_atomic_cmp_swp *task,
					  struct doca_buf *dst_buf);

/**
 * Get the destination of a compare-and-swap.
 *
 * @param task the task, not NULL
 * @return the buf or list, owned by the caller
 */
DOCA_EXPERIMENTAL struct doca_buf *
doca_rdma_task_atomic_cmp_swp_get_dst_buf(const struct doca_rdma_task_atomic_cmp_swp *task);

/**
 * Set the buf for the old value of a compare-and-swap.
 *
 * @param task a task that is not submitted, not NULL
 * @param result_buf buf to whose data the old value is appended, 8 bytes in host byte order; owned
 *         by the caller, must exist until the task has completed
 */
DOCA_EXPERIMENTAL void
doca_rdma_task_atomic_cmp_swp_set_result_buf(struct doca_rdma_task_atomic_cmp_swp *task,
					     struct doca_buf *result_buf);

/**
 * Get the buf for the old value of a compare-and-swap.
 *
 * @param task the task, not NULL
 * @return the buf, owned by the caller
 */
DOCA_EXPERIMENTAL struct doca_buf *
doca_rdma_task_atomic_cmp_swp_get_result_buf(const struct doca_rdma_task_atomic_cmp_swp *task);

/**
 * Set the value that is compared of a compare-and-swap.
 *
 * @param task a task that is not submitted, not NULL
 * @param cmp_data value that is compared, in host byte order
 */
DOCA_EXPERIMENTAL void
doca_rdma_task_atomic_cmp_swp_set_cmp_data(struct doca_rdma_task_atomic_cmp_swp *task,
					   uint64_t cmp_data);

/**
 * Get the value that is compared of a compare-and-swap.
 *
 * @param task the task, not NULL
 * @return the value
 */
DOCA_EXPERIMENTAL uint64_t
doca_rdma_task_atomic_cmp_swp_get_cmp_data(const struct doca_rdma_task_atomic_cmp_swp *task);

/**
 * Set the new value of a compare-and-swap.
 *
 * @param task a task that is not submitted, not NULL
 * @param swap_data new value, in host byte order
 */
DOCA_EXPERIMENTAL void
doca_rdma_task_atomic_cmp_swp_set_swap_data(struct doca_rdma_task_atomic_cmp_swp *task,
					    uint64_t swap_data);

/**
 * Get the new value of a compare-and-swap.
 *
 * @param task the task, not NULL
 * @return the value
 */
DOCA_EXPERIMENTAL uint64_t
doca_rdma_task_atomic_cmp_swp_get_swap_data(const struct doca_rdma_task_atomic_cmp_swp *task);

/**
 * Configure fetch-and-adds. This is required before the context is started if the program needs
 * them.
 *
 * @param rdma an object whose context is IDLE
 * @param successful_task_completion_cb called for tasks that succeeded
 * @param error_task_completion_cb called for tasks that failed; may be the same function
 * @param num_tasks number of tasks that can be allocated at once, from 1 to the maximum of the
 *         device
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number of tasks is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_atomic_fetch_add_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_atomic_fetch_add_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_atomic_fetch_add_completion_cb_t error_task_completion_cb,
	uint32_t num_tasks);

/**
 * Allocate a fetch-and-add. The device adds the data to the remote value. It can be submitted many
 * times, each time with other arguments.
 *
 * @param rdma an object whose context is RUNNING
 * @param rdma_connection the connection to the peer
 * @param dst_buf buf whose first 8 bytes of data are the value, on a map imported from the peer;
 *         the address is a multiple of 8; owned by the caller, must exist until the task has
 *         completed
 * @param result_buf buf to whose data the old value is appended, 8 bytes in host byte order; owned
 *         by the caller, must exist until the task has completed
 * @param add_data value that is added, in host byte order
 * @param user_data user data of the task
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object, the connection or the output is NULL, or the connection
 *   belongs to another object
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks are allocated, or no tasks were configured
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_atomic_fetch_add_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
	struct doca_buf *dst_buf, struct doca_buf *result_buf, uint64_t add_data,
	union doca_data user_data, struct doca_rdma_task_atomic_fetch_add **task);

/**
 * Get the generic task of a fetch-and-add.
 *
 * @param task the task
 * @return the generic task, valid until doca_task_free(); NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_task *
doca_rdma_task_atomic_fetch_add_as_task(struct doca_rdma_task_atomic_fetch_add *task);

/**
 * Set the connection of a fetch-and-add.
 *
 * @param task a task that is not submitted, not NULL
 * @param rdma_connection a connection of the context of the task
 */
DOCA_EXPERIMENTAL void
doca_rdma_task_atomic_fetch_add_set_rdma_connection(struct doca_rdma_task_atomic_fetch_add *task,
						    struct doca_rdma_connection *rdma_connection);

/**
 * Get the connection of a fetch-and-add.
 *
 * @param task the task, not NULL
 * @return the connection, valid until the context is IDLE
 */
DOCA_EXPERIMENTAL const struct doca_rdma_connection *
doca_rdma_task_atomic_fetch_add_get_rdma_connection(
	const struct doca_rdma_task_atomic_fetch_add *task);

/**
 * Set the destination of a fetch-and-add.
 *
 * @param task a task that is not submitted, not NULL
 * @param dst_buf buf whose first 8 bytes of data are the value, on a map imported from the peer;
 *         the address is a multiple of 8; owned by the caller, must exist until the task has
 *         completed
 */
DOCA_EXPERIMENTAL void
doca_rdma_task_atomic_fetch_add_set_dst_buf(struct doca_rdma_task_atomic_fetch_add *task,
					    struct doca_buf *dst_buf);

/**
 * Get the destination of a fetch-and-add.
 *
 * @param task the task, not NULL
 * @return the buf or list, owned by the caller
 */
DOCA_EXPERIMENTAL struct doca_buf *
doca_rdma_task_atomic_fetch_add_get_dst_buf(const struct doca_rdma_task_atomic_fetch_add *task);

/**
 * Set the buf for the old value of a fetch-and-add.
 *
 * @param task a task that is not submitted, not NULL
 * @param result_buf buf to whose data the old value is appended, 8 bytes in host byte order; owned
 *         by the caller, must exist until the task has completed
 */
DOCA_EXPERIMENTAL void
doca_rdma_task_atomic_fetch_add_set_result_buf(struct doca_rdma_task_atomic_fetch_add *task,
					       struct doca_buf *result_buf);

/**
 * Get the buf for the old value of a fetch-and-add.
 *
 * @param task the task, not NULL
 * @return the buf, owned by the caller
 */
DOCA_EXPERIMENTAL struct doca_buf *
doca_rdma_task_atomic_fetch_add_get_result_buf(const struct doca_rdma_task_atomic_fetch_add *task);

/**
 * Set the value that is added of a fetch-and-add.
 *
 * @param task a task that is not submitted, not NULL
 * @param add_data value that is added, in host byte order
 */
DOCA_EXPERIMENTAL void
doca_rdma_task_atomic_fetch_add_set_add_data(struct doca_rdma_task_atomic_fetch_add *task,
					     uint64_t add_data);

/**
 * Get the value that is added of a fetch-and-add.
 *
 * @param task the task, not NULL
 * @return the value
 */
DOCA_EXPERIMENTAL uint64_t
doca_rdma_task_atomic_fetch_add_get_add_data(const struct doca_rdma_task_atomic_fetch_add *task);

/**
 * Configure reads of remote sync events. This is required before the context is started if the
 * program needs them.
 *
 * @param rdma an object whose context is IDLE
 * @param successful_task_completion_cb called for tasks that succeeded
 * @param error_task_completion_cb called for tasks that failed; may be the same function
 * @param num_tasks number of tasks that can be allocated at once, from 1 to the maximum of the
 *         device
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number of tasks is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_remote_net_sync_event_get_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_remote_net_sync_event_get_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_remote_net_sync_event_get_completion_cb_t error_task_completion_cb,
	uint32_t num_tasks);

/**
 * Allocate a read of a remote sync event. It can be submitted many times, each time with other
 * arguments.
 *
 * @param rdma an object whose context is RUNNING
 * @param rdma_connection the connection to the peer
 * @param sync_event the sync event that is read; owned by the caller, must exist until the task has
 *         completed
 * @param dst_buf list to whose data the value is appended, 8 bytes in host byte order; owned by the
 *         caller, must exist until the task has completed
 * @param user_data user data of the task
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object, the connection or the output is NULL, or the connection
 *   belongs to another object
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks are allocated, or no tasks were configured
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_remote_net_sync_event_get_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
	const struct doca_sync_event_remote_net *sync_event, struct doca_buf *dst_buf,
	union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_get **task);

/**
 * Get the generic task of a read of a remote sync event.
 *
 * @param task the task
 * @return the generic task, valid until doca_task_free(); NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_task *doca_rdma_task_remote_net_sync_event_get_as_task(
	struct doca_rdma_task_remote_net_sync_event_get *task);

/**
 * Set the connection of a read of a remote sync event.
 *
 * @param task a task that is not submitted, not NULL
 * @param rdma_connection a connection of the context of the task
 */
DOCA_EXPERIMENTAL void doca_rdma_task_remote_net_sync_event_get_set_rdma_connection(
	struct doca_rdma_task_remote_net_sync_event_get *task,
	struct doca_rdma_connection *rdma_connection);

/**
 * Get the connection of a read of a remote sync event.
 *
 * @param task the task, not NULL
 * @return the connection, valid until the context is IDLE
 */
DOCA_EXPERIMENTAL const struct doca_rdma_connection *
doca_rdma_task_remote_net_sync_event_get_get_rdma_connection(
	const struct doca_rdma_task_remote_net_sync_event_get *task);

/**
 * Set the sync event of a read of a remote sync event.
 *
 * @param task a task that is not submitted, not NULL
 * @param sync_event the sync event that is read; owned by the caller, must exist until the task has
 *         completed
 */
DOCA_EXPERIMENTAL void doca_rdma_task_remote_net_sync_event_get_set_sync_event(
	struct doca_rdma_task_remote_net_sync_event_get *task,
	const struct doca_sync_event_remote_net *sync_event);

/**
 * Get the sync event of a read of a remote sync event.
 *
 * @param task the task, not NULL
 * @return the sync event, owned by the caller
 */
DOCA_EXPERIMENTAL const struct doca_sync_event_remote_net *
doca_rdma_task_remote_net_sync_event_get_get_sync_event(
	const struct doca_rdma_task_remote_net_sync_event_get *task);

/**
 * Set the destination of a read of a remote sync event.
 *
 * @param task a task that is not submitted, not NULL
 * @param dst_buf list to whose data the value is appended, 8 bytes in host byte order; owned by the
 *         caller, must exist until the task has completed
 */
DOCA_EXPERIMENTAL void doca_rdma_task_remote_net_sync_event_get_set_dst_buf(
	struct doca_rdma_task_remote_net_sync_event_get *task, struct doca_buf *dst_buf);

/**
 * Get the destination of a read of a remote sync event.
 *
 * @param task the task, not NULL
 * @return the buf or list, owned by the caller
 */
DOCA_EXPERIMENTAL struct doca_buf *doca_rdma_task_remote_net_sync_event_get_get_dst_buf(
	const struct doca_rdma_task_remote_net_sync_event_get *task);

/**
 * Get the number of bytes of a read of a remote sync event.
 *
 * @param task a task that completed with success, not NULL
 * @return number of bytes
 */
DOCA_EXPERIMENTAL uint32_t doca_rdma_task_remote_net_sync_event_get_get_result_len(
	const struct doca_rdma_task_remote_net_sync_event_get *task);

/**
 * Configure assignments to remote sync events. This is required before the context is started if
 * the program needs them.
 *
 * @param rdma an object whose context is IDLE
 * @param successful_task_completion_cb called for tasks that succeeded
 * @param error_task_completion_cb called for tasks that failed; may be the same function
 * @param num_tasks number of tasks that can be allocated at once, from 1 to the maximum of the
 *         device
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number of tasks is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_remote_net_sync_event_notify_set_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t
		successful_task_completion_cb,
	doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t error_task_completion_cb,
	uint32_t num_tasks);

/**
 * Allocate an assignment to a remote sync event. It can be submitted many times, each time with
 * other arguments.
 *
 * @param rdma an object whose context is RUNNING
 * @param rdma_connection the connection to the peer
 * @param sync_event the sync event that is assigned to; owned by the caller, must exist until the
 *         task has completed
 * @param src_buf list with 8 bytes of data, the new value in host byte order; owned by the caller,
 *         must exist until the task has completed
 * @param user_data user data of the task
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object, the connection or the output is NULL, or the connection
 *   belongs to another object
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks are allocated, or no tasks were configured
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
	struct doca_sync_event_remote_net *sync_event, const struct doca_buf *src_buf,
	union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_notify_set **task);

/**
 * Get the generic task of an assignment to a remote sync event.
 *
 * @param task the task
 * @return the generic task, valid until doca_task_free(); NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_task *doca_rdma_task_remote_net_sync_event_notify_set_as_task(
	struct doca_rdma_task_remote_net_sync_event_notify_set *task);

/**
 * Set the connection of an assignment to a remote sync event.
 *
 * @param task a task that is not submitted, not NULL
 * @param rdma_connection a connection of the context of the task
 */
DOCA_EXPERIMENTAL void doca_rdma_task_remote_net_sync_event_notify_set_set_rdma_connection(
	struct doca_rdma_task_remote_net_sync_event_notify_set *task,
	struct doca_rdma_connection *rdma_connection);

/**
 * Get the connection of an assignment to a remote sync event.
 *
 * @param task the task, not NULL
 * @return the connection, valid until the context is IDLE
 */
DOCA_EXPERIMENTAL const struct doca_rdma_connection *
doca_rdma_task_remote_net_sync_event_notify_set_get_rdma_connection(
	const struct doca_rdma_task_remote_net_sync_event_notify_set *task);

/**
 * Set the sync event of an assignment to a remote sync event.
 *
 * @param task a task that is not submitted, not NULL
 * @param sync_event the sync event that is assigned to; owned by the caller, must exist until the
 *         task has completed
 */
DOCA_EXPERIMENTAL void doca_rdma_task_remote_net_sync_event_notify_set_set_sync_event(
	struct doca_rdma_task_remote_net_sync_event_notify_set *task,
	struct doca_sync_event_remote_net *sync_event);

/**
 * Get the sync event of an assignment to a remote sync event.
 *
 * @param task the task, not NULL
 * @return the sync event, owned by the caller
 */
DOCA_EXPERIMENTAL struct doca_sync_event_remote_net *
doca_rdma_task_remote_net_sync_event_notify_set_get_sync_event(
	const struct doca_rdma_task_remote_net_sync_event_notify_set *task);

/**
 * Set the source of an assignment to a remote sync event.
 *
 * @param task a task that is not submitted, not NULL
 * @param src_buf list with 8 bytes of data, the new value in host byte order; owned by the caller,
 *         must exist until the task has completed
 */
DOCA_EXPERIMENTAL void doca_rdma_task_remote_net_sync_event_notify_set_set_src_buf(
	struct doca_rdma_task_remote_net_sync_event_notify_set *task,
	const struct doca_buf *src_buf);

/**
 * Get the source of an assignment to a remote sync event.
 *
 * @param task the task, not NULL
 * @return the list, owned by the caller
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_rdma_task_remote_net_sync_event_notify_set_get_src_buf(
	const struct doca_rdma_task_remote_net_sync_event_notify_set *task);

/**
 * Configure additions to remote sync events. This is required before the context is started if the
 * program needs them.
 *
 * @param rdma an object whose context is IDLE
 * @param successful_task_completion_cb called for tasks that succeeded
 * @param error_task_completion_cb called for tasks that failed; may be the same function
 * @param num_tasks number of tasks that can be allocated at once, from 1 to the maximum of the
 *         device
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number of tasks is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t
		successful_task_completion_cb,
	doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t error_task_completion_cb,
	uint32_t num_tasks);

/**
 * Allocate an addition to a remote sync event. It can be submitted many times, each time with other
 * arguments.
 *
 * @param rdma an object whose context is RUNNING
 * @param rdma_connection the connection to the peer
 * @param sync_event the sync event that is added to; owned by the caller, must exist until the task
 *         has completed
 * @param result_buf buf to whose data the old value is appended, 8 bytes in host byte order; owned
 *         by the caller, must exist until the task has completed
 * @param add_data value that is added, in host byte order
 * @param user_data user data of the task
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object, the connection or the output is NULL, or the connection
 *   belongs to another object
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks are allocated, or no tasks were configured
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
	struct doca_sync_event_remote_net *sync_event, struct doca_buf *result_buf,
	uint64_t add_data, union doca_data user_data,
	struct doca_rdma_task_remote_net_sync_event_notify_add **task);

/**
 * Get the generic task of an addition to a remote sync event.
 *
 * @param task the task
 * @return the generic task, valid until doca_task_free(); NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_task *doca_rdma_task_remote_net_sync_event_notify_add_as_task(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task);

/**
 * Set the connection of an addition to a remote sync event.
 *
 * @param task a task that is not submitted, not NULL
 * @param rdma_connection a connection of the context of the task
 */
DOCA_EXPERIMENTAL void doca_rdma_task_remote_net_sync_event_notify_add_set_rdma_connection(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task,
	struct doca_rdma_connection *rdma_connection);

/**
 * Get the connection of an addition to a remote sync event.
 *
 * @param task the task, not NULL
 * @return the connection, valid until the context is IDLE
 */
DOCA_EXPERIMENTAL const struct doca_rdma_connection *
doca_rdma_task_remote_net_sync_event_notify_add_get_rdma_connection(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task);

/**
 * Set the sync event of an addition to a remote sync event.
 *
 * @param task a task that is not submitted, not NULL
 * @param sync_event the sync event that is added to; owned by the caller, must exist until the task
 *         has completed
 */
DOCA_EXPERIMENTAL void doca_rdma_task_remote_net_sync_event_notify_add_set_sync_event(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task,
	struct doca_sync_event_remote_net *sync_event);

/**
 * Get the sync event of an addition to a remote sync event.
 *
 * @param task the task, not NULL
 * @return the sync event, owned by the caller
 */
DOCA_EXPERIMENTAL struct doca_sync_event_remote_net *
doca_rdma_task_remote_net_sync_event_notify_add_get_sync_event(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task);

/**
 * Set the buf for the old value of an addition to a remote sync event.
 *
 * @param task a task that is not submitted, not NULL
 * @param result_buf buf to whose data the old value is appended, 8 bytes in host byte order; owned
 *         by the caller, must exist until the task has completed
 */
DOCA_EXPERIMENTAL void doca_rdma_task_remote_net_sync_event_notify_add_set_result_buf(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task, struct doca_buf *result_buf);

/**
 * Get the buf for the old value of an addition to a remote sync event.
 *
 * @param task the task, not NULL
 * @return the buf, owned by the caller
 */
DOCA_EXPERIMENTAL struct doca_buf *doca_rdma_task_remote_net_sync_event_notify_add_get_result_buf(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task);

/**
 * Set the value that is added of an addition to a remote sync event.
 *
 * @param task a task that is not submitted, not NULL
 * @param add_data value that is added, in host byte order
 */
DOCA_EXPERIMENTAL void doca_rdma_task_remote_net_sync_event_notify_add_set_add_data(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task, uint64_t add_data);

/**
 * Get the value that is added of an addition to a remote sync event.
 *
 * @param task the task, not NULL
 * @return the value
 */
DOCA_EXPERIMENTAL uint64_t doca_rdma_task_remote_net_sync_event_notify_add_get_add_data(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_RDMA_H_ */
