/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Partition keys: 15 bits name a partition, and the highest bit is set for a full member. */
#ifndef EMU_IPC_PKEY_H
#define EMU_IPC_PKEY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Do packets with the P_Key `a` arrive at a queue pair with the P_Key `b`? (IBA 10.9.1.3; Linux'
 * pkey_match() of rxe.) Two limited members do not reach each other, and a key without a partition
 * matches nothing.
 */
static inline bool emu_pkey_matches(uint16_t a, uint16_t b)
{
	return (a & 0x7fffu) && !((a ^ b) & 0x7fffu) && ((a | b) & 0x8000u);
}

#endif
