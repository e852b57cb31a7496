/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* One request of a send queue: its steps, and its message in the responder's inbox. */
#ifndef EMU_ENGINE_SEND_H
#define EMU_ENGINE_SEND_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/engine/memory/mkey.h"
#include "emu/engine/memory/wire.h"
#include "emu/engine/memory/wqe.h"
#include "emu/engine/qp.h"
#include "emu/ipc/shm.h"

#define ENGINE_KNOWN_KEYS 4u

struct engine;
struct emu_map;

/* Results of a step other than an enum emu_syndrome, which ends the WQE. */
enum emu_step {
	EMU_STEP_MORE = -1, /* moved bytes, not finished */
	EMU_STEP_WAIT = -2, /* waits for the peer or a timer */
	EMU_STEP_BAD = -3,  /* finished with an error of its data, after which the queue goes on */
};

/*
 * What a copy needs to know about a key. A stream of copies uses the same few keys, and the bytes
 * it moves evict everything else from the processor's cache.
 */
struct emu_known_key {
	uint32_t key;
	uint32_t rights;
	uint64_t start;
	uint64_t len;
	const struct emu_mkey *mkey;
	bool whole;		   /* one piece of memory: */
	struct emu_seg at;	   /* of `start` */
	const struct emu_map *map; /* of another process's memory, or NULL */
};

/* A send queue in a pass, and its oldest request. */
struct emu_send {
	struct engine *e;
	struct emu_qp *q;
	uint32_t qpn;
	struct emu_qp_run *run;
	uint64_t moved;				       /* bytes in this pass */
	struct emu_known_key known[ENGINE_KNOWN_KEYS]; /* keys that this pass has looked up */
	uint32_t nknown;
	struct emu_domain here;
	struct emu_wqe w;
};

/*
 * Execute the request, or a chunk of it. Returns an enum emu_step, or the enum emu_syndrome with which it is
 * finished.
 */
int emu_send_step(struct emu_send *s);
/* Take the message back: no engine may work for a request that is flushed. False: not yet. */
bool emu_send_withdraw(struct emu_send *s);
/* Was the request's message executed, and its result taken, before its queue failed? */
bool emu_send_acknowledged(struct emu_send *s);

/* How many blocks are posted and not completed? */
static inline uint16_t emu_sq_posted(const struct emu_qp *q, const struct emu_qp_run *r)
{
	if (!q->sq_wqe_count)
		return 0;
	return emu_qp_posted(q, (uint16_t)emu_dbr_word(q->dbr_addr, 1), r->sq_ci);
}

#endif
