/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Copies with the DMA engine of a device. Each task of the context (doca_ctx.h) appends the data
 * of its source buf to the data of its destination buf.
 *
 * A source or a destination may be a list of bufs. It may be on a map that was imported over PCI,
 * but not on a map that was imported over RDMA. Tasks of one context complete in the order in
 * which they were submitted. A task that fails makes its context STOPPING: later tasks complete
 * with success or are flushed, and the context becomes IDLE once all tasks are freed.
 *
 * Thread safety of all functions: only one thread at a time may use a context, its tasks and its
 * progress engine. Capability functions may be called from any thread. On any error the outputs
 * keep their values. Semantics: DOCA 3.0, doca_dma.h.
 */
#ifndef DOCA_DMA_H_
#define DOCA_DMA_H_

#include <inttypes.h>
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
struct doca_dma;
struct doca_dma_task_memcpy;
struct doca_gpu_dma;
struct doca_task;

/**
 * Report the completion of a task. The program owns the task again and may free it, submit it
 * again or keep it.
 *
 * @param task the task; doca_task_get_status() returns its result
 * @param task_user_data the current user data of the task
 * @param ctx_user_data the current user data of the context
 */
typedef void (*doca_dma_task_memcpy_completion_cb_t)(struct doca_dma_task_memcpy *task,
						     union doca_data task_user_data,
						     union doca_data ctx_user_data);

/**
 * Create a DMA object.
 *
 * @param dev an open device; in use until doca_dma_destroy()
 * @param dma out: the object, owned by the caller until doca_dma_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 */
DOCA_STABLE doca_error_t doca_dma_create(struct doca_dev *dev, struct doca_dma **dma);

/**
 * Destroy a DMA object and disconnect its context from its progress engine. Its own callbacks may
 * call this function.
 *
 * @param dma an object whose context is IDLE; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_IN_USE: the context is not IDLE
 */
DOCA_STABLE doca_error_t doca_dma_destroy(struct doca_dma *dma);

/**
 * Get the context of a DMA object.
 *
 * @param dma the object
 * @return the context, valid until doca_dma_destroy(); NULL for NULL
 */
DOCA_STABLE struct doca_ctx *doca_dma_as_ctx(struct doca_dma *dma);

/**
 * Check whether the device supports copies.
 *
 * @param devinfo the device, open or not
 * @return
 * - DOCA_SUCCESS: the device supports copies
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device has neither a DMA engine nor an active port that can copy
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_dma_cap_task_memcpy_is_supported(const struct doca_devinfo *devinfo);

/**
 * Get the maximum number of bytes that one task can copy.
 *
 * @param devinfo the device, open or not
 * @param max_buf_size out: number of bytes, the sum over all elements of the source list
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_DRIVER: the device does not answer
 */
DOCA_STABLE doca_error_t doca_dma_cap_task_memcpy_get_max_buf_size(
	const struct doca_devinfo *devinfo, uint64_t *max_buf_size);

/**
 * Get the maximum length of a source or destination list.
 *
 * @param devinfo the device, open or not
 * @param max_buf_list_len out: number of bufs, including the head
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_dma_cap_task_memcpy_get_max_buf_list_len(
	const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);

/**
 * Get the maximum number of tasks for doca_dma_task_memcpy_set_conf().
 *
 * @param dma the object, in any state of its context
 * @param max_num_tasks out: number of tasks
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t doca_dma_cap_get_max_num_tasks(struct doca_dma *dma,
							uint32_t *max_num_tasks);

/**
 * Configure copy tasks. This is required before the context is started.
 *
 * @param dma an object whose context is IDLE
 * @param task_completion_cb called for tasks that succeeded
 * @param task_error_cb called for tasks that failed; may be the same function
 * @param num_memcpy_tasks number of tasks that can be allocated at once, from 1 to the maximum
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number of tasks is out of range
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_STABLE doca_error_t doca_dma_task_memcpy_set_conf(
	struct doca_dma *dma, doca_dma_task_memcpy_completion_cb_t task_completion_cb,
	doca_dma_task_memcpy_completion_cb_t task_error_cb, uint32_t num_memcpy_tasks);

/**
 * Allocate a copy task. It can be submitted many times, each time with other bufs.
 *
 * @param dma an object whose context is RUNNING
 * @param src list whose data is read; owned by the caller, must exist until the task has completed
 * @param dst list to whose data the copy is appended; owned by the caller, must exist until the
 *         task has completed
 * @param user_data user data of the task
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the object or the output is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not RUNNING
 * - DOCA_ERROR_NO_MEMORY: all tasks are allocated
 */
