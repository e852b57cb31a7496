/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The fabric between the connection managers of the machines: messages wait in a queue for the next turn of the main
 * loop, and are lost where a real fabric loses them. Those to peers on networks leave as UDP datagrams.
 */
#ifndef EMU_CM_LINK_H
#define EMU_CM_LINK_H

#include "emu/server/cm/cm.h"

/*
 * Create the endpoint of a machine (struct emu_func, role). Of `ops`, the link replaces send, now and
 * wake; the others get `ctx`. NULL: no memory, or the machine has one. It lives as long as the server.
 */
struct emu_cm *emu_cm_link_create(const char *role, const struct emu_cm_ops *ops, void *ctx);
/* The endpoint of a machine, or NULL. */
struct emu_cm *emu_cm_link_find(const char *role);

/*
 * A hook for faults on demand, NULL at first: is a message between these functions lost? A dead
 * function, a port that is down and a GID without an owner lose messages in any case.
 */
extern bool (*emu_cm_link_loses)(const struct emu_func *from, const struct emu_func *to);

#endif
