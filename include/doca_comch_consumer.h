/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Consumers of a control channel (doca_comch.h). A consumer receives data that producers of the peer
 * (doca_comch_producer.h) send to it, into bufs that the program posts. The device writes the data.
 *
 * doca_ctx_start() returns DOCA_ERROR_IN_PROGRESS, and the context is STARTING. It becomes RUNNING when
 * the peer knows the consumer; this needs progress of the consumer's progress engine and of those of the
 * connection, on both sides. If the connection ends, the context becomes STOPPING and IDLE, and its
 * tasks are flushed. Messages take the posted bufs in the order in which they were posted.
 *
 * Tasks that are posted when the context is stopped complete with an error. A program may free posted
 * tasks before it stops the context; no callback is called for these.
 *
 * Thread safety of all functions: only one thread at a time may use a consumer, its tasks and its
 * progress engine. Other threads may use the connection and its other consumers and producers at the
 * same time. Capability functions may be called from any thread. On any error the outputs keep their
 * values. Semantics: DOCA 3.0, doca_comch_consumer.h.
 */
#ifndef DOCA_COMCH_CONSUMER_H_
#define DOCA_COMCH_CONSUMER_H_

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
struct doca_comch_consumer;
struct doca_comch_consumer_task_post_recv;
struct doca_comch_gpu_consumer;
struct doca_ctx;
struct doca_devinfo;
struct doca_mmap;
struct doca_task;

/** Handles for code of a DPA, which is not supported. */
typedef uint64_t doca_dpa_dev_comch_consumer_completion_t;
typedef uint64_t doca_dpa_dev_comch_consumer_t;

/**
 * Report the completion of a task. The program owns the task again and may free it, submit it again or
 * keep it. doca_task_get_status() returns one of:
 *
 * - DOCA_SUCCESS: a message was received
 * - DOCA_ERROR_SHUTDOWN: the context was stopped, or its connection ended
 * - DOCA_ERROR_NOT_PERMITTED: the map no longer permits the access
 * - DOCA_ERROR_IO_FAILED: the device failed, or the message is invalid
 *
 * A failed task does not stop the context.
 *
 * @param task the task
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_comch_consumer_task_post_recv_completion_cb_t)(
	struct doca_comch_consumer_task_post_recv *task, union doca_data task_user_data,
	union doca_data ctx_user_data);

/**
 * Check whether the device can have consumers.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS: the device supports it
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot have consumers
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_comch_consumer_cap_is_supported(const struct doca_devinfo *devinfo);

/**
 * Get the maximum number of consumers of a connection.
 *
 * @param devinfo the device, open or not
 * @param max_consumers out: number of consumers
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_comch_consumer_cap_get_max_consumers(
	const struct doca_devinfo *devinfo, uint32_t *max_consumers);

/**
 * Get the maximum number of receive tasks of a consumer.
 *
 * @param devinfo the device, open or not
 * @param max_num_tasks out: number of tasks
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_comch_consumer_cap_get_max_num_tasks(
	const struct doca_devinfo *devinfo, uint32_t *max_num_tasks);

/**
 * Get the maximum length of a message that a consumer can receive.
 *
 * @param devinfo the device, open or not
 * @param max_buf_size out: number of bytes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot have consumers
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_comch_consumer_cap_get_max_buf_size(
	const struct doca_devinfo *devinfo, uint32_t *max_buf_size);

/**
 * Get the maximum length of a list of bufs of a receive task.
 *
 * @param devinfo the device, open or not
 * @param max_buf_list_len out: number of bufs, including the head
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot have consumers
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_comch_consumer_cap_get_max_buf_list_len(
	const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);

/**
 * Get the maximum length of immediate data.
 *
 * @param devinfo the device, open or not
 * @param max_imm_data_len out: number of bytes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_comch_consumer_cap_get_max_imm_data_len(
	const struct doca_devinfo *devinfo, uint32_t *max_imm_data_len);

/**
 * Create a consumer. Its id is new in the connection.
 *
 * @param comch_connection an established connection; the consumer uses it until
 *         doca_comch_consumer_destroy()
 * @param buf_mmap a started map with DOCA_ACCESS_FLAG_PCI_READ_WRITE and with the device of the
 *         connection; in use until doca_comch_consumer_destroy()
 * @param consumer out: the consumer, owned by the caller until doca_comch_consumer_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the map is not started, does not permit the
 *   access or does not have the device
 * - DOCA_ERROR_BAD_STATE: the connection is not established
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot have consumers
 * - DOCA_ERROR_NO_MEMORY: an allocation fails, or the connection has the maximum of consumers
 */
DOCA_STABLE doca_error_t doca_comch_consumer_create(struct doca_comch_connection *comch_connection,
						    struct doca_mmap *buf_mmap,
						    struct doca_comch_consumer **consumer);

/**
 * Destroy a consumer and disconnect its context from its progress engine.
 *
 * @param consumer a consumer whose context is IDLE; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_IN_USE: the context is not IDLE
 */
DOCA_STABLE doca_error_t doca_comch_consumer_destroy(struct doca_comch_consumer *consumer);

/**
 * Get the context of a consumer.
 *
 * @param consumer the consumer
 * @return the context, valid until doca_comch_consumer_destroy(); NULL for NULL
 */
