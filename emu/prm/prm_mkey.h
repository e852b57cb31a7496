/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Mkeys: the mkey context, CREATE_MKEY, QUERY_MKEY and the entries of a translation list.
 *
 * PRM, "Mkey Context" and "CREATE_MKEY"; mlx5_ifc.h: struct mlx5_ifc_mkc_bits,
 * mlx5_ifc_create_mkey_in_bits and, in Linux, mlx5_ifc_klm_bits.
 */
#ifndef EMU_PRM_MKEY_H
#define EMU_PRM_MKEY_H

#include "emu/prm/prm.h"

/*
 * Not named, so reserved: alter_pd_to_vhca_id and crossed_side_mkey, bsf_en, sync_umr,
 * expected_sigerr_count, bsf_octword_size, crossing_target_vhca_id, the sixth bit of log_page_size
 * (umr_log_entity_size_5), crypto_en and mkey_pcie_tph, whose capabilities are not announced. Named
 * without being used: relaxed_ordering_* and small_fence_on_rdma_read_response, which allow an order
 * that the card never makes use of.
 */
#define EMU_MKC_LAYOUT(F)                                     \
	F(EMU_MKC_FREE, 0x00, 30, 30)                         \
	F(EMU_MKC_ACCESS_MODE_4_2, 0x00, 28, 26)              \
	F(EMU_MKC_RELAXED_ORDERING_WRITE, 0x00, 18, 18)       \
	F(EMU_MKC_SMALL_FENCE_ON_READ_RESPONSE, 0x00, 16, 16) \
	F(EMU_MKC_UMR_EN, 0x00, 15, 15)                       \
	F(EMU_MKC_A, 0x00, 14, 14)                            \
	F(EMU_MKC_RW, 0x00, 13, 13)                           \
	F(EMU_MKC_RR, 0x00, 12, 12)                           \
	F(EMU_MKC_LW, 0x00, 11, 11)                           \
	F(EMU_MKC_LR, 0x00, 10, 10)                           \
	F(EMU_MKC_ACCESS_MODE_1_0, 0x00, 9, 8)                \
	F(EMU_MKC_QPN, 0x04, 31, 8)                           \
	F(EMU_MKC_MKEY_7_0, 0x04, 7, 0)                       \
	F(EMU_MKC_LENGTH64, 0x0c, 31, 31)                     \
	F(EMU_MKC_EN_RINVAL, 0x0c, 24, 24)                    \
	F(EMU_MKC_PD, 0x0c, 23, 0)                            \
	F(EMU_MKC_START_ADDR, 0x10, 63, 0)                    \
	F(EMU_MKC_LEN, 0x18, 63, 0)                           \
	F(EMU_MKC_TRANSLATIONS_OCTWORD_SIZE, 0x34, 31, 0)     \
	F(EMU_MKC_RELAXED_ORDERING_READ, 0x38, 6, 6)          \
	F(EMU_MKC_LOG_PAGE_SIZE, 0x38, 4, 0)
EMU_PRM_LAYOUT(EMU_MKC, 0x40);

#define EMU_MKC_QPN_ANY	      0xffffffu

#define EMU_ACCESS_MODE_PA    0
#define EMU_ACCESS_MODE_MTT   1
#define EMU_ACCESS_MODE_KLM   2
#define EMU_ACCESS_MODE_KSM   3
#define EMU_ACCESS_MODE_MEMIC 5

/*
 * Not named, so reserved: input_mkey_index (mkey_by_name_reserve is not announced), data_direct or
 * cmd_on_behalf and function_id. pg_access is accepted, as every function has paging. The eight
 * bits before input_mkey_index are not looked at.
 */
