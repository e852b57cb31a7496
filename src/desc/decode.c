/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "decode.h"
#include "check.h"
#include "cursor.h"
#include "layout.h"

/* Magic and version go first: the other offsets depend on them. */
static dpumap_desc_status_t get_header(struct reader *r, const uint8_t *buf, size_t len,
				       uint16_t *kind)
{
	uint32_t crc;
	uint16_t total;

	if (get_u32(r) != MAGIC)
		return DPUMAP_DESC_ERR_MAGIC;
	crc = get_u32(r);
	if (get_u8(r) != VERSION_MAJOR)
		return DPUMAP_DESC_ERR_VERSION;
	(void)get_u8(r); /* all minor versions can be read */
	*kind = get_u16(r);
	total = get_u16(r);
	if (len < total)
		return DPUMAP_DESC_ERR_TRUNCATED;
	if (len > total)
		return DPUMAP_DESC_ERR_TRAILING;
	if (crc != dpumap_desc_checksum(buf, len))
		return DPUMAP_DESC_ERR_CHECKSUM;
	return DPUMAP_DESC_OK;
}

static void get_port(struct reader *r, struct dpumap_desc_port *p)
{
	p->link_layer = get_u16(r);
	p->lid = get_u16(r);
	get_bytes(r, p->gid, sizeof(p->gid));
}

static void get_umem(struct reader *r, struct dpumap_desc_umem *u)
{
	u->start = get_u64(r);
	u->pd_handle = get_u32(r);
	u->pdn = get_u32(r);
	u->form = get_u16(r);
	u->token_len = get_u16(r);
	get_bytes(r, u->token, sizeof(u->token));
}

static void get_common(struct reader *r, struct dpumap_desc *d)
{
	d->source = get_u16(r);
	d->vhca_id = get_u16(r);
	d->access = get_u16(r);
	d->mkey = get_u32(r);
	d->device_guid = get_u64(r);
	d->addr = get_u64(r);
	d->len = get_u64(r);
}

static void get_own(struct reader *r, struct dpumap_desc *d)
{
	if (d->kind == DPUMAP_DESC_KIND_PCI)
		get_bytes(r, d->access_key, sizeof(d->access_key));
	if (d->kind == DPUMAP_DESC_KIND_RDMA)
		get_port(r, &d->port);
	if (d->kind == DPUMAP_DESC_KIND_UMEM)
		get_umem(r, &d->umem);
}

static dpumap_desc_status_t get_fields(struct reader *r, struct dpumap_desc *d)
{
	const size_t size = dpumap_desc_size(d->kind) - HEADER_SIZE;
	struct reader common;

	if (r->left < size)
		return DPUMAP_DESC_ERR_BODY;
	/* The size is constant, so that the compiler can drop the checks. */
	read_from(&common, take(r, COMMON_SIZE), COMMON_SIZE);
	get_common(&common, d);
	get_own(r, d);
	return dpumap_desc_check(d);
}

/* Version 1.0 defines no extensions: skip each, unless it is critical. */
static dpumap_desc_status_t skip_tlv(struct reader *r, uint16_t *last)
{
	uint16_t type = get_u16(r);
	uint16_t number = type & TLV_NUMBER_MASK;

	(void)take(r, get_u16(r));
	if (r->overrun)
		return DPUMAP_DESC_ERR_TLV;
	if (!number)
		return DPUMAP_DESC_ERR_TLV_NUMBER;
	if (number == *last)
		return DPUMAP_DESC_ERR_TLV_REPEATED;
	if (number < *last)
		return DPUMAP_DESC_ERR_TLV_ORDER;
	if (type & TLV_CRITICAL)
		return DPUMAP_DESC_ERR_TLV_CRITICAL;
	*last = number;
	return DPUMAP_DESC_OK;
}

static dpumap_desc_status_t skip_tlvs(struct reader *r)
{
	dpumap_desc_status_t status = DPUMAP_DESC_OK;
	struct reader before = *r;
	uint16_t last = 0;

	while (status == DPUMAP_DESC_OK && r->left) {
		before = *r;
		status = skip_tlv(r, &last);
	}
	if (status != DPUMAP_DESC_OK)
		*r = before;
	return status;
}

dpumap_desc_status_t dpumap_desc_read(struct reader *r, struct dpumap_desc *d)
{
	const size_t len = r->left;
	dpumap_desc_status_t status;
	struct reader header;
	const uint8_t *buf;

	if (len < HEADER_SIZE)
		return DPUMAP_DESC_ERR_TOO_SHORT;
	if (len > DPUMAP_DESC_MAX_SIZE)
		return DPUMAP_DESC_ERR_TOO_LONG;
	buf = take(r, HEADER_SIZE);
	read_from(&header, buf, HEADER_SIZE);
	status = get_header(&header, buf, len, &d->kind);
	if (status != DPUMAP_DESC_OK)
		return status;
	/* The fields depend on the kind, so check it first. */
	if (!dpumap_desc_size(d->kind))
		return DPUMAP_DESC_ERR_KIND;
	status = get_fields(r, d);
	if (status != DPUMAP_DESC_OK)
		return status;
	return skip_tlvs(r);
}

dpumap_desc_status_t dpumap_desc_decode(const void *buf, size_t len, struct dpumap_desc *d)
{
	dpumap_desc_status_t status;
	struct reader r;

	if (!d)
		return DPUMAP_DESC_ERR_NULL;
	fill(d, 0, sizeof(*d));
	if (!buf)
		return DPUMAP_DESC_ERR_NULL;
	read_from(&r, buf, len);
	status = dpumap_desc_read(&r, d);
	if (status != DPUMAP_DESC_OK)
		dpumap_desc_wipe(d);
	return status;
}
