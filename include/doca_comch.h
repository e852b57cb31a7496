/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Control channel: messages between a program on the DPU (server) and programs on the host (clients).
 *
 * A server belongs to a device of the DPU, a representor of a function of the host and a name. A
 * client belongs to that function of the host and connects to the server of its name. One server has
 * many connections, and a client has one. Messages arrive in order, each once and whole. A message
 * that was submitted leaves without further progress of its sender, and never gets lost because its
 * receiver is slow. Consumers (doca_comch_consumer.h) and producers (doca_comch_producer.h) of a
 * connection transfer data with the device.
 *
 * This control channel works between programs that use this library. It does not speak to the control
 * channel of the vendor's DOCA. doca_comch(3) describes how client and server find each other, who may
 * connect, and the limits.
 *
 * doca_ctx_start() of a server returns DOCA_SUCCESS, and the context is RUNNING. It returns
 * DOCA_ERROR_IN_USE if another server has the same device, representor and name, and
 * DOCA_ERROR_INITIALIZATION if no callback for messages is registered. doca_ctx_start() of a client
 * returns DOCA_ERROR_IN_PROGRESS, and the context is STARTING. Progress makes it RUNNING as soon as it
 * is connected, or STOPPING and IDLE if no server accepts it. A client leaves RUNNING by itself when
 * its connection ends: its tasks are flushed, and the context becomes IDLE.
 *
 * A server that stops disconnects its clients; messages that were submitted before still arrive. A
 * context stays STOPPING until all consumers and producers of its established connections are
 * destroyed; it does not wait for those of a connection that has ended. A task that fails does not stop
 * the context of a server.
 *
 * Thread safety of all functions: only one thread at a time may use a server or client, its tasks and
 * its progress engine. Other threads may use the consumers and producers of its connections at the same
 * time, each with a progress engine of its own. Capability functions may be called from any thread.
 * Callbacks may call all functions of this header, but must not call doca_pe_progress() of their own
 * progress engine. On any error the outputs keep their values. Semantics: DOCA 3.0, doca_comch.h.
 */
#ifndef DOCA_COMCH_H_
#define DOCA_COMCH_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_comch_client;
struct doca_comch_connection;
struct doca_comch_event_connection_status_changed;
struct doca_comch_event_consumer;
struct doca_comch_event_msg_recv;
struct doca_comch_server;
struct doca_comch_task_send;
struct doca_ctx;
struct doca_dev;
struct doca_dev_rep;
struct doca_devinfo;
struct doca_task;

/** Counters of a connection. */
enum doca_comch_counter {
	DOCA_COMCH_COUNTER_SENT_MESSAGES = 1, /**< Messages sent. */
	DOCA_COMCH_COUNTER_SENT_BYTES = 2,    /**< Bytes of messages sent. */
	DOCA_COMCH_COUNTER_RECV_MESSAGES = 3, /**< Messages received. */
	DOCA_COMCH_COUNTER_RECV_BYTES = 4,    /**< Bytes of messages received. */
};

/**
 * Report the completion of a send task. The program owns the task again and may free it, submit it
 * again or keep it. doca_task_get_status() returns one of:
 *
 * - DOCA_SUCCESS: the message was handed over
 * - DOCA_ERROR_NOT_CONNECTED: the connection had ended before the task was submitted
 * - DOCA_ERROR_CONNECTION_RESET: the connection ended before the message was handed over
 *
 * @param task the task
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_comch_task_send_completion_cb_t)(struct doca_comch_task_send *task,
						     union doca_data task_user_data,
						     union doca_data ctx_user_data);

/**
 * Report a message.
 *
 * @param event the event, valid during the call
 * @param recv_buffer the message; owned by the library, aligned to 8 bytes, valid and writable during
 *         the call
 * @param msg_len length of the message in bytes
 * @param comch_connection the connection that received it
 */
typedef void (*doca_comch_event_msg_recv_cb_t)(struct doca_comch_event_msg_recv *event,
					       uint8_t *recv_buffer, uint32_t msg_len,
					       struct doca_comch_connection *comch_connection);

