/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_DEVICE_REGION_PRIV_H
#define DPUMAP_DEVICE_REGION_PRIV_H

#include "device/device.h"
#include "device/region.h"

struct mlx5dv_devx_obj;
struct mlx5dv_devx_umem;

#define DPUMAP_REMOTE_RIGHTS                                               \
	((unsigned int)(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | \
			IBV_ACCESS_REMOTE_ATOMIC))

/* An mkey of its own over the same bytes, where the registration's address or rights do not fit. */
struct dpumap_view {
	struct mlx5dv_devx_obj *obj;
	uint32_t mkey;
};

/* Where an mkey lies in a umem, and at which address it has its first byte. */
struct dpumap_umem_place {
	uint32_t umem_id;
	uint64_t offset;
	uint64_t start;
	uint64_t len;
};

struct dpumap_region {
	struct dpumap_device *device;
	struct dpumap_range range;
	uint64_t iova; /* what the keys call the first byte; 0 for device memory */
	uint32_t lkey;
	uint32_t rkey;
	unsigned int local;  /* what lkey allows this process */
	unsigned int remote; /* what rkey allows others */
	bool memory;	     /* this process's, at the range's address */
	bool imported;
	bool wide; /* direct begins before the range does */
	struct ibv_mr *mr;
	struct ibv_mr *local_mr;   /* where local rights are less than those of others */
	struct dpumap_view direct; /* mr and local_mr of a umem */
	struct dpumap_view direct_local;
	struct dpumap_view shared;	/* for other functions of the card */
	struct dpumap_umem_place pages; /* of a umem, if the range begins with one; or no length */
	struct mlx5dv_devx_umem *shared_pages; /* memory registered once more, for others */
	struct dpumap_view alias;
	struct dpumap_view own;	  /* for this process */
	struct dpumap_view peers; /* for RDMA */
};

/*
 * In ksm.c: an indirect mkey over base, a key of the region, with the region's addresses. rights is
 * a mask of IBV_ACCESS_LOCAL_WRITE and DPUMAP_REMOTE_RIGHTS.
 */
doca_error_t dpumap_ksm_create(const struct dpumap_region *region, uint32_t base,
			       unsigned int rights, struct dpumap_view *view);
doca_error_t dpumap_view_destroy(const struct dpumap_device *device, struct dpumap_view *view);

/* Masks of enum ibv_access_flags: what a map permits its own process, and anybody. */
unsigned int dpumap_rights_of_own(const struct dpumap_device *device, uint32_t access);
unsigned int dpumap_rights_of_all(const struct dpumap_device *device, uint32_t access);

/* Without keys yet; NULL, and logged, when there is no memory. */
struct dpumap_region *dpumap_region_create(struct dpumap_device *device, struct dpumap_range range);

/* In share.c. */
doca_error_t dpumap_alias_create(struct dpumap_device *device, const struct dpumap_share *share,
				 struct dpumap_view *alias);

#endif
