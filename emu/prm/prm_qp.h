/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Queue pairs: the QP context with its address path, CREATE_QP, QUERY_QP and the transitions.
 *
 * PRM, "Queue Pair Context" and "Address Path"; mlx5_ifc.h: struct mlx5_ifc_qpc_bits,
 * mlx5_ifc_ads_bits, mlx5_ifc_qpc_ext_bits, mlx5_ifc_create_qp_in_bits, mlx5_ifc_query_qp_out_bits
 * and mlx5_ifc_init2init_qp_in_bits.
 */
#ifndef EMU_PRM_QP_H
#define EMU_PRM_QP_H

#include "emu/prm/prm.h"

#define EMU_QPC_LAYOUT(F)                             \
	F(EMU_QPC_STATE, 0x00, 31, 28)                \
	F(EMU_QPC_ST, 0x00, 23, 16)                   \
	F(EMU_QPC_PM_STATE, 0x00, 12, 11)             \
	F(EMU_QPC_WQ_SIGNATURE, 0x04, 31, 31)         \
	F(EMU_QPC_BLOCK_LB_MC, 0x04, 30, 30)          \
	F(EMU_QPC_PD, 0x04, 23, 0)                    \
	F(EMU_QPC_MTU, 0x08, 31, 29)                  \
	F(EMU_QPC_LOG_MSG_MAX, 0x08, 28, 24)          \
	F(EMU_QPC_LOG_RQ_SIZE, 0x08, 22, 19)          \
	F(EMU_QPC_LOG_RQ_STRIDE, 0x08, 18, 16)        \
	F(EMU_QPC_NO_SQ, 0x08, 15, 15)                \
	F(EMU_QPC_LOG_SQ_SIZE, 0x08, 14, 11)          \
	F(EMU_QPC_UAR_PAGE, 0x0c, 23, 0)              \
	F(EMU_QPC_USER_INDEX, 0x10, 23, 0)            \
	F(EMU_QPC_LOG_PAGE_SIZE, 0x14, 28, 24)        \
	F(EMU_QPC_REMOTE_QPN, 0x14, 23, 0)            \
	F(EMU_QPC_PRIMARY_ADDRESS_PATH, 0x18, 351, 0) \
	F(EMU_QPC_LOG_SRA_MAX, 0x70, 23, 21)          \
	F(EMU_QPC_RETRY_COUNT, 0x70, 18, 16)          \
	F(EMU_QPC_RNR_RETRY, 0x70, 15, 13)            \
	F(EMU_QPC_NEXT_SEND_PSN, 0x78, 23, 0)         \
	F(EMU_QPC_LOG_DCI_STREAMS, 0x7c, 28, 24)      \
	F(EMU_QPC_CQN_SND, 0x7c, 23, 0)               \
	F(EMU_QPC_LOG_DCI_ERRORED, 0x80, 28, 24)      \
	F(EMU_QPC_LOG_RRA_MAX, 0x90, 23, 21)          \
	F(EMU_QPC_RRE, 0x90, 15, 15)                  \
	F(EMU_QPC_RWE, 0x90, 14, 14)                  \
	F(EMU_QPC_RAE, 0x90, 13, 13)                  \
	F(EMU_QPC_PAGE_OFFSET, 0x90, 11, 6)           \
	F(EMU_QPC_CD_SLAVE_SEND, 0x90, 1, 1)          \
	F(EMU_QPC_CD_MASTER, 0x90, 0, 0)              \
	F(EMU_QPC_MIN_RNR_NAK, 0x94, 28, 24)          \
	F(EMU_QPC_NEXT_RCV_PSN, 0x94, 23, 0)          \
	F(EMU_QPC_XRCD, 0x98, 23, 0)                  \
	F(EMU_QPC_CQN_RCV, 0x9c, 23, 0)               \
	F(EMU_QPC_DBR_ADDR, 0xa0, 63, 0)              \
	F(EMU_QPC_Q_KEY, 0xa8, 31, 0)                 \
	F(EMU_QPC_RQ_TYPE, 0xac, 26, 24)              \
	F(EMU_QPC_SRQN_RMPN_XRQN, 0xac, 23, 0)        \
	F(EMU_QPC_CS_REQ, 0xc4, 15, 8)                \
	F(EMU_QPC_CS_RES, 0xc4, 7, 0)                 \
	F(EMU_QPC_DBR_UMEM_VALID, 0xd0, 28, 28)       \
	F(EMU_QPC_DBR_UMEM_ID, 0xe4, 31, 0)
