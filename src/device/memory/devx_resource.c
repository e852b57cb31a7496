/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/memory/devx_resource.h"

#include <errno.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "device/device_priv.h"
#include "device/errno.h"
#include "log/log.h"

/* The kernel knows no right for atomic operations of a umem, and lets peers write only what the device may write. */
static uint32_t rights_of(uint32_t access)
{
	uint32_t rights = 0;

	if (access & (DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC))
		rights |= IBV_ACCESS_REMOTE_WRITE;
	if (access & DOCA_ACCESS_FLAG_RDMA_READ)
		rights |= IBV_ACCESS_REMOTE_READ;
	if (rights & IBV_ACCESS_REMOTE_WRITE ||
	    access & (DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE))
		rights |= IBV_ACCESS_LOCAL_WRITE;
	return rights;
}

doca_error_t dpumap_devx_memory_register(const struct dpumap_device *device, void *addr, size_t len,
					 uint32_t access, struct dpumap_devx_memory **memory)
{
	struct mlx5dv_devx_umem *registered;

	if (!device->caps.has_vhca_id)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "%s: no umem: firmware commands (DEVX) do not work; dpumap "
				   "doctor shows why",
				   dpumap_hca_name(device->hca));
	registered = mlx5dv_devx_umem_reg(device->context, addr, len, rights_of(access));
	if (!registered)
		return dpumap_fail(dpumap_errno_to_one_of(errno, DOCA_ERROR_NO_MEMORY),
				   "%s: registering a umem of %zu bytes at %p failed: %s",
				   dpumap_hca_name(device->hca), len, addr, strerror(errno));
	*memory = (struct dpumap_devx_memory *)registered;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_devx_memory_deregister(struct dpumap_devx_memory *memory)
{
	struct mlx5dv_devx_umem *umem = (struct mlx5dv_devx_umem *)memory;
	uint32_t id = umem->umem_id;
	int err = mlx5dv_devx_umem_dereg(umem);

	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "deregistering umem %u failed: %s: destroy what uses it first",
				   id, strerror(err));
	return DOCA_SUCCESS;
}

uint32_t dpumap_devx_memory_id(const struct dpumap_devx_memory *memory)
{
	return ((const struct mlx5dv_devx_umem *)memory)->umem_id;
}

doca_error_t dpumap_devx_page_alloc(const struct dpumap_device *device,
				    enum doca_uar_allocation_type type,
				    struct dpumap_devx_page **page)
{
	static const uint32_t flags[] = {
		[DOCA_UAR_ALLOCATION_TYPE_BLUEFLAME] = MLX5DV_UAR_ALLOC_TYPE_BF,
		[DOCA_UAR_ALLOCATION_TYPE_NONCACHE] = MLX5DV_UAR_ALLOC_TYPE_NC,
		/* Newer than the oldest libmlx5, which refuses it. */
		[DOCA_UAR_ALLOCATION_TYPE_NONCACHE_DEDICATED] = 1u << 31,
	};
	struct mlx5dv_devx_uar *allocated;

	if (!device->caps.has_vhca_id)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "%s: no doorbell page: firmware commands (DEVX) do not work; "
				   "dpumap doctor shows why",
				   dpumap_hca_name(device->hca));
	allocated = mlx5dv_devx_alloc_uar(device->context, flags[type]);
	if (!allocated)
		return dpumap_fail(dpumap_errno_to_one_of(errno, DOCA_ERROR_NO_MEMORY,
							  DOCA_ERROR_NOT_SUPPORTED),
				   "%s: allocating a doorbell page of kind %u failed: %s",
				   dpumap_hca_name(device->hca), type, strerror(errno));
	*page = (struct dpumap_devx_page *)allocated;
	return DOCA_SUCCESS;
}

void dpumap_devx_page_free(struct dpumap_devx_page *page)
{
	mlx5dv_devx_free_uar((struct mlx5dv_devx_uar *)page);
}

static const struct mlx5dv_devx_uar *uar_of(const struct dpumap_devx_page *page)
{
	return (const struct mlx5dv_devx_uar *)page;
}

uint32_t dpumap_devx_page_id(const struct dpumap_devx_page *page)
{
	return uar_of(page)->page_id;
}

const void *dpumap_devx_page_addr(const struct dpumap_devx_page *page)
{
	return uar_of(page)->base_addr;
}

const void *dpumap_devx_page_doorbell(const struct dpumap_devx_page *page)
{
	return uar_of(page)->reg_addr;
}
