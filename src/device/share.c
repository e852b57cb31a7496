/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory across the functions of one card. The exporter lays an indirect mkey of its own (KSM) over
 * the registration and allows other functions to use it with an access key; the importer creates an
 * alias object that names function, mkey and key. An mkey made for the purpose has an address space
 * and rights of its own and can be revoked by destroying it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "device/devx.h"
#include "device/prm.h"
#include "device/region_priv.h"
#include "log/log.h"

#define KSM_LOG_ENTITY 31
#define KSM_ENTITY     (UINT64_C(1) << KSM_LOG_ENTITY)
#define KSM_SLACK      UINT64_C(4096) /* CREATE_MKEY wants entries for a page more than the range */
#define DEVX_MAX_IN    65535u	      /* length of an ioctl attribute */
#define KSM_MAX	       ((DEVX_MAX_IN - PRM_CREATE_MKEY_IN_LEN) / PRM_KSM_LEN)

struct ksm_in {
	uint8_t *buf;
	size_t len;
};

static uint64_t count_entries(uint64_t len)
{
	return (len - 1) / KSM_ENTITY + ((len - 1) % KSM_ENTITY + KSM_SLACK) / KSM_ENTITY + 1;
}

static void fill_context(uint8_t *mkc, const struct dpumap_region *region, bool writable,
			 uint64_t entries)
{
	prm_set(mkc, PRM_MKC_ACCESS_MODE_1_0, PRM_ACCESS_MODE_KSM);
	prm_set(mkc, PRM_MKC_LR, 1);
	prm_set(mkc, PRM_MKC_RR, 1);
	prm_set(mkc, PRM_MKC_LW, writable);
	prm_set(mkc, PRM_MKC_RW, writable);
	prm_set(mkc, PRM_MKC_QPN, PRM_QPN_ANY);
	prm_set(mkc, PRM_MKC_PD, region->device->pdn);
	prm_set(mkc, PRM_MKC_START_ADDR, region->range.addr);
	prm_set(mkc, PRM_MKC_LEN, region->range.len);
	prm_set(mkc, PRM_MKC_TRANSLATION_OCTWORDS, entries);
	prm_set(mkc, PRM_MKC_LOG_ENTITY_SIZE, KSM_LOG_ENTITY);
}

static void fill_entries(uint8_t *entry, const struct dpumap_region *region, uint64_t entries)
{
	for (uint64_t i = 0; i < entries; i++, entry += PRM_KSM_LEN) {
		prm_set(entry, PRM_KSM_BYTE_COUNT, KSM_ENTITY);
		prm_set(entry, PRM_KSM_MKEY, region->mr->lkey);
		prm_set(entry, PRM_KSM_ADDRESS, region->iova + i * KSM_ENTITY);
	}
}

static doca_error_t build_ksm(const struct dpumap_region *region, bool writable, struct ksm_in *in)
{
	uint64_t entries = count_entries(region->range.len);

	if (entries > KSM_MAX)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "%s: %" PRIu64 " bytes are more than one mkey can export",
				   dpumap_hca_name(region->device->hca), region->range.len);
	in->len = PRM_CREATE_MKEY_IN_LEN + entries * PRM_KSM_LEN;
	in->buf = calloc(1, in->len);
	if (!in->buf)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for %" PRIu64 " mkey entries",
				   entries);
	prm_set(in->buf, PRM_IN_OPCODE, PRM_OP_CREATE_MKEY);
	prm_set(in->buf, PRM_CREATE_MKEY_ENTRIES, entries);
	fill_context(in->buf + PRM_CREATE_MKEY_CONTEXT, region, writable, entries);
	fill_entries(in->buf + PRM_CREATE_MKEY_IN_LEN, region, entries);
	return DOCA_SUCCESS;
}

static doca_error_t create_ksm(const struct dpumap_region *region, bool writable,
			       struct mlx5dv_devx_obj **obj, uint32_t *mkey)
{
	uint8_t out[PRM_CREATE_MKEY_OUT_LEN] = {0};
	struct dpumap_devx_cmd cmd = {
		.what = "CREATE_MKEY",
		.out = out,
		.out_len = sizeof(out),
		.refusal = DOCA_ERROR_DRIVER,
	};
	doca_error_t result;
	struct ksm_in in = {0};

	result = build_ksm(region, writable, &in);
	if (result != DOCA_SUCCESS)
		return result;
	cmd.in = in.buf;
	cmd.in_len = in.len;
	result = dpumap_devx_create(region->device->context, &cmd, obj);
	free(in.buf);
	if (result == DOCA_SUCCESS)
		*mkey = (uint32_t)prm_get(out, PRM_CREATE_MKEY_INDEX) << 8;
	return result;
}

static doca_error_t draw_key(uint8_t *key)
{
	ssize_t got;

	do {
		got = getrandom(key, DPUMAP_ACCESS_KEY_SIZE, 0);
	} while (got < 0 && errno == EINTR);
	if (got != DPUMAP_ACCESS_KEY_SIZE)
		return dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM, "no random access key: %s",
				   strerror(errno));
	return DOCA_SUCCESS;
}

