/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The progress engine: runs the callbacks of the contexts that are connected to it; and tasks, what
 * those contexts are asked to do.
 *
 * Two ways to wait: call doca_pe_progress() until it returns 1, or sleep on the notification
 * handle: doca_pe_request_notification(), wait until the handle is readable,
 * doca_pe_clear_notification(), doca_pe_progress() until it returns 0, and again. Work that was
 * there before the request makes the handle readable as well.
 *
 * Thread safety of all functions: an engine, its contexts and their tasks may be used by one thread
 * at a time; doca_pe_progress() not from inside a callback. On any error the outputs keep their
 * values. Semantics: DOCA 3.0, doca_pe.h.
 */
#ifndef DOCA_PE_H_
#define DOCA_PE_H_

#include <stddef.h>
#include <stdint.h>

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

/** Which contexts doca_pe_progress() looks at. */
enum doca_pe_event_mode {
	DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE = 0, /**< Those whose notification was cleared. */
	DOCA_PE_EVENT_MODE_PROGRESS_ALL = 1,	   /**< All of them. */
};

/** How a task is submitted; a mask. */
enum doca_task_submit_flag {
	DOCA_TASK_SUBMIT_FLAG_NONE = 0,	      /**< The device may hear of it later. */
	DOCA_TASK_SUBMIT_FLAG_FLUSH = 1 << 0, /**< Tell the device, of earlier ones too. */
	DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS = 1 << 1, /**< It may be reported with a later one.
							  */
};

/** Room of a batch of tasks. */
enum doca_task_batch_max_tasks_number {
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_16 = 0,
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_32 = 1,
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_64 = 2,
	DOCA_TASK_BATCH_MAX_TASKS_NUMBER_128 = 3,
};

/** Events that come as one. */
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
 * Create an engine.
 *
 * @param pe out: the engine, owned by the caller until doca_pe_destroy()
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_NO_MEMORY when an allocation fails,
 *         DOCA_ERROR_OPERATING_SYSTEM when there are no more file descriptors
 */
DOCA_STABLE doca_error_t doca_pe_create(struct doca_pe **pe);

/**
 * Destroy an engine.
 *
 * @param pe the engine; gone after success
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_IN_USE while contexts are connected
 */
DOCA_STABLE doca_error_t doca_pe_destroy(struct doca_pe *pe);

/**
 * Have a context progressed by the engine, until the context's object is destroyed.
 *
 * @param pe the engine
 * @param ctx an IDLE context that has no engine
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_BAD_STATE when the context is not IDLE,
 *         DOCA_ERROR_NOT_PERMITTED when it has an engine
 */
DOCA_STABLE doca_error_t doca_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx);

/**
 * Look for work and run the callback that it leads to; of one task at most, the contexts in turn.
 *
 * @param pe the engine, not NULL
 * @return 1 if something happened, 0 if there was nothing to do
 */
DOCA_STABLE uint8_t doca_pe_progress(struct doca_pe *pe);

/**
 * How many tasks of all its contexts are submitted and have not seen their callback.
 *
 * @param pe the engine
 * @param num_inflight_tasks out: the number of tasks
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t doca_pe_get_num_inflight_tasks(const struct doca_pe *pe,
							size_t *num_inflight_tasks);

/**
 * The file descriptor to wait on, with poll(), epoll or select(). It is the same for the whole life
 * of the engine, which closes it.
 *
 * @param pe the engine; contexts may be connected later
 * @param handle out: the descriptor, valid until doca_pe_destroy()
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t doca_pe_get_notification_handle(const struct doca_pe *pe,
							 doca_notification_handle_t *handle);

/**
 * Make the handle readable at the next completion, or at once if there is work already. To be
 * called before each wait.
 *
 * @param pe the engine
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL, DOCA_ERROR_DRIVER when the device fails,
 *         DOCA_ERROR_OPERATING_SYSTEM when a system call fails
 */
DOCA_STABLE doca_error_t doca_pe_request_notification(struct doca_pe *pe);

/**
 * Take the notification that made the handle readable. The handle stays readable if another one
 * came meanwhile.
 *
 * @param pe the engine
 * @param handle ignored
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL engine,
 *         DOCA_ERROR_OPERATING_SYSTEM when a system call fails
 */
DOCA_STABLE doca_error_t doca_pe_clear_notification(struct doca_pe *pe,
						    doca_notification_handle_t handle);

/**
 * Choose which contexts doca_pe_progress() looks at. Here it looks at all in both modes: a look at
 * a context without work costs less than to know which had some.
 *
 * @param pe the engine
 * @param mode the mode
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL or a mode that does not exist
 */
DOCA_EXPERIMENTAL doca_error_t doca_pe_set_event_mode(struct doca_pe *pe,
						      enum doca_pe_event_mode mode);

