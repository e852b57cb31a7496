/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "sync_event/blob.h"

#include <string.h>

#include "desc/bytes.h"
#include "desc/crc32c.h"
#include "log/log.h"

/* Offsets in the header; numbers are little-endian. */
#define MAGIC_AT   0u
#define CRC_AT	   4u
#define VERSION_AT 8u
#define KIND_AT	   9u
#define ZERO_AT	   10u
#define LEN_AT	   12u

#define MAGIC	   0x45535044u /* "DPSE" in memory */
#define VERSION	   1u
#define KIND_PCI   1u
#define KIND_NET   2u

static uint32_t checksum(const uint8_t *blob, size_t size)
{
	return dpumap_desc_crc32c(0, blob + VERSION_AT, size - VERSION_AT);
}

static uint8_t kind_of(bool to_net)
{
	return to_net ? KIND_NET : KIND_PCI;
}

void dpumap_sync_blob_seal(uint8_t *blob, bool to_net, const void *desc, size_t len)
{
	store_u32(blob + MAGIC_AT, MAGIC);
	blob[VERSION_AT] = VERSION;
	blob[KIND_AT] = kind_of(to_net);
	store_u16(blob + ZERO_AT, 0);
	store_u32(blob + LEN_AT, (uint32_t)len);
	memcpy(blob + SYNC_BLOB_HEADER, desc, len);
	store_u32(blob + CRC_AT, checksum(blob, SYNC_BLOB_HEADER + len));
}

static const char *find_damage(const uint8_t *blob, size_t size)
{
	if (size <= SYNC_BLOB_HEADER || load_u32(blob + MAGIC_AT) != MAGIC)
		return "not an exported sync event";
	if (blob[VERSION_AT] != VERSION)
		return "unknown version";
	if (load_u32(blob + LEN_AT) != size - SYNC_BLOB_HEADER)
		return "wrong length";
	if (load_u32(blob + CRC_AT) != checksum(blob, size))
		return "wrong checksum";
	return load_u16(blob + ZERO_AT) ? "reserved bytes are not zero" : NULL;
}

doca_error_t dpumap_sync_blob_open(const uint8_t *blob, size_t size, bool to_net,
				   const uint8_t **desc, size_t *len)
{
	const char *damage = find_damage(blob, size);

	if (damage)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "import of a sync event: %zu bytes refused: %s", size, damage);
	if (blob[KIND_AT] != kind_of(to_net))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "import of a sync event: it was not exported %s",
				   to_net ? "by doca_sync_event_export_to_remote_net()"
					  : "by doca_sync_event_export_to_remote_pci()");
	*desc = blob + SYNC_BLOB_HEADER;
	*len = size - SYNC_BLOB_HEADER;
	return DOCA_SUCCESS;
}
