/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/mmap/resolve.h"

#include "log/log.h"

doca_error_t dpumap_mmap_refuse_device(const struct doca_mmap *mmap, const struct doca_dev *dev)
{
	const struct mmap_slot *slot = dpumap_mmap_find_slot(mmap, dev);

	if (!dpumap_mmap_is_usable(mmap))
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "copy: map %p is not started",
				   (const void *)mmap);
	if (!slot)
		return dpumap_fail(DOCA_ERROR_NOT_FOUND, "copy: map %p does not have device %s",
				   (const void *)mmap, dpumap_hca_name(dev->info.hca));
	if (slot->peer_key)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "copy: map %p was imported over RDMA: use RDMA tasks on a "
				   "connection to its exporter",
				   (const void *)mmap);
	return dpumap_fail(DOCA_ERROR_BAD_STATE,
			   "copy: map %p is partially stopped: call doca_mmap_stop() again",
			   (const void *)mmap);
}

doca_error_t dpumap_mmap_refuse_peer(const struct doca_mmap *mmap, const struct doca_dev *dev)
{
	const struct mmap_slot *slot = dpumap_mmap_find_slot(mmap, dev);

	if (!dpumap_mmap_is_usable(mmap) || (slot && slot->peer_key))
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "RDMA task: map %p is not started",
				   (const void *)mmap);
	if (!slot)
		return dpumap_fail(DOCA_ERROR_NOT_FOUND,
				   "RDMA task: map %p does not have device %s", (const void *)mmap,
				   dpumap_hca_name(dev->info.hca));
	return dpumap_fail(
		DOCA_ERROR_NOT_SUPPORTED,
		"RDMA task: map %p was not imported over RDMA: its bytes are not those of a peer",
		(const void *)mmap);
}
