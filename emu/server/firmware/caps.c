/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/firmware/commands.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "emu/ipc/firmware.h"
#include "emu/prm/prm_caps.h"
#include "emu/server/card/endpoint.h"
#include "emu/server/card/topology.h"

/* 8 << 4 entries: the largest size of the encoding, which is for InfiniBand. */
#define GID_TABLE_128 4
#define MIN_LOG_BLOCK 4 /* of a compressed stream */

#define ODP_ALL                                                                           \
	(EMU_ODP_SEND | EMU_ODP_RECEIVE | EMU_ODP_WRITE | EMU_ODP_READ | EMU_ODP_ATOMIC | \
	 EMU_ODP_SRQ_RECEIVE)

/* Capabilities are powers of two: round down. */
static uint64_t log_of(uint32_t n)
{
	return 31u - (unsigned int)__builtin_clz(n | 1u);
}

static void general_caps(const struct emu_func *f, uint8_t *page)
{
	const struct emu_profile *p = f->card->profile;
	const bool lz4 = p->log_max_decompress && p->decompress_newer;
	const struct emu_prm_value fields[] = {
		{EMU_HCA_CAP_HCA_CAP_2, p->crossing},
		{EMU_HCA_CAP_VHCA_ID, f->vhca_id},
		{EMU_HCA_CAP_LOG_DMA_MMO_MAX_SIZE, p->log_max_dma_mmo},
		{EMU_HCA_CAP_LOG_COMPRESS_MMO_SIZE, p->log_max_compress},
		{EMU_HCA_CAP_DECOMPRESS_LZ4_DATA_ONLY_V2, lz4},
		{EMU_HCA_CAP_DECOMPRESS_LZ4_NO_CHECKSUM_V2, lz4},
		{EMU_HCA_CAP_DECOMPRESS_LZ4_CHECKSUM_V2, lz4},
		{EMU_HCA_CAP_LOG_DECOMPRESS_MMO_SIZE, p->log_max_decompress},
		{EMU_HCA_CAP_LOG_MAX_QP_SZ, 15},
		{EMU_HCA_CAP_LOG_MAX_QP, log_of(p->max_qp)},
		{EMU_HCA_CAP_ECE, 1},
		{EMU_HCA_CAP_LOG_MAX_CQ_SZ, 22},
		{EMU_HCA_CAP_LOG_MAX_CQ, log_of(p->max_cq)},
		{EMU_HCA_CAP_RELAXED_ORDERING_WRITE, 1},
		{EMU_HCA_CAP_RELAXED_ORDERING_READ, 1},
		{EMU_HCA_CAP_LOG_MAX_MKEY, log_of(p->max_mr)},
		{EMU_HCA_CAP_MAX_INDIRECTION, 4},
		{EMU_HCA_CAP_FIXED_BUFFER_SIZE, 1},
		{EMU_HCA_CAP_UMR_EXTENDED_TRANSLATION_OFFSET, 1},
		{EMU_HCA_CAP_NULL_MKEY, 1},
		{EMU_HCA_CAP_LOG_MAX_KLM_LIST_SIZE, 12},
		{EMU_HCA_CAP_QPC_EXTENSION, 1},
		{EMU_HCA_CAP_LOG_MAX_RA_REQ_DC, 4},
		{EMU_HCA_CAP_LOG_MAX_RA_RES_DC, 4},
		{EMU_HCA_CAP_LOG_MAX_RA_REQ_QP, 4},
		{EMU_HCA_CAP_LOG_MAX_RA_RES_QP, 4},
		{EMU_HCA_CAP_GID_TABLE_SIZE, GID_TABLE_128},
		{EMU_HCA_CAP_DEVICE_MEMORY, p->max_dm_size != 0},
		{EMU_HCA_CAP_PORT_TYPE, EMU_PORT_TYPE_ETHERNET},
		{EMU_HCA_CAP_NUM_PORTS, EMU_PORTS},
		{EMU_HCA_CAP_LOG_MAX_MSG, 30},
		{EMU_HCA_CAP_CQE_VERSION, 1},
		{EMU_HCA_CAP_DCT, 1},
		{EMU_HCA_CAP_ATOMIC, 1},
		{EMU_HCA_CAP_PG, 1},
		{EMU_HCA_CAP_UAR_4K, 1},
		{EMU_HCA_CAP_LOG_BF_REG_SIZE, 9},
		{EMU_HCA_CAP_MAX_WQE_SZ_SQ, 1024},
		{EMU_HCA_CAP_MAX_WQE_SZ_RQ, 512},
		{EMU_HCA_CAP_MAX_WQE_SZ_SQ_DC, 1024},
		{EMU_HCA_CAP_MAX_FLOW_COUNTER_15_0, EMU_MAX_FLOW_COUNTERS},
		{EMU_HCA_CAP_LOG_MAX_RMP, 12},
		{EMU_HCA_CAP_MINI_CQE_RESP_STRIDE_INDEX, p->max_session != 0},
		{EMU_HCA_CAP_CQE_128_ALWAYS, 1},
		{EMU_HCA_CAP_CQE_COMPRESSION_128B, p->max_session != 0},
		{EMU_HCA_CAP_CQE_COMPRESSION, p->max_session != 0},
		{EMU_HCA_CAP_CQE_COMPRESSION_MAX_NUM, p->max_session},
		{EMU_HCA_CAP_DMA_MMO_QP, p->log_max_dma_mmo != 0},
		{EMU_HCA_CAP_COMPRESS_MIN_BLOCK_SIZE, p->log_max_compress ? MIN_LOG_BLOCK : 0},
		{EMU_HCA_CAP_COMPRESS_MMO_QP, p->log_max_compress != 0},
		{EMU_HCA_CAP_DECOMPRESS_DEFLATE_V1, p->log_max_decompress && !lz4},
		{EMU_HCA_CAP_DECOMPRESS_DEFLATE_V2, lz4},
		{EMU_HCA_CAP_CRYPTO, p->log_max_crypto != 0},
		{EMU_HCA_CAP_LOG_MAX_DCI_STREAMS, EMU_LOG_DCI_STREAMS},
		{EMU_HCA_CAP_LOG_MAX_DCI_ERRORED, EMU_LOG_DCI_ERRORED},
		{EMU_HCA_CAP_LOG_MAX_DEK, p->log_max_crypto ? log_of(EMU_NUM_DEKS) : 0},
		{EMU_HCA_CAP_GENERAL_OBJ_TYPES, p->log_max_crypto ? 1ull << EMU_OBJ_TYPE_DEK : 0},
	};

	EMU_PRM_FILL(page, fields);
}

