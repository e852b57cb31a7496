/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/caps.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "device/clock_register.h"
#include "device/device_priv.h"
#include "device/devx.h"
#include "device/hca_priv.h"
#include "device/prm.h"
#include "log/log.h"

struct cap_page {
	uint8_t out[PRM_QUERY_HCA_CAP_OUT_LEN];
};

static doca_error_t query_page(struct ibv_context *context, uint32_t op_mod, struct cap_page *page)
{
	uint8_t in[PRM_QUERY_HCA_CAP_IN_LEN] = {0};
	struct dpumap_devx_cmd cmd = {
		.what = "QUERY_HCA_CAP",
		.in = in,
		.in_len = sizeof(in),
		.out = page->out,
		.out_len = sizeof(page->out),
		.refusal = DOCA_ERROR_DRIVER,
	};

	memset(page, 0, sizeof(*page));
	prm_set(in, PRM_IN_OPCODE, PRM_OP_QUERY_HCA_CAP);
	prm_set(in, PRM_IN_OP_MOD, op_mod);
	return dpumap_devx_command(context, &cmd);
}

static doca_error_t query_devmem(struct ibv_context *context, struct dpumap_caps *caps)
{
	struct cap_page page = {0};
	const uint8_t *cap = page.out + PRM_QUERY_HCA_CAP_PAGE;
	uint64_t log_min;

	if (query_page(context, PRM_CAP_DEVICE_MEMORY_CURRENT, &page) != DOCA_SUCCESS)
		return DOCA_ERROR_DRIVER;
	log_min = prm_get(cap, PRM_CAP_DM_LOG_MIN_ALLOC_SIZE);
	if (log_min > DPUMAP_DM_LOG_LINE)
		caps->dm_granularity = UINT64_C(1) << log_min;
	caps->max_dm_log_align += (uint32_t)prm_get(cap, PRM_CAP_DM_LOG_MAX_ALIGNMENT);
	return DOCA_SUCCESS;
}

/* Without a DMA engine, rdma-core creates no queue pair for another engine either. */
static void read_engines(const uint8_t *cap, struct dpumap_caps *caps)
{
	const bool v1 = prm_get(cap, PRM_CAP_DECOMPRESS_DEFLATE_V1);
	const bool v2 = prm_get(cap, PRM_CAP_DECOMPRESS_DEFLATE_V2);

	if (!caps->max_memcpy_len)
		return;
	if (prm_get(cap, PRM_CAP_COMPRESS_MMO_QP)) {
		caps->engine |= DPUMAP_ENGINE_DEFLATE;
		caps->max_compress_len = UINT64_C(1) << prm_get(cap, PRM_CAP_LOG_COMPRESS_MMO_SIZE);
	}
	if (v1 || v2)
		caps->engine |= DPUMAP_ENGINE_INFLATE;
	if (prm_get(cap, PRM_CAP_DECOMPRESS_LZ4_DATA_ONLY_V2))
		caps->engine |= DPUMAP_ENGINE_LZ4_BLOCK | DPUMAP_ENGINE_NEWER;
	if (prm_get(cap, PRM_CAP_DECOMPRESS_LZ4_NO_CHECKSUM_V2) &&
	    prm_get(cap, PRM_CAP_DECOMPRESS_LZ4_CHECKSUM_V2))
		caps->engine |= DPUMAP_ENGINE_LZ4_STREAM | DPUMAP_ENGINE_NEWER;
	if (v2)
		caps->engine |= DPUMAP_ENGINE_NEWER;
	if (caps->engine & ~(uint32_t)DPUMAP_ENGINE_DEFLATE)
		caps->max_decompress_len = UINT64_C(1)
					   << prm_get(cap, PRM_CAP_LOG_DECOMPRESS_MMO_SIZE);
}

/* DPDK's driver asks for these, too. */
static bool has_crypto_page(const uint8_t *cap, const struct dpumap_caps *caps)
{
	return caps->max_memcpy_len && prm_get(cap, PRM_CAP_CRYPTO) &&
	       prm_get(cap, PRM_CAP_GENERAL_OBJ_TYPES) >> PRM_OBJ_TYPE_DEK & 1;
}

static doca_error_t query_crypto(struct ibv_context *context, struct dpumap_caps *caps)
{
	struct cap_page page = {0};
	const uint8_t *cap = page.out + PRM_QUERY_HCA_CAP_PAGE;

	if (query_page(context, PRM_CAP_CRYPTO_CURRENT, &page) != DOCA_SUCCESS)
		return DOCA_ERROR_DRIVER;
	if (!prm_get(cap, PRM_CAP_CRYPTO_MMO_QP))
		return DOCA_SUCCESS;
	caps->max_crypto_len = UINT64_C(1) << prm_get(cap, PRM_CAP_LOG_CRYPTO_MMO_MAX_SIZE);
	caps->crypto = (prm_get(cap, PRM_CAP_AES_GCM_128_ENCRYPT) ? DPUMAP_CRYPTO_ENCRYPT_128 : 0) |
		       (prm_get(cap, PRM_CAP_AES_GCM_256_ENCRYPT) ? DPUMAP_CRYPTO_ENCRYPT_256 : 0) |
		       (prm_get(cap, PRM_CAP_AES_GCM_128_DECRYPT) ? DPUMAP_CRYPTO_DECRYPT_128 : 0) |
		       (prm_get(cap, PRM_CAP_AES_GCM_256_DECRYPT) ? DPUMAP_CRYPTO_DECRYPT_256 : 0) |
		       (prm_get(cap, PRM_CAP_GCM_AUTH_TAG_96) ? DPUMAP_CRYPTO_TAG_96 : 0) |
		       (prm_get(cap, PRM_CAP_GCM_AUTH_TAG_128) ? DPUMAP_CRYPTO_TAG_128 : 0);
	return DOCA_SUCCESS;
}

