/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Finds the wrong byte of a descriptor. Separate from decoding, which is faster without it, so that
 * firmware does not link it.
 */
#include "cursor.h"
#include "decode.h"
#include "layout.h"

/* For errors that always concern the same field. */
static const uint8_t field_offset[] = {
	[-DPUMAP_DESC_ERR_MAGIC] = MAGIC_OFFSET,
	[-DPUMAP_DESC_ERR_VERSION] = MAJOR_OFFSET,
	[-DPUMAP_DESC_ERR_CHECKSUM] = CRC_OFFSET,
	[-DPUMAP_DESC_ERR_KIND] = KIND_OFFSET,
	[-DPUMAP_DESC_ERR_SOURCE] = SOURCE_OFFSET,
	[-DPUMAP_DESC_ERR_VHCA_ID] = VHCA_ID_OFFSET,
	[-DPUMAP_DESC_ERR_ACCESS_BITS] = ACCESS_OFFSET,
	[-DPUMAP_DESC_ERR_ACCESS_BOTH] = ACCESS_OFFSET,
	[-DPUMAP_DESC_ERR_ACCESS_NONE] = ACCESS_OFFSET,
	[-DPUMAP_DESC_ERR_DEVICE_GUID] = GUID_OFFSET,
	[-DPUMAP_DESC_ERR_MKEY] = MKEY_OFFSET,
	[-DPUMAP_DESC_ERR_LEN] = LEN_OFFSET,
	[-DPUMAP_DESC_ERR_RANGE] = LEN_OFFSET,
	[-DPUMAP_DESC_ERR_ACCESS_KEY] = KEY_OFFSET,
	[-DPUMAP_DESC_ERR_LINK_LAYER] = LINK_OFFSET,
	[-DPUMAP_DESC_ERR_LID] = LID_OFFSET,
	[-DPUMAP_DESC_ERR_GID] = GID_OFFSET,
	[-DPUMAP_DESC_ERR_START] = START_OFFSET,
	[-DPUMAP_DESC_ERR_PDN] = PDN_OFFSET,
	[-DPUMAP_DESC_ERR_UMEM_FORM] = FORM_OFFSET,
	[-DPUMAP_DESC_ERR_TOKEN_LEN] = TOKEN_LEN_OFFSET,
	[-DPUMAP_DESC_ERR_TOKEN] = TOKEN_OFFSET,
};

static size_t find(dpumap_desc_status_t status, const uint8_t *buf, size_t len, size_t extension)
{
	switch (status) {
	case DPUMAP_DESC_OK:
	case DPUMAP_DESC_ERR_TOO_SHORT:
	case DPUMAP_DESC_ERR_TRUNCATED:
	case DPUMAP_DESC_ERR_BODY:
		return len;
	case DPUMAP_DESC_ERR_TOO_LONG:
		return DPUMAP_DESC_MAX_SIZE;
	case DPUMAP_DESC_ERR_TRAILING:
		return load_u16(buf + TOTAL_OFFSET);
	case DPUMAP_DESC_ERR_TLV:
	case DPUMAP_DESC_ERR_TLV_NUMBER:
	case DPUMAP_DESC_ERR_TLV_REPEATED:
	case DPUMAP_DESC_ERR_TLV_ORDER:
	case DPUMAP_DESC_ERR_TLV_CRITICAL:
		return extension;
	default:
		return field_offset[-status];
	}
}

dpumap_desc_status_t dpumap_desc_diagnose(const void *buf, size_t len, size_t *offset)
{
	dpumap_desc_status_t status;
	struct dpumap_desc d;
	struct reader r;

	if (!buf || !offset)
		return DPUMAP_DESC_ERR_NULL;
	read_from(&r, buf, len);
	status = dpumap_desc_read(&r, &d);
	*offset = find(status, buf, len, len - r.left);
	dpumap_desc_wipe(&d);
	return status;
}
