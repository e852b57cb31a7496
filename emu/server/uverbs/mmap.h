/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* mmap of a file: the page of a segment that an offset stands for. */
#ifndef EMU_MMAP_H
#define EMU_MMAP_H

#include <stdint.h>

struct emu_file;
struct emu_uobj;

/* The commands in an offset: enum mlx5_ib_mmap_cmd. */
enum emu_mmap_cmd {
	EMU_MMAP_CLOCK_INFO = 7,
	EMU_MMAP_DEVICE_MEM = 8,
	EMU_MMAP_ALLOC_WC = 10, /* a doorbell page */
};

/* The byte offset by which a client maps an object's pages. */
uint64_t emu_mmap_offset(enum emu_mmap_cmd cmd, uint32_t index);
/* The object that can be mapped at an offset: device memory or a doorbell page; NULL: none. */
struct emu_uobj *emu_mmap_entry(struct emu_file *f, uint64_t offset);
/* Returns the segment's descriptor (the server's own) and `*off` in it, or a negative errno. */
int emu_mmap(struct emu_file *f, uint64_t offset, uint64_t len, uint64_t *off);

#endif
