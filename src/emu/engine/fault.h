/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Faults on demand, as completions meet them. */
#ifndef EMU_ENGINE_FAULT_H
#define EMU_ENGINE_FAULT_H

#include <stdint.h>

#include "emu/engine/cq.h"

/* The completion that is written instead: `cqe` itself, NULL if it is lost, or `*other`. */
const struct emu_cqe *emu_fault_completion(struct engine *e, const struct emu_cqe *cqe,
					   struct emu_cqe *other);
/* Until when (ns) the QP's next completion is delayed; 0: it is not. */
uint64_t emu_fault_delay(struct engine *e, uint32_t qpn);

#endif
