/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The attributes of the queue pair of a connection. */
#ifndef EMU_CM_ATTR_H
#define EMU_CM_ATTR_H

#include <stdint.h>

struct emu_cm_conn;
struct ib_uverbs_qp_attr;

/*
 * The attributes by which the connection's queue pair reaches `state` (enum ibv_qp_state: INIT,
 * RTR, RTS), as the kernel's ib_cm_init_qp_attr(). Sets qp_attr_mask; the caller sets port_num,
 * pkey_index and sgid_index, which the CM does not know, and the access flags are the kernel's.
 * -EINVAL: the connection's state has no answer.
 */
int emu_cm_qp_attr(const struct emu_cm_conn *c, uint8_t state, struct ib_uverbs_qp_attr *a);

#endif
