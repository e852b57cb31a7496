/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Changes of ports while programs run: GIDs, the state and speed of the link, LIDs and P_Keys. Programs learn of
 * each by an asynchronous event, as from a kernel driver.
 */
#ifndef EMU_ADMIN_PORT_H
#define EMU_ADMIN_PORT_H

#include <stdbool.h>
#include <stddef.h>

#include "emu/ipc/proto.h"
#include "emu/server/card/topology.h"

/*
 * Execute a request. Returns 0 or a negative errno; val[0] is the number of entries or ports that
 * changed, val[1] the lowest index of an added GID.
 * -ENODEV: no function has that name and device; for the other errors see emu_gid_add() and
 * emu_gid_del(); -EINVAL also for a LID or an index of a P_Key that is out of range, and for
 * a speed that no lane has.
 */
int emu_port_request(const struct emu_port_request *r, uint64_t val[static 4]);
/* The link goes down or comes up. */
void emu_port_move(struct emu_func *f, bool down);
/*
 * Remove the GIDs that contain IP addresses, and add them again: at their index, or if an object still
 * refers to it, at the lowest free one. As when a machine loses its addresses and gets them back.
 */
void emu_port_forget_ip(struct emu_func *f);
void emu_port_restore_ip(struct emu_func *f);
bool emu_port_ip_is_removed(const struct emu_func *f);
/* Before the first request: report each change of a GID table as an event. */
void emu_port_begin(void);

#endif
