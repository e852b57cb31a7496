/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory of other processes that this process has mapped: registered pages of a file in memory
 * (emu_tables.shared). Copies then take place within this process. A mapping covers the pages of one
 * mkey, no others, and is writable only if the mkey is. It ends with the key that it was made for, with
 * the mkeys behind it (ipc/unmap.h), or when other mappings need its place.
 *
 * All other memory, or if the process cannot map more, is reached through the kernel as before. So a
 * mapping that is not possible is not an error.
 */
#ifndef EMU_ENGINE_MEMORY_MAPS_H
#define EMU_ENGINE_MEMORY_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/engine/memory/mkey.h"

#define ENGINE_MAP_SETS 256u
#define ENGINE_MAP_WAYS 4u
#define ENGINE_MAPS	(ENGINE_MAP_SETS * ENGINE_MAP_WAYS)
/* A page table of 8 bytes for each page belongs to them. */
#define ENGINE_MAP_BYTES (sizeof(void *) > 4 ? (uint64_t)16 << 30 : (uint64_t)256 << 20)

/* The mkeys of a mapping: the key that was used, its mkey behind an alias, and the one of the memory. */
enum { EMU_MAP_KEY, EMU_MAP_TARGET, EMU_MAP_MEMORY, EMU_MAP_MKEYS };

struct emu_map_mkey {
	uint32_t index;
	uint32_t serial;
};

struct emu_map {
	struct emu_map_mkey by[EMU_MAP_MKEYS];
	uint64_t start; /* the first address of the target that is mapped, */
	uint64_t len;	/* the number of addresses, */
	uint64_t at;	/* and where the first one is in this process */
	uint64_t pages; /* the whole mapping */
	uint64_t bytes; /* 0: it was not possible */
	uint32_t rights;
	uint32_t pass; /* the last one that used it: copies of that pass may still need it */
	uint64_t used; /* ns */
	bool taken;
};

struct emu_maps {
	uint32_t count; /* of mappings */
	uint64_t bytes; /* of them */
	uint32_t unmap; /* requests that were served */
	uint64_t evicted_at;
	struct emu_map map[ENGINE_MAP_SETS][ENGINE_MAP_WAYS];
};

/*
 * The mapping of the memory of `m`, which emu_mkey_find() returned for `key`. NULL: there is none.
 * Valid until the end of the pass.
 */
const struct emu_map *emu_maps_get(struct emu_memory *mem, uint32_t key, const struct emu_mkey *m);
/* Serve the server's requests to unmap what was revoked. `abandoned`: the server has ended; unmap everything. */
void emu_maps_prune(struct emu_memory *mem, bool abandoned);
void emu_maps_close(struct emu_memory *mem);

/* Does the mapping have these addresses of the target, for such an access? */
static inline bool emu_map_covers(const struct emu_map *map, uint32_t need, uint64_t addr,
				  uint64_t len)
{
	return (map->rights & need) == need && addr >= map->start && len <= map->len &&
	       addr - map->start <= map->len - len;
}

#endif
