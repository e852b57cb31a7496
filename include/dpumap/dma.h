/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The copy queue: work requests on the DMA engine of a device, between any two maps that the device
 * has.
 *
 * Copies complete in the order in which they were posted, and only through dpumap_dma_poll(). After
 * a failed copy the queue is in error: copies posted after it come back with DOCA_ERROR_SHUTDOWN
 * and new ones are refused, until everything was polled and dpumap_dma_reset() was called.
 *
 * Thread safety: one queue may be used by one thread at a time; different queues by different
 * threads at once. On any error the outputs keep their values.
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

/** What executes the copies of a queue. */
enum dpumap_dma_engine {
	DPUMAP_DMA_ENGINE_MMO = 1,  /**< The memory-to-memory engine of the device. */
	DPUMAP_DMA_ENGINE_RDMA = 2, /**< RDMA reads and writes of the device to itself. */
};

/** One finished copy. */
struct dpumap_dma_completion {
	union doca_data user_data; /**< What was given to dpumap_dma_memcpy(). */
	/**
	 * DOCA_SUCCESS: all bytes are at the destination.
	 * DOCA_ERROR_NOT_PERMITTED: a map does not allow it, or its export has ended.
	 * DOCA_ERROR_SHUTDOWN: not executed, because an earlier copy of the queue failed.
	 * DOCA_ERROR_IO_FAILED: the device failed. The destination may be partly written.
	 */
	doca_error_t status;
};

/**
 * Create a copy queue.
 *
 * @param dev an open device; in use until dpumap_dma_destroy()
 * @param max_inflight copies that can be posted and not yet polled, at least 1
 * @param dma out: the queue, owned by the caller until dpumap_dma_destroy()
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL argument, or a number that is 0 or beyond the device,
 *         DOCA_ERROR_NO_MEMORY when memory or device resources run out,
 *         DOCA_ERROR_NOT_SUPPORTED when it is no mlx5 device,
 *         DOCA_ERROR_NOT_SUPPORTED when it is no mlx5 device,
 *         DOCA_ERROR_NOT_CONNECTED when port 1 is down or has no address,
 *         DOCA_ERROR_DRIVER when the device fails otherwise
 */
DOCA_STABLE doca_error_t dpumap_dma_create(struct doca_dev *dev, uint32_t max_inflight,
					   struct dpumap_dma **dma);

/**
 * Destroy a queue. Copies in flight are abandoned: after return the device touches no memory for
 * them and their completions never come.
 *
 * @param dma the queue; gone after success
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_DRIVER when the device does not give its resources back; the queue is still
 * there then and can only be destroyed
 */
DOCA_STABLE doca_error_t dpumap_dma_destroy(struct dpumap_dma *dma);

/**
 * What executes the copies.
 *
 * @param dma the queue
 * @param engine out: the engine
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t dpumap_dma_get_engine(const struct dpumap_dma *dma,
					       enum dpumap_dma_engine *engine);

/**
 * The largest length of one copy.
 *
 * @param dma the queue
 * @param max_len out: bytes
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t dpumap_dma_get_max_len(const struct dpumap_dma *dma, uint64_t *max_len);

/**
 * Post one copy. Source and destination must not overlap, and neither their memory nor their maps
 * may go away before the copy is polled.
 *
 * @param dma the queue
 * @param dst destination map, started or imported, with the device of the queue
 * @param dst_addr first byte written, an address of @p dst (for an imported map the exporter's)
 * @param src source map, started or imported, with the device of the queue
 * @param src_addr first byte read, an address of @p src
 * @param len bytes, 1 to the maximum of the queue
 * @param user_data comes back with the completion
 * @return DOCA_SUCCESS: posted, one completion will come,
 *         DOCA_ERROR_INVALID_VALUE for a NULL object, a length of 0 or above the maximum, or bytes
 * outside the range of a map, DOCA_ERROR_NOT_PERMITTED when @p dst was imported and its exporter
 * permits reading only, DOCA_ERROR_BAD_STATE when a map is not started, or the queue is in
 * error, DOCA_ERROR_NOT_FOUND when a map does not have the device of the queue,
 * DOCA_ERROR_NOT_SUPPORTED when a map was imported over RDMA, DOCA_ERROR_AGAIN when the queue is
 * full: poll first, DOCA_ERROR_DRIVER when the device refuses the request
 */
DOCA_STABLE doca_error_t dpumap_dma_memcpy(struct dpumap_dma *dma, struct doca_mmap *dst,
					   void *dst_addr, struct doca_mmap *src,
					   const void *src_addr, size_t len,
					   union doca_data user_data);

/**
 * Fetch finished copies, oldest first. Never blocks.
 *
 * @param dma the queue
 * @param out out: the finished copies
 * @param max room at @p out
 * @param n out: how many were stored, 0 to @p max
 * @return DOCA_SUCCESS, also when nothing has finished, DOCA_ERROR_INVALID_VALUE for a NULL
 * argument, DOCA_ERROR_DRIVER when the completion queue itself is broken: destroy the queue
 */
DOCA_STABLE doca_error_t dpumap_dma_poll(struct dpumap_dma *dma, struct dpumap_dma_completion *out,
					 uint32_t max, uint32_t *n);

/**
 * Make a queue usable again after a failed copy. Does nothing on a queue that is not in error.
 *
 * @param dma the queue, everything posted to it polled
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_IN_USE when copies are still to be polled,
 *         DOCA_ERROR_DRIVER or DOCA_ERROR_NOT_CONNECTED when the device does not bring the queue up
 */
DOCA_STABLE doca_error_t dpumap_dma_reset(struct dpumap_dma *dma);

#ifdef __cplusplus
}
#endif

#endif /* DPUMAP_DMA_H */
