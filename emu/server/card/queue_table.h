/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The shared table of queues: the numbers of QPs, CQs and SRQs (whether verbs or firmware commands
 * create them), and their life as engines see it.
 */
#ifndef EMU_QUEUE_TABLE_H
#define EMU_QUEUE_TABLE_H

#include <stdint.h>

#include "emu/ipc/shm.h"

/*
 * Publish a filled queue under a free number and tell its engine. Returns the number, or 0 if the
 * table is full. A number rests as long as possible before it is used again.
 */
uint32_t emu_qp_publish(const struct emu_qp *q);
uint32_t emu_cq_publish(const struct emu_cq *q);
uint32_t emu_srq_publish(const struct emu_srq *q);

/* Withdraw a queue: when this returns no engine uses it. 0: there is nothing to withdraw. */
void emu_qp_withdraw(uint32_t qpn);
void emu_cq_withdraw(uint32_t cqn);
void emu_srq_withdraw(uint32_t srqn);

#endif
