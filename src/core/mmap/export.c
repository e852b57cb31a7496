/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/mmap/mmap.h"

#include <stdlib.h>
#include <string.h>

#include <dpumap/desc.h>

#include "core/dev/caps.h"
#include "device/device.h"
#include "device/memory/access.h"
#include "device/memory/export.h"
#include "device/port.h"
#include "log/log.h"
#include "secret/secret.h"

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
_Static_assert((int)DPUMAP_DESC_GID_SIZE == DPUMAP_GID_SIZE, "GID size");

doca_error_t doca_mmap_cap_is_export_pci_supported(const struct doca_devinfo *devinfo,
						   uint8_t *mmap_export)
{
	struct dpumap_caps caps;
	doca_error_t result = dpumap_devinfo_get_caps(__func__, devinfo, mmap_export, &caps);

	if (result == DOCA_SUCCESS)
		*mmap_export = caps.can_export;
	return result;
}

doca_error_t doca_mmap_cap_is_create_from_export_pci_supported(const struct doca_devinfo *devinfo,
							       uint8_t *from_export)
{
	struct dpumap_caps caps;
	doca_error_t result = dpumap_devinfo_get_caps(__func__, devinfo, from_export, &caps);

	if (result == DOCA_SUCCESS)
		*from_export = caps.can_import;
	return result;
}

static doca_error_t refuse_state(const struct doca_mmap *mmap)
{
	const char *why = "not started";

	if (dpumap_mmap_is_usable(mmap))
		why = dpumap_mmap_is_imported(mmap)
			      ? "imported"
			      : "partially stopped: call doca_mmap_stop() again";
	return dpumap_fail(DOCA_ERROR_NOT_PERMITTED, "export: map %p is %s", (const void *)mmap,
			   why);
}

static doca_error_t refuse_access(const struct doca_mmap *mmap, const char *missing)
{
	return dpumap_fail(DOCA_ERROR_NOT_PERMITTED,
			   "export: map %p: access mask 0x%x has no %s permission: call "
			   "doca_mmap_set_permissions()",
			   (const void *)mmap, mmap->access, missing);
}

static doca_error_t refuse_user_pd(const struct doca_dev *dev)
{
	return dpumap_fail(
		DOCA_ERROR_NOT_SUPPORTED,
		"export: not supported on %s, which was opened from a user's protection domain",
		dpumap_hca_name(dev->info.hca));
}

static doca_error_t check_pci(const struct doca_mmap *mmap, const struct mmap_slot *slot)
{
	const struct doca_dev *dev = slot->dev;

	if (dpumap_mmap_state(mmap) != MMAP_STARTED || !slot->region || slot->ending)
		return refuse_state(mmap);
	if (!(mmap->access & DPUMAP_ACCESS_PCI))
		return refuse_access(mmap, "PCI");
	if (dpumap_device_is_limited(dev->device))
		return refuse_user_pd(dev);
	if (!dpumap_device_caps(dev->device)->is_mlx5)
		return dpumap_fail(
			DOCA_ERROR_NOT_SUPPORTED,
			"%s cannot export memory by PCI, only by RDMA: not an mlx5 device",
			dpumap_hca_name(dev->info.hca));
	if (!dpumap_device_caps(dev->device)->can_export)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "%s cannot export memory: dpumap doctor shows why",
				   dpumap_hca_name(dev->info.hca));
	return DOCA_SUCCESS;
}

static doca_error_t check_rdma(const struct doca_mmap *mmap, const struct mmap_slot *slot)
{
	if (!dpumap_mmap_is_usable(mmap) || slot->ending)
		return refuse_state(mmap);
	if (!(mmap->access & DPUMAP_ACCESS_RDMA))
		return refuse_access(mmap, "RDMA");
	if (dpumap_device_is_limited(slot->dev->device))
		return refuse_user_pd(slot->dev);
	if (!slot->region && dpumap_mmap_is_imported(mmap))
		return dpumap_fail(
			DOCA_ERROR_NOT_SUPPORTED,
			"export: map %p was imported over RDMA: %s cannot export it again",
			(const void *)mmap, dpumap_hca_name(slot->dev->info.hca));
	return slot->region ? DOCA_SUCCESS : refuse_state(mmap);
}

/* The caller wipes fields. */
static doca_error_t encode(const struct dpumap_desc *fields, struct mmap_desc *desc)
{
	dpumap_desc_status_t status;
	size_t room = 0, len = 0;
	void *blob;

	status = dpumap_desc_encoded_size(fields, &room);
	if (status != DPUMAP_DESC_OK)
		return dpumap_fail(DOCA_ERROR_UNEXPECTED,
				   "export: encoding the descriptor failed: %s",
				   dpumap_desc_status_descr(status));
	blob = dpumap_secret_alloc(room);
	if (!blob)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a descriptor");
	status = dpumap_desc_encode(fields, blob, room, &len);
	if (status != DPUMAP_DESC_OK) {
		dpumap_secret_free(blob, room);
		return dpumap_fail(DOCA_ERROR_UNEXPECTED,
				   "export: encoding the descriptor failed: %s",
				   dpumap_desc_status_descr(status));
	}
	desc->bytes = blob;
	desc->len = len;
	return DOCA_SUCCESS;
}

