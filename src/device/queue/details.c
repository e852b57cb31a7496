/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/queue/details.h"

#include <string.h>

#include "desc/crc32c.h"
#include "desc/cursor.h"
#include "log/log.h"

#define MAJOR	   1
#define INFINIBAND 1
#define ETHERNET   2
#define CRC_AT	   12

static const uint8_t magic[4] = {'D', 'P', 'R', 'C'};
static const uint8_t no_gid[DPUMAP_GID_SIZE];

static uint32_t checksum(const uint8_t *details)
{
	static const uint8_t none[4];
	uint32_t crc = dpumap_desc_crc32c(0, details, CRC_AT);

	crc = dpumap_desc_crc32c(crc, none, sizeof(none));
	return dpumap_desc_crc32c(crc, details + CRC_AT + sizeof(none),
				  RDMA_DETAILS_SIZE - CRC_AT - sizeof(none));
}

void dpumap_rdma_details_encode(const struct dpumap_qp_info *info,
				uint8_t details[static RDMA_DETAILS_SIZE])
{
	struct writer w = writer_of(details, RDMA_DETAILS_SIZE);
	struct writer crc = writer_of(details + CRC_AT, sizeof(uint32_t));

	put_bytes(&w, magic, sizeof(magic));
	put_u8(&w, MAJOR);
	put_u8(&w, 0);
	put_u16(&w, info->is_infiniband ? INFINIBAND : ETHERNET);
	put_u32(&w, RDMA_DETAILS_SIZE);
	put_u32(&w, 0);
	put_u32(&w, info->qpn);
	put_u32(&w, info->psn);
	put_u16(&w, info->lid);
	put_u8(&w, info->log_mtu);
	put_u8(&w, info->max_reads);
	put_bytes(&w, info->gid, sizeof(info->gid));
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
		return refuse("they were not made by this library");
	major = get_u8(r);
	get_u8(r);
	*network = get_u16(r);
	if (major != MAJOR)
		return refuse("unknown version");
	if (get_u32(r) != RDMA_DETAILS_SIZE || get_u32(r) != checksum(details))
		return refuse("wrong length or checksum");
	return DOCA_SUCCESS;
}

static bool has_address(const struct dpumap_qp_info *info)
{
	bool has_gid = memcmp(info->gid, no_gid, sizeof(no_gid)) != 0;

	return info->is_infiniband ? info->lid && !has_gid : !info->lid && has_gid;
}

static bool is_in_range(const struct dpumap_qp_info *info)
{
	return info->qpn && info->qpn < DPUMAP_QPN_LIMIT && info->psn < DPUMAP_QPN_LIMIT &&
	       info->log_mtu >= DPUMAP_MIN_LOG_MTU && info->log_mtu <= DPUMAP_MAX_LOG_MTU &&
	       info->max_reads;
}

doca_error_t dpumap_rdma_details_decode(const void *details, size_t size,
					struct dpumap_qp_info *info)
{
	struct dpumap_qp_info found = {0};
	uint16_t network = 0;
	doca_error_t result;
	struct reader r;

	if (size != RDMA_DETAILS_SIZE)
		return refuse("wrong length");
	read_from(&r, details, size);
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
	if ((network != INFINIBAND && network != ETHERNET) || !has_address(&found))
		return refuse("no valid address, or an unknown network");
	if (!is_in_range(&found) || get_u32(&r))
		return refuse("a field is out of range");
	*info = found;
	return DOCA_SUCCESS;
}