/**
 * Report a change of a connection of a server.
 *
 * @param event the event, valid during the call
 * @param comch_connection the connection. It is valid from the call for a successful connect to the end
 *         of the call for its disconnect
 * @param change_successful 1 if the change took place; 0 if the client could not connect, and the
 *         connection does not exist
 */
typedef void (*doca_comch_event_connection_status_changed_cb_t)(
	struct doca_comch_event_connection_status_changed *event,
	struct doca_comch_connection *comch_connection, uint8_t change_successful);

/**
 * Report a consumer that the peer started, or the end of one.
 *
 * @param event the event, valid during the call
 * @param comch_connection the connection of the consumer
 * @param consumer_id its id; never 0 and never 0xffff
 */
typedef void (*doca_comch_event_consumer_cb_t)(struct doca_comch_event_consumer *event,
					       struct doca_comch_connection *comch_connection,
					       uint32_t consumer_id);

/**
 * Check whether the device can have servers.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS: the device supports it
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not belong to a DPU
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_comch_cap_server_is_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether the device can have clients.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS: the device supports it
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device is not a function of a host
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_comch_cap_client_is_supported(const struct doca_devinfo *devinfo);

/**
 * Get the maximum length of the name of a server.
 *
 * @param devinfo the device, open or not
 * @param max_name_len out: number of bytes, including the terminating NUL
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_comch_cap_get_max_name_len(const struct doca_devinfo *devinfo,
							 uint32_t *max_name_len);

/**
 * Get the maximum length of a message.
 *
 * @param devinfo the device, open or not
 * @param max_msg_size out: number of bytes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_comch_cap_get_max_msg_size(const struct doca_devinfo *devinfo,
							 uint32_t *max_msg_size);

/**
 * Get the maximum size of the receive queue of a server or client.
 *
 * @param devinfo the device, open or not
 * @param max_recv_queue_size out: number of messages
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_comch_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo,
								uint32_t *max_recv_queue_size);

/**
 * Get the maximum number of send tasks of a server or client.
 *
 * @param devinfo the device, open or not
 * @param max_send_tasks out: number of tasks
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_comch_cap_get_max_send_tasks(const struct doca_devinfo *devinfo,
							   uint32_t *max_send_tasks);

/**
 * Get the maximum number of clients that a server can have at once.
 *
 * @param devinfo the device, open or not
 * @param max_clients out: number of clients
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_comch_cap_get_max_clients(const struct doca_devinfo *devinfo,
							uint32_t *max_clients);

/**
 * Create a server.
 *
 * @param dev an open device of a DPU; in use until doca_comch_server_destroy()
 * @param repr an open representor of a network function of the host; in use until
 *         doca_comch_server_destroy()
 * @param name the name by which clients find the server; copied
 * @param comch_server out: the server, owned by the caller until doca_comch_server_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, the name is empty or too long, or the representor
 *   belongs to another device
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot have servers
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_comch_server_create(struct doca_dev *dev, struct doca_dev_rep *repr,
						  const char *name,
						  struct doca_comch_server **comch_server);

/**
 * Create a client.
 *
 * @param dev an open device of a host; in use until doca_comch_client_destroy()
 * @param name the name of the server; copied
 * @param comch_client out: the client, owned by the caller until doca_comch_client_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the name is empty or too long
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot have clients
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_comch_client_create(struct doca_dev *dev, const char *name,
						  struct doca_comch_client **comch_client);

/**
 * Destroy a server and disconnect its context from its progress engine.
 *
 * @param comch_server a server whose context is IDLE; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_IN_USE: the context is not IDLE
 */
DOCA_STABLE doca_error_t doca_comch_server_destroy(struct doca_comch_server *comch_server);

/**
 * Get the context of a server.
 *
 * @param comch_server the server
 * @return the context, valid until doca_comch_server_destroy(); NULL for NULL
 */
DOCA_STABLE struct doca_ctx *doca_comch_server_as_ctx(struct doca_comch_server *comch_server);

