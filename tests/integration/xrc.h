/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One process's part in an XRC domain: a shared receive queue, a target that it made or opened, an
 * initiator, memory. A process does to itself what xrc_ask() says, or has another one do it.
 */
#ifndef DPUMAP_TESTS_XRC_H
#define DPUMAP_TESTS_XRC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define XRC_STEP_ENV "DPUMAP_TEST_XRC"
#define XRC_FILE_ENV "DPUMAP_TEST_XRC_FILE"
#define XRC_BYTES    (24u << 20)

enum xrc_op {
	XRC_OPEN,	/* everything but queues; domain number */
	XRC_CLOSE,	/* all that there is */
	XRC_SRQ,	/* -> its number, key and address of the memory */
	XRC_TARGET,	/* -> its number */
	XRC_INITIATOR,	/* -> its number */
	XRC_OPEN_QP,	/* number, type */
	XRC_CONNECT,	/* which, to whom, RNR retries */
	XRC_FAIL,	/* which: to the error state */
	XRC_STATE,	/* which -> state, the peer's number */
	XRC_DROP,	/* which */
	XRC_RECEIVE,	/* offset, length */
	XRC_SEND,	/* opcode, SRQ, offset, length, remote address, remote key */
	XRC_COMPLETION, /* -> status, opcode, length, QP, immediate */
	XRC_IDLE,	/* -> completions that are there */
	XRC_EVENT,	/* -> type, which */
	XRC_EVENTS,	/* -> a bit for each type that is there */
	XRC_WRITE,	/* offset, length, seed: a pattern */
	XRC_HOLDS,	/* the same: is it there? */
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

struct xrc_mate {
	pid_t pid;
	int socket;
};

/* `mate` NULL: here. */
struct xrc_answer xrc_ask(struct xrc_mate *mate, const struct xrc_call *call);

bool xrc_start(struct xrc_mate *mate);
/* By closing its socket; false if it did not end well. */
bool xrc_finish(struct xrc_mate *mate);
void xrc_kill(struct xrc_mate *mate);

/* A mate's main(): what it is asked, until nobody asks any more. */
int xrc_serve(void);

#endif
