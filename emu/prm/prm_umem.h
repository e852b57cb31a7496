/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Umems: CREATE_UMEM and DESTROY_UMEM, which a driver sends for its programs.
 *
 * PRM, "UMEM"; Linux, mlx5_ifc.h: struct mlx5_ifc_create_umem_in_bits and mlx5_ifc_umem_bits.
 */
#ifndef EMU_PRM_UMEM_H
#define EMU_PRM_UMEM_H

#include "emu/prm/prm.h"

#define EMU_CREATE_UMEM_IN_LAYOUT(F)                    \
	EMU_PRM_HEADER_IN(F, EMU_CREATE_UMEM_IN)        \
	F(EMU_CREATE_UMEM_IN_LOG_PAGE_SIZE, 0x20, 4, 0) \
	F(EMU_CREATE_UMEM_IN_PAGE_OFFSET, 0x24, 31, 0)  \
	F(EMU_CREATE_UMEM_IN_NUM_OF_MTT, 0x28, 63, 0)   \
	/* the page list follows */
EMU_PRM_LAYOUT(EMU_CREATE_UMEM_IN, 0x30);

#endif
