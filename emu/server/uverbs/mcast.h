/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Attaching queue pairs to multicast groups. */
#ifndef EMU_MCAST_H
#define EMU_MCAST_H

struct emu_cmd;
struct emu_qp_obj;

/* Legacy commands. */
int emu_write_attach_mcast(struct emu_cmd *c);
int emu_write_detach_mcast(struct emu_cmd *c);
/* Detach a queue pair that is being destroyed. */
void emu_mcast_leave(struct emu_qp_obj *qp);

#endif
