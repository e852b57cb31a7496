/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "crc32c.h"
#include "layout.h"

#include <stdbool.h>

#define VHCA_ID_NONE 0xffffu
#define PDN_MAX	     0xffffffu
#define HANDLE_SIZE  4u
#define ACCESS_PCI   (DPUMAP_DESC_ACCESS_PCI_READ_ONLY | DPUMAP_DESC_ACCESS_PCI_READ_WRITE)
#define ACCESS_RDMA                                                     \
	(DPUMAP_DESC_ACCESS_RDMA_READ | DPUMAP_DESC_ACCESS_RDMA_WRITE | \
	 DPUMAP_DESC_ACCESS_RDMA_ATOMIC)

uint32_t dpumap_desc_checksum(const uint8_t *buf, size_t len)
{
	static const uint8_t no_crc[HEADER_SIZE - CRC_OFFSET];
	uint32_t crc;

	crc = dpumap_desc_crc32c(0, buf, CRC_OFFSET);
	crc = dpumap_desc_crc32c(crc, no_crc, sizeof(no_crc));
	return dpumap_desc_crc32c(crc, buf + HEADER_SIZE, len - HEADER_SIZE);
}

size_t dpumap_desc_size(uint16_t kind)
{
	switch (kind) {
	case DPUMAP_DESC_KIND_PCI:
		return DPUMAP_DESC_PCI_SIZE;
	case DPUMAP_DESC_KIND_RDMA:
		return DPUMAP_DESC_RDMA_SIZE;
	case DPUMAP_DESC_KIND_UMEM:
		return DPUMAP_DESC_UMEM_SIZE;
	default:
		return 0;
	}
}

static dpumap_desc_status_t check_access(uint16_t kind, uint32_t access)
{
	const uint32_t of_kind = kind == DPUMAP_DESC_KIND_PCI ? ACCESS_PCI : ACCESS_RDMA;
	const bool needed =
		kind != DPUMAP_DESC_KIND_UMEM; /* whose importers are the exporter's like */

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
	/* The end itself must be a 64-bit number, so that importers may compute it. */
	if (len > UINT64_MAX - addr)
		return DPUMAP_DESC_ERR_RANGE;
	return DPUMAP_DESC_OK;
}

/* No early exit: the time taken says nothing about a key. */
static bool all_zero(const uint8_t *bytes, size_t len)
{
	uint8_t seen = 0;

	for (size_t i = 0; i < len; i++)
		seen |= bytes[i];
	return !seen;
}

static dpumap_desc_status_t check_key(const struct dpumap_desc *d)
{
	bool zero = all_zero(d->access_key, sizeof(d->access_key));

	if (d->kind == DPUMAP_DESC_KIND_PCI)
		return zero ? DPUMAP_DESC_ERR_ACCESS_KEY : DPUMAP_DESC_OK;
	return zero ? DPUMAP_DESC_OK : DPUMAP_DESC_ERR_KEY_UNUSED;
}

static dpumap_desc_status_t check_token(const struct dpumap_desc_umem *u)
{
	const size_t max = u->form == DPUMAP_DESC_UMEM_HANDLE ? HANDLE_SIZE : sizeof(u->token);
	const size_t min = u->form == DPUMAP_DESC_UMEM_HANDLE ? HANDLE_SIZE : 1;

	if (u->form != DPUMAP_DESC_UMEM_HANDLE && u->form != DPUMAP_DESC_UMEM_LIBMLX5)
		return DPUMAP_DESC_ERR_UMEM_FORM;
	if (u->token_len < min || u->token_len > max ||
	    !all_zero(u->token + u->token_len, sizeof(u->token) - u->token_len))
		return DPUMAP_DESC_ERR_UMEM_TOKEN;
	return DPUMAP_DESC_OK;
}

static dpumap_desc_status_t check_umem(const struct dpumap_desc *d)
{
	const struct dpumap_desc_umem *u = &d->umem;
	dpumap_desc_status_t status;

	if (d->kind != DPUMAP_DESC_KIND_UMEM) {
		if (u->start || u->pd_handle || u->pdn || u->form || u->token_len ||
		    !all_zero(u->token, sizeof(u->token)))
			return DPUMAP_DESC_ERR_UMEM_UNUSED;
		return DPUMAP_DESC_OK;
	}
	status = check_range(u->start, d->len);
	if (status != DPUMAP_DESC_OK)
		return status;
	if (u->pdn > PDN_MAX)
		return DPUMAP_DESC_ERR_PDN;
	return check_token(u);
}

static bool check_source(const struct dpumap_desc *d)
{
	return d->source == DPUMAP_DESC_SOURCE_MEMORY ||
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
	status = check_key(d);
	return status == DPUMAP_DESC_OK ? check_umem(d) : status;
}

void dpumap_desc_wipe(struct dpumap_desc *d)
{
	volatile uint8_t *byte = (volatile uint8_t *)d;

	if (!d)
		return;
	for (size_t i = 0; i < sizeof(*d); i++)
		byte[i] = 0;
}
