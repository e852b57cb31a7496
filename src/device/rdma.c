/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/rdma.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <doca_types.h>

#include "device/queue_link.h"
#include "log/log.h"

#define HOP_LIMIT    64
#define MTU_LOG_BASE 7u /* enum ibv_mtu counts from 256 bytes as 1 */

struct dpumap_rdma {
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

doca_error_t dpumap_rdma_check_port(const struct dpumap_device *device)
{
	struct ibv_port_attr port = {0};
	int err = ibv_query_port(device->context, DPUMAP_DEVICE_PORT, &port);

	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: querying port %d failed: %s",
				   dpumap_hca_name(device->hca), DPUMAP_DEVICE_PORT, strerror(err));
	switch (port.state) {
	case IBV_PORT_ACTIVE:
		return DOCA_SUCCESS;
	case IBV_PORT_INIT:
	case IBV_PORT_ARMED:
	case IBV_PORT_ACTIVE_DEFER:
		return DOCA_ERROR_IN_PROGRESS;
	default:
		return dpumap_fail(DOCA_ERROR_NOT_CONNECTED, "%s: port %d is %s",
				   dpumap_hca_name(device->hca), DPUMAP_DEVICE_PORT,
				   ibv_port_state_str(port.state));
	}
}

static doca_error_t query_gid(const struct dpumap_device *device, int gid_index,
			      struct ibv_gid_entry *gid)
{
	int err =
		ibv_query_gid_ex(device->context, DPUMAP_DEVICE_PORT, (uint32_t)gid_index, gid, 0);

	if (err)
		return dpumap_fail(
			DOCA_ERROR_NOT_FOUND, "%s: port %d has no address (GID) number %d: %s",
			dpumap_hca_name(device->hca), DPUMAP_DEVICE_PORT, gid_index, strerror(err));
	return DOCA_SUCCESS;
}

doca_error_t dpumap_rdma_check_gid(const struct dpumap_device *device, int gid_index)
{
	struct ibv_gid_entry gid;

	return query_gid(device, gid_index, &gid);
}

static doca_error_t choose_gid(struct dpumap_rdma *rdma, int gid_index)
{
	const struct ibv_port_attr *port = dpumap_queue_port(rdma->queue);

	if (is_infiniband(port))
		return DOCA_SUCCESS;
	if (gid_index == DPUMAP_RDMA_ANY_GID)
		return dpumap_queue_find_gid(rdma->device, port, &rdma->gid);
	/* It was there when it was chosen. */
	return query_gid(rdma->device, gid_index, &rdma->gid) == DOCA_SUCCESS
		       ? DOCA_SUCCESS
		       : DOCA_ERROR_NOT_CONNECTED;
}

/* So that packets of an earlier connection of the same queue pair numbers are not taken for its
 * own. */
static doca_error_t choose_psn(uint32_t *psn)
{
	uint32_t random;

	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM, "no random numbers: %s",
				   strerror(errno));
	*psn = random % DPUMAP_QPN_LIMIT;
	return DOCA_SUCCESS;
}

static unsigned int rights_of_peers(uint32_t access)
{
	unsigned int rights = IBV_ACCESS_LOCAL_WRITE;

	if (access & DOCA_ACCESS_FLAG_RDMA_READ)
		rights |= IBV_ACCESS_REMOTE_READ;
	if (access & DOCA_ACCESS_FLAG_RDMA_WRITE)
		rights |= IBV_ACCESS_REMOTE_WRITE;
	if (access & DOCA_ACCESS_FLAG_RDMA_ATOMIC)
		rights |= IBV_ACCESS_REMOTE_ATOMIC;
	return rights;
}

