/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Protection domains. */
#ifndef EMU_PD_H
#define EMU_PD_H

#include "emu/server/uverbs/method.h"
#include "emu/server/uverbs/uobj.h"

struct emu_pd {
	struct emu_uobj obj;
	uint32_t pdn;
};

extern const struct emu_method emu_methods_pd[];

/* A number that no domain has; 0: all are in use. It is free again when its domain is undone. */
uint32_t emu_pd_number(void);
int emu_pd_undo(struct emu_uobj *o);

/* Legacy command. */
int emu_write_alloc_pd(struct emu_cmd *c);
/* The file's protection domain of that number, of verbs or of a command, or NULL. */
struct emu_pd *emu_pd_by_number(const struct emu_file *f, uint32_t pdn);

#endif
