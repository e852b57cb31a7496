/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Copies by the device's DMA engine: a context (doca_ctx.h) whose tasks copy the data of one buf
 * behind the data of another.
 *
 * A source or a destination may be a list of bufs, and may be on a map that was imported over PCI;
 * not on one that was imported over RDMA. Tasks of one context end in the order in which they were
 * submitted. A task that fails makes its context STOPPING: tasks behind it end with success or are
 * flushed, and it becomes IDLE when all tasks are freed.
 *
 * Thread safety of all functions: a context, its tasks and its progress engine may be used by one
 * thread at a time; capabilities can be asked from any thread. On any error the outputs keep their
 * values. Semantics: DOCA 3.0, doca_dma.h.
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
 * Called when a task ended; it is the user's again: to free, to submit anew or to keep.
 *
 * @param task the task; doca_task_get_status() tells how it ended
 * @param task_user_data the task's word at the moment
 * @param ctx_user_data the context's word at the moment
 */
typedef void (*doca_dma_task_memcpy_completion_cb_t)(struct doca_dma_task_memcpy *task,
						     union doca_data task_user_data,
						     union doca_data ctx_user_data);

/**
 * Create a DMA context.
 *
 * @param dev an open device; in use until doca_dma_destroy()
 * @param dma out: the context, owned by the caller until doca_dma_destroy()
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_NO_MEMORY when an allocation fails
 */
DOCA_STABLE doca_error_t doca_dma_create(struct doca_dev *dev, struct doca_dma **dma);

/**
 * Destroy a DMA context and disconnect it from its progress engine.
 *
 * @param dma a context that is IDLE; gone after success. Allowed in its own callbacks
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_IN_USE when it is not IDLE
 */
DOCA_STABLE doca_error_t doca_dma_destroy(struct doca_dma *dma);

/**
 * The context of a DMA object.
 *
 * @param dma the object
 * @return its context, valid until doca_dma_destroy(); NULL for NULL
 */
DOCA_STABLE struct doca_ctx *doca_dma_as_ctx(struct doca_dma *dma);

/**
 * Can the device copy?
 *
 * @param devinfo the device, open or not
 * @return DOCA_SUCCESS if it can, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_NOT_SUPPORTED when it has neither a DMA engine nor an active port to copy by,
 *         DOCA_ERROR_DRIVER when it does not answer
 */
DOCA_STABLE doca_error_t doca_dma_cap_task_memcpy_is_supported(const struct doca_devinfo *devinfo);

/**
 * The most that one task can copy.
 *
 * @param devinfo the device, open or not
 * @param max_buf_size out: bytes, of all elements of a source list together
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument,
 *         DOCA_ERROR_DRIVER when the device does not answer
 */
DOCA_STABLE doca_error_t doca_dma_cap_task_memcpy_get_max_buf_size(
	const struct doca_devinfo *devinfo, uint64_t *max_buf_size);

/**
 * The longest list that a source or a destination can be.
 *
 * @param devinfo the device, open or not
 * @param max_buf_list_len out: the number of bufs, the head included
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t doca_dma_cap_task_memcpy_get_max_buf_list_len(
	const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);

/**
 * The most tasks that doca_dma_task_memcpy_set_conf() takes.
 *
 * @param dma the object, in any state of its context
 * @param max_num_tasks out: tasks
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t doca_dma_cap_get_max_num_tasks(struct doca_dma *dma,
							uint32_t *max_num_tasks);

/**
 * Prepare for copies; must be done before the context is started.
 *
 * @param dma an object whose context is IDLE
 * @param task_completion_cb called for tasks that did what they were for
 * @param task_error_cb called for tasks that did not; may be the same function
 * @param num_memcpy_tasks how many can be allocated at once, 1 to the maximum
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument or a number out of that range,
 *         DOCA_ERROR_BAD_STATE when the context is not IDLE
 */
DOCA_STABLE doca_error_t doca_dma_task_memcpy_set_conf(
	struct doca_dma *dma, doca_dma_task_memcpy_completion_cb_t task_completion_cb,
	doca_dma_task_memcpy_completion_cb_t task_error_cb, uint32_t num_memcpy_tasks);

