/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Queries that drivers send when they open the device: QUERY_LAG, QUERY_ISSI, QUERY_VPORT_STATE, NOP.
 *
 * PRM, "QUERY_LAG" and the like; mlx5_ifc.h: struct mlx5_ifc_query_lag_out_bits,
 * mlx5_ifc_lag_context_bits, mlx5_ifc_query_issi_out_bits and mlx5_ifc_query_vport_state_out_bits.
 */
#ifndef EMU_PRM_GENERAL_H
#define EMU_PRM_GENERAL_H

#include "emu/prm/prm.h"

/*
 * All of them. Of QUERY_VPORT_STATE, other_vport and vport_number have no names: a function queries
 * its own port only.
 */
#define EMU_GENERAL_IN_LAYOUT(F) EMU_PRM_HEADER_IN(F, EMU_GENERAL_IN)
EMU_PRM_LAYOUT(EMU_GENERAL_IN, 0x10);

/* The context of a card that bonds no ports is all zeros: state, mode and affinities. */
#define EMU_QUERY_LAG_OUT_LAYOUT(F)              \
	EMU_PRM_HEADER_OUT(F, EMU_QUERY_LAG_OUT) \
	F(EMU_QUERY_LAG_OUT_CTX, 0x08, 63, 0)
EMU_PRM_LAYOUT(EMU_QUERY_LAG_OUT, 0x10);

#define EMU_QUERY_ISSI_OUT_LAYOUT(F)                    \
	EMU_PRM_HEADER_OUT(F, EMU_QUERY_ISSI_OUT)       \
	F(EMU_QUERY_ISSI_OUT_CURRENT_ISSI, 0x08, 15, 0) \
	F(EMU_QUERY_ISSI_OUT_SUPPORTED_DW0, 0x6c, 31, 0)
EMU_PRM_LAYOUT(EMU_QUERY_ISSI_OUT, 0x70);

#define EMU_QUERY_VPORT_STATE_OUT_LAYOUT(F)                  \
	EMU_PRM_HEADER_OUT(F, EMU_QUERY_VPORT_STATE_OUT)     \
	F(EMU_QUERY_VPORT_STATE_OUT_ADMIN_STATE, 0x0c, 7, 4) \
	F(EMU_QUERY_VPORT_STATE_OUT_STATE, 0x0c, 3, 0)
EMU_PRM_LAYOUT(EMU_QUERY_VPORT_STATE_OUT, 0x10);

#endif
