/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The port of a device. */
#ifndef DPUMAP_DEVICE_PORT_H
#define DPUMAP_DEVICE_PORT_H

#include "device/gid.h"

struct ibv_port_attr;

struct dpumap_port {
	uint64_t rate; /* bits per second */
	uint16_t lid;
	bool is_infiniband;
};

/* How peers address a port. */
struct dpumap_address {
	bool is_known; /* false, and the rest zero, while the port has no address */
	bool is_infiniband;
	uint16_t lid; /* 0 on Ethernet, and before a subnet manager has assigned one */
	uint8_t gid[DPUMAP_GID_SIZE];
};

doca_error_t dpumap_port_query(const struct dpumap_hca *hca, struct dpumap_port *port);
doca_error_t dpumap_port_get_address(const struct dpumap_device *device,
				     struct dpumap_address *address);

/* DOCA_ERROR_NOT_CONNECTED unless the port is active. */
doca_error_t dpumap_port_query_active(const struct dpumap_device *device,
				      struct ibv_port_attr *port);
/* The same; DOCA_ERROR_IN_PROGRESS, without a message, while the port comes up. */
doca_error_t dpumap_port_check(const struct dpumap_device *device);

#endif
