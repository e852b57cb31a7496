/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Contexts: the common part of all library objects that execute tasks.
 *
 * The states of a context are IDLE -> (STARTING ->) RUNNING -> (STOPPING ->) IDLE. A context
 * belongs to a library object (see doca_dma_as_ctx()) and is connected to one progress engine.
 * Tasks can be allocated while it is RUNNING. The program owns a task from its allocation until
 * doca_task_submit(), and again from its callback until doca_task_free(). Task callbacks run only
 * inside doca_pe_progress(). State callbacks run inside the function that changes the state.
 *
 * A callback may submit, free and allocate tasks and stop the context. A context does not become IDLE
 * while the callback of a task is running; the state callback for IDLE may destroy the object.
 *
 * Thread safety of all functions: only one thread at a time may use a context, its tasks and its
 * progress engine. On any error the outputs keep their values. Semantics: DOCA 3.0, doca_ctx.h and
 * doca_pe.h.
 */
#ifndef DOCA_CTX_H_
#define DOCA_CTX_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_dpa;
struct doca_gpu;

/** State of a context. */
enum doca_ctx_states {
	DOCA_CTX_STATE_IDLE = 0,     /**< Can be configured; has no resources. */
	DOCA_CTX_STATE_STARTING = 1, /**< Becomes RUNNING during progress; no tasks yet. */
	DOCA_CTX_STATE_RUNNING = 2,  /**< Tasks can be allocated and submitted. */
	DOCA_CTX_STATE_STOPPING = 3, /**< Becomes IDLE once all tasks are freed. */
};

/**
 * Report a change of state, after it took effect.
 *
 * @param user_data the value set by doca_ctx_set_user_data()
 * @param ctx the context, already in @p next_state
 * @param prev_state the previous state
 * @param next_state the new state
 */
typedef void (*doca_ctx_state_changed_callback_t)(const union doca_data user_data,
						  struct doca_ctx *ctx,
						  enum doca_ctx_states prev_state,
						  enum doca_ctx_states next_state);

/**
 * Start a context. It allocates its resources and becomes RUNNING, or returns to IDLE if its state
 * callback stops it. If the library must wait for something, the context is STARTING first.
 *
 * @param ctx an IDLE context that is connected to a progress engine and configured as its library
 *         requires
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE, or a mandatory setting is missing
 * - DOCA_ERROR_NOT_CONNECTED: the context has no progress engine
 * - DOCA_ERROR_IN_PROGRESS: the context is STARTING. It becomes RUNNING, or IDLE on failure, in
 *   doca_pe_progress(); the state callback reports it
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not support the context
 * - DOCA_ERROR_IN_USE: another context has its name or address
 * - DOCA_ERROR_INITIALIZATION: a resource cannot be allocated; the context is IDLE
 */
DOCA_STABLE doca_error_t doca_ctx_start(struct doca_ctx *ctx);

/**
 * Stop a context. It accepts no more tasks and becomes IDLE. Tasks in flight complete normally.
 *
 * @param ctx the context, in any state; an IDLE context is not changed
 * @return
 * - DOCA_SUCCESS: the context is IDLE
 * - DOCA_ERROR_IN_PROGRESS: the context is STOPPING. It becomes IDLE in doca_pe_progress() or
 *   doca_task_free(), once all tasks are freed and no callback of a task is running; the state callback
 *   reports it
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_UNEXPECTED: the device does not release a resource; call the function again
 */
DOCA_STABLE doca_error_t doca_ctx_stop(struct doca_ctx *ctx);

/**
 * Get the number of submitted tasks whose callback has not run yet.
 *
 * @param ctx the context, in any state
 * @param num_inflight_tasks out: number of tasks
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_ctx_get_num_inflight_tasks(const struct doca_ctx *ctx,
							 size_t *num_inflight_tasks);

/**
 * Set the user data that the callbacks of the context and of its tasks receive.
 *
 * @param ctx the context, in any state
 * @param user_data the value
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_STABLE doca_error_t doca_ctx_set_user_data(struct doca_ctx *ctx, union doca_data user_data);

/**
 * Get the user data that was set last.
 *
 * @param ctx the context, in any state
 * @param user_data out: the value; 0 if none was set
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_ctx_get_user_data(const struct doca_ctx *ctx,
						union doca_data *user_data);

/**
 * Set the callback that reports each change of state.
 *
 * @param ctx the context, in any state
 * @param cb the callback, which replaces the previous one; NULL for none
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the context is NULL
 */
DOCA_STABLE doca_error_t doca_ctx_set_state_changed_cb(struct doca_ctx *ctx,
						       doca_ctx_state_changed_callback_t cb);

/**
 * Get the state of the context.
 *
 * @param ctx the context, in any state
 * @param state out: the state
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_ctx_get_state(const struct doca_ctx *ctx,
					    enum doca_ctx_states *state);

/**
 * Pass all tasks to the device that were submitted without DOCA_TASK_SUBMIT_FLAG_FLUSH.
 *
 * @param ctx the context; an IDLE context is not changed
 */
DOCA_EXPERIMENTAL void doca_ctx_flush_tasks(struct doca_ctx *ctx);

/**
 * Select the GPU data path, which is not supported.
 *
 * @param ctx an IDLE context
 * @param gpu_dev the GPU
 * @return
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_ctx_set_datapath_on_gpu(struct doca_ctx *ctx,
							    struct doca_gpu *gpu_dev);

/**
 * Select the DPA data path, which is not supported.
 *
 * @param ctx an IDLE context
 * @param dpa_dev the DPA
 * @return
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_ctx_set_datapath_on_dpa(struct doca_ctx *ctx,
							    struct doca_dpa *dpa_dev);

/**
 * Get the number of completion vectors for doca_ctx_set_completion_vector().
 *
 * @param ctx the context, in any state
 * @param num_completion_vectors out: number of vectors
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_ctx_cap_get_num_completion_vectors(
	const struct doca_ctx *ctx, uint32_t *num_completion_vectors);

/**
 * Set the completion vector (interrupt) that delivers the notifications of the context.
 *
 * @param ctx an IDLE context
 * @param completion_vector the vector, from 0 (the default) to the number of vectors minus 1
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL, or the device does not have the vector
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_ctx_set_completion_vector(struct doca_ctx *ctx,
							      uint32_t completion_vector);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_CTX_H_ */
