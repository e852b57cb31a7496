/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/queue_link.h"

#include <errno.h>
#include <string.h>

#include "log/log.h"

#define MAX_RD_ATOMIC	16
#define MIN_RNR_TIMER	12 /* 0.64 ms */
#define ACK_TIMEOUT	14 /* 4.096 us * 2^14 = 67 ms */
#define RETRIES		6  /* 7 is for ever to rdma_rxe, as it is of RNR NAKs to all */
#define RNR_RETRIES	7
#define GID_TABLE_LIMIT 256

static int clamp_rd_atomic(int limit)
{
	return limit < MAX_RD_ATOMIC ? limit : MAX_RD_ATOMIC;
}

static doca_error_t modify(const struct dpumap_device *device, struct ibv_qp *qp,
			   struct ibv_qp_attr *attr, int mask, const char *state)
{
	int err = ibv_modify_qp(qp, attr, mask | IBV_QP_STATE);

	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: queue pair 0x%x to %s failed: %s",
				   dpumap_hca_name(device->hca), qp->qp_num, state, strerror(err));
	return DOCA_SUCCESS;
}

int dpumap_queue_max_reads(const struct dpumap_device *device)
{
	return clamp_rd_atomic(device->attr.max_qp_rd_atom);
}

static doca_error_t to_init(const struct dpumap_device *device, struct ibv_qp *qp,
			    const struct dpumap_queue_path *path)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = DPUMAP_DEVICE_PORT,
		.qp_access_flags = path->access,
	};

	return modify(device, qp, &attr, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
		      "INIT");
}

static doca_error_t to_rtr(const struct dpumap_device *device, struct ibv_qp *qp,
			   const struct dpumap_queue_path *path)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = path->mtu,
		.dest_qp_num = path->qpn,
		.rq_psn = path->rq_psn,
		.max_dest_rd_atomic = (uint8_t)dpumap_queue_max_reads(device),
		.min_rnr_timer = MIN_RNR_TIMER,
		.ah_attr = path->ah,
	};

	return modify(device, qp, &attr,
		      IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		      "RTR");
}

static doca_error_t to_rts(const struct dpumap_device *device, struct ibv_qp *qp,
			   const struct dpumap_queue_path *path)
{
	int max_reads = clamp_rd_atomic(device->attr.max_qp_init_rd_atom);
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = ACK_TIMEOUT,
		.retry_cnt = RETRIES,
		.rnr_retry = RNR_RETRIES,
		.sq_psn = path->sq_psn,
		.max_rd_atomic =
			(uint8_t)(max_reads < path->max_reads ? max_reads : path->max_reads),
	};

	return modify(device, qp, &attr,
		      IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			      IBV_QP_MAX_QP_RD_ATOMIC,
		      "RTS");
}

static bool begins_with(const union ibv_gid *gid, const uint8_t *prefix, size_t len)
{
	return memcmp(gid->raw, prefix, len) == 0;
}

/*
 * One of RoCE v2 is routed like any packet, and IPv4 is what networks are set up for; one of the
 * link's scope ends at the next router.
 */
unsigned int dpumap_queue_rank_gid(const struct ibv_gid_entry *gid)
{
	static const uint8_t ipv4_mapped[12] = {[10] = 0xff, [11] = 0xff};
	static const uint8_t link_local[2] = {0xfe, 0x80};

	if (gid->gid_type != IBV_GID_TYPE_ROCE_V2)
		return 1;
	if (begins_with(&gid->gid, ipv4_mapped, sizeof(ipv4_mapped)))
		return DPUMAP_GID_BEST;
	return begins_with(&gid->gid, link_local, sizeof(link_local)) ? 2 : 3;
}

/* The best one, of those the first; on InfiniBand just the first. */
static doca_error_t search_gid(const struct dpumap_device *device, const struct ibv_port_attr *port,
			       struct ibv_gid_entry *gid, bool *found)
{
	const bool ethernet = port->link_layer == IBV_LINK_LAYER_ETHERNET;
	const uint32_t limit = (uint32_t)port->gid_tbl_len;
	unsigned int best = 0;

