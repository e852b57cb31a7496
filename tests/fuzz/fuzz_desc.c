/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Any bytes are refused or are the encoding of what they decode to; any values are refused or come
 * back from their encoding. A wrong answer aborts.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "desc/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

static bool all_zero(const struct dpumap_desc *d)
{
	const uint8_t *byte = (const uint8_t *)d;
	size_t i = 0;

	while (i < sizeof(*d) && !byte[i])
		i++;
	return i == sizeof(*d);
}

static bool same_umem(const struct dpumap_desc_umem *a, const struct dpumap_desc_umem *b)
{
	return a->start == b->start && a->pd_handle == b->pd_handle && a->pdn == b->pdn &&
	       a->form == b->form && a->token_len == b->token_len &&
	       !memcmp(a->token, b->token, sizeof(a->token));
}

static bool same_fields(const struct dpumap_desc *a, const struct dpumap_desc *b)
{
	return a->kind == b->kind && a->source == b->source && a->access == b->access &&
	       a->device_guid == b->device_guid && a->vhca_id == b->vhca_id && a->mkey == b->mkey &&
	       a->addr == b->addr && a->len == b->len &&
	       !memcmp(a->access_key, b->access_key, sizeof(a->access_key)) &&
	       same_umem(&a->umem, &b->umem);
}

/* What was skipped, extensions and a later minor version, is not in the encoding. */
static bool is_plain(const uint8_t *bytes, size_t size)
{
	return size == dpumap_desc_size(bytes[KIND_OFFSET]) && bytes[MINOR_OFFSET] == VERSION_MINOR;
}

static void check_decode(const uint8_t *bytes, size_t size)
{
	uint8_t again[DPUMAP_DESC_UMEM_SIZE];
	struct dpumap_desc d;
	size_t written;

	memset(&d, 0xee, sizeof(d));
	if (dpumap_desc_decode(bytes, size, &d) != DPUMAP_DESC_OK) {
		require(all_zero(&d));
		return;
	}
	require(dpumap_desc_encode(&d, again, sizeof(again), &written) == DPUMAP_DESC_OK);
	require(written <= size);
	if (is_plain(bytes, size))
		require(!memcmp(bytes, again, written));
}

/* Random bytes never get past the checksum: give them a header that fits. */
static void check_decode_framed(uint8_t kind, const uint8_t *data, size_t size)
{
	uint8_t bytes[DPUMAP_DESC_MAX_SIZE] = {'D', 'P', 'U', 'M', VERSION_MAJOR};
	size_t total = HEADER_SIZE + size;
	uint32_t crc;

	if (total > sizeof(bytes))
		return;
	bytes[KIND_OFFSET] = kind;
	bytes[TOTAL_OFFSET] = (uint8_t)total;
	bytes[TOTAL_OFFSET + 1] = (uint8_t)(total >> 8);
	memcpy(bytes + HEADER_SIZE, data, size);
	crc = dpumap_desc_checksum(bytes, total);
	for (size_t i = 0; i < sizeof(crc); i++)
		bytes[CRC_OFFSET + i] = (uint8_t)(crc >> (8 * i));
	check_decode(bytes, total);
}

static void check_encode(const uint8_t *data, size_t size)
{
	uint8_t bytes[DPUMAP_DESC_UMEM_SIZE];
	struct dpumap_desc before = {0}, after;
	size_t needed, written;
	dpumap_desc_status_t status;

	memcpy(&before, data, size < sizeof(before) ? size : sizeof(before));
	status = dpumap_desc_encoded_size(&before, &needed);
	require(dpumap_desc_encode(&before, bytes, sizeof(bytes), &written) == status);
	if (status != DPUMAP_DESC_OK)
		return;
	require(written == needed);
	require(dpumap_desc_decode(bytes, written, &after) == DPUMAP_DESC_OK);
	require(same_fields(&before, &after));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_decode(data, size);
	check_decode_framed(DPUMAP_DESC_KIND_PCI, data, size);
	check_decode_framed(DPUMAP_DESC_KIND_RDMA, data, size);
	check_decode_framed(DPUMAP_DESC_KIND_UMEM, data, size);
	check_encode(data, size);
	return 0;
}
