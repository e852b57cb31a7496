/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/cm/id.h"

#include <errno.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>

#include "device/cm/cm_priv.h"
#include "device/device_priv.h"
#include "log/log.h"

struct dpumap_cm_id *dpumap_cm_id_new(struct dpumap_cm *cm, enum dpumap_cm_state state,
				      size_t max_rdma)
{
	struct dpumap_cm_id *id = calloc(1, sizeof(*id) + max_rdma * sizeof(struct rdma_cm_id *));

	if (id) {
		id->cm = cm;
		id->state = state;
	}
	return id;
}

doca_error_t dpumap_cm_fail_id(const struct dpumap_cm *cm)
{
	return dpumap_fail(DOCA_ERROR_NO_MEMORY, "%s: no memory for a connection by address",
			   dpumap_cm_name(cm));
}

doca_error_t dpumap_cm_id_add(struct dpumap_cm_id *id)
{
	struct rdma_cm_id **at = &id->rdma[id->num_rdma];

	if (rdma_create_id(id->cm->channel, at, id, RDMA_PS_TCP))
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: creating an id of the connection manager failed: %s",
				   dpumap_cm_name(id->cm), strerror(errno));
	id->num_rdma++;
	return DOCA_SUCCESS;
}

void dpumap_cm_id_destroy(struct dpumap_cm_id *id)
{
	if (!id)
		return;
	/* Destroying a connection tells the peer, and destroying a request rejects it. */
	while (id->num_rdma > 0)
		rdma_destroy_id(id->rdma[--id->num_rdma]);
	free(id);
}

void dpumap_cm_id_set_user(struct dpumap_cm_id *id, void *user)
{
	id->user = user;
}

void *dpumap_cm_id_user(const struct dpumap_cm_id *id)
{
	return id->user;
}

uint16_t dpumap_cm_id_port(const struct dpumap_cm_id *id)
{
	return be16toh(rdma_get_src_port(id->rdma[0]));
}

void dpumap_cm_id_peer(const struct dpumap_cm_id *id, struct sockaddr_storage *address)
{
	*address = id->rdma[0]->route.addr.dst_storage;
}

const char *dpumap_cm_id_print_peer(const struct dpumap_cm_id *id,
				    char text[static DPUMAP_CM_ADDRESS_TEXT])
{
	struct sockaddr_storage address;

	dpumap_cm_id_peer(id, &address);
	dpumap_cm_address_print(&address, text);
	return text;
}

bool dpumap_cm_is_on_device(const struct dpumap_cm *cm, const struct rdma_cm_id *rdma)
{
	return rdma->verbs && rdma->port_num == DPUMAP_DEVICE_PORT &&
	       strcmp(ibv_get_device_name(rdma->verbs->device),
		      ibv_get_device_name(cm->device->context->device)) == 0;
}

doca_error_t dpumap_cm_check_device(const struct dpumap_cm *cm, const struct rdma_cm_id *rdma)
{
	if (dpumap_cm_is_on_device(cm, rdma))
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
			   "%s: the connection is on port %u of %s, not on port %d of this device",
			   dpumap_cm_name(cm), rdma->port_num,
			   rdma->verbs ? ibv_get_device_name(rdma->verbs->device) : "no device",
			   DPUMAP_DEVICE_PORT);
}
