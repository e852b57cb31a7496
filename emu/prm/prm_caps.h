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
#define EMU_CAP_ROCE		   0x4
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
#define EMU_HCA_CAP_LAYOUT(F)                                        \
	F(EMU_HCA_CAP_HCA_CAP_2, 0x04, 31, 31)                       \
	F(EMU_HCA_CAP_VHCA_ID, 0x04, 15, 0)                          \
	F(EMU_HCA_CAP_LOG_DMA_MMO_MAX_SIZE, 0x0c, 20, 16)            \
	F(EMU_HCA_CAP_LOG_COMPRESS_MMO_SIZE, 0x0c, 12, 8)            \
	F(EMU_HCA_CAP_DECOMPRESS_LZ4_DATA_ONLY_V2, 0x0c, 7, 7)       \
	F(EMU_HCA_CAP_DECOMPRESS_LZ4_NO_CHECKSUM_V2, 0x0c, 6, 6)     \
	F(EMU_HCA_CAP_DECOMPRESS_LZ4_CHECKSUM_V2, 0x0c, 5, 5)        \
	F(EMU_HCA_CAP_LOG_DECOMPRESS_MMO_SIZE, 0x0c, 4, 0)           \
	F(EMU_HCA_CAP_LOG_MAX_SRQ_SZ, 0x10, 31, 24)                  \
	F(EMU_HCA_CAP_LOG_MAX_QP_SZ, 0x10, 23, 16)                   \
	F(EMU_HCA_CAP_LOG_MAX_QP, 0x10, 4, 0)                        \
	F(EMU_HCA_CAP_ECE, 0x14, 28, 28)                             \
	F(EMU_HCA_CAP_LOG_MAX_SRQ, 0x14, 20, 16)                     \
	F(EMU_HCA_CAP_LOG_MAX_CQ_SZ, 0x18, 23, 16)                   \
	F(EMU_HCA_CAP_RELAXED_ORDERING_WRITE_UMR, 0x18, 15, 15)      \
	F(EMU_HCA_CAP_RELAXED_ORDERING_READ_UMR, 0x18, 14, 14)       \
	F(EMU_HCA_CAP_LOG_MAX_CQ, 0x18, 4, 0)                        \
	F(EMU_HCA_CAP_LOG_MAX_EQ_SZ, 0x1c, 31, 24)                   \
	F(EMU_HCA_CAP_RELAXED_ORDERING_WRITE, 0x1c, 23, 23)          \
	F(EMU_HCA_CAP_RELAXED_ORDERING_READ, 0x1c, 22, 22)           \
	F(EMU_HCA_CAP_LOG_MAX_MKEY, 0x1c, 21, 16)                    \
	F(EMU_HCA_CAP_DUMP_FILL_MKEY, 0x1c, 7, 7)                    \
	F(EMU_HCA_CAP_LOG_MAX_EQ, 0x1c, 3, 0)                        \
	F(EMU_HCA_CAP_MAX_INDIRECTION, 0x20, 31, 24)                 \
	F(EMU_HCA_CAP_FIXED_BUFFER_SIZE, 0x20, 23, 23)               \
	F(EMU_HCA_CAP_LOG_MAX_MRW_SZ, 0x20, 22, 16)                  \
	F(EMU_HCA_CAP_UMR_EXTENDED_TRANSLATION_OFFSET, 0x20, 7, 7)   \
	F(EMU_HCA_CAP_NULL_MKEY, 0x20, 6, 6)                         \
	F(EMU_HCA_CAP_LOG_MAX_KLM_LIST_SIZE, 0x20, 5, 0)             \
	F(EMU_HCA_CAP_QPC_EXTENSION, 0x24, 29, 29)                   \
	F(EMU_HCA_CAP_LOG_MAX_RA_REQ_DC, 0x24, 21, 16)               \
	F(EMU_HCA_CAP_LOG_MAX_RA_RES_DC, 0x24, 5, 0)                 \
	F(EMU_HCA_CAP_LOG_MAX_RA_REQ_QP, 0x28, 21, 16)               \
	F(EMU_HCA_CAP_COMPRESS_MIN_BLOCK_SIZE, 0x28, 11, 8)          \
	F(EMU_HCA_CAP_LOG_MAX_RA_RES_QP, 0x28, 5, 0)                 \
	F(EMU_HCA_CAP_GID_TABLE_SIZE, 0x2c, 15, 0)                   \
	F(EMU_HCA_CAP_OUT_OF_SEQ_CNT, 0x30, 31, 31)                  \
	F(EMU_HCA_CAP_VPORT_COUNTERS, 0x30, 30, 30)                  \
	F(EMU_HCA_CAP_RETRANSMISSION_Q_COUNTERS, 0x30, 29, 29)       \
	F(EMU_HCA_CAP_MAX_QP_CNT, 0x30, 25, 16)                      \
	F(EMU_HCA_CAP_PKEY_TABLE_SIZE, 0x30, 15, 0)                  \
	F(EMU_HCA_CAP_VPORT_GROUP_MANAGER, 0x34, 31, 31)             \
	F(EMU_HCA_CAP_NIC_FLOW_TABLE, 0x34, 25, 25)                  \
	F(EMU_HCA_CAP_DEVICE_MEMORY, 0x34, 23, 23)                   \
	F(EMU_HCA_CAP_PCAM_REG, 0x34, 21, 21)                        \
	F(EMU_HCA_CAP_LOCAL_CA_ACK_DELAY, 0x34, 20, 16)              \
	F(EMU_HCA_CAP_ENHANCED_ERROR_Q_COUNTERS, 0x34, 14, 14)       \
	F(EMU_HCA_CAP_PORT_TYPE, 0x34, 9, 8)                         \
	F(EMU_HCA_CAP_NUM_PORTS, 0x34, 7, 0)                         \
	F(EMU_HCA_CAP_LOG_MAX_MSG, 0x38, 28, 24)                     \
	F(EMU_HCA_CAP_MAX_TC, 0x38, 19, 16)                          \
	F(EMU_HCA_CAP_CQE_VERSION, 0x3c, 3, 0)                       \
	F(EMU_HCA_CAP_UMR_MODIFY_ENTITY_SIZE_DISABLED, 0x40, 24, 24) \
	F(EMU_HCA_CAP_DCT, 0x40, 5, 5)                               \
	F(EMU_HCA_CAP_ETH_NET_OFFLOADS, 0x40, 3, 3)                  \
	F(EMU_HCA_CAP_ROCE, 0x40, 2, 2)                              \
	F(EMU_HCA_CAP_ATOMIC, 0x40, 1, 1)                            \
	F(EMU_HCA_CAP_CQ_OI, 0x44, 31, 31)                           \
	F(EMU_HCA_CAP_CQ_RESIZE, 0x44, 30, 30)                       \
	F(EMU_HCA_CAP_CQ_MODERATION, 0x44, 29, 29)                   \
	F(EMU_HCA_CAP_PG, 0x44, 24, 24)                              \
	F(EMU_HCA_CAP_BLOCK_LB_MC, 0x44, 23, 23)                     \
	F(EMU_HCA_CAP_APM, 0x44, 17, 17)                             \
	F(EMU_HCA_CAP_IMAICL, 0x44, 14, 14)                          \
	F(EMU_HCA_CAP_SET_DETH_SQPN, 0x44, 7, 7)                     \
	F(EMU_HCA_CAP_XRC, 0x44, 3, 3)                               \
	F(EMU_HCA_CAP_UD, 0x44, 2, 2)                                \
	F(EMU_HCA_CAP_UC, 0x44, 1, 1)                                \
	F(EMU_HCA_CAP_RC, 0x44, 0, 0)                                \
	F(EMU_HCA_CAP_UAR_4K, 0x48, 31, 31)                          \
	F(EMU_HCA_CAP_LOG_PG_SZ, 0x48, 7, 0)                         \
	F(EMU_HCA_CAP_BF, 0x4c, 31, 31)                              \
	F(EMU_HCA_CAP_DRIVER_VERSION, 0x4c, 30, 30)                  \
	F(EMU_HCA_CAP_LOG_BF_REG_SIZE, 0x4c, 20, 16)                 \
	F(EMU_HCA_CAP_MAX_WQE_SZ_SQ, 0x50, 15, 0)                    \
	F(EMU_HCA_CAP_MAX_WQE_SZ_RQ, 0x54, 15, 0)                    \
	F(EMU_HCA_CAP_MAX_WQE_SZ_SQ_DC, 0x58, 15, 0)                 \
	F(EMU_HCA_CAP_MAX_QP_MCG, 0x5c, 24, 0)                       \
	F(EMU_HCA_CAP_LOG_MAX_MCG, 0x60, 7, 0)                       \
	F(EMU_HCA_CAP_LOG_MAX_TRANSPORT_DOMAIN, 0x64, 28, 24)        \
	F(EMU_HCA_CAP_LOG_MAX_PD, 0x64, 20, 16)                      \
	F(EMU_HCA_CAP_LOG_MAX_XRCD, 0x64, 4, 0)                      \
	F(EMU_HCA_CAP_MAX_FLOW_COUNTER_15_0, 0x68, 15, 0)            \
	F(EMU_HCA_CAP_LOG_MAX_RQ, 0x6c, 28, 24)                      \
	F(EMU_HCA_CAP_LOG_MAX_SQ, 0x6c, 20, 16)                      \
	F(EMU_HCA_CAP_LOG_MAX_TIR, 0x6c, 12, 8)                      \
	F(EMU_HCA_CAP_LOG_MAX_TIS, 0x6c, 4, 0)                       \
	F(EMU_HCA_CAP_LOG_MAX_RMP, 0x70, 28, 24)                     \
	F(EMU_HCA_CAP_LOG_MAX_RQT, 0x70, 20, 16)                     \
	F(EMU_HCA_CAP_LOG_MAX_RQT_SIZE, 0x70, 12, 8)                 \
	F(EMU_HCA_CAP_LOG_MAX_TIS_PER_SQ, 0x70, 4, 0)                \
	F(EMU_HCA_CAP_LOG_MAX_STRIDE_SZ_RQ, 0x74, 28, 24)            \
	F(EMU_HCA_CAP_LOG_MIN_STRIDE_SZ_RQ, 0x74, 20, 16)            \
	F(EMU_HCA_CAP_LOG_MAX_STRIDE_SZ_SQ, 0x74, 12, 8)             \
	F(EMU_HCA_CAP_LOG_MIN_STRIDE_SZ_SQ, 0x74, 4, 0)              \
	F(EMU_HCA_CAP_LOG_MAX_WQ_SZ, 0x78, 4, 0)                     \
	F(EMU_HCA_CAP_LOG_MAX_VLAN_LIST, 0x7c, 20, 16)               \
	F(EMU_HCA_CAP_LOG_MAX_CURRENT_MC_LIST, 0x7c, 12, 8)          \
	F(EMU_HCA_CAP_LOG_MAX_CURRENT_UC_LIST, 0x7c, 4, 0)           \
	F(EMU_HCA_CAP_GENERAL_OBJ_TYPES, 0x80, 63, 0)                \
	F(EMU_HCA_CAP_LOG_MAX_UCTX, 0x8c, 28, 24)                    \
	F(EMU_HCA_CAP_CRYPTO, 0x8c, 22, 22)                          \
	F(EMU_HCA_CAP_LOG_MAX_UMEM, 0x8c, 20, 16)                    \
	F(EMU_HCA_CAP_MAX_NUM_EQS, 0x8c, 15, 0)                      \
	F(EMU_HCA_CAP_LOG_MAX_L2_TABLE, 0x90, 28, 24)                \
	F(EMU_HCA_CAP_LOG_UAR_PAGE_SZ, 0x90, 15, 0)                  \
	F(EMU_HCA_CAP_DEVICE_FREQUENCY_MHZ, 0x98, 31, 0)             \
	F(EMU_HCA_CAP_DEVICE_FREQUENCY_KHZ, 0x9c, 31, 0)             \
	F(EMU_HCA_CAP_NUM_OF_UARS_PER_PAGE, 0xa4, 31, 0)             \
	F(EMU_HCA_CAP_LOG_MAX_DCI_STREAMS, 0xb0, 20, 16)             \
	F(EMU_HCA_CAP_LOG_MAX_DCI_ERRORED, 0xb0, 12, 8)              \
	F(EMU_HCA_CAP_LOG_MAX_DEK, 0xb4, 12, 8)                      \
	F(EMU_HCA_CAP_MINI_CQE_RESP_STRIDE_INDEX, 0xb4, 3, 3)        \
	F(EMU_HCA_CAP_CQE_128_ALWAYS, 0xb4, 2, 2)                    \
	F(EMU_HCA_CAP_CQE_COMPRESSION_128B, 0xb4, 1, 1)              \
	F(EMU_HCA_CAP_CQE_COMPRESSION, 0xb4, 0, 0)                   \
	F(EMU_HCA_CAP_CQE_COMPRESSION_MAX_NUM, 0xb8, 15, 0)          \
	F(EMU_HCA_CAP_DMA_MMO_QP, 0xe8, 23, 23)                      \
	F(EMU_HCA_CAP_COMPRESS_MMO_QP, 0xe8, 21, 21)                 \
	F(EMU_HCA_CAP_DECOMPRESS_DEFLATE_V1, 0xe8, 20, 20)           \
	F(EMU_HCA_CAP_DECOMPRESS_DEFLATE_V2, 0xe8, 15, 15)
