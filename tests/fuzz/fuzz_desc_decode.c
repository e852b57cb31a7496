/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Decoding arbitrary bytes must fail, or the decoded values must encode to the same bytes. The mutator
 * corrects the checksum, which a fuzzer cannot guess. A wrong result aborts.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "desc/bytes.h"
#include "desc/layout.h"
#include "guard.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

static void require(bool condition)
{
	if (!condition)
		abort();
}

static bool all_zero(const struct dpumap_desc *d)
{
	const uint8_t *byte = (const uint8_t *)d;
	uint8_t seen = 0;

	for (size_t i = 0; i < sizeof(*d); i++)
		seen |= byte[i];
	return !seen;
}

/* The encoding omits the parts that the decoder skips: extensions and a later minor version. */
static void check_encoding(const uint8_t *bytes, size_t size, const struct dpumap_desc *d)
{
	uint8_t again[DPUMAP_DESC_UMEM_SIZE];
	size_t written;

	require(dpumap_desc_encode(d, again, sizeof(again), &written) == DPUMAP_DESC_OK);
	require(written == dpumap_desc_size(d->kind) && written <= size);
	if (written == size && bytes[MINOR_OFFSET] == VERSION_MINOR)
		require(!memcmp(bytes, again, size));
	else
		require(!memcmp(bytes + KIND_OFFSET, again + KIND_OFFSET, 2) &&
			!memcmp(bytes + HEADER_SIZE, again + HEADER_SIZE, written - HEADER_SIZE));
}

static void check_diagnosis(const uint8_t *bytes, size_t size, dpumap_desc_status_t status)
{
	size_t offset;

	require(dpumap_desc_diagnose(bytes, size, &offset) == status);
	require(offset <= size);
	if (status == DPUMAP_DESC_OK)
		require(offset == size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dpumap_desc d;
	dpumap_desc_status_t status;

	if (size > GUARD_ROOM)
		return -1;
	data = memcpy(guard_end() - size, data, size);
	memset(&d, 0xee, sizeof(d));
	status = dpumap_desc_decode(data, size, &d);
	if (status == DPUMAP_DESC_OK)
		check_encoding(data, size, &d);
	else
		require(all_zero(&d));
	check_diagnosis(data, size, status);
	return 0;
}

static void mend(uint8_t *data, size_t size, uint16_t total)
{
	store_u32(data, MAGIC);
	data[MAJOR_OFFSET] = VERSION_MAJOR;
	store_u16(data + TOTAL_OFFSET, total);
	store_u32(data + CRC_OFFSET, dpumap_desc_checksum(data, size));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	size = LLVMFuzzerMutate(data, size, max_size);
	if (size >= HEADER_SIZE && seed % 8)
		mend(data, size, (uint16_t)(size + (seed / 8 % 32 == 1) - (seed / 8 % 32 == 2)));
	return size;
}
