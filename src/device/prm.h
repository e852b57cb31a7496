/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Fields of mlx5 firmware structures, big-endian, written as the Mellanox Adapters Programmer's
 * Reference Manual (PRM) prints them: the offset of a row of 32 bits, the highest and the lowest
 * bit in it; 63, 0 is two rows. Linux' include/linux/mlx5/mlx5_ifc.h and UCX' ib_mlx5_ifc.h have
 * the same fields. A field is two arguments, its first bit and its width, so that a call reads
 * prm_set(mkc, PRM_MKC_PD, pdn). Loads and stores go bit by bit, so that alignment, aliasing and
 * word boundaries do not matter. For the control path only.
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

#define PRM_FIELD(row, high, low) (row) * 8u + ((high) | 31u) - (high), (high) - (low) + 1u

/* Opcodes and object types. */
#define PRM_OP_QUERY_HCA_CAP	       0x100u
#define PRM_OP_CREATE_MKEY	       0x200u
#define PRM_OP_QUERY_ESW_FUNCTIONS     0x740u
#define PRM_OP_CREATE_GENERAL_OBJECT   0xa00u
#define PRM_OP_ALLOW_OTHER_VHCA_ACCESS 0xb16u
#define PRM_OBJ_TYPE_DEK	       0x000cu
#define PRM_OBJ_TYPE_MKEY	       0xff01u

/* Header of every command. */
#define PRM_IN_OPCODE	 PRM_FIELD(0x00, 31, 16)
#define PRM_IN_OP_MOD	 PRM_FIELD(0x04, 15, 0)
#define PRM_OUT_STATUS	 PRM_FIELD(0x00, 31, 24)
#define PRM_OUT_SYNDROME PRM_FIELD(0x04, 31, 0)

/* Status values of a command that the firmware refused. */
#define PRM_STATUS_INTERNAL_ERR	 0x1u
#define PRM_STATUS_BAD_PARAM	 0x3u
#define PRM_STATUS_BAD_RES	 0x5u
#define PRM_STATUS_BAD_RES_STATE 0x9u
#define PRM_STATUS_BAD_INDEX	 0xau

/* QUERY_HCA_CAP. The capability page is at byte 0x10 of the output. */
#define PRM_QUERY_HCA_CAP_IN_LEN	       0x10u
#define PRM_QUERY_HCA_CAP_OUT_LEN	       0x1010u
#define PRM_QUERY_HCA_CAP_PAGE		       0x10u
#define PRM_CAP_GENERAL_CURRENT		       0x01u
#define PRM_CAP_GENERAL_2_CURRENT	       0x41u
#define PRM_CAP_DEVICE_MEMORY_CURRENT	       0x1fu
#define PRM_CAP_CRYPTO_CURRENT		       0x35u

