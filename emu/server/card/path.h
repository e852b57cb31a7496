/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Paths between ports: whether packets of one arrive at the other, and where a queue pair's address leads to: to a
 * function of this emulator, or to the wire. Ports that are down, partitions and changes of GIDs take effect on queue
 * pairs that are connected already: their requesters get no answer and retry.
 */
#ifndef EMU_PATH_H
#define EMU_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/ipc/shm.h"
#include "emu/server/card/topology.h"

/* An address vector. */
struct emu_address {
	uint8_t sgid_index;
	uint8_t dgid[16];
	uint8_t tclass;
	uint8_t hop_limit;
	uint32_t flow_label;
};

/* Do packets of one function's port arrive at the other's? A port always reaches itself. */
bool emu_path_is_open(const struct emu_func *from, const struct emu_func *to);
/* Cut or mend the way in one direction; and whether it is cut. */
void emu_path_cut(const struct emu_func *from, const struct emu_func *to, bool cut);
bool emu_path_is_cut(const struct emu_func *from, const struct emu_func *to);
/* After a port has gone down or up, or a GID table has changed. */
void emu_paths_refresh(void);

/*
 * The index of the function at which packets arrive that leave `from` by this address: the entry must
 * exist, and the other port must have the GID with the same version and VLAN. EMU_ON_WIRE: they leave by an
 * endpoint as `*r` says. EMU_NOWHERE: they are lost.
 */
uint32_t emu_path_destination(const struct emu_func *from, const struct emu_address *a,
			      struct emu_route *r);

/* Set the address of a queue pair of `f`, which holds the GID at its index; and forget it. */
void emu_path_set(const struct emu_func *f, struct emu_qp *q, const struct emu_address *to);
void emu_path_clear(struct emu_qp *q);

#endif
