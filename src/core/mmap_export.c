/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/mmap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <dpumap/desc.h>

#include "log/log.h"

#define SAME(bit)                                                                    \
	_Static_assert(DPUMAP_DESC_ACCESS_##bit == (uint32_t)DOCA_ACCESS_FLAG_##bit, \
		       "access bit " #bit)
SAME(LOCAL_READ_WRITE);
SAME(RDMA_READ);
SAME(RDMA_WRITE);
SAME(RDMA_ATOMIC);
SAME(PCI_READ_ONLY);
SAME(PCI_READ_WRITE);
SAME(PCI_RELAXED_ORDERING);
_Static_assert((int)DPUMAP_DESC_ACCESS_KEY_SIZE == DPUMAP_ACCESS_KEY_SIZE, "access key size");

doca_error_t doca_mmap_cap_is_export_pci_supported(const struct doca_devinfo *devinfo,
						   uint8_t *mmap_export)
{
	struct dpumap_caps caps;
	doca_error_t result;

	if (!devinfo || !mmap_export)
		return dpumap_fail_null(__func__);
	result = dpumap_hca_get_caps(devinfo->hca, &caps);
	if (result == DOCA_SUCCESS)
		*mmap_export = caps.can_export;
	return result;
}

doca_error_t doca_mmap_cap_is_create_from_export_pci_supported(const struct doca_devinfo *devinfo,
							       uint8_t *from_export)
{
	struct dpumap_caps caps;
	doca_error_t result;

	if (!devinfo || !from_export)
		return dpumap_fail_null(__func__);
	result = dpumap_hca_get_caps(devinfo->hca, &caps);
	if (result == DOCA_SUCCESS)
		*from_export = caps.can_import;
	return result;
}

static doca_error_t check_exportable(const struct doca_mmap *mmap, const struct mmap_slot *slot)
{
	const struct doca_dev *dev = slot->dev;

	if (mmap->state != MMAP_STARTED || !slot->region)
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED, "map %p is %s", (const void *)mmap,
				   dpumap_mmap_is_imported(mmap) ? "imported" : "not started");
	if (!(mmap->access & (DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE)))
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED,
				   "map %p: access mask 0x%x has no PCI permission",
				   (const void *)mmap, mmap->access);
	if (!dpumap_device_caps(dev->device)->can_export)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s cannot export memory",
				   dpumap_hca_name(dev->info.hca));
	return DOCA_SUCCESS;
}

/* desc stands for the map but for the share; its access key is the caller's to wipe. */
static doca_error_t encode(const struct dpumap_desc *desc, struct mmap_slot *slot)
{
	dpumap_desc_status_t status;
	size_t len = 0;
	void *blob;

	status = dpumap_desc_encoded_size(desc, &len);
	if (status != DPUMAP_DESC_OK)
		return dpumap_fail(DOCA_ERROR_UNEXPECTED, "map cannot be described: %s",
				   dpumap_desc_status_descr(status));
	blob = malloc(len);
	if (!blob)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a descriptor");
	status = dpumap_desc_encode(desc, blob, len, &len);
	if (status != DPUMAP_DESC_OK) {
		free(blob);
		return dpumap_fail(DOCA_ERROR_UNEXPECTED, "map cannot be described: %s",
				   dpumap_desc_status_descr(status));
	}
	slot->desc = blob;
	slot->desc_len = len;
	return DOCA_SUCCESS;
}

static doca_error_t export_slot(const struct doca_mmap *mmap, struct mmap_slot *slot)
{
	bool writable = mmap->access & DOCA_ACCESS_FLAG_PCI_READ_WRITE;
	struct dpumap_share share = {0};
	struct dpumap_desc desc = {
		.kind = DPUMAP_DESC_KIND_PCI,
		.source = mmap->dm ? DPUMAP_DESC_SOURCE_DEVICE_MEMORY : DPUMAP_DESC_SOURCE_MEMORY,
		.access = mmap->access,
		.device_guid = dpumap_device_caps(slot->dev->device)->card_guid,
		.addr = mmap->range.addr,
		.len = mmap->range.len,
	};
	doca_error_t result;

	result = dpumap_region_share(slot->region, writable, &share);
	if (result != DOCA_SUCCESS)
		return result;
	desc.vhca_id = share.vhca_id;
	desc.mkey = share.mkey;
	memcpy(desc.access_key, share.access_key, sizeof(desc.access_key));
	result = encode(&desc, slot);
	dpumap_desc_wipe(&desc);
	explicit_bzero(&share, sizeof(share));
	if (result != DOCA_SUCCESS)
		dpumap_region_unshare(slot->region);
	return result;
}

