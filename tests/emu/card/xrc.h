/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The part of one process in an XRC domain: a shared receive queue, a target that it created or
 * opened, an initiator, memory. xrc_ask() executes a call in this process or in a peer.
 */
#ifndef DPUMAP_TESTS_XRC_H
#define DPUMAP_TESTS_XRC_H

#include <stdbool.h>
#include <stdint.h>

#include "process.h"

#define XRC_STEP_ENV "DPUMAP_TEST_XRC"
#define XRC_FILE_ENV "DPUMAP_TEST_XRC_FILE"
#define XRC_BYTES    (24u << 20)

enum xrc_op {
	XRC_OPEN,	/* everything but queues; domain number */
	XRC_CLOSE,	/* everything */
	XRC_SRQ,	/* -> its number, key and address of the memory */
	XRC_TARGET,	/* -> its number */
	XRC_INITIATOR,	/* -> its number */
	XRC_OPEN_QP,	/* number, type */
	XRC_CONNECT,	/* which, destination, RNR retries */
	XRC_FAIL,	/* which: to the error state */
	XRC_STATE,	/* which -> state, the peer's number */
	XRC_DROP,	/* which */
	XRC_RECEIVE,	/* offset, length */
	XRC_SEND,	/* opcode, SRQ, offset, length, remote address, remote key */
	XRC_COMPLETION, /* -> status, opcode, length, QP, immediate */
	XRC_IDLE,	/* -> available completions */
	XRC_EVENT,	/* -> type, which */
	XRC_EVENTS,	/* -> a bit for each type that has occurred */
	XRC_WRITE,	/* offset, length, seed: a pattern */
	XRC_HOLDS,	/* the same: compare */
	XRC_CELL,	/* offset -> 8 bytes */
	XRC_OPS,
};

enum xrc_which { XRC_THE_SRQ, XRC_THE_TARGET, XRC_THE_INITIATOR, XRC_THE_OPENED };

struct xrc_call {
	uint32_t op;
	uint32_t pad;
	uint64_t arg[6];
};

struct xrc_answer {
	int64_t err; /* an errno; -1: no answer */
	uint64_t v[5];
};

/* `peer` NULL: in this process. */
struct xrc_answer xrc_ask(struct process *peer, const struct xrc_call *call);

/* End it with process_finish() or process_kill(). */
bool xrc_start(struct process *peer);

/* A peer's main(): serve until the parent closes the socket. */
int xrc_serve(void);

#endif
