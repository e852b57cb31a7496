/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Opening arbitrary bytes as an exported sync event must fail, or the descriptor in them must seal to the
 * same bytes and open as one kind only. A wrong result aborts.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <dpumap/desc.h>

#include "desc/bytes.h"
#include "desc/crc32c.h"
#include "guard.h"
#include "sync_event/blob.h"

#define MAGIC	   0x45535044u /* "DPSE" in memory */
#define CRC_AT	   4
#define VERSION_AT 8
#define KINDS	   2

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

/* Correct what a fuzzer cannot guess: magic, version, length and checksum. */
static void mend(uint8_t *blob, size_t size)
{
	store_u32(blob, MAGIC);
	blob[VERSION_AT] = 1;
	blob[VERSION_AT + 1] = 1 + blob[VERSION_AT + 1] % KINDS;
	store_u32(blob + VERSION_AT + 4, (uint32_t)(size - SYNC_BLOB_HEADER));
	store_u32(blob + CRC_AT, dpumap_desc_crc32c(0, blob + VERSION_AT, size - VERSION_AT));
}

static bool check(const uint8_t *blob, size_t size, bool to_net)
{
	uint8_t again[GUARD_ROOM];
	struct dpumap_desc decoded;
	const uint8_t *desc = NULL;
	size_t len = 0;

	if (dpumap_sync_blob_open(blob, size, to_net, &desc, &len) != DOCA_SUCCESS) {
		require(!desc && !len);
		return false;
	}
	require(desc == blob + SYNC_BLOB_HEADER && len && len == size - SYNC_BLOB_HEADER);
	dpumap_sync_blob_seal(again, to_net, desc, len);
	require(!memcmp(again, blob, size));
	(void)dpumap_desc_decode(desc, len, &decoded);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *blob;

	if (size > GUARD_ROOM)
		return -1;
	blob = memcpy(guard_end() - size, data, size);
	require(!check(blob, size, false) || !check(blob, size, true));
	if (size <= SYNC_BLOB_HEADER)
		return 0;
	mend(blob, size);
	require(!check(blob, size, false) || !check(blob, size, true));
	return 0;
}
