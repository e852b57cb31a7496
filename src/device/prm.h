/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Fields of mlx5 firmware structures, big-endian, named by bit offset and width as the manual
 * prints them. A field is a macro of two arguments, so that a call reads prm_set(mkc, PRM_MKC_PD,
 * pdn). Loads and stores go bit by bit: no alignment, no aliasing, no field that straddles a word
 * unnoticed. Control path only.
 */
#ifndef DPUMAP_DEVICE_PRM_H
#define DPUMAP_DEVICE_PRM_H

#include <assert.h>
#include <stdint.h>

static inline uint64_t prm_get(const void *base, uint32_t bit, uint32_t width)
{
	const uint8_t *bytes = base;
	uint64_t value = 0;

	for (uint32_t i = bit; i < bit + width; i++)
		value = value << 1 | (bytes[i / 8] >> (7 - i % 8) & 1);
	return value;
}

static inline void prm_set(void *base, uint32_t bit, uint32_t width, uint64_t value)
{
	uint8_t *bytes = base;

	assert(width == 64 || !(value >> width));
	for (uint32_t i = bit + width; i > bit; i--, value >>= 1) {
		uint32_t at = i - 1;
		uint8_t mask = (uint8_t)(0x80u >> (at % 8));

		bytes[at / 8] = (uint8_t)((bytes[at / 8] & ~mask) | (value & 1 ? mask : 0));
	}
}

/* Opcodes and object types. */
#define PRM_OP_QUERY_HCA_CAP	       0x100u
#define PRM_OP_CREATE_MKEY	       0x200u
#define PRM_OP_QUERY_ESW_FUNCTIONS     0x740u
#define PRM_OP_CREATE_GENERAL_OBJECT   0xa00u
#define PRM_OP_ALLOW_OTHER_VHCA_ACCESS 0xb16u
#define PRM_OBJ_TYPE_MKEY	       0xff01u

/* Header of every command. */
#define PRM_IN_OPCODE	 0x00, 16
#define PRM_IN_OP_MOD	 0x30, 16
#define PRM_OUT_STATUS	 0x00, 8
#define PRM_OUT_SYNDROME 0x20, 32

/* Status values of a command that the firmware refused. */
#define PRM_STATUS_INTERNAL_ERR	 0x1u
#define PRM_STATUS_BAD_PARAM	 0x3u
#define PRM_STATUS_BAD_RES	 0x5u
#define PRM_STATUS_BAD_RES_STATE 0x9u
#define PRM_STATUS_BAD_INDEX	 0xau

/* QUERY_HCA_CAP; the capability page follows 0x10 bytes into the answer. */
#define PRM_QUERY_HCA_CAP_IN_LEN	       0x10u
#define PRM_QUERY_HCA_CAP_OUT_LEN	       0x1010u
#define PRM_QUERY_HCA_CAP_PAGE		       0x10u
#define PRM_CAP_GENERAL_CURRENT		       0x01u
#define PRM_CAP_GENERAL_2_CURRENT	       0x41u
#define PRM_CAP_DEVICE_MEMORY_CURRENT	       0x1fu

#define PRM_CAP_HCA_CAP_2		       0x020, 1
#define PRM_CAP_VHCA_ID			       0x030, 16
#define PRM_CAP_FIXED_BUFFER_SIZE	       0x108, 1
#define PRM_CAP2_CROSS_VHCA_OBJECT_TO_OBJECT   0x0e0, 32
#define PRM_CAP2_ALLOWED_OBJECT_FOR_OTHER_VHCA 0x100, 64
#define PRM_CROSS_VHCA_LOCAL_MKEY_TO_REMOTE    0x100u
#define PRM_ALLOWED_OBJECT_MKEY		       0x4u
#define PRM_CAP_DM_LOG_MIN_ALLOC_SIZE	       0x02b, 5
#define PRM_CAP_DM_LOG_MAX_ALIGNMENT	       0x038, 8 /* in units of 64 bytes */

