/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the transport asks of its user: memory, receives and completions. All calls come from
 * the functions of qp.h, in the thread that calls these, and none of them may call these again.
 */
#ifndef EMU_WIRE_WORK_H
#define EMU_WIRE_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/ipc/codes.h"

#define WIRE_MAX_MESSAGE 0x80000000u /* 2^31 bytes (IBA 9.7.4.1, 9.4) */

enum wire_work {
	WIRE_WORK_SEND,
	WIRE_WORK_SEND_IMM,
	WIRE_WORK_SEND_INV,
	WIRE_WORK_WRITE,
	WIRE_WORK_WRITE_IMM,
	WIRE_WORK_READ,
	WIRE_WORK_COMPARE_SWAP,
	WIRE_WORK_FETCH_ADD,
};

/* A work request of a send queue. */
struct wire_wr {
	uint64_t cookie; /* the user's */
	uint8_t work;	 /* enum wire_work */
	bool solicited;
	bool fence;   /* wait for the reads and atomics before it (IBA 10.8.3.3) */
	uint32_t len; /* of the message; of atomics 8 */
	uint64_t raddr;
	uint32_t rkey;
	uint32_t imm; /* in host order; or the R_Key to invalidate */
	uint64_t swap_add, compare;
	uint32_t srqn; /* XRC: the SRQ whose receives and protection domain are used */
};

/* A receive is completed, and is no longer the queue pair's. */
struct wire_receipt {
	uint8_t work; /* WIRE_WORK_SEND, _SEND_IMM, _SEND_INV or _WRITE_IMM */
	bool solicited;
	enum emu_syndrome
		syndrome; /* EMU_SYN_OK, or why it failed; only then the rest is not valid */
	uint32_t len;
	uint32_t imm;
	uint32_t srqn; /* XRC */
};

enum wire_access {
	WIRE_REMOTE_WRITE,
	WIRE_REMOTE_READ,
	WIRE_REMOTE_ATOMIC,
};

/* Remote memory that a request names. */
struct wire_remote {
	uint64_t va;
	uint32_t rkey;
	uint32_t len;
	uint32_t srqn; /* XRC */
};

enum wire_answer {
	WIRE_DONE,
	WIRE_LATER,	     /* not yet, ask again; only where it is said below */
	WIRE_NOT_READY,	     /* no receive is posted */
	WIRE_REFUSE_REQUEST, /* the queue pair or the SRQ does not allow it */
	WIRE_REFUSE_ACCESS,  /* the key does not allow it */
	WIRE_CANNOT,	     /* the responder has failed */
};

enum wire_event {
	WIRE_EVENT_ESTABLISHED,	  /* the first packet has arrived (IBA 11.6.3.2) */
	WIRE_EVENT_REQUEST_ERROR, /* the responder refused a request (11.6.3.3) */
	WIRE_EVENT_ACCESS_ERROR,
	WIRE_EVENT_ERROR,      /* the queue pair is in the error state */
	WIRE_EVENT_SEND_ERROR, /* UC: the send queue alone is */
};

/*
 * What a queue pair counts, as the hardware counters of mlx5 do (Linux, drivers/infiniband/hw/mlx5/counters.c).
 * C(name, words)
 */
#define WIRE_COUNTS(C)                                                                       \
	C(OUT_OF_SEQUENCE, "requests that arrived after a gap")		       /* 9.7.4.1 */ \
	C(DUPLICATE, "requests that arrived again")			       /* 9.7.5.1 */ \
	C(SEQUENCE_NAK, "NAKs for a gap that arrived")			       /* 9.7.5.2 */ \
	C(IMPLIED_NAK, "answers that show that an earlier one was lost")       /* 9.7.6.1 */ \
	C(RNR_NAK, "RNR NAKs that arrived, before the retries were exhausted") /* 9.7.5.2 */ \
	C(TIMEOUT, "answers that did not arrive in time")		       /* 9.7.6.1 */ \
	C(MARKED, "packets that arrived with the mark of congestion")	       /* A17.9.3 */ \
	C(CNP_SENT, "congestion notifications that left")		       /* A17.9.3 */ \
	C(CNP_TAKEN, "congestion notifications that arrived")		       /* A17.9.3 */

#define WIRE_COUNT_(name, words) WIRE_COUNT_##name,

enum wire_count { WIRE_COUNTS(WIRE_COUNT_) WIRE_COUNT_COUNT };

#undef WIRE_COUNT_

struct wire_ops {
	/* Read or write `len` bytes at `at` of the local memory of a work request. */
	enum emu_syndrome (*gather)(void *ctx, const struct wire_wr *wr, uint32_t at, uint8_t *out,
				    uint32_t len);
	enum emu_syndrome (*scatter)(void *ctx, const struct wire_wr *wr, uint32_t at,
				     const uint8_t *in, uint32_t len);
	/* A work request is completed: in the order in which they were posted. */
	void (*finished)(void *ctx, const struct wire_wr *wr, enum emu_syndrome syndrome);

	/* Does the queue pair allow the access and, unless `m->len` is 0, the key? Not WIRE_LATER. */
	enum wire_answer (*check_access)(void *ctx, enum wire_access access,
					 const struct wire_remote *m);
	/* Access `m->len` bytes, which are a part of what check_access() allowed; the key may have ended since. */
	enum wire_answer (*read)(void *ctx, const struct wire_remote *m, uint8_t *out);
	enum wire_answer (*write)(void *ctx, const struct wire_remote *m, const uint8_t *in);
	/* Change 8 bytes at an aligned address: compare and swap, or fetch and add. May be WIRE_LATER. */
	enum wire_answer (*atomic)(void *ctx, const struct wire_remote *m, enum wire_work work,
				   uint64_t swap_add, uint64_t compare, uint64_t *original);

	/* Take the next receive, and say how many bytes it has room for. Not WIRE_LATER. */
	enum wire_answer (*take)(void *ctx, uint32_t srqn, uint64_t *room);
	/* Write bytes into the receive that was taken. */
	enum wire_answer (*fill)(void *ctx, uint32_t at, const uint8_t *in, uint32_t len);
	/* The message of the receive was dropped: the next message takes the receive. */
	void (*put_back)(void *ctx);
	/* Invalidate an R_Key; if it cannot be, `why` completes the receive. May be WIRE_LATER. */
	enum wire_answer (*invalidate)(void *ctx, uint32_t srqn, uint32_t rkey,
				       enum emu_syndrome *why);
	void (*received)(void *ctx, const struct wire_receipt *receipt);
	/* How many receives are posted and not taken; less than 0: they are shared, so there are no credits. */
	int (*receives)(void *ctx);

	void (*event)(void *ctx, enum wire_event event);
	void (*count)(void *ctx, enum wire_count what);
};

#endif
