/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The sockets of endpoints. The receiving sockets of an endpoint are a group with one address and
 * port, in which a program (steer.h) chooses: socket 0 is the server's, and each engine with queue
 * pairs at the endpoint has one. As the order in a group is that of bind(), no socket is closed:
 * those of engines that have ended wait for others. The sockets that send are shared by all
 * engines.
 */
#ifndef EMU_WIRE_ENDPOINTS_H
#define EMU_WIRE_ENDPOINTS_H

#include <stdint.h>

#include "emu/server/base/reactor.h"
#include "emu/server/card/topology.h"

struct emu_wire_sockets {
	struct emu_watch watch; /* socket 0 */
	int index;		/* of the endpoint */
	unsigned int nsockets;	/* of the group */
	unsigned int nengines;	/* that have one */
	int sender[EMU_WIRE_PORTS];
	uint16_t port[EMU_WIRE_PORTS];
};

/*
 * Give a function's port an address of this machine, and call `ready` when datagrams have arrived at socket 0. 0 or a
 * negative errno: that of bind() or epoll_ctl(), or -E2BIG: there are too many.
 */
int emu_wire_open(const struct emu_func *f, const uint8_t addr[16],
		  void (*ready)(struct emu_watch *w));
/* The sockets of an endpoint, or NULL. */
struct emu_wire_sockets *emu_wire_sockets_of(int endpoint);

/*
 * Before the engine gets a queue pair of a function: give it the sockets of the function's
 * endpoints, unless it has them. 0 or a negative errno, which was logged.
 */
int emu_wire_admit(const struct emu_func *f, uint32_t slot);
/* The engine has ended. */
void emu_wire_leave(uint32_t slot);

#endif
