/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Progress engines and tasks. A progress engine runs the callbacks of the contexts that are
 * connected to it. A task is one operation of a context.
 *
 * A program can wait in two ways:
 * - It calls doca_pe_progress() until it returns 1.
 * - It sleeps: it calls doca_pe_request_notification(), waits until the notification handle is
 *   readable, calls doca_pe_clear_notification(), and then calls doca_pe_progress() until it
 *   returns 0. Work that completed before the request also makes the handle readable.
 *
 * Thread safety of all functions: only one thread at a time may use an engine, its contexts and
 * their tasks. doca_pe_progress() must not be called from a callback. On any error the outputs
 * keep their values. Semantics: DOCA 3.0, doca_pe.h.
 */
#ifndef DOCA_PE_H_
#define DOCA_PE_H_

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_pe;
struct doca_task;
struct doca_task_batch;

/** The contexts that doca_pe_progress() polls. */
enum doca_pe_event_mode {
	DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE = 0, /**< Contexts whose notification was cleared. */
	DOCA_PE_EVENT_MODE_PROGRESS_ALL = 1,	   /**< All contexts. */
};

/** Flags of a submission; a mask. */
enum doca_task_submit_flag {
	DOCA_TASK_SUBMIT_FLAG_NONE = 0,	      /**< The device may start the task later. */
	DOCA_TASK_SUBMIT_FLAG_FLUSH = 1 << 0, /**< Start this task and all earlier ones. */
	DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS = 1 << 1, /**< Report it with a later task. */
};

/** Maximum number of tasks in a batch. */
enum doca_task_batch_max_tasks_number {
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_16 = 0,
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_32 = 1,
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_64 = 2,
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_128 = 3,
};

/** Number of events in a batch. */
enum doca_event_batch_events_number {
	DOCA_EVENT_BATCH_EVENTS_NUMBER_1 = 0,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_2 = 1,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_4 = 2,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_8 = 3,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_16 = 4,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_32 = 5,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_64 = 6,
	DOCA_EVENT_BATCH_EVENTS_NUMBER_128 = 7,
};

/**
 * Create a progress engine.
 *
 * @param pe out: the engine, owned by the caller until doca_pe_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 * - DOCA_ERROR_OPERATING_SYSTEM: no file descriptor is available
 */
DOCA_STABLE doca_error_t doca_pe_create(struct doca_pe **pe);

/**
 * Destroy a progress engine.
 *
 * @param pe the engine; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_IN_USE: a context is connected to the engine
 */
DOCA_STABLE doca_error_t doca_pe_destroy(struct doca_pe *pe);

/**
 * Connect a context to the engine until the object of the context is destroyed.
 *
 * @param pe the engine
 * @param ctx an IDLE context without an engine
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * - DOCA_ERROR_NOT_PERMITTED: the context is already connected to an engine
 */
DOCA_STABLE doca_error_t doca_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx);

/**
 * Poll the contexts and run at most one task callback. The engine polls its contexts in turn.
 *
 * @param pe the engine; NULL does nothing
 * @return 1 if a task or an event was reported or a context changed its state, 0 otherwise
 */
DOCA_STABLE DPUMAP_FREQUENT uint8_t doca_pe_progress(struct doca_pe *pe);

/**
 * Get the number of submitted tasks of all contexts whose callback has not run yet.
 *
 * @param pe the engine
 * @param num_inflight_tasks out: number of tasks
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_pe_get_num_inflight_tasks(const struct doca_pe *pe,
							size_t *num_inflight_tasks);

/**
 * Get the file descriptor to wait on with poll(), epoll or select(). The engine has one such
 * descriptor for its whole life and closes it itself.
 *
 * @param pe the engine; contexts may be connected before or after the call
 * @param handle out: the file descriptor, valid until doca_pe_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_pe_get_notification_handle(const struct doca_pe *pe,
							 doca_notification_handle_t *handle);

/**
 * Arm the handle: it becomes readable at the next completion, or at once if there is work already.
 * Call this function before each wait.
 *
 * @param pe the engine
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_DRIVER: the device fails
 * - DOCA_ERROR_OPERATING_SYSTEM: a system call fails
 */
DOCA_STABLE doca_error_t doca_pe_request_notification(struct doca_pe *pe);

/**
 * Clear the notification that made the handle readable. The handle stays readable if another
 * notification has arrived meanwhile.
 *
 * @param pe the engine
 * @param handle ignored
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the engine is NULL
 * - DOCA_ERROR_OPERATING_SYSTEM: a system call fails
 */
DOCA_STABLE doca_error_t doca_pe_clear_notification(struct doca_pe *pe,
						    doca_notification_handle_t handle);

/**
 * Select the contexts that doca_pe_progress() polls. This library polls all contexts in both
 * modes, because polling an idle context is cheaper than tracking which contexts have work.
 *
 * @param pe the engine
 * @param mode the mode
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the engine is NULL, or the mode does not exist
 */
