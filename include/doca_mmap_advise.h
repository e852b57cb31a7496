/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Advice about the memory of maps. A context (doca_ctx.h) has tasks that invalidate the cache of a
 * piece of memory, so that the processor reads what a device has written there.
 *
 * The memory of the machines on which this library runs is coherent with their devices: the
 * processor reads a device's data without such a task. So the task checks its buf, has nothing else
 * to do, and completes with success from doca_pe_progress(). The memory is unchanged.
 *
 * Tasks of one context complete in the order in which they were submitted. A task that fails makes
 * its context STOPPING. The other tasks that are submitted then complete with their own results,
 * and the context becomes IDLE once all tasks are freed.
 *
 * Thread safety of all functions: only one thread at a time may use a context, its tasks and its
 * progress engine. Capability functions may be called from any thread. On any error the outputs
 * keep their values. Semantics: DOCA 3.0, doca_mmap_advise.h. Note that both the names "task
 * invalidate cache" and "task cache invalidate" occur.
 */
#ifndef DOCA_MMAP_ADVISE_H_
#define DOCA_MMAP_ADVISE_H_

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
struct doca_mmap_advise;
struct doca_mmap_advise_task_invalidate_cache;
struct doca_task;

/**
 * Report the completion of a task. The program owns the task again and may free it, submit it
 * again or keep it.
 *
 * @param task the task; doca_task_get_status() returns its result
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_mmap_advise_task_invalidate_cache_completion_cb_t)(
	struct doca_mmap_advise_task_invalidate_cache *task, union doca_data task_user_data,
	union doca_data ctx_user_data);

/**
 * Create an advise object.
 *
 * @param dev an open device; in use until doca_mmap_advise_destroy()
 * @param mmap_advise out: the object, owned by the caller until doca_mmap_advise_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_EXPERIMENTAL doca_error_t doca_mmap_advise_create(struct doca_dev *dev,
						       struct doca_mmap_advise **mmap_advise);

/**
 * Destroy an advise object and disconnect its context from its progress engine. Its own callbacks
 * may call this function.
 *
 * @param mmap_advise an object whose context is IDLE; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_IN_USE: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_mmap_advise_destroy(struct doca_mmap_advise *mmap_advise);

/**
 * Get the context of an advise object.
 *
 * @param mmap_advise the object
 * @return the context, valid until doca_mmap_advise_destroy(); NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_ctx *doca_mmap_advise_as_ctx(struct doca_mmap_advise *mmap_advise);

/**
 * Check whether the device supports cache invalidation. All devices do.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS: the device supports cache invalidation
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t
doca_mmap_advise_cap_task_cache_invalidate_is_supported(const struct doca_devinfo *devinfo);

/**
 * Get the maximum number of bytes for one task. There is no limit.
 *
 * @param devinfo the device, open or not
 * @param buf_size out: number of bytes, 2^64 - 1
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_mmap_advise_task_cache_invalidate_get_max_buf_size(
	const struct doca_devinfo *devinfo, uint64_t *buf_size);

/**
 * Configure the tasks. This is required before the context is started.
 *
 * @param mmap_advise an object whose context is IDLE
 * @param success_cb called for tasks that succeeded
 * @param error_cb called for tasks that failed; may be the same function
 * @param num_tasks number of tasks that can be allocated at once, at least 1
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number of tasks is 0
 * - DOCA_ERROR_NOT_PERMITTED: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_mmap_advise_task_invalidate_cache_set_conf(
	struct doca_mmap_advise *mmap_advise,
	doca_mmap_advise_task_invalidate_cache_completion_cb_t success_cb,
	doca_mmap_advise_task_invalidate_cache_completion_cb_t error_cb, uint32_t num_tasks);

/**
 * Allocate a task. It can be submitted many times, each time with another buf.
 *
 * @param mmap_advise an object whose context is RUNNING
 * @param buf list whose data the processor will read; owned by the caller, must exist until the
 *         task has completed
 * @param user_data user data of the task
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object or the output is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks are allocated
 */
DOCA_EXPERIMENTAL doca_error_t doca_mmap_advise_task_invalidate_cache_alloc_init(
	struct doca_mmap_advise *mmap_advise, struct doca_buf *buf, union doca_data user_data,
	struct doca_mmap_advise_task_invalidate_cache **task);

/**
 * Get the generic task for the functions of doca_pe.h. The status of a completed task is one of
 * these.
 *
 * - DOCA_SUCCESS: the processor reads what devices have written
 * - DOCA_ERROR_INVALID_VALUE: the buf is NULL
 * - DOCA_ERROR_BAD_STATE: a buf was released, or a map is not started
 * - DOCA_ERROR_NOT_FOUND: a map does not have the device of the context
 * - DOCA_ERROR_NOT_SUPPORTED: a map was imported over RDMA
 *
 * @param task the task
 * @return the same task; NULL for NULL
 */
DOCA_EXPERIMENTAL struct doca_task *doca_mmap_advise_task_invalidate_cache_as_doca_task(
	struct doca_mmap_advise_task_invalidate_cache *task);

/**
 * Set the buf of a task.
 *
 * @param task a task that is not submitted, not NULL
 * @param buf the list; owned by the caller, must exist until the task has completed
 */
DOCA_EXPERIMENTAL void
doca_mmap_advise_task_invalidate_cache_set_buf(struct doca_mmap_advise_task_invalidate_cache *task,
					       struct doca_buf *buf);

/**
 * Get the buf of a task.
 *
 * @param task the task, not NULL
 * @return the list, owned by the caller
 */
DOCA_EXPERIMENTAL struct doca_buf *doca_mmap_advise_task_invalidate_cache_get_buf(
	const struct doca_mmap_advise_task_invalidate_cache *task);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_MMAP_ADVISE_H_ */