/* What only the driver of a function asks for. */
static void driver_caps(const struct emu_func *f, uint8_t *page)
{
	const struct emu_profile *p = f->card->profile;
	const struct emu_prm_value fields[] = {
		{EMU_HCA_CAP_LOG_MAX_SRQ_SZ, 15},
		{EMU_HCA_CAP_LOG_MAX_SRQ, log_of(EMU_NUM_SRQS)},
		{EMU_HCA_CAP_LOG_MAX_EQ_SZ, 22},
		{EMU_HCA_CAP_DUMP_FILL_MKEY, 1},
		{EMU_HCA_CAP_LOG_MAX_EQ, log_of(EMU_FW_EQS) - 1},
		{EMU_HCA_CAP_LOG_MAX_MRW_SZ, 63},
		{EMU_HCA_CAP_MAX_QP_MCG, EMU_GROUP_QPS},
		{EMU_HCA_CAP_LOG_MAX_MCG, log_of(EMU_NUM_GROUPS)},
		{EMU_HCA_CAP_CQ_OI, 1},
		{EMU_HCA_CAP_CQ_RESIZE, 1},
		{EMU_HCA_CAP_CQ_MODERATION, 1},
		{EMU_HCA_CAP_OUT_OF_SEQ_CNT, 1},
		{EMU_HCA_CAP_VPORT_COUNTERS, 1},
		{EMU_HCA_CAP_RETRANSMISSION_Q_COUNTERS, 1},
		{EMU_HCA_CAP_ENHANCED_ERROR_Q_COUNTERS, 1},
		{EMU_HCA_CAP_MAX_QP_CNT, UINT8_MAX},
		{EMU_HCA_CAP_PKEY_TABLE_SIZE,
		 log_of(p->max_pkeys) > 7 ? log_of(p->max_pkeys) - 7 : 0},
		{EMU_HCA_CAP_VPORT_GROUP_MANAGER, 1},
		{EMU_HCA_CAP_PCAM_REG, 1},
		{EMU_HCA_CAP_LOCAL_CA_ACK_DELAY, 16},
		{EMU_HCA_CAP_NIC_FLOW_TABLE, 1},
		{EMU_HCA_CAP_ETH_NET_OFFLOADS, 1},
		{EMU_HCA_CAP_MAX_TC, 1},
		{EMU_HCA_CAP_LOG_MAX_RQ, 12},
		{EMU_HCA_CAP_LOG_MAX_SQ, 12},
		{EMU_HCA_CAP_LOG_MAX_TIR, 12},
		{EMU_HCA_CAP_LOG_MAX_TIS, 12},
		{EMU_HCA_CAP_LOG_MAX_RQT, 12},
		{EMU_HCA_CAP_LOG_MAX_RQT_SIZE, 8},
		{EMU_HCA_CAP_LOG_MAX_TIS_PER_SQ, 0},
		{EMU_HCA_CAP_LOG_MAX_STRIDE_SZ_RQ, 14},
		{EMU_HCA_CAP_LOG_MIN_STRIDE_SZ_RQ, 4},
		{EMU_HCA_CAP_LOG_MAX_STRIDE_SZ_SQ, 6},
		{EMU_HCA_CAP_LOG_MIN_STRIDE_SZ_SQ, 6},
		{EMU_HCA_CAP_LOG_MAX_WQ_SZ, 15},
		{EMU_HCA_CAP_LOG_MAX_VLAN_LIST, 9},
		{EMU_HCA_CAP_LOG_MAX_CURRENT_MC_LIST, 7},
		{EMU_HCA_CAP_LOG_MAX_CURRENT_UC_LIST, 7},
		{EMU_HCA_CAP_LOG_MAX_L2_TABLE, 7},
		{EMU_HCA_CAP_IMAICL, 1},
		{EMU_HCA_CAP_PG,
		 emu_endpoint_find(f, NULL) == EMU_NO_ENDPOINT}, /* packets do not wait for pages */
		{EMU_HCA_CAP_RELAXED_ORDERING_WRITE_UMR, 1},
		{EMU_HCA_CAP_RELAXED_ORDERING_READ_UMR, 1},
		{EMU_HCA_CAP_ROCE, 1},
		{EMU_HCA_CAP_BLOCK_LB_MC, 1},
		{EMU_HCA_CAP_XRC, 1},
		{EMU_HCA_CAP_UD, 1},
		{EMU_HCA_CAP_UC, 1},
		{EMU_HCA_CAP_RC, 1},
		{EMU_HCA_CAP_LOG_PG_SZ, 12},
		{EMU_HCA_CAP_BF, 1},
		{EMU_HCA_CAP_DRIVER_VERSION, 1},
		{EMU_HCA_CAP_LOG_MAX_TRANSPORT_DOMAIN, 10},
		{EMU_HCA_CAP_LOG_MAX_PD, log_of(p->max_pd)},
		{EMU_HCA_CAP_LOG_MAX_XRCD, 16},
		{EMU_HCA_CAP_MAX_NUM_EQS, EMU_FW_EQS - 1},
		{EMU_HCA_CAP_LOG_MAX_UCTX, 8},
		{EMU_HCA_CAP_LOG_MAX_UMEM, 16},
		{EMU_HCA_CAP_DEVICE_FREQUENCY_MHZ, 1000},
		{EMU_HCA_CAP_DEVICE_FREQUENCY_KHZ, 1000000},
		{EMU_HCA_CAP_NUM_OF_UARS_PER_PAGE, 1},
	};

	EMU_PRM_FILL(page, fields);
}

