/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * RDMA. A context (doca_ctx.h) has connections to peers. Its tasks read and write memory that a
 * peer exported with doca_mmap_export_rdma().
 *
 * To connect, both processes start a context, call doca_rdma_export() for a new connection, send
 * the details to the peer over any channel, and call doca_rdma_connect() with the details of the
 * peer. Then each process can read and write what its peer permits, with
 * doca_rdma_set_permissions() for the whole connection and with the permissions of each map. A
 * process that only exports memory needs neither tasks nor progress.
 *
 * A task reads the data of its source and appends it to the data of its destination. Source and
 * destination may be lists of bufs. The source of a read and the destination of a write are on
 * maps that were imported over RDMA from the peer of the connection. The other list is on maps of
 * this process, or on maps that were imported over PCI. Tasks of one connection complete in the
 * order in which they were submitted. A task that fails makes its context STOPPING: later tasks of
 * its connection complete with success or are flushed, and tasks of other connections complete
 * normally. The context becomes IDLE once all tasks are freed, which ends all connections.
 *
 * doca_ctx_start() returns DOCA_ERROR_IN_PROGRESS while the port of the device is coming up, for
 * example an InfiniBand port that the subnet manager has not activated. The context is then
 * STARTING, and becomes RUNNING when the port is active. doca_ctx_start() returns
 * DOCA_ERROR_INITIALIZATION if the port is down. It never returns DOCA_ERROR_NOT_SUPPORTED.
 *
 * This header covers a part of DOCA RDMA: reliable connections that exchange connection details,
 * and reads and writes. DOCA does not have doca_rdma_cap_task_read_get_max_buf_list_len() and
 * doca_rdma_cap_task_write_get_max_buf_list_len().
 *
 * Thread safety of all functions: only one thread at a time may use a context, its connections,
 * its tasks and its progress engine. Capability functions may be called from any thread. On any
 * error the outputs keep their values. Semantics: DOCA 3.0, doca_rdma.h.
 */
#ifndef DOCA_RDMA_H_
#define DOCA_RDMA_H_

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
struct doca_rdma;
struct doca_rdma_connection;
struct doca_rdma_task_read;
struct doca_rdma_task_write;
struct doca_task;

/** Transport of a connection. */
enum doca_rdma_transport_type {
	DOCA_RDMA_TRANSPORT_TYPE_RC = 0, /**< Reliable connection: one queue pair per peer. */
	DOCA_RDMA_TRANSPORT_TYPE_DC = 1, /**< Dynamically connected; not supported. */
};

/**
 * Report the completion of a read. The program owns the task again and may free it, submit it
 * again or keep it. doca_task_get_status() returns one of:
 *
 * - DOCA_SUCCESS: the data was read
 * - DOCA_ERROR_NOT_PERMITTED: the peer or the local map does not permit the access, or no longer
 *   permits it
 * - DOCA_ERROR_CONNECTION_ABORTED: the peer does not answer
 * - DOCA_ERROR_NOT_CONNECTED: the connection was never connected
 * - DOCA_ERROR_SHUTDOWN: an earlier task of the connection failed
 * - DOCA_ERROR_INVALID_VALUE: the lists do not fit together
 * - DOCA_ERROR_NOT_SUPPORTED: the source is not on a map of a peer, or the destination is
 * - DOCA_ERROR_IO_FAILED: there is too much data, or a list is too long, for one task; or another
 *   error occurred
 *
 * @param task the task
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_rdma_task_read_completion_cb_t)(struct doca_rdma_task_read *task,
						    union doca_data task_user_data,
						    union doca_data ctx_user_data);

/**
 * Report the completion of a write, like doca_rdma_task_read_completion_cb_t with source and
 * destination exchanged.
 *
 * @param task the task; doca_task_get_status() returns its result
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_rdma_task_write_completion_cb_t)(struct doca_rdma_task_write *task,
						     union doca_data task_user_data,
						     union doca_data ctx_user_data);

/**
 * Check whether the device can read memory of peers.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS: the device supports it
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no port
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_cap_task_read_is_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether the device can write memory of peers.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS: the device supports it
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no port
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_cap_task_write_is_supported(const struct doca_devinfo *devinfo);

/**
 * Get the maximum length of the source or destination list of a read.
 *
 * @param devinfo the device, open or not
 * @param max_buf_list_len out: number of bufs, including the head
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_task_read_get_max_buf_list_len(
	const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);

/**
 * Get the maximum length of the source or destination list of a write.
 *
 * @param devinfo the device, open or not
 * @param max_buf_list_len out: number of bufs, including the head
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_task_write_get_max_buf_list_len(
	const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);

/**
 * Get the maximum number of bytes that one task can read or write.
 *
 * @param devinfo the device, open or not
 * @param max_message_size out: number of bytes, the sum over all elements of the source list; 0 if
 *         the device has no port
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_cap_get_max_message_size(const struct doca_devinfo *devinfo, uint32_t *max_message_size);

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
 * Destroy an RDMA object and disconnect its context from its progress engine. Its own callbacks
 * may call this function.
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
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL, or a flag is not allowed
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
 * - DOCA_ERROR_INVALID_VALUE: the object is NULL, or the number is 0
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
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
 * Create a connection and return the details that the peer needs. The details contain no secret.
 *
 * @param rdma an object whose context is RUNNING
 * @param local_rdma_conn_details out: at most 512 bytes, owned by the connection
 * @param local_rdma_conn_details_size out: number of bytes
 * @param rdma_connection out: the connection. The context owns it and its details; they are valid
 *         until the context is IDLE
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_FULL: the context has its maximum number of connections
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 * - DOCA_ERROR_NOT_CONNECTED: the port is not active, or has no address
 * - DOCA_ERROR_OPERATING_SYSTEM: the system returns no random numbers
 * - DOCA_ERROR_DRIVER: the device fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_export(struct doca_rdma *rdma,
						const void **local_rdma_conn_details,
						size_t *local_rdma_conn_details_size,
						struct doca_rdma_connection **rdma_connection);

/**
 * Connect to the peer. The peer may connect later, as long as no task needs it: a task without an
 * answer fails after some seconds.
 *
 * @param rdma an object whose context is RUNNING
 * @param remote_rdma_conn_details the details that doca_rdma_export() returned to the peer; owned
 *         by the caller
 * @param remote_rdma_conn_details_size number of bytes
 * @param rdma_connection a connection of doca_rdma_export(); after an error it may be connected
 *         again
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL; the connection belongs to another object; the
 *   details are damaged or not from this library; or the peer is on another kind of network
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING, or the connection is already connected
 * - DOCA_ERROR_DRIVER: the device fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_connect(struct doca_rdma *rdma,
						 const void *remote_rdma_conn_details,
						 size_t remote_rdma_conn_details_size,
						 struct doca_rdma_connection *rdma_connection);

/**
 * Configure reads. This is required before the context is started if the program needs reads.
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
 * Allocate a read. It can be submitted many times, each time with other bufs.
 *
 * @param rdma an object whose context is RUNNING
 * @param rdma_connection the connection to the peer whose memory is read from
 * @param src_buf list whose data is read, on maps imported from the peer; owned by the caller,
 *         must exist until the task has completed
 * @param dst_buf list to whose data the read data is appended; owned by the caller, must exist
 *         until the task has completed
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
 * @param task the read
 * @return the task, valid until doca_task_free(); NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_task *doca_rdma_task_read_as_task(struct doca_rdma_task_read *task);

/**
 * Set the source of a read.
 *
 * @param task a read that is not submitted, not NULL
 * @param src_buf list whose data is read, on maps imported from the peer; owned by the caller,
 *         must exist until the task has completed
 */
