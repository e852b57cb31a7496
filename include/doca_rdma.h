/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * RDMA: a context (doca_ctx.h) with connections to peers, whose tasks read and write the memory
 * that a peer exported with doca_mmap_export_rdma().
 *
 * Each side starts its context, exports the details of a new connection, carries them to the other
 * side by any channel, and connects with the details that it got from there. From then on either
 * side can read and write what the other one permits: with doca_rdma_set_permissions() for the
 * whole connection, with the permissions of each map for its bytes. A side that only offers memory
 * needs no tasks and makes no progress.
 *
 * A task reads the data of its source and writes behind the data of its destination, either of
 * which may be a list of bufs. Of a read the source, of a write the destination is on maps that
 * were imported over RDMA from the side that the connection goes to; all else is on maps of this
 * process, or imported over PCI. Tasks of one connection end in the order in which they were
 * submitted. A task that fails makes its context STOPPING: tasks behind it on its connection end
 * with success or are flushed, those of other connections end as they would have, and the context
 * becomes IDLE when all tasks are freed. All connections are gone then.
 *
 * doca_ctx_start() is DOCA_ERROR_IN_PROGRESS while the device's port is on its way up (an
 * InfiniBand port whose subnet manager has not made it active): the context is STARTING then and
 * RUNNING as soon as the port is active. DOCA_ERROR_NOT_SUPPORTED never comes from it, and
 * DOCA_ERROR_INITIALIZATION does for a port that is down.
 *
 * This is a first part of DOCA RDMA: reliable connections by exchanged details, read and write.
 * What is known of it is that such functions exist for each of these steps. doca_rdma_export() is a
 * name that we were told; those of all other functions, the arguments of all, and the values of the
 * enumerators are ours, by inference from the rest of DOCA.
 *
 * Thread safety of all functions: a context, its connections, its tasks and its progress engine may
 * be used by one thread at a time; capabilities can be asked from any thread. On any error the
 * outputs keep their values. Semantics: as those of doca_dma.h, by inference.
 */
#ifndef DOCA_RDMA_H_
#define DOCA_RDMA_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_rdma;
struct doca_rdma_connection;
struct doca_rdma_task_read;
struct doca_rdma_task_write;
struct doca_task;

/** What carries the bytes. */
enum doca_rdma_transport_type {
	DOCA_RDMA_TRANSPORT_TYPE_RC = 0, /**< Reliable connection: one queue pair for each peer. */
	DOCA_RDMA_TRANSPORT_TYPE_DC = 1, /**< Dynamically connected; not supported. */
};

/**
 * Called when a read ended; the task is the user's again: to free, to submit anew or to keep.
 *
 * @param task the task; doca_task_get_status() tells how it ended: DOCA_SUCCESS,
 * DOCA_ERROR_NOT_PERMITTED when the peer does not permit it, or no longer, or the map here does
 * not, DOCA_ERROR_CONNECTION_ABORTED when the peer does not answer, DOCA_ERROR_NOT_CONNECTED when
 * the connection was never connected, DOCA_ERROR_SHUTDOWN when an earlier task of the connection
 * failed, DOCA_ERROR_INVALID_VALUE for lists that do not fit together, DOCA_ERROR_NOT_SUPPORTED for
 * a source that is not on a map of a peer, or a destination that is, DOCA_ERROR_IO_FAILED for more
 * bytes or longer lists than one task can have, and in all other cases
 * @param task_user_data the task's word at the moment
 * @param ctx_user_data the context's word at the moment
 */
typedef void (*doca_rdma_task_read_completion_cb_t)(struct doca_rdma_task_read *task,
						    union doca_data task_user_data,
						    union doca_data ctx_user_data);

/**
 * Called when a write ended, as doca_rdma_task_read_completion_cb_t with source and destination
 * exchanged.
 *
 * @param task the task; doca_task_get_status() tells how it ended
 * @param task_user_data the task's word at the moment
 * @param ctx_user_data the context's word at the moment
 */
