/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What commands are called by people: in faults and in traces. */
#ifndef EMU_NAMES_H
#define EMU_NAMES_H

#include "cmd.h"

#define EMU_NAME_MMAP "file.mmap"

/* NULL: a legacy command that does not exist, like the library's probe. */
const char *emu_command_name(const struct emu_cmd *c);
bool emu_command_matches(const char *pattern, const char *name);
/* Does the pattern match any command? */
bool emu_command_known(const char *pattern);
/* The list of them all. */
void emu_command_names(FILE *out);

#endif
