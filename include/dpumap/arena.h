/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Arenas. An arena is one range of memory from which the queues of a parent domain allocate their
 * memory. It consists of huge pages, of memory of one NUMA node, or of memory of the caller.
 *
 * The size of each piece is a multiple of 64 bytes. A piece is zeroed when it is allocated.
 * Children of fork() do not inherit memory that an arena maps itself. For memory of the caller,
 * the caller must ensure this (see dpumap_alloc_cb).
 *
 * Thread safety: several threads may allocate and free pieces at once. Only one thread may create
 * or destroy an arena. On any error the outputs keep their values.
 */
#ifndef DPUMAP_ARENA_H
#define DPUMAP_ARENA_H

#include <stddef.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <dpumap/parent_domain.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dpumap_arena;

/**
 * Create an arena from memory of the caller.
 *
 * @param memory the memory, aligned to 64 bytes; used only by the arena until
 *         dpumap_arena_destroy(), which does not change it
 * @param len number of bytes, at least 64; bytes beyond a multiple of 64 are not used
 * @param arena out: the arena, owned by the caller until dpumap_arena_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the memory is not aligned or too short
 * - DOCA_ERROR_NO_MEMORY: memory is exhausted
 */
DOCA_STABLE doca_error_t dpumap_arena_create(void *memory, size_t len, struct dpumap_arena **arena);

/**
 * Create an arena of huge pages.
 *
 * @param page_size size of a page in bytes, a power of two; 0 for the default size of this machine
 * @param len number of bytes, at least 1; rounded up to whole pages
 * @param arena out: the arena, owned by the caller until dpumap_arena_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, the length is 0 or exceeds the address space,
 *   or the page size is not a power of two
 * - DOCA_ERROR_NO_MEMORY: there are not enough free huge pages (sysctl vm.nr_hugepages)
 * - DOCA_ERROR_NOT_SUPPORTED: this machine does not support huge pages of this size
 * - DOCA_ERROR_OPERATING_SYSTEM: the kernel refuses for another reason
 */
DOCA_STABLE doca_error_t dpumap_arena_create_huge_pages(size_t page_size, size_t len,
							struct dpumap_arena **arena);

/**
 * Create an arena of memory of one NUMA node. All its pages are allocated at once.
 *
 * @param node number of the node, as in numactl --hardware
 * @param len number of bytes, at least 1; rounded up to whole pages
 * @param arena out: the arena, owned by the caller until dpumap_arena_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the length is 0 or exceeds the address space
 * - DOCA_ERROR_NOT_FOUND: this machine does not have the node, or the process may not use it
 * - DOCA_ERROR_NO_MEMORY: the node does not have enough free memory
 * - DOCA_ERROR_NOT_SUPPORTED: the kernel does not support NUMA nodes
 * - DOCA_ERROR_NOT_PERMITTED: the process may not select nodes
 * - DOCA_ERROR_OPERATING_SYSTEM: the kernel refuses for another reason
 */
DOCA_STABLE doca_error_t dpumap_arena_create_on_node(unsigned int node, size_t len,
						     struct dpumap_arena **arena);

/**
 * Destroy an arena, and unmap its memory if the arena mapped it.
 *
 * @param arena the arena; invalid after success
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_IN_USE: a piece of the arena is still allocated
 */
DOCA_STABLE doca_error_t dpumap_arena_destroy(struct dpumap_arena *arena);

/**
 * Get the callbacks that allocate and free pieces of an arena, for dpumap_parent_domain_create()
 * or for direct calls.
 *
 * @param arena the arena, which must outlive every use of the callbacks
 * @param allocator out: the callbacks
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t dpumap_arena_get_allocator(struct dpumap_arena *arena,
						    struct dpumap_allocator *allocator);

/**
 * Get the size of an arena and the size of its allocated pieces.
 *
 * @param arena the arena
 * @param len out: number of bytes of the arena
 * @param used out: number of bytes of the allocated pieces
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 */
DOCA_STABLE doca_error_t dpumap_arena_get_usage(struct dpumap_arena *arena, size_t *len,
						size_t *used);

#ifdef __cplusplus
}
#endif

#endif /* DPUMAP_ARENA_H */