static doca_error_t allow(const struct dpumap_region *region, uint32_t mkey, const uint8_t *key)
{
	uint8_t in[PRM_ALLOW_IN_LEN] = {0};
	uint8_t out[PRM_ALLOW_OUT_LEN] = {0};
	struct dpumap_devx_cmd cmd = {
		.what = "ALLOW_OTHER_VHCA_ACCESS",
		.in = in,
		.in_len = sizeof(in),
		.out = out,
		.out_len = sizeof(out),
		.refusal = DOCA_ERROR_DRIVER,
	};
	doca_error_t result;

	prm_set(in, PRM_IN_OPCODE, PRM_OP_ALLOW_OTHER_VHCA_ACCESS);
	prm_set(in, PRM_ALLOW_OBJECT_TYPE, PRM_OBJ_TYPE_MKEY);
	prm_set(in, PRM_ALLOW_OBJECT_ID, mkey >> 8);
	memcpy(in + PRM_ALLOW_ACCESS_KEY, key, DPUMAP_ACCESS_KEY_SIZE);
	result = dpumap_devx_command(region->device->context, &cmd);
	explicit_bzero(in, sizeof(in));
	return result;
}

doca_error_t dpumap_region_share(struct dpumap_region *region, bool writable,
				 struct dpumap_share *share)
{
	struct mlx5dv_devx_obj *obj;
	doca_error_t result;
	uint32_t mkey;

	result = create_ksm(region, writable, &obj, &mkey);
	if (result != DOCA_SUCCESS)
		return result;
	result = draw_key(share->access_key);
	if (result != DOCA_SUCCESS)
		goto destroy_ksm;
	result = allow(region, mkey, share->access_key);
	if (result != DOCA_SUCCESS)
		goto wipe_key;
	region->shared = obj;
	share->mkey = mkey;
	share->vhca_id = region->device->caps.vhca_id;
	return DOCA_SUCCESS;

wipe_key:
	explicit_bzero(share->access_key, sizeof(share->access_key));
destroy_ksm:
	mlx5dv_devx_obj_destroy(obj);
	return result;
}

static void build_alias(uint8_t *in, const struct dpumap_device *device,
			const struct dpumap_share *share)
{
	uint8_t *alias = in + PRM_ALIAS_CONTEXT;

	prm_set(in, PRM_IN_OPCODE, PRM_OP_CREATE_GENERAL_OBJECT);
	prm_set(in, PRM_OBJECT_TYPE, PRM_OBJ_TYPE_MKEY);
	prm_set(in, PRM_OBJECT_IS_ALIAS, 1);
	prm_set(alias, PRM_ALIAS_VHCA_ID, share->vhca_id);
	prm_set(alias, PRM_ALIAS_OBJECT_ID, share->mkey >> 8);
	prm_set(alias, PRM_ALIAS_METADATA_1, device->pdn);
	memcpy(alias + PRM_ALIAS_ACCESS_KEY, share->access_key, DPUMAP_ACCESS_KEY_SIZE);
}

static doca_error_t refuse_alias(const struct dpumap_device *device,
				 const struct dpumap_share *share, uint32_t status)
{
	return dpumap_fail(
		DOCA_ERROR_NOT_PERMITTED,
		"%s: mkey 0x%x of function 0x%x refused (alias status %u): the access key "
		"is wrong or the export has ended",
		dpumap_hca_name(device->hca), share->mkey, share->vhca_id, status);
}

doca_error_t dpumap_alias_create(struct dpumap_device *device, const struct dpumap_share *share,
				 struct mlx5dv_devx_obj **alias, uint32_t *mkey)
{
	uint8_t in[PRM_ALIAS_LEN] = {0};
	uint8_t out[PRM_ALIAS_LEN] = {0};
	struct dpumap_devx_cmd cmd = {
		.what = "importing an mkey of another function (wrong key, or the export ended?)",
		.in = in,
		.in_len = sizeof(in),
		.out = out,
		.out_len = sizeof(out),
		.refusal = DOCA_ERROR_NOT_PERMITTED,
	};
	struct mlx5dv_devx_obj *obj;
	doca_error_t result;
	uint32_t status;

	build_alias(in, device, share);
	result = dpumap_devx_create(device->context, &cmd, &obj);
	explicit_bzero(in, sizeof(in));
	if (result == DOCA_SUCCESS) {
		status = (uint32_t)prm_get(out + PRM_ALIAS_CONTEXT, PRM_ALIAS_STATUS);
		if (status) {
			mlx5dv_devx_obj_destroy(obj);
			result = refuse_alias(device, share, status);
		}
	}
	if (result == DOCA_SUCCESS) {
		*alias = obj;
		*mkey = (uint32_t)prm_get(out, PRM_OBJECT_ID) << 8;
	}
	explicit_bzero(out, sizeof(out));
	return result;
}
