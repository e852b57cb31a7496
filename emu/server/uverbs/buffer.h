/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The memory of a queue that a program names by attributes of its own: an address, or a part of a dma-buf. The engine
 * reaches rings by addresses of its process, which therefore maps dma-bufs (EMU_REPLY_MAP).
 */
#ifndef EMU_BUFFER_H
#define EMU_BUFFER_H

#include <stdint.h>

struct emu_cmd;

/* The attributes of a kind of queue. */
struct emu_buffer_attrs {
	uint16_t ring, dbr;
	/* Four attributes from this one on that name the ring, too: address, length, descriptor, offset; 0: none */
	uint16_t parts;
};

/* What the process has mapped for a queue; `len` 0: nothing. */
struct emu_mapped {
	uint64_t addr, len;
};

/*
 * Replace the addresses of the driver's part by what the attributes name, if they do: a ring of at least `need` bytes,
 * and the doorbell record. Returns 0; -EAGAIN: the process has to map them first; -EINVAL: they are too short, of no
 * known type, or named twice; or why a dma-buf cannot be mapped.
 */
int emu_take_buffers(struct emu_cmd *c, const struct emu_buffer_attrs *attrs, uint64_t need,
		     uint64_t *ring, uint64_t *dbr, struct emu_mapped *mapped);
/* The queue is destroyed: its process unmaps them. */
void emu_let_unmap(struct emu_cmd *c, const struct emu_mapped *mapped);

#endif
