/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The DMA engine: a thread in each client process that executes the work requests of its QPs. */
#ifndef EMU_ENGINE_H
#define EMU_ENGINE_H

#include <stdbool.h>

#include "emu/ipc/cpus.h"
#include "emu/ipc/shm.h"

/*
 * The memory that an engine uses; mappings and the socket belong to the caller and outlive the
 * engine.
 */
struct emu_engine_config {
	const struct emu_tables *tables; /* mapped read-only */
	struct emu_queues *queues;
	uint8_t *dm;   /* EMU_DM_BYTES */
	uint32_t slot; /* index in queues->engine */
	int notify_fd; /* takes struct emu_note datagrams; never blocks */
	/*
	 * If not NULL, the engine takes a descriptor table of its own, which the program does not
	 * see. Then *took_fd is true, and notify_fd is closed in the caller's table; false: the
	 * kernel lacks the calls for it.
	 */
	bool *took_fd;
	uint64_t doorbells_ino; /* of the file of doorbell pages */
	const struct emu_cpus
		*cpus; /* of its threads, until it has started; NULL: all of the machine */
};

/*
 * Start the engine of this process: one detached thread, all signals blocked, that runs until the
 * process ends or its slot's serial becomes 0. Returns 0 or an errno.
 */
int emu_engine_start(const struct emu_engine_config *config);

struct engine;

/* Bring the engine's memory of a QP up to date; false if the QP does not exist. */
bool emu_engine_refresh(struct engine *e, uint32_t qpn);

/* Make a pass on another thread, unless the engine's own thread is making passes. */
void emu_engine_run_pass(struct engine *e);

#endif
