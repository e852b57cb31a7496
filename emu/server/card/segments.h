/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The memory that the server shares with the engines (emu/ipc/shm.h), and with clients by mmap. */
#ifndef EMU_SEGMENTS_H
#define EMU_SEGMENTS_H

#include <stdint.h>

#include "emu/ipc/shm.h"

#define EMU_NUM_PDNS (1u << 24)

/* A descriptor for each segment. */
struct emu_segments {
	int tables_fd, tables_ro_fd, queues_fd, dm_fd, uar_fd;
	uint64_t uar_ino; /* /proc/PID/maps names doorbell pages by it */
};

/* A data encryption key. */
struct emu_private_dek {
	uint8_t raw[32];
	uint8_t bytes; /* of them, from the first on */
	uint16_t func;
	uint32_t pdn;
	uint64_t given[EMU_MAX_ENGINES / 64]; /* a bit for each slot whose engine has got it */
};

/*
 * Memory of the server alone. It is mapped, not static: it takes pages only where it is used, core
 * dumps do not contain it, and LeakSanitizer does not search it for pointers.
 */
struct emu_private {
	struct {
		uint8_t access_key[32];
		uint16_t owner_uid;
	} alias_rights[EMU_MAX_MKEYS];
	struct emu_private_dek dek[EMU_MAX_DEKS];
	uint8_t klm_used[EMU_MAX_KLMS];
	uint8_t pdn_used[EMU_NUM_PDNS / 8]; /* a bit for each number */
};

extern struct emu_segments emu_segments;
extern struct emu_tables *emu_tables;
extern struct emu_queues *emu_queues;
extern struct emu_private *emu_private;

int emu_segments_create(void);
/* A serial number that was never used before. */
uint32_t emu_new_serial(void);

#endif