doca_error_t dpumap_rdma_create(struct dpumap_device *device, const struct dpumap_rdma_attr *attr,
				struct dpumap_rdma **rdma)
{
	struct dpumap_queue_attr queue = attr->queue;
	struct dpumap_rdma *created;
	doca_error_t result;

	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a connection");
	created->device = device;
	created->access = rights_of_peers(attr->access);
	result = choose_psn(&created->psn);
	if (result != DOCA_SUCCESS)
		goto free_rdma;
	queue.to_peer = true;
	result = dpumap_queue_create(device, &queue, &created->queue);
	if (result != DOCA_SUCCESS)
		goto free_rdma;
	result = choose_gid(created, attr->gid_index);
	if (result != DOCA_SUCCESS)
		goto destroy_queue;
	*rdma = created;
	return DOCA_SUCCESS;

destroy_queue:
	dpumap_queue_destroy(created->queue);
free_rdma:
	free(created);
	return result;
}

doca_error_t dpumap_rdma_destroy(struct dpumap_rdma *rdma)
{
	doca_error_t result = dpumap_queue_destroy(rdma->queue);

	if (result == DOCA_SUCCESS)
		free(rdma);
	return result;
}

struct dpumap_queue *dpumap_rdma_queue(const struct dpumap_rdma *rdma)
{
	return rdma->queue;
}

void dpumap_rdma_describe(const struct dpumap_rdma *rdma, struct dpumap_rdma_end *end)
{
	const struct ibv_port_attr *port = dpumap_queue_port(rdma->queue);
	int max_reads = dpumap_queue_max_reads(rdma->device);

	*end = (struct dpumap_rdma_end){
		.qpn = dpumap_queue_qp(rdma->queue)->qp_num,
		.psn = rdma->psn,
		.log_mtu = (uint8_t)(port->active_mtu + MTU_LOG_BASE),
		.max_reads = (uint8_t)(max_reads > 0 ? max_reads : 1),
		.is_infiniband = is_infiniband(port),
	};
	if (end->is_infiniband)
		end->lid = port->lid;
	else
		memcpy(end->gid, rdma->gid.gid.raw, sizeof(end->gid));
}

static struct ibv_ah_attr way_to(const struct dpumap_rdma *rdma, const struct dpumap_rdma_end *peer)
{
	struct ibv_ah_attr ah = {.port_num = DPUMAP_DEVICE_PORT};

	if (peer->is_infiniband) {
		ah.dlid = peer->lid;
		return ah;
	}
	ah.is_global = 1;
	memcpy(ah.grh.dgid.raw, peer->gid, sizeof(peer->gid));
	ah.grh.sgid_index = (uint8_t)rdma->gid.gid_index;
	ah.grh.hop_limit = HOP_LIMIT;
	return ah;
}

doca_error_t dpumap_rdma_connect(struct dpumap_rdma *rdma, const struct dpumap_rdma_end *peer)
{
	const struct ibv_port_attr *port = dpumap_queue_port(rdma->queue);
	enum ibv_mtu mtu = (enum ibv_mtu)(peer->log_mtu - MTU_LOG_BASE);
	struct dpumap_queue_path path = {
		.ah = way_to(rdma, peer),
		.mtu = mtu < port->active_mtu ? mtu : port->active_mtu,
		.qpn = peer->qpn,
		.rq_psn = peer->psn,
		.sq_psn = rdma->psn,
		.max_reads = peer->max_reads,
		.access = rdma->access,
	};
	struct ibv_qp *qp = dpumap_queue_qp(rdma->queue);
	doca_error_t result;

	if (peer->is_infiniband != is_infiniband(port))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s: its port is on %s, that of the peer is not",
				   dpumap_hca_name(rdma->device->hca),
				   is_infiniband(port) ? "InfiniBand" : "Ethernet");
	if (!qp)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: the connection is half destroyed",
				   dpumap_hca_name(rdma->device->hca));
	result = dpumap_queue_link_by(rdma->device, qp, &path);
	if (result != DOCA_SUCCESS)
		dpumap_queue_unlink(rdma->device, qp);
	return result;
}
