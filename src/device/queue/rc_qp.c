/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/queue/rc_qp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "device/device_priv.h"
#include "device/gid.h"
#include "device/memory/access.h"
#include "device/queue/qp.h"
#include "device/queue/queue_priv.h"
#include "log/log.h"

#define HOP_LIMIT    64
#define MTU_LOG_BASE 7u /* enum ibv_mtu counts from 256 bytes as 1 */

struct dpumap_rc_qp {
	struct dpumap_device *device;
	struct dpumap_queue *queue;
	struct ibv_gid_entry gid; /* on Ethernet */
	uint32_t psn;
	unsigned int access; /* enum ibv_access_flags */
};

static bool is_infiniband(const struct ibv_port_attr *port)
{
	return port->link_layer != IBV_LINK_LAYER_ETHERNET;
}

static doca_error_t choose_gid(struct dpumap_rc_qp *rc, int gid_index)
{
	const struct ibv_port_attr *port = dpumap_queue_port(rc->queue);

	if (is_infiniband(port))
		return DOCA_SUCCESS;
	if (gid_index == DPUMAP_GID_ANY)
		return dpumap_gid_find(rc->device, port, &rc->gid);
	/* The address existed when the user chose it. */
	return dpumap_gid_query(rc->device, gid_index, &rc->gid) == DOCA_SUCCESS
		       ? DOCA_SUCCESS
		       : DOCA_ERROR_NOT_CONNECTED;
}

/* Random, so that packets of an earlier connection with the same numbers are not accepted. */
static doca_error_t choose_psn(uint32_t *psn)
{
	uint32_t random;

	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM, "reading random numbers failed: %s",
				   strerror(errno));
	*psn = random % DPUMAP_QPN_LIMIT;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_rc_qp_create(struct dpumap_device *device, const struct dpumap_rc_qp_attr *attr,
				 struct dpumap_rc_qp **rc)
{
	struct dpumap_queue_attr queue = attr->queue;
	struct dpumap_rc_qp *created;
	doca_error_t result;

	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a connection");
	created->device = device;
	created->access = IBV_ACCESS_LOCAL_WRITE | dpumap_access_rdma(attr->access);
	result = choose_psn(&created->psn);
	if (result != DOCA_SUCCESS)
		goto free_rc;
	queue.to_peer = true;
	result = dpumap_queue_create(device, &queue, &created->queue);
	if (result != DOCA_SUCCESS)
		goto free_rc;
	result = choose_gid(created, attr->gid_index);
	if (result != DOCA_SUCCESS)
		goto destroy_queue;
	*rc = created;
	return DOCA_SUCCESS;

destroy_queue:
	dpumap_queue_destroy(created->queue);
free_rc:
	free(created);
	return result;
}

doca_error_t dpumap_rc_qp_destroy(struct dpumap_rc_qp *rc)
{
	doca_error_t result = dpumap_queue_destroy(rc->queue);

	if (result == DOCA_SUCCESS)
		free(rc);
	return result;
}

struct dpumap_queue *dpumap_rc_qp_queue(const struct dpumap_rc_qp *rc)
{
	return rc->queue;
}

void dpumap_rc_qp_describe(const struct dpumap_rc_qp *rc, struct dpumap_qp_info *info)
{
	const struct ibv_port_attr *port = dpumap_queue_port(rc->queue);
	int max_reads = dpumap_qp_max_reads(rc->device);

	*info = (struct dpumap_qp_info){
		.qpn = dpumap_queue_qp(rc->queue)->qp_num,
		.psn = rc->psn,
		.log_mtu = (uint8_t)(port->active_mtu + MTU_LOG_BASE),
		.max_reads = (uint8_t)(max_reads > 0 ? max_reads : 1),
		.is_infiniband = is_infiniband(port),
	};
	if (info->is_infiniband)
		info->lid = port->lid;
	else
		memcpy(info->gid, rc->gid.gid.raw, sizeof(info->gid));
}

static struct ibv_ah_attr address_of(const struct dpumap_rc_qp *rc,
				     const struct dpumap_qp_info *peer)
{
	struct ibv_ah_attr ah = {.port_num = DPUMAP_DEVICE_PORT};

	if (peer->is_infiniband) {
		ah.dlid = peer->lid;
		return ah;
	}
	ah.is_global = 1;
	memcpy(ah.grh.dgid.raw, peer->gid, sizeof(peer->gid));
	ah.grh.sgid_index = (uint8_t)rc->gid.gid_index;
	ah.grh.hop_limit = HOP_LIMIT;
	return ah;
}

doca_error_t dpumap_rc_qp_connect(struct dpumap_rc_qp *rc, const struct dpumap_qp_info *peer)
{
	const struct ibv_port_attr *port = dpumap_queue_port(rc->queue);
	enum ibv_mtu mtu = (enum ibv_mtu)(peer->log_mtu - MTU_LOG_BASE);
	struct dpumap_qp_path path = {
		.ah = address_of(rc, peer),
		.mtu = mtu < port->active_mtu ? mtu : port->active_mtu,
		.qpn = peer->qpn,
		.rq_psn = peer->psn,
		.sq_psn = rc->psn,
		.max_reads = peer->max_reads,
		.access = rc->access,
	};
	struct ibv_qp *qp = dpumap_queue_qp(rc->queue);
	doca_error_t result;

	if (peer->is_infiniband != is_infiniband(port))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s: its port is on %s, the port of the peer is not",
				   dpumap_hca_name(rc->device->hca),
				   is_infiniband(port) ? "InfiniBand" : "Ethernet");
	if (!qp)
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "%s: the connection is partially destroyed",
				   dpumap_hca_name(rc->device->hca));
	result = dpumap_qp_connect(rc->device, qp, &path);
	if (result != DOCA_SUCCESS)
		dpumap_qp_reset(rc->device, qp);
	return result;
}
