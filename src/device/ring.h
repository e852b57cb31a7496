/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The short way to the DMA engine: work requests of a queue, its completions and their events are
 * written and read in the memory of the queue itself, as mlx5dv_init_obj() gives it, without locks,
 * for one thread. Only the last copy before each doorbell is reported, and some in long runs; the
 * device completes in order, so that a report is of all copies up to its own.
 *
 * Copies are numbered from 0 on, modulo 2^32.
 */
#ifndef DPUMAP_DEVICE_RING_H
#define DPUMAP_DEVICE_RING_H

#include <endian.h>
#include <stdbool.h>

#include <doca_compat.h>

#include <doca_common_defines.h>

#include "device/region.h"

struct dpumap_queue;

#define DPUMAP_RING_MMO	       0x0100002fu /* opmod and opcode of a copy */
#define DPUMAP_RING_REPORT     0x8u
#define DPUMAP_RING_MAX_LEN    0x7fffffffu /* 2^31 bytes are written as 0 */
#define DPUMAP_RING_MAX_SILENT (64u << 10) /* bytes that wait for a report, with */
#define DPUMAP_RING_COPY_COST  (2u << 10)  /* that many for each copy */

/* Segments of a work request, in the device's byte order. */
struct dpumap_ring_seg {
	uint32_t len;
	uint32_t key;
	uint64_t addr;
};

struct dpumap_ring_request {
	uint32_t opcode, qpn, flags, imm;
	struct dpumap_ring_seg scratch; /* where the device keeps the state of the copy */
	struct dpumap_ring_seg src, dst;
};

_Static_assert(sizeof(struct dpumap_ring_request) == 64, "one block of a send queue");

/* What posting needs of a ring; the rest is the device's room's. */
struct dpumap_ring {
	struct dpumap_ring_request *requests, *last; /* the last that was posted */
	uint32_t mask;
	uint32_t depth;
	uint32_t posted, completed;
	uint32_t silent; /* DPUMAP_RING_MAX_SILENT and so on */
	uint32_t qpn;	 /* as in a request */
	struct dpumap_ring_seg scratch;
};

struct dpumap_ring_report {
	uint32_t end; /* copies below it are completed, all but the last with success */
	doca_error_t status;
};

/* For the rest of the queue's life, which nothing else posts to or polls. *ring is NULL when the
 * device has no DMA engine. */
doca_error_t dpumap_ring_open(struct dpumap_queue *queue, struct dpumap_ring **ring);
/* After the queue was destroyed. */
void dpumap_ring_close(struct dpumap_ring *ring);

/* What copies call the bytes of a region: by a key, at their address in the range plus shift. */
struct dpumap_ring_name {
	uint32_t key;
	uint64_t shift;
};

struct dpumap_ring_name dpumap_ring_name(const struct dpumap_region *region);

static inline void dpumap_ring_fill(struct dpumap_ring_seg *seg,
				    const struct dpumap_ring_name *name, uint64_t addr, size_t len)
{
	seg->len = htobe32((uint32_t)len & DPUMAP_RING_MAX_LEN);
	seg->key = htobe32(name->key);
	seg->addr = htobe64(addr + name->shift);
}

/* One copy of 1 to the queue's maximum of bytes; false when as many as its depth are in flight. */
static inline bool dpumap_ring_post(struct dpumap_ring *ring, const struct dpumap_ring_name *dst,
				    uint64_t dst_addr, const struct dpumap_ring_name *src,
				    uint64_t src_addr, size_t len)
{
	uint32_t posted = ring->posted;
	struct dpumap_ring_request *request = &ring->requests[posted & ring->mask];

	if (doca_unlikely(posted - ring->completed == ring->depth))
		return false;
	request->opcode = htobe32(DPUMAP_RING_MMO | (posted & 0xffff) << 8);
	request->qpn = ring->qpn;
	request->flags = 0;
	request->imm = 0;
	ring->silent += (uint32_t)len + DPUMAP_RING_COPY_COST;
	if (doca_unlikely(ring->silent >= DPUMAP_RING_MAX_SILENT)) {
		ring->silent = 0;
		request->flags = htobe32(DPUMAP_RING_REPORT);
	}
	request->scratch = ring->scratch;
	dpumap_ring_fill(&request->src, src, src_addr, len);
	dpumap_ring_fill(&request->dst, dst, dst_addr, len);
	ring->last = request;
	ring->posted = posted + 1;
	return true;
}

/* The device hears of what was posted. */
void dpumap_ring_flush(struct dpumap_ring *ring);
/* False: nothing was reported. After a failure all copies are, with DOCA_ERROR_SHUTDOWN. */
bool dpumap_ring_poll(struct dpumap_ring *ring, struct dpumap_ring_report *report);
/* An event at the next report; one that is there need not be told of: poll for it afterwards. */
void dpumap_ring_arm(struct dpumap_ring *ring);

#endif
