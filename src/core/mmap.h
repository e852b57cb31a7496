/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The memory map object. mmap.c creates, reads and destroys it, mmap_config.c sets it up,
 * mmap_state.c starts and stops it, mmap_export.c carries it to others and back.
 */
#ifndef DPUMAP_CORE_MMAP_H
#define DPUMAP_CORE_MMAP_H

#include <stdbool.h>

#include <doca_mmap.h>

#include "core/dev.h"
#include "core/dm.h"
#include "device/region.h"

enum mmap_state {
	MMAP_NEW,
	MMAP_STARTED,
	MMAP_STOPPED,
	MMAP_IMPORTED,
	MMAP_IMPORTED_STOPPED,
};

/* One device of a map, with what it has while the map is started. */
struct mmap_slot {
	struct doca_dev *dev;
	struct dpumap_region *region;
	void *desc; /* holds the access key: wiped before it is freed */
	size_t desc_len;
};

struct doca_mmap {
	enum mmap_state state;
	bool was_started;
	uint32_t access;

	bool has_range;
	struct dpumap_range range;
	struct dpumap_dm *dm; /* NULL for memory of the process */
	size_t dm_offset;

	doca_mmap_memrange_free_cb_t *free_cb;
	void *free_cookie;
	bool free_armed; /* started with that callback */
	union doca_data user_data;

	uint32_t max_slots;
	uint32_t num_slots;
	struct mmap_slot *slots;
};

static inline bool dpumap_mmap_is_imported(const struct doca_mmap *mmap)
{
	return mmap->state == MMAP_IMPORTED || mmap->state == MMAP_IMPORTED_STOPPED;
}

static inline bool dpumap_mmap_is_usable(const struct doca_mmap *mmap)
{
	return mmap->state == MMAP_STARTED || mmap->state == MMAP_IMPORTED;
}

static inline struct mmap_slot *dpumap_mmap_find_slot(const struct doca_mmap *mmap,
						      const struct doca_dev *dev)
{
	for (uint32_t i = 0; i < mmap->num_slots; i++)
		if (mmap->slots[i].dev == dev)
			return &mmap->slots[i];
	return NULL;
}

/* Log and return what a setter says on a map that may not be changed; DOCA_SUCCESS if it may. */
doca_error_t dpumap_mmap_check_settable(const struct doca_mmap *mmap, const char *function);

/* Take the range off one device, with its descriptor. On failure the slot keeps both. */
doca_error_t dpumap_mmap_unregister(struct mmap_slot *slot);

/* Append a device; the checks are the caller's. */
doca_error_t dpumap_mmap_add_slot(struct doca_mmap *mmap, struct doca_dev *dev);

#endif
