/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The send queue of a queue pair with a DMA engine, and its completion queue. Work requests are
 * written to, and completions read from, the memory of the queues, which mlx5dv_init_obj() gives:
 * without locks, for one thread. Only the last copy before each doorbell is signaled, and some
 * copies of long runs. The device completes in order, so a completion covers all earlier copies.
 *
 * Copies are numbered from 0, modulo 2^32.
 */
#ifndef DPUMAP_DEVICE_QUEUE_SEND_QUEUE_H
#define DPUMAP_DEVICE_QUEUE_SEND_QUEUE_H

#include <endian.h>
#include <stdbool.h>

#include <doca_compat.h>

#include <doca_common_defines.h>

#include "device/memory/region.h"

struct dpumap_queue;

#define DPUMAP_SQ_OPCODE_MMO 0x0100002fu /* opmod and opcode of a copy */
#define DPUMAP_SQ_CQ_UPDATE  0x8u
#define DPUMAP_SQ_MAX_LEN    0x7fffffffu /* mask: 2^31 bytes are encoded as 0 */
/* Bytes posted before a copy is signaled; each copy counts COPY_COST more than its length. */
#define DPUMAP_SQ_MAX_UNSIGNALED (64u << 10)
#define DPUMAP_SQ_COPY_COST	 (2u << 10)

/* Segments of a work request (WQE), in the device's byte order. */
struct dpumap_sq_seg {
	uint32_t len;
	uint32_t key;
	uint64_t addr;
};

struct dpumap_sq_wqe {
	uint32_t opcode, qpn, flags, imm;
	struct dpumap_sq_seg scratch; /* where the device keeps the state of the copy */
	struct dpumap_sq_seg src, dst;
};

_Static_assert(sizeof(struct dpumap_sq_wqe) == 64, "one block of a send queue");

/* The part that dpumap_sq_post() needs; send_queue.c has the rest. */
struct dpumap_sq {
	struct dpumap_sq_wqe *wqes, *last; /* last: posted last */
	uint32_t mask;
	uint32_t depth;
	uint32_t posted, completed;
	uint32_t unsignaled; /* bytes and costs since the last signaled copy */
	uint32_t qpn;	     /* as a WQE has it, with its size */
	struct dpumap_sq_seg scratch;
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

static inline void dpumap_sq_fill(struct dpumap_sq_seg *seg, const struct dpumap_sq_key *key,
				  uint64_t addr, size_t len)
{
	seg->len = htobe32((uint32_t)len & DPUMAP_SQ_MAX_LEN);
	seg->key = htobe32(key->lkey);
	seg->addr = htobe64(addr + key->iova_offset);
}

/* Post one copy of 1 byte to the queue's maximum; false if `depth` copies are in flight. */
static inline bool dpumap_sq_post(struct dpumap_sq *sq, const struct dpumap_sq_key *dst,
				  uint64_t dst_addr, const struct dpumap_sq_key *src,
				  uint64_t src_addr, size_t len)
{
	uint32_t posted = sq->posted;
	struct dpumap_sq_wqe *wqe = &sq->wqes[posted & sq->mask];

	if (doca_unlikely(posted - sq->completed == sq->depth))
		return false;
	wqe->opcode = htobe32(DPUMAP_SQ_OPCODE_MMO | (posted & 0xffff) << 8);
	wqe->qpn = sq->qpn;
	wqe->flags = 0;
	wqe->imm = 0;
	sq->unsignaled += (uint32_t)len + DPUMAP_SQ_COPY_COST;
	if (doca_unlikely(sq->unsignaled >= DPUMAP_SQ_MAX_UNSIGNALED)) {
		sq->unsignaled = 0;
		wqe->flags = htobe32(DPUMAP_SQ_CQ_UPDATE);
	}
	wqe->scratch = sq->scratch;
	dpumap_sq_fill(&wqe->src, src, src_addr, len);
	dpumap_sq_fill(&wqe->dst, dst, dst_addr, len);
	sq->last = wqe;
	sq->posted = posted + 1;
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
