/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Address handles, and the resolution of GIDs to MAC addresses. User space owns address handles; it
 * asks the kernel because the kernel knows the neighbour's MAC address.
 */
#ifndef EMU_AH_H
#define EMU_AH_H

#include <stdint.h>

#include "emu/server/card/topology.h"
#include "emu/server/uverbs/method.h"
#include "emu/server/uverbs/uobj.h"

#define EMU_MAC_BYTES 6

struct emu_ah {
	struct emu_uobj obj;
	struct emu_pd *pd;
	uint8_t sgid_index; /* held */
};

extern const struct emu_method emu_methods_ah[];

/* Legacy command. */
int emu_write_create_ah(struct emu_cmd *c);
/*
 * The MAC address of the neighbour with this GID, as the entry `sgid_index` of `f` reaches it. -ETIMEDOUT: there is
 * none; -ENETUNREACH or -EHOSTUNREACH: the machine has no route to it.
 */
int emu_resolve(const struct emu_func *f, uint8_t sgid_index, const uint8_t dgid[16],
		uint8_t mac[EMU_MAC_BYTES]);

#endif
