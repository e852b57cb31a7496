/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Decoding arbitrary bytes must fail, or the decoded values must encode to the same bytes. A wrong result
 * aborts.
 */
#include <stdlib.h>
#include <string.h>

#include "desc/crc32c.h"
#include "device/queue/details.h"

#define MINOR_AT  5
#define LENGTH_AT 8
#define CRC_AT	  12

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_le32(uint8_t *at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

/* Correct the checksum, which a fuzzer cannot guess. */
static void mend(uint8_t details[static RDMA_DETAILS_SIZE])
{
	memcpy(details, "DPRC\1", MINOR_AT);
	put_le32(details + LENGTH_AT, RDMA_DETAILS_SIZE);
	put_le32(details + CRC_AT, 0);
	put_le32(details + CRC_AT, dpumap_desc_crc32c(0, details, RDMA_DETAILS_SIZE));
}

static void check(const uint8_t *bytes, size_t size)
{
	uint8_t again[RDMA_DETAILS_SIZE];
	struct dpumap_qp_info end;

	if (dpumap_rdma_details_decode(bytes, size, &end) != DOCA_SUCCESS)
		return;
	dpumap_rdma_details_encode(&end, again);
	if (!bytes[MINOR_AT] && memcmp(again, bytes, sizeof(again)) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t mended[RDMA_DETAILS_SIZE];

	check(data, size);
	if (size < sizeof(mended))
		return 0;
	memcpy(mended, data, sizeof(mended));
	mend(mended);
	check(mended, sizeof(mended));
	return 0;
}