static void ethernet_caps(const struct emu_func *f, uint8_t *page)
{
	static const struct emu_prm_value fields[] = {
		{EMU_ETH_CAP_CSUM_CAP, 1},
		{EMU_ETH_CAP_VLAN_CAP, 1},
		{EMU_ETH_CAP_SELF_LB_EN_MODIFIABLE, 1},
		{EMU_ETH_CAP_MAX_LSO_CAP, 16},
		{EMU_ETH_CAP_WQE_INLINE_MODE, 0},
		{EMU_ETH_CAP_RSS_IND_TBL_CAP, 8},
	};

	(void)f;
	EMU_PRM_FILL(page, fields);
}

static void flow_table_caps(const struct emu_func *f, uint8_t *page)
{
	static const struct emu_prm_value fields[] = {
		{EMU_FT_CAP_RX_FT_SUPPORT, 1},
		{EMU_FT_CAP_RX_FLOW_COUNTER, 1},
		{EMU_FT_CAP_RX_FLOW_MODIFY_EN, 1},
		{EMU_FT_CAP_RX_MODIFY_ROOT, 1},
		{EMU_FT_CAP_RX_IDENTIFIED_MISS_TABLE_MODE, 1},
		{EMU_FT_CAP_RX_FLOW_TABLE_MODIFY, 1},
		{EMU_FT_CAP_RX_LOG_MAX_FT_SIZE, 16},
		{EMU_FT_CAP_RX_MAX_FT_LEVEL, 64},
		{EMU_FT_CAP_RX_LOG_MAX_FT_NUM, 16},
		{EMU_FT_CAP_RX_LOG_MAX_DESTINATION, 6},
		{EMU_FT_CAP_RX_LOG_MAX_FLOW, 16},
	};

	(void)f;
	EMU_PRM_FILL(page, fields);
	memset(emu_prm_at(page, EMU_FT_CAP_RX_FIELD_SUPPORT), 0xff, 16);
	memset(emu_prm_at(page, EMU_FT_CAP_RX_FIELD_BITMASK_SUPPORT), 0xff, 16);
}

