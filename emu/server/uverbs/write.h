/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* INVOKE_WRITE: the legacy write() commands, carried by the ioctl. */
#ifndef EMU_WRITE_H
#define EMU_WRITE_H

#include "emu/server/uverbs/method.h"

struct emu_write_command {
	struct emu_command command;
	uint32_t number;
	uint16_t in, out; /* least sizes of the core structs */
	int (*handler)(struct emu_cmd *c);
};

/* Ends with a row without a handler. */
extern const struct emu_write_command emu_write_commands[];
extern const struct emu_method emu_methods_write[];

#endif
