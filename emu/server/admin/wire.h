/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Addresses of ports on networks of this machine (--wire). */
#ifndef EMU_WIRE_H
#define EMU_WIRE_H

#include <stdio.h>

struct emu_port_request;

/*
 * Give ports their addresses: `role`, `dev` and `raw` of each request, whose address zero means all ports without one.
 * After the GID tables exist. 0 or a negative errno, which was logged.
 */
int emu_attach_wires(const struct emu_port_request *wires, unsigned int n);

/* Each address in a line, with what arrived at the server's socket, and each reason why packets were dropped in one. */
void emu_wire_write_lines(FILE *out);
/* The same as a JSON array. */
void emu_wire_write_json(FILE *out);

#endif
