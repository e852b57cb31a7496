/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Contexts and tasks: what every library object that works for the user has in common.
 *
 * A context is IDLE -> (STARTING ->) RUNNING -> (STOPPING ->) IDLE. It belongs to its library
 * object (doca_dma_as_ctx() and the like), is connected to one progress engine and gives out tasks
 * while it is RUNNING. A task belongs to the user from its allocation until doca_task_submit() and
 * again from its callback until doca_task_free(). Callbacks of tasks run inside doca_pe_progress()
 * only, those of states inside whichever call changes the state.
 *
 * Inside any callback the user may submit, free and allocate tasks, stop the context, and, once it
 * is IDLE, destroy its object.
 *
 * Thread safety of all functions: a context, its tasks and its progress engine may be used by one
 * thread at a time. On any error the outputs keep their values. Semantics: DOCA 3.0, doca_ctx.h and
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

/** What a context can do at the moment. */
enum doca_ctx_states {
	DOCA_CTX_STATE_IDLE = 0,     /**< Configured; has no resources. */
	DOCA_CTX_STATE_STARTING = 1, /**< Becomes RUNNING by progress; no tasks yet. */
	DOCA_CTX_STATE_RUNNING = 2,  /**< Tasks can be allocated and submitted. */
	DOCA_CTX_STATE_STOPPING = 3, /**< Becomes IDLE when every task is back and freed. */
};

/**
 * Called on each change, after it took effect.
 *
 * @param user_data what doca_ctx_set_user_data() was given
 * @param ctx the context, already in @p next_state
 * @param prev_state the state before
 * @param next_state the state now
 */
typedef void (*doca_ctx_state_changed_callback_t)(const union doca_data user_data,
						  struct doca_ctx *ctx,
						  enum doca_ctx_states prev_state,
						  enum doca_ctx_states next_state);

/**
 * Allocate what the context needs; it is RUNNING afterwards, or IDLE again if its state callback
 * stopped it. If its library has to wait for something it is STARTING first.
 *
 * @param ctx an IDLE context, connected to a progress engine, configured as its library demands
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_BAD_STATE when it is not IDLE or a mandatory setting is missing,
 *         DOCA_ERROR_NOT_CONNECTED when it has no progress engine,
 *         DOCA_ERROR_IN_PROGRESS when it is STARTING: it becomes RUNNING, or IDLE if it cannot, in
 *         doca_pe_progress(); the state callback tells,
 *         DOCA_ERROR_NOT_SUPPORTED when the device cannot do it,
 *         DOCA_ERROR_INITIALIZATION when its resources could not be had; it is IDLE then
 */
DOCA_STABLE doca_error_t doca_ctx_start(struct doca_ctx *ctx);

/**
 * Let no more tasks be submitted and go back to IDLE. Tasks in flight end as they would have.
 *
 * @param ctx the context, in any state; nothing happens to an IDLE one
 * @return DOCA_SUCCESS when it is IDLE,
 *         DOCA_ERROR_IN_PROGRESS when it is STOPPING: it becomes IDLE in doca_pe_progress() or
 *         doca_task_free(), once each task is freed; the state callback tells,
 *         DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_UNEXPECTED when the device does not give a resource back; call again
 */
DOCA_STABLE doca_error_t doca_ctx_stop(struct doca_ctx *ctx);

/**
 * How many tasks are submitted and have not seen their callback.
 *
 * @param ctx the context, in any state
 * @param num_inflight_tasks out: the number of tasks
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t doca_ctx_get_num_inflight_tasks(const struct doca_ctx *ctx,
							 size_t *num_inflight_tasks);

/**
 * Keep a word for the callbacks of the context and of its tasks.
 *
 * @param ctx the context, in any state
 * @param user_data the word
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL
 */
DOCA_STABLE doca_error_t doca_ctx_set_user_data(struct doca_ctx *ctx, union doca_data user_data);

/**
 * The word that doca_ctx_set_user_data() was given last; 0 before.
 *
 * @param ctx the context, in any state
 * @param user_data out: the word
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t doca_ctx_get_user_data(const struct doca_ctx *ctx,
						union doca_data *user_data);

/**
 * Have each change of state told.
 *
 * @param ctx the context, in any state
 * @param cb the function, in place of the one before; NULL for none
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL context
 */
DOCA_STABLE doca_error_t doca_ctx_set_state_changed_cb(struct doca_ctx *ctx,
						       doca_ctx_state_changed_callback_t cb);

/**
 * The state of the context.
 *
 * @param ctx the context, in any state
 * @param state out: the state
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t doca_ctx_get_state(const struct doca_ctx *ctx,
					    enum doca_ctx_states *state);

/**
 * Hand the device what was submitted without DOCA_TASK_SUBMIT_FLAG_FLUSH.
 *
 * @param ctx the context; nothing happens to an IDLE one
 */
DOCA_EXPERIMENTAL void doca_ctx_flush_tasks(struct doca_ctx *ctx);

/**
 * Let a GPU drive the context. There is no GPU data path here.
 *
 * @param ctx an IDLE context
 * @param gpu_dev the GPU
 * @return DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_BAD_STATE when the context is not IDLE, DOCA_ERROR_NOT_SUPPORTED in all other
 *         cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_ctx_set_datapath_on_gpu(struct doca_ctx *ctx,
							    struct doca_gpu *gpu_dev);

/**
 * Let a DPA drive the context. There is no DPA data path here.
 *
 * @param ctx an IDLE context
 * @param dpa_dev the DPA
 * @return DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_BAD_STATE when the context is not IDLE, DOCA_ERROR_NOT_SUPPORTED in all other
 *         cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_ctx_set_datapath_on_dpa(struct doca_ctx *ctx,
							    struct doca_dpa *dpa_dev);

/**
 * How many completion vectors doca_ctx_set_completion_vector() can choose from.
 *
 * @param ctx the context, in any state
 * @param num_completion_vectors out: vectors
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_EXPERIMENTAL doca_error_t doca_ctx_cap_get_num_completion_vectors(
	const struct doca_ctx *ctx, uint32_t *num_completion_vectors);

/**
 * Choose the completion vector (interrupt) that notifications of the context come by.
 *
 * @param ctx an IDLE context
 * @param completion_vector 0, the default, or up to the number of vectors less 1
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL or a vector that the device does not
 *         have, DOCA_ERROR_BAD_STATE when the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_ctx_set_completion_vector(struct doca_ctx *ctx,
							      uint32_t completion_vector);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_CTX_H_ */
