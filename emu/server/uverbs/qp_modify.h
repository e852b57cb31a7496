/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The states and attributes of queue pairs: MODIFY_QP and QUERY_QP. The InfiniBand architecture
 * defines which attributes a transition requires and allows (volume 1, table "QP state transition
 * properties"), and the kernel core checks it.
 */
#ifndef EMU_QP_MODIFY_H
#define EMU_QP_MODIFY_H

#include <stdint.h>

#include "emu/ipc/shm.h"

struct emu_cmd;
struct ib_uverbs_modify_qp;

/* What the firmware reports before a transition to INIT has set the port (docs/hardware.md, question 45). */
#define EMU_PORT_BEFORE_INIT 1

/* Legacy commands. */
int emu_write_modify_qp(struct emu_cmd *c);
int emu_write_modify_qp_ex(struct emu_cmd *c);
int emu_write_query_qp(struct emu_cmd *c);
/*
 * The remote accesses that a QP with these attributes serves (IBV_ACCESS_REMOTE_*). Without resources
 * for RDMA reads and atomics (max_dest_rd_atomic) it serves neither, whatever its access flags: mlx5's
 * to_mlx5_access_flags().
 */
uint32_t emu_qp_access(const struct ib_uverbs_modify_qp *kept);
/* RDMA reads and atomics at once: the device counts them in powers of two, from 1 on. */
uint8_t emu_qp_depth(uint8_t max_rd_atomic);
/* The port that QUERY_QP returns. */
uint8_t emu_qp_port(const struct ib_uverbs_modify_qp *kept);
/*
 * Change the state of a QP that was seen in state `from`. -EINVAL if an engine has moved it to ERR
 * meanwhile.
 */
int emu_qp_set_state(struct emu_qp *q, uint32_t from, uint32_t to);

#endif
