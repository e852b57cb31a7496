/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Changes of a completion queue: its size, and the moderation of its events. */
#ifndef EMU_CQ_MODIFY_H
#define EMU_CQ_MODIFY_H

struct emu_cmd;

/* Legacy commands. */
int emu_write_resize_cq(struct emu_cmd *c);
int emu_write_modify_cq(struct emu_cmd *c);

#endif
