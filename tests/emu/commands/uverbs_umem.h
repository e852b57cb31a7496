/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Commands that register memory as a umem. */
#ifndef DPUMAP_TESTS_UVERBS_UMEM_H
#define DPUMAP_TESTS_UVERBS_UMEM_H

#include "uverbs.h"

struct umem {
	uint64_t addr, len; /* of a dma-buf, the offset in it */
	uint64_t pages;	    /* a bitmap of sizes; 0: any */
	uint32_t access;
	bool is_dmabuf;
	int dmabuf;
	uint32_t id, handle; /* the answer */
};

static inline int reg_umem(int fd, struct umem *u)
{
	union command c;
	int err;

	begin(&c, MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG);
	add(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, 0, 0);
	add(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, 8, u->addr);
	add(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, 8, u->len);
	add(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, 4, u->access);
	add_buf(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, &u->id, sizeof(u->id));
	if (u->is_dmabuf)
		add(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD, 0, (uint64_t)u->dmabuf);
	if (u->pages)
		add(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, 8, u->pages);
	err = issue(fd, &c);
	u->handle = (uint32_t)c.hdr.attrs[0].data;
	return err;
}

static inline int dereg_umem(int fd, const struct umem *u)
{
	union command c;

	add(begin(&c, MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG),
	    MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, 0, u->handle);
	return issue(fd, &c);
}

#endif
