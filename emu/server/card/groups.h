/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Multicast groups: a group exists while queue pairs, of whatever function, are attached to it. */
#ifndef EMU_GROUPS_H
#define EMU_GROUPS_H

#include <stdint.h>

/*
 * Attach a queue pair to a group. 0, also if it is attached already; 1 if it was attached now; -ENOMEM if
 * there is no room for the group, or for one more queue pair in it.
 */
int emu_group_attach(uint32_t qpn, const uint8_t gid[16]);
/* -EINVAL: it is not attached. When this returns no engine uses the membership. */
int emu_group_detach(uint32_t qpn, const uint8_t gid[16]);
/* Detach a queue pair from all its groups. */
void emu_group_leave(uint32_t qpn);

#endif
