/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Memory of arenas that the library maps itself. */
#ifndef DPUMAP_CORE_DOMAIN_ARENA_MEMORY_H
#define DPUMAP_CORE_DOMAIN_ARENA_MEMORY_H

#include <stddef.h>

#include <dpumap/arena.h>

struct arena_memory {
	void *base;
	size_t len;
};

doca_error_t dpumap_arena_map_huge_pages(size_t page_size, size_t len, struct arena_memory *memory);
doca_error_t dpumap_arena_map_on_node(unsigned int node, size_t len, struct arena_memory *memory);
void dpumap_arena_unmap(const struct arena_memory *memory);

#endif
