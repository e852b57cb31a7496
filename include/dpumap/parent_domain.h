/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Parent domains: what the copy queues of dpumap/dma.h are created on, so that the user decides
 * where the memory of the queues lies and whether they need locks.
 *
 * Thread safety: a domain may be destroyed by one thread at a time. Queues may be created on one
 * domain by several threads at once unless it has a thread domain; the callbacks of its allocator
 * are then called by several threads at once. On any error the outputs keep their values.
 * Semantics: ibv_alloc_parent_domain(3), ibv_alloc_td(3).
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

/** What memory of a queue is for. */
enum dpumap_resource {
	DPUMAP_RESOURCE_QP = 1,	      /**< Work requests of a queue pair. */
	DPUMAP_RESOURCE_DOORBELL = 3, /**< A doorbell record, 8 bytes. */
	DPUMAP_RESOURCE_CQ = 5,	      /**< Entries of a completion queue. */
};

/** The answer of an allocator that leaves this piece to libmlx5. */
#define DPUMAP_ALLOC_DEFAULT ((void *)(intptr_t)-1)

/**
 * Allocate memory that the device reads and writes while a queue lives.
 *
 * It is aligned, all zero, and its pages are not copied into a child on fork (MADV_DONTFORK or
 * MAP_SHARED) when the program asked rdma-core for fork support and the kernel needs it. Builds
 * without NDEBUG check the last two; a queue whose memory is not so is not created. Called in the
 * thread that creates a queue; must not use the domain.
 *
 * @return the memory, DPUMAP_ALLOC_DEFAULT, or NULL when there is none: the queue is not created
 */
typedef void *dpumap_alloc_cb(void *context, size_t size, size_t alignment,
			      enum dpumap_resource resource);

/** Take back what the allocation callback gave; never DPUMAP_ALLOC_DEFAULT. */
typedef void dpumap_free_cb(void *context, void *memory, enum dpumap_resource resource);

/** Where the memory of queues comes from. */
struct dpumap_allocator {
	dpumap_alloc_cb *alloc;
	dpumap_free_cb *free;
	void *context; /**< First argument of both. */
};

/** What a domain is to be; all zero is what dpumap_dma_create() uses. */
struct dpumap_parent_domain_attr {
	/** Copied; NULL for memory of libmlx5. Its context lives until the domain is destroyed. */
	const struct dpumap_allocator *allocator;
	/**
	 * Not 0: a thread domain. All queues on the domain are used by one thread at a time, and
	 * take no locks.
	 */
	uint8_t single_thread;
};

/**
 * Create a domain.
 *
 * @param dev an open device; in use until dpumap_parent_domain_destroy()
 * @param attr what it is to be; NULL for all zero
 * @param domain out: the domain, owned by the caller until dpumap_parent_domain_destroy()
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL argument, or an allocator that lacks a callback,
 *         DOCA_ERROR_NO_MEMORY when memory or doorbell pages of the device run out,
 *         DOCA_ERROR_NOT_SUPPORTED when the driver has no such domains,
 *         DOCA_ERROR_DRIVER when the device fails otherwise
 */
DOCA_STABLE doca_error_t dpumap_parent_domain_create(struct doca_dev *dev,
						     const struct dpumap_parent_domain_attr *attr,
						     struct dpumap_parent_domain **domain);

/**
 * Destroy a domain.
 *
 * @param domain the domain; gone after success
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_IN_USE while a queue on it exists: nothing has changed then,
 *         DOCA_ERROR_DRIVER when the device does not give its resources back; the domain is still
 * there then and can only be destroyed
 */
DOCA_STABLE doca_error_t dpumap_parent_domain_destroy(struct dpumap_parent_domain *domain);

/**
 * Create a copy queue on a domain, with its device; the counterpart of dpumap_dma_create().
 *
 * @param domain the domain; in use until dpumap_dma_destroy()
 * @param max_inflight copies that can be posted and not yet polled, at least 1
 * @param dma out: the queue, owned by the caller until dpumap_dma_destroy()
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL argument, a number that is 0 or beyond the device, or
 * memory of the domain's allocator that is not as it has to be,
 *         DOCA_ERROR_NO_MEMORY when memory or device resources run out, or the allocator has none,
 *         DOCA_ERROR_NOT_SUPPORTED when its device is no mlx5 device,
 *         DOCA_ERROR_NOT_SUPPORTED when its device is no mlx5 device,
 *         DOCA_ERROR_NOT_CONNECTED when port 1 is down or has no address,
 *         DOCA_ERROR_DRIVER when the device fails otherwise
 */
DOCA_STABLE doca_error_t dpumap_dma_create_on(struct dpumap_parent_domain *domain,
					      uint32_t max_inflight, struct dpumap_dma **dma);

#ifdef __cplusplus
}
#endif

#endif /* DPUMAP_PARENT_DOMAIN_H */
