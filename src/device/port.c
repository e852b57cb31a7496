/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/port.h"

#include <string.h>

#include "base/array.h"
#include "device/device_priv.h"
#include "device/gid.h"
#include "device/hca_priv.h"
#include "log/log.h"

#define LID_MAX 0xbfff /* the last unicast LID */

static doca_error_t query_port(struct ibv_context *context, struct ibv_port_attr *attr)
{
	int err = ibv_query_port(context, DPUMAP_DEVICE_PORT, attr);

	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: querying port %d failed: %s",
				   ibv_get_device_name(context->device), DPUMAP_DEVICE_PORT,
				   strerror(err));
	return DOCA_SUCCESS;
}

static doca_error_t fail_inactive(const struct dpumap_device *device,
				  const struct ibv_port_attr *port)
{
	return dpumap_fail(DOCA_ERROR_NOT_CONNECTED, "%s: port %d is %s",
			   dpumap_hca_name(device->hca), DPUMAP_DEVICE_PORT,
			   ibv_port_state_str(port->state));
}

static uint64_t lane_rate(uint8_t speed)
{
	static const uint32_t mbps[] = {2500, 5000, 10000, 10000, 14000, 25000, 50000, 100000};

	for (unsigned int i = 0; i < ARRAY_SIZE(mbps); i++)
		if (speed == 1u << i)
			return mbps[i] * UINT64_C(1000000);
	return 0;
}

static uint64_t num_lanes(uint8_t width)
{
	static const uint8_t count[] = {1, 4, 8, 12, 2};

	for (unsigned int i = 0; i < sizeof(count); i++)
		if (width == 1u << i)
			return count[i];
	return 0;
}

doca_error_t dpumap_port_query(const struct dpumap_hca *hca, struct dpumap_port *port)
{
	struct ibv_port_attr attr = {0};
	struct ibv_context *context;
	doca_error_t result;
	bool devx;

	context = dpumap_hca_open_context(hca, &devx);
	if (!context)
		return DOCA_ERROR_DRIVER;
	result = query_port(context, &attr);
	ibv_close_device(context);
	if (result != DOCA_SUCCESS)
		return result;
	port->rate = lane_rate(attr.active_speed) * num_lanes(attr.active_width);
	port->lid = attr.lid;
	port->is_infiniband = attr.link_layer != IBV_LINK_LAYER_ETHERNET;
	return DOCA_SUCCESS;
}

static struct dpumap_address address_of(const struct ibv_port_attr *port,
					const struct ibv_gid_entry *gid)
{
	static const union ibv_gid none;
	struct dpumap_address address = {0};

	address.is_known = memcmp(&gid->gid, &none, sizeof(none)) != 0;
	if (!address.is_known)
		return address;
	address.is_infiniband = port->link_layer != IBV_LINK_LAYER_ETHERNET;
	if (address.is_infiniband && port->lid <= LID_MAX)
		address.lid = port->lid;
	memcpy(address.gid, &gid->gid, sizeof(address.gid));
	return address;
}

doca_error_t dpumap_port_get_address(const struct dpumap_device *device,
				     struct dpumap_address *address)
{
	struct ibv_gid_entry gid = {0};
	struct ibv_port_attr port = {0};
	doca_error_t result;
	bool found;

	result = query_port(device->context, &port);
	if (result == DOCA_SUCCESS)
		result = dpumap_gid_search(device, &port, &gid, &found);
	if (result == DOCA_SUCCESS)
		*address = address_of(&port, &gid);
	return result;
}

doca_error_t dpumap_port_query_active(const struct dpumap_device *device,
				      struct ibv_port_attr *port)
{
	doca_error_t result = query_port(device->context, port);

	if (result == DOCA_SUCCESS && port->state != IBV_PORT_ACTIVE)
		return fail_inactive(device, port);
	return result;
}

doca_error_t dpumap_port_check(const struct dpumap_device *device)
{
	struct ibv_port_attr port = {0};
	doca_error_t result = query_port(device->context, &port);

	if (result != DOCA_SUCCESS)
		return result;
	switch (port.state) {
	case IBV_PORT_ACTIVE:
		return DOCA_SUCCESS;
	case IBV_PORT_INIT:
	case IBV_PORT_ARMED:
	case IBV_PORT_ACTIVE_DEFER:
		return DOCA_ERROR_IN_PROGRESS;
	default:
		return fail_inactive(device, &port);
	}
}
