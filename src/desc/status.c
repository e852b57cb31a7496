/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <dpumap/desc.h>

struct status_text {
	const char *name;
	const char *descr;
};

#define TEXT(status, text) [-(status)] = {#status, text}

static const struct status_text texts[] = {
	TEXT(DPUMAP_DESC_OK, "success"),
	TEXT(DPUMAP_DESC_ERR_NULL, "a required pointer is NULL"),
	TEXT(DPUMAP_DESC_ERR_TOO_SHORT, "fewer bytes than a descriptor header"),
	TEXT(DPUMAP_DESC_ERR_TOO_LONG, "more bytes than any descriptor has"),
	TEXT(DPUMAP_DESC_ERR_MAGIC, "not a descriptor: wrong magic"),
	TEXT(DPUMAP_DESC_ERR_VERSION, "major version not supported"),
	TEXT(DPUMAP_DESC_ERR_TRUNCATED, "truncated: fewer bytes than its length field says"),
	TEXT(DPUMAP_DESC_ERR_TRAILING, "more bytes than its length field says"),
	TEXT(DPUMAP_DESC_ERR_CHECKSUM, "damaged: checksum does not match"),
	TEXT(DPUMAP_DESC_ERR_KIND, "kind not supported"),
	TEXT(DPUMAP_DESC_ERR_BODY, "too short for the fields of its kind"),
	TEXT(DPUMAP_DESC_ERR_RESERVED, "reserved bytes are not zero"),
	TEXT(DPUMAP_DESC_ERR_SOURCE, "memory source not supported"),
	TEXT(DPUMAP_DESC_ERR_ACCESS_BITS, "undefined access bits are set"),
	TEXT(DPUMAP_DESC_ERR_ACCESS_BOTH, "PCI read-only and PCI read-write exclude each other"),
	TEXT(DPUMAP_DESC_ERR_ACCESS_NONE, "nothing is permitted to the importers of its kind"),
	TEXT(DPUMAP_DESC_ERR_DEVICE_GUID, "device GUID is zero"),
	TEXT(DPUMAP_DESC_ERR_VHCA_ID, "vhca_id is the reserved value 0xffff"),
	TEXT(DPUMAP_DESC_ERR_MKEY, "mkey is zero"),
	TEXT(DPUMAP_DESC_ERR_LEN, "memory range is empty"),
	TEXT(DPUMAP_DESC_ERR_RANGE, "memory range exceeds the 64-bit address space"),
	TEXT(DPUMAP_DESC_ERR_ACCESS_KEY, "access key is all zero"),
	TEXT(DPUMAP_DESC_ERR_TLV, "malformed extension"),
	TEXT(DPUMAP_DESC_ERR_TLV_ORDER, "extensions are out of order"),
	TEXT(DPUMAP_DESC_ERR_TLV_REPEATED, "an extension occurs twice"),
	TEXT(DPUMAP_DESC_ERR_TLV_CRITICAL, "an unknown extension is marked critical"),
	TEXT(DPUMAP_DESC_ERR_BUFFER, "output buffer is too small"),
	TEXT(DPUMAP_DESC_ERR_KEY_UNUSED, "access key is given to a kind that has none"),
	TEXT(DPUMAP_DESC_ERR_PDN, "protection domain number has more than 24 bits"),
	TEXT(DPUMAP_DESC_ERR_UMEM_FORM, "form of the umem's token not supported"),
	TEXT(DPUMAP_DESC_ERR_UMEM_TOKEN, "token of the umem is malformed"),
	TEXT(DPUMAP_DESC_ERR_UMEM_UNUSED, "umem fields are given to a kind that has none"),
};

#define LAST_STATUS (-(dpumap_desc_status_t)(sizeof(texts) / sizeof(texts[0])) + 1)

_Static_assert(LAST_STATUS == DPUMAP_DESC_ERR_UMEM_UNUSED, "every status has its text");

static const struct status_text *find_text(dpumap_desc_status_t status)
{
	static const struct status_text unknown = {"DPUMAP_DESC_ERR_UNKNOWN",
						   "unknown descriptor status"};

	return status <= 0 && status >= LAST_STATUS ? &texts[-status] : &unknown;
}

const char *dpumap_desc_status_name(dpumap_desc_status_t status)
{
	return find_text(status)->name;
}

const char *dpumap_desc_status_descr(dpumap_desc_status_t status)
{
	return find_text(status)->descr;
}
