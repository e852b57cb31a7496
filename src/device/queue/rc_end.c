/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/queue/rc_end.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "device/device_priv.h"
#include "device/queue/qp.h"
#include "log/log.h"

#define HOP_LIMIT 64

static bool is_infiniband(const struct ibv_port_attr *port)
{
	return port->link_layer != IBV_LINK_LAYER_ETHERNET;
}

static doca_error_t choose_gid(struct dpumap_rc_end *end, int gid_index)
{
	if (is_infiniband(end->port))
		return DOCA_SUCCESS;
	if (gid_index == DPUMAP_GID_ANY)
		return dpumap_gid_find(end->device, end->port, &end->gid);
	/* The address existed when the user chose it. */
	return dpumap_gid_query(end->device, gid_index, &end->gid) == DOCA_SUCCESS
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

doca_error_t dpumap_rc_end_init(struct dpumap_rc_end *end, const struct dpumap_device *device,
				const struct ibv_port_attr *port, int gid_index)
{
	doca_error_t result;

	end->device = device;
	end->port = port;
	end->max_mtu = port->active_mtu;
	end->sl = 0;
	end->ack_timeout = DPUMAP_ACK_TIMEOUT;
	end->rnr_retry = DPUMAP_RNR_ENDLESS;
	result = choose_psn(&end->psn);
	return result == DOCA_SUCCESS ? choose_gid(end, gid_index) : result;
}

void dpumap_rc_end_describe(const struct dpumap_rc_end *end, uint32_t qpn,
			    struct dpumap_qp_info *info)
{
	int max_reads = dpumap_qp_max_reads(end->device);

	*info = (struct dpumap_qp_info){
		.qpn = qpn,
		.psn = end->psn,
		.log_mtu = (uint8_t)(end->max_mtu + DPUMAP_LOG_MTU_BASE),
		.max_reads = (uint8_t)(max_reads > 0 ? max_reads : 1),
		.is_infiniband = is_infiniband(end->port),
	};
	if (info->is_infiniband)
		info->lid = end->port->lid;
	else
		memcpy(info->gid, end->gid.gid.raw, sizeof(info->gid));
}

static struct ibv_ah_attr address_of(const struct dpumap_rc_end *end,
				     const struct dpumap_qp_info *peer)
{
	struct ibv_ah_attr ah = {.port_num = DPUMAP_DEVICE_PORT, .sl = end->sl};

	if (peer->is_infiniband) {
		ah.dlid = peer->lid;
		return ah;
	}
	ah.is_global = 1;
	memcpy(ah.grh.dgid.raw, peer->gid, sizeof(peer->gid));
	ah.grh.sgid_index = (uint8_t)end->gid.gid_index;
	ah.grh.hop_limit = HOP_LIMIT;
	return ah;
}

enum ibv_mtu dpumap_rc_end_mtu(const struct dpumap_rc_end *end, const struct dpumap_qp_info *peer)
{
	enum ibv_mtu mtu = (enum ibv_mtu)(peer->log_mtu - DPUMAP_LOG_MTU_BASE);

	return mtu < end->max_mtu ? mtu : end->max_mtu;
}

doca_error_t dpumap_rc_end_connect(const struct dpumap_rc_end *end, struct ibv_qp *qp,
				   unsigned int access, const struct dpumap_qp_info *peer)
{
	const struct ibv_port_attr *port = end->port;
	struct dpumap_qp_path path = {
		.ah = address_of(end, peer),
		.mtu = dpumap_rc_end_mtu(end, peer),
		.qpn = peer->qpn,
		.rq_psn = peer->psn,
		.sq_psn = end->psn,
		.max_reads = peer->max_reads,
		.ack_timeout = end->ack_timeout,
		.rnr_retry = end->rnr_retry,
		.access = access,
	};
	doca_error_t result;

	if (peer->is_infiniband != is_infiniband(port))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "%s: its port is on %s, the port of the peer is not",
				   dpumap_hca_name(end->device->hca),
				   is_infiniband(port) ? "InfiniBand" : "Ethernet");
	if (!qp)
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "%s: the connection is partially destroyed",
				   dpumap_hca_name(end->device->hca));
	result = dpumap_qp_connect(end->device, qp, &path);
	if (result != DOCA_SUCCESS)
		dpumap_qp_reset(end->device, qp);
	return result;
}
