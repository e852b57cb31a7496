/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The context of each queue pair (QPC): what its creation and the transitions so far have set, whoever sent them; and
 * the transitions themselves.
 */
#ifndef EMU_SERVER_CARD_QP_CONTEXT_H
#define EMU_SERVER_CARD_QP_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/ipc/shm.h"
#include "emu/prm/prm_qp.h"
#include "emu/server/card/topology.h"

/* What the firmware reports before a transition to INIT has set the port (docs/hardware.md, question 45). */
#define EMU_PORT_BEFORE_INIT 1

enum emu_transit_result {
	EMU_TRANSIT_DONE,
	EMU_TRANSIT_STATE,	/* the queue pair is in another state */
	EMU_TRANSIT_NO_CONTEXT, /* the transition takes one */
	EMU_TRANSIT_CONTEXT,	/* it is not valid */
	EMU_TRANSIT_CHANGED,	/* an engine has moved the queue pair to ERR meanwhile */
};

/* The context, of EMU_QPC_BYTES. */
uint8_t *emu_qp_context(uint32_t qpn);
/* Begin the context of a new queue pair with that of its creation, as emu_cq_begin_context() does. */
void emu_qp_begin_context(uint32_t qpn, const uint8_t *qpc);

/* The opcode of the transition between two states (EMU_QPS_*); 0: there is none. */
uint16_t emu_qp_opcode(uint32_t from, uint32_t to);
/* Is it the opcode of a transition? And of one that takes a context? */
bool emu_qp_is_transition(uint16_t opcode);
bool emu_qp_takes_context(uint16_t opcode);
/*
 * Execute a transition of a queue pair of `f`: `qpc` has its fields, or is NULL; `optpar` (EMU_OPTPAR_*) says which
 * of those are set that need not be. Nothing changes unless it is done, or CHANGED.
 */
enum emu_transit_result emu_qp_transit(const struct emu_func *f, uint32_t qpn, uint16_t opcode,
				       const uint8_t *qpc, uint32_t optpar);
/*
 * Change the state of a QP that was seen in state `from`. -EINVAL if an engine has moved it to ERR
 * meanwhile.
 */
int emu_qp_set_state(struct emu_qp *q, uint32_t from, uint32_t to);
/* A failed stream of a DC initiator works again; false: it has not failed. */
bool emu_qp_reset_stream(struct emu_qp *q, uint16_t stream);

#endif
