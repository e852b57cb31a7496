/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Records of bytes from the server to one client, in shared memory: each record is there whole or not at all. The
 * writer does not trust what the reader stores: at worst, a record has no room.
 */
#ifndef EMU_IPC_RING_H
#define EMU_IPC_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EMU_RING_BYTES (16u << 20) /* a power of two */

struct emu_ring {
	_Atomic uint64_t head; /* bytes that were written */
	_Atomic uint64_t lost; /* records that had no room */
	uint64_t pad[6];
	_Atomic uint64_t tail; /* bytes that were read */
	uint64_t pad2[7];
	uint8_t bytes[EMU_RING_BYTES];
};

/* `*head` is the writer's own count. False: there is no room. */
bool emu_ring_put(struct emu_ring *ring, uint64_t *head, const void *record, size_t len);
/* Copy up to `len` of the bytes that were written and not yet read. Returns how many. */
size_t emu_ring_get(struct emu_ring *ring, void *out, size_t len);

#endif
