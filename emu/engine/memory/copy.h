/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Moving bytes between pieces of memory: of this or another process, of a file, or of the card. */
#ifndef EMU_ENGINE_MEMORY_COPY_H
#define EMU_ENGINE_MEMORY_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/engine/memory/mkey.h"

#define ENGINE_MEM_FDS 4
/* The most bytes that one QP moves in a pass: this bounds the duration of a revocation. */
#define ENGINE_CHUNK (1u << 20)

/* /proc/PID/mem of another process. */
struct emu_mem_fd {
	int32_t pid;
	int fd;
};

struct emu_mem_fds {
	struct emu_mem_fd of[ENGINE_MEM_FDS];
	uint32_t next; /* to be replaced */
};

/* The side of a copy that failed. */
enum emu_copy_fault {
	EMU_COPY_OK,
	EMU_COPY_SRC,
	EMU_COPY_DST,
};

/* Copy len bytes (at most ENGINE_CHUNK, dst->len and src->len). */
enum emu_copy_fault emu_memory_copy(struct emu_memory *mem, const struct emu_seg_list *dst,
				    const struct emu_seg_list *src, uint64_t len);
/* Change bytes [from, from + n) of what was copied to `at`, n at most ENGINE_CHUNK: the lowest bit of each. */
void emu_memory_spoil(struct emu_memory *mem, const struct emu_seg_list *at, uint64_t from,
		      uint64_t n);
/* Find out how this kernel lets an engine access the memory of other processes. */
void emu_memory_probe(struct emu_memory *mem);
/* What became of an atomic. */
enum emu_atomic {
	EMU_ATOMIC_DONE,
	EMU_ATOMIC_BUSY, /* another engine executes one: try again */
	EMU_ATOMIC_FAULT,
};

typedef void emu_change_fn(uint64_t *cell, void *arg);

/*
 * Change 8 bytes of any piece. Atomics of all engines exclude each other; those in memory of this
 * process, of a file and of the dm segment also exclude atomic accesses of a CPU.
 */
enum emu_atomic emu_memory_atomic(struct emu_memory *mem, const struct emu_seg *seg,
				  emu_change_fn *change, void *arg);
void emu_memory_close_fds(struct emu_memory *mem);

#endif