#define EMU_CREATE_MKEY_IN_LAYOUT(F)                                        \
	EMU_PRM_HEADER_IN(F, EMU_CREATE_MKEY_IN)                            \
	F(EMU_CREATE_MKEY_IN_UNUSED, 0x08, 31, 24)                          \
	F(EMU_CREATE_MKEY_IN_PG_ACCESS, 0x0c, 31, 31)                       \
	F(EMU_CREATE_MKEY_IN_MKEY_UMEM_VALID, 0x0c, 30, 30)                 \
	F(EMU_CREATE_MKEY_IN_MKC, 0x10, 511, 0)                             \
	F(EMU_CREATE_MKEY_IN_TRANSLATIONS_OCTWORD_ACTUAL_SIZE, 0x60, 31, 0) \
	F(EMU_CREATE_MKEY_IN_MKEY_UMEM_ID, 0x64, 31, 0)                     \
	F(EMU_CREATE_MKEY_IN_MKEY_UMEM_OFFSET, 0x68, 63, 0)                 \
	/* the translation list follows */
EMU_PRM_LAYOUT(EMU_CREATE_MKEY_IN, 0x110);

#define EMU_CREATE_MKEY_OUT_LAYOUT(F)              \
	EMU_PRM_HEADER_OUT(F, EMU_CREATE_MKEY_OUT) \
	F(EMU_CREATE_MKEY_OUT_MKEY_INDEX, 0x08, 23, 0)
EMU_PRM_LAYOUT(EMU_CREATE_MKEY_OUT, 0x10);

/* pg_access is honoured, and shows nothing. */
#define EMU_QUERY_MKEY_IN_LAYOUT(F)                  \
	EMU_PRM_HEADER_IN(F, EMU_QUERY_MKEY_IN)      \
	F(EMU_QUERY_MKEY_IN_MKEY_INDEX, 0x08, 23, 0) \
	F(EMU_QUERY_MKEY_IN_PG_ACCESS, 0x0c, 31, 31)
EMU_PRM_LAYOUT(EMU_QUERY_MKEY_IN, 0x10);

#define EMU_QUERY_MKEY_OUT_LAYOUT(F)              \
	EMU_PRM_HEADER_OUT(F, EMU_QUERY_MKEY_OUT) \
	F(EMU_QUERY_MKEY_OUT_MKC, 0x10, 511, 0)   \
	/* the translation list follows */
EMU_PRM_LAYOUT(EMU_QUERY_MKEY_OUT, 0x110);

/* An entry of a list of KLMs or KSMs. */
#define EMU_KLM_LAYOUT(F)                  \
	F(EMU_KLM_BYTE_COUNT, 0x00, 31, 0) \
	F(EMU_KLM_MKEY, 0x04, 31, 0)       \
	F(EMU_KLM_ADDRESS, 0x08, 63, 0)
EMU_PRM_LAYOUT(EMU_KLM, 0x10);

/* An entry of a list of pages. */
#define EMU_MTT_BYTES 8
#define EMU_MTT_READ  1u
#define EMU_MTT_WRITE 2u

/*
 * The head of a list with strides, in place of the first entry; num_entries strides follow. rdma-core,
 * mlx5dv.h: struct mlx5_wqe_umr_repeat_block_seg.
 */
#define EMU_KLM_REPEAT_LAYOUT(F)                    \
	F(EMU_KLM_REPEAT_BYTE_COUNT, 0x00, 31, 0)   \
	F(EMU_KLM_REPEAT_OP, 0x04, 31, 0)           \
	F(EMU_KLM_REPEAT_REPEAT_COUNT, 0x08, 31, 0) \
	F(EMU_KLM_REPEAT_NUM_ENTRIES, 0x0c, 15, 0)
EMU_PRM_LAYOUT(EMU_KLM_REPEAT, 0x10);

#define EMU_KLM_OP_REPEAT 0x400

/* A stride: in the first row how many bytes of it to take, and how long it is. */
#define EMU_KLM_STRIDE_LAYOUT(F)                  \
	F(EMU_KLM_STRIDE_STRIDE, 0x00, 31, 16)    \
	F(EMU_KLM_STRIDE_BYTE_COUNT, 0x00, 15, 0) \
	F(EMU_KLM_STRIDE_MKEY, 0x04, 31, 0)       \
	F(EMU_KLM_STRIDE_ADDRESS, 0x08, 63, 0)
EMU_PRM_LAYOUT(EMU_KLM_STRIDE, 0x10);

#endif