/**
 * Allocate a task. It can be submitted again and again, with other bufs each time.
 *
 * @param dma an object whose context is RUNNING
 * @param src the list whose data is read; the caller's, kept until the task ended
 * @param dst the list behind whose data is written; the caller's, kept until the task ended
 * @param user_data the task's word
 * @param task out: the task, owned by the caller until doca_task_free()
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL object or output,
 *         DOCA_ERROR_BAD_STATE when the context is not RUNNING,
 *         DOCA_ERROR_NO_MEMORY when all tasks are allocated
 */
DOCA_STABLE doca_error_t doca_dma_task_memcpy_alloc_init(struct doca_dma *dma,
							 const struct doca_buf *src,
							 struct doca_buf *dst,
							 union doca_data user_data,
							 struct doca_dma_task_memcpy **task);

/**
 * The task as what doca_pe.h works on. Its status, once it ended: DOCA_SUCCESS; the destination's
 * data is longer by what was copied then; or, with the bufs as they were,
 * DOCA_ERROR_IO_FAILED for no data, more data than one task can copy, longer lists than the
 * maximum, and failures of the device,
 * DOCA_ERROR_INVALID_VALUE for a NULL buf and for a destination with too little room,
 * DOCA_ERROR_NOT_FOUND for a map that does not have the context's device,
 * DOCA_ERROR_BAD_STATE for a map that is not started,
 * DOCA_ERROR_NOT_SUPPORTED for a map imported over RDMA,
 * DOCA_ERROR_NOT_PERMITTED for an access that the map does not permit or no longer permits,
 * DOCA_ERROR_SHUTDOWN for a task flushed because of one before it.
 *
 * @param task the task
 * @return the same task; NULL for NULL
 */
DOCA_STABLE struct doca_task *doca_dma_task_memcpy_as_task(struct doca_dma_task_memcpy *task);

/**
 * Choose what is read.
 *
 * @param task a task that is not submitted, not NULL
 * @param src the list; the caller's, kept until the task ended
 */
DOCA_STABLE void doca_dma_task_memcpy_set_src(struct doca_dma_task_memcpy *task,
					      const struct doca_buf *src);

/**
 * What is read.
 *
 * @param task the task, not NULL
 * @return the list, the caller's
 */
DOCA_STABLE const struct doca_buf *
doca_dma_task_memcpy_get_src(const struct doca_dma_task_memcpy *task);

/**
 * Choose where it is written.
 *
 * @param task a task that is not submitted, not NULL
 * @param dst the list; the caller's, kept until the task ended
 */
DOCA_STABLE void doca_dma_task_memcpy_set_dst(struct doca_dma_task_memcpy *task,
					      struct doca_buf *dst);

/**
 * Where it is written.
 *
 * @param task the task, not NULL
 * @return the list, the caller's
 */
DOCA_STABLE struct doca_buf *doca_dma_task_memcpy_get_dst(const struct doca_dma_task_memcpy *task);

/**
 * A handle for a GPU. There is no GPU data path here.
 *
 * @param dma the object
 * @param gpu_dma not written
 * @return DOCA_ERROR_INVALID_VALUE for a NULL argument, DOCA_ERROR_NOT_SUPPORTED in all other cases
 */
DOCA_EXPERIMENTAL doca_error_t doca_dma_get_gpu_handle(struct doca_dma *dma,
						       struct doca_gpu_dma **gpu_dma);

/**
 * Ask for tasks that end in the order in which they were submitted. They always do here.
 *
 * @param dma an object whose context is IDLE
 * @param ordered_completions 1 for order, 0 for none
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_BAD_STATE when the context is not IDLE
 */
DOCA_EXPERIMENTAL doca_error_t doca_dma_set_ordered_completions(struct doca_dma *dma,
								uint8_t ordered_completions);

/**
 * What doca_dma_set_ordered_completions() was given; 0 before.
 *
 * @param dma the object, in any state of its context
 * @param ordered_completions out: 1 or 0
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_EXPERIMENTAL doca_error_t doca_dma_get_ordered_completions(struct doca_dma *dma,
								uint8_t *ordered_completions);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DMA_H_ */