EMU_PRM_LAYOUT(EMU_HCA_CAP, 0x100);

#define EMU_PORT_TYPE_ETHERNET 1

/* The page of encryption; DPDK, mlx5_prm.h: struct mlx5_ifc_crypto_caps_bits. */
#define EMU_CRYPTO_CAP_LAYOUT(F)                            \
	F(EMU_CRYPTO_CAP_LOG_MAX_NUM_DEKS, 0x04, 20, 16)    \
	F(EMU_CRYPTO_CAP_CRYPTO_MMO_QP, 0x20, 31, 31)       \
	F(EMU_CRYPTO_CAP_AES_GCM_256_ENCRYPT, 0x20, 30, 30) \
	F(EMU_CRYPTO_CAP_AES_GCM_128_ENCRYPT, 0x20, 29, 29) \
	F(EMU_CRYPTO_CAP_AES_GCM_256_DECRYPT, 0x20, 28, 28) \
	F(EMU_CRYPTO_CAP_AES_GCM_128_DECRYPT, 0x20, 27, 27) \
	F(EMU_CRYPTO_CAP_GCM_AUTH_TAG_128, 0x20, 26, 26)    \
	F(EMU_CRYPTO_CAP_GCM_AUTH_TAG_96, 0x20, 25, 25)     \
	F(EMU_CRYPTO_CAP_LOG_CRYPTO_MMO_MAX_SIZE, 0x20, 21, 16)
