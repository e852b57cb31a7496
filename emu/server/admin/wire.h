/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Addresses of ports on networks of this machine (--wire). */
#ifndef EMU_WIRE_H
#define EMU_WIRE_H

#include <json-c/json.h>

struct emu_port_request;

/*
 * Give ports their addresses: `role`, `dev` and `raw` of each request, whose address zero means all ports without one.
 * After the GID tables exist. 0 or a negative errno, which was logged.
 */
int emu_attach_wires(const struct emu_port_request *wires, unsigned int n);

/* An array with an object for each address: what arrived at the server's sockets, and what was dropped why. */
struct json_object *emu_wire_describe(void);

#endif
