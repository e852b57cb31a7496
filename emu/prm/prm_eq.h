/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Event queues: the EQ context, CREATE_EQ, DESTROY_EQ and QUERY_EQ.
 *
 * PRM, "Event Queue Context"; Linux, mlx5_ifc.h: struct mlx5_ifc_eqc_bits, mlx5_ifc_create_eq_in_bits and
 * mlx5_ifc_query_eq_out_bits.
 */
#ifndef EMU_PRM_EQ_H
#define EMU_PRM_EQ_H

#include "emu/prm/prm.h"

#define EMU_EQC_LAYOUT(F)                        \
	F(EMU_EQC_STATUS, 0x00, 31, 28)          \
	F(EMU_EQC_EC, 0x00, 18, 18)              \
	F(EMU_EQC_OI, 0x00, 17, 17)              \
	F(EMU_EQC_ST, 0x00, 11, 8)               \
	F(EMU_EQC_PAGE_OFFSET, 0x08, 11, 6)      \
	F(EMU_EQC_LOG_EQ_SIZE, 0x0c, 28, 24)     \
	F(EMU_EQC_UAR_PAGE, 0x0c, 23, 0)         \
	F(EMU_EQC_INTR, 0x14, 11, 0)             \
	F(EMU_EQC_LOG_PAGE_SIZE, 0x18, 28, 24)   \
	F(EMU_EQC_CONSUMER_COUNTER, 0x28, 23, 0) \
	F(EMU_EQC_PRODUCER_COUNTER, 0x2c, 23, 0)
EMU_PRM_LAYOUT(EMU_EQC, 0x40);

#define EMU_EQC_ST_ARMED 0x9

#define EMU_CREATE_EQ_IN_LAYOUT(F)                           \
	EMU_PRM_HEADER_IN(F, EMU_CREATE_EQ_IN)               \
	F(EMU_CREATE_EQ_IN_EQC, 0x10, 511, 0)                \
	F(EMU_CREATE_EQ_IN_EVENT_BITMASK, 0x58, 63, 0)       \
	F(EMU_CREATE_EQ_IN_EVENT_BITMASK_HIGH, 0x60, 191, 0) \
	/* the page list follows */
EMU_PRM_LAYOUT(EMU_CREATE_EQ_IN, 0x110);

#define EMU_CREATE_EQ_OUT_LAYOUT(F)              \
	EMU_PRM_HEADER_OUT(F, EMU_CREATE_EQ_OUT) \
	F(EMU_CREATE_EQ_OUT_EQ_NUMBER, 0x08, 7, 0)
EMU_PRM_LAYOUT(EMU_CREATE_EQ_OUT, 0x10);

/* DESTROY_EQ and QUERY_EQ. */
#define EMU_EQ_IN_LAYOUT(F)             \
	EMU_PRM_HEADER_IN(F, EMU_EQ_IN) \
	F(EMU_EQ_IN_EQ_NUMBER, 0x08, 7, 0)
EMU_PRM_LAYOUT(EMU_EQ_IN, 0x10);

#define EMU_QUERY_EQ_OUT_LAYOUT(F) F(EMU_QUERY_EQ_OUT_EQC, 0x10, 511, 0)
EMU_PRM_LAYOUT(EMU_QUERY_EQ_OUT, 0x50);

#endif