typedef void (*doca_rdma_task_write_completion_cb_t)(struct doca_rdma_task_write *task,
						     union doca_data task_user_data,
						     union doca_data ctx_user_data);

/**
 * Can the device read the memory of peers?
 *
 * @param devinfo the device, open or not
 * @return DOCA_SUCCESS if it can, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_NOT_SUPPORTED when it has no port,
 *         DOCA_ERROR_DRIVER when it does not answer
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_cap_task_read_is_supported(const struct doca_devinfo *devinfo);

/**
 * Can the device write to the memory of peers?
 *
 * @param devinfo the device, open or not
 * @return DOCA_SUCCESS if it can, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_NOT_SUPPORTED when it has no port,
 *         DOCA_ERROR_DRIVER when it does not answer
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_cap_task_write_is_supported(const struct doca_devinfo *devinfo);

/**
 * The longest list that the source or the destination of a read can be.
 *
 * @param devinfo the device, open or not
 * @param max_buf_list_len out: the number of bufs, the head included
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_task_read_get_max_buf_list_len(
	const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);

/**
 * The longest list that the source or the destination of a write can be.
 *
 * @param devinfo the device, open or not
 * @param max_buf_list_len out: the number of bufs, the head included
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_task_write_get_max_buf_list_len(
	const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);

/**
 * The most that one task can read or write.
 *
 * @param devinfo the device, open or not
 * @param max_message_size out: bytes, of all elements of a source list together; 0 without a port
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_DRIVER when the device does not answer
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_cap_get_max_message_size(const struct doca_devinfo *devinfo, uint32_t *max_message_size);

/**
 * Create an RDMA context.
 *
 * @param dev an open device; in use until doca_rdma_destroy()
 * @param rdma out: the context, owned by the caller until doca_rdma_destroy()
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_NO_MEMORY when an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_create(struct doca_dev *dev, struct doca_rdma **rdma);

/**
 * Destroy an RDMA context and disconnect it from its progress engine.
 *
 * @param rdma a context that is IDLE; gone after success. Allowed in its own callbacks
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_IN_USE when it is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_destroy(struct doca_rdma *rdma);

/**
 * The context of an RDMA object.
 *
 * @param rdma the object
 * @return its context, valid until doca_rdma_destroy(); NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_ctx *doca_rdma_as_ctx(struct doca_rdma *rdma);

/**
 * Permit peers to access memory of this side. What a connection permits, a map must permit as
 * well.
 *
 * @param rdma an object whose context is IDLE
 * @param permissions a mask of DOCA_ACCESS_FLAG_RDMA_READ, _WRITE, _ATOMIC and
 * DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, which permits peers nothing. As long as it was not called it
 * is the latter alone
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL or other flags,
 *         DOCA_ERROR_BAD_STATE when the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_permissions(struct doca_rdma *rdma,
							 uint32_t permissions);

/**
 * The permissions of peers.
 *
 * @param rdma the object, in any state of its context
 * @param permissions out: a mask of enum doca_access_flag
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_permissions(const struct doca_rdma *rdma,
							 uint32_t *permissions);

/**
 * Choose the address (GID) that connections come from. As long as it was not called it is an
 * address of RoCE v2 if the port has one: an IPv4 address rather than others.
 *
 * @param rdma an object whose context is IDLE
 * @param gid_index its place in the port's table
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL or a place without an address,
 *         DOCA_ERROR_BAD_STATE when the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_gid_index(struct doca_rdma *rdma, uint32_t gid_index);

/**
 * The place that doca_rdma_set_gid_index() was given.
 *
 * @param rdma the object, in any state of its context
 * @param gid_index out: the place; 0 before
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_gid_index(const struct doca_rdma *rdma,
						       uint32_t *gid_index);

/**
 * Choose the transport. There is but the reliable connection.
 *
 * @param rdma an object whose context is IDLE
 * @param transport_type the transport
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL or a transport that does not exist,
 *         DOCA_ERROR_BAD_STATE when the context is not IDLE,
 *         DOCA_ERROR_NOT_SUPPORTED for DOCA_RDMA_TRANSPORT_TYPE_DC
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_set_transport_type(struct doca_rdma *rdma, enum doca_rdma_transport_type transport_type);

/**
 * The transport.
 *
 * @param rdma the object, in any state of its context
 * @param transport_type out: DOCA_RDMA_TRANSPORT_TYPE_RC
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_transport_type(
	const struct doca_rdma *rdma, enum doca_rdma_transport_type *transport_type);

/**
 * Choose how many connections the context can have. As long as it was not called it is 1.
 *
 * @param rdma an object whose context is IDLE
 * @param max_num_connections the number, not 0
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL or 0,
 *         DOCA_ERROR_BAD_STATE when the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_max_num_connections(struct doca_rdma *rdma,
								 uint16_t max_num_connections);

/**
 * How many connections the context can have.
 *
 * @param rdma the object, in any state of its context
 * @param max_num_connections out: the number
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_max_num_connections(const struct doca_rdma *rdma,
								 uint16_t *max_num_connections);

/**
 * Make a connection and tell what its other side has to know of it. There is no secret in it.
 *
 * @param rdma an object whose context is RUNNING
 * @param local_rdma_conn_details out: at most 512 bytes, owned by the connection
 * @param local_rdma_conn_details_size out: bytes
 * @param rdma_connection out: the connection, which is the context's and, as its details, valid
 * until that is IDLE
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_BAD_STATE when the context is not RUNNING,
 *         DOCA_ERROR_FULL when it has as many connections as it can,
 *         DOCA_ERROR_NO_MEMORY when an allocation fails,
 *         DOCA_ERROR_NOT_CONNECTED when the port is not active or has no address,
 *         DOCA_ERROR_OPERATING_SYSTEM when the system has no random numbers,
 *         DOCA_ERROR_DRIVER when the device fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_export(struct doca_rdma *rdma,
						const void **local_rdma_conn_details,
						size_t *local_rdma_conn_details_size,
						struct doca_rdma_connection **rdma_connection);

/**
 * Connect to the other side. It may connect later than this side, as long as no task waits for it:
 * a task that finds no answer fails after some seconds at most.
 *
 * @param rdma an object whose context is RUNNING
 * @param remote_rdma_conn_details what doca_rdma_export() told there; the caller's
 * @param remote_rdma_conn_details_size bytes
 * @param rdma_connection what doca_rdma_export() made here; after an error it may be connected
 * again
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument, a connection of another
 *         object, details that are damaged or not of this library, or another kind of network,
 *         DOCA_ERROR_BAD_STATE when the context is not RUNNING or the connection is connected,
 *         DOCA_ERROR_DRIVER when the device fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_connect(struct doca_rdma *rdma,
						 const void *remote_rdma_conn_details,
						 size_t remote_rdma_conn_details_size,
						 struct doca_rdma_connection *rdma_connection);

/**
 * Prepare for reads; must be done before the context is started if there are to be any.
 *
 * @param rdma an object whose context is IDLE
 * @param successful_task_completion_cb called for tasks that did what they were for
 * @param error_task_completion_cb called for tasks that did not; may be the same function
 * @param num_tasks how many can be allocated at once, from 1 to what the device can queue
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument or a number out of that range,
 *         DOCA_ERROR_BAD_STATE when the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_read_set_conf(
	struct doca_rdma *rdma, doca_rdma_task_read_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_read_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Allocate a read. It can be submitted again and again, with other bufs each time.
 *
 * @param rdma an object whose context is RUNNING
 * @param rdma_connection the connection to the side whose memory is read
 * @param src_buf the list whose data is read, on maps of that side; the caller's, kept until the
 * task ended
 * @param dst_buf the list behind whose data is written; the caller's, kept until the task ended
 * @param user_data the task's word
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL object, connection or output, or a
 *         connection of another object,
 *         DOCA_ERROR_BAD_STATE when the context is not RUNNING,
 *         DOCA_ERROR_NO_MEMORY when all tasks are allocated, or none were configured
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_read_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
	const struct doca_buf *src_buf, struct doca_buf *dst_buf, union doca_data user_data,
	struct doca_rdma_task_read **task);

/**
 * The task of a read.
 *
 * @param task the read
 * @return its task, valid until doca_task_free(); NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_task *doca_rdma_task_read_as_task(struct doca_rdma_task_read *task);

/**
 * Change what is read.
 *
 * @param task a read that is not submitted, not NULL
 * @param src_buf the list whose data is read; the caller's, kept until the task ended
 */
