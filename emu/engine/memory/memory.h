/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The memory that keys name, as an engine reaches it. This room does not know the engine and its queues. Everything
 * runs within a pass of the engine (see ipc/shm.h), so a pointer into the tables stays valid until its end.
 */
#ifndef EMU_ENGINE_MEMORY_MEMORY_H
#define EMU_ENGINE_MEMORY_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/engine/memory/copy.h"
#include "emu/engine/memory/dmabuf.h"
#include "emu/engine/memory/guard.h"
#include "emu/engine/memory/maps.h"
#include "emu/ipc/shm.h"

struct emu_memory {
	/* Set once, when the engine starts. */
	const struct emu_tables *tables;
	struct emu_queues *queues;
	struct emu_engine *slot;
	const uint64_t *now; /* ns; the engine's clock */
	uint8_t *dm;
	uint64_t owner; /* this engine in emu_queues.atomic_owner */
	int32_t pid;
	bool no_vm;	  /* the kernel has no process_vm_* */
	int scratch_fd;	  /* if no_vm */
	bool *lacks_page; /* set when a translation meets a page that is not present */

	/* Each belongs to the file of its name. */
	struct emu_guard guard;
	struct emu_mem_fds fds;
	struct emu_dmabufs dmabufs;
	struct emu_maps maps;
	uint8_t bounce[ENGINE_CHUNK]; /* of copy.c */
};

#endif
