/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Numbers of queue pairs in blocks. The kernel chooses by the number of the destination queue pair which engine
 * gets a datagram (server/wire/steer.h), so an engine with queue pairs on the wire has numbers of its own.
 */
#ifndef EMU_BLOCKS_H
#define EMU_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/ipc/limits.h"

#define EMU_BLOCK_QPS 32u
#define EMU_BLOCKS    (EMU_NUM_QPS / EMU_BLOCK_QPS)

/*
 * A free number in a block of the engine, which gets more blocks when it needs them. Numbers rest as long as
 * possible. 0: there is none, or emu_blocks_changed() failed.
 */
uint32_t emu_block_number(uint32_t slot, bool (*is_free)(uint32_t qpn));
/* The engine that has the block of this number, or EMU_NO_ENGINE. */
uint32_t emu_block_owner(uint32_t qpn);
/* The engine has ended. Its queue pairs may remain. */
void emu_blocks_release(uint32_t slot);
/* Begin at another block than the last emulator: peers may remember its queue pairs. */
void emu_blocks_begin(uint32_t random);

/* Called when an engine has got a block, before a number of it is used; NULL: never. 0 or a negative errno. */
extern int (*emu_blocks_changed)(void);

#endif