DOCA_EXPERIMENTAL void doca_rdma_task_read_set_src_buf(struct doca_rdma_task_read *task,
						       const struct doca_buf *src_buf);

/**
 * What is read.
 *
 * @param task the read, not NULL
 * @return the list
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_rdma_task_read_get_src_buf(const struct doca_rdma_task_read *task);

/**
 * Change where a read goes.
 *
 * @param task a read that is not submitted, not NULL
 * @param dst_buf the list behind whose data is written; the caller's, kept until the task ended
 */
DOCA_EXPERIMENTAL void doca_rdma_task_read_set_dst_buf(struct doca_rdma_task_read *task,
						       struct doca_buf *dst_buf);

/**
 * Where a read goes.
 *
 * @param task the read, not NULL
 * @return the list
 */
DOCA_EXPERIMENTAL struct doca_buf *
doca_rdma_task_read_get_dst_buf(const struct doca_rdma_task_read *task);

/**
 * Prepare for writes; must be done before the context is started if there are to be any.
 *
 * @param rdma an object whose context is IDLE
 * @param successful_task_completion_cb called for tasks that did what they were for
 * @param error_task_completion_cb called for tasks that did not; may be the same function
 * @param num_tasks how many can be allocated at once, from 1 to what the device can queue
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument or a number out of that range,
 *         DOCA_ERROR_BAD_STATE when the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_write_set_conf(
	struct doca_rdma *rdma, doca_rdma_task_write_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_write_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Allocate a write. It can be submitted again and again, with other bufs each time.
 *
 * @param rdma an object whose context is RUNNING
 * @param rdma_connection the connection to the side whose memory is written
 * @param src_buf the list whose data is written; the caller's, kept until the task ended
 * @param dst_buf the list behind whose data it goes, on maps of that side; the caller's, kept until
 * the task ended
 * @param user_data the task's word
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL object, connection or output, or a
 *         connection of another object,
 *         DOCA_ERROR_BAD_STATE when the context is not RUNNING,
 *         DOCA_ERROR_NO_MEMORY when all tasks are allocated, or none were configured
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_write_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
	const struct doca_buf *src_buf, struct doca_buf *dst_buf, union doca_data user_data,
	struct doca_rdma_task_write **task);

/**
 * The task of a write.
 *
 * @param task the write
 * @return its task, valid until doca_task_free(); NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_task *doca_rdma_task_write_as_task(struct doca_rdma_task_write *task);

/**
 * Change what is written.
 *
 * @param task a write that is not submitted, not NULL
 * @param src_buf the list whose data is written; the caller's, kept until the task ended
 */
DOCA_EXPERIMENTAL void doca_rdma_task_write_set_src_buf(struct doca_rdma_task_write *task,
							const struct doca_buf *src_buf);

/**
 * What is written.
 *
 * @param task the write, not NULL
 * @return the list
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_rdma_task_write_get_src_buf(const struct doca_rdma_task_write *task);

/**
 * Change where a write goes.
 *
 * @param task a write that is not submitted, not NULL
 * @param dst_buf the list behind whose data it goes; the caller's, kept until the task ended
 */
DOCA_EXPERIMENTAL void doca_rdma_task_write_set_dst_buf(struct doca_rdma_task_write *task,
							struct doca_buf *dst_buf);

/**
 * Where a write goes.
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
