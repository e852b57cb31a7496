/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Receives: the WQEs of a queue pair's own ring or of a shared receive queue, taken and completed. */
#ifndef EMU_ENGINE_RECEIVE_H
#define EMU_ENGINE_RECEIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/engine/cq.h"
#include "emu/engine/memory/wqe.h"
#include "emu/engine/qp.h"
#include "emu/ipc/shm.h"

struct engine;

/* A queue pair that receives a message. */
struct emu_receiver {
	struct engine *e;
	struct emu_qp *q;
	uint32_t qpn;
	struct emu_qp_run *run;
	struct emu_srq *srq; /* of its receive WQEs, or NULL: the QP's own ring */
	uint32_t srqn;
};

/*
 * Find the SRQ: the QP's own or, with XRC, `named` by the message. False: there is none that this engine
 * serves.
 */
bool emu_receiver_find(struct emu_receiver *r, uint32_t named);
/* Is the CQ frozen in which its receives complete? */
bool emu_receiver_frozen(const struct emu_receiver *r);
/* Take the receive WQE of the next message, or the one that it has; false: none is posted. */
bool emu_receiver_take(const struct emu_receiver *r, struct emu_wqe *w);
/* The message is dropped: the WQE stays for the next one. */
void emu_receiver_put_back(const struct emu_receiver *r);
/* The WQE of an SRQ is completed, or lost with its SRQ. */
void emu_receiver_let_go(const struct emu_receiver *r);
/* Complete the WQE that was taken; some members of `cqe` are filled in. */
void emu_receiver_push(const struct emu_receiver *r, struct emu_cqe *cqe);
void emu_receiver_push_error(const struct emu_receiver *r, enum emu_syndrome syndrome);
/* How many WQEs are posted to the QP's own ring and not completed? */
uint16_t emu_receives_posted(const struct emu_qp *q, const struct emu_qp_run *run);

#endif
