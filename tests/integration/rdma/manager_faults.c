/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The calls of librdmacm that the library makes, which the linker's --wrap redirects here: one of them
 * fails before it does anything. Destroying an id or a channel cannot fail.
 */
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <stddef.h>

#include "faults.h"

static bool fails(void)
{
	int err;

	if (!fault_strikes(FAULT_MANAGER, &err))
		return false;
	errno = err;
	return true;
}

#define WRAP(type, failure, name, parameters, arguments)              \
	type __real_##name parameters;                                \
	type __wrap_##name parameters;                                \
	type __wrap_##name parameters                                 \
	{                                                             \
		return fails() ? (failure) : __real_##name arguments; \
	}
#define WRAP_INT(name, parameters, arguments) WRAP(int, -1, name, parameters, arguments)

WRAP(struct rdma_event_channel *, NULL, rdma_create_event_channel, (void), ())
WRAP_INT(rdma_create_id,
	 (struct rdma_event_channel * channel, struct rdma_cm_id **id, void *context,
	  enum rdma_port_space space),
	 (channel, id, context, space))
WRAP_INT(rdma_bind_addr, (struct rdma_cm_id * id, struct sockaddr *address), (id, address))
WRAP_INT(rdma_listen, (struct rdma_cm_id * id, int backlog), (id, backlog))
WRAP_INT(rdma_resolve_addr,
	 (struct rdma_cm_id * id, struct sockaddr *from, struct sockaddr *to, int timeout_ms),
	 (id, from, to, timeout_ms))
WRAP_INT(rdma_resolve_route, (struct rdma_cm_id * id, int timeout_ms), (id, timeout_ms))
WRAP_INT(rdma_connect, (struct rdma_cm_id * id, struct rdma_conn_param *param), (id, param))
WRAP_INT(rdma_accept, (struct rdma_cm_id * id, struct rdma_conn_param *param), (id, param))
WRAP_INT(rdma_establish, (struct rdma_cm_id * id), (id))
WRAP_INT(rdma_reject, (struct rdma_cm_id * id, const void *data, uint8_t len), (id, data, len))
WRAP_INT(rdma_disconnect, (struct rdma_cm_id * id), (id))
WRAP_INT(rdma_init_qp_attr, (struct rdma_cm_id * id, struct ibv_qp_attr *attr, int *mask),
	 (id, attr, mask))
WRAP_INT(rdma_get_cm_event, (struct rdma_event_channel * channel, struct rdma_cm_event **event),
	 (channel, event))
