/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The port numbers of a machine, in each port space; the rules are those of the kernel's cma.c. */
#ifndef EMU_UCMA_PORTS_H
#define EMU_UCMA_PORTS_H

#include <stdint.h>
#include <sys/types.h>

#include "emu/server/ucma/id.h"

/*
 * Give the id the port of its source address or, if that is 0, a free one.
 * -EPROTONOSUPPORT: its service ID is in no port space of its kind; -EACCES: a port below 1024 without
 * CAP_NET_BIND_SERVICE; -EADDRINUSE: an id has the same address and port; -EADDRNOTAVAIL: one has the
 * port at any address, or no port is free.
 */
int emu_cma_port_get(struct emu_cma_id *id, pid_t pid);
void emu_cma_port_release(struct emu_cma_id *id);
/* May an id that has its port listen on it? As above. */
int emu_cma_port_check(const struct emu_cma_id *id);
/* The next id with this port in this port space after `id`, which is NULL for the first. */
struct emu_cma_id *emu_cma_port_next(const struct emu_cma_machine *m, uint16_t ps, uint16_t port,
				     const struct emu_cma_id *id);

#endif