EMU_PRM_LAYOUT(EMU_QPC, 0xe8);

enum {
	EMU_QPC_STATE_RST = 0,
	EMU_QPC_STATE_INIT = 1,
	EMU_QPC_STATE_RTR = 2,
	EMU_QPC_STATE_RTS = 3,
	EMU_QPC_STATE_SQER = 4,
	EMU_QPC_STATE_SQD = 5,
	EMU_QPC_STATE_ERR = 6,
	EMU_QPC_STATE_NONE = 0xf,
};

enum {
	EMU_QPC_ST_RC = 0,
	EMU_QPC_ST_UC = 1,
	EMU_QPC_ST_UD = 2,
	EMU_QPC_ST_XRC = 3,
	EMU_QPC_ST_DCI = 5,
	EMU_QPC_ST_QP1 = 8,
	EMU_QPC_ST_REG_UMR = 0xc, /* RC, connected to itself, for changes of mkeys */
};

#define EMU_QPC_PM_MIGRATED 3

/* cs_req and cs_res: how much of a message the completion may hold. Linux, MLX5_{REQ,RES}_SCAT_DATA*_CQE. */
#define EMU_QPC_CS_REQ_32 0x11
#define EMU_QPC_CS_REQ_64 0x22
#define EMU_QPC_CS_RES_32 0x1
#define EMU_QPC_CS_RES_64 0x2

enum {
	EMU_QPC_RQ_TYPE_REGULAR = 0,
	EMU_QPC_RQ_TYPE_SHARED = 1, /* an SRQ, RMP, XRC SRQ or XRQ */
	EMU_QPC_RQ_TYPE_NONE = 3,
};

/* opt_param_mask: which fields a transition sets that need not be set. Linux, MLX5_QP_OPTPAR_*. */
enum {
	EMU_OPTPAR_RRE = 1 << 1,
	EMU_OPTPAR_RAE = 1 << 2,
	EMU_OPTPAR_RWE = 1 << 3,
	EMU_OPTPAR_PKEY_INDEX = 1 << 4,
	EMU_OPTPAR_Q_KEY = 1 << 5,
	EMU_OPTPAR_PRI_PORT = 1 << 16,
	EMU_OPTPAR_RNR_TIMEOUT = 1 << 6,
};

#define EMU_ADS_LAYOUT(F)                       \
	F(EMU_ADS_FL, 0x00, 31, 31)             \
	F(EMU_ADS_PKEY_INDEX, 0x00, 15, 0)      \
	F(EMU_ADS_ACK_TIMEOUT, 0x08, 31, 27)    \
	F(EMU_ADS_SRC_ADDR_INDEX, 0x08, 23, 16) \
	F(EMU_ADS_HOP_LIMIT, 0x08, 7, 0)        \
	F(EMU_ADS_TCLASS, 0x0c, 27, 20)         \
	F(EMU_ADS_FLOW_LABEL, 0x0c, 19, 0)      \
	F(EMU_ADS_RGID_RIP, 0x10, 127, 0)       \
	F(EMU_ADS_VHCA_PORT_NUM, 0x24, 23, 16)
EMU_PRM_LAYOUT(EMU_ADS, 0x2c);

/*
 * What INIT2RTR takes of an address path besides the port, row by row and with the reserved bits
 * between the fields.
 */
#define EMU_ADS_RTR_LAYOUT(F)                                                \
	F(EMU_ADS_RTR_LIDS, 0x04, 23, 0)   /* grh, mlid, rlid */             \
	F(EMU_ADS_RTR_SOURCE, 0x08, 23, 0) /* src_addr_index to hop_limit */ \
	F(EMU_ADS_RTR_FLOW, 0x0c, 31, 0)   /* tclass, flow_label */          \
	F(EMU_ADS_RTR_RGID, 0x10, 127, 0)                                    \
	F(EMU_ADS_RTR_SPORT, 0x20, 31, 0)                                    \
	F(EMU_ADS_RTR_PRIORITY, 0x24, 31, 24) /* f_dscp to f_eth_prio */     \
	F(EMU_ADS_RTR_RMAC_47_32, 0x24, 15, 0)                               \
	F(EMU_ADS_RTR_RMAC_31_0, 0x28, 31, 0)
EMU_PRM_LAYOUT(EMU_ADS_RTR, 0x2c);

