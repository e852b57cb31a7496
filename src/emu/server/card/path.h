/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Paths between ports: whether packets of one arrive at the other, and which function a queue pair's
 * address leads to. Ports that are down, partitions and changes of GIDs take effect on queue pairs that
 * are connected already: their requesters get no answer and retry.
 */
#ifndef EMU_PATH_H
#define EMU_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/ipc/shm.h"
#include "emu/server/card/topology.h"

/* Do packets of one function's port arrive at the other's? A port always reaches itself. */
bool emu_path_is_open(const struct emu_func *from, const struct emu_func *to);
/* Cut or mend the way in one direction. */
void emu_path_cut(const struct emu_func *from, const struct emu_func *to, bool cut);
/* After a port has gone down or up, or a GID table has changed. */
void emu_paths_refresh(void);

/*
 * The function at which packets arrive that leave by this entry of `from` for the GID `dgid`, or NULL:
 * the entry must exist, and the other port must have the GID with the same version and VLAN.
 */
const struct emu_func *emu_path_lead(const struct emu_func *from, unsigned int sgid_index,
				     const uint8_t dgid[16]);

/* Set the address of a queue pair of `f`, which holds the GID at `sgid_index`; and forget it. */
void emu_path_set(const struct emu_func *f, struct emu_qp *q, unsigned int sgid_index,
		  const uint8_t dgid[16]);
void emu_path_clear(struct emu_qp *q);

#endif
