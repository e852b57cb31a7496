/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Work requests that change an mkey (UMR): the control segment. The mkey context that follows it is
 * laid out like that of CREATE_MKEY.
 *
 * PRM, "UMR Control Segment"; rdma-core, mlx5dv.h: struct mlx5_wqe_umr_ctrl_seg and MLX5_WQE_UMR_*.
 */
#ifndef EMU_PRM_UMR_H
#define EMU_PRM_UMR_H

#include "emu/prm/prm.h"

#define EMU_UMR_CTRL_LAYOUT(F)                                         \
	F(EMU_UMR_CTRL_FLAGS, 0x00, 31, 24)                            \
	F(EMU_UMR_CTRL_KLM_OCTOWORDS, 0x04, 31, 16)                    \
	F(EMU_UMR_CTRL_TRANSLATION_OFFSET, 0x04, 15, 0)                \
	F(EMU_UMR_CTRL_MKEY_MASK, 0x08, 63, 0)                         \
	/* umr_extended_translation_offset; Linux: xlt_offset_47_16 */ \
	F(EMU_UMR_CTRL_TRANSLATION_OFFSET_47_16, 0x10, 31, 0)
EMU_PRM_LAYOUT(EMU_UMR_CTRL, 0x30);

enum {
	EMU_UMR_FLAG_CHECK_QPN = 0x08,
	EMU_UMR_FLAG_TRANSLATION_OFFSET = 0x10,
	EMU_UMR_FLAG_CHECK_FREE = 0x20,
	EMU_UMR_FLAG_INLINE = 0x80,
	EMU_UMR_FLAG_ALL = EMU_UMR_FLAG_CHECK_QPN | EMU_UMR_FLAG_TRANSLATION_OFFSET |
			   EMU_UMR_FLAG_CHECK_FREE | EMU_UMR_FLAG_INLINE,
};

/* Which fields of the mkey context the request changes. */
enum {
	EMU_UMR_MASK_LEN = 1 << 0,
	EMU_UMR_MASK_START_ADDR = 1 << 6,
	EMU_UMR_MASK_MKEY = 1 << 13,
	EMU_UMR_MASK_QPN = 1 << 14,
	EMU_UMR_MASK_LOCAL_WRITE = 1 << 18,
	EMU_UMR_MASK_REMOTE_READ = 1 << 19,
	EMU_UMR_MASK_REMOTE_WRITE = 1 << 20,
	EMU_UMR_MASK_ATOMIC = 1 << 21,
	EMU_UMR_MASK_FREE = 1 << 29,
	EMU_UMR_MASK_ALL = EMU_UMR_MASK_LEN | EMU_UMR_MASK_START_ADDR | EMU_UMR_MASK_MKEY |
			   EMU_UMR_MASK_QPN | EMU_UMR_MASK_LOCAL_WRITE | EMU_UMR_MASK_REMOTE_READ |
			   EMU_UMR_MASK_REMOTE_WRITE | EMU_UMR_MASK_ATOMIC | EMU_UMR_MASK_FREE,
};

#endif