#define PRM_CAP_HCA_CAP_2		       PRM_FIELD(0x04, 31, 31)
#define PRM_CAP_VHCA_ID			       PRM_FIELD(0x04, 15, 0)
#define PRM_CAP_LOG_COMPRESS_MMO_SIZE	       PRM_FIELD(0x0c, 12, 8)
#define PRM_CAP_DECOMPRESS_LZ4_DATA_ONLY_V2    PRM_FIELD(0x0c, 7, 7)
#define PRM_CAP_DECOMPRESS_LZ4_NO_CHECKSUM_V2  PRM_FIELD(0x0c, 6, 6)
#define PRM_CAP_DECOMPRESS_LZ4_CHECKSUM_V2     PRM_FIELD(0x0c, 5, 5)
#define PRM_CAP_LOG_DECOMPRESS_MMO_SIZE	       PRM_FIELD(0x0c, 4, 0)
#define PRM_CAP_COMPRESS_MMO_QP		       PRM_FIELD(0xe8, 21, 21)
#define PRM_CAP_DECOMPRESS_DEFLATE_V1	       PRM_FIELD(0xe8, 20, 20)
#define PRM_CAP_DECOMPRESS_DEFLATE_V2	       PRM_FIELD(0xe8, 15, 15)
#define PRM_CAP_FIXED_BUFFER_SIZE	       PRM_FIELD(0x20, 23, 23)
#define PRM_CAP_GENERAL_OBJ_TYPES	       PRM_FIELD(0x80, 63, 0)
#define PRM_CAP_CRYPTO			       PRM_FIELD(0x8c, 22, 22)
#define PRM_CAP2_CROSS_VHCA_OBJECT_TO_OBJECT   PRM_FIELD(0x1c, 31, 0)
#define PRM_CAP2_ALLOWED_OBJECT_FOR_OTHER_VHCA PRM_FIELD(0x20, 63, 0)
#define PRM_CROSS_VHCA_LOCAL_MKEY_TO_REMOTE    0x100u
#define PRM_ALLOWED_OBJECT_MKEY		       0x4u
#define PRM_CAP_CRYPTO_MMO_QP		       PRM_FIELD(0x20, 31, 31)
#define PRM_CAP_AES_GCM_256_ENCRYPT	       PRM_FIELD(0x20, 30, 30)
#define PRM_CAP_AES_GCM_128_ENCRYPT	       PRM_FIELD(0x20, 29, 29)
#define PRM_CAP_AES_GCM_256_DECRYPT	       PRM_FIELD(0x20, 28, 28)
#define PRM_CAP_AES_GCM_128_DECRYPT	       PRM_FIELD(0x20, 27, 27)
#define PRM_CAP_GCM_AUTH_TAG_128	       PRM_FIELD(0x20, 26, 26)
#define PRM_CAP_GCM_AUTH_TAG_96		       PRM_FIELD(0x20, 25, 25)
#define PRM_CAP_LOG_CRYPTO_MMO_MAX_SIZE	       PRM_FIELD(0x20, 21, 16)
#define PRM_CAP_DM_LOG_MIN_ALLOC_SIZE	       PRM_FIELD(0x04, 20, 16)
#define PRM_CAP_DM_LOG_MAX_ALIGNMENT	       PRM_FIELD(0x04, 7, 0) /* in units of 64 bytes */

/* CREATE_MKEY. The mkey context is at byte 0x10 of the input. */
#define PRM_CREATE_MKEY_IN_LEN	     0x110u
#define PRM_CREATE_MKEY_OUT_LEN	     0x10u
#define PRM_CREATE_MKEY_CONTEXT	     0x10u
#define PRM_CREATE_MKEY_UMEM_VALID   PRM_FIELD(0x0c, 30, 30)
#define PRM_CREATE_MKEY_ENTRIES	     PRM_FIELD(0x60, 31, 0)
#define PRM_CREATE_MKEY_UMEM_ID	     PRM_FIELD(0x64, 31, 0)
#define PRM_CREATE_MKEY_UMEM_OFFSET  PRM_FIELD(0x68, 63, 0)
#define PRM_CREATE_MKEY_INDEX	     PRM_FIELD(0x08, 23, 0)
#define PRM_MKC_A		     PRM_FIELD(0x00, 14, 14)
#define PRM_MKC_RW		     PRM_FIELD(0x00, 13, 13)
#define PRM_MKC_RR		     PRM_FIELD(0x00, 12, 12)
#define PRM_MKC_LW		     PRM_FIELD(0x00, 11, 11)
#define PRM_MKC_LR		     PRM_FIELD(0x00, 10, 10)
#define PRM_MKC_ACCESS_MODE_1_0	     PRM_FIELD(0x00, 9, 8)
#define PRM_MKC_QPN		     PRM_FIELD(0x04, 31, 8)
#define PRM_MKC_MKEY_7_0	     PRM_FIELD(0x04, 7, 0)
#define PRM_MKC_PD		     PRM_FIELD(0x0c, 23, 0)
#define PRM_MKC_START_ADDR	     PRM_FIELD(0x10, 63, 0)
#define PRM_MKC_LEN		     PRM_FIELD(0x18, 63, 0)
#define PRM_MKC_TRANSLATION_OCTWORDS PRM_FIELD(0x34, 31, 0)
#define PRM_MKC_LOG_ENTITY_SIZE	     PRM_FIELD(0x38, 4, 0)
#define PRM_ACCESS_MODE_MTT	     1u
#define PRM_ACCESS_MODE_KSM	     3u
#define PRM_MTT_PER_OCTWORD	     2u
#define PRM_QPN_ANY		     0xffffffu

