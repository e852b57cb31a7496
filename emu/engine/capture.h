/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Records of packets, which the engine sends to the server while a client captures. A slow server delays the engine
 * once and for a short time; then packets are lost, and the next record says how many.
 */
#ifndef EMU_ENGINE_CAPTURE_H
#define EMU_ENGINE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/engine/state.h"
#include "emu/wire/packet.h"
#include "emu/wire/path.h"

static inline bool emu_captures(const struct engine *e, uint32_t what)
{
	return atomic_load_explicit(&e->cfg.queues->capturing, memory_order_relaxed) & what;
}

/* A packet that a queue pair sends, complete with its invariant CRC. */
void emu_capture_sent(struct engine *e, uint32_t qpn, const struct wire_path *path,
		      const uint8_t *bytes, size_t len);
/* A packet that has arrived and was processed. */
void emu_capture_received(struct engine *e, const struct wire_path *from, const uint8_t *bytes,
			  size_t len, enum wire_drop drop);

/* For local_packets.c: the path of a record; and send a record that is complete but for its time. */
void emu_capture_path(struct emu_note_packet *n, const struct wire_path *path);
void emu_capture_send(struct engine *e, struct emu_note_packet *n);

#endif