static void roce_caps(const struct emu_func *f, uint8_t *page)
{
	const struct emu_prm_value fields[] = {
		{EMU_ROCE_CAP_ROCE_APM, 0},
		{EMU_ROCE_CAP_L3_TYPE, EMU_ROCE_L3_IPV4_IPV6},
		{EMU_ROCE_CAP_ROCE_VERSION, EMU_ROCE_VERSIONS},
		{EMU_ROCE_CAP_R_ROCE_DEST_UDP_PORT, 4791},
		{EMU_ROCE_CAP_R_ROCE_MAX_SRC_UDP_PORT, 0xffff},
		{EMU_ROCE_CAP_R_ROCE_MIN_SRC_UDP_PORT, 0xc000},
		{EMU_ROCE_CAP_ADDRESS_TABLE_SIZE, f->card->profile->max_gids},
	};

	EMU_PRM_FILL(page, fields);
}

static void general_2_caps(const struct emu_func *f, uint8_t *page)
{
	const struct emu_prm_value fields[] = {
		{EMU_HCA_CAP_2_CROSS_VHCA_OBJECT_TO_OBJECT_SUPPORTED,
		 EMU_CROSS_VHCA_LOCAL_MKEY_TO_REMOTE_MKEY},
		{EMU_HCA_CAP_2_ALLOWED_OBJECT_FOR_OTHER_VHCA_ACCESS, EMU_ALLOWED_OBJECT_MKEY},
	};

	if (f->card->profile->crossing)
		EMU_PRM_FILL(page, fields);
}

