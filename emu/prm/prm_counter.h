/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Flow counters: ALLOC_FLOW_COUNTER and QUERY_FLOW_COUNTER.
 *
 * PRM, "ALLOC_FLOW_COUNTER"; Linux, mlx5_ifc.h: struct mlx5_ifc_alloc_flow_counter_in_bits,
 * mlx5_ifc_query_flow_counter_in_bits and mlx5_ifc_traffic_counter_bits.
 */
#ifndef EMU_PRM_COUNTER_H
#define EMU_PRM_COUNTER_H

#include "emu/prm/prm.h"

/* flow_counter_bulk has no name: bulks are not announced. */
#define EMU_ALLOC_COUNTER_IN_LAYOUT(F) EMU_PRM_HEADER_IN(F, EMU_ALLOC_COUNTER_IN)
EMU_PRM_LAYOUT(EMU_ALLOC_COUNTER_IN, 0x10);

#define EMU_ALLOC_COUNTER_OUT_LAYOUT(F)              \
	EMU_PRM_HEADER_OUT(F, EMU_ALLOC_COUNTER_OUT) \
	F(EMU_ALLOC_COUNTER_OUT_FLOW_COUNTER_ID, 0x08, 31, 0)
EMU_PRM_LAYOUT(EMU_ALLOC_COUNTER_OUT, 0x10);

/* mkey, dump_to_memory and address have no names: counters are not written to memory. */
#define EMU_QUERY_COUNTER_IN_LAYOUT(F)                       \
	EMU_PRM_HEADER_IN(F, EMU_QUERY_COUNTER_IN)           \
	F(EMU_QUERY_COUNTER_IN_CLEAR, 0x18, 31, 31)          \
	F(EMU_QUERY_COUNTER_IN_NUM_OF_COUNTERS, 0x18, 15, 0) \
	F(EMU_QUERY_COUNTER_IN_FLOW_COUNTER_ID, 0x1c, 31, 0)
EMU_PRM_LAYOUT(EMU_QUERY_COUNTER_IN, 0x20);

#define EMU_QUERY_COUNTER_OUT_LAYOUT(F)               \
	EMU_PRM_HEADER_OUT(F, EMU_QUERY_COUNTER_OUT)  \
	F(EMU_QUERY_COUNTER_OUT_PACKETS, 0x10, 63, 0) \
	F(EMU_QUERY_COUNTER_OUT_OCTETS, 0x18, 63, 0)
EMU_PRM_LAYOUT(EMU_QUERY_COUNTER_OUT, 0x20);

#endif
