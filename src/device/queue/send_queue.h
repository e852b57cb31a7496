/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The send queue of a queue pair with a DMA engine, and its completion queue, in the memory that the
 * device reads and writes: without locks, for one thread.
 *
 * Copies are numbered from 0, modulo 2^32. Each takes one block of the ring.
 */
#ifndef DPUMAP_DEVICE_QUEUE_SEND_QUEUE_H
#define DPUMAP_DEVICE_QUEUE_SEND_QUEUE_H

#include <endian.h>
#include <stdbool.h>

#include <doca_compat.h>

#include <doca_common_defines.h>

#include "device/memory/region.h"
#include "device/queue/send_ring.h"

struct dpumap_queue;

#define DPUMAP_SQ_MAX_LEN 0x7fffffffu /* mask: 2^31 bytes are encoded as 0 */

/* The work request of a copy. */
struct dpumap_sq_wqe {
	struct dpumap_wqe_ctrl ctrl;
	struct dpumap_wqe_data scratch; /* where the device keeps the state of the copy */
	struct dpumap_wqe_data src, dst;
};

_Static_assert(sizeof(struct dpumap_sq_wqe) == DPUMAP_WQE_BLOCK, "one block of a send queue");

/* The part that dpumap_sq_post() needs; send_queue.c has the rest. */
struct dpumap_sq {
	struct dpumap_send_ring ring;
	uint32_t depth;
	uint32_t completed;
	uint32_t qpn_ds; /* as a WQE has it */
	struct dpumap_wqe_data scratch;
};

struct dpumap_sq_completion {
	uint32_t end; /* all copies below are completed; those before the last succeeded */
	doca_error_t status;
};

/*
 * Take over posting to the queue and polling it, until it is destroyed. *sq is NULL if the device
 * has no DMA engine.
 */
doca_error_t dpumap_sq_open(struct dpumap_queue *queue, struct dpumap_sq **sq);
/* To be called after the queue was destroyed. */
void dpumap_sq_close(struct dpumap_sq *sq);

/* How a work request addresses a region: by its lkey, at address + iova_offset. */
struct dpumap_sq_key {
	uint32_t lkey;
	uint64_t iova_offset;
};

struct dpumap_sq_key dpumap_sq_key(const struct dpumap_region *region);
/* The same with the rights of others, for messages of others. */
struct dpumap_sq_key dpumap_sq_peer_key(const struct dpumap_region *region);

static inline void dpumap_sq_fill(struct dpumap_wqe_data *seg, const struct dpumap_sq_key *key,
				  uint64_t addr, size_t len)
{
	seg->len = htobe32((uint32_t)len & DPUMAP_SQ_MAX_LEN);
	seg->key = htobe32(key->lkey);
	seg->addr = htobe64(addr + key->iova_offset);
}

/* The number of copies that were posted. */
static inline uint32_t dpumap_sq_posted(const struct dpumap_sq *sq)
{
	return sq->ring.at;
}

/* Post one copy of 1 byte to the queue's maximum; false if `depth` copies are in flight. */
static inline bool dpumap_sq_post(struct dpumap_sq *sq, const struct dpumap_sq_key *dst,
				  uint64_t dst_addr, const struct dpumap_sq_key *src,
				  uint64_t src_addr, size_t len)
{
	uint32_t posted = sq->ring.at;
	struct dpumap_sq_wqe *wqe = dpumap_send_ring_block(&sq->ring, posted);

	if (doca_unlikely(posted - sq->completed == sq->depth))
		return false;
	wqe->ctrl.opcode = htobe32(DPUMAP_WQE_MMO | (posted & 0xffff) << 8);
	wqe->ctrl.qpn_ds = sq->qpn_ds;
	wqe->ctrl.flags = dpumap_send_ring_flags(&sq->ring, (uint32_t)len);
	wqe->ctrl.imm = 0;
	wqe->scratch = sq->scratch;
	dpumap_sq_fill(&wqe->src, src, src_addr, len);
	dpumap_sq_fill(&wqe->dst, dst, dst_addr, len);
	dpumap_send_ring_post(&sq->ring, &wqe->ctrl, 1);
	return true;
}

/* Ring the doorbell for all posted copies. */
void dpumap_sq_flush(struct dpumap_sq *sq);
/*
 * Take one completion; false if there is none. After a failure each remaining copy completes with
 * DOCA_ERROR_SHUTDOWN.
 */
bool dpumap_sq_poll(struct dpumap_sq *sq, struct dpumap_sq_completion *completion);
/*
 * Request an event for the next completion. A completion that arrived earlier need not raise one:
 * poll again afterwards.
 */
void dpumap_sq_arm(struct dpumap_sq *sq);

#endif
