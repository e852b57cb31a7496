/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Page faults: the event, and PAGE_FAULT_RESUME.
 *
 * Linux, include/linux/mlx5/device.h: struct mlx5_eqe_page_fault; mlx5_ifc.h: struct
 * mlx5_ifc_page_fault_resume_in_bits.
 */
#ifndef EMU_PRM_PAGE_FAULT_H
#define EMU_PRM_PAGE_FAULT_H

#include "emu/prm/prm.h"

/* A WQE has the addresses. */
#define EMU_EQE_WQE_FAULT_LAYOUT(F)                   \
	F(EMU_EQE_WQE_FAULT_TYPE, 0x00, 23, 16)       \
	F(EMU_EQE_WQE_FAULT_SUB_TYPE, 0x00, 7, 0)     \
	F(EMU_EQE_WQE_FAULT_COMMITTED, 0x20, 31, 0)   \
	F(EMU_EQE_WQE_FAULT_INDEX, 0x24, 15, 0)       \
	F(EMU_EQE_WQE_FAULT_PACKET_SIZE, 0x28, 15, 0) \
	F(EMU_EQE_WQE_FAULT_TOKEN, 0x2c, 31, 0)       \
	F(EMU_EQE_WQE_FAULT_FAULT_TYPE, 0x38, 26, 24) \
	F(EMU_EQE_WQE_FAULT_WQ, 0x38, 23, 0)
EMU_PRM_LAYOUT(EMU_EQE_WQE_FAULT, 0x40);

/* A request of a peer has the address. */
#define EMU_EQE_RDMA_FAULT_LAYOUT(F)                   \
	F(EMU_EQE_RDMA_FAULT_TYPE, 0x00, 23, 16)       \
	F(EMU_EQE_RDMA_FAULT_SUB_TYPE, 0x00, 7, 0)     \
	F(EMU_EQE_RDMA_FAULT_COMMITTED, 0x20, 31, 0)   \
	F(EMU_EQE_RDMA_FAULT_R_KEY, 0x24, 31, 0)       \
	F(EMU_EQE_RDMA_FAULT_PACKET_SIZE, 0x28, 15, 0) \
	F(EMU_EQE_RDMA_FAULT_LEN, 0x2c, 31, 0)         \
	F(EMU_EQE_RDMA_FAULT_VA, 0x30, 63, 0)          \
	F(EMU_EQE_RDMA_FAULT_FAULT_TYPE, 0x38, 26, 24) \
	F(EMU_EQE_RDMA_FAULT_TOKEN, 0x38, 23, 0)
EMU_PRM_LAYOUT(EMU_EQE_RDMA_FAULT, 0x40);

enum { EMU_EQE_FAULT_OF_WQE = 0, EMU_EQE_FAULT_OF_RDMA = 1 };

#define EMU_PAGE_FAULT_RESUME_IN_LAYOUT(F)              \
	EMU_PRM_HEADER_IN(F, EMU_PAGE_FAULT_RESUME_IN)  \
	F(EMU_PAGE_FAULT_RESUME_IN_ERROR, 0x08, 31, 31) \
	F(EMU_PAGE_FAULT_RESUME_IN_TYPE, 0x08, 26, 24)  \
	F(EMU_PAGE_FAULT_RESUME_IN_WQ, 0x08, 23, 0)     \
	F(EMU_PAGE_FAULT_RESUME_IN_TOKEN, 0x0c, 23, 0)
EMU_PRM_LAYOUT(EMU_PAGE_FAULT_RESUME_IN, 0x10);

#endif
