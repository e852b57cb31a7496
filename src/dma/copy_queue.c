/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <dpumap/dma.h>

#include <inttypes.h>
#include <stdlib.h>

#include "core/domain/parent_domain.h"
#include "core/mmap/bufs.h"
#include "core/mmap/resolve.h"
#include "device/queue/queue.h"
#include "log/log.h"

struct dpumap_dma {
	struct doca_dev *dev;
	struct dpumap_parent_domain *domain; /* NULL for the device's own */
	struct dpumap_queue *queue;
	uint64_t max_len;
};

static doca_error_t create(struct doca_dev *dev, struct dpumap_domain *domain,
			   uint32_t max_inflight, struct dpumap_dma **dma)
{
	struct dpumap_queue_attr attr = {.domain = domain, .depth = max_inflight};
	doca_error_t result = dpumap_queue_check_copies(dev->device);
	struct dpumap_dma *created;

	if (result != DOCA_SUCCESS)
		return result;
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a copy queue");
	result = dpumap_queue_create(dev->device, &attr, &created->queue);
	if (result != DOCA_SUCCESS) {
		free(created);
		return result;
	}
	created->max_len = dpumap_queue_max_len(created->queue);
	created->dev = dev;
	dpumap_dev_add_user(dev);
	*dma = created;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_dma_create(struct doca_dev *dev, uint32_t max_inflight, struct dpumap_dma **dma)
{
	if (!dev || !dma)
		return dpumap_fail_null(__func__);
	return create(dev, NULL, max_inflight, dma);
}

doca_error_t dpumap_dma_create_on(struct dpumap_parent_domain *domain, uint32_t max_inflight,
				  struct dpumap_dma **dma)
{
	doca_error_t result;

	if (!domain || !dma)
		return dpumap_fail_null(__func__);
	atomic_fetch_add(&domain->users, 1);
	result = create(domain->dev, domain->domain, max_inflight, dma);
	if (result == DOCA_SUCCESS)
		(*dma)->domain = domain;
	else
		atomic_fetch_sub(&domain->users, 1);
	return result;
}

doca_error_t dpumap_dma_destroy(struct dpumap_dma *dma)
{
	doca_error_t result;

	if (!dma)
		return dpumap_fail_null(__func__);
	result = dpumap_queue_destroy(dma->queue);
	if (result != DOCA_SUCCESS)
		return result;
	if (dma->domain)
		atomic_fetch_sub(&dma->domain->users, 1);
	dpumap_dev_remove_user(dma->dev);
	free(dma);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_dma_get_engine(const struct dpumap_dma *dma, enum dpumap_dma_engine *engine)
{
	if (!dma || !engine)
		return dpumap_fail_null(__func__);
	*engine = dpumap_queue_engine(dma->queue);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_dma_get_max_len(const struct dpumap_dma *dma, uint64_t *max_len)
{
	if (!dma || !max_len)
		return dpumap_fail_null(__func__);
	*max_len = dma->max_len;
	return DOCA_SUCCESS;
}

static doca_error_t refuse_bytes(const struct doca_mmap *mmap, uint64_t addr, size_t len,
				 dpumap_desc_status_t why)
{
	if (why == DPUMAP_DESC_ERR_DENIED)
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED,
				   "copy: map %p was exported read-only (access mask 0x%x)",
				   (const void *)mmap, mmap->access);
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
			   "copy: %zu bytes at 0x%" PRIx64 " are outside map %p, %" PRIu64
			   " bytes at 0x%" PRIx64,
			   len, addr, (const void *)mmap, mmap->range.len, mmap->range.addr);
}

static doca_error_t resolve(const struct dpumap_dma *dma, const struct doca_mmap *mmap,
			    uint64_t addr, size_t len, uint32_t op,
			    const struct dpumap_region **region)
{
	doca_error_t result = dpumap_mmap_resolve(mmap, dma->dev, region);
	dpumap_desc_status_t status;

	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	status = dpumap_mmap_check_ops(mmap, addr, len, op);
	if (doca_unlikely(status != DPUMAP_DESC_OK))
		return refuse_bytes(mmap, addr, len, status);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_dma_memcpy(struct dpumap_dma *dma, struct doca_mmap *dst, void *dst_addr,
			       struct doca_mmap *src, const void *src_addr, size_t len,
			       union doca_data user_data)
{
	struct dpumap_copy copy = {
		.dst_addr = (uintptr_t)dst_addr,
		.src_addr = (uintptr_t)src_addr,
		.len = len,
		.user_data = user_data,
	};
	doca_error_t result;

	if (doca_unlikely(!dma || !dst || !src))
		return dpumap_fail_null(__func__);
	if (doca_unlikely(!len || len > dma->max_len))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "copy: invalid length of %zu bytes, must be 1 to %" PRIu64, len,
				   dma->max_len);
	result = resolve(dma, dst, copy.dst_addr, len, DPUMAP_DESC_OP_WRITE, &copy.dst);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	result = resolve(dma, src, copy.src_addr, len, DPUMAP_DESC_OP_READ, &copy.src);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	return dpumap_queue_post(dma->queue, &copy);
}

doca_error_t dpumap_dma_poll(struct dpumap_dma *dma, struct dpumap_dma_completion *out,
			     uint32_t max, uint32_t *n)
{
	if (doca_unlikely(!dma || !out || !n))
		return dpumap_fail_null(__func__);
	return dpumap_queue_poll(dma->queue, out, max, n);
}

doca_error_t dpumap_dma_reset(struct dpumap_dma *dma)
{
	if (!dma)
		return dpumap_fail_null(__func__);
	return dpumap_queue_reset(dma->queue);
}
