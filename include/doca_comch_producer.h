/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Producers of a control channel (doca_comch.h). A producer sends data to consumers of the peer
 * (doca_comch_consumer.h). The device reads the data from bufs of this process and writes it into bufs
 * that the consumer posted.
 *
 * doca_ctx_start() returns DOCA_SUCCESS, and the context is RUNNING. A task is accepted even if the
 * consumer has not posted a buf; it completes after the consumer has. If the connection ends, the
 * context becomes STOPPING and IDLE, and its tasks are flushed. A stop of the context needs progress of
 * its own progress engine only.
 *
 * Thread safety of all functions: only one thread at a time may use a producer, its tasks and its
 * progress engine. Other threads may use the connection and its other consumers and producers at the
 * same time. Capability functions may be called from any thread. On any error the outputs keep their
 * values. Semantics: DOCA 3.0, doca_comch_producer.h.
 */
#ifndef DOCA_COMCH_PRODUCER_H_
#define DOCA_COMCH_PRODUCER_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_comch_connection;
struct doca_comch_gpu_producer;
struct doca_comch_producer;
struct doca_comch_producer_task_send;
struct doca_ctx;
struct doca_devinfo;
struct doca_task;

/** Handle for code of a DPA, which is not supported. */
typedef uint64_t doca_dpa_dev_comch_producer_t;

/**
 * Report the completion of a task. The program owns the task again and may free it, submit it again or
 * keep it. doca_task_get_status() returns one of:
 *
 * - DOCA_SUCCESS: the data is in the buf of the consumer
 * - DOCA_ERROR_INVALID_VALUE: the data is longer than the buf of the consumer
 * - DOCA_ERROR_NOT_PERMITTED: the map of the buf no longer permits the access
 * - DOCA_ERROR_NOT_CONNECTED: the consumer was stopped, or the connection ended
 * - DOCA_ERROR_SHUTDOWN: the context was stopped
 * - DOCA_ERROR_IO_FAILED: the device failed
 *
 * A failed task does not stop the context, and the tasks after it are sent.
 *
 * @param task the task
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_comch_producer_task_send_completion_cb_t)(
	struct doca_comch_producer_task_send *task, union doca_data task_user_data,
	union doca_data ctx_user_data);

/**
 * Check whether the device can have producers.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS: the device supports it
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot have producers
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_comch_producer_cap_is_supported(const struct doca_devinfo *devinfo);

/**
 * Get the maximum number of producers of a connection.
 *
 * @param devinfo the device, open or not
 * @param max_producers out: number of producers
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_comch_producer_cap_get_max_producers(
	const struct doca_devinfo *devinfo, uint32_t *max_producers);

/**
 * Get the maximum number of send tasks of a producer.
 *
 * @param devinfo the device, open or not
 * @param max_num_tasks out: number of tasks
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_comch_producer_cap_get_max_num_tasks(
	const struct doca_devinfo *devinfo, uint32_t *max_num_tasks);

/**
 * Get the maximum length of a message that a producer can send.
 *
 * @param devinfo the device, open or not
 * @param max_buf_size out: number of bytes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot have producers
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_comch_producer_cap_get_max_buf_size(
	const struct doca_devinfo *devinfo, uint32_t *max_buf_size);

/**
 * Get the maximum length of a list of bufs of a send task.
 *
 * @param devinfo the device, open or not
 * @param max_buf_list_len out: number of bufs, including the head
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot have producers
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_comch_producer_cap_get_max_buf_list_len(
	const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);

/**
 * Create a producer. Its id is new in the connection.
 *
 * @param comch_connection an established connection; the producer uses it until
 *         doca_comch_producer_destroy()
 * @param producer out: the producer, owned by the caller until doca_comch_producer_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the connection is not established
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot have producers
 * - DOCA_ERROR_NO_MEMORY: an allocation fails, or the connection has the maximum of producers
 */
DOCA_STABLE doca_error_t doca_comch_producer_create(struct doca_comch_connection *comch_connection,
						    struct doca_comch_producer **producer);

/**
 * Destroy a producer and disconnect its context from its progress engine.
 *
 * @param producer a producer whose context is IDLE; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_IN_USE: the context is not IDLE
 */
DOCA_STABLE doca_error_t doca_comch_producer_destroy(struct doca_comch_producer *producer);

/**
 * Get the context of a producer.
 *
 * @param producer the producer
 * @return the context, valid until doca_comch_producer_destroy(); NULL for NULL
 */
DOCA_STABLE struct doca_ctx *doca_comch_producer_as_ctx(struct doca_comch_producer *producer);