/* A field of the primary address path, counted from the start of the QP context. */
#define EMU_QPC_PATH(field) EMU_PRM_IN(EMU_QPC_PRIMARY_ADDRESS_PATH, field)

#define EMU_CREATE_QP_IN_LAYOUT(F)                       \
	EMU_PRM_HEADER_IN(F, EMU_CREATE_QP_IN)           \
	F(EMU_CREATE_QP_IN_QPC_EXT, 0x08, 31, 31)        \
	F(EMU_CREATE_QP_IN_ECE, 0x14, 31, 0)             \
	F(EMU_CREATE_QP_IN_QPC, 0x18, 1855, 0)           \
	F(EMU_CREATE_QP_IN_WQ_UMEM_OFFSET, 0x100, 63, 0) \
	F(EMU_CREATE_QP_IN_WQ_UMEM_ID, 0x108, 31, 0)     \
	F(EMU_CREATE_QP_IN_WQ_UMEM_VALID, 0x10c, 31, 31)
EMU_PRM_LAYOUT(EMU_CREATE_QP_IN, 0x110);

/* What follows with qpc_ext; DPDK, mlx5_prm.h: struct mlx5_ifc_qpc_extension_bits. */
#define EMU_CREATE_QP_EXT_IN_LAYOUT(F) F(EMU_CREATE_QP_EXT_IN_MMO, 0x110, 29, 29)
EMU_PRM_LAYOUT(EMU_CREATE_QP_EXT_IN, 0x114);

/* RST2INIT_QP, INIT2RTR_QP and the other transitions. */
#define EMU_MODIFY_QP_IN_LAYOUT(F)                      \
	EMU_PRM_HEADER_IN(F, EMU_MODIFY_QP_IN)          \
	F(EMU_MODIFY_QP_IN_QPN, 0x08, 23, 0)            \
	F(EMU_MODIFY_QP_IN_OPT_PARAM_MASK, 0x10, 31, 0) \
	F(EMU_MODIFY_QP_IN_ECE, 0x14, 31, 0)            \
	F(EMU_MODIFY_QP_IN_QPC, 0x18, 1855, 0)
EMU_PRM_LAYOUT(EMU_MODIFY_QP_IN, 0x100);

/* CREATE_QP, and the transitions that negotiate. */
#define EMU_QP_OUT_LAYOUT(F) F(EMU_QP_OUT_ECE, 0x0c, 31, 0)
EMU_PRM_LAYOUT(EMU_QP_OUT, 0x10);

#define EMU_QUERY_QP_OUT_LAYOUT(F) F(EMU_QUERY_QP_OUT_QPC, 0x18, 1855, 0)
EMU_PRM_LAYOUT(EMU_QUERY_QP_OUT, 0x100);

/* RTS2RTS_QP has the same extension. */
#define EMU_INIT2INIT_QP_IN_LAYOUT(F)                             \
	EMU_PRM_HEADER_IN(F, EMU_INIT2INIT_QP_IN)                 \
	F(EMU_INIT2INIT_QP_IN_QPC_EXT, 0x08, 31, 31)              \
	F(EMU_INIT2INIT_QP_IN_QPN, 0x08, 23, 0)                   \
	F(EMU_INIT2INIT_QP_IN_OPT_PARAM_MASK_95_32, 0x108, 63, 0) \
	F(EMU_INIT2INIT_QP_IN_QPC_DATA_EXT_MMO, 0x110, 29, 29)    \
	F(EMU_INIT2INIT_QP_IN_QPC_DATA_EXT_STREAM, 0x110, 15, 0)
EMU_PRM_LAYOUT(EMU_INIT2INIT_QP_IN, 0x114);

#define EMU_OPTPAR_95_32_DCI_STREAM 0x1u /* RTS2RTS_QP */
#define EMU_OPTPAR_95_32_MMO	    0x8u /* INIT2INIT_QP */

/* ATTACH_TO_MCG and DETACH_FROM_MCG. */
#define EMU_MCG_IN_LAYOUT(F)             \
	EMU_PRM_HEADER_IN(F, EMU_MCG_IN) \
	F(EMU_MCG_IN_QPN, 0x08, 23, 0)   \
	F(EMU_MCG_IN_MULTICAST_GID, 0x10, 127, 0)
EMU_PRM_LAYOUT(EMU_MCG_IN, 0x20);

#endif
