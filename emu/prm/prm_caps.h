/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a device can do: QUERY_HCA_CAP with its pages, and QUERY_ESW_FUNCTIONS. Of the pages only
 * what the card announces has a name here.
 *
 * PRM, "HCA Capabilities"; mlx5_ifc.h: struct mlx5_ifc_query_hca_cap_in_bits,
 * mlx5_ifc_cmd_hca_cap_bits, mlx5_ifc_cmd_hca_cap_2_bits (Linux), mlx5_ifc_atomic_caps_bits,
 * mlx5_ifc_odp_cap_bits, mlx5_ifc_device_mem_cap_bits and mlx5_ifc_host_params_context_bits.
 */
#ifndef EMU_PRM_CAPS_H
#define EMU_PRM_CAPS_H

#include "emu/prm/prm.h"

/* Pages: op_mod without its lowest bit, which asks for the maximum or the current values. */
#define EMU_CAP_GENERAL		   0x0
#define EMU_CAP_ETHERNET	   0x1
#define EMU_CAP_ODP		   0x2
#define EMU_CAP_ATOMIC		   0x3
#define EMU_CAP_FLOW_TABLE	   0x7
#define EMU_CAP_ESWITCH_FLOW_TABLE 0x8
#define EMU_CAP_ESWITCH		   0x9
#define EMU_CAP_QOS		   0xc
#define EMU_CAP_DEVICE_MEMORY	   0xf
#define EMU_CAP_CRYPTO		   0x1a
#define EMU_CAP_GENERAL_2	   0x20

#define EMU_CAP_PAGE_BYTES	   0x1000

/* other_function and function_id have no names: no function manages the capabilities of another. */
#define EMU_QUERY_HCA_CAP_IN_LAYOUT(F) EMU_PRM_HEADER_IN(F, EMU_QUERY_HCA_CAP_IN)
EMU_PRM_LAYOUT(EMU_QUERY_HCA_CAP_IN, 0x10);

#define EMU_QUERY_HCA_CAP_OUT_LAYOUT(F)              \
	EMU_PRM_HEADER_OUT(F, EMU_QUERY_HCA_CAP_OUT) \
	/* the page follows: EMU_CAP_PAGE_BYTES */
EMU_PRM_LAYOUT(EMU_QUERY_HCA_CAP_OUT, 0x10);

/* The general page. */
#define EMU_HCA_CAP_LAYOUT(F)                                      \
	F(EMU_HCA_CAP_HCA_CAP_2, 0x04, 31, 31)                     \
	F(EMU_HCA_CAP_VHCA_ID, 0x04, 15, 0)                        \
	F(EMU_HCA_CAP_LOG_DMA_MMO_MAX_SIZE, 0x0c, 20, 16)          \
	F(EMU_HCA_CAP_LOG_MAX_QP_SZ, 0x10, 23, 16)                 \
	F(EMU_HCA_CAP_LOG_MAX_QP, 0x10, 4, 0)                      \
	F(EMU_HCA_CAP_ECE, 0x14, 28, 28)                           \
	F(EMU_HCA_CAP_LOG_MAX_CQ_SZ, 0x18, 23, 16)                 \
	F(EMU_HCA_CAP_LOG_MAX_CQ, 0x18, 4, 0)                      \
	F(EMU_HCA_CAP_RELAXED_ORDERING_WRITE, 0x1c, 23, 23)        \
	F(EMU_HCA_CAP_RELAXED_ORDERING_READ, 0x1c, 22, 22)         \
	F(EMU_HCA_CAP_LOG_MAX_MKEY, 0x1c, 21, 16)                  \
	F(EMU_HCA_CAP_MAX_INDIRECTION, 0x20, 31, 24)               \
	F(EMU_HCA_CAP_FIXED_BUFFER_SIZE, 0x20, 23, 23)             \
	F(EMU_HCA_CAP_UMR_EXTENDED_TRANSLATION_OFFSET, 0x20, 7, 7) \
	F(EMU_HCA_CAP_NULL_MKEY, 0x20, 6, 6)                       \
	F(EMU_HCA_CAP_LOG_MAX_KLM_LIST_SIZE, 0x20, 5, 0)           \
	F(EMU_HCA_CAP_QPC_EXTENSION, 0x24, 29, 29)                 \
	F(EMU_HCA_CAP_LOG_MAX_RA_REQ_QP, 0x28, 21, 16)             \
	F(EMU_HCA_CAP_LOG_MAX_RA_RES_QP, 0x28, 5, 0)               \
	F(EMU_HCA_CAP_GID_TABLE_SIZE, 0x2c, 15, 0)                 \
	F(EMU_HCA_CAP_DEVICE_MEMORY, 0x34, 23, 23)                 \
	F(EMU_HCA_CAP_PORT_TYPE, 0x34, 9, 8)                       \
	F(EMU_HCA_CAP_NUM_PORTS, 0x34, 7, 0)                       \
	F(EMU_HCA_CAP_LOG_MAX_MSG, 0x38, 28, 24)                   \
	F(EMU_HCA_CAP_CQE_VERSION, 0x3c, 3, 0)                     \
	F(EMU_HCA_CAP_ATOMIC, 0x40, 1, 1)                          \
	F(EMU_HCA_CAP_PG, 0x44, 24, 24)                            \
	F(EMU_HCA_CAP_UAR_4K, 0x48, 31, 31)                        \
	F(EMU_HCA_CAP_LOG_BF_REG_SIZE, 0x4c, 20, 16)               \
	F(EMU_HCA_CAP_MAX_WQE_SZ_SQ, 0x50, 15, 0)                  \
	F(EMU_HCA_CAP_MAX_WQE_SZ_RQ, 0x54, 15, 0)                  \
	F(EMU_HCA_CAP_MAX_FLOW_COUNTER_15_0, 0x68, 15, 0)          \
	F(EMU_HCA_CAP_LOG_MAX_RMP, 0x70, 28, 24)                   \
	F(EMU_HCA_CAP_MINI_CQE_RESP_STRIDE_INDEX, 0xb4, 3, 3)      \
	F(EMU_HCA_CAP_CQE_COMPRESSION_128B, 0xb4, 1, 1)            \
	F(EMU_HCA_CAP_CQE_COMPRESSION, 0xb4, 0, 0)                 \
	F(EMU_HCA_CAP_CQE_COMPRESSION_MAX_NUM, 0xb8, 15, 0)        \
	F(EMU_HCA_CAP_DMA_MMO_QP, 0xe8, 23, 23)
