/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Captures: packets as blocks of pcapng, with comments that name queue pair and work request. Each reader gets
 * those that its filter selects, in a ring of shared memory; a slow one loses packets, and a comment says how many.
 */
#ifndef EMU_CAPTURE_H
#define EMU_CAPTURE_H

#include <stddef.h>

#include "emu/ipc/note.h"
#include "emu/ipc/proto.h"

struct emu_capture;

/*
 * Begin a capture for a reader, which `fd` wakes: a byte for each packet. `*ring` becomes the descriptor of a struct
 * emu_ring, the caller's. Returns 0 or a negative errno; -ENODEV: no function has the role.
 */
int emu_capture_create(const struct emu_capture_request *req, int fd, struct emu_capture **out,
		       int *ring);
void emu_capture_destroy(struct emu_capture *c);
/* Take the packets that engines have sent so far. */
void emu_capture_drain(void);
/* A packet has come from an engine, in a record of `len` bytes. */
void emu_capture_packet(const struct emu_note_packet *n, size_t len);

#endif
