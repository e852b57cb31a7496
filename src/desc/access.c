/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The operations that a descriptor permits. */
#include "check.h"
#include "layout.h"

#define ATOMIC_SIZE 8u

/* Access bits of a kind, any of which permits an operation. */
struct permit {
	uint32_t read;
	uint32_t write;
	uint32_t atomic;
};

static struct permit permit_of(uint16_t kind)
{
	switch (kind) {
	case DPUMAP_DESC_KIND_PCI:
		return (struct permit){
			.read = DPUMAP_DESC_ACCESS_PCI_READ_ONLY |
				DPUMAP_DESC_ACCESS_PCI_READ_WRITE,
			.write = DPUMAP_DESC_ACCESS_PCI_READ_WRITE,
		};
	case DPUMAP_DESC_KIND_RDMA:
		return (struct permit){
			.read = DPUMAP_DESC_ACCESS_RDMA_READ,
			.write = DPUMAP_DESC_ACCESS_RDMA_WRITE,
			.atomic = DPUMAP_DESC_ACCESS_RDMA_ATOMIC,
		};
	default: /* importers of a umem use the exporter's device, which may always read */
		return (struct permit){
			.read = ~0u,
			.write = DPUMAP_DESC_ACCESS_LOCAL_READ_WRITE,
			.atomic = DPUMAP_DESC_ACCESS_LOCAL_READ_WRITE,
		};
	}
}

static uint32_t ops_of(const struct dpumap_desc *d)
{
	const struct permit permit = permit_of(d->kind);
	uint32_t ops = 0;

	if (d->access & permit.read || d->kind == DPUMAP_DESC_KIND_UMEM)
		ops |= DPUMAP_DESC_OP_READ;
	if (d->access & permit.write)
		ops |= DPUMAP_DESC_OP_WRITE;
	if (d->access & permit.atomic)
		ops |= DPUMAP_DESC_OP_ATOMIC;
	return ops;
}

dpumap_desc_status_t dpumap_desc_get_window(const struct dpumap_desc *d,
					    struct dpumap_desc_window *w)
{
	dpumap_desc_status_t status;

	if (!d || !w)
		return DPUMAP_DESC_ERR_NULL;
	status = dpumap_desc_check(d);
	if (status != DPUMAP_DESC_OK)
		return status;
	w->addr = d->addr;
	w->len = d->len;
	w->ops = ops_of(d);
	return DPUMAP_DESC_OK;
}

dpumap_desc_status_t dpumap_desc_check_access(const struct dpumap_desc *d, uint64_t addr,
					      uint64_t len, uint32_t ops)
{
	struct dpumap_desc_window w;
	dpumap_desc_status_t status;

	status = dpumap_desc_get_window(d, d ? &w : NULL);
	if (status != DPUMAP_DESC_OK)
		return status;
	if (!ops || ops & ~DPUMAP_DESC_OP_ALL)
		return DPUMAP_DESC_ERR_OP;
	status = dpumap_desc_window_check(&w, addr, len, ops);
	if (status == DPUMAP_DESC_ERR_DENIED)
		return status;
	if (ops & DPUMAP_DESC_OP_ATOMIC && (len != ATOMIC_SIZE || addr % ATOMIC_SIZE))
		return DPUMAP_DESC_ERR_ALIGNMENT;
	return status;
}