DOCA_STABLE doca_error_t doca_dma_task_memcpy_alloc_init(struct doca_dma *dma,
							 const struct doca_buf *src,
							 struct doca_buf *dst,
							 union doca_data user_data,
							 struct doca_dma_task_memcpy **task);

/**
 * Get the generic task for the functions of doca_pe.h. The status of a completed task is one of
 * these. Only DOCA_SUCCESS extends the data of the destination; after an error the bufs are
 * unchanged.
 *
 * - DOCA_SUCCESS: the data was copied
 * - DOCA_ERROR_IO_FAILED: the source has no data, has more data than one task can copy, or a list
 *   is too long; or the device failed
 * - DOCA_ERROR_INVALID_VALUE: a buf is NULL, or the destination is too small
 * - DOCA_ERROR_NOT_FOUND: a map does not have the device of the context
 * - DOCA_ERROR_BAD_STATE: a map is not started
 * - DOCA_ERROR_NOT_SUPPORTED: a map was imported over RDMA
 * - DOCA_ERROR_NOT_PERMITTED: a map does not permit the access, or no longer permits it
 * - DOCA_ERROR_SHUTDOWN: the task was flushed because an earlier task failed
 *
 * @param task the task
 * @return the same task; NULL for NULL
 */
DOCA_STABLE struct doca_task *doca_dma_task_memcpy_as_task(struct doca_dma_task_memcpy *task);

/**
 * Set the source of a task.
 *
 * @param task a task that is not submitted, not NULL
 * @param src the list; owned by the caller, must exist until the task has completed
 */
DOCA_STABLE void doca_dma_task_memcpy_set_src(struct doca_dma_task_memcpy *task,
					      const struct doca_buf *src);

/**
 * Get the source of a task.
 *
 * @param task the task, not NULL
 * @return the list, owned by the caller
 */
DOCA_STABLE const struct doca_buf *
doca_dma_task_memcpy_get_src(const struct doca_dma_task_memcpy *task);

/**
 * Set the destination of a task.
 *
 * @param task a task that is not submitted, not NULL
 * @param dst the list; owned by the caller, must exist until the task has completed
 */
DOCA_STABLE void doca_dma_task_memcpy_set_dst(struct doca_dma_task_memcpy *task,
					      struct doca_buf *dst);

/**
 * Get the destination of a task.
 *
 * @param task the task, not NULL
 * @return the list, owned by the caller
 */
DOCA_STABLE struct doca_buf *doca_dma_task_memcpy_get_dst(const struct doca_dma_task_memcpy *task);

/**
 * Get a GPU handle. The GPU data path is not supported.
 *
 * @param dma the object
 * @param gpu_dma not written
 * @return
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_dma_get_gpu_handle(struct doca_dma *dma,
						       struct doca_gpu_dma **gpu_dma);

/**
 * Request that tasks complete in the order of submission. In this library they always do.
 *
 * @param dma an object whose context is IDLE
 * @param ordered_completions 1 to request the order, 0 otherwise
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_BAD_STATE: the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_dma_set_ordered_completions(struct doca_dma *dma,
								uint8_t ordered_completions);

/**
 * Get the value set by doca_dma_set_ordered_completions().
 *
 * @param dma the object, in any state of its context
 * @param ordered_completions out: 1 or 0; 0 if none was set
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_EXPERIMENTAL doca_error_t doca_dma_get_ordered_completions(struct doca_dma *dma,
								uint8_t *ordered_completions);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DMA_H_ */
