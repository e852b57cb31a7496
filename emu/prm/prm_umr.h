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
	EMU_UMR_FLAG_CHECK_FREE = 0x20,	 /* the mkey must be free; Linux: MLX5_UMR_CHECK_NOT_FREE */
	EMU_UMR_FLAG_CHECK_VALID = 0x40, /* it must not be free; Linux: MLX5_UMR_CHECK_FREE */
	EMU_UMR_FLAG_INLINE = 0x80,
	EMU_UMR_FLAG_ALL = EMU_UMR_FLAG_CHECK_QPN | EMU_UMR_FLAG_TRANSLATION_OFFSET |
			   EMU_UMR_FLAG_CHECK_FREE | EMU_UMR_FLAG_CHECK_VALID | EMU_UMR_FLAG_INLINE,
};

/*
 * Which fields of the mkey context the request changes. The small fence and relaxed ordering allow an order that the
 * card never makes use of.
 */
#define EMU_UMR_MASK_LEN		    (1ull << 0)
#define EMU_UMR_MASK_PAGE_SIZE		    (1ull << 1)
#define EMU_UMR_MASK_START_ADDR		    (1ull << 6)
#define EMU_UMR_MASK_PD			    (1ull << 7)
#define EMU_UMR_MASK_EN_RINVAL		    (1ull << 8)
#define EMU_UMR_MASK_MKEY		    (1ull << 13)
#define EMU_UMR_MASK_QPN		    (1ull << 14)
#define EMU_UMR_MASK_LOCAL_READ		    (1ull << 17)
#define EMU_UMR_MASK_LOCAL_WRITE	    (1ull << 18)
#define EMU_UMR_MASK_REMOTE_READ	    (1ull << 19)
#define EMU_UMR_MASK_REMOTE_WRITE	    (1ull << 20)
#define EMU_UMR_MASK_ATOMIC		    (1ull << 21)
#define EMU_UMR_MASK_SMALL_FENCE	    (1ull << 23)
#define EMU_UMR_MASK_RELAXED_ORDERING_WRITE (1ull << 25)
#define EMU_UMR_MASK_FREE		    (1ull << 29)
#define EMU_UMR_MASK_RELAXED_ORDERING_READ  (1ull << 47)
#define EMU_UMR_MASK_ALL                                                                           \
	(EMU_UMR_MASK_LEN | EMU_UMR_MASK_PAGE_SIZE | EMU_UMR_MASK_START_ADDR | EMU_UMR_MASK_PD |   \
	 EMU_UMR_MASK_EN_RINVAL | EMU_UMR_MASK_MKEY | EMU_UMR_MASK_QPN | EMU_UMR_MASK_LOCAL_READ | \
	 EMU_UMR_MASK_LOCAL_WRITE | EMU_UMR_MASK_REMOTE_READ | EMU_UMR_MASK_REMOTE_WRITE |         \
	 EMU_UMR_MASK_ATOMIC | EMU_UMR_MASK_SMALL_FENCE | EMU_UMR_MASK_RELAXED_ORDERING_WRITE |    \
	 EMU_UMR_MASK_FREE | EMU_UMR_MASK_RELAXED_ORDERING_READ)

#endif
