/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Shared receive queues. */
#ifndef EMU_ENGINE_SRQ_H
#define EMU_ENGINE_SRQ_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/engine/memory/wqe.h"
#include "emu/ipc/shm.h"

struct engine;

/* What the engine remembers of an SRQ between passes. */
struct emu_srq_run {
	uint32_t serial;
	uint16_t head;	/* index of the next WQE */
	uint16_t taken; /* WQEs so far */
};

/* The SRQ with that number if this engine serves it, or NULL. */
struct emu_srq *emu_srq_find(struct engine *e, uint32_t srqn);
/* The SRQ, of any engine, that a message for `tgt` may name; or NULL. */
const struct emu_srq *emu_srq_of_xrc(const struct engine *e, const struct emu_qp *tgt,
				     uint32_t srqn);
/* The engine that executes such a message: the SRQ's, or the target's, which refuses it. */
uint32_t emu_xrc_engine(const struct engine *e, const struct emu_qp *tgt, uint32_t srqn);
/* Take the next WQE off its list; false if it is empty. */
bool emu_srq_take(struct engine *e, uint32_t srqn, uint16_t *index);
/* Undo the last emu_srq_take(), before any other one. */
void emu_srq_put_back(struct engine *e, uint32_t srqn, uint16_t index);
void emu_srq_parse(const struct emu_srq *srq, uint16_t index, struct emu_wqe *w);
/* Send the limit event if it is due. */
void emu_srq_notify(struct engine *e, uint32_t srqn);

#endif
