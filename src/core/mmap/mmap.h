/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The memory map object: mmap.c creates, reads and destroys it; config.c and range.c configure it;
 * state.c starts and stops it; export.c and import.c pass it to other processes; token.c keeps the
 * user's access keys; key.c returns its keys; bufs.c and resolve.c serve bufs and tasks.
 */
#ifndef DPUMAP_CORE_MMAP_MMAP_H
#define DPUMAP_CORE_MMAP_MMAP_H

#include <doca_mmap.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <dpumap/desc.h>

#include "core/dev/dev.h"
#include "core/dm/dm.h"
#include "core/umem/umem.h"
#include "device/memory/region.h"
#include "device/queue/send_queue.h"

/* A map is usable from MMAP_STARTED on: one comparison when a buf is allocated. */
enum mmap_state {
	MMAP_NEW,
	MMAP_STOPPED,
	MMAP_IMPORTED_STOPPED,
	MMAP_STARTED,
	MMAP_IMPORTED,
};

/* An exported descriptor. It may contain an access key and is wiped before it is freed. */
struct mmap_desc {
	void *bytes;
	size_t len;
};

/* One device of a map, with what it has while the map is started. */
struct mmap_slot {
	struct doca_dev *dev;
	struct dpumap_region *region; /* NULL for memory of an RDMA peer */
	uint32_t peer_key;	      /* of such memory; else 0 */
	bool ending;		      /* stopped, but not all of the region could be destroyed */
	struct mmap_desc pci;
	struct mmap_desc rdma;
	uint8_t *token; /* the user's access key for exports, or NULL */
};

struct doca_mmap {
	/* These two are stored last in each change: the fast path reads the range without the lock. */
	_Atomic(enum mmap_state) state;
	bool was_started;
	bool has_range;
	bool free_armed; /* the map was started with its free_cb */
	_Atomic uint64_t
		buf_limit; /* 1 more than the range's length while the map is usable, else 0 */
	/* The first device and its key while the map is usable, else NULL: what most copies use. */
	_Atomic(const struct doca_dev *) fast_dev;
	struct dpumap_sq_key fast_key;
	struct dpumap_sq_key fast_peer_key; /* for messages of others */
	struct dpumap_range range;
	pthread_mutex_t *lock; /* NULL until thread safety is enabled */
	uint32_t num_bufs;     /* 0 with a lock: not counted then */
	uint32_t access;
	bool has_access;      /* the program has set it */
	uint32_t ops;	      /* DPUMAP_DESC_OP_*: permitted by the exporter; all if not imported */
	int dmabuf;	      /* own file descriptor; -1 unless the range is in a dma-buf */
	struct dpumap_dm *dm; /* NULL unless the range is device memory */
	struct dpumap_umem *umem; /* NULL unless the range is on a umem */
	size_t offset;		  /* of the range in dm, umem or dmabuf */

	doca_mmap_memrange_free_cb_t *free_cb;
	void *free_cookie;
	union doca_data user_data;

	uint16_t source; /* DPUMAP_DESC_SOURCE_* of the exporter; 0 if not imported */
	uint32_t max_slots;
	uint32_t num_slots;
	struct mmap_slot *slots;
	struct mmap_slot first; /* slots of a map with one device */
};

static inline enum mmap_state dpumap_mmap_state(const struct doca_mmap *mmap)
{
	return atomic_load_explicit(&mmap->state, memory_order_acquire);
}

static inline bool dpumap_mmap_is_imported(const struct doca_mmap *mmap)
{
	enum mmap_state state = dpumap_mmap_state(mmap);

	return state == MMAP_IMPORTED || state == MMAP_IMPORTED_STOPPED;
}

static inline bool dpumap_mmap_is_usable(const struct doca_mmap *mmap)
{
	return dpumap_mmap_state(mmap) >= MMAP_STARTED;
}

static inline struct mmap_slot *dpumap_mmap_find_slot(const struct doca_mmap *mmap,
						      const struct doca_dev *dev)
{
	for (uint32_t i = 0; i < mmap->num_slots; i++)
		if (mmap->slots[i].dev == dev)
			return &mmap->slots[i];
	return NULL;
}

static inline const struct doca_mmap *dpumap_mmap_lock(const struct doca_mmap *mmap)
{
	if (mmap->lock)
		pthread_mutex_lock(mmap->lock);
	return mmap;
}

static inline void dpumap_mmap_unlock(const struct doca_mmap **mmap)
{
	if ((*mmap)->lock)
		pthread_mutex_unlock((*mmap)->lock);
}

/* Hold the map's lock, if it has one, to the end of the scope. */
#define dpumap_mmap_guard(mmap)                                                             \
	__attribute__((cleanup(dpumap_mmap_unlock), unused)) const struct doca_mmap *held = \
		dpumap_mmap_lock(mmap)

/* Settings of a map, and its list of devices. */

/* Log and return why a setter may not change the map; DOCA_SUCCESS if it may. */
doca_error_t dpumap_mmap_check_settable(const struct doca_mmap *mmap, const char *function);

/* Find the slot of a device; DOCA_ERROR_NOT_FOUND, logged, if the map does not have it. */
doca_error_t dpumap_mmap_get_slot(const struct doca_mmap *mmap, const struct doca_dev *dev,
				  struct mmap_slot **slot);

/* Append a device, unchecked. */
doca_error_t dpumap_mmap_add_slot(struct doca_mmap *mmap, struct doca_dev *dev);

/* Starting and stopping a map. */
void dpumap_mmap_set_state(struct doca_mmap *mmap, enum mmap_state state);

/* No more copies may use fast_key. */
static inline void dpumap_mmap_drop_fast_key(struct doca_mmap *mmap)
{
	atomic_store_explicit(&mmap->fast_dev, NULL, memory_order_release);
}

/* Remove the registration and descriptors of one device. On failure the slot keeps both. */
doca_error_t dpumap_mmap_unregister(struct mmap_slot *slot);

/* Access keys that users set for exports. */

/* Wipe and free the user's access key for exports by this device. */
void dpumap_mmap_drop_token(struct mmap_slot *slot);

#endif
