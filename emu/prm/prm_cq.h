/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Completion queues: the CQ context, CREATE_CQ and QUERY_CQ.
 *
 * PRM, "Completion Queue Context"; Linux, mlx5_ifc.h: struct mlx5_ifc_cqc_bits and
 * mlx5_ifc_create_cq_in_bits. The two bits of cqe_comp_layout are those of newer devices.
 */
#ifndef EMU_PRM_CQ_H
#define EMU_PRM_CQ_H

#include "emu/prm/prm.h"

#define EMU_CQC_LAYOUT(F)                            \
	F(EMU_CQC_STATUS, 0x00, 31, 28)              \
	F(EMU_CQC_DBR_UMEM_VALID, 0x00, 25, 25)      \
	F(EMU_CQC_CQE_SZ, 0x00, 23, 21)              \
	F(EMU_CQC_OI, 0x00, 17, 17)                  \
	F(EMU_CQC_CQ_PERIOD_MODE, 0x00, 16, 15)      \
	F(EMU_CQC_CQE_COMP_EN, 0x00, 14, 14)         \
	F(EMU_CQC_MINI_CQE_RES_FORMAT, 0x00, 13, 12) \
	F(EMU_CQC_CQE_COMP_LAYOUT, 0x00, 1, 0)       \
	F(EMU_CQC_DBR_UMEM_ID, 0x04, 31, 0)          \
	F(EMU_CQC_PAGE_OFFSET, 0x08, 11, 6)          \
	F(EMU_CQC_LOG_CQ_SIZE, 0x0c, 28, 24)         \
	F(EMU_CQC_UAR_PAGE, 0x0c, 23, 0)             \
	F(EMU_CQC_CQ_PERIOD, 0x10, 27, 16)           \
	F(EMU_CQC_CQ_MAX_COUNT, 0x10, 15, 0)         \
	F(EMU_CQC_C_EQN, 0x14, 31, 0)                \
	F(EMU_CQC_LOG_PAGE_SIZE, 0x18, 28, 24)       \
	F(EMU_CQC_DBR_ADDR, 0x38, 63, 0)
EMU_PRM_LAYOUT(EMU_CQC, 0x40);

#define EMU_CQC_STATUS_OVERFLOW 0x9

#define EMU_CQE_SZ_64		0
#define EMU_CQE_SZ_128		1
#define EMU_CQE_SZ_128_PADDED	2

#define EMU_CREATE_CQ_IN_LAYOUT(F)                      \
	EMU_PRM_HEADER_IN(F, EMU_CREATE_CQ_IN)          \
	F(EMU_CREATE_CQ_IN_CQC, 0x10, 511, 0)           \
	F(EMU_CREATE_CQ_IN_CQ_UMEM_OFFSET, 0x50, 63, 0) \
	F(EMU_CREATE_CQ_IN_CQ_UMEM_ID, 0x58, 31, 0)     \
	F(EMU_CREATE_CQ_IN_CQ_UMEM_VALID, 0x5c, 31, 31)
EMU_PRM_LAYOUT(EMU_CREATE_CQ_IN, 0x110);

/* The page list, if any, follows. */
#define EMU_MODIFY_CQ_IN_LAYOUT(F)                      \
	EMU_PRM_HEADER_IN(F, EMU_MODIFY_CQ_IN)          \
	F(EMU_MODIFY_CQ_IN_CQN, 0x08, 23, 0)            \
	F(EMU_MODIFY_CQ_IN_FIELD_SELECT, 0x0c, 31, 0)   \
	F(EMU_MODIFY_CQ_IN_CQC, 0x10, 511, 0)           \
	F(EMU_MODIFY_CQ_IN_CQ_UMEM_OFFSET, 0x50, 63, 0) \
	F(EMU_MODIFY_CQ_IN_CQ_UMEM_ID, 0x58, 31, 0)     \
	F(EMU_MODIFY_CQ_IN_CQ_UMEM_VALID, 0x5c, 31, 31)
EMU_PRM_LAYOUT(EMU_MODIFY_CQ_IN, 0x110);

#define EMU_MODIFY_CQ_FIELDS 0 /* op_mod */
#define EMU_MODIFY_CQ_RESIZE 1

/* field_select; of RESIZE: all three */
#define EMU_CQ_SELECT_PERIOD	   0x1u
#define EMU_CQ_SELECT_MAX_COUNT	   0x2u
#define EMU_CQ_SELECT_OI	   0x4u
#define EMU_CQ_SELECT_LOG_SIZE	   0x1u
#define EMU_CQ_SELECT_PAGE_OFFSET  0x2u
#define EMU_CQ_SELECT_PAGE_SIZE	   0x4u

#define EMU_QUERY_CQ_OUT_LAYOUT(F) F(EMU_QUERY_CQ_OUT_CQC, 0x10, 511, 0)
EMU_PRM_LAYOUT(EMU_QUERY_CQ_OUT, 0x50);

#endif
