/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What commands on queues of all kinds share. */
#ifndef EMU_QUEUE_H
#define EMU_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/server/mm/pin.h"
#include "emu/server/uverbs/cmd.h"

#define EMU_DBR_BYTES 8u  /* of a doorbell record */
#define EMU_RING_LINE 64u /* a ring begins at a multiple of this */

/*
 * The slot of the calling process's engine. If it has none: -EAGAIN, and the shim starts the engine
 * and sends the command again.
 */
int emu_engine_of(struct emu_cmd *c, uint32_t *slot);
/* 0, or -EINVAL if a ring cannot begin at this address. */
int emu_check_ring(uint64_t addr);
/* 0, or -EINVAL if the version of the context's completions does not go with a queue's index. */
int emu_check_uidx(const struct emu_file *f, uint32_t uidx);
/* Lock a queue's memory; what was locked before an error stays in `pins`. */
int emu_pin_queue_of(const struct emu_cmd *c, const struct emu_queue_memory *m,
		     struct emu_queue_pins *pins);

/* The logarithm of the largest power of two that is not above a number; 0 for 0. */
static inline uint8_t emu_log2(uint32_t n)
{
	return n ? (uint8_t)(31 - __builtin_clz(n)) : 0;
}

static inline uint32_t emu_power_below(uint32_t n)
{
	return n ? 1u << emu_log2(n) : 0;
}

static inline bool emu_is_power_of_2(uint32_t n)
{
	return n && !(n & (n - 1));
}

#endif
