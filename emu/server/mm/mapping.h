/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The mappings of a process: by PROCMAP_QUERY, which takes as long however many there are (Linux 6.11), or by
 * reading all lines of /proc/PID/maps before it.
 */
#ifndef EMU_MAPPING_H
#define EMU_MAPPING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "emu/server/mm/backing.h"

struct emu_mapping {
	uint64_t from, to;
	uint64_t offset; /* in the file */
	bool read, write, shared;
	struct emu_backing backing;
};

/* To find mappings in the order of their addresses. */
struct emu_mappings {
	pid_t pid;
	FILE *lines; /* NULL: they have not been read */
};

/* A process may execute another program, or have the number of one that ended: call this when one attaches. */
void emu_mappings_forget(void);

void emu_mappings_begin(struct emu_mappings *maps, pid_t pid);
void emu_mappings_end(struct emu_mappings *maps);
/* The mapping that has this address; false: there is none. The address must not be lower than the last one. */
bool emu_mappings_find(struct emu_mappings *maps, uint64_t addr, struct emu_mapping *m);

#endif
