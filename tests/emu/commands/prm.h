/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * PRM commands and their answers: opcodes, statuses and fields. Opcodes and fields have the names of
 * rdma-core's providers/mlx5/mlx5_ifc.h and of Linux's include/linux/mlx5/mlx5_ifc.h. The numbers are
 * those of the tests: the emulator has its own. A field is its first bit and its width.
 */
#ifndef DPUMAP_TESTS_PRM_H
#define DPUMAP_TESTS_PRM_H

#include <stdint.h>

enum {
	CMD_QUERY_HCA_CAP = 0x100,
	CMD_QUERY_ADAPTER = 0x101,
	CMD_QUERY_ISSI = 0x10a,
	CMD_CREATE_MKEY = 0x200,
	CMD_QUERY_MKEY = 0x201,
	CMD_DESTROY_MKEY = 0x202,
	CMD_CREATE_CQ = 0x400,
	CMD_DESTROY_CQ = 0x401,
	CMD_QUERY_CQ = 0x402,
	CMD_MODIFY_CQ = 0x403,
	CMD_CREATE_QP = 0x500,
	CMD_DESTROY_QP = 0x501,
	CMD_RST2INIT_QP = 0x502,
	CMD_INIT2RTR_QP = 0x503,
	CMD_RTR2RTS_QP = 0x504,
	CMD_RTS2RTS_QP = 0x505,
	CMD_2ERR_QP = 0x507,
	CMD_2RST_QP = 0x50a,
	CMD_QUERY_QP = 0x50b,
	CMD_INIT2INIT_QP = 0x50e,
	CMD_CREATE_PSV = 0x600,
	CMD_CREATE_SRQ = 0x700,
	CMD_QUERY_XRC_SRQ = 0x707,
	CMD_QUERY_VPORT_STATE = 0x750,
	CMD_QUERY_NIC_VPORT_CONTEXT = 0x754,
	CMD_QUERY_ROCE_ADDRESS = 0x760,
	CMD_QUERY_VNIC_ENV = 0x76f,
	CMD_ALLOC_Q_COUNTER = 0x771,
	CMD_QUERY_Q_COUNTER = 0x773,
	CMD_ALLOC_PD = 0x800,
	CMD_ALLOC_UAR = 0x802,
	CMD_GET_DROPPED_PACKET_LOG = 0x80a,
	CMD_NOP = 0x80d,
	CMD_ALLOC_XRCD = 0x80e,
	CMD_ALLOC_TRANSPORT_DOMAIN = 0x816,
	CMD_QUERY_CONG_STATUS = 0x822,
	CMD_QUERY_CONG_STATISTICS = 0x826,
	CMD_QUERY_LAG = 0x842,
	CMD_CREATE_SQ = 0x904,
	CMD_CREATE_RMP = 0x90c,
	CMD_CREATE_FLOW_TABLE = 0x930,
	CMD_SET_FLOW_TABLE_ENTRY = 0x936,
	CMD_ALLOC_FLOW_COUNTER = 0x939,
	CMD_DEALLOC_FLOW_COUNTER = 0x93a,
	CMD_QUERY_FLOW_COUNTER = 0x93b,
	CMD_CREATE_GENERAL_OBJECT = 0xa00,
	CMD_MODIFY_GENERAL_OBJECT = 0xa01,
	CMD_QUERY_GENERAL_OBJECT = 0xa02,
	/* Commands without an object: up to, but not including, END. */
	CMD_GENERAL_BEGIN = 0xb00,
	CMD_ALLOW_OTHER_VHCA_ACCESS = 0xb16,
	CMD_GENERAL_END = 0xd00,
};

/* The first byte of an answer, and what it may be. */
#define OUT_STATUS 0
enum {
	BAD_OP = 0x2,
	BAD_PARAM = 0x3,
	BAD_RES = 0x5,
	BAD_QP_STATE = 0x10,
	BAD_INP_LEN = 0x50,
	BAD_OUTP_LEN = 0x51,
};

