/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/queue/qp.h"

#include <errno.h>
#include <string.h>

#include "device/device_priv.h"
#include "device/gid.h"
#include "log/log.h"

#define MAX_RD_ATOMIC 16
#define MIN_RNR_TIMER 12 /* 0.64 ms */
#define RETRIES	      6	 /* rdma_rxe takes 7 as unlimited */

static int clamp_rd_atomic(int limit)
{
	return limit < MAX_RD_ATOMIC ? limit : MAX_RD_ATOMIC;
}

static doca_error_t modify(const struct dpumap_device *device, struct ibv_qp *qp,
			   struct ibv_qp_attr *attr, int mask, const char *state)
{
	int err = ibv_modify_qp(qp, attr, mask | IBV_QP_STATE);

	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: moving queue pair 0x%x to %s failed: %s",
				   dpumap_hca_name(device->hca), qp->qp_num, state, strerror(err));
	return DOCA_SUCCESS;
}

int dpumap_qp_max_reads(const struct dpumap_device *device)
{
	return clamp_rd_atomic(device->attr.max_qp_rd_atom);
}

static doca_error_t to_init(const struct dpumap_device *device, struct ibv_qp *qp,
			    const struct dpumap_qp_path *path)
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
			   const struct dpumap_qp_path *path)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = path->mtu,
		.dest_qp_num = path->qpn,
		.rq_psn = path->rq_psn,
		.max_dest_rd_atomic = (uint8_t)dpumap_qp_max_reads(device),
		.min_rnr_timer = MIN_RNR_TIMER,
		.ah_attr = path->ah,
	};

	return modify(device, qp, &attr,
		      IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		      "RTR");
}

static doca_error_t to_rts(const struct dpumap_device *device, struct ibv_qp *qp,
			   const struct dpumap_qp_path *path)
{
	int max_reads = clamp_rd_atomic(device->attr.max_qp_init_rd_atom);
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = path->ack_timeout,
		.retry_cnt = RETRIES,
		.rnr_retry = path->rnr_retry,
		.sq_psn = path->sq_psn,
		.max_rd_atomic =
			(uint8_t)(max_reads < path->max_reads ? max_reads : path->max_reads),
	};

	return modify(device, qp, &attr,
		      IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			      IBV_QP_MAX_QP_RD_ATOMIC,
		      "RTS");
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
	result = dpumap_gid_find(device, port, &gid);
	if (result != DOCA_SUCCESS)
		return result;
	ah->is_global = 1;
	ah->grh.dgid = gid.gid;
	ah->grh.sgid_index = (uint8_t)gid.gid_index;
	ah->grh.hop_limit = 1;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_qp_connect(const struct dpumap_device *device, struct ibv_qp *qp,
			       const struct dpumap_qp_path *path)
{
	doca_error_t result;

	result = to_init(device, qp, path);
	if (result == DOCA_SUCCESS)
		result = to_rtr(device, qp, path);
	if (result == DOCA_SUCCESS)
		result = to_rts(device, qp, path);
	return result;
}

doca_error_t dpumap_qp_connect_to_self(const struct dpumap_device *device, struct ibv_qp *qp,
				       const struct ibv_port_attr *port)
{
	return dpumap_qp_connect_here(device, qp, port, qp->qp_num);
}

doca_error_t dpumap_qp_connect_here(const struct dpumap_device *device, struct ibv_qp *qp,
				    const struct ibv_port_attr *port, uint32_t qpn)
{
	struct dpumap_qp_path path = {
		.mtu = port->active_mtu,
		.qpn = qpn,
		.ack_timeout = DPUMAP_ACK_TIMEOUT,
		.max_reads = dpumap_qp_max_reads(device),
		.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
	};
	doca_error_t result = find_path(device, port, &path.ah);

	if (device->caps.has_atomics)
		path.access |= IBV_ACCESS_REMOTE_ATOMIC;
	return result == DOCA_SUCCESS ? dpumap_qp_connect(device, qp, &path) : result;
}

doca_error_t dpumap_qp_reset(const struct dpumap_device *device, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	return modify(device, qp, &attr, 0, "RESET");
}
