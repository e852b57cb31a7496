/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * dma-bufs, played by memfds: memory without an address that a descriptor stands for. The server
 * opens the client's file again and keeps it open as long as the region lives; engines of any
 * process open it from there (see EMU_MKEY_FILE).
 */
#ifndef EMU_DMABUF_H
#define EMU_DMABUF_H

#include <stdint.h>
#include <sys/types.h>

#include "emu/ipc/shm.h"

/* A client's dma-buf as the server holds it; `id` 0: none. */
struct emu_dmabuf {
	uint32_t id;
	int fd;
	uint64_t ino;
};

/* Open the process's dma-buf `fd`, of which the bytes [offset, offset + len) must exist. */
int emu_dmabuf_open(pid_t pid, int64_t fd, uint64_t offset, uint64_t len, struct emu_dmabuf *d);
/*
 * The inode of the process's memfd `fd` of that name. Returns 0, -ENOENT if it is another file, or -EBADF if
 * there is none.
 */
int emu_dmabuf_find(pid_t pid, int64_t fd, const char *name, uint64_t *ino);
/* Close it; no mkey may refer to it any more. */
void emu_dmabuf_close(struct emu_dmabuf *d);
/* Let the mkey start at `offset` in the dma-buf. */
void emu_dmabuf_describe(const struct emu_dmabuf *d, uint64_t offset, struct emu_mkey *m);

#endif
