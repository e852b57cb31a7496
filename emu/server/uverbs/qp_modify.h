/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The states and attributes of queue pairs: MODIFY_QP and QUERY_QP. The InfiniBand architecture
 * defines which attributes a transition requires and allows (volume 1, table "QP state transition
 * properties"), and the kernel core checks it.
 */
#ifndef EMU_QP_MODIFY_H
#define EMU_QP_MODIFY_H

struct emu_cmd;

/* Legacy commands. */
int emu_write_modify_qp(struct emu_cmd *c);
int emu_write_modify_qp_ex(struct emu_cmd *c);
int emu_write_query_qp(struct emu_cmd *c);

#endif
