/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/memory/mkey.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "device/device_priv.h"
#include "device/devx.h"
#include "device/memory/mkc.h"
#include "device/memory/region_priv.h"
#include "device/prm.h"
#include "log/log.h"

#define KSM_LOG_ENTITY 31
#define KSM_ENTITY     (UINT64_C(1) << KSM_LOG_ENTITY)
#define KSM_SLACK      UINT64_C(4096) /* CREATE_MKEY needs entries for one page more than the range */
#define DEVX_MAX_IN    65535u	      /* length of an ioctl attribute */
#define KSM_MAX	       ((DEVX_MAX_IN - PRM_CREATE_MKEY_IN_LEN) / PRM_KSM_LEN)

/*
 * If atomics are allowed, the firmware requires the mkey to begin and end at multiples of the
 * largest atomic operation (UCX: uct_ib_mlx5_devx_reg_ksm_data_contig()), a page at most. The base
 * mkey refuses accesses beyond the range.
 */
#define KSM_ATOMIC_ALIGN UINT64_C(4096)

struct ksm_in {
	uint8_t *buf;
	size_t len;
};

static uint64_t count_entries(uint64_t len)
{
	return (len - 1) / KSM_ENTITY + ((len - 1) % KSM_ENTITY + KSM_SLACK) / KSM_ENTITY + 1;
}

/* The bytes of the mkey: the range, aligned if necessary. */
struct ksm_span {
	uint64_t addr, iova, len;
};

static struct ksm_span span(const struct dpumap_region *region, unsigned int rights)
{
	uint64_t before = region->range.addr % KSM_ATOMIC_ALIGN;
	struct ksm_span s = {region->range.addr, region->iova, region->range.len};

	if (!(rights & IBV_ACCESS_REMOTE_ATOMIC) || before > region->iova)
		return s;
	s.addr -= before;
	s.iova -= before;
	s.len += before;
	s.len += -s.len % KSM_ATOMIC_ALIGN;
	return s;
}

static void fill_entries(uint8_t *entry, uint64_t iova, uint32_t base, uint64_t entries)
{
	for (uint64_t i = 0; i < entries; i++, entry += PRM_KSM_LEN) {
		prm_set(entry, PRM_KSM_BYTE_COUNT, KSM_ENTITY);
		prm_set(entry, PRM_KSM_MKEY, base);
		prm_set(entry, PRM_KSM_ADDRESS, iova + i * KSM_ENTITY);
	}
}

static doca_error_t build_ksm(const struct dpumap_region *region, uint32_t base,
			      unsigned int rights, struct ksm_in *in)
{
	struct ksm_span s = span(region, rights);
	struct mkc mkc = {
		.mode = PRM_ACCESS_MODE_KSM,
		.rights = rights,
		.log_entity = KSM_LOG_ENTITY,
		.pdn = region->device->pdn,
		.start = s.addr,
		.len = s.len,
		.octwords = count_entries(s.len),
	};

	if (mkc.octwords > KSM_MAX)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "%s: %" PRIu64 " bytes are too many for one mkey",
				   dpumap_hca_name(region->device->hca), region->range.len);
	in->len = PRM_CREATE_MKEY_IN_LEN + mkc.octwords * PRM_KSM_LEN;
	in->buf = calloc(1, in->len);
	if (!in->buf)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for %" PRIu64 " mkey entries",
				   mkc.octwords);
	prm_set(in->buf, PRM_IN_OPCODE, PRM_OP_CREATE_MKEY);
	prm_set(in->buf, PRM_CREATE_MKEY_ENTRIES, mkc.octwords);
	mkc_fill(in->buf + PRM_CREATE_MKEY_CONTEXT, &mkc);
	fill_entries(in->buf + PRM_CREATE_MKEY_IN_LEN, s.iova, base, mkc.octwords);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_ksm_create(const struct dpumap_region *region, uint32_t base,
			       unsigned int rights, struct dpumap_mkey *mkey)
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

	result = build_ksm(region, base, rights, &in);
	if (result != DOCA_SUCCESS)
		return result;
	cmd.in = in.buf;
	cmd.in_len = in.len;
	result = dpumap_devx_create(region->device->context, &cmd, &mkey->obj);
	free(in.buf);
	if (result == DOCA_SUCCESS)
		mkey->key = (uint32_t)prm_get(out, PRM_CREATE_MKEY_INDEX) << 8;
	return result;
}
