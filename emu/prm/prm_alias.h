/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Mkeys of another function: ALLOW_OTHER_VHCA_ACCESS and the alias object.
 *
 * Linux, mlx5_ifc.h: struct mlx5_ifc_allow_other_vhca_access_in_bits,
 * mlx5_ifc_create_alias_obj_in_bits and mlx5_ifc_alias_context_bits; UCX,
 * src/uct/ib/mlx5/dv/ib_mlx5_ifc.h has the same.
 */
#ifndef EMU_PRM_ALIAS_H
#define EMU_PRM_ALIAS_H

#include "emu/prm/prm.h"

#define EMU_ALLOW_ACCESS_IN_LAYOUT(F)                                  \
	EMU_PRM_HEADER_IN(F, EMU_ALLOW_ACCESS_IN)                      \
	F(EMU_ALLOW_ACCESS_IN_OBJECT_TYPE_TO_BE_ACCESSED, 0x10, 15, 0) \
	F(EMU_ALLOW_ACCESS_IN_OBJECT_ID_TO_BE_ACCESSED, 0x14, 31, 0)   \
	F(EMU_ALLOW_ACCESS_IN_ACCESS_KEY, 0x20, 255, 0)
EMU_PRM_LAYOUT(EMU_ALLOW_ACCESS_IN, 0x40);

/* CREATE_GENERAL_OBJECT of an alias; QUERY_GENERAL_OBJECT has the same header. */
#define EMU_ALIAS_IN_LAYOUT(F)                     \
	EMU_PRM_HEADER_IN(F, EMU_ALIAS_IN)         \
	F(EMU_ALIAS_IN_ALIAS_OBJECT, 0x0c, 31, 31) \
	F(EMU_ALIAS_IN_CONTEXT, 0x10, 511, 0)
EMU_PRM_LAYOUT(EMU_ALIAS_IN, 0x50);

#define EMU_QUERY_ALIAS_IN_LAYOUT(F)              \
	EMU_PRM_HEADER_IN(F, EMU_QUERY_ALIAS_IN)  \
	F(EMU_QUERY_ALIAS_IN_OBJ_ID, 0x08, 31, 0) \
	F(EMU_QUERY_ALIAS_IN_ALIAS_OBJECT, 0x0c, 31, 31)
EMU_PRM_LAYOUT(EMU_QUERY_ALIAS_IN, 0x10);

/* The answer of both. */
#define EMU_ALIAS_OUT_LAYOUT(F)              \
	EMU_PRM_HEADER_OUT(F, EMU_ALIAS_OUT) \
	F(EMU_ALIAS_OUT_OBJ_ID, 0x08, 31, 0) \
	F(EMU_ALIAS_OUT_CONTEXT, 0x10, 511, 0)
EMU_PRM_LAYOUT(EMU_ALIAS_OUT, 0x50);

/* As a client writes it. Of an mkey, metadata_1 is the protection domain of the alias. */
#define EMU_ALIAS_CTX_LAYOUT(F)                                \
	F(EMU_ALIAS_CTX_VHCA_ID_TO_BE_ACCESSED, 0x00, 31, 16)  \
	F(EMU_ALIAS_CTX_OBJECT_ID_TO_BE_ACCESSED, 0x04, 31, 0) \
	F(EMU_ALIAS_CTX_ACCESS_KEY, 0x10, 255, 0)              \
	F(EMU_ALIAS_CTX_METADATA_1, 0x30, 31, 0)
EMU_PRM_LAYOUT(EMU_ALIAS_CTX, 0x40);

/* What the firmware adds. */
#define EMU_ALIAS_CTX_OUT_LAYOUT(F) F(EMU_ALIAS_CTX_OUT_STATUS, 0x00, 2, 0)
EMU_PRM_LAYOUT(EMU_ALIAS_CTX_OUT, 0x40);

#define EMU_ALIAS_STATUS_GONE 1 /* anything but 0 is a bad state */

#define EMU_ACCESS_KEY_BYTES  (EMU_PRM_WIDTH(EMU_ALIAS_CTX_ACCESS_KEY) / 8)

#endif
