/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The emulator's server: the kernel driver and the firmware of every emulated card. One thread. */
#ifndef EMU_SERVE_H
#define EMU_SERVE_H

#include <stdbool.h>

#include "emu/ipc/proto.h"
#include "emu/server/card/profile.h"

struct emu_server_options {
	const char *dir;
	const struct emu_topology_spec *topology;
	const struct emu_port_request *gids; /* changes of the default GID tables */
	unsigned int ngids;
	const struct emu_port_request *wires; /* addresses of ports; zero: "loopback" */
	unsigned int nwires;
	int ready_fd;	 /* receives an int when clients may connect: 0, or the errno of the failure
			 (EBUSY: another server has the directory) */
	bool foreground; /* messages still go to the standard error once clients may connect */
	int hold_fd; /* the connection of the first holder: the server ends with its last holder;
			 or -1 */
};

/* Serve until stopped. Returns a process exit code. */
int emu_serve(const struct emu_server_options *opt);

#endif
