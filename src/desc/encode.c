/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "check.h"
#include "cursor.h"
#include "layout.h"

static void put_header(struct writer *w, uint16_t kind, uint16_t total)
{
	put_u32(w, MAGIC);
	put_u32(w, 0); /* checksum, set at the end */
	put_u8(w, VERSION_MAJOR);
	put_u8(w, VERSION_MINOR);
	put_u16(w, kind);
	put_u16(w, total);
}

static void put_port(struct writer *w, const struct dpumap_desc_port *p)
{
	put_u16(w, p->link_layer);
	put_u16(w, p->lid);
	put_bytes(w, p->gid, sizeof(p->gid));
}

static void put_umem(struct writer *w, const struct dpumap_desc_umem *u)
{
	put_u64(w, u->start);
	put_u32(w, u->pd_handle);
	put_u32(w, u->pdn);
	put_u16(w, u->form);
	put_u16(w, u->token_len);
	put_bytes(w, u->token, sizeof(u->token));
}

static void put_common(struct writer *w, const struct dpumap_desc *d)
{
	put_u16(w, d->source);
	put_u16(w, d->vhca_id);
	put_u16(w, (uint16_t)d->access);
	put_u32(w, d->mkey);
	put_u64(w, d->device_guid);
	put_u64(w, d->addr);
	put_u64(w, d->len);
}

static void put_own(struct writer *w, const struct dpumap_desc *d)
{
	if (d->kind == DPUMAP_DESC_KIND_PCI)
		put_bytes(w, d->access_key, sizeof(d->access_key));
	if (d->kind == DPUMAP_DESC_KIND_RDMA)
		put_port(w, &d->port);
	if (d->kind == DPUMAP_DESC_KIND_UMEM)
		put_umem(w, &d->umem);
}

static void put_checksum(uint8_t *buf, size_t size)
{
	struct writer w = writer_of(buf + CRC_OFFSET, CRC_END - CRC_OFFSET);

	put_u32(&w, dpumap_desc_checksum(buf, size));
}

/* Two sizes are constant, so that the compiler can drop the checks. */
static void put_all(uint8_t *buf, size_t size, const struct dpumap_desc *d)
{
	struct writer header = writer_of(buf, HEADER_SIZE);
	struct writer common = writer_of(buf + HEADER_SIZE, COMMON_SIZE);
	struct writer own = writer_of(buf + COMMON_END, size - COMMON_END);

	put_header(&header, d->kind, (uint16_t)size);
	put_common(&common, d);
	put_own(&own, d);
	put_checksum(buf, size);
}

dpumap_desc_status_t dpumap_desc_encoded_size(const struct dpumap_desc *d, size_t *size)
{
	dpumap_desc_status_t status;

	if (!d || !size)
		return DPUMAP_DESC_ERR_NULL;
	status = dpumap_desc_check(d);
	if (status != DPUMAP_DESC_OK)
		return status;
	*size = dpumap_desc_size(d->kind);
	return DPUMAP_DESC_OK;
}

dpumap_desc_status_t dpumap_desc_encode(const struct dpumap_desc *d, void *buf, size_t buf_len,
					size_t *written)
{
	dpumap_desc_status_t status;
	size_t size;

	if (!d || !buf || !written)
		return DPUMAP_DESC_ERR_NULL;
	status = dpumap_desc_check(d);
	if (status != DPUMAP_DESC_OK)
		return status;
	size = dpumap_desc_size(d->kind);
	if (buf_len < size)
		return DPUMAP_DESC_ERR_BUFFER;
	put_all(buf, size, d);
	*written = size;
	return DPUMAP_DESC_OK;
}
