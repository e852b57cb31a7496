/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The send queue of a queue pair with a DMA engine or another one, and its completion queue, in the memory
 * that the device reads and writes: without locks, for one thread.
 *
 * Requests are numbered from 0, modulo 2^32. Each takes one block of the ring.
 */
#ifndef DPUMAP_DEVICE_QUEUE_SEND_QUEUE_H
#define DPUMAP_DEVICE_QUEUE_SEND_QUEUE_H

#include <endian.h>
#include <stdbool.h>
#include <string.h>

#include <doca_compat.h>

#include <doca_common_defines.h>

#include "device/memory/region.h"
#include "device/queue/send_ring.h"

struct dpumap_queue;

#define DPUMAP_SQ_IV_LEN  12
#define DPUMAP_SQ_MAX_LEN 0x7fffffffu /* mask: 2^31 bytes are encoded as 0 */

/* The work request of a copy, of a compression or of an encryption. */
struct dpumap_sq_wqe {
	struct dpumap_wqe_ctrl ctrl;
	struct dpumap_wqe_data
		scratch; /* where the device keeps the state of a copy, or a result */
	struct dpumap_wqe_data src, dst;
};

/* What a compression engine writes, in its byte order. The older one has its checksums at the end. */
struct dpumap_sq_result {
	uint32_t syndrome, reserved_1, len;
	uint32_t newer_crc32, newer_adler32, newer_crc32c, newer_xxh32, reserved_7;
	uint32_t older_crc32, older_adler32, reserved_10[54];
};

_Static_assert(sizeof(struct dpumap_sq_result) == 256, "result of a compression engine");

_Static_assert(sizeof(struct dpumap_sq_wqe) == DPUMAP_WQE_BLOCK, "one block of a send queue");

/* The parameters of AES-GCM, and its result in the first words, in the device's byte order. */
struct dpumap_sq_crypto {
	uint32_t syndrome, reserved_1[2];
	uint8_t iv[DPUMAP_SQ_IV_LEN];
	uint32_t tag_len, aad_len, reserved_8[8];
};

_Static_assert(sizeof(struct dpumap_sq_crypto) == 64, "parameters of AES-GCM");

/* The part that dpumap_sq_post() needs; send_queue.c has the rest. */
struct dpumap_sq {
	struct dpumap_send_ring ring;
	uint32_t depth;
	uint32_t completed;
	uint32_t qpn_ds; /* as a WQE has it */
	struct dpumap_wqe_data scratch;
	struct dpumap_sq_result *results; /* one for each block of the ring, of compressions */
	struct dpumap_sq_crypto *crypto;  /* the same, of encryptions */
};

/* What an engine found wrong with its data. */
enum dpumap_sq_data_error {
	DPUMAP_SQ_DATA_OK,
	DPUMAP_SQ_NO_ROOM,  /* the destination is too short */
	DPUMAP_SQ_BAD_DATA, /* the source is not what it should be, or its tag is wrong */
};

struct dpumap_sq_completion {
	uint32_t end; /* all requests below are completed; those before the last succeeded */
	doca_error_t status;
	enum dpumap_sq_data_error
		data; /* after a failure: if set, it is not logged, and the queue goes on */
};

/*
 * Take over posting to the queue and polling it, until it is destroyed. *sq is NULL if the device
 * has no DMA engine.
 */
doca_error_t dpumap_sq_open(struct dpumap_queue *queue, struct dpumap_sq **sq);
/* The same for compressions: dpumap_sq_post_stream(). DOCA_ERROR_NOT_SUPPORTED without a DMA engine. */
doca_error_t dpumap_sq_open_streams(struct dpumap_queue *queue, struct dpumap_sq **sq);
/* The same for encryptions: dpumap_sq_post_crypto(). */
doca_error_t dpumap_sq_open_crypto(struct dpumap_queue *queue, struct dpumap_sq **sq);
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

/* Begin the next work request; NULL if `depth` requests are in flight. */
static inline struct dpumap_sq_wqe *dpumap_sq_begin(struct dpumap_sq *sq, uint32_t opcode,
						    uint32_t control)
{
	uint32_t posted = sq->ring.at;
	struct dpumap_sq_wqe *wqe = dpumap_send_ring_block(&sq->ring, posted);

	if (doca_unlikely(posted - sq->completed == sq->depth))
		return NULL;
	wqe->ctrl.opcode = htobe32(opcode | (posted & 0xffff) << 8);
	wqe->ctrl.qpn_ds = sq->qpn_ds;
	wqe->ctrl.imm = htobe32(control);
	wqe->scratch = sq->scratch;
	return wqe;
}

