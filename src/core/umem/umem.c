/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/umem/umem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <dpumap/desc.h>

#include "core/access.h"
#include "core/dev/dev.h"
#include "log/log.h"

#define WRITING                                                            \
	(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_WRITE | \
	 DOCA_ACCESS_FLAG_RDMA_ATOMIC | DOCA_ACCESS_FLAG_PCI_READ_WRITE)

_Static_assert((int)DPUMAP_DESC_TOKEN_SIZE == DPUMAP_UMEM_TOKEN_SIZE, "token size");

struct dpumap_umem *dpumap_umem_get(struct dpumap_umem *umem)
{
	atomic_fetch_add(&umem->refs, 1);
	return umem;
}

void dpumap_umem_put(struct dpumap_umem *umem)
{
	if (atomic_fetch_sub(&umem->refs, 1) == 1)
		free(umem);
}

static struct dpumap_umem *create(struct doca_dev *dev, struct dpumap_range range, uint64_t start,
				  uint32_t access, uint16_t source)
{
	struct dpumap_umem *created = calloc(1, sizeof(*created));

	if (!created) {
		dpumap_log_line(DPUMAP_LOG_ERROR, DOCA_ERROR_NO_MEMORY, "no memory for a umem");
		return NULL;
	}
	created->dev = dev;
	created->range = range;
	created->start = start;
	created->access = access;
	created->source = source;
	atomic_init(&created->refs, 1);
	atomic_init(&created->started, 0);
	return created;
}

static struct dpumap_umem_source source_of(const struct dpumap_umem *umem, int dmabuf)
{
	return (struct dpumap_umem_source){
		.start = umem->start,
		.len = umem->range.len,
		.dmabuf = dmabuf,
		.writable = umem->access & WRITING,
	};
}

static doca_error_t check_range(uint64_t addr, uint64_t start, uint64_t len)
{
	if (!len || addr > UINTPTR_MAX - len || start > UINT64_MAX - len)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "umem: %" PRIu64 " bytes at 0x%" PRIx64 " are not a valid range",
				   len, addr);
	return DOCA_SUCCESS;
}

static doca_error_t register_created(struct doca_dev *dev, struct dpumap_umem *created, int dmabuf,
				     struct dpumap_umem **umem)
{
	struct dpumap_umem_source source;
	doca_error_t result;

	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	source = source_of(created, dmabuf);
	result = dpumap_devx_umem_register(dev->device, &source, &created->devx_umem);
	if (result != DOCA_SUCCESS) {
		dpumap_umem_put(created);
		return result;
	}
	dpumap_dev_add_user(dev);
	*umem = created;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_umem_register(struct doca_dev *dev, void *addr, size_t len,
				  uint32_t access_mask, struct dpumap_umem **umem)
{
	struct dpumap_range range = {.addr = (uintptr_t)addr, .len = len};
	doca_error_t result;

	if (!dev || !addr || !umem)
		return dpumap_fail_null(__func__);
	result = check_range(range.addr, range.addr, len);
	if (result == DOCA_SUCCESS)
		result = dpumap_access_check(access_mask);
	if (result != DOCA_SUCCESS)
		return result;
	return register_created(
		dev, create(dev, range, range.addr, access_mask, DPUMAP_DESC_SOURCE_MEMORY), -1,
		umem);
}

doca_error_t dpumap_umem_register_dmabuf(struct doca_dev *dev, int dmabuf_fd, void *addr,
					 size_t dmabuf_offset, size_t len, uint32_t access_mask,
					 struct dpumap_umem **umem)
{
	struct dpumap_range range = {.addr = (uintptr_t)addr, .len = len};
	doca_error_t result;

	if (!dev || !umem)
		return dpumap_fail_null(__func__);
	if (dmabuf_fd < 0)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "umem: %d is not a dma-buf",
				   dmabuf_fd);
	result = check_range(range.addr, dmabuf_offset, len);
	if (result == DOCA_SUCCESS)
		result = dpumap_access_check(access_mask);
	if (result != DOCA_SUCCESS)
		return result;
	return register_created(
		dev, create(dev, range, dmabuf_offset, access_mask, DPUMAP_DESC_SOURCE_DMABUF),
		dmabuf_fd, umem);
}

typedef doca_error_t end_fn(struct dpumap_devx_umem *umem);

