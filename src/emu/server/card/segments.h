/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The memory that the server shares with the engines (emu/ipc/shm.h), and with clients by mmap. */
#ifndef EMU_SEGMENTS_H
#define EMU_SEGMENTS_H

#include <stdint.h>

#include "emu/ipc/shm.h"

/* A descriptor for each segment. */
struct emu_segments {
	int tables_fd, tables_ro_fd, queues_fd, dm_fd, uar_fd;
	uint64_t uar_ino; /* /proc/PID/maps names doorbell pages by it */
};

extern struct emu_segments emu_segments;
extern struct emu_tables *emu_tables;
extern struct emu_queues *emu_queues;

int emu_segments_create(void);
/* A serial number that was never used before. */
uint32_t emu_new_serial(void);

#endif
