/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Parent domains. A program creates the copy queues of dpumap/dma.h on a parent domain to choose
 * the memory of the queues, and whether the queues use locks.
 *
 * Thread safety: only one thread may destroy a domain. Several threads may create queues on one
 * domain at once, unless it is a thread domain; they then call the callbacks of its allocator at
 * once. On any error the outputs keep their values. Semantics: ibv_alloc_parent_domain(3),
 * ibv_alloc_td(3).
 */
#ifndef DPUMAP_PARENT_DOMAIN_H
#define DPUMAP_PARENT_DOMAIN_H

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <dpumap/dma.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct dpumap_parent_domain;

/** Purpose of memory of a queue. */
enum dpumap_resource {
	DPUMAP_RESOURCE_QP = 1,	      /**< Work requests of a queue pair. */
	DPUMAP_RESOURCE_DOORBELL = 3, /**< A doorbell record, 8 bytes. */
	DPUMAP_RESOURCE_CQ = 5,	      /**< Entries of a completion queue. */
};

/** Result of an allocator that lets libmlx5 allocate this memory. */
#define DPUMAP_ALLOC_DEFAULT ((void *)(intptr_t)-1)

/**
 * Allocate memory that the device accesses while a queue exists.
 *
 * The memory must have the requested alignment and must be zero. If the program enabled the fork
 * support of rdma-core and the kernel needs it, the pages must not be copied to a child on fork
 * (MADV_DONTFORK or MAP_SHARED). The library always checks the alignment, and checks the other two
 * conditions in builds without NDEBUG. If a check fails, the queue is not created. The callback
 * runs in the thread that creates the queue. It must not use the domain.
 *
 * @return the memory, DPUMAP_ALLOC_DEFAULT, or NULL if no memory is available: then the queue is
 *         not created
 */
typedef void *dpumap_alloc_cb(void *context, size_t size, size_t alignment,
			      enum dpumap_resource resource);

/** Free memory of the allocation callback; never called with DPUMAP_ALLOC_DEFAULT. */
typedef void dpumap_free_cb(void *context, void *memory, enum dpumap_resource resource);

/** Allocator for the memory of queues. */
struct dpumap_allocator {
	dpumap_alloc_cb *alloc;
	dpumap_free_cb *free;
	void *context; /**< First argument of both callbacks. */
};

/** Attributes of a parent domain; dpumap_dma_create() uses all zero. */
struct dpumap_parent_domain_attr {
	/** Copied; NULL: libmlx5 allocates. Its context must outlive the domain. */
	const struct dpumap_allocator *allocator;
	/**
	 * Not 0: a thread domain. Only one thread at a time may use the queues of the domain, and
	 * they take no locks.
	 */
	uint8_t single_thread;
};

/**
 * Create a parent domain.
 *
 * @param dev an open device; in use until dpumap_parent_domain_destroy()
 * @param attr attributes of the domain; NULL is the same as all zero
 * @param domain out: the domain, owned by the caller until dpumap_parent_domain_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or a callback of the allocator is NULL
 * - DOCA_ERROR_NO_MEMORY: memory or doorbell pages of the device are exhausted
 * - DOCA_ERROR_NOT_SUPPORTED: the driver does not support parent domains
 * - DOCA_ERROR_DRIVER: the device fails for another reason
 */
DOCA_STABLE doca_error_t dpumap_parent_domain_create(struct doca_dev *dev,
						     const struct dpumap_parent_domain_attr *attr,
						     struct dpumap_parent_domain **domain);

/**
 * Destroy a parent domain.
 *
 * @param domain the domain; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_IN_USE: a queue on the domain exists; nothing has changed
 * - DOCA_ERROR_DRIVER: the device does not release its resources; the domain still exists and can
 *   only be destroyed
 */
DOCA_STABLE doca_error_t dpumap_parent_domain_destroy(struct dpumap_parent_domain *domain);

/**
 * Create a copy queue on a parent domain and its device; the counterpart of dpumap_dma_create().
 *
 * @param domain the domain; in use until dpumap_dma_destroy()
 * @param max_inflight number of copies that can be posted and not yet polled, at least 1
 * @param dma out: the queue, owned by the caller until dpumap_dma_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, the number is 0 or exceeds the limit of the
 *   device, or memory of the allocator fails a check of dpumap_alloc_cb
 * - DOCA_ERROR_NO_MEMORY: memory or device resources are exhausted, or the allocator returns NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the driver of the device is not mlx5
 * - DOCA_ERROR_NOT_CONNECTED: port 1 is down or has no address
 * - DOCA_ERROR_DRIVER: the device fails for another reason
 */
DOCA_STABLE doca_error_t dpumap_dma_create_on(struct dpumap_parent_domain *domain,
					      uint32_t max_inflight, struct dpumap_dma **dma);

#ifdef __cplusplus
}
#endif

#endif /* DPUMAP_PARENT_DOMAIN_H */