/**
 * Hand a task to its context. Checks nothing but that the context runs: what is wrong with the task
 * shows in its callback.
 *
 * @param task a task that is not submitted, not NULL; after success its context's until its
 * callback, on any error the caller's as before
 * @return DOCA_SUCCESS, DOCA_ERROR_BAD_STATE when the context is not RUNNING
 */
DOCA_STABLE doca_error_t doca_task_submit(struct doca_task *task);

/**
 * doca_task_submit() with a say in when the device hears of it.
 *
 * @param task a task that is not submitted; after success its context's until its callback
 * @param flags of enum doca_task_submit_flag; doca_task_submit() is DOCA_TASK_SUBMIT_FLAG_FLUSH.
 * Without that, a later task or doca_ctx_flush_tasks() must bring it to the device
 * @return as doca_task_submit()
 */
DOCA_EXPERIMENTAL doca_error_t doca_task_submit_ex(struct doca_task *task, uint32_t flags);

/**
 * doca_task_submit() that looks at the task first.
 *
 * @param task a task that is not submitted; after success its context's until its callback
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL or a task that would fail for what is in
 *         it, DOCA_ERROR_BAD_STATE when the context is not RUNNING or the task is submitted
 *         already
 */
DOCA_STABLE doca_error_t doca_task_try_submit(struct doca_task *task);

/**
 * Give a task back to its context.
 *
 * @param task a task that is not submitted; gone afterwards. NULL does nothing. If it was the last
 * one of a STOPPING context, that becomes IDLE
 */
DOCA_STABLE void doca_task_free(struct doca_task *task);

/**
 * How a task ended.
 *
 * @param task a task that was called back
 * @return what its library documents; DOCA_SUCCESS if it did what it was for,
 *         DOCA_ERROR_INVALID_VALUE for NULL
 */
DOCA_STABLE doca_error_t doca_task_get_status(const struct doca_task *task);

/**
 * Keep a word for the task's callback.
 *
 * @param task a task that is not submitted, not NULL
 * @param user_data the word
 */
DOCA_STABLE void doca_task_set_user_data(struct doca_task *task, union doca_data user_data);

/**
 * The word that the task was given last.
 *
 * @param task the task, not NULL
 * @return the word
 */
DOCA_STABLE union doca_data doca_task_get_user_data(const struct doca_task *task);

/**
 * The context of a task.
 *
 * @param task the task, not NULL
 * @return the context, owned by its library object
 */
DOCA_STABLE struct doca_ctx *doca_task_get_ctx(const struct doca_task *task);

/**
 * Hand a batch of tasks to its context. No library here makes batches, so there is none to submit.
 *
 * @param task_batch the batch
 * @return DOCA_ERROR_INVALID_VALUE for NULL, DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_task_batch_submit(struct doca_task_batch *task_batch);

/**
 * doca_task_batch_submit() that looks at the tasks first.
 *
 * @param task_batch the batch
 * @return DOCA_ERROR_INVALID_VALUE for NULL, DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_task_batch_try_submit(struct doca_task_batch *task_batch);

/**
 * Give a batch back to its context. Does nothing: there are no batches here.
 *
 * @param task_batch the batch
 */
DOCA_EXPERIMENTAL void doca_task_batch_free(struct doca_task_batch *task_batch);

/**
 * How a batch ended. There are no batches here.
 *
 * @param task_batch the batch
 * @return DOCA_ERROR_INVALID_VALUE for NULL, DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_task_batch_get_status(const struct doca_task_batch *task_batch);

/**
 * Keep a word for the callback of a batch. Does nothing: there are no batches here.
 *
 * @param task_batch the batch
 * @param user_data the word
 */
DOCA_EXPERIMENTAL void doca_task_batch_set_user_data(struct doca_task_batch *task_batch,
						     union doca_data user_data);

/**
 * The word of a batch. There are no batches here.
 *
 * @param task_batch the batch
 * @return 0
 */
DOCA_EXPERIMENTAL union doca_data
doca_task_batch_get_user_data(const struct doca_task_batch *task_batch);

/**
 * The context of a batch. There are no batches here.
 *
 * @param task_batch the batch
 * @return NULL
 */
DOCA_EXPERIMENTAL struct doca_ctx *
doca_task_batch_get_ctx(const struct doca_task_batch *task_batch);

/**
 * The word of the context of a batch. There are no batches here.
 *
 * @param task_batch the batch
 * @return 0
 */
DOCA_EXPERIMENTAL union doca_data
doca_task_batch_get_ctx_user_data(const struct doca_task_batch *task_batch);

/**
 * The number of tasks in a batch. There are no batches here.
 *
 * @param task_batch the batch
 * @return 0
 */
DOCA_EXPERIMENTAL uint32_t doca_task_batch_get_tasks_num(const struct doca_task_batch *task_batch);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_PE_H_ */
