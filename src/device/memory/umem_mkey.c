/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/memory/umem_mkey.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "device/device_priv.h"
#include "device/devx.h"
#include "device/memory/mkc.h"
#include "device/memory/umem_priv.h"
#include "device/prm.h"
#include "log/log.h"

static void fill_context(uint8_t *mkc, const struct dpumap_device *device,
			 const struct dpumap_umem_part *part, unsigned int rights,
			 uint64_t octwords)
{
	mkc_fill(mkc, &(struct mkc){
			      .mode = PRM_ACCESS_MODE_MTT,
			      .rights = rights,
			      .log_entity = DPUMAP_UMEM_LOG_PAGE,
			      .pdn = device->pdn,
			      .start = part->start,
			      .len = part->len,
			      .octwords = octwords,
		      });
}

static doca_error_t count_octwords(const struct dpumap_device *device,
				   const struct dpumap_umem_part *part, uint64_t *octwords)
{
	uint64_t in_page = part->start & (DPUMAP_UMEM_PAGE - 1);
	uint64_t pages = (in_page + part->len - 1) / DPUMAP_UMEM_PAGE + 1;
	uint64_t counted = (pages + PRM_MTT_PER_OCTWORD - 1) / PRM_MTT_PER_OCTWORD;

	if (counted > UINT32_MAX)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "%s: %" PRIu64 " bytes are too many for one mkey",
				   dpumap_hca_name(device->hca), part->len);
	*octwords = counted;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_umem_mkey_create(const struct dpumap_device *device,
				     const struct dpumap_umem_part *part, unsigned int rights,
				     struct dpumap_mkey *mkey)
{
	uint8_t in[PRM_CREATE_MKEY_IN_LEN] = {0};
	uint8_t out[PRM_CREATE_MKEY_OUT_LEN] = {0};
	struct dpumap_devx_cmd cmd = {
		.what = "CREATE_MKEY on a umem",
		.hint = " (is it still registered?)",
		.in = in,
		.in_len = sizeof(in),
		.out = out,
		.out_len = sizeof(out),
		.refusal = DOCA_ERROR_NOT_FOUND,
	};
	uint64_t octwords = 0;
	doca_error_t result;

	result = count_octwords(device, part, &octwords);
	if (result != DOCA_SUCCESS)
		return result;
	prm_set(in, PRM_IN_OPCODE, PRM_OP_CREATE_MKEY);
	prm_set(in, PRM_CREATE_MKEY_UMEM_VALID, 1);
	prm_set(in, PRM_CREATE_MKEY_UMEM_ID, part->umem_id);
	prm_set(in, PRM_CREATE_MKEY_UMEM_OFFSET, part->offset);
	prm_set(in, PRM_CREATE_MKEY_ENTRIES, octwords);
	fill_context(in + PRM_CREATE_MKEY_CONTEXT, device, part, rights, octwords);
	result = dpumap_devx_create(device->context, &cmd, &mkey->obj);
	if (result == DOCA_SUCCESS)
		mkey->key = (uint32_t)prm_get(out, PRM_CREATE_MKEY_INDEX) << 8;
	return result;
}

doca_error_t dpumap_umem_create_reference(struct dpumap_devx_umem *umem)
{
	struct dpumap_umem_part all = {
		.umem_id = umem->umem_id,
		.start = umem->base,
		.len = umem->size,
	};

	if (umem->reference.obj)
		return DOCA_SUCCESS;
	return dpumap_umem_mkey_create(umem->device, &all, 0, &umem->reference);
}

doca_error_t dpumap_umem_destroy_reference(struct dpumap_devx_umem *umem)
{
	return dpumap_mkey_destroy(umem->device, &umem->reference);
}