/* CREATE_MKEY and the mkey context, which lies 0x10 bytes into the command. */
#define PRM_CREATE_MKEY_IN_LEN	     0x110u
#define PRM_CREATE_MKEY_OUT_LEN	     0x10u
#define PRM_CREATE_MKEY_CONTEXT	     0x10u
#define PRM_CREATE_MKEY_UMEM_VALID   0x61, 1
#define PRM_CREATE_MKEY_ENTRIES	     0x300, 32
#define PRM_CREATE_MKEY_UMEM_ID	     0x320, 32
#define PRM_CREATE_MKEY_UMEM_OFFSET  0x340, 64
#define PRM_CREATE_MKEY_INDEX	     0x48, 24
#define PRM_MKC_A		     0x11, 1
#define PRM_MKC_RW		     0x12, 1
#define PRM_MKC_RR		     0x13, 1
#define PRM_MKC_LW		     0x14, 1
#define PRM_MKC_LR		     0x15, 1
#define PRM_MKC_ACCESS_MODE_1_0	     0x16, 2
#define PRM_MKC_QPN		     0x20, 24
#define PRM_MKC_MKEY_7_0	     0x38, 8
#define PRM_MKC_PD		     0x68, 24
#define PRM_MKC_START_ADDR	     0x80, 64
#define PRM_MKC_LEN		     0xc0, 64
#define PRM_MKC_TRANSLATION_OCTWORDS 0x1a0, 32
#define PRM_MKC_LOG_ENTITY_SIZE	     0x1db, 5
#define PRM_ACCESS_MODE_MTT	     1u
#define PRM_ACCESS_MODE_KSM	     3u
#define PRM_MTT_PER_OCTWORD	     2u
#define PRM_QPN_ANY		     0xffffffu

/* One translation entry of an indirect mkey. */
#define PRM_KSM_LEN	   16u
#define PRM_KSM_BYTE_COUNT 0x00, 32
#define PRM_KSM_MKEY	   0x20, 32
#define PRM_KSM_ADDRESS	   0x40, 64

/* ALLOW_OTHER_VHCA_ACCESS. */
#define PRM_ALLOW_IN_LEN      0x40u
#define PRM_ALLOW_OUT_LEN     0x10u
#define PRM_ALLOW_OBJECT_TYPE 0x90, 16
#define PRM_ALLOW_OBJECT_ID   0xa0, 32
#define PRM_ALLOW_ACCESS_KEY  0x20u

/* CREATE_GENERAL_OBJECT of an alias; the alias context lies 0x10 bytes into command and answer. */
#define PRM_ALIAS_LEN	     0x50u
#define PRM_ALIAS_CONTEXT    0x10u
#define PRM_OBJECT_TYPE	     0x30, 16
#define PRM_OBJECT_ID	     0x40, 32
#define PRM_OBJECT_IS_ALIAS  0x60, 1
#define PRM_ALIAS_VHCA_ID    0x00, 16
#define PRM_ALIAS_STATUS     0x1d, 3
#define PRM_ALIAS_OBJECT_ID  0x20, 32
#define PRM_ALIAS_ACCESS_KEY 0x10u
#define PRM_ALIAS_METADATA_1 0x180, 32

/* QUERY_ESW_FUNCTIONS, of a DPU's embedded CPU; what it says of the host follows 0x10 bytes into
 * the answer. */
#define PRM_QUERY_ESW_FUNCTIONS_IN_LEN	0x10u
#define PRM_QUERY_ESW_FUNCTIONS_OUT_LEN 0x80u
#define PRM_HOST_PARAMS			0x10u
#define PRM_HOST_PF_VHCA_ID_VALID	0x0e, 1
#define PRM_HOST_PF_DISABLED		0x0f, 1
#define PRM_HOST_PCI_BUS		0x30, 16
#define PRM_HOST_PF_VHCA_ID		0x40, 16
#define PRM_HOST_PCI_DEVICE		0x50, 16
#define PRM_HOST_PCI_FUNCTION		0x70, 16

#endif
