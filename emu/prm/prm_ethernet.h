/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The network interface of a function: its queues, how packets find them, and the steering rules.
 *
 * PRM, "Send Queue Context", "Transport Interface" and "Flow Table"; Linux, mlx5_ifc.h: struct
 * mlx5_ifc_create_sq_in_bits, mlx5_ifc_sqc_bits, mlx5_ifc_create_flow_table_in_bits and the like.
 */
#ifndef EMU_PRM_ETHERNET_H
#define EMU_PRM_ETHERNET_H

#include "emu/prm/prm.h"
#include "emu/prm/prm_rmp.h"

/*
 * CREATE_SQ and CREATE_RQ have their context where CREATE_RMP has its own. A work queue and the state are at the same
 * places in both.
 */
#define EMU_SQC_LAYOUT(F)                  \
	F(EMU_SQC_STATE, 0x00, 23, 20)     \
	F(EMU_SQC_USER_INDEX, 0x04, 23, 0) \
	F(EMU_SQC_CQN, 0x08, 23, 0)        \
	F(EMU_SQC_TIS_NUM_0, 0x2c, 23, 0)  \
	F(EMU_SQC_WQ, 0x30, 1535, 0)
EMU_PRM_LAYOUT(EMU_SQC, 0xf0);

#define EMU_SQ_STATE_RST 0
#define EMU_SQ_STATE_RDY 1
#define EMU_SQ_STATE_ERR 3

#define EMU_MODIFY_SQ_IN_LAYOUT(F)                 \
	EMU_PRM_HEADER_IN(F, EMU_MODIFY_SQ_IN)     \
	F(EMU_MODIFY_SQ_IN_SQ_STATE, 0x08, 31, 28) \
	F(EMU_MODIFY_SQ_IN_SQN, 0x08, 23, 0)       \
	F(EMU_MODIFY_SQ_IN_SQC, 0x20, 1919, 0)
EMU_PRM_LAYOUT(EMU_MODIFY_SQ_IN, 0x110);

/* QUERY_RQ, too. */
#define EMU_QUERY_SQ_OUT_LAYOUT(F)              \
	EMU_PRM_HEADER_OUT(F, EMU_QUERY_SQ_OUT) \
	F(EMU_QUERY_SQ_OUT_SQC, 0x20, 1919, 0)
EMU_PRM_LAYOUT(EMU_QUERY_SQ_OUT, 0x110);

/* DESTROY_FLOW_TABLE, DESTROY_FLOW_GROUP and the commands on entries. */
#define EMU_FLOW_IN_LAYOUT(F)                   \
	EMU_PRM_HEADER_IN(F, EMU_FLOW_IN)       \
	F(EMU_FLOW_IN_TABLE_TYPE, 0x10, 31, 24) \
	F(EMU_FLOW_IN_TABLE_ID, 0x14, 23, 0)    \
	F(EMU_FLOW_IN_GROUP_ID, 0x18, 31, 0)
EMU_PRM_LAYOUT(EMU_FLOW_IN, 0x40);

#endif
