/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The P_Key tables of the ports, and the P_Keys that queue pairs have by their indices. */
#ifndef EMU_PKEY_H
#define EMU_PKEY_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/ipc/shm.h"
#include "emu/server/card/topology.h"

/* Is there such an entry in the port's table? */
bool emu_pkey_is_index(const struct emu_func *f, unsigned int index);
/* Change a valid entry: it applies to the next packet of each queue pair that uses it. */
void emu_pkey_set(struct emu_func *f, unsigned int index, uint16_t pkey);
/* Let a queue pair of `f` use a valid entry. */
void emu_pkey_use(const struct emu_func *f, struct emu_qp *q, unsigned int index);
/*
 * The index of the entry for a partition, a full member's before a limited one's (the kernel's
 * ib_find_cached_pkey()); -1: the port is not in it.
 */
int emu_pkey_find(const struct emu_func *f, uint16_t pkey);
/* Does a management packet with this P_Key pass the port? Any entry may match (IBA 9.6.1.1.3). */
bool emu_pkey_admits(const struct emu_func *f, uint16_t pkey);

#endif