static uint16_t source_of(const struct doca_mmap *mmap)
{
	if (mmap->source)
		return mmap->source;
	if (mmap->umem)
		return mmap->umem->source;
	if (mmap->dm)
		return DPUMAP_DESC_SOURCE_DEVICE_MEMORY;
	return mmap->dmabuf >= 0 ? DPUMAP_DESC_SOURCE_DMABUF : DPUMAP_DESC_SOURCE_MEMORY;
}

static struct dpumap_desc describe(const struct doca_mmap *mmap, const struct mmap_slot *slot,
				   uint16_t kind)
{
	const struct dpumap_caps *caps = dpumap_device_caps(slot->dev->device);

	return (struct dpumap_desc){
		.kind = kind,
		.source = source_of(mmap),
		.access = mmap->access,
		.device_guid = caps->card_guid,
		.vhca_id = caps->vhca_id,
		.addr = mmap->range.addr,
		.len = mmap->range.len,
	};
}

static doca_error_t export_pci(const struct doca_mmap *mmap, struct mmap_slot *slot)
{
	struct dpumap_desc fields = describe(mmap, slot, DPUMAP_DESC_KIND_PCI);
	struct dpumap_pci_export exported = {0};
	doca_error_t result;

	result = dpumap_region_export_pci(slot->region, mmap->access, slot->token, &exported);
	if (result != DOCA_SUCCESS)
		return result;
	fields.vhca_id = exported.vhca_id;
	fields.mkey = exported.mkey;
	memcpy(fields.access_key, exported.access_key, sizeof(fields.access_key));
	result = encode(&fields, &slot->pci);
	dpumap_desc_wipe(&fields);
	explicit_bzero(&exported, sizeof(exported));
	if (result != DOCA_SUCCESS)
		dpumap_region_unexport_pci(slot->region);
	return result;
}

static doca_error_t describe_port(const struct dpumap_device *device, struct dpumap_desc_port *port)
{
	struct dpumap_address address;
	doca_error_t result;

	result = dpumap_port_get_address(device, &address);
	if (result != DOCA_SUCCESS || !address.is_known)
		return result;
	port->link_layer =
		address.is_infiniband ? DPUMAP_DESC_LINK_INFINIBAND : DPUMAP_DESC_LINK_ETHERNET;
	port->lid = address.lid;
	memcpy(port->gid, address.gid, sizeof(port->gid));
	return DOCA_SUCCESS;
}

static doca_error_t export_rdma(const struct doca_mmap *mmap, struct mmap_slot *slot)
{
	struct dpumap_desc fields = describe(mmap, slot, DPUMAP_DESC_KIND_RDMA);
	doca_error_t result;

	result = describe_port(slot->dev->device, &fields.port);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_region_export_rdma(slot->region, mmap->access, &fields.mkey);
	if (result != DOCA_SUCCESS)
		return result;
	result = encode(&fields, &slot->rdma);
	if (result != DOCA_SUCCESS)
		dpumap_region_unexport_rdma(slot->region);
	return result;
}

struct export_kind {
	doca_error_t (*check)(const struct doca_mmap *mmap, const struct mmap_slot *slot);
	doca_error_t (*make)(const struct doca_mmap *mmap, struct mmap_slot *slot);
	struct mmap_desc *(*place)(struct mmap_slot *slot);
};

static struct mmap_desc *pci_slot(struct mmap_slot *slot)
{
	return &slot->pci;
}

static struct mmap_desc *rdma_place(struct mmap_slot *slot)
{
	return &slot->rdma;
}

static const struct export_kind pci = {check_pci, export_pci, pci_slot};
static const struct export_kind rdma = {check_rdma, export_rdma, rdma_place};

static doca_error_t find_or_make(struct doca_mmap *mmap, const struct doca_dev *dev,
				 const struct export_kind *kind, struct mmap_desc **desc)
{
	struct mmap_slot *slot = NULL;
	doca_error_t result = dpumap_mmap_get_slot(mmap, dev, &slot);

	if (result != DOCA_SUCCESS)
		return result;
	*desc = kind->place(slot);
	result = kind->check(mmap, slot);
	if (result != DOCA_SUCCESS || (*desc)->bytes)
		return result;
	return kind->make(mmap, slot);
}

static doca_error_t export_as(struct doca_mmap *mmap, const struct doca_dev *dev,
			      const struct export_kind *kind, const void **export_desc,
			      size_t *export_desc_len)
{
	struct mmap_desc *desc = NULL;
	doca_error_t result;

	dpumap_mmap_guard(mmap);
	result = find_or_make(mmap, dev, kind, &desc);
	if (result != DOCA_SUCCESS)
		return result;
	*export_desc = desc->bytes;
	*export_desc_len = desc->len;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_export_pci(struct doca_mmap *mmap, const struct doca_dev *dev,
				  const void **export_desc, size_t *export_desc_len)
{
	if (!mmap || !dev || !export_desc || !export_desc_len)
		return dpumap_fail_null(__func__);
	return export_as(mmap, dev, &pci, export_desc, export_desc_len);
}

doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev,
				   const void **export_desc, size_t *export_desc_len)
{
	if (!mmap || !dev || !export_desc || !export_desc_len)
		return dpumap_fail_null(__func__);
	return export_as(mmap, dev, &rdma, export_desc, export_desc_len);
}