EMU_PRM_LAYOUT(EMU_CRYPTO_CAP, 0x100);

/* The page of the network interface. */
#define EMU_ETH_CAP_LAYOUT(F)                              \
	F(EMU_ETH_CAP_CSUM_CAP, 0x00, 31, 31)              \
	F(EMU_ETH_CAP_VLAN_CAP, 0x00, 30, 30)              \
	F(EMU_ETH_CAP_SELF_LB_EN_MODIFIABLE, 0x00, 23, 23) \
	F(EMU_ETH_CAP_MAX_LSO_CAP, 0x00, 20, 16)           \
	F(EMU_ETH_CAP_WQE_INLINE_MODE, 0x00, 13, 12)       \
	F(EMU_ETH_CAP_RSS_IND_TBL_CAP, 0x00, 11, 8)
EMU_PRM_LAYOUT(EMU_ETH_CAP, 0x100);

/* The page of flow tables: what those for received packets can do. */
#define EMU_FT_CAP_LAYOUT(F)                                      \
	F(EMU_FT_CAP_RX_FT_SUPPORT, 0x40, 31, 31)                 \
	F(EMU_FT_CAP_RX_FLOW_COUNTER, 0x40, 29, 29)               \
	F(EMU_FT_CAP_RX_FLOW_MODIFY_EN, 0x40, 28, 28)             \
	F(EMU_FT_CAP_RX_MODIFY_ROOT, 0x40, 27, 27)                \
	F(EMU_FT_CAP_RX_IDENTIFIED_MISS_TABLE_MODE, 0x40, 26, 26) \
	F(EMU_FT_CAP_RX_FLOW_TABLE_MODIFY, 0x40, 25, 25)          \
	F(EMU_FT_CAP_RX_LOG_MAX_FT_SIZE, 0x44, 29, 24)            \
	F(EMU_FT_CAP_RX_MAX_FT_LEVEL, 0x44, 7, 0)                 \
	F(EMU_FT_CAP_RX_LOG_MAX_FT_NUM, 0x4c, 7, 0)               \
	F(EMU_FT_CAP_RX_LOG_MAX_DESTINATION, 0x50, 7, 0)          \
	F(EMU_FT_CAP_RX_LOG_MAX_FLOW, 0x54, 7, 0)                 \
	F(EMU_FT_CAP_RX_FIELD_SUPPORT, 0x60, 127, 0)              \
	F(EMU_FT_CAP_RX_FIELD_BITMASK_SUPPORT, 0x70, 127, 0)
