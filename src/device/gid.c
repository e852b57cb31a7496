/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/gid.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "device/device_priv.h"
#include "device/hca_priv.h"
#include "log/log.h"

#define GID_TABLE_LIMIT 256

static bool begins_with(const union ibv_gid *gid, const uint8_t *prefix, size_t len)
{
	return memcmp(gid->raw, prefix, len) == 0;
}

/*
 * Packets of RoCE v2 are routed as other UDP packets are, and most networks are set up for IPv4. A
 * link-local address does not pass the next router.
 */
unsigned int dpumap_gid_rank(const struct ibv_gid_entry *gid)
{
	static const uint8_t link_local[2] = {0xfe, 0x80};

	if (gid->gid_type != IBV_GID_TYPE_ROCE_V2)
		return 1;
	if (IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)(const void *)&gid->gid))
		return DPUMAP_GID_BEST;
	return begins_with(&gid->gid, link_local, sizeof(link_local)) ? 2 : 3;
}

/* An empty entry: the kernel reports ENODATA, an older one by sysfs EINVAL. */
static bool is_empty(int err)
{
	return err == ENODATA || err == EINVAL;
}

doca_error_t dpumap_gid_search(const struct dpumap_device *device, const struct ibv_port_attr *port,
			       struct ibv_gid_entry *gid, bool *found)
{
	const bool ethernet = port->link_layer == IBV_LINK_LAYER_ETHERNET;
	const uint32_t limit = (uint32_t)port->gid_tbl_len;
	unsigned int best = 0;

	for (uint32_t i = 0; i < limit && i < GID_TABLE_LIMIT && best < DPUMAP_GID_BEST; i++) {
		struct ibv_gid_entry entry;
		int err = ibv_query_gid_ex(device->context, DPUMAP_DEVICE_PORT, i, &entry, 0);

		if (err && !is_empty(err))
			return dpumap_fail(DOCA_ERROR_DRIVER, "%s: querying GID %u failed: %s",
					   dpumap_hca_name(device->hca), i, strerror(err));
		if (err || (ethernet && dpumap_gid_rank(&entry) <= best))
			continue;
		*gid = entry;
		best = ethernet ? dpumap_gid_rank(&entry) : DPUMAP_GID_BEST;
	}
	*found = best > 0;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_gid_find(const struct dpumap_device *device, const struct ibv_port_attr *port,
			     struct ibv_gid_entry *gid)
{
	doca_error_t result;
	bool found;

	result = dpumap_gid_search(device, port, gid, &found);
	if (result == DOCA_SUCCESS && !found)
		return dpumap_fail(DOCA_ERROR_NOT_CONNECTED,
				   "%s: port %d does not have an address (GID)",
				   dpumap_hca_name(device->hca), DPUMAP_DEVICE_PORT);
	return result;
}

doca_error_t dpumap_gid_query(const struct dpumap_device *device, int gid_index,
			      struct ibv_gid_entry *gid)
{
	int err =
		ibv_query_gid_ex(device->context, DPUMAP_DEVICE_PORT, (uint32_t)gid_index, gid, 0);

	if (err)
		return dpumap_fail(DOCA_ERROR_NOT_FOUND,
				   "%s: port %d does not have an address (GID) at index %d: %s",
				   dpumap_hca_name(device->hca), DPUMAP_DEVICE_PORT, gid_index,
				   strerror(err));
	return DOCA_SUCCESS;
}

doca_error_t dpumap_gid_check(const struct dpumap_device *device, int gid_index)
{
	struct ibv_gid_entry gid;

	return dpumap_gid_query(device, gid_index, &gid);
}

static doca_error_t read_gids(struct ibv_context *context, uint32_t first, uint32_t num,
			      uint8_t (*gids)[DPUMAP_GID_SIZE])
{
	for (uint32_t i = 0; i < num; i++) {
		struct ibv_gid_entry gid = {0};
		int err = ibv_query_gid_ex(context, DPUMAP_DEVICE_PORT, first + i, &gid, 0);

		if (err && !is_empty(err))
			return dpumap_fail(DOCA_ERROR_DRIVER, "%s: querying GID %u failed: %s",
					   ibv_get_device_name(context->device), first + i,
					   strerror(err));
		if (err)
			memset(gids[i], 0, sizeof(gids[i]));
		else
			memcpy(gids[i], gid.gid.raw, sizeof(gids[i]));
	}
	return DOCA_SUCCESS;
}

doca_error_t dpumap_hca_get_gids(const struct dpumap_hca *hca, uint32_t first, uint32_t num,
				 uint8_t (*gids)[DPUMAP_GID_SIZE])
{
	struct ibv_context *context;
	doca_error_t result;
	bool devx;

	context = dpumap_hca_open_context(hca, &devx);
	if (!context)
		return DOCA_ERROR_DRIVER;
	result = read_gids(context, first, num, gids);
	ibv_close_device(context);
	return result;
}
