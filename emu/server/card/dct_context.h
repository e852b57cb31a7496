/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Targets of DC, whoever created them: their context, and their place in the table of queues. */
#ifndef EMU_SERVER_CARD_DCT_CONTEXT_H
#define EMU_SERVER_CARD_DCT_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/ipc/shm.h"
#include "emu/prm/prm_dct.h"
#include "emu/server/card/topology.h"

/* The context, of EMU_DCTC_BYTES. */
uint8_t *emu_dct_context(uint32_t dctn);
/* Does the firmware accept the address, the partition and the sizes? */
bool emu_dct_is_valid(const struct emu_func *f, const uint8_t *dctc);
/*
 * Begin an active target of `f` with a valid context; `as` has its engine, file and handle. Returns its number, or 0 if
 * the table is full. It ends by emu_qp_withdraw().
 */
uint32_t emu_dct_publish(const struct emu_func *f, const uint8_t *dctc, const struct emu_qp *as);
/* The next violation of its key is an event. */
void emu_dct_arm(uint32_t dctn);
/* An initiator has violated its key. Is that an event? */
bool emu_dct_violate(uint32_t dctn);
/* No request reaches the target any more; false: it was drained before. */
bool emu_dct_drain(uint32_t dctn);

#endif