/* One translation entry of an indirect mkey. */
#define PRM_KSM_LEN	   16u
#define PRM_KSM_BYTE_COUNT PRM_FIELD(0x00, 31, 0)
#define PRM_KSM_MKEY	   PRM_FIELD(0x04, 31, 0)
#define PRM_KSM_ADDRESS	   PRM_FIELD(0x08, 63, 0)

/* ALLOW_OTHER_VHCA_ACCESS. */
#define PRM_ALLOW_IN_LEN      0x40u
#define PRM_ALLOW_OUT_LEN     0x10u
#define PRM_ALLOW_OBJECT_TYPE PRM_FIELD(0x10, 15, 0)
#define PRM_ALLOW_OBJECT_ID   PRM_FIELD(0x14, 31, 0)
#define PRM_ALLOW_ACCESS_KEY  0x20u

/* CREATE_GENERAL_OBJECT for an alias. The alias context is at byte 0x10 of input and output. */
#define PRM_ALIAS_LEN	     0x50u
#define PRM_ALIAS_CONTEXT    0x10u
#define PRM_OBJECT_TYPE	     PRM_FIELD(0x04, 15, 0)
#define PRM_OBJECT_ID	     PRM_FIELD(0x08, 31, 0)
#define PRM_OBJECT_IS_ALIAS  PRM_FIELD(0x0c, 31, 31)
#define PRM_ALIAS_VHCA_ID    PRM_FIELD(0x00, 31, 16)
#define PRM_ALIAS_STATUS     PRM_FIELD(0x00, 2, 0)
#define PRM_ALIAS_OBJECT_ID  PRM_FIELD(0x04, 31, 0)
#define PRM_ALIAS_ACCESS_KEY 0x10u
#define PRM_ALIAS_METADATA_1 PRM_FIELD(0x30, 31, 0)

/*
 * CREATE_GENERAL_OBJECT for a data encryption key, whose context is at byte 0x10: DPDK, mlx5_prm.h, struct
 * mlx5_ifc_dek_bits. The key is at the end of the first 32 bytes of its field, if it is shorter.
 */
#define PRM_DEK_IN_LEN	    0x110u
#define PRM_DEK_OUT_LEN	    0x10u
#define PRM_DEK_CONTEXT	    0x10u
#define PRM_DEK_KEY_SIZE    PRM_FIELD(0x08, 11, 8)
#define PRM_DEK_KEY_PURPOSE PRM_FIELD(0x08, 3, 0)
#define PRM_DEK_PD	    PRM_FIELD(0x0c, 23, 0)
#define PRM_DEK_KEY	    0x40u
#define PRM_DEK_KEY_LEN	    32u
#define PRM_KEY_SIZE_128    0u
#define PRM_KEY_SIZE_256    1u
#define PRM_KEY_PURPOSE_GCM 5u

/* QUERY_ESW_FUNCTIONS, for the CPU of a DPU. The parameters of the host are at byte 0x10. */
#define PRM_QUERY_ESW_FUNCTIONS_IN_LEN	0x10u
#define PRM_QUERY_ESW_FUNCTIONS_OUT_LEN 0x80u
#define PRM_HOST_PARAMS			0x10u
#define PRM_HOST_PF_VHCA_ID_VALID	PRM_FIELD(0x00, 17, 17)
#define PRM_HOST_PF_DISABLED		PRM_FIELD(0x00, 16, 16)
#define PRM_HOST_PCI_BUS		PRM_FIELD(0x04, 15, 0)
#define PRM_HOST_PF_VHCA_ID		PRM_FIELD(0x08, 31, 16)
#define PRM_HOST_PCI_DEVICE		PRM_FIELD(0x08, 15, 0)
#define PRM_HOST_PCI_FUNCTION		PRM_FIELD(0x0c, 15, 0)

#endif
