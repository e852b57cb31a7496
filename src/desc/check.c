/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "crc32c.h"
#include "layout.h"

#include <stdbool.h>

#define VHCA_ID_NONE 0xffffu
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
	default:
		return 0;
	}
}

static dpumap_desc_status_t check_access(uint16_t kind, uint32_t access)
{
	const uint32_t of_kind = kind == DPUMAP_DESC_KIND_PCI ? ACCESS_PCI : ACCESS_RDMA;

	if (access & ~DPUMAP_DESC_ACCESS_ALL)
		return DPUMAP_DESC_ERR_ACCESS_BITS;
	if ((access & ACCESS_PCI) == ACCESS_PCI)
		return DPUMAP_DESC_ERR_ACCESS_BOTH;
	if (!(access & of_kind))
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

/* No early exit: the time taken says nothing about the key. */
static bool key_is_zero(const uint8_t key[DPUMAP_DESC_ACCESS_KEY_SIZE])
{
	uint8_t seen = 0;

	for (size_t i = 0; i < DPUMAP_DESC_ACCESS_KEY_SIZE; i++)
		seen |= key[i];
	return !seen;
}

static dpumap_desc_status_t check_key(const struct dpumap_desc *d)
{
	bool zero = key_is_zero(d->access_key);

	if (d->kind == DPUMAP_DESC_KIND_PCI)
		return zero ? DPUMAP_DESC_ERR_ACCESS_KEY : DPUMAP_DESC_OK;
	return zero ? DPUMAP_DESC_OK : DPUMAP_DESC_ERR_KEY_UNUSED;
}

dpumap_desc_status_t dpumap_desc_check(const struct dpumap_desc *d)
{
	dpumap_desc_status_t status;

	if (!dpumap_desc_size(d->kind))
		return DPUMAP_DESC_ERR_KIND;
	if (d->source != DPUMAP_DESC_SOURCE_MEMORY && d->source != DPUMAP_DESC_SOURCE_DEVICE_MEMORY)
		return DPUMAP_DESC_ERR_SOURCE;
	if (d->vhca_id == VHCA_ID_NONE)
		return DPUMAP_DESC_ERR_VHCA_ID;
	status = check_access(d->kind, d->access);
	if (status != DPUMAP_DESC_OK)
		return status;
	if (!d->device_guid)
		return DPUMAP_DESC_ERR_DEVICE_GUID;
	if (!d->mkey)
		return DPUMAP_DESC_ERR_MKEY;
	status = check_range(d->addr, d->len);
	if (status != DPUMAP_DESC_OK)
		return status;
	return check_key(d);
}

void dpumap_desc_wipe(struct dpumap_desc *d)
{
	volatile uint8_t *byte = (volatile uint8_t *)d;

	if (!d)
		return;
	for (size_t i = 0; i < sizeof(*d); i++)
		byte[i] = 0;
}