EMU_PRM_LAYOUT(EMU_FT_CAP, 0x1000);

#define EMU_ROCE_CAP_LAYOUT(F)                                \
	F(EMU_ROCE_CAP_ROCE_APM, 0x00, 31, 31)                \
	F(EMU_ROCE_CAP_L3_TYPE, 0x10, 19, 16)                 \
	F(EMU_ROCE_CAP_ROCE_VERSION, 0x10, 7, 0)              \
	F(EMU_ROCE_CAP_R_ROCE_DEST_UDP_PORT, 0x14, 15, 0)     \
	F(EMU_ROCE_CAP_R_ROCE_MAX_SRC_UDP_PORT, 0x18, 31, 16) \
	F(EMU_ROCE_CAP_R_ROCE_MIN_SRC_UDP_PORT, 0x18, 15, 0)  \
	F(EMU_ROCE_CAP_ADDRESS_TABLE_SIZE, 0x1c, 15, 0)
EMU_PRM_LAYOUT(EMU_ROCE_CAP, 0x100);

#define EMU_ROCE_L3_IPV4_IPV6 6 /* l3_type: a bit for each */
#define EMU_ROCE_VERSIONS     5 /* roce_version: a bit for 1 and one for 2 */

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
	F(EMU_ATOMIC_CAPS_ATOMIC_SIZE_QP, 0x14, 15, 0)                      \
	F(EMU_ATOMIC_CAPS_ATOMIC_SIZE_DC, 0x18, 15, 0)
EMU_PRM_LAYOUT(EMU_ATOMIC_CAPS, 0x100);

#define EMU_ATOMIC_HOST_ENDIANNESS  1
#define EMU_ATOMIC_COMPARE_AND_SWAP 0x1
#define EMU_ATOMIC_FETCH_AND_ADD    0x2

/* Each transport has six bits: send, receive, write, read, atomic, receive through an SRQ. */
#define EMU_ODP_CAP_LAYOUT(F)            \
	F(EMU_ODP_CAP_RC, 0x10, 31, 26)  \
	F(EMU_ODP_CAP_UC, 0x14, 31, 26)  \
	F(EMU_ODP_CAP_UD, 0x18, 31, 26)  \
	F(EMU_ODP_CAP_XRC, 0x1c, 31, 26) \
	F(EMU_ODP_CAP_DC, 0x20, 31, 26)
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
	F(EMU_DEVICE_MEM_CAP_MEMIC_BAR_START_ADDR, 0x08, 63, 0)        \
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