/**
 * Set the maximum length of a message that is sent or received. Each side sends messages up to the
 * smaller maximum of both sides. The default is the maximum of the device.
 *
 * @param comch_server a server whose context is IDLE
 * @param max_msg_size number of bytes, from 1 to doca_comch_cap_get_max_msg_size()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the server is NULL, or the number is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_STABLE doca_error_t doca_comch_server_set_max_msg_size(struct doca_comch_server *comch_server,
							    uint32_t max_msg_size);

/**
 * Get the value set by doca_comch_server_set_max_msg_size().
 *
 * @param comch_server the server, in any state of its context
 * @param max_msg_size out: number of bytes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_comch_server_get_max_msg_size(
	const struct doca_comch_server *comch_server, uint32_t *max_msg_size);

/**
 * Set the size of the receive queue: the number of messages of one connection that wait until the program
 * receives them. More messages wait at their sender. A queue always takes 128 messages, so that they leave
 * without progress of their sender. The default is the maximum of the device.
 *
 * @param comch_server a server whose context is IDLE
 * @param queue_size number of messages, from 1 to doca_comch_cap_get_max_recv_queue_size()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the server is NULL, or the number is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_STABLE doca_error_t
doca_comch_server_set_recv_queue_size(struct doca_comch_server *comch_server, uint32_t queue_size);

/**
 * Get the value set by doca_comch_server_set_recv_queue_size().
 *
 * @param comch_server the server, in any state of its context
 * @param queue_size out: number of messages
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_comch_server_get_recv_queue_size(
	const struct doca_comch_server *comch_server, uint32_t *queue_size);

/**
 * Get the device of a server.
 *
 * @param comch_server the server, in any state of its context
 * @param dev out: the device, owned by its opener
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_comch_server_get_device(const struct doca_comch_server *comch_server,
						      struct doca_dev **dev);

/**
 * Get the representor of a server.
 *
 * @param comch_server the server, in any state of its context
 * @param rep out: the representor, owned by its opener
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_comch_server_get_device_rep(
	const struct doca_comch_server *comch_server, struct doca_dev_rep **rep);

/**
 * Configure send tasks. Without this call no task can be allocated.
 *
 * @param comch_server a server whose context is IDLE
 * @param task_completion_cb called for tasks that succeeded
 * @param task_error_cb called for tasks that failed; may be the same function
 * @param num_send_tasks number of tasks that can be allocated at once, from 1 to
 *         doca_comch_cap_get_max_send_tasks()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number of tasks is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_STABLE doca_error_t doca_comch_server_task_send_set_conf(
	struct doca_comch_server *comch_server,
	doca_comch_task_send_completion_cb_t task_completion_cb,
	doca_comch_task_send_completion_cb_t task_error_cb, uint32_t num_send_tasks);

/**
 * Allocate a send task.
 *
 * @param comch_server a server whose context is RUNNING
 * @param peer a connection of this server
 * @param msg the message; read until doca_task_submit() returns, owned by the caller
 * @param len length of the message in bytes, from 1 to the value of
 *         doca_comch_server_get_max_msg_size() and to that of the peer
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, the connection is not one of this server, or
 *   the length is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NOT_CONNECTED: the connection has ended
 * - DOCA_ERROR_NO_MEMORY: all tasks are allocated
 */
DOCA_STABLE doca_error_t doca_comch_server_task_send_alloc_init(
	struct doca_comch_server *comch_server, struct doca_comch_connection *peer, const void *msg,
	uint32_t len, struct doca_comch_task_send **task);

