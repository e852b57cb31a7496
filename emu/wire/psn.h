/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Packet sequence numbers: 24 bits that wrap (IBA 9.7.1). */
#ifndef EMU_WIRE_PSN_H
#define EMU_WIRE_PSN_H

#include <stdbool.h>
#include <stdint.h>

#define WIRE_PSN_MASK 0xffffffu
/* Half of the sequence: at most so many packets are outstanding, so a PSN is either new or old. */
#define WIRE_PSN_HALF 0x800000u

static inline uint32_t wire_psn_add(uint32_t psn, uint32_t n)
{
	return (psn + n) & WIRE_PSN_MASK;
}

/* How far `psn` is ahead of `from`; more than half of the sequence: it is behind. */
static inline uint32_t wire_psn_after(uint32_t psn, uint32_t from)
{
	return (psn - from) & WIRE_PSN_MASK;
}

static inline bool wire_psn_before(uint32_t psn, uint32_t other)
{
	return wire_psn_after(psn, other) >= WIRE_PSN_HALF;
}

#endif
