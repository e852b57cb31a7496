/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Faults on demand: of the commands whose names match a pattern, the n-th from now and perhaps
 * those after it fail before they are executed.
 */
#ifndef EMU_FAIL_H
#define EMU_FAIL_H

#include "cmd.h"

/* Replace the rule (nth 0: by none); `seen` and `failed` count the old one's commands. */
int emu_fail_set(const struct emu_fail_request *r, uint64_t *seen, uint64_t *failed);
/* Is this command, or this mmap, to fail? 0 or a negative errno. */
int emu_fail_command(const struct emu_cmd *c);
int emu_fail_mmap(const struct emu_file *f);
/* The command that was counted last was not executed and will be sent again. */
void emu_fail_uncount(void);

/* Does the pattern match any command? */
bool emu_fail_matches_any(const char *pattern);
void emu_fail_names(FILE *out);

#endif
