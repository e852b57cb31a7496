/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The memory map object. mmap.c creates, reads and destroys it, mmap_config.c and mmap_range.c set
 * it up, mmap_state.c starts and stops it, mmap_export.c hands it to others, mmap_import.c takes
 * theirs, mmap_key.c tells its keys, mmap_token.c keeps the user's.
 */
#ifndef DPUMAP_CORE_MMAP_H
#define DPUMAP_CORE_MMAP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <doca_mmap.h>
#include <dpumap/desc.h>

#include "core/dev.h"
#include "core/dm.h"
#include "core/umem.h"
#include "device/region.h"
#include "device/ring.h"

enum mmap_state {
	MMAP_NEW,
	MMAP_STARTED,
	MMAP_STOPPED,
	MMAP_IMPORTED,
	MMAP_IMPORTED_STOPPED,
};

/* A descriptor that was handed out. It may hold an access key: wiped before it is freed. */
struct mmap_desc {
	void *bytes;
	size_t len;
};

/* One device of a map, with what it has while the map is started. */
struct mmap_slot {
	struct doca_dev *dev;
	struct dpumap_region *region; /* NULL for memory of a peer, which no device here knows */
	uint32_t peer_key;
	bool ending; /* stopped, but the device did not give all of the region back */
	struct mmap_desc pci;
	struct mmap_desc rdma;
	uint8_t *token; /* access key of the user's choice for exports, or NULL */
};

struct doca_mmap {
	/* Stored last by what changes it, so that the fast path reads the range without the lock.
	 */
	_Atomic(enum mmap_state) state;
	/* The device that copies most likely are made by, and what they call the bytes, while the
	 * map is usable; else NULL. */
	_Atomic(const struct doca_dev *) usual_dev;
	struct dpumap_ring_name usual_name;
	bool was_started;
	uint32_t access;
	uint32_t ops; /* DPUMAP_DESC_OP_*: what its exporter permits, all of them if it is ours */
	uint16_t source;       /* what its exporter says it is made of; 0 if it is ours */
	pthread_mutex_t *lock; /* NULL until thread safety is enabled */
	uint32_t num_bufs;     /* not counted with a lock */

	bool has_range;
	struct dpumap_range range;
	struct dpumap_dm *dm;	  /* NULL unless the range is device memory */
	struct dpumap_umem *umem; /* NULL unless the range is registered already */
	int dmabuf;		  /* -1 unless the range is in a dma-buf; a descriptor of our own */
	size_t offset;		  /* of the range in any of them */

	doca_mmap_memrange_free_cb_t *free_cb;
	void *free_cookie;
	bool free_armed; /* started with that callback */
	union doca_data user_data;

	uint32_t max_slots;
	uint32_t num_slots;
	struct mmap_slot *slots;
};

static inline enum mmap_state dpumap_mmap_state(const struct doca_mmap *mmap)
{
	return atomic_load_explicit(&mmap->state, memory_order_acquire);
}

/* Nothing may be copied by way of usual_dev any more. */
static inline void dpumap_mmap_forget_usual(struct doca_mmap *mmap)
{
	atomic_store_explicit(&mmap->usual_dev, NULL, memory_order_release);
}

void dpumap_mmap_enter(struct doca_mmap *mmap, enum mmap_state state);

static inline bool dpumap_mmap_is_imported(const struct doca_mmap *mmap)
{
	enum mmap_state state = dpumap_mmap_state(mmap);

	return state == MMAP_IMPORTED || state == MMAP_IMPORTED_STOPPED;
}

