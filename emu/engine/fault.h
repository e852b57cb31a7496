/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Faults on demand, as completions and bytes meet them. */
#ifndef EMU_ENGINE_FAULT_H
#define EMU_ENGINE_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/engine/cq.h"
#include "emu/engine/memory/mkey.h"
#include "emu/ipc/shm.h"

/* The completion that is written instead: `cqe` itself, NULL if it is lost, or `*other`. */
const struct emu_cqe *emu_fault_completion(struct engine *e, const struct emu_cqe *cqe,
					   struct emu_cqe *other);
/* Is the completion written twice? */
bool emu_fault_twice(struct engine *e, const struct emu_cqe *cqe);
/* Until when (ns) the QP's next completion is delayed; 0: it is not. */
uint64_t emu_fault_delay(struct engine *e, uint32_t qpn);
/* Change those of the n bytes, moved by a request of this function, whose turn it is. */
void emu_fault_data(struct engine *e, uint32_t func, const struct emu_seg_list *to, uint64_t n);
void emu_fault_packet(struct engine *e, uint32_t func, uint8_t *bytes, uint32_t n);
/* Are the packets between these QPs lost? */
bool emu_fault_silences(const struct emu_qp *a, const struct emu_qp *b);
/* Must the requester see an RNR NAK from this QP? */
bool emu_fault_unready(const struct emu_qp *q);
/* Until when (ns) the QP's current work request lasts; 0: as long as it needs. */
uint64_t emu_fault_slow(const struct emu_qp *q);

#endif
