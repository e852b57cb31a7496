/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The fields of a umem, and the two ways to register one. */
#ifndef DPUMAP_DEVICE_MEMORY_UMEM_PRIV_H
#define DPUMAP_DEVICE_MEMORY_UMEM_PRIV_H

#include "device/device_priv.h"
#include "device/memory/mkey.h"
#include "device/memory/umem.h"

struct dpumap_umem_ops;
struct mlx5dv_devx_umem;

struct dpumap_devx_umem {
	struct dpumap_device *device;
	struct dpumap_umem_source source; /* as requested, without the dma-buf */
	uint64_t base;			  /* start of the registered pages */
	uint64_t size;
	uint32_t umem_id;
	const struct dpumap_umem_ops *ops;
	uint32_t kernel_handle;
	struct mlx5dv_devx_umem *dv;  /* by umem_dv.c */
	struct dpumap_mkey reference; /* keeps the firmware from destroying the umem */
};

/* How a umem is registered and exported. Operations that fail log why. */
struct dpumap_umem_ops {
	uint16_t form; /* of its tokens */
	doca_error_t (*reg)(struct dpumap_devx_umem *umem, int dmabuf);
	/* Returns an errno: the caller logs it. */
	int (*dereg)(struct dpumap_devx_umem *umem);
	doca_error_t (*export_umem)(const struct dpumap_devx_umem *umem,
				    struct dpumap_umem_handle *handle);
	doca_error_t (*import_umem)(struct dpumap_devx_umem *umem,
				    const struct dpumap_umem_handle *handle);
	void (*unimport)(struct dpumap_devx_umem *umem);
};

/* enum ibv_access_flags: write access if the umem is writable. */
unsigned int dpumap_umem_access(const struct dpumap_devx_umem *umem);
doca_error_t dpumap_umem_fail_reg(const struct dpumap_devx_umem *umem, int err);

/* Umems through libmlx5, which can export them from rdma-core 63 on. */

/* NULL if the loaded libmlx5 cannot export umems. */
const struct dpumap_umem_ops *dpumap_umem_libmlx5_ops(void);

/* Umems through the kernel's own interface, which every version has. */
extern const struct dpumap_umem_ops dpumap_umem_ioctl_ops;

#endif
