/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_DEVICE_UMEM_PRIV_H
#define DPUMAP_DEVICE_UMEM_PRIV_H

#include "device/region_priv.h"
#include "device/umem.h"

#define DPUMAP_UMEM_LOG_PAGE 12u /* what the driver divides a umem into unless told otherwise */
#define DPUMAP_UMEM_PAGE     (UINT64_C(1) << DPUMAP_UMEM_LOG_PAGE)

struct dpumap_umem_way;
struct mlx5dv_devx_umem;

struct dpumap_pages {
	struct dpumap_device *device;
	struct dpumap_umem_source source; /* what was asked for, without the dma-buf */
	uint64_t base;			  /* where the registered pages begin, in the same space */
	uint64_t size;
	uint32_t umem_id;
	const struct dpumap_umem_way *way;
	uint32_t handle;	     /* the kernel's */
	struct mlx5dv_devx_umem *dv; /* libmlx5's */
	struct dpumap_view hold;
};

/* How a umem is registered and passed on. Those that fail log why. */
struct dpumap_umem_way {
	uint16_t form; /* of its tokens */
	doca_error_t (*reg)(struct dpumap_pages *pages, int dmabuf);
	/* An errno, so that the caller tells who is in the way. */
	int (*dereg)(struct dpumap_pages *pages);
	doca_error_t (*export)(const struct dpumap_pages *pages, struct dpumap_umem_ticket *ticket);
	doca_error_t (*import)(struct dpumap_pages *pages, const struct dpumap_umem_ticket *ticket);
	void (*forget)(struct dpumap_pages *pages);
};

/* In umem_ioctl.c: the kernel's own interface, which is the same under every libmlx5. */
extern const struct dpumap_umem_way dpumap_umem_by_ioctl;
/* In umem_dv.c: of rdma-core 63 and later; NULL if the loaded libmlx5 does not have it. */
const struct dpumap_umem_way *dpumap_umem_by_libmlx5(void);

/* Reading and, if so registered, writing. */
unsigned int dpumap_umem_access(const struct dpumap_pages *pages);
doca_error_t dpumap_umem_fail_reg(const struct dpumap_pages *pages, int err);

/* In umem_mkey.c: an mkey on the pages of a umem; rights as for dpumap_ksm_create(). */
doca_error_t dpumap_umem_lay_mkey(const struct dpumap_device *device,
				  const struct dpumap_umem_place *place, unsigned int rights,
				  struct dpumap_view *view);
/* The same over all of it that permits next to nothing. */
doca_error_t dpumap_umem_hold(struct dpumap_pages *pages);
doca_error_t dpumap_umem_release(struct dpumap_pages *pages);

#endif