/**
 * Register the callback for messages. This is required before the context is started.
 *
 * @param comch_server a server whose context is IDLE
 * @param recv_event_cb called for each message
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_STABLE doca_error_t doca_comch_server_event_msg_recv_register(
	struct doca_comch_server *comch_server, doca_comch_event_msg_recv_cb_t recv_event_cb);

/**
 * Register the callbacks for consumers of the peer.
 *
 * @param comch_server a server whose context is IDLE
 * @param new_consumer_event_cb called for each consumer that the peer starts
 * @param expired_consumer_event_cb called when such a consumer was stopped, or its process ended
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_STABLE doca_error_t
doca_comch_server_event_consumer_register(struct doca_comch_server *comch_server,
					  doca_comch_event_consumer_cb_t new_consumer_event_cb,
					  doca_comch_event_consumer_cb_t expired_consumer_event_cb);

/**
 * Register the callbacks for connections. The connect callback of a connection comes before its first
 * message.
 *
 * @param comch_server a server whose context is IDLE
 * @param connect_event_cb called when a client has connected
 * @param disconnect_event_cb called when a connection has ended, but not for a connection that
 *         doca_comch_server_disconnect() ended
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_STABLE doca_error_t doca_comch_server_event_connection_status_changed_register(
	struct doca_comch_server *comch_server,
	doca_comch_event_connection_status_changed_cb_t connect_event_cb,
	doca_comch_event_connection_status_changed_cb_t disconnect_event_cb);

/**
 * Disconnect a client. No disconnect callback follows.
 *
 * @param comch_server a server whose context is RUNNING
 * @param connection a connection of this server; invalid after success, or at the end of the callback
 *         that calls this function
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the connection is not one of this server
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_IN_USE: the connection has consumers or producers
 * - DOCA_ERROR_AGAIN: the client does not read what was sent before; call again later
 */
DOCA_STABLE doca_error_t doca_comch_server_disconnect(struct doca_comch_server *comch_server,
						      struct doca_comch_connection *connection);

/**
 * Get the server of a connection.
 *
 * @param connection the connection
 * @return the server, owned by its creator; NULL if the connection is NULL or not that of a server
 */
DOCA_STABLE struct doca_comch_server *
doca_comch_server_get_server_ctx(const struct doca_comch_connection *connection);

/**
 * Destroy a client and disconnect its context from its progress engine.
 *
 * @param comch_client a client whose context is IDLE; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_IN_USE: the context is not IDLE
 */
DOCA_STABLE doca_error_t doca_comch_client_destroy(struct doca_comch_client *comch_client);

/**
 * Get the context of a client.
 *
 * @param comch_client the client
 * @return the context, valid until doca_comch_client_destroy(); NULL for NULL
 */
DOCA_STABLE struct doca_ctx *doca_comch_client_as_ctx(struct doca_comch_client *comch_client);

/**
 * Set the maximum length of a message that is sent or received. Each side sends messages up to the
 * smaller maximum of both sides. The default is the maximum of the device.
 *
 * @param comch_client a client whose context is IDLE
 * @param max_msg_size number of bytes, from 1 to doca_comch_cap_get_max_msg_size()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the client is NULL, or the number is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_STABLE doca_error_t doca_comch_client_set_max_msg_size(struct doca_comch_client *comch_client,
							    uint32_t max_msg_size);

/**
 * Get the value set by doca_comch_client_set_max_msg_size().
 *
 * @param comch_client the client, in any state of its context
 * @param max_msg_size out: number of bytes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_comch_client_get_max_msg_size(
	const struct doca_comch_client *comch_client, uint32_t *max_msg_size);

/**
 * Set the size of the receive queue: the number of messages of one connection that wait until the program
 * receives them. More messages wait at their sender. A queue always takes 128 messages, so that they leave
 * without progress of their sender. The default is the maximum of the device.
 *
 * @param comch_client a client whose context is IDLE
 * @param queue_size number of messages, from 1 to doca_comch_cap_get_max_recv_queue_size()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the client is NULL, or the number is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_STABLE doca_error_t
doca_comch_client_set_recv_queue_size(struct doca_comch_client *comch_client, uint32_t queue_size);

/**
 * Get the value set by doca_comch_client_set_recv_queue_size().
 *
 * @param comch_client the client, in any state of its context
 * @param queue_size out: number of messages
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_comch_client_get_recv_queue_size(
	const struct doca_comch_client *comch_client, uint32_t *queue_size);

/**
 * Get the device of a client.
 *
 * @param comch_client the client, in any state of its context
 * @param dev out: the device, owned by its opener
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_comch_client_get_device(const struct doca_comch_client *comch_client,
						      struct doca_dev **dev);

/**
 * Configure send tasks. Without this call no task can be allocated.
 *
 * @param comch_client a client whose context is IDLE
 * @param task_completion_cb called for tasks that succeeded
 * @param task_error_cb called for tasks that failed; may be the same function
 * @param num_send_tasks number of tasks that can be allocated at once, from 1 to
 *         doca_comch_cap_get_max_send_tasks()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number of tasks is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_STABLE doca_error_t doca_comch_client_task_send_set_conf(
	struct doca_comch_client *comch_client,
	doca_comch_task_send_completion_cb_t task_completion_cb,
	doca_comch_task_send_completion_cb_t task_error_cb, uint32_t num_send_tasks);

/**
 * Allocate a send task.
 *
 * @param comch_client a client whose context is RUNNING
 * @param peer a connection of this client
 * @param msg the message; read until doca_task_submit() returns, owned by the caller
 * @param len length of the message in bytes, from 1 to the value of
 *         doca_comch_client_get_max_msg_size() and to that of the peer
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, the connection is not one of this client, or
 *   the length is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NOT_CONNECTED: the connection has ended
 * - DOCA_ERROR_NO_MEMORY: all tasks are allocated
 */