static inline bool dpumap_mmap_is_usable(const struct doca_mmap *mmap)
{
	enum mmap_state state = dpumap_mmap_state(mmap);

	return state == MMAP_STARTED || state == MMAP_IMPORTED;
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

/* Hold the map's lock, if it has one, to the end of the function. */
#define dpumap_mmap_guard(mmap)                                                             \
	__attribute__((cleanup(dpumap_mmap_unlock), unused)) const struct doca_mmap *held = \
		dpumap_mmap_lock(mmap)

/* May this side do that to these bytes of the map? DPUMAP_DESC_ERR_DENIED, _OUTSIDE or _OK. */
static inline dpumap_desc_status_t dpumap_mmap_check_ops(const struct doca_mmap *mmap,
							 uint64_t addr, size_t len, uint32_t ops)
{
	const struct dpumap_desc_window window = {
		.addr = mmap->range.addr, .len = mmap->range.len, .ops = mmap->ops};

	return dpumap_desc_window_check(&window, addr, len, ops);
}

/* Say why dpumap_mmap_buf_take() refuses, and return it. */
doca_error_t dpumap_mmap_refuse_buf(const struct doca_mmap *mmap, uint64_t addr, size_t len);

/*
 * A buf is to point at these bytes: DOCA_ERROR_BAD_STATE when the map is not usable,
 * DOCA_ERROR_INVALID_VALUE outside its range. The buf is counted, unless thread safety is enabled:
 * then the map may be gone before its bufs, and whoever drops one must not touch the map.
 */
static inline doca_error_t dpumap_mmap_buf_take(struct doca_mmap *mmap, uint64_t addr, size_t len)
{
	if (doca_unlikely(!dpumap_mmap_is_usable(mmap) ||
			  dpumap_mmap_check_ops(mmap, addr, len, 0) != DPUMAP_DESC_OK)) {
		doca_error_t result = dpumap_mmap_refuse_buf(mmap, addr, len);

		/* A refusal is no success: told, the compiler keeps the caller's path straight. */
		if (result == DOCA_SUCCESS)
			__builtin_unreachable();
		return result;
	}
	if (doca_likely(!mmap->lock))
		mmap->num_bufs++;
	return DOCA_SUCCESS;
}

/* Does the map count its bufs? If not, a buf forgets the map instead of dropping it. */
static inline bool dpumap_mmap_counts_bufs(const struct doca_mmap *mmap)
{
	return !mmap->lock;
}

static inline void dpumap_mmap_buf_drop(struct doca_mmap *mmap)
{
	if (doca_likely(!mmap->lock))
		mmap->num_bufs--;
}

/* Log and return what is wrong with a mask of enum doca_access_flag. */
doca_error_t dpumap_mmap_check_access(uint32_t access_mask);

/* In umem.c: may the map be started over it? */
doca_error_t dpumap_umem_check_map(const struct dpumap_umem *umem, const struct doca_mmap *mmap);

/* Say why a copy by this device cannot use the map, and return it. */
doca_error_t dpumap_mmap_refuse_device(const struct doca_mmap *mmap, const struct doca_dev *dev);

/* Is usual_name what copies by this device name the map's bytes by? */
static inline bool dpumap_mmap_is_usual(const struct doca_mmap *mmap, const struct doca_dev *dev)
{
	return doca_likely(atomic_load_explicit(&mmap->usual_dev, memory_order_acquire) == dev);
}

/* What a device knows a usable map by. */
static inline doca_error_t dpumap_mmap_resolve(const struct doca_mmap *mmap,
					       const struct doca_dev *dev,
					       const struct dpumap_region **region)
{
	const struct mmap_slot *slot = dpumap_mmap_find_slot(mmap, dev);

	if (doca_unlikely(!dpumap_mmap_is_usable(mmap) || !slot || !slot->region || slot->ending))
		return dpumap_mmap_refuse_device(mmap, dev);
	*region = slot->region;
	return DOCA_SUCCESS;
}

/* Say why a task cannot reach the map through a connection, and return it. */
doca_error_t dpumap_mmap_refuse_peer(const struct doca_mmap *mmap, const struct doca_dev *dev);

/* The key by which the exporter of a map that was imported over RDMA knows it. */
static inline doca_error_t dpumap_mmap_resolve_peer(const struct doca_mmap *mmap,
						    const struct doca_dev *dev, uint32_t *key)
{
	const struct mmap_slot *slot = dpumap_mmap_find_slot(mmap, dev);

	if (doca_unlikely(!dpumap_mmap_is_usable(mmap) || !slot || !slot->peer_key))
		return dpumap_mmap_refuse_peer(mmap, dev);
	*key = slot->peer_key;
	return DOCA_SUCCESS;
}

/* Log and return what a setter says on a map that may not be changed; DOCA_SUCCESS if it may. */
doca_error_t dpumap_mmap_check_settable(const struct doca_mmap *mmap, const char *function);

/* Take the range off one device, with its descriptor. On failure the slot keeps both. */
doca_error_t dpumap_mmap_unregister(struct mmap_slot *slot);

/* In mmap_token.c: forget the user's access key for exports by this device. */
void dpumap_mmap_drop_token(struct mmap_slot *slot);

/* Append a device; the checks are the caller's. */
doca_error_t dpumap_mmap_add_slot(struct doca_mmap *mmap, struct doca_dev *dev);

#endif
