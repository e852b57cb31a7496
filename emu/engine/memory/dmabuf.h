/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * dma-bufs: memory that is a file (see EMU_MKEY_FILE). It is read and written rather than mapped: if
 * its owner truncates it, an access must fail and not raise a signal.
 *
 * A file is kept open as long as its mkey lives. The descriptors belong to a process that may close
 * any number it does not know, so each is checked before it is used.
 */
#ifndef EMU_ENGINE_MEMORY_DMABUF_H
#define EMU_ENGINE_MEMORY_DMABUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/ipc/shm.h"

#define ENGINE_FILES 16

struct emu_memory;

/* The file of an mkey, kept open between passes; `id` 0: a free entry. */
struct emu_open_file {
	uint32_t id;
	uint32_t mkey;
	uint32_t serial; /* of the mkey */
	int fd;
	uint64_t ino;
	uint64_t dev;
	uint8_t *cells; /* the page of the last atomic operation, mapped; or NULL */
	uint64_t cells_at;
};

struct emu_dmabufs {
	struct emu_open_file file[ENGINE_FILES];
	uint32_t count;
	uint32_t next; /* to be replaced */
};

bool emu_dmabuf_read(struct emu_memory *mem, const struct emu_seg *s, void *buf, size_t len);
bool emu_dmabuf_write(struct emu_memory *mem, const struct emu_seg *s, const void *buf, size_t len);
/* The mapped cell for an atomic operation, or NULL. */
uint64_t *emu_dmabuf_cell(struct emu_memory *mem, const struct emu_seg *s);
/* Close the files whose mkeys were destroyed. */
void emu_dmabufs_prune(struct emu_memory *mem);
void emu_dmabufs_close(struct emu_memory *mem);

#endif
