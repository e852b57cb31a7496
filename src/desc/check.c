/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "check.h"
#include "bytes.h"
#include "layout.h"

#include <stdbool.h>

#define VHCA_ID_NONE 0xffffu
#define PDN_MAX	     0xffffffu
#define HANDLE_SIZE  4u
#define LID_MAX	     0xbfffu /* the last unicast LID */
#define ACCESS_PCI   (DPUMAP_DESC_ACCESS_PCI_READ_ONLY | DPUMAP_DESC_ACCESS_PCI_READ_WRITE)
#define ACCESS_RDMA                                                     \
	(DPUMAP_DESC_ACCESS_RDMA_READ | DPUMAP_DESC_ACCESS_RDMA_WRITE | \
	 DPUMAP_DESC_ACCESS_RDMA_ATOMIC)

static dpumap_desc_status_t check_access(uint16_t kind, uint32_t access)
{
	const uint32_t of_kind = kind == DPUMAP_DESC_KIND_PCI ? ACCESS_PCI : ACCESS_RDMA;
	/* Importers of a umem have the rights of the exporter. */
	const bool needed = kind != DPUMAP_DESC_KIND_UMEM;

	if (access & ~DPUMAP_DESC_ACCESS_ALL)
		return DPUMAP_DESC_ERR_ACCESS_BITS;
	if ((access & ACCESS_PCI) == ACCESS_PCI)
		return DPUMAP_DESC_ERR_ACCESS_BOTH;
	if (needed && !(access & of_kind))
		return DPUMAP_DESC_ERR_ACCESS_NONE;
	return DPUMAP_DESC_OK;
}

static dpumap_desc_status_t check_range(uint64_t addr, uint64_t len)
{
	if (!len)
		return DPUMAP_DESC_ERR_LEN;
	/* Importers compute the end, so it must fit into 64 bits. */
	if (len > UINT64_MAX - addr)
		return DPUMAP_DESC_ERR_RANGE;
	return DPUMAP_DESC_OK;
}

/* Constant time: it must not reveal anything about a key. */
static bool all_zero(const uint8_t *bytes, size_t from, size_t size)
{
	uint64_t seen = 0;

	for (; from + 8 <= size; from += 8)
		seen |= load_u64(bytes + from);
	for (; from < size; from++)
		seen |= bytes[from];
	return !seen;
}

static dpumap_desc_status_t check_key(const struct dpumap_desc *d)
{
	return all_zero(d->access_key, 0, sizeof(d->access_key)) ? DPUMAP_DESC_ERR_ACCESS_KEY
								 : DPUMAP_DESC_OK;
}

static dpumap_desc_status_t check_port(const struct dpumap_desc *d)
{
	const struct dpumap_desc_port *p = &d->port;
	const bool is_known = p->link_layer != DPUMAP_DESC_LINK_UNTOLD;
	const bool has_lid = p->link_layer == DPUMAP_DESC_LINK_INFINIBAND;

	if (p->link_layer > DPUMAP_DESC_LINK_ETHERNET)
		return DPUMAP_DESC_ERR_LINK_LAYER;
	if (p->lid > (has_lid ? LID_MAX : 0))
		return DPUMAP_DESC_ERR_LID;
	if (all_zero(p->gid, 0, sizeof(p->gid)) == is_known)
		return DPUMAP_DESC_ERR_GID;
	return DPUMAP_DESC_OK;
}

static dpumap_desc_status_t check_token(const struct dpumap_desc_umem *u)
{
	const size_t max = u->form == DPUMAP_DESC_UMEM_HANDLE ? HANDLE_SIZE : sizeof(u->token);
	const size_t min = u->form == DPUMAP_DESC_UMEM_HANDLE ? HANDLE_SIZE : 1;

	if (u->form != DPUMAP_DESC_UMEM_HANDLE && u->form != DPUMAP_DESC_UMEM_LIBMLX5)
		return DPUMAP_DESC_ERR_UMEM_FORM;
	if (u->token_len < min || u->token_len > max)
		return DPUMAP_DESC_ERR_TOKEN_LEN;
	if (!all_zero(u->token, u->token_len, sizeof(u->token)))
		return DPUMAP_DESC_ERR_TOKEN;
	return DPUMAP_DESC_OK;
}

static dpumap_desc_status_t check_umem(const struct dpumap_desc *d)
{
	const struct dpumap_desc_umem *u = &d->umem;

	/* Importers compute the end, so it must fit into 64 bits. */
	if (d->len > UINT64_MAX - u->start)
		return DPUMAP_DESC_ERR_START;
	if (u->pdn > PDN_MAX)
		return DPUMAP_DESC_ERR_PDN;
	return check_token(u);
}

static dpumap_desc_status_t check_kind(const struct dpumap_desc *d)
{
	switch (d->kind) {
	case DPUMAP_DESC_KIND_PCI:
		return check_key(d);
	case DPUMAP_DESC_KIND_RDMA:
		return check_port(d);
	default:
		return check_umem(d);
	}
}

static bool check_source(const struct dpumap_desc *d)
{
	return d->source == DPUMAP_DESC_SOURCE_MEMORY || d->source == DPUMAP_DESC_SOURCE_DMABUF ||
	       (d->source == DPUMAP_DESC_SOURCE_DEVICE_MEMORY && d->kind != DPUMAP_DESC_KIND_UMEM);
}

dpumap_desc_status_t dpumap_desc_check(const struct dpumap_desc *d)
{
	dpumap_desc_status_t status;

	if (!dpumap_desc_size(d->kind))
		return DPUMAP_DESC_ERR_KIND;
	if (!check_source(d))
		return DPUMAP_DESC_ERR_SOURCE;
	if (d->vhca_id == VHCA_ID_NONE)
		return DPUMAP_DESC_ERR_VHCA_ID;
	status = check_access(d->kind, d->access);
	if (status != DPUMAP_DESC_OK)
		return status;
	if (!d->device_guid)
		return DPUMAP_DESC_ERR_DEVICE_GUID;
	if (!d->mkey && d->kind != DPUMAP_DESC_KIND_UMEM)
		return DPUMAP_DESC_ERR_MKEY;
	status = check_range(d->addr, d->len);
	if (status != DPUMAP_DESC_OK)
		return status;
	return check_kind(d);
}

void dpumap_desc_wipe(struct dpumap_desc *d)
{
	volatile uint8_t *byte = (volatile uint8_t *)d;

	if (!d)
		return;
	for (size_t i = 0; i < sizeof(*d); i++)
		byte[i] = 0;
}