/* Of every command; in those on general objects obj_type is in the place of op_mod. */
#define IN_OPCODE	  0x0, 16
#define IN_UID		  0x10, 16
#define IN_VHCA_TUNNEL_ID 0x20, 16
#define IN_OP_MOD	  0x30, 16
#define IN_OBJ_TYPE	  0x30, 16
/* Of those on an object: its number, or that of the new one. */
#define IN_NUMBER  0x48, 24
#define OUT_NUMBER 0x48, 24
#define IN_OBJ_ID  0x40, 32
#define OUT_OBJ_ID 0x40, 32
/* Of those on a function: whether it is another one, and which. */
#define IN_OTHER_FUNCTION 0x40, 1
#define IN_FUNCTION_ID	  0x50, 16

/* CREATE_MKEY, with the mkey context at 0x10; QUERY_MKEY answers with the same layout. */
#define MKEY_PG_ACCESS			      0x60, 1
#define MKC_FREE			      (0x80 + 0x1), 1
#define MKC_ACCESS_MODE_4_2		      (0x80 + 0x3), 3
#define MKC_RELAXED_ORDERING_WRITE	      (0x80 + 0xd), 1
#define MKC_SMALL_FENCE_ON_RDMA_READ_RESPONSE (0x80 + 0xf), 1
#define MKC_UMR_EN			      (0x80 + 0x10), 1
#define MKC_A_TO_LR			      (0x80 + 0x11), 5 /* a, rw, rr, lw, lr */
#define MKC_ACCESS_MODE_1_0		      (0x80 + 0x16), 2
#define MKC_QPN				      (0x80 + 0x20), 24
#define MKC_MKEY_7_0			      (0x80 + 0x38), 8
#define MKC_EN_RINVAL			      (0x80 + 0x67), 1
#define MKC_PD				      (0x80 + 0x68), 24
#define MKC_START_ADDR			      (0x80 + 0x80), 64
#define MKC_LEN				      (0x80 + 0xc0), 64
#define MKC_TRANSLATIONS_OCTWORD_SIZE	      (0x80 + 0x1a0), 32
#define MKC_RELAXED_ORDERING_READ	      (0x80 + 0x1d9), 1
#define MKC_LOG_PAGE_SIZE		      (0x80 + 0x1db), 5
#define MKEY_TRANSLATIONS_OCTWORD_ACTUAL_SIZE 0x300, 32
#define MKEY_UMEM_ID			      0x320, 32
#define MKEY_UMEM_OFFSET		      0x340, 64
#define MKEY_ENTRIES			      0x110u /* the byte where the translation entries begin */
#define MKEY_ENTRY_LEN			      16u

#define MKC_QPN_ANY			      0xffffffu
enum { MKC_LR = 1 << 0, MKC_LW = 1 << 1, MKC_RR = 1 << 2, MKC_RW = 1 << 3, MKC_A = 1 << 4 };

/* access_mode */
enum { MTT = 1, KLM = 2, KSM = 3 };

/* An entry of a list of KLMs or KSMs, which is also a data segment of a work request. */
#define KLM_BYTE_COUNT 0, 32
#define KLM_MKEY       32, 32
#define KLM_ADDRESS    64, 64

/* A field of a structure that begins at a byte of another one. */
#define AT(byte, ...)		 AT_BIT(byte, __VA_ARGS__)
#define AT_BIT(byte, bit, width) ((byte)*8 + (bit)), width

static inline uint64_t prm_get(const uint8_t *p, unsigned int bit, unsigned int width)
{
	uint64_t value = 0;

	for (; width; width--, bit++)
		value = value << 1 | (p[bit / 8] >> (7 - bit % 8) & 1);
	return value;
}

static inline void prm_put(uint8_t *p, unsigned int bit, unsigned int width, uint64_t value)
{
	for (bit += width; width; width--, value >>= 1) {
		uint8_t mask = (uint8_t)(0x80u >> (--bit % 8));

		p[bit / 8] = (uint8_t)((p[bit / 8] & ~mask) | (value & 1 ? mask : 0));
	}
}

#endif
