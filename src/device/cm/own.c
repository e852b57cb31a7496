/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/cm/own.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "device/cm/address.h"
#include "device/device_priv.h"
#include "log/log.h"

#define GID_TABLE_LIMIT 256

static bool has(const struct dpumap_cm_own *own, const struct sockaddr_storage *address)
{
	for (size_t i = 0; i < own->num_addresses; i++)
		if (memcmp(&own->addresses[i], address, sizeof(*address)) == 0)
			return true;
	return false;
}

/* RoCE v1 and v2 have an entry each for the same address. */
static void add(struct dpumap_cm_own *own, const struct ibv_gid_entry *gid)
{
	struct sockaddr_storage address;

	dpumap_cm_address_of_gid(gid, 0, &address);
	if (!has(own, &address))
		own->addresses[own->num_addresses++] = address;
}

static doca_error_t query_all(const struct dpumap_device *device, struct dpumap_cm_own *own)
{
	struct ibv_gid_entry *table = calloc(GID_TABLE_LIMIT, sizeof(*table));
	ssize_t n;

	if (!table)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a table of addresses");
	n = ibv_query_gid_table(device->context, table, GID_TABLE_LIMIT, 0);
	for (ssize_t i = 0; i < n; i++)
		if (table[i].port_num == DPUMAP_DEVICE_PORT && table[i].gid_type != IBV_GID_TYPE_IB)
			add(own, &table[i]);
	free(table);
	if (n < 0)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: querying its addresses failed: %s",
				   dpumap_hca_name(device->hca), strerror((int)-n));
	return DOCA_SUCCESS;
}

doca_error_t dpumap_cm_own_query(const struct dpumap_device *device, int gid_index,
				 struct dpumap_cm_own *own)
{
	struct ibv_gid_entry gid;
	doca_error_t result;

	own->num_addresses = 0;
	own->addresses = calloc(GID_TABLE_LIMIT, sizeof(*own->addresses));
	if (!own->addresses)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a list of addresses");
	if (gid_index == DPUMAP_GID_ANY) {
		result = query_all(device, own);
	} else {
		result = dpumap_gid_query(device, gid_index, &gid);
		if (result == DOCA_SUCCESS && gid.gid_type != IBV_GID_TYPE_IB)
			add(own, &gid);
	}
	if (result != DOCA_SUCCESS)
		dpumap_cm_own_free(own);
	return result;
}

void dpumap_cm_own_free(struct dpumap_cm_own *own)
{
	free(own->addresses);
	*own = (struct dpumap_cm_own){0};
}

static bool is_link_local(const struct sockaddr_storage *address)
{
	return address->ss_family == AF_INET6 &&
	       IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

const struct sockaddr_storage *dpumap_cm_own_find(const struct dpumap_cm_own *own,
						  const struct sockaddr_storage *peer)
{
	const struct sockaddr_storage *found = NULL;

	for (size_t i = 0; i < own->num_addresses; i++) {
		const struct sockaddr_storage *candidate = &own->addresses[i];

		if (candidate->ss_family != peer->ss_family)
			continue;
		if (is_link_local(candidate) == is_link_local(peer))
			return candidate;
		found = candidate;
	}
	return found;
}