	for (uint32_t i = 0; i < limit && i < GID_TABLE_LIMIT && best < DPUMAP_GID_BEST; i++) {
		struct ibv_gid_entry entry;
		int err = ibv_query_gid_ex(device->context, DPUMAP_DEVICE_PORT, i, &entry, 0);

		/* An entry without an address, by the kernel or by sysfs of an older one. */
		if (err && err != ENODATA && err != EINVAL)
			return dpumap_fail(DOCA_ERROR_DRIVER, "%s: querying GID %u failed: %s",
					   dpumap_hca_name(device->hca), i, strerror(err));
		if (err || (ethernet && dpumap_queue_rank_gid(&entry) <= best))
			continue;
		*gid = entry;
		best = ethernet ? dpumap_queue_rank_gid(&entry) : DPUMAP_GID_BEST;
	}
	*found = best > 0;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_queue_find_gid(const struct dpumap_device *device,
				   const struct ibv_port_attr *port, struct ibv_gid_entry *gid)
{
	doca_error_t result;
	bool found;

	result = search_gid(device, port, gid, &found);
	if (result == DOCA_SUCCESS && !found)
		return dpumap_fail(DOCA_ERROR_NOT_CONNECTED, "%s: port %d has no address (GID)",
				   dpumap_hca_name(device->hca), DPUMAP_DEVICE_PORT);
	return result;
}

#define LID_MAX 0xbfff /* above are no addresses of ports */

static struct dpumap_address address_of(const struct ibv_port_attr *port,
					const struct ibv_gid_entry *gid)
{
	static const union ibv_gid none;
	struct dpumap_address address = {0};

	address.is_told = memcmp(&gid->gid, &none, sizeof(none)) != 0;
	if (!address.is_told)
		return address;
	address.is_infiniband = port->link_layer != IBV_LINK_LAYER_ETHERNET;
	if (address.is_infiniband && port->lid <= LID_MAX)
		address.lid = port->lid;
	memcpy(address.gid, &gid->gid, sizeof(address.gid));
	return address;
}

doca_error_t dpumap_device_get_address(const struct dpumap_device *device,
				       struct dpumap_address *address)
{
	struct ibv_gid_entry gid = {0};
	struct ibv_port_attr port = {0};
	doca_error_t result;
	bool found;
	int err;

	err = ibv_query_port(device->context, DPUMAP_DEVICE_PORT, &port);
	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: querying port %d failed: %s",
				   dpumap_hca_name(device->hca), DPUMAP_DEVICE_PORT, strerror(err));
	result = search_gid(device, &port, &gid, &found);
	if (result == DOCA_SUCCESS)
		*address = address_of(&port, &gid);
	return result;
}

static doca_error_t find_path(const struct dpumap_device *device, const struct ibv_port_attr *port,
			      struct ibv_ah_attr *ah)
{
	struct ibv_gid_entry gid = {0};
	doca_error_t result;

	ah->port_num = DPUMAP_DEVICE_PORT;
	if (port->link_layer != IBV_LINK_LAYER_ETHERNET) {
		ah->dlid = port->lid;
		return DOCA_SUCCESS;
	}
	result = dpumap_queue_find_gid(device, port, &gid);
	if (result != DOCA_SUCCESS)
		return result;
	ah->is_global = 1;
	ah->grh.dgid = gid.gid;
	ah->grh.sgid_index = (uint8_t)gid.gid_index;
	ah->grh.hop_limit = 1;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_queue_link_by(const struct dpumap_device *device, struct ibv_qp *qp,
				  const struct dpumap_queue_path *path)
{
	doca_error_t result;

	result = to_init(device, qp, path);
	if (result == DOCA_SUCCESS)
		result = to_rtr(device, qp, path);
	if (result == DOCA_SUCCESS)
		result = to_rts(device, qp, path);
	return result;
}

doca_error_t dpumap_queue_link(const struct dpumap_device *device, struct ibv_qp *qp,
			       const struct ibv_port_attr *port)
{
	struct dpumap_queue_path path = {
		.mtu = port->active_mtu,
		.qpn = qp->qp_num,
		.max_reads = dpumap_queue_max_reads(device),
		.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
	};
	doca_error_t result = find_path(device, port, &path.ah);

	return result == DOCA_SUCCESS ? dpumap_queue_link_by(device, qp, &path) : result;
}

doca_error_t dpumap_queue_unlink(const struct dpumap_device *device, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	return modify(device, qp, &attr, 0, "RESET");
}

doca_error_t dpumap_queue_query_port(const struct dpumap_device *device, struct ibv_port_attr *port)
{
	int err = ibv_query_port(device->context, DPUMAP_DEVICE_PORT, port);

	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: querying port %d failed: %s",
				   dpumap_hca_name(device->hca), DPUMAP_DEVICE_PORT, strerror(err));
	if (port->state != IBV_PORT_ACTIVE)
		return dpumap_fail(DOCA_ERROR_NOT_CONNECTED, "%s: port %d is %s",
				   dpumap_hca_name(device->hca), DPUMAP_DEVICE_PORT,
				   ibv_port_state_str(port->state));
	return DOCA_SUCCESS;
}
