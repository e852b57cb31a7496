/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory that the device has registered once (a DEVX umem), for any number of regions in each
 * process that uses the same kernel context.
 *
 * From its export on, each process keeps an mkey of its own on the umem (the reference). The firmware
 * does not destroy a umem that has mkeys, so neither its handle nor its number can come to mean
 * another umem.
 */
#ifndef DPUMAP_DEVICE_MEMORY_UMEM_H
#define DPUMAP_DEVICE_MEMORY_UMEM_H

#include "device/memory/region.h"

#define DPUMAP_UMEM_TOKEN_SIZE 32

struct dpumap_umem_source {
	uint64_t start; /* first byte: address, or offset in the dma-buf */
	uint64_t len;
	int dmabuf; /* or -1 */
	bool writable;
};

/* What another process needs to import a umem. */
struct dpumap_umem_handle {
	uint16_t form;
	uint16_t token_len;
	uint8_t token[DPUMAP_UMEM_TOKEN_SIZE]; /* zero after token_len */
	uint32_t umem_id;
	uint32_t pd_handle;
	uint32_t pdn;
};

struct dpumap_devx_umem;

doca_error_t dpumap_devx_umem_register(struct dpumap_device *device,
				       const struct dpumap_umem_source *source,
				       struct dpumap_devx_umem **umem);
doca_error_t dpumap_devx_umem_export(struct dpumap_devx_umem *umem,
				     struct dpumap_umem_handle *handle);
doca_error_t dpumap_devx_umem_import(struct dpumap_device *device,
				     const struct dpumap_umem_source *source,
				     const struct dpumap_umem_handle *handle,
				     struct dpumap_devx_umem **umem);

/* DOCA_ERROR_IN_USE if another process uses the umem; on failure it stays registered. */
doca_error_t dpumap_devx_umem_deregister(struct dpumap_devx_umem *umem);
/* Release this process's reference; the umem stays registered. On failure nothing changes. */
doca_error_t dpumap_devx_umem_unimport(struct dpumap_devx_umem *umem);

#endif
