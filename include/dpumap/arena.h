/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Arenas: one range of memory of the user's choice - huge pages, memory of one NUMA node, or memory
 * that the user has - out of which the queues on a parent domain take theirs.
 *
 * Pieces are multiples of 64 bytes, zeroed when they are handed out. Memory that an arena maps
 * itself is not inherited by children of fork; of memory that the user brings the user makes sure
 * (see dpumap_alloc_cb).
 *
 * Thread safety: pieces may be taken and given back by several threads at once; the arena itself is
 * created and destroyed by one. On any error the outputs keep their values.
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
 * Make an arena of memory that the caller has.
 *
 * @param memory aligned to 64; the arena's alone until dpumap_arena_destroy(), which leaves it as
 * it is
 * @param len bytes, at least 64; what is beyond a multiple of 64 is not used
 * @param arena out: the arena, owned by the caller until dpumap_arena_destroy()
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL argument, memory that is not aligned or too short,
 *         DOCA_ERROR_NO_MEMORY when memory runs out
 */
DOCA_STABLE doca_error_t dpumap_arena_create(void *memory, size_t len, struct dpumap_arena **arena);

/**
 * Make an arena of huge pages.
 *
 * @param page_size bytes of one page, a power of two; 0 for what is usual on this machine
 * @param len bytes, at least 1; rounded up to whole pages
 * @param arena out: the arena, owned by the caller until dpumap_arena_destroy()
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL argument, a length of 0 or one that no address space
 * has, or a size that is no power of two,
 *         DOCA_ERROR_NO_MEMORY when not as many huge pages are free (sysctl vm.nr_hugepages),
 *         DOCA_ERROR_NOT_SUPPORTED when this machine has no huge pages of that size,
 *         DOCA_ERROR_OPERATING_SYSTEM when the kernel refuses otherwise
 */
DOCA_STABLE doca_error_t dpumap_arena_create_huge_pages(size_t page_size, size_t len,
							struct dpumap_arena **arena);

/**
 * Make an arena of memory of one NUMA node, all of it there from the start.
 *
 * @param node the node, as numactl --hardware counts them
 * @param len bytes, at least 1; rounded up to whole pages
 * @param arena out: the arena, owned by the caller until dpumap_arena_destroy()
 * @return DOCA_SUCCESS,
 *         DOCA_ERROR_INVALID_VALUE for a NULL argument, a length of 0 or one that no address space
 * has,
 *         DOCA_ERROR_NOT_FOUND when this machine has no such node, or none that this process may
 * use,
 *         DOCA_ERROR_NO_MEMORY when the node has not as much,
 *         DOCA_ERROR_NOT_SUPPORTED when the kernel knows no nodes,
 *         DOCA_ERROR_NOT_PERMITTED when the process may not choose nodes,
 *         DOCA_ERROR_OPERATING_SYSTEM when the kernel refuses otherwise
 */
DOCA_STABLE doca_error_t dpumap_arena_create_on_node(unsigned int node, size_t len,
						     struct dpumap_arena **arena);

/**
 * Unmap an arena.
 *
 * @param arena the arena; gone after success
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for NULL,
 *         DOCA_ERROR_IN_USE while a piece of it was not given back
 */
DOCA_STABLE doca_error_t dpumap_arena_destroy(struct dpumap_arena *arena);

/**
 * The callbacks that take pieces of an arena and give them back, for
 * dpumap_parent_domain_create() or to be called by the user.
 *
 * @param arena the arena; outlives every use of the callbacks
 * @param allocator out: the callbacks
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t dpumap_arena_get_allocator(struct dpumap_arena *arena,
						    struct dpumap_allocator *allocator);

/**
 * How much of an arena there is, and how much is handed out.
 *
 * @param arena the arena
 * @param len out: all bytes
 * @param used out: bytes of the pieces that are handed out
 * @return DOCA_SUCCESS, DOCA_ERROR_INVALID_VALUE for a NULL argument
 */
DOCA_STABLE doca_error_t dpumap_arena_get_usage(struct dpumap_arena *arena, size_t *len,
						size_t *used);

#ifdef __cplusplus
}
#endif

#endif /* DPUMAP_ARENA_H */
