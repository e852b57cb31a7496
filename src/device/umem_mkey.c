/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Mkeys that lie directly on the pages of a umem. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "device/devx.h"
#include "device/mkc.h"
#include "device/prm.h"
#include "device/umem_priv.h"
#include "log/log.h"

static void fill_context(uint8_t *mkc, const struct dpumap_device *device,
			 const struct dpumap_umem_place *place, unsigned int rights,
			 uint64_t octwords)
{
	mkc_fill(mkc, &(struct mkc){
			      .mode = PRM_ACCESS_MODE_MTT,
			      .rights = rights,
			      .log_entity = DPUMAP_UMEM_LOG_PAGE,
			      .pdn = device->pdn,
			      .start = place->start,
			      .len = place->len,
			      .octwords = octwords,
		      });
}

static doca_error_t count_octwords(const struct dpumap_device *device,
				   const struct dpumap_umem_place *place, uint64_t *octwords)
{
	uint64_t in_page = place->start & (DPUMAP_UMEM_PAGE - 1);
	uint64_t pages = (in_page + place->len - 1) / DPUMAP_UMEM_PAGE + 1;
	uint64_t counted = (pages + PRM_MTT_PER_OCTWORD - 1) / PRM_MTT_PER_OCTWORD;

	if (counted > UINT32_MAX)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "%s: %" PRIu64 " bytes are more than one mkey can span",
				   dpumap_hca_name(device->hca), place->len);
	*octwords = counted;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_umem_lay_mkey(const struct dpumap_device *device,
				  const struct dpumap_umem_place *place, unsigned int rights,
				  struct dpumap_view *view)
{
	uint8_t in[PRM_CREATE_MKEY_IN_LEN] = {0};
	uint8_t out[PRM_CREATE_MKEY_OUT_LEN] = {0};
	struct dpumap_devx_cmd cmd = {
		.what = "CREATE_MKEY over a umem (deregistered?)",
		.in = in,
		.in_len = sizeof(in),
		.out = out,
		.out_len = sizeof(out),
		.refusal = DOCA_ERROR_NOT_FOUND,
	};
	uint64_t octwords = 0;
	doca_error_t result;

	result = count_octwords(device, place, &octwords);
	if (result != DOCA_SUCCESS)
		return result;
	prm_set(in, PRM_IN_OPCODE, PRM_OP_CREATE_MKEY);
	prm_set(in, PRM_CREATE_MKEY_UMEM_VALID, 1);
	prm_set(in, PRM_CREATE_MKEY_UMEM_ID, place->umem_id);
	prm_set(in, PRM_CREATE_MKEY_UMEM_OFFSET, place->offset);
	prm_set(in, PRM_CREATE_MKEY_ENTRIES, octwords);
	fill_context(in + PRM_CREATE_MKEY_CONTEXT, device, place, rights, octwords);
	result = dpumap_devx_create(device->context, &cmd, &view->obj);
	if (result == DOCA_SUCCESS)
		view->mkey = (uint32_t)prm_get(out, PRM_CREATE_MKEY_INDEX) << 8;
	return result;
}

doca_error_t dpumap_umem_hold(struct dpumap_pages *pages)
{
	struct dpumap_umem_place all = {
		.umem_id = pages->umem_id,
		.start = pages->base,
		.len = pages->size,
	};

	if (pages->hold.obj)
		return DOCA_SUCCESS;
	return dpumap_umem_lay_mkey(pages->device, &all, 0, &pages->hold);
}

doca_error_t dpumap_umem_release(struct dpumap_pages *pages)
{
	return dpumap_view_destroy(pages->device, &pages->hold);
}

/* Page by page: where in a page a byte is must be the same in both spaces. */
static uint64_t choose_iova(const struct dpumap_pages *pages, uint64_t offset, uint64_t addr)
{
	uint64_t at = pages->source.start + offset;

	return (addr ^ at) & (DPUMAP_UMEM_PAGE - 1) ? at : addr;
}

doca_error_t dpumap_region_register_pages(struct dpumap_pages *pages, uint64_t offset,
					  struct dpumap_range range, uint32_t access,
					  struct dpumap_region **region)
{
	struct dpumap_region *created;
	unsigned int rights = dpumap_rights_of_all(pages->device, access);
	unsigned int local = dpumap_rights_of_own(pages->device, access);
	uint64_t iova = choose_iova(pages, offset, range.addr);
	uint64_t before = iova & (DPUMAP_UMEM_PAGE - 1);
	struct dpumap_umem_place place = {
		.umem_id = pages->umem_id,
		.offset = pages->source.start + offset - before - pages->base,
		.start = iova - before,
		.len = before + range.len,
	};
	doca_error_t result;

	created = dpumap_region_create(pages->device, range);
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	result = dpumap_umem_lay_mkey(pages->device, &place, rights, &created->direct);
	if (result != DOCA_SUCCESS)
		goto free_region;
	if ((rights ^ local) & IBV_ACCESS_LOCAL_WRITE) {
		result = dpumap_umem_lay_mkey(pages->device, &place, local, &created->direct_local);
		if (result != DOCA_SUCCESS)
			goto destroy_mkey;
	}
	created->rkey = created->direct.mkey;
	created->lkey = created->direct_local.obj ? created->direct_local.mkey : created->rkey;
	created->local = local & IBV_ACCESS_LOCAL_WRITE;
	created->remote = rights & DPUMAP_REMOTE_RIGHTS;
	created->iova = iova;
	created->wide = before;
	if (!before && iova == range.addr)
		created->pages = place;
	*region = created;
	return DOCA_SUCCESS;

destroy_mkey:
	dpumap_view_destroy(pages->device, &created->direct);
free_region:
	free(created);
	return result == DOCA_ERROR_NO_MEMORY ? DOCA_ERROR_NO_MEMORY : DOCA_ERROR_DRIVER;
}