static void atomic_caps(const struct emu_func *f, uint8_t *page)
{
	static const struct emu_prm_value fields[] = {
		{EMU_ATOMIC_CAPS_REQ_8B_ENDIANNESS_MODE, EMU_ATOMIC_HOST_ENDIANNESS},
		{EMU_ATOMIC_CAPS_SUPPORTED_REQ_8B_ENDIANNESS_MODE_1, 1},
		{EMU_ATOMIC_CAPS_ATOMIC_OPERATIONS,
		 EMU_ATOMIC_COMPARE_AND_SWAP | EMU_ATOMIC_FETCH_AND_ADD},
		{EMU_ATOMIC_CAPS_ATOMIC_SIZE_QP, 8},
		{EMU_ATOMIC_CAPS_ATOMIC_SIZE_DC, 8},
	};

	(void)f;
	EMU_PRM_FILL(page, fields);
}

/* Pages that every device of the family has; the card supports none of their features. */
static void no_caps(const struct emu_func *f, uint8_t *page)
{
	(void)f;
	(void)page;
}

/* Those of DC are for programs, whose pages are always there: no command resumes a target. */
static void odp_caps(const struct emu_func *f, uint8_t *page)
{
	static const struct emu_prm_value fields[] = {
		{EMU_ODP_CAP_RC, ODP_ALL},
		{EMU_ODP_CAP_UD, EMU_ODP_SEND | EMU_ODP_SRQ_RECEIVE},
		{EMU_ODP_CAP_XRC, ODP_ALL & ~EMU_ODP_RECEIVE}, /* no receive queue of its own */
		{EMU_ODP_CAP_DC, ODP_ALL & ~EMU_ODP_RECEIVE},
	};

	(void)f;
	EMU_PRM_FILL(page, fields);
}

static void crypto_caps(const struct emu_func *f, uint8_t *page)
{
	const struct emu_prm_value fields[] = {
		{EMU_CRYPTO_CAP_LOG_MAX_NUM_DEKS, log_of(EMU_NUM_DEKS)},
		{EMU_CRYPTO_CAP_CRYPTO_MMO_QP, 1},
		{EMU_CRYPTO_CAP_AES_GCM_256_ENCRYPT, 1},
		{EMU_CRYPTO_CAP_AES_GCM_128_ENCRYPT, 1},
		{EMU_CRYPTO_CAP_AES_GCM_256_DECRYPT, 1},
		{EMU_CRYPTO_CAP_AES_GCM_128_DECRYPT, 1},
		{EMU_CRYPTO_CAP_GCM_AUTH_TAG_128, 1},
		{EMU_CRYPTO_CAP_GCM_AUTH_TAG_96, 1},
		{EMU_CRYPTO_CAP_LOG_CRYPTO_MMO_MAX_SIZE, f->card->profile->log_max_crypto},
	};

	if (f->card->profile->log_max_crypto)
		EMU_PRM_FILL(page, fields);
}

static void dm_caps(const struct emu_func *f, uint8_t *page)
{
	const struct emu_card *card = f->card;
	const struct emu_prm_value fields[] = {
		{EMU_DEVICE_MEM_CAP_MEMIC, 1},
		{EMU_DEVICE_MEM_CAP_LOG_MIN_MEMIC_ALLOC_SIZE, 6},
		{EMU_DEVICE_MEM_CAP_LOG_MAX_MEMIC_ADDR_ALIGNMENT, EMU_LOG_MAX_DM_ALIGN},
		{EMU_DEVICE_MEM_CAP_MEMIC_BAR_SIZE, card->dm_npages * EMU_PAGE},
		{EMU_DEVICE_MEM_CAP_MAX_MEMIC_SIZE, card->profile->max_dm_size},
	};

	if (card->profile->max_dm_size)
		EMU_PRM_FILL(page, fields);
}