DOCA_STABLE struct doca_ctx *doca_comch_consumer_as_ctx(struct doca_comch_consumer *consumer);

/**
 * Get the id of a consumer. Ids are unique in a connection, and never 0 or 0xffff.
 *
 * @param consumer the consumer, in any state of its context
 * @param id out: the id
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_comch_consumer_get_id(const struct doca_comch_consumer *consumer,
						    uint32_t *id);

/**
 * Set the maximum length of immediate data that the consumer receives. The default is the maximum of the
 * device.
 *
 * @param consumer a consumer whose context is IDLE
 * @param imm_data_len number of bytes, up to doca_comch_consumer_cap_get_max_imm_data_len()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the consumer is NULL, or the number is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_STABLE doca_error_t doca_comch_consumer_set_imm_data_len(struct doca_comch_consumer *consumer,
							      uint32_t imm_data_len);

/**
 * Get the value set by doca_comch_consumer_set_imm_data_len().
 *
 * @param consumer the consumer, in any state of its context
 * @param imm_data_len out: number of bytes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_comch_consumer_get_imm_data_len(
	const struct doca_comch_consumer *consumer, uint32_t *imm_data_len);

/**
 * Configure receive tasks. This is required before the context is started.
 *
 * @param consumer a consumer whose context is IDLE
 * @param task_completion_cb called for tasks that succeeded
 * @param task_error_cb called for tasks that failed; may be the same function
 * @param num_tasks number of tasks that can be allocated at once, from 1 to
 *         doca_comch_consumer_cap_get_max_num_tasks()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number of tasks is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_STABLE doca_error_t doca_comch_consumer_task_post_recv_set_conf(
	struct doca_comch_consumer *consumer,
	doca_comch_consumer_task_post_recv_completion_cb_t task_completion_cb,
	doca_comch_consumer_task_post_recv_completion_cb_t task_error_cb, uint32_t num_tasks);

/**
 * Allocate a receive task. Submitting it posts the buf: one message extends the data of the buf. The
 * task can be submitted many times. A message that is longer than the room of the buf fails at its
 * producer, and the task stays posted, behind the others.
 *
 * doca_task_submit() of the task also returns DOCA_ERROR_INVALID_VALUE if the buf is a list or not on the
 * map of the consumer, and DOCA_ERROR_BAD_STATE if the map is not started; the task is not submitted then.
 *
 * @param consumer a consumer whose context is RUNNING
 * @param buf the buf, on the map of the consumer; owned by the caller, must exist until the task has
 *         completed or was freed; NULL to receive immediate data only
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the consumer or the output is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks are allocated
 */
DOCA_STABLE doca_error_t doca_comch_consumer_task_post_recv_alloc_init(
	struct doca_comch_consumer *consumer, struct doca_buf *buf,
	struct doca_comch_consumer_task_post_recv **task);

/**
 * Get the generic task for the functions of doca_pe.h.
 *
 * @param task the task
 * @return the same task; NULL for NULL
 */
DOCA_STABLE struct doca_task *
doca_comch_consumer_task_post_recv_as_task(struct doca_comch_consumer_task_post_recv *task);

/**
 * Set the buf of a task.
 *
 * @param task a task that is not submitted, not NULL
 * @param buf the buf; owned by the caller, must exist until the task has completed; NULL for none
 */
DOCA_STABLE void
doca_comch_consumer_task_post_recv_set_buf(struct doca_comch_consumer_task_post_recv *task,
					   struct doca_buf *buf);

/**
 * Get the buf of a task.
 *
 * @param task the task, not NULL; it may have been freed, as long as its context has not been started
 *         again
 * @return the buf, owned by the caller
 */
DOCA_STABLE struct doca_buf *
doca_comch_consumer_task_post_recv_get_buf(const struct doca_comch_consumer_task_post_recv *task);

/**
 * Get the producer of the message of a completed task.
 *
 * @param task the task, not NULL; it may have been freed, as long as its context has not been started
 *         again
 * @return the id of the producer; 0 if there is no message
 */
DOCA_STABLE uint32_t doca_comch_consumer_task_post_recv_get_producer_id(
	const struct doca_comch_consumer_task_post_recv *task);

/**
 * Get the length of the immediate data of a completed task.
 *
 * @param task the task, not NULL; it may have been freed, as long as its context has not been started
 *         again
 * @return number of bytes; 0 if there is none
 */
DOCA_STABLE uint32_t doca_comch_consumer_task_post_recv_get_imm_data_len(
	const struct doca_comch_consumer_task_post_recv *task);

/**
 * Get the immediate data of a completed task.
 *
 * @param task the task, not NULL; it may have been freed, as long as its context has not been started
 *         again
 * @return the data, owned by the task, valid until it is freed or submitted; NULL if there is none
 */
DOCA_STABLE const uint8_t *doca_comch_consumer_task_post_recv_get_imm_data(
	const struct doca_comch_consumer_task_post_recv *task);

/**
 * Get a GPU handle. The GPU data path is not supported. DOCA has this function since 3.2. Its
 * arguments are known by inference.
 *
 * @param consumer the consumer
 * @param gpu_consumer not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_comch_consumer_get_gpu_handle(
	struct doca_comch_consumer *consumer, struct doca_comch_gpu_consumer **gpu_consumer);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMCH_CONSUMER_H_ */
