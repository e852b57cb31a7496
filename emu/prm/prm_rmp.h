/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Receive memory pools: CREATE_RMP, the RMP context and the work queue in it.
 *
 * PRM, "RMP Context" and "Work Queue"; Linux, mlx5_ifc.h: struct mlx5_ifc_create_rmp_in_bits,
 * mlx5_ifc_rmpc_bits and mlx5_ifc_wq_bits.
 */
#ifndef EMU_PRM_RMP_H
#define EMU_PRM_RMP_H

#include "emu/prm/prm.h"

#define EMU_CREATE_RMP_IN_LAYOUT(F)             \
	EMU_PRM_HEADER_IN(F, EMU_CREATE_RMP_IN) \
	F(EMU_CREATE_RMP_IN_RMPC, 0x20, 1919, 0)
EMU_PRM_LAYOUT(EMU_CREATE_RMP_IN, 0x110);

#define EMU_RMPC_LAYOUT(F)              \
	F(EMU_RMPC_STATE, 0x00, 23, 20) \
	F(EMU_RMPC_WQ, 0x30, 1535, 0)
EMU_PRM_LAYOUT(EMU_RMPC, 0xf0);

#define EMU_RMPC_STATE_RDY 1

#define EMU_QUERY_RMP_OUT_LAYOUT(F)              \
	EMU_PRM_HEADER_OUT(F, EMU_QUERY_RMP_OUT) \
	F(EMU_QUERY_RMP_OUT_RMPC, 0x20, 1919, 0)
EMU_PRM_LAYOUT(EMU_QUERY_RMP_OUT, 0x110);

#define EMU_MODIFY_RMP_IN_LAYOUT(F)               \
	EMU_PRM_HEADER_IN(F, EMU_MODIFY_RMP_IN)   \
	F(EMU_MODIFY_RMP_IN_STATE, 0x08, 31, 28)  \
	F(EMU_MODIFY_RMP_IN_SETS_LWM, 0x14, 0, 0) \
	F(EMU_MODIFY_RMP_IN_RMPC, 0x20, 1919, 0)
EMU_PRM_LAYOUT(EMU_MODIFY_RMP_IN, 0x110);

#define EMU_WQ_LAYOUT(F)                       \
	F(EMU_WQ_TYPE, 0x00, 31, 28)           \
	F(EMU_WQ_SIGNATURE, 0x00, 27, 27)      \
	F(EMU_WQ_PAGE_OFFSET, 0x04, 20, 16)    \
	F(EMU_WQ_LWM, 0x04, 15, 0)             \
	F(EMU_WQ_PD, 0x08, 23, 0)              \
	F(EMU_WQ_DBR_ADDR, 0x10, 63, 0)        \
	F(EMU_WQ_LOG_STRIDE, 0x20, 19, 16)     \
	F(EMU_WQ_LOG_PG_SZ, 0x20, 12, 8)       \
	F(EMU_WQ_LOG_SIZE, 0x20, 4, 0)         \
	F(EMU_WQ_DBR_UMEM_VALID, 0x24, 31, 31) \
	F(EMU_WQ_UMEM_VALID, 0x24, 30, 30)     \
	F(EMU_WQ_DBR_UMEM_ID, 0x28, 31, 0)     \
	F(EMU_WQ_UMEM_ID, 0x2c, 31, 0)         \
	F(EMU_WQ_UMEM_OFFSET, 0x30, 63, 0)
EMU_PRM_LAYOUT(EMU_WQ, 0xc0);

#define EMU_WQ_TYPE_LINKED_LIST 0
#define EMU_WQ_TYPE_CYCLIC	1

#endif
