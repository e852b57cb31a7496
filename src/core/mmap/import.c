/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/mmap/mmap.h"

#include <inttypes.h>
#include <string.h>

#include <dpumap/desc.h>

#include "device/device.h"
#include "device/memory/export.h"
#include "log/log.h"

static doca_error_t decode(const void *export_desc, size_t len, struct dpumap_desc *desc)
{
	dpumap_desc_status_t status = dpumap_desc_decode(export_desc, len, desc);

	if (status != DPUMAP_DESC_OK)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "import: descriptor of %zu bytes refused: %s", len,
				   dpumap_desc_status_descr(status));
	if (desc->kind == DPUMAP_DESC_KIND_UMEM)
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE,
			"import: the descriptor is for a umem; use dpumap_umem_import()");
	if (desc->addr > UINTPTR_MAX || desc->len > UINTPTR_MAX - desc->addr)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "import: %" PRIu64 " bytes at 0x%" PRIx64
				   " are not a valid range on this machine",
				   desc->len, desc->addr);
	return DOCA_SUCCESS;
}

/* An RDMA peer may be on any card; whether it is reachable shows at the first use. */
static doca_error_t check_reachable(const struct doca_dev *dev, const struct dpumap_desc *desc)
{
	uint64_t guid = dpumap_device_caps(dev->device)->card_guid;

	if (dpumap_device_is_limited(dev->device))
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "import: not supported on %s, which was opened from a user's "
				   "protection domain",
				   dpumap_hca_name(dev->info.hca));
	if (desc->kind == DPUMAP_DESC_KIND_RDMA)
		return DOCA_SUCCESS;
	if (!dpumap_device_caps(dev->device)->can_import)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "%s cannot import memory: dpumap doctor shows why",
				   dpumap_hca_name(dev->info.hca));

	if (desc->device_guid != guid)
		return dpumap_fail(
			DOCA_ERROR_NOT_PERMITTED,
			"import: the memory is on the card with system image GUID %016" PRIx64
			", %s is on %016" PRIx64,
			desc->device_guid, dpumap_hca_name(dev->info.hca), guid);
	return DOCA_SUCCESS;
}

static doca_error_t import_region(struct doca_dev *dev, const struct dpumap_desc *desc,
				  struct dpumap_region **region)
{
	struct dpumap_range range = {.addr = desc->addr, .len = desc->len};
	struct dpumap_pci_export exported = {.mkey = desc->mkey, .vhca_id = desc->vhca_id};
	doca_error_t result;

	memcpy(exported.access_key, desc->access_key, sizeof(exported.access_key));
	result = dpumap_region_import(dev->device, &exported, range, desc->access, region);
	explicit_bzero(&exported, sizeof(exported));
	return result;
}

static doca_error_t add_exporter(struct doca_mmap *mmap, struct doca_dev *dev,
				 const struct dpumap_desc *desc)
{
	doca_error_t result = dpumap_mmap_add_slot(mmap, dev);

	if (result != DOCA_SUCCESS)
		return result;
	if (desc->kind == DPUMAP_DESC_KIND_PCI)
		return import_region(dev, desc, &mmap->slots[0].region);
	mmap->slots[0].peer_key = desc->mkey;
	return DOCA_SUCCESS;
}

static doca_error_t create_imported(struct doca_dev *dev, const struct dpumap_desc *desc,
				    struct doca_mmap **mmap)
{
	struct dpumap_desc_window window = {0};
	struct doca_mmap *created;
	doca_error_t result;

	if (dpumap_desc_get_window(desc, &window) != DPUMAP_DESC_OK)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "import: the descriptor permits no access");
	result = doca_mmap_create(&created);
	if (result != DOCA_SUCCESS)
		return result;
	result = add_exporter(created, dev, desc);
	if (result != DOCA_SUCCESS) {
		doca_mmap_destroy(created);
		return result;
	}
	created->access = desc->access;
	created->has_range = true;
	created->range = (struct dpumap_range){.addr = window.addr, .len = window.len};
	created->ops = window.ops;
	created->source = desc->source;
	dpumap_mmap_set_state(created, MMAP_IMPORTED);
	*mmap = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_create_from_export(const union doca_data *user_data, const void *export_desc,
					  size_t export_desc_len, struct doca_dev *dev,
					  struct doca_mmap **mmap)
{
	struct dpumap_desc desc = {0};
	doca_error_t result;

	if (!export_desc || !dev || !mmap)
		return dpumap_fail_null(__func__);
	result = decode(export_desc, export_desc_len, &desc);
	if (result == DOCA_SUCCESS)
		result = check_reachable(dev, &desc);
	if (result == DOCA_SUCCESS)
		result = create_imported(dev, &desc, mmap);
	dpumap_desc_wipe(&desc);
	if (result == DOCA_SUCCESS && user_data)
		(*mmap)->user_data = *user_data;
	return result;
}
