/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The IP addresses of a device's port on Ethernet. */
#ifndef DPUMAP_DEVICE_CM_OWN_H
#define DPUMAP_DEVICE_CM_OWN_H

#include <sys/socket.h>

#include "device/gid.h"

struct dpumap_cm_own {
	struct sockaddr_storage *addresses; /* each once, with port 0 */
	size_t num_addresses;
};

/*
 * Query the address of gid_index, or, with DPUMAP_GID_ANY, all. On InfiniBand there are none: GIDs
 * are not IP addresses there. dpumap_cm_own_free() frees them.
 */
doca_error_t dpumap_cm_own_query(const struct dpumap_device *device, int gid_index,
				 struct dpumap_cm_own *own);
void dpumap_cm_own_free(struct dpumap_cm_own *own);

/*
 * The address from which a peer can be reached: of its family, and link-local if and only if the
 * peer's is, where there is such a one. NULL: there is no address of that family.
 */
const struct sockaddr_storage *dpumap_cm_own_find(const struct dpumap_cm_own *own,
						  const struct sockaddr_storage *peer);

#endif
