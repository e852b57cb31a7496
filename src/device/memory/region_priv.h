/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The fields of a region. */
#ifndef DPUMAP_DEVICE_MEMORY_REGION_PRIV_H
#define DPUMAP_DEVICE_MEMORY_REGION_PRIV_H

#include "device/device_priv.h"
#include "device/memory/mkey.h"
#include "device/memory/region.h"

struct mlx5dv_devx_umem;

#define DPUMAP_ACCESS_REMOTE                                               \
	((unsigned int)(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | \
			IBV_ACCESS_REMOTE_ATOMIC))

struct dpumap_region {
	struct dpumap_device *device;
	struct dpumap_range range;
	uint64_t iova; /* address of the first byte for the keys; 0 for device memory */
	uint32_t lkey;
	uint32_t rkey;
	uint8_t local_rights;  /* of lkey; both have but the lowest rights of verbs */
	uint8_t remote_rights; /* of rkey */
	bool is_memory;	       /* of this process, at the range's address */
	bool is_imported;
	bool starts_early;    /* mkey begins before the range */
	bool has_umem;	      /* the range starts with a page of a umem, at its own address */
	uint32_t umem_id;     /* then the umem, */
	uint64_t umem_offset; /* and the range's place in it */
	struct ibv_mr *mr;
	struct ibv_mr *local_mr;	    /* where the process has fewer rights than others */
	struct dpumap_mkey mkey;	    /* for a umem or an import, in place of mr */
	struct dpumap_mkey umem_local_mkey; /* for a umem, in place of local_mr */
	struct dpumap_mkey local_mkey;	    /* for this process, where lkey has other addresses */
	struct dpumap_mkey rdma_mkey;	    /* for RDMA peers */
	struct dpumap_mkey pci_mkey;	    /* for other functions of the card */
	struct mlx5dv_devx_umem *pci_umem;  /* under a direct pci_mkey; of all exports */
};

/* Allocate a region without keys; NULL, and logged, without memory. */
struct dpumap_region *dpumap_region_create(struct dpumap_device *device, struct dpumap_range range);

#endif
