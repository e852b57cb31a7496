/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* All uverbs methods, whichever room executes them, and the names of all commands. */
#ifndef EMU_COMMANDS_H
#define EMU_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/server/uverbs/method.h"

/* The method's row, or NULL. */
const struct emu_method *emu_method_find(uint16_t object, uint16_t method);
/* Does the pattern match the name of any command? */
bool emu_command_known(const char *pattern);
/* Print the names of all commands. */
void emu_command_names(FILE *out);

#endif
