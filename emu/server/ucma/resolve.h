/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Addresses and routes of ids. */
#ifndef EMU_UCMA_RESOLVE_H
#define EMU_UCMA_RESOLVE_H

#include <sys/types.h>

#include "emu/server/ucma/id.h"

/* Bind an id that is not bound to any IPv4 address and a free port. As BIND. */
int emu_cma_bind_any(struct emu_cma_id *id, pid_t pid);

#endif
