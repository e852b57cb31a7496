/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The emulator's server: the kernel driver and the firmware of every emulated card. One thread. */
#ifndef EMU_SERVE_H
#define EMU_SERVE_H

#include <stdbool.h>

#include "emu/ipc/proto.h"
#include "emu/ipc/shm.h"
#include "emu/server/base/reactor.h"
#include "emu/server/card/profile.h"
#include "emu/server/card/topology.h"
#include "emu/server/uverbs/cmd.h"

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

/* Connections of clients: files, and the channels of the processes that use them. */

/* A client opened the function's character device: `fd` (consumed) is our end. */
void emu_client_accept(struct emu_func *func, int fd);

/* The execution of a command, with its faults on demand and its trace. */

/* Execute the ioctl whose header is at `uhdr` in the client. Returns 0 or a negative errno. */
int emu_ioctl(struct emu_cmd *c, uint64_t uhdr);

/* The notes that engines send (struct emu_note). */

/* The notify socket of a process is readable: handle all notes in it. */
void emu_notes_ready(struct emu_watch *w);
void emu_note(const struct emu_note *n);

#endif
