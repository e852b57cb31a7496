/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The addresses of a port (GIDs). */
#ifndef DPUMAP_DEVICE_GID_H
#define DPUMAP_DEVICE_GID_H

#include "device/device.h"

#define DPUMAP_GID_SIZE 16
#define DPUMAP_GID_ANY	(-1)

struct ibv_gid_entry;
struct ibv_port_attr;

/* Preference of an address on Ethernet for connections, from 1 to DPUMAP_GID_BEST. */
#define DPUMAP_GID_BEST 4u
unsigned int dpumap_gid_rank(const struct ibv_gid_entry *gid);

/* The first of the addresses with the highest rank; on InfiniBand the first address. */
doca_error_t dpumap_gid_search(const struct dpumap_device *device, const struct ibv_port_attr *port,
			       struct ibv_gid_entry *gid, bool *found);
/* As dpumap_gid_search(); DOCA_ERROR_NOT_CONNECTED if the port has no address. */
doca_error_t dpumap_gid_find(const struct dpumap_device *device, const struct ibv_port_attr *port,
			     struct ibv_gid_entry *gid);

/* DOCA_ERROR_NOT_FOUND if the port has no address at that index. */
doca_error_t dpumap_gid_query(const struct dpumap_device *device, int gid_index,
			      struct ibv_gid_entry *gid);
/*
 * Addresses of a device, open or not: `num` from an index on, zero where the table is empty. The
 * table must have them (dpumap_caps.num_gids).
 */
doca_error_t dpumap_hca_get_gids(const struct dpumap_hca *hca, uint32_t first, uint32_t num,
				 uint8_t (*gids)[DPUMAP_GID_SIZE]);
doca_error_t dpumap_gid_check(const struct dpumap_device *device, int gid_index);

#endif