DOCA_EXPERIMENTAL doca_error_t doca_pe_set_event_mode(struct doca_pe *pe,
						      enum doca_pe_event_mode mode);

/**
 * Submit a task to its context. The function checks only that the context is RUNNING; errors in
 * the task are reported by its callback. Other results are documented by the library of the task.
 *
 * @param task a task that is not submitted, not NULL; owned by its context from success until its
 *         callback runs; still owned by the caller on failure
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 */
DOCA_STABLE DPUMAP_FREQUENT doca_error_t doca_task_submit(struct doca_task *task);

/**
 * Submit a task like doca_task_submit(), with flags.
 *
 * @param task a task that is not submitted; owned by its context from success until its callback
 *         runs
 * @param flags bits of enum doca_task_submit_flag; doca_task_submit() uses
 *         DOCA_TASK_SUBMIT_FLAG_FLUSH. Without this flag, the device starts the task only after a
 *         later task with the flag, or after doca_ctx_flush_tasks()
 * @return as doca_task_submit()
 */
DOCA_EXPERIMENTAL doca_error_t doca_task_submit_ex(struct doca_task *task, uint32_t flags);

/**
 * Check a task and submit it.
 *
 * @param task a task that is not submitted; owned by its context from success until its callback
 *         runs
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the task is NULL, or its arguments would make it fail
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING, or the task is already submitted
 */
DOCA_STABLE doca_error_t doca_task_try_submit(struct doca_task *task);

/**
 * Free a task. One that is submitted is freed after its callback, which runs as usual and need not free
 * it, or without a callback if it is a receive of doca_comch_consumer.h.
 *
 * @param task a task; it must not be used afterwards, except that its getters work until its memory is
 *         allocated again, the context starts again or its object is destroyed. NULL does nothing. A
 *         STOPPING context becomes IDLE when its last task is freed and no callback of a task is running
 */
DOCA_STABLE void doca_task_free(struct doca_task *task);

/**
 * Get the result of a task.
 *
 * @param task a task whose callback has run or is running
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the task is NULL
 *
 * Other results are documented by the library of the task.
 */
DOCA_STABLE doca_error_t doca_task_get_status(const struct doca_task *task);

/**
 * Set the user data that the callback of the task receives.
 *
 * @param task a task that is not submitted, not NULL
 * @param user_data the value
 */
DOCA_STABLE void doca_task_set_user_data(struct doca_task *task, union doca_data user_data);

/**
 * Get the user data that was set last.
 *
 * @param task the task, not NULL
 * @return the word
 */
DOCA_STABLE union doca_data doca_task_get_user_data(const struct doca_task *task);

/**
 * Get the context of a task.
 *
 * @param task the task, not NULL
 * @return the context, owned by its library object
 */
DOCA_STABLE struct doca_ctx *doca_task_get_ctx(const struct doca_task *task);

/**
 * Submit a batch of tasks. Batches are not supported.
 *
 * @param task_batch the batch
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_task_batch_submit(struct doca_task_batch *task_batch);

/**
 * Check a batch of tasks and submit it. Batches are not supported.
 *
 * @param task_batch the batch
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_task_batch_try_submit(struct doca_task_batch *task_batch);

/**
 * Free a batch. Batches are not supported. The function does nothing.
 *
 * @param task_batch the batch
 */
DOCA_EXPERIMENTAL void doca_task_batch_free(struct doca_task_batch *task_batch);

/**
 * Get the result of a batch. Batches are not supported.
 *
 * @param task_batch the batch
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_task_batch_get_status(const struct doca_task_batch *task_batch);

/**
 * Set the user data of a batch. Batches are not supported. The function does nothing.
 *
 * @param task_batch the batch
 * @param user_data the value
 */
DOCA_EXPERIMENTAL void doca_task_batch_set_user_data(struct doca_task_batch *task_batch,
						     union doca_data user_data);

/**
 * Get the user data of a batch. Batches are not supported.
 *
 * @param task_batch the batch
 * @return 0
 */
DOCA_EXPERIMENTAL union doca_data
doca_task_batch_get_user_data(const struct doca_task_batch *task_batch);

/**
 * Get the context of a batch. Batches are not supported.
 *
 * @param task_batch the batch
 * @return NULL
 */
DOCA_EXPERIMENTAL struct doca_ctx *
doca_task_batch_get_ctx(const struct doca_task_batch *task_batch);

/**
 * Get the user data of the context of a batch. Batches are not supported.
 *
 * @param task_batch the batch
 * @return 0
 */
DOCA_EXPERIMENTAL union doca_data
doca_task_batch_get_ctx_user_data(const struct doca_task_batch *task_batch);

/**
 * Get the number of tasks of a batch. Batches are not supported.
 *
 * @param task_batch the batch
 * @return 0
 */
DOCA_EXPERIMENTAL uint32_t doca_task_batch_get_tasks_num(const struct doca_task_batch *task_batch);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_PE_H_ */