/**
 * Get the id of a producer. Ids are unique in a connection, and never 0 or 0xffff.
 *
 * @param producer the producer, in any state of its context
 * @param id out: the id
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_comch_producer_get_id(const struct doca_comch_producer *producer,
						    uint32_t *id);

/**
 * Configure send tasks. This is required before the context is started.
 *
 * @param producer a producer whose context is IDLE
 * @param task_completion_cb called for tasks that succeeded
 * @param task_error_cb called for tasks that failed; may be the same function
 * @param num_send_tasks number of tasks that can be allocated at once, from 1 to
 *         doca_comch_producer_cap_get_max_num_tasks()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number of tasks is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_STABLE doca_error_t doca_comch_producer_task_send_set_conf(
	struct doca_comch_producer *producer,
	doca_comch_producer_task_send_completion_cb_t task_completion_cb,
	doca_comch_producer_task_send_completion_cb_t task_error_cb, uint32_t num_send_tasks);

/**
 * Allocate a send task. It sends the data of the buf. The task can be submitted many times, and several
 * tasks may have the same buf.
 *
 * doca_task_submit() of the task also returns these errors; the task is not submitted then:
 *
 * - DOCA_ERROR_INVALID_VALUE: the peer has no such consumer, the buf is a list, or the data or the
 *   immediate data is too long
 * - DOCA_ERROR_BAD_STATE: the map of the buf is not started
 * - DOCA_ERROR_NOT_FOUND: the map of the buf does not have the device of the connection
 * - DOCA_ERROR_NOT_SUPPORTED: the map of the buf was imported over RDMA
 * - DOCA_ERROR_NOT_CONNECTED: the connection ended
 *
 * @param producer a producer whose context is RUNNING
 * @param buf the buf, on a map with DOCA_ACCESS_FLAG_PCI_READ_ONLY or DOCA_ACCESS_FLAG_PCI_READ_WRITE;
 *         owned by the caller, must exist until the task has completed; NULL to send immediate data only
 * @param imm_data immediate data; copied; NULL for none
 * @param imm_data_len number of bytes of immediate data; 0 for none
 * @param consumer_id id of a consumer of the peer
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the producer or the output is NULL, the immediate data is NULL but its
 *   length is not 0, or it is too long; or the peer has no such consumer
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks are allocated, or an allocation fails
 * - DOCA_ERROR_NOT_CONNECTED: the connection has ended
 * - DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_OPERATING_SYSTEM or DOCA_ERROR_DRIVER: no queue to the
 *   consumer can be created
 */
DOCA_STABLE doca_error_t doca_comch_producer_task_send_alloc_init(
	struct doca_comch_producer *producer, const struct doca_buf *buf, uint8_t *imm_data,
	uint32_t imm_data_len, uint32_t consumer_id, struct doca_comch_producer_task_send **task);

/**
 * Get the generic task for the functions of doca_pe.h.
 *
 * @param task the task
 * @return the same task; NULL for NULL
 */
DOCA_STABLE struct doca_task *
doca_comch_producer_task_send_as_task(struct doca_comch_producer_task_send *task);

/**
 * Set the buf of a task.
 *
 * @param task a task that is not submitted, not NULL
 * @param buf the buf; owned by the caller, must exist until the task has completed; NULL for none
 */
DOCA_STABLE void doca_comch_producer_task_send_set_buf(struct doca_comch_producer_task_send *task,
						       const struct doca_buf *buf);

/**
 * Get the buf of a task.
 *
 * @param task the task, not NULL; it may have been freed, as long as its context has not been started
 *         again
 * @return the buf, owned by the caller
 */
DOCA_STABLE const struct doca_buf *
doca_comch_producer_task_send_get_buf(const struct doca_comch_producer_task_send *task);

/**
 * Set the consumer of a task.
 *
 * @param task a task that is not submitted, not NULL
 * @param consumer_id id of a consumer of the peer
 */
DOCA_STABLE void
doca_comch_producer_task_send_set_consumer_id(struct doca_comch_producer_task_send *task,
					      uint32_t consumer_id);

/**
 * Get the consumer of a task.
 *
 * @param task the task, not NULL; it may have been freed, as long as its context has not been started
 *         again
 * @return its id
 */
DOCA_STABLE uint32_t
doca_comch_producer_task_send_get_consumer_id(const struct doca_comch_producer_task_send *task);

/**
 * Set the immediate data of a task. Data that is too long makes the task fail.
 *
 * @param task a task that is not submitted, not NULL
 * @param imm_data immediate data; copied; NULL for none
 * @param imm_data_len number of bytes; 0 for none
 */
DOCA_STABLE void
doca_comch_producer_task_send_set_imm_data(struct doca_comch_producer_task_send *task,
					   uint8_t *imm_data, uint32_t imm_data_len);

/**
 * Get the immediate data of a task.
 *
 * @param task the task, not NULL; it may have been freed, as long as its context has not been started
 *         again
 * @return the data, owned by the task; NULL if there is none
 */
DOCA_STABLE uint8_t *
doca_comch_producer_task_send_get_imm_data(const struct doca_comch_producer_task_send *task);

/**
 * Get the length of the immediate data of a task.
 *
 * @param task the task, not NULL; it may have been freed, as long as its context has not been started
 *         again
 * @return number of bytes; 0 if there is none
 */
DOCA_STABLE uint32_t
doca_comch_producer_task_send_get_imm_data_len(const struct doca_comch_producer_task_send *task);

/**
 * Get a GPU handle. The GPU data path is not supported. DOCA has this function since 3.2. Its
 * arguments are known by inference.
 *
 * @param producer the producer
 * @param gpu_producer not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_comch_producer_get_gpu_handle(
	struct doca_comch_producer *producer, struct doca_comch_gpu_producer **gpu_producer);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMCH_PRODUCER_H_ */