DOCA_EXPERIMENTAL void doca_rdma_task_read_set_src_buf(struct doca_rdma_task_read *task,
						       const struct doca_buf *src_buf);

/**
 * Get the source of a read.
 *
 * @param task the read, not NULL
 * @return the list
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_rdma_task_read_get_src_buf(const struct doca_rdma_task_read *task);

/**
 * Set the destination of a read.
 *
 * @param task a read that is not submitted, not NULL
 * @param dst_buf list to whose data the read data is appended; owned by the caller, must exist
 *         until the task has completed
 */
DOCA_EXPERIMENTAL void doca_rdma_task_read_set_dst_buf(struct doca_rdma_task_read *task,
						       struct doca_buf *dst_buf);

/**
 * Get the destination of a read.
 *
 * @param task the read, not NULL
 * @return the list
 */
DOCA_EXPERIMENTAL struct doca_buf *
doca_rdma_task_read_get_dst_buf(const struct doca_rdma_task_read *task);

/**
 * Configure writes. This is required before the context is started if the program needs writes.
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
 * Allocate a write. It can be submitted many times, each time with other bufs.
 *
 * @param rdma an object whose context is RUNNING
 * @param rdma_connection the connection to the peer whose memory is written to
 * @param src_buf list whose data is written; owned by the caller, must exist until the task has
 *         completed
 * @param dst_buf list to whose data the written data is appended, on maps imported from the peer;
 *         owned by the caller, must exist until the task has completed
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
 * @param task the write
 * @return the task, valid until doca_task_free(); NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_task *doca_rdma_task_write_as_task(struct doca_rdma_task_write *task);

/**
 * Set the source of a write.
 *
 * @param task a write that is not submitted, not NULL
 * @param src_buf list whose data is written; owned by the caller, must exist until the task has
 *         completed
 */
DOCA_EXPERIMENTAL void doca_rdma_task_write_set_src_buf(struct doca_rdma_task_write *task,
							const struct doca_buf *src_buf);

/**
 * Get the source of a write.
 *
 * @param task the write, not NULL
 * @return the list
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_rdma_task_write_get_src_buf(const struct doca_rdma_task_write *task);

/**
 * Set the destination of a write.
 *
 * @param task a write that is not submitted, not NULL
 * @param dst_buf list to whose data the written data is appended, on maps imported from the peer;
 *         owned by the caller, must exist until the task has completed
 */
DOCA_EXPERIMENTAL void doca_rdma_task_write_set_dst_buf(struct doca_rdma_task_write *task,
							struct doca_buf *dst_buf);

/**
 * Get the destination of a write.
 *
 * @param task the write, not NULL
 * @return the list
 */
DOCA_EXPERIMENTAL struct doca_buf *
doca_rdma_task_write_get_dst_buf(const struct doca_rdma_task_write *task);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_RDMA_H_ */
