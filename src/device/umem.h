/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Pages of memory that the device has registered once (a DEVX umem), for any number of regions in
 * every process that has the same kernel context.
 *
 * Once it may be known elsewhere, each process holds a registration by an mkey of its own on it:
 * the device does not give up what an mkey lies on, so neither a handle nor a number that somebody
 * holds can come to mean something else.
 */
#ifndef DPUMAP_DEVICE_UMEM_H
#define DPUMAP_DEVICE_UMEM_H

#include "device/region.h"

#define DPUMAP_UMEM_TOKEN_SIZE 32

struct dpumap_umem_source {
	uint64_t start; /* first byte: address, or offset in the dma-buf */
	uint64_t len;
	int dmabuf; /* or -1 */
	bool writable;
};

/* What another process needs to find a registration. */
struct dpumap_umem_ticket {
	uint16_t form;
	uint16_t token_len;
	uint8_t token[DPUMAP_UMEM_TOKEN_SIZE]; /* zero behind token_len */
	uint32_t umem_id;
	uint32_t pd_handle;
	uint32_t pdn;
};

struct dpumap_pages;

doca_error_t dpumap_pages_register(struct dpumap_device *device,
				   const struct dpumap_umem_source *source,
				   struct dpumap_pages **pages);
doca_error_t dpumap_pages_export(struct dpumap_pages *pages, struct dpumap_umem_ticket *ticket);
doca_error_t dpumap_pages_import(struct dpumap_device *device,
				 const struct dpumap_umem_source *source,
				 const struct dpumap_umem_ticket *ticket,
				 struct dpumap_pages **pages);

/* End the registration, if no other process holds it; on failure the pages are still there. */
doca_error_t dpumap_pages_deregister(struct dpumap_pages *pages);
/* Forget it; it lives on. On failure the pages are still there. */
doca_error_t dpumap_pages_leave(struct dpumap_pages *pages);

/* The first byte of the range is `offset` bytes behind that of the pages. */
doca_error_t dpumap_region_register_pages(struct dpumap_pages *pages, uint64_t offset,
					  struct dpumap_range range, uint32_t access,
					  struct dpumap_region **region);

#endif