static doca_error_t end_umem(struct dpumap_umem *umem, end_fn *end_devx)
{
	unsigned int started = atomic_load(&umem->started);
	doca_error_t result;

	if (started)
		return dpumap_fail(DOCA_ERROR_IN_USE,
				   "umem: %u started maps use it; stop them first", started);
	result = end_devx(umem->devx_umem);
	if (result != DOCA_SUCCESS)
		return result;
	umem->devx_umem = NULL;
	dpumap_dev_remove_user(umem->dev);
	dpumap_umem_put(umem);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_umem_deregister(struct dpumap_umem *umem)
{
	return umem ? end_umem(umem, dpumap_devx_umem_deregister) : dpumap_fail_null(__func__);
}

doca_error_t dpumap_umem_unimport(struct dpumap_umem *umem)
{
	return umem ? end_umem(umem, dpumap_devx_umem_unimport) : dpumap_fail_null(__func__);
}

doca_error_t dpumap_umem_get_range(const struct dpumap_umem *umem, void **addr, size_t *len)
{
	if (!umem || !addr || !len)
		return dpumap_fail_null(__func__);
	*addr = (void *)(uintptr_t)umem->range.addr;
	*len = umem->range.len;
	return DOCA_SUCCESS;
}

/* All exports have the same size. */
doca_error_t dpumap_umem_get_export_size(const struct dpumap_umem *umem, size_t *size)
{
	if (!umem || !size)
		return dpumap_fail_null(__func__);
	*size = DPUMAP_DESC_UMEM_SIZE;
	return DOCA_SUCCESS;
}

static struct dpumap_desc describe(const struct dpumap_umem *umem,
				   const struct dpumap_umem_handle *handle)
{
	const struct dpumap_caps *caps = dpumap_device_caps(umem->dev->device);
	struct dpumap_desc desc = {
		.kind = DPUMAP_DESC_KIND_UMEM,
		.source = umem->source,
		.access = umem->access,
		.device_guid = caps->card_guid,
		.vhca_id = caps->vhca_id,
		.mkey = handle->umem_id,
		.addr = umem->range.addr,
		.len = umem->range.len,
		.umem.start = umem->start,
		.umem.pd_handle = handle->pd_handle,
		.umem.pdn = handle->pdn,
		.umem.form = handle->form,
		.umem.token_len = handle->token_len,
	};

	memcpy(desc.umem.token, handle->token, sizeof(desc.umem.token));
	return desc;
}

doca_error_t dpumap_umem_export(struct dpumap_umem *umem, void *buf, size_t buf_len,
				size_t *written)
{
	struct dpumap_umem_handle handle;
	dpumap_desc_status_t status;
	struct dpumap_desc desc;
	doca_error_t result;

	if (!umem || !buf || !written)
		return dpumap_fail_null(__func__);
	if (buf_len < DPUMAP_DESC_UMEM_SIZE)
		return dpumap_fail(DOCA_ERROR_TOO_BIG,
				   "exporting a umem: buffer of %zu bytes, %u needed", buf_len,
				   DPUMAP_DESC_UMEM_SIZE);
	result = dpumap_devx_umem_export(umem->devx_umem, &handle);
	if (result != DOCA_SUCCESS)
		return result;
	desc = describe(umem, &handle);
	status = dpumap_desc_encode(&desc, buf, buf_len, written);
	if (status != DPUMAP_DESC_OK)
		return dpumap_fail(DOCA_ERROR_UNEXPECTED,
				   "exporting a umem: encoding the descriptor failed: %s",
				   dpumap_desc_status_descr(status));
	return DOCA_SUCCESS;
}

static doca_error_t decode(const void *bytes, size_t len, struct dpumap_desc *desc)
{
	dpumap_desc_status_t status = dpumap_desc_decode(bytes, len, desc);

	if (status != DPUMAP_DESC_OK)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "importing a umem: descriptor of %zu bytes refused: %s", len,
				   dpumap_desc_status_descr(status));
	if (desc->kind != DPUMAP_DESC_KIND_UMEM) {
		dpumap_desc_wipe(desc);
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "importing a umem: the descriptor is for a map; use "
				   "doca_mmap_create_from_export()");
	}
	return check_range(desc->addr, desc->umem.start, desc->len);
}

static doca_error_t check_function(const struct doca_dev *dev, const struct dpumap_desc *desc)
{
	const struct dpumap_caps *caps = dpumap_device_caps(dev->device);

	if (desc->device_guid != caps->card_guid || desc->vhca_id != caps->vhca_id)
		return dpumap_fail(
			DOCA_ERROR_NOT_PERMITTED,
			"importing a umem: it belongs to function 0x%x of card %016" PRIx64
			", %s is function 0x%x of card %016" PRIx64,
			desc->vhca_id, desc->device_guid, dpumap_hca_name(dev->info.hca),
			caps->vhca_id, caps->card_guid);
	return DOCA_SUCCESS;
}

static doca_error_t import_umem(struct doca_dev *dev, const struct dpumap_desc *desc,
				struct dpumap_umem **umem)
{
	struct dpumap_range range = {.addr = desc->addr, .len = desc->len};
	struct dpumap_umem_handle handle = {
		.form = desc->umem.form,
		.token_len = desc->umem.token_len,
		.umem_id = desc->mkey,
		.pd_handle = desc->umem.pd_handle,
		.pdn = desc->umem.pdn,
	};
	struct dpumap_umem_source source;
	struct dpumap_umem *created;
	doca_error_t result;

	memcpy(handle.token, desc->umem.token, sizeof(handle.token));
	created = create(dev, range, desc->umem.start, desc->access, desc->source);
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	source = source_of(created, -1);
	result = dpumap_devx_umem_import(dev->device, &source, &handle, &created->devx_umem);
	if (result != DOCA_SUCCESS) {
		dpumap_umem_put(created);
		return result;
	}
	dpumap_dev_add_user(dev);
	*umem = created;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_umem_import(struct doca_dev *dev, const void *bytes, size_t len,
				struct dpumap_umem **umem)
{
	struct dpumap_desc desc;
	doca_error_t result;

	if (!dev || !bytes || !umem)
		return dpumap_fail_null(__func__);
	result = decode(bytes, len, &desc);
	if (result == DOCA_SUCCESS)
		result = check_function(dev, &desc);
	return result == DOCA_SUCCESS ? import_umem(dev, &desc, umem) : result;
}