EMU_PRM_LAYOUT(EMU_HCA_CAP, 0x100);

#define EMU_PORT_TYPE_ETHERNET 1

#define EMU_HCA_CAP_2_LAYOUT(F)                                             \
	F(EMU_HCA_CAP_2_CROSS_VHCA_OBJECT_TO_OBJECT_SUPPORTED, 0x1c, 31, 0) \
	F(EMU_HCA_CAP_2_ALLOWED_OBJECT_FOR_OTHER_VHCA_ACCESS, 0x20, 63, 0)
EMU_PRM_LAYOUT(EMU_HCA_CAP_2, 0x100);

#define EMU_CROSS_VHCA_LOCAL_MKEY_TO_REMOTE_MKEY 0x100
#define EMU_ALLOWED_OBJECT_MKEY			 0x4

#define EMU_ATOMIC_CAPS_LAYOUT(F)                                           \
	F(EMU_ATOMIC_CAPS_REQ_8B_ENDIANNESS_MODE, 0x08, 31, 30)             \
	F(EMU_ATOMIC_CAPS_SUPPORTED_REQ_8B_ENDIANNESS_MODE_1, 0x08, 25, 25) \
	F(EMU_ATOMIC_CAPS_ATOMIC_OPERATIONS, 0x10, 15, 0)                   \
	F(EMU_ATOMIC_CAPS_ATOMIC_SIZE_QP, 0x14, 15, 0)
EMU_PRM_LAYOUT(EMU_ATOMIC_CAPS, 0x100);

#define EMU_ATOMIC_HOST_ENDIANNESS  1
#define EMU_ATOMIC_COMPARE_AND_SWAP 0x1
#define EMU_ATOMIC_FETCH_AND_ADD    0x2

/* Each transport has six bits: send, receive, write, read, atomic, receive through an SRQ. */
#define EMU_ODP_CAP_LAYOUT(F)           \
	F(EMU_ODP_CAP_RC, 0x10, 31, 26) \
	F(EMU_ODP_CAP_UC, 0x14, 31, 26) \
	F(EMU_ODP_CAP_UD, 0x18, 31, 26) \
	F(EMU_ODP_CAP_XRC, 0x1c, 31, 26)
EMU_PRM_LAYOUT(EMU_ODP_CAP, 0x100);

#define EMU_ODP_SEND	    0x20
#define EMU_ODP_RECEIVE	    0x10
#define EMU_ODP_WRITE	    0x08
#define EMU_ODP_READ	    0x04
#define EMU_ODP_ATOMIC	    0x02
#define EMU_ODP_SRQ_RECEIVE 0x01

#define EMU_DEVICE_MEM_CAP_LAYOUT(F)                                   \
	F(EMU_DEVICE_MEM_CAP_MEMIC, 0x00, 31, 31)                      \
	F(EMU_DEVICE_MEM_CAP_LOG_MIN_MEMIC_ALLOC_SIZE, 0x04, 20, 16)   \
	F(EMU_DEVICE_MEM_CAP_LOG_MAX_MEMIC_ADDR_ALIGNMENT, 0x04, 7, 0) \
	F(EMU_DEVICE_MEM_CAP_MEMIC_BAR_SIZE, 0x10, 31, 0)              \
	F(EMU_DEVICE_MEM_CAP_MAX_MEMIC_SIZE, 0x14, 31, 0)
EMU_PRM_LAYOUT(EMU_DEVICE_MEM_CAP, 0x100);

/* The description of the host in the answer of QUERY_ESW_FUNCTIONS, after its header. */
#define EMU_HOST_PARAMS_LAYOUT(F)                         \
	F(EMU_HOST_PARAMS_PF_VHCA_ID_VALID, 0x00, 17, 17) \
	F(EMU_HOST_PARAMS_PCI_BUS, 0x04, 15, 0)           \
	F(EMU_HOST_PARAMS_PF_VHCA_ID, 0x08, 31, 16)       \
	F(EMU_HOST_PARAMS_PCI_DEVICE, 0x08, 15, 0)        \
	F(EMU_HOST_PARAMS_PCI_FUNCTION, 0x0c, 15, 0)
EMU_PRM_LAYOUT(EMU_HOST_PARAMS, 0x40);

#endif
