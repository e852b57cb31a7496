/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Data encryption keys: CREATE_GENERAL_OBJECT and QUERY_GENERAL_OBJECT of type DEK.
 *
 * Linux, mlx5_ifc.h: struct mlx5_ifc_encryption_key_obj_bits and mlx5_ifc_create_encryption_key_in_bits; DPDK,
 * mlx5_prm.h: struct mlx5_ifc_dek_bits.
 */
#ifndef EMU_PRM_DEK_H
#define EMU_PRM_DEK_H

#include "emu/prm/prm.h"

#define EMU_DEK_IN_LAYOUT(F)             \
	EMU_PRM_HEADER_IN(F, EMU_DEK_IN) \
	F(EMU_DEK_IN_CONTEXT, 0x10, 2047, 0)
EMU_PRM_LAYOUT(EMU_DEK_IN, 0x110);

#define EMU_QUERY_DEK_IN_LAYOUT(F)             \
	EMU_PRM_HEADER_IN(F, EMU_QUERY_DEK_IN) \
	F(EMU_QUERY_DEK_IN_OBJ_ID, 0x08, 31, 0)
EMU_PRM_LAYOUT(EMU_QUERY_DEK_IN, 0x10);

/* Of the new object; the answer to a query has the context after it. */
#define EMU_DEK_OUT_LAYOUT(F)              \
	EMU_PRM_HEADER_OUT(F, EMU_DEK_OUT) \
	F(EMU_DEK_OUT_OBJ_ID, 0x08, 31, 0)
EMU_PRM_LAYOUT(EMU_DEK_OUT, 0x10);

#define EMU_QUERY_DEK_OUT_LAYOUT(F)              \
	EMU_PRM_HEADER_OUT(F, EMU_QUERY_DEK_OUT) \
	F(EMU_QUERY_DEK_OUT_CONTEXT, 0x10, 2047, 0)
EMU_PRM_LAYOUT(EMU_QUERY_DEK_OUT, 0x110);

/* The key is at the end of its field of 256 bits, if it is shorter. */
#define EMU_DEK_CTX_LAYOUT(F)                  \
	F(EMU_DEK_CTX_STATE, 0x08, 31, 24)     \
	F(EMU_DEK_CTX_KEY_SIZE, 0x08, 11, 8)   \
	F(EMU_DEK_CTX_HAS_KEYTAG, 0x08, 7, 7)  \
	F(EMU_DEK_CTX_KEY_PURPOSE, 0x08, 3, 0) \
	F(EMU_DEK_CTX_PD, 0x0c, 23, 0)         \
	F(EMU_DEK_CTX_OPAQUE, 0x30, 63, 0)     \
	F(EMU_DEK_CTX_KEY, 0x40, 255, 0)       \
	F(EMU_DEK_CTX_MORE_KEY, 0x60, 767, 0)
EMU_PRM_LAYOUT(EMU_DEK_CTX, 0x100);

enum { EMU_DEK_SIZE_128, EMU_DEK_SIZE_256 };

#define EMU_DEK_PURPOSE_GCM 5
#define EMU_DEK_KEY_BYTES   (EMU_PRM_WIDTH(EMU_DEK_CTX_KEY) / 8)

#endif