doca_error_t doca_mmap_export_pci(struct doca_mmap *mmap, const struct doca_dev *dev,
				  const void **export_desc, size_t *export_desc_len)
{
	struct mmap_slot *slot;
	doca_error_t result;

	if (!mmap || !dev || !export_desc || !export_desc_len)
		return dpumap_fail_null(__func__);
	slot = dpumap_mmap_find_slot(mmap, dev);
	if (!slot)
		return dpumap_fail(DOCA_ERROR_NOT_FOUND, "map %p does not have device %s",
				   (void *)mmap, dpumap_hca_name(dev->info.hca));
	result = check_exportable(mmap, slot);
	if (result != DOCA_SUCCESS)
		return result;
	if (!slot->desc) {
		result = export_slot(mmap, slot);
		if (result != DOCA_SUCCESS)
			return result;
	}
	*export_desc = slot->desc;
	*export_desc_len = slot->desc_len;
	return DOCA_SUCCESS;
}

static doca_error_t decode(const void *export_desc, size_t len, struct dpumap_desc *desc)
{
	dpumap_desc_status_t status = dpumap_desc_decode(export_desc, len, desc);

	if (status != DPUMAP_DESC_OK)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "descriptor of %zu bytes refused: %s",
				   len, dpumap_desc_status_descr(status));
	if (desc->kind != DPUMAP_DESC_KIND_PCI)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "descriptor is of kind %u, not PCI",
				   desc->kind);
	if (desc->addr > UINTPTR_MAX || desc->len > UINTPTR_MAX - desc->addr)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "descriptor: %" PRIu64 " bytes at 0x%" PRIx64
				   " are no range on this machine",
				   desc->len, desc->addr);
	return DOCA_SUCCESS;
}

static doca_error_t check_card(const struct doca_dev *dev, const struct dpumap_desc *desc)
{
	uint64_t guid = dpumap_device_caps(dev->device)->card_guid;

	if (desc->device_guid != guid)
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED,
				   "descriptor is of the card with system image GUID %016" PRIx64
				   ", %s is on the one with %016" PRIx64,
				   desc->device_guid, dpumap_hca_name(dev->info.hca), guid);
	return DOCA_SUCCESS;
}

static doca_error_t import_region(struct doca_dev *dev, const struct dpumap_desc *desc,
				  struct dpumap_region **region)
{
	struct dpumap_range range = {.addr = desc->addr, .len = desc->len};
	struct dpumap_share share = {.mkey = desc->mkey, .vhca_id = desc->vhca_id};
	doca_error_t result;

	memcpy(share.access_key, desc->access_key, sizeof(share.access_key));
	result = dpumap_region_import(dev->device, &share, range, region);
	explicit_bzero(&share, sizeof(share));
	return result;
}

static doca_error_t import(struct doca_dev *dev, const struct dpumap_desc *desc,
			   struct doca_mmap **mmap)
{
	struct doca_mmap *created;
	doca_error_t result;

	result = doca_mmap_create(&created);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_mmap_add_slot(created, dev);
	if (result == DOCA_SUCCESS)
		result = import_region(dev, desc, &created->slots[0].region);
	if (result != DOCA_SUCCESS) {
		doca_mmap_destroy(created);
		return result;
	}
	created->state = MMAP_IMPORTED;
	created->access = desc->access;
	created->has_range = true;
	created->range = (struct dpumap_range){.addr = desc->addr, .len = desc->len};
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
	if (!dpumap_device_caps(dev->device)->can_import)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s cannot import memory",
				   dpumap_hca_name(dev->info.hca));
	result = decode(export_desc, export_desc_len, &desc);
	if (result == DOCA_SUCCESS)
		result = check_card(dev, &desc);
	if (result == DOCA_SUCCESS)
		result = import(dev, &desc, mmap);
	dpumap_desc_wipe(&desc);
	if (result == DOCA_SUCCESS && user_data)
		(*mmap)->user_data = *user_data;
	return result;
}
