/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Client processes that run an engine: its slot, and the socket on which it sends notes. */
#ifndef EMU_PROCESS_H
#define EMU_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

#include "emu/server/base/reactor.h"

/* A process's engine slot, shared by all its channels. */
struct emu_proc {
	struct emu_watch notes; /* our end of its notify socket */
	struct emu_proc *next;
	pid_t pid;
	uint32_t slot;
	int client_end; /* of the notify socket, until it was sent; then -1 */
};

extern struct emu_proc *emu_procs;

struct emu_proc *emu_proc_of(pid_t pid);
struct emu_proc *emu_proc_by_slot(uint32_t slot);
/* Handle the notes that the process has sent so far; `p` may be NULL. */
void emu_proc_drain_notes(struct emu_proc *p);
/* Give the process a slot. `handlers` has the functions of its watch. -EMFILE: no slot is free. */
int emu_proc_create(pid_t pid, const struct emu_watch *handlers, struct emu_proc **out);
/* Free the slot and the memory; no queue may name the slot any more. */
void emu_proc_remove(struct emu_proc *p);

#endif
