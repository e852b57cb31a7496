/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Receive queues: messages that peers have posted to a QP's inbox. */
#ifndef EMU_ENGINE_RQ_H
#define EMU_ENGINE_RQ_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/ipc/shm.h"

struct engine;

/* Is there a message in the inbox for this engine? What its sender did before is visible then. */
bool emu_rq_pending(const struct engine *e, uint32_t qpn);
/* Forget an answer whose requester no longer exists. */
void emu_rq_reap(const struct engine *e, uint32_t qpn);
/* Execute as much of the message in the inbox as fits in a pass; also for other engines' targets. */
void emu_rq_serve(struct engine *e, uint32_t qpn);
/* Complete the posted receives of a QP in ERR; also for other engines' targets. */
void emu_rq_flush(struct engine *e, uint32_t qpn);
/* The responder `p` refused an access: the QP fails, and its owner gets the event. */
void emu_rq_violation(struct engine *e, struct emu_qp *p, uint32_t event);

#endif