/* Post one copy of 1 byte to the queue's maximum; false if `depth` copies are in flight. */
static inline bool dpumap_sq_post(struct dpumap_sq *sq, const struct dpumap_sq_key *dst,
				  uint64_t dst_addr, const struct dpumap_sq_key *src,
				  uint64_t src_addr, size_t len)
{
	struct dpumap_sq_wqe *wqe = dpumap_sq_begin(sq, DPUMAP_WQE_MMO, 0);

	if (doca_unlikely(!wqe))
		return false;
	wqe->ctrl.flags = dpumap_send_ring_flags(&sq->ring, (uint32_t)len);
	dpumap_sq_fill(&wqe->src, src, src_addr, len);
	dpumap_sq_fill(&wqe->dst, dst, dst_addr, len);
	dpumap_send_ring_post(&sq->ring, &wqe->ctrl, 1);
	return true;
}

/* A piece of memory, as dpumap_sq_fill() takes it. */
struct dpumap_sq_piece {
	const struct dpumap_sq_key *key;
	uint64_t addr;
	size_t len; /* 1 to DPUMAP_SQ_MAX_LEN */
};

/*
 * Post a compression or decompression: `opcode` is DPUMAP_WQE_COMPRESS or _DECOMPRESS, and `control` the last word of
 * the control segment. False if `depth` requests are in flight. Each one has its own completion.
 */
static inline bool dpumap_sq_post_stream(struct dpumap_sq *sq, uint32_t opcode, uint32_t control,
					 const struct dpumap_sq_piece *dst,
					 const struct dpumap_sq_piece *src)
{
	struct dpumap_sq_wqe *wqe = dpumap_sq_begin(sq, opcode, control);

	if (doca_unlikely(!wqe))
		return false;
	wqe->ctrl.flags = htobe32(DPUMAP_WQE_CQ_UPDATE);
	wqe->scratch.addr = htobe64((uintptr_t)&sq->results[sq->ring.at & sq->ring.mask]);
	dpumap_sq_fill(&wqe->src, src->key, src->addr, src->len);
	dpumap_sq_fill(&wqe->dst, dst->key, dst->addr, dst->len);
	dpumap_send_ring_post(&sq->ring, &wqe->ctrl, 1);
	return true;
}

/* What an encryption or decryption needs besides its memory. */
struct dpumap_sq_crypto_job {
	uint32_t control; /* the last word of the control segment */
	uint32_t dek;	  /* number of the key */
	uint32_t tag_len, aad_len;
	const uint8_t *iv; /* DPUMAP_SQ_IV_LEN bytes */
};

/* Post an encryption or decryption, as dpumap_sq_post_stream(). */
static inline bool dpumap_sq_post_crypto(struct dpumap_sq *sq,
					 const struct dpumap_sq_crypto_job *job,
					 const struct dpumap_sq_piece *dst,
					 const struct dpumap_sq_piece *src)
{
	struct dpumap_sq_wqe *wqe = dpumap_sq_begin(sq, DPUMAP_WQE_CRYPTO, job->control);
	struct dpumap_sq_crypto *crypto = &sq->crypto[sq->ring.at & sq->ring.mask];

	if (doca_unlikely(!wqe))
		return false;
	crypto->syndrome = 0;
	crypto->tag_len = htobe32(job->tag_len);
	crypto->aad_len = htobe32(job->aad_len);
	memcpy(crypto->iv, job->iv, sizeof(crypto->iv));
	wqe->ctrl.flags = htobe32(DPUMAP_WQE_CQ_UPDATE);
	wqe->scratch.len = htobe32(job->dek);
	wqe->scratch.addr = htobe64((uintptr_t)crypto);
	dpumap_sq_fill(&wqe->src, src->key, src->addr, src->len);
	dpumap_sq_fill(&wqe->dst, dst->key, dst->addr, dst->len);
	dpumap_send_ring_post(&sq->ring, &wqe->ctrl, 1);
	return true;
}

/* The result of a completed request, until its place in the ring is used again. */
static inline const struct dpumap_sq_result *dpumap_sq_result(const struct dpumap_sq *sq,
							      uint32_t number)
{
	return &sq->results[number & sq->ring.mask];
}

/* Ring the doorbell for all posted requests. */
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
