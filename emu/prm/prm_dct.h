/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Targets of the dynamically connected transport (DC): their context, CREATE_DCT, QUERY_DCT.
 *
 * Linux, mlx5_ifc.h: struct mlx5_ifc_dctc_bits, mlx5_ifc_create_dct_in_bits and mlx5_ifc_query_dct_out_bits.
 */
#ifndef EMU_PRM_DCT_H
#define EMU_PRM_DCT_H

#include "emu/prm/prm.h"

#define EMU_DCTC_LAYOUT(F)                   \
	F(EMU_DCTC_STATE, 0x00, 27, 24)      \
	F(EMU_DCTC_USER_INDEX, 0x04, 23, 0)  \
	F(EMU_DCTC_CQN, 0x08, 23, 0)         \
	F(EMU_DCTC_RRE, 0x0c, 19, 19)        \
	F(EMU_DCTC_RWE, 0x0c, 18, 18)        \
	F(EMU_DCTC_RAE, 0x0c, 17, 17)        \
	F(EMU_DCTC_CS_RES, 0x10, 23, 16)     \
	F(EMU_DCTC_MIN_RNR_NAK, 0x10, 12, 8) \
	F(EMU_DCTC_SRQN, 0x14, 23, 0)        \
	F(EMU_DCTC_PD, 0x18, 23, 0)          \
	F(EMU_DCTC_TCLASS, 0x1c, 31, 24)     \
	F(EMU_DCTC_FLOW_LABEL, 0x1c, 19, 0)  \
	F(EMU_DCTC_ACCESS_KEY, 0x20, 63, 0)  \
	F(EMU_DCTC_MTU, 0x28, 26, 24)        \
	F(EMU_DCTC_PORT, 0x28, 23, 16)       \
	F(EMU_DCTC_PKEY_INDEX, 0x28, 15, 0)  \
	F(EMU_DCTC_GID_INDEX, 0x2c, 23, 16)  \
	F(EMU_DCTC_HOP_LIMIT, 0x2c, 7, 0)    \
	F(EMU_DCTC_VIOLATIONS, 0x30, 31, 0)  \
	F(EMU_DCTC_ETH_PRIO, 0x34, 10, 8)    \
	F(EMU_DCTC_ECE, 0x3c, 31, 0)
EMU_PRM_LAYOUT(EMU_DCTC, 0x40);

enum {
	EMU_DCTC_STATE_ACTIVE = 0,
	EMU_DCTC_STATE_DRAINED = 2,
};

/* What follows the context is reserved. */
#define EMU_CREATE_DCT_IN_LAYOUT(F)             \
	EMU_PRM_HEADER_IN(F, EMU_CREATE_DCT_IN) \
	F(EMU_CREATE_DCT_IN_DCTC, 0x10, 511, 0)
EMU_PRM_LAYOUT(EMU_CREATE_DCT_IN, 0x80);

#define EMU_CREATE_DCT_OUT_LAYOUT(F) F(EMU_CREATE_DCT_OUT_ECE, 0x0c, 31, 0)
EMU_PRM_LAYOUT(EMU_CREATE_DCT_OUT, 0x10);

#define EMU_QUERY_DCT_OUT_LAYOUT(F)              \
	EMU_PRM_HEADER_OUT(F, EMU_QUERY_DCT_OUT) \
	F(EMU_QUERY_DCT_OUT_DCTC, 0x10, 511, 0)
EMU_PRM_LAYOUT(EMU_QUERY_DCT_OUT, 0x80);

#endif
