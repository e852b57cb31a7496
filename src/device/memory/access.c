/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/memory/access.h"

#include "device/device_priv.h"

#define WRITE_BY_OTHERS                                               \
	(DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC | \
	 DOCA_ACCESS_FLAG_PCI_READ_WRITE)

unsigned int dpumap_access_rdma(uint32_t access)
{
	unsigned int rights = 0;

	if (access & DOCA_ACCESS_FLAG_RDMA_READ)
		rights |= IBV_ACCESS_REMOTE_READ;
	if (access & DOCA_ACCESS_FLAG_RDMA_WRITE)
		rights |= IBV_ACCESS_REMOTE_WRITE;
	if (access & DOCA_ACCESS_FLAG_RDMA_ATOMIC)
		rights |= IBV_ACCESS_REMOTE_ATOMIC;
	return rights;
}

unsigned int dpumap_access_pci(uint32_t access)
{
	unsigned int rights = IBV_ACCESS_REMOTE_READ;

	if (!(access & DOCA_ACCESS_FLAG_PCI_READ_WRITE))
		return rights;
	rights |= IBV_ACCESS_REMOTE_WRITE;
	if (access & DOCA_ACCESS_FLAG_RDMA_ATOMIC)
		rights |= IBV_ACCESS_REMOTE_ATOMIC;
	return rights;
}

unsigned int dpumap_access_local(const struct dpumap_device *device, uint32_t access)
{
	unsigned int rights = 0;

	/* This device is one of the card, too. */
	if (access & (DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE))
		rights |= IBV_ACCESS_LOCAL_WRITE;
	if (access & DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING)
		rights |= IBV_ACCESS_RELAXED_ORDERING;
	/* Without a DMA engine a local copy is an RDMA read that the device sends to itself. */
	if (device->caps.max_copy_len && !device->caps.max_memcpy_len)
		rights |= IBV_ACCESS_REMOTE_READ;
	return rights;
}

unsigned int dpumap_access_all(const struct dpumap_device *device, uint32_t access)
{
	unsigned int rights = dpumap_access_local(device, access) | dpumap_access_rdma(access);

	/* Other drivers have no functions to export to, and no narrower key for RDMA. */
	if (!device->caps.is_mlx5)
		access &= ~DPUMAP_ACCESS_PCI;
	if (access & DPUMAP_ACCESS_PCI)
		rights |= IBV_ACCESS_REMOTE_READ;
	if (access & DOCA_ACCESS_FLAG_PCI_READ_WRITE)
		rights |= IBV_ACCESS_REMOTE_WRITE;
	if (access & WRITE_BY_OTHERS)
		rights |= IBV_ACCESS_LOCAL_WRITE; /* ibv_reg_mr(3): remote write requires it */
	return rights;
}
