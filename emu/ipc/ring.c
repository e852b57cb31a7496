/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/ipc/ring.h"

#include <string.h>

_Static_assert(!(EMU_RING_BYTES & (EMU_RING_BYTES - 1)), "positions are masked");

/* The bytes before the end of the ring. */
static size_t before_end(uint64_t at, size_t len)
{
	size_t left = EMU_RING_BYTES - (at & (EMU_RING_BYTES - 1));

	return len < left ? len : left;
}

bool emu_ring_put(struct emu_ring *ring, uint64_t *head, const void *record, size_t len)
{
	/* The reader has copied what it counts as read. */
	uint64_t used = *head - atomic_load_explicit(&ring->tail, memory_order_acquire);
	size_t first = before_end(*head, len);

	if (used > EMU_RING_BYTES || len > EMU_RING_BYTES - used)
		return false;
	memcpy(ring->bytes + (*head & (EMU_RING_BYTES - 1)), record, first);
	memcpy(ring->bytes, (const uint8_t *)record + first, len - first);
	*head += len;
	atomic_store_explicit(&ring->head, *head, memory_order_release);
	return true;
}

size_t emu_ring_get(struct emu_ring *ring, void *out, size_t len)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	uint64_t there = atomic_load_explicit(&ring->head, memory_order_acquire) - tail;
	size_t n = there < len ? (size_t)there : len;
	size_t first = before_end(tail, n);

	memcpy(out, ring->bytes + (tail & (EMU_RING_BYTES - 1)), first);
	memcpy((uint8_t *)out + first, ring->bytes, n - first);
	atomic_store_explicit(&ring->tail, tail + n, memory_order_release);
	return n;
}