DOCA_STABLE doca_error_t doca_comch_client_task_send_alloc_init(
	struct doca_comch_client *comch_client, struct doca_comch_connection *peer, const void *msg,
	uint32_t len, struct doca_comch_task_send **task);

/**
 * Register the callback for messages. This is required before the context is started.
 *
 * @param comch_client a client whose context is IDLE
 * @param recv_event_cb called for each message
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_STABLE doca_error_t doca_comch_client_event_msg_recv_register(
	struct doca_comch_client *comch_client, doca_comch_event_msg_recv_cb_t recv_event_cb);

/**
 * Register the callbacks for consumers of the peer.
 *
 * @param comch_client a client whose context is IDLE
 * @param new_consumer_event_cb called for each consumer that the peer starts
 * @param expired_consumer_event_cb called when such a consumer was stopped, or its process ended
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_STABLE doca_error_t
doca_comch_client_event_consumer_register(struct doca_comch_client *comch_client,
					  doca_comch_event_consumer_cb_t new_consumer_event_cb,
					  doca_comch_event_consumer_cb_t expired_consumer_event_cb);

/**
 * Get the connection of a client.
 *
 * @param comch_client a client whose context is RUNNING
 * @param connection out: the connection, owned by the client, valid until its context is IDLE
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 */
DOCA_STABLE doca_error_t doca_comch_client_get_connection(
	const struct doca_comch_client *comch_client, struct doca_comch_connection **connection);

/**
 * Get the client of a connection.
 *
 * @param connection the connection
 * @return the client, owned by its creator; NULL if the connection is NULL or not that of a client
 */
DOCA_STABLE struct doca_comch_client *
doca_comch_client_get_client_ctx(const struct doca_comch_connection *connection);

/**
 * Get the generic task for the functions of doca_pe.h.
 *
 * @param task the task
 * @return the same task; NULL for NULL
 */
DOCA_STABLE struct doca_task *doca_comch_task_send_as_task(struct doca_comch_task_send *task);

/**
 * Set the user data of a connection. The peer's side of the connection has user data of its own.
 *
 * @param connection the connection
 * @param user_data user data
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_STABLE doca_error_t doca_comch_connection_set_user_data(
	struct doca_comch_connection *connection, union doca_data user_data);

/**
 * Get the user data of a connection.
 *
 * @param connection the connection
 * @return the user data; 0 if none was set, or for NULL
 */
DOCA_STABLE union doca_data
doca_comch_connection_get_user_data(const struct doca_comch_connection *connection);

/**
 * Update the counters of a connection.
 *
 * @param connection the connection
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_CONNECTION_INPROGRESS: the connection is not established yet
 * - DOCA_ERROR_CONNECTION_ABORTED: the connection has ended
 */
DOCA_STABLE doca_error_t
doca_comch_connection_update_info(struct doca_comch_connection *connection);

/**
 * Get a counter of a connection, as it was at the last doca_comch_connection_update_info().
 *
 * @param connection the connection
 * @param counter_type the counter
 * @param counter_value out: number of messages or bytes; 0 before the first update
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or there is no such counter
 */
DOCA_STABLE doca_error_t
doca_comch_connection_get_counter(const struct doca_comch_connection *connection,
				  enum doca_comch_counter counter_type, uint64_t *counter_value);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMCH_H_ */
