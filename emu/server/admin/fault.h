/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Faults on demand: commands that fail before they are executed, completions that engines lose,
 * delay or falsify and bytes that they change (ipc/shm.h), device memory that is exhausted, devices
 * that die. There is one rule of each kind; a new rule replaces it.
 */
#ifndef EMU_FAULT_H
#define EMU_FAULT_H

#include <json-c/json.h>

#include "emu/ipc/proto.h"
#include "emu/server/uverbs/cmd.h"

#define EMU_NAME_MMAP "file.mmap" /* the name of mmap(), which is not a command */

/*
 * Set a rule, or remove all; `val` returns what the previous rules saw and failed: commands, then
 * completions.
 */
int emu_fault_set(const struct emu_fault_request *r, uint64_t val[static 4]);
/*
 * Must this command, or this mmap, fail? 0 or a negative errno; with -EREMOTEIO the firmware's
 * answer is prepared. On a dead device a command to destroy an object fails too, but is executed.
 */
int emu_fault_command(struct emu_cmd *c);
int emu_fault_mmap(const struct emu_file *f);
/* Do not count the last command: it was not executed and will be sent again. */
void emu_fault_uncount(void);

/* A rule that will fail commands or completions, or change bytes: as the user wrote it; NULL: there is none. */
struct emu_fault_counted {
	const char *words;
	uint64_t seen, failed;
};
struct emu_fault_counted emu_fault_commands(void);
struct emu_fault_counted emu_fault_completions(void);
struct emu_fault_counted emu_fault_data(void);

/* Does the pattern of a rule match the name of a command? */
bool emu_fault_matches(const char *pattern, const char *name);

/*
 * The active faults: each as the words that follow `dpumap-emu fault`. Those of functions, ports and queue
 * pairs are read from their state; rules that count end when they have failed their number.
 */

/* An array of objects. */
struct json_object *emu_fault_describe(void);

#endif
