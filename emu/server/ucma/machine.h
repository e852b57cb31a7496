/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the kernel of an emulated machine has for the connection manager: an endpoint, and the ports in use. */
#ifndef EMU_UCMA_MACHINE_H
#define EMU_UCMA_MACHINE_H

#include "emu/server/cm/cm.h"

#define EMU_CMA_PORT_BUCKETS 256u

struct emu_cma_id;

struct emu_cma_machine {
	const char *role;
	struct emu_cm *cm;
	struct emu_cma_id *ports[EMU_CMA_PORT_BUCKETS]; /* bound ids, by port number */
	uint16_t last_port;
};

/* The machine with that role, which is created at the first call. NULL: no memory. */
struct emu_cma_machine *emu_cma_machine_of(const char *role);
/* The next machine after `m`, or the first; NULL: none. */
struct emu_cma_machine *emu_cma_machine_next(const struct emu_cma_machine *m);

#endif
