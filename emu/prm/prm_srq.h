/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * XRC shared receive queues: the context, CREATE_XRC_SRQ and QUERY_XRC_SRQ. Drivers also create the ordinary shared
 * receive queues of verbs by RMP (prm_rmp.h) or by this command.
 *
 * PRM, "XRC SRQ Context"; Linux, mlx5_ifc.h: struct mlx5_ifc_xrc_srqc_bits and mlx5_ifc_create_xrc_srq_in_bits.
 */
#ifndef EMU_PRM_SRQ_H
#define EMU_PRM_SRQ_H

#include "emu/prm/prm.h"

#define EMU_XRC_SRQC_LAYOUT(F)                       \
	F(EMU_XRC_SRQC_STATE, 0x00, 31, 28)          \
	F(EMU_XRC_SRQC_LOG_SRQ_SIZE, 0x00, 27, 24)   \
	F(EMU_XRC_SRQC_WQ_SIGNATURE, 0x04, 31, 31)   \
	F(EMU_XRC_SRQC_CONT_SRQ, 0x04, 30, 30)       \
	F(EMU_XRC_SRQC_LOG_RQ_STRIDE, 0x04, 26, 24)  \
	F(EMU_XRC_SRQC_XRCD, 0x04, 23, 0)            \
	F(EMU_XRC_SRQC_PAGE_OFFSET, 0x08, 31, 26)    \
	F(EMU_XRC_SRQC_DBR_UMEM_VALID, 0x08, 24, 24) \
	F(EMU_XRC_SRQC_CQN, 0x08, 23, 0)             \
	F(EMU_XRC_SRQC_LOG_PAGE_SIZE, 0x10, 29, 24)  \
	F(EMU_XRC_SRQC_USER_INDEX, 0x10, 23, 0)      \
	F(EMU_XRC_SRQC_PD, 0x18, 23, 0)              \
	F(EMU_XRC_SRQC_LWM, 0x1c, 31, 16)            \
	F(EMU_XRC_SRQC_WQE_CNT, 0x1c, 15, 0)         \
	F(EMU_XRC_SRQC_DB_RECORD_ADDR, 0x28, 63, 0)
EMU_PRM_LAYOUT(EMU_XRC_SRQC, 0x40);

/* What names memory by umem, which Linux's headers leave open, is where emu/pci puts it. */
#define EMU_CREATE_XRC_SRQ_IN_LAYOUT(F)                   \
	EMU_PRM_HEADER_IN(F, EMU_CREATE_XRC_SRQ_IN)       \
	F(EMU_CREATE_XRC_SRQ_IN_CTX, 0x10, 511, 0)        \
	F(EMU_CREATE_XRC_SRQ_IN_UMEM_OFFSET, 0x50, 63, 0) \
	F(EMU_CREATE_XRC_SRQ_IN_UMEM_ID, 0x58, 31, 0)     \
	F(EMU_CREATE_XRC_SRQ_IN_UMEM_VALID, 0x5c, 31, 31) \
	F(EMU_CREATE_XRC_SRQ_IN_DBR_UMEM_ID, 0x60, 31, 0) \
	/* the page list follows */
EMU_PRM_LAYOUT(EMU_CREATE_XRC_SRQ_IN, 0x110);

#define EMU_QUERY_XRC_SRQ_OUT_LAYOUT(F)              \
	EMU_PRM_HEADER_OUT(F, EMU_QUERY_XRC_SRQ_OUT) \
	F(EMU_QUERY_XRC_SRQ_OUT_CTX, 0x10, 511, 0)   \
	/* a page list follows, which is empty */
EMU_PRM_LAYOUT(EMU_QUERY_XRC_SRQ_OUT, 0x110);

#define EMU_ARM_XRC_SRQ_IN_LAYOUT(F)             \
	EMU_PRM_HEADER_IN(F, EMU_ARM_XRC_SRQ_IN) \
	F(EMU_ARM_XRC_SRQ_IN_LWM, 0x0c, 15, 0)
EMU_PRM_LAYOUT(EMU_ARM_XRC_SRQ_IN, 0x10);

#endif
