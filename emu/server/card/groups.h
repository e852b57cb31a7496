/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Multicast groups: a group exists while queue pairs, of whatever function, are attached to it. */
#ifndef EMU_GROUPS_H
#define EMU_GROUPS_H

#include <stdint.h>

#include "emu/server/card/topology.h"

/* The queue pair of a function, and the number of groups to which it is attached. */
struct emu_groups_of {
	struct emu_func *func;
	uint32_t qpn;
	unsigned int *groups;
};

/*
 * Attach a queue pair to a group. 0, also if it is attached already; -EINVAL: the address is not that of a group;
 * -ENOMEM: there is no room for the group, or for one more queue pair in it.
 */
int emu_group_attach(const struct emu_groups_of *of, const uint8_t gid[16]);
/* -EINVAL: it is not attached. When this returns no engine uses the membership. */
int emu_group_detach(const struct emu_groups_of *of, const uint8_t gid[16]);
/* Detach a queue pair from all its groups. */
void emu_group_leave(const struct emu_groups_of *of);

#endif