static doca_error_t query_firmware(struct ibv_context *context, struct dpumap_caps *caps)
{
	struct cap_page page = {0};
	const uint8_t *cap = page.out + PRM_QUERY_HCA_CAP_PAGE;
	doca_error_t result;
	bool has_ksm;

	result = query_page(context, PRM_CAP_GENERAL_CURRENT, &page);
	if (result != DOCA_SUCCESS)
		return DOCA_ERROR_DRIVER;
	caps->vhca_id = (uint16_t)prm_get(cap, PRM_CAP_VHCA_ID);
	caps->has_vhca_id = true;
	read_engines(cap, caps);
	has_ksm = prm_get(cap, PRM_CAP_FIXED_BUFFER_SIZE);
	if (has_crypto_page(cap, caps) && query_crypto(context, caps) != DOCA_SUCCESS)
		return DOCA_ERROR_DRIVER;
	if (!prm_get(cap, PRM_CAP_HCA_CAP_2))
		return DOCA_SUCCESS;

	result = query_page(context, PRM_CAP_GENERAL_2_CURRENT, &page);
	if (result != DOCA_SUCCESS)
		return DOCA_ERROR_DRIVER;
	caps->can_export = has_ksm && (prm_get(cap, PRM_CAP2_ALLOWED_OBJECT_FOR_OTHER_VHCA) &
				       PRM_ALLOWED_OBJECT_MKEY);
	caps->can_import = prm_get(cap, PRM_CAP2_CROSS_VHCA_OBJECT_TO_OBJECT) &
			   PRM_CROSS_VHCA_LOCAL_MKEY_TO_REMOTE;
	return DOCA_SUCCESS;
}

static uint64_t query_max_memcpy(struct ibv_context *context)
{
	struct mlx5dv_context dv = {.comp_mask = MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH};

	if (mlx5dv_query_device(context, &dv))
		return 0;
	return dv.comp_mask & MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH ? dv.max_wr_memcpy_length : 0;
}

/* Each work request needs room for its completion. */
static uint32_t max_depth(const struct ibv_device_attr *attr)
{
	return (uint32_t)(attr->max_cqe < attr->max_qp_wr ? attr->max_cqe : attr->max_qp_wr);
}

/* Without a port, its capabilities stay 0. */
static void query_port(struct ibv_context *context, struct dpumap_caps *caps)
{
	struct ibv_port_attr attr = {0};

	if (ibv_query_port(context, DPUMAP_DEVICE_PORT, &attr))
		return;
	caps->max_message_len = attr.max_msg_sz;
	caps->num_gids = (uint32_t)attr.gid_tbl_len;
	caps->log_max_mtu = (uint8_t)(attr.max_mtu + DPUMAP_LOG_MTU_BASE);
	caps->is_ethernet = attr.link_layer == IBV_LINK_LAYER_ETHERNET;
}

/* Completions have time stamps of the clock also where it has no register. */
static bool can_read_clock(struct ibv_context *context, const struct ibv_device_attr_ex *attr,
			   const struct dpumap_caps *caps)
{
	uint64_t ticks;

	if (attr->completion_timestamp_mask && caps->max_message_len)
		return true;
	return dpumap_clock_register_read(context, &ticks) == DOCA_SUCCESS;
}

static uint32_t positive(int limit)
{
	return limit > 0 ? (uint32_t)limit : 0;
}

doca_error_t dpumap_caps_query(struct ibv_context *context, bool devx, struct dpumap_caps *caps,
			       struct ibv_device_attr *attr)
{
	struct ibv_device_attr_ex ex = {0};
	struct dpumap_caps found = {0};
	doca_error_t result;
	int err;

	err = ibv_query_device_ex(context, NULL, &ex);
	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: querying the device failed: %s",
				   ibv_get_device_name(context->device), strerror(err));
	found.card_guid = be64toh(ex.orig_attr.sys_image_guid);
	found.max_dm_len = ex.max_dm_size;
	if (found.max_dm_len) { /* the minimum of all devices */
		found.dm_granularity = UINT64_C(1) << DPUMAP_DM_LOG_LINE;
		found.max_dm_log_align = DPUMAP_DM_LOG_LINE;
	}
	found.max_queue_depth = max_depth(&ex.orig_attr);
	found.max_send_pieces = positive(ex.orig_attr.max_sge);
	found.max_recv_depth = positive(ex.orig_attr.max_srq_wr);
	found.max_recv_pieces = positive(ex.orig_attr.max_srq_sge);
	found.has_atomics = ex.orig_attr.atomic_cap != IBV_ATOMIC_NONE;
	query_port(context, &found);
	if (ex.hca_core_clock && can_read_clock(context, &ex, &found))
		found.clock_khz = ex.hca_core_clock;
	found.is_mlx5 = dpumap_ibdev_is_mlx5(context->device);
	if (found.is_mlx5) {
		found.max_memcpy_len = query_max_memcpy(context);
		found.max_copy_len =
			found.max_memcpy_len ? found.max_memcpy_len : found.max_message_len;
	}
	if (devx && found.is_mlx5) {
		result = query_firmware(context, &found);
		if (result == DOCA_SUCCESS && found.max_dm_len)
			result = query_devmem(context, &found);
		if (result != DOCA_SUCCESS)
			return result;
	}
	*caps = found;
	*attr = ex.orig_attr;
	return DOCA_SUCCESS;
}
