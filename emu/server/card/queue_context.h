/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the contexts of queues say, and where the firmware keeps those of completion queues and shared receive queues
 * (qp_context.h keeps those of queue pairs). Commands bring contexts; for verbs, the emulated kernel writes them as
 * mlx5's driver does.
 */
#ifndef EMU_SERVER_CARD_QUEUE_CONTEXT_H
#define EMU_SERVER_CARD_QUEUE_CONTEXT_H

#include "emu/ipc/shm.h"
#include "emu/prm/prm_cq.h"
#include "emu/prm/prm_qp.h"
#include "emu/prm/prm_rmp.h"
#include "emu/prm/prm_srq.h"
#include "emu/server/card/profile.h"

#define EMU_MIN_LOG_STRIDE 4u /* of a receive WQE: log_rq_stride counts from here */

/* The context: of EMU_CQC_BYTES, of EMU_RMPC_BYTES, or of an XRC queue EMU_XRC_SRQC_BYTES. */
uint8_t *emu_cq_context(uint32_t cqn);
uint8_t *emu_srq_context(uint32_t srqn);
/*
 * Begin the context of a new queue with that of its creation. It names no umem that is not marked as valid: those are
 * of the emulator, for the memory of a driver.
 */
void emu_cq_begin_context(uint32_t cqn, const uint8_t *cqc);
void emu_rmp_begin_context(uint32_t srqn, const uint8_t *rmpc);
void emu_xrc_srq_begin_context(uint32_t srqn, const uint8_t *ctx);

/*
 * Fill what a valid context says of a queue: sizes, numbers and options. Its memory, engine and owner are the
 * caller's, and so is q->type of a queue pair, which is set before.
 */
void emu_cq_read_context(const struct emu_profile *p, const uint8_t *cqc, struct emu_cq *q);
void emu_qp_read_context(const uint8_t *qpc, struct emu_qp *q);
void emu_rmp_read_context(const uint8_t *rmpc, struct emu_srq *s);
void emu_xrc_srq_read_context(const uint8_t *ctx, struct emu_srq *s);

/* The moderation that a context asks for, as struct emu_cq has it. */
uint32_t emu_cq_moderation(const uint8_t *cqc);

#endif
