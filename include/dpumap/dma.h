/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Copy queues. A copy queue copies between any two maps of a device, with the DMA engine of the
 * device.
 *
 * Copies complete in the order in which they were posted. dpumap_dma_poll() returns the
 * completions. After a failed copy, the queue is in the error state: later copies complete with
 * DOCA_ERROR_SHUTDOWN and new copies are refused, until all completions were polled and
 * dpumap_dma_reset() was called.
 *
 * Thread safety: only one thread at a time may use a queue. Different threads may use different
 * queues at once. On any error the outputs keep their values.
 */
#ifndef DPUMAP_DMA_H
#define DPUMAP_DMA_H

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_mmap;
struct dpumap_dma;

/** Engine that executes the copies of a queue. */
enum dpumap_dma_engine {
	DPUMAP_DMA_ENGINE_MMO = 1,  /**< The memory-to-memory engine of the device. */
	DPUMAP_DMA_ENGINE_RDMA = 2, /**< RDMA reads and writes from the device to itself. */
};

/** One finished copy. */
struct dpumap_dma_completion {
	union doca_data user_data; /**< Value passed to dpumap_dma_memcpy(). */
	/**
	 * - DOCA_SUCCESS: all bytes were copied.
	 * - DOCA_ERROR_NOT_PERMITTED: a map does not permit the copy, or its export has ended.
	 * - DOCA_ERROR_SHUTDOWN: not executed, because an earlier copy of the queue failed.
	 * - DOCA_ERROR_IO_FAILED: the device failed. The destination may be partly written.
	 */
	doca_error_t status;
};

/**
 * Create a copy queue.
 *
 * @param dev an open device; in use until dpumap_dma_destroy()
 * @param max_inflight number of copies that can be posted and not yet polled, at least 1
 * @param dma out: the queue, owned by the caller until dpumap_dma_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the number is 0 or exceeds the limit of the
 *   device
 * - DOCA_ERROR_NO_MEMORY: memory or device resources are exhausted
 * - DOCA_ERROR_NOT_SUPPORTED: the driver of the device is not mlx5
 * - DOCA_ERROR_NOT_CONNECTED: port 1 is down or has no address
 * - DOCA_ERROR_DRIVER: the device fails for another reason
 */
DOCA_STABLE doca_error_t dpumap_dma_create(struct doca_dev *dev, uint32_t max_inflight,
					   struct dpumap_dma **dma);

/**
 * Destroy a queue. Copies in flight are abandoned: once the function has returned, the device no
 * longer accesses memory for them, and their completions never arrive.
 *
 * @param dma the queue; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_DRIVER: the device does not release its resources; the queue still exists and can
 *   only be destroyed
 */
DOCA_STABLE doca_error_t dpumap_dma_destroy(struct dpumap_dma *dma);

/**
 * Get the engine that executes the copies.
 *
 * @param dma the queue
 * @param engine out: the engine
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t dpumap_dma_get_engine(const struct dpumap_dma *dma,
					       enum dpumap_dma_engine *engine);

/**
 * Get the maximum length of one copy.
 *
 * @param dma the queue
 * @param max_len out: number of bytes
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t dpumap_dma_get_max_len(const struct dpumap_dma *dma, uint64_t *max_len);

/**
 * Post a copy. Source and destination must not overlap. Their memory and their maps must exist
 * until the copy is polled.
 *
 * @param dma the queue
 * @param dst destination map, started or imported, with the device of the queue
 * @param dst_addr first byte to write, an address of @p dst; for an imported map, an address of
 *         the exporter
 * @param src source map, started or imported, with the device of the queue
 * @param src_addr first byte to read, an address of @p src; for an imported map, an address of the
 *         exporter
 * @param len number of bytes, from 1 to the maximum of the queue
 * @param user_data returned with the completion
 * @return
 * - DOCA_SUCCESS: the copy was posted; one completion will follow
 * - DOCA_ERROR_INVALID_VALUE: an object is NULL, the length is 0 or above the maximum, or a range
 *   is not within its map
 * - DOCA_ERROR_NOT_PERMITTED: @p dst was imported and its exporter permits only reading
 * - DOCA_ERROR_BAD_STATE: a map is not started, or the queue is in the error state
 * - DOCA_ERROR_NOT_FOUND: a map does not have the device of the queue
 * - DOCA_ERROR_NOT_SUPPORTED: a map was imported over RDMA
 * - DOCA_ERROR_AGAIN: the queue is full: poll it first
 * - DOCA_ERROR_DRIVER: the device refuses the request
 */
DOCA_STABLE doca_error_t dpumap_dma_memcpy(struct dpumap_dma *dma, struct doca_mmap *dst,
					   void *dst_addr, struct doca_mmap *src,
					   const void *src_addr, size_t len,
					   union doca_data user_data);

/**
 * Poll for finished copies, oldest first. The function never blocks.
 *
 * @param dma the queue
 * @param out out: the finished copies
 * @param max number of entries at @p out
 * @param n out: number of entries that were stored, from 0 to @p max
 * @return
 * - DOCA_SUCCESS: also if no copy has finished
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_DRIVER: the completion queue failed: destroy the queue
 */
DOCA_STABLE doca_error_t dpumap_dma_poll(struct dpumap_dma *dma, struct dpumap_dma_completion *out,
					 uint32_t max, uint32_t *n);

/**
 * Reset a queue after a failed copy, so that it can be used again. A queue that is not in the
 * error state is not changed.
 *
 * @param dma the queue, after all its completions were polled
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_IN_USE: completions have not been polled yet
 * - DOCA_ERROR_DRIVER: the device does not reset the queue
 * - DOCA_ERROR_NOT_CONNECTED: port 1 is down or has no address
 */
DOCA_STABLE doca_error_t dpumap_dma_reset(struct dpumap_dma *dma);

#ifdef __cplusplus
}
#endif

#endif /* DPUMAP_DMA_H */