static void driver_dm_caps(const struct emu_func *f, uint8_t *page)
{
	if (f->card->profile->max_dm_size)
		emu_prm_set(page, EMU_DEVICE_MEM_CAP_MEMIC_BAR_START_ADDR, EMU_FW_DM);
}

static void driver_page(const struct emu_func *f, uint16_t cap, uint8_t *page)
{
	if (cap == EMU_CAP_GENERAL)
		driver_caps(f, page);
	if (cap == EMU_CAP_ETHERNET)
		ethernet_caps(f, page);
	if (cap == EMU_CAP_ODP)
		emu_prm_set(page, EMU_ODP_CAP_DC, 0);
	if (cap == EMU_CAP_DEVICE_MEMORY)
		driver_dm_caps(f, page);
	if (cap == EMU_CAP_FLOW_TABLE)
		flow_table_caps(f, page);
}

int emu_devx_query_hca_cap(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	static const struct {
		uint16_t cap;
		void (*fill)(const struct emu_func *f, uint8_t *page);
	} pages[] = {
		{EMU_CAP_GENERAL, general_caps},
		{EMU_CAP_ETHERNET, no_caps},
		{EMU_CAP_ODP, odp_caps},
		{EMU_CAP_ATOMIC, atomic_caps},
		{EMU_CAP_ROCE, roce_caps},
		{EMU_CAP_FLOW_TABLE, no_caps},
		{EMU_CAP_ESWITCH_FLOW_TABLE, no_caps},
		{EMU_CAP_ESWITCH, no_caps},
		{EMU_CAP_QOS, no_caps},
		{EMU_CAP_DEVICE_MEMORY, dm_caps},
		{EMU_CAP_CRYPTO, crypto_caps},
		{EMU_CAP_GENERAL_2, general_2_caps},
	};
	static const struct emu_prm_range reserved[] = EMU_PRM_RESERVED(EMU_QUERY_HCA_CAP_IN);

	(void)o;
	if (!EMU_PRM_IS_ZERO(m->in, reserved))
		return emu_refuse(m, EMU_CMD_SYN_CAP_RESERVED);
	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		if (pages[i].cap != m->op_mod >> 1)
			continue;
		pages[i].fill(c->file->func, m->out + EMU_QUERY_HCA_CAP_OUT_BYTES);
		if (c->file->driver)
			driver_page(c->file->func, pages[i].cap,
				    m->out + EMU_QUERY_HCA_CAP_OUT_BYTES);
		return 0;
	}
	return emu_refuse(m, EMU_CMD_SYN_CAP_PAGE);
}

static const struct emu_func *host_of(const struct emu_func *dpu)
{
	for (unsigned int i = 0; i < emu_topology.nfuncs; i++)
		if (emu_topology.func[i].card == dpu->card &&
		    emu_topology.func[i].kind == EMU_FUNC_HOST)
			return &emu_topology.func[i];
	return NULL;
}

/* Only the DPU manages a function: the host's, named by its address on the host's PCIe. */
int emu_devx_query_esw_functions(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	const struct emu_func *f = c->file->func;
	const struct emu_func *host = f->kind == EMU_FUNC_DPU ? host_of(f) : NULL;
	unsigned int domain, bus, device, function;

	(void)o;
	if (!host || sscanf(host->pci, "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
		return emu_refuse(m, EMU_CMD_SYN_ESW_FUNCTIONS);
	const struct emu_prm_value fields[] = {
		{EMU_HOST_PARAMS_PF_VHCA_ID_VALID, 1},	     {EMU_HOST_PARAMS_PCI_BUS, bus},
		{EMU_HOST_PARAMS_PF_VHCA_ID, host->vhca_id}, {EMU_HOST_PARAMS_PCI_DEVICE, device},
		{EMU_HOST_PARAMS_PCI_FUNCTION, function},
	};

	EMU_PRM_FILL(m->out + EMU_CMD_OUT_BYTES, fields);
	return 0;
}
