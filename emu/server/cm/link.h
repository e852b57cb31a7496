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

#endif
