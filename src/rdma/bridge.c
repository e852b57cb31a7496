/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <doca_rdma_bridge.h>

#include "core/buf/buf.h"
#include "core/mmap/mmap.h"
#include "device/device.h"
#include "log/log.h"

doca_error_t doca_rdma_bridge_get_dev_pd(const struct doca_dev *dev, struct ibv_pd **pd)
{
	if (!dev || !pd)
		return dpumap_fail_null(__func__);
	*pd = dpumap_device_pd(dev->device);
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_bridge_open_dev_from_pd(struct ibv_pd *pd, struct doca_dev **dev)
{
	if (!pd || !dev)
		return dpumap_fail_null(__func__);
	if (dpumap_dev_find_on(pd))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "protection domain %p belongs to an open device", (void *)pd);
	return dpumap_dev_open_on(pd, true, dev);
}

doca_error_t doca_rdma_bridge_get_buf_mkey(const struct doca_buf *buf, struct doca_dev *dev,
					   uint32_t *mkey)
{
	if (!buf || !dev || !mkey)
		return dpumap_fail_null(__func__);
	if (!buf->mmap || !buf->refcount)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "buf %p is not in use",
				   (const void *)buf);
	return doca_mmap_get_mkey(buf->mmap, dev, mkey);
}

static const struct doca_dev *find_dev(const struct doca_mmap *mmap, const struct ibv_pd *pd)
{
	for (uint32_t i = 0; i < mmap->num_slots; i++)
		if (dpumap_device_has_pd(mmap->slots[i].dev->device, pd))
			return mmap->slots[i].dev;
	return NULL;
}

doca_error_t doca_rdma_bridge_get_mmap_mkey_from_pd(const struct doca_mmap *mmap, struct ibv_pd *pd,
						    uint32_t *mkey)
{
	const struct doca_dev *dev;

	if (!mmap || !pd || !mkey)
		return dpumap_fail_null(__func__);
	{
		dpumap_mmap_guard(mmap);
		dev = find_dev(mmap, pd);
	}
	if (!dev)
		return dpumap_fail(DOCA_ERROR_NOT_FOUND,
				   "map %p does not have a device with protection domain %p",
				   (const void *)mmap, (void *)pd);
	return doca_mmap_get_mkey(mmap, dev, mkey);
}
