/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/rdma_details.h"

#include <string.h>

#include "desc/crc32c.h"
#include "desc/cursor.h"
#include "log/log.h"

#define MAJOR	   1
#define INFINIBAND 1
#define ETHERNET   2
#define CRC_AT	   12

static const uint8_t magic[4] = {'D', 'P', 'R', 'C'};
static const uint8_t nothing[DPUMAP_GID_SIZE];

static uint32_t checksum(const uint8_t *details)
{
	static const uint8_t none[4];
	uint32_t crc = dpumap_desc_crc32c(0, details, CRC_AT);

	crc = dpumap_desc_crc32c(crc, none, sizeof(none));
	return dpumap_desc_crc32c(crc, details + CRC_AT + sizeof(none),
				  RDMA_DETAILS_SIZE - CRC_AT - sizeof(none));
}

void dpumap_rdma_details_encode(const struct dpumap_rdma_end *end,
				uint8_t details[static RDMA_DETAILS_SIZE])
{
	struct writer w = {.at = details, .left = RDMA_DETAILS_SIZE};
	struct writer crc = {.at = details + CRC_AT, .left = sizeof(uint32_t)};

	put_bytes(&w, magic, sizeof(magic));
	put_u8(&w, MAJOR);
	put_u8(&w, 0);
	put_u16(&w, end->is_infiniband ? INFINIBAND : ETHERNET);
	put_u32(&w, RDMA_DETAILS_SIZE);
	put_u32(&w, 0);
	put_u32(&w, end->qpn);
	put_u32(&w, end->psn);
	put_u16(&w, end->lid);
	put_u8(&w, end->log_mtu);
	put_u8(&w, end->max_reads);
	put_bytes(&w, end->gid, sizeof(end->gid));
	put_u32(&w, 0);
	put_u32(&crc, checksum(details));
}

static doca_error_t refuse(const char *why)
{
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "connection details refused: %s", why);
}

static doca_error_t read_header(struct reader *r, const uint8_t *details, uint16_t *network)
{
	uint8_t found[sizeof(magic)];
	uint8_t major;

	get_bytes(r, found, sizeof(found));
	if (memcmp(found, magic, sizeof(magic)) != 0)
		return refuse("they are not of this library");
	major = get_u8(r);
	get_u8(r);
	*network = get_u16(r);
	if (major != MAJOR)
		return refuse("their version is not known");
	if (get_u32(r) != RDMA_DETAILS_SIZE || get_u32(r) != checksum(details))
		return refuse("they are damaged");
	return DOCA_SUCCESS;
}

static bool is_address(const struct dpumap_rdma_end *end)
{
	bool has_gid = memcmp(end->gid, nothing, sizeof(nothing)) != 0;

	return end->is_infiniband ? end->lid && !has_gid : !end->lid && has_gid;
}

static bool is_end(const struct dpumap_rdma_end *end)
{
	return end->qpn && end->qpn < DPUMAP_QPN_LIMIT && end->psn < DPUMAP_QPN_LIMIT &&
	       end->log_mtu >= DPUMAP_MIN_LOG_MTU && end->log_mtu <= DPUMAP_MAX_LOG_MTU &&
	       end->max_reads;
}

doca_error_t dpumap_rdma_details_decode(const void *details, size_t size,
					struct dpumap_rdma_end *end)
{
	struct reader r = {.at = details, .left = size};
	struct dpumap_rdma_end found = {0};
	uint16_t network = 0;
	doca_error_t result;

	if (size != RDMA_DETAILS_SIZE)
		return refuse("their length is not that of this library's");
	result = read_header(&r, details, &network);
	if (result != DOCA_SUCCESS)
		return result;
	found.qpn = get_u32(&r);
	found.psn = get_u32(&r);
	found.lid = get_u16(&r);
	found.log_mtu = get_u8(&r);
	found.max_reads = get_u8(&r);
	get_bytes(&r, found.gid, sizeof(found.gid));
	found.is_infiniband = network == INFINIBAND;
	if ((network != INFINIBAND && network != ETHERNET) || !is_address(&found))
		return refuse("they have no address on a network that is known");
	if (!is_end(&found) || get_u32(&r))
		return refuse("a field is out of its range");
	*end = found;
	return DOCA_SUCCESS;
}
