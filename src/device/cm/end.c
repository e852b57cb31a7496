/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/cm/end.h"

#include <errno.h>
#include <rdma/rdma_cma.h>
#include <string.h>

#include "device/device_priv.h"
#include "log/log.h"

#define MAX_READS     16
#define MIN_RNR_TIMER 12 /* 0.64 ms */
#define ACK_TIMEOUT   14 /* 4.096 us * 2^14 = 67 ms */
#define RETRIES	      6	 /* rdma_rxe takes 7 as unlimited */
#define RNR_RETRIES   7
#define RESOLVE_MS    2000

struct dpumap_cm_end dpumap_cm_end_default(void)
{
	return (struct dpumap_cm_end){
		.retries = RETRIES,
		.rnr_retries = RNR_RETRIES,
		.min_rnr_timer = MIN_RNR_TIMER,
		.ack_timeout = ACK_TIMEOUT,
		.resolve_ms = RESOLVE_MS,
	};
}

static uint8_t at_most(int limit)
{
	return (uint8_t)(limit < MAX_READS ? limit : MAX_READS);
}

void dpumap_cm_end_describe(const struct dpumap_cm_end *end, const struct dpumap_device *device,
			    struct rdma_conn_param *param)
{
	*param = (struct rdma_conn_param){
		.private_data = end->data,
		.private_data_len = end->data_len,
		.responder_resources = at_most(device->attr.max_qp_rd_atom),
		.initiator_depth = at_most(device->attr.max_qp_init_rd_atom),
		.flow_control = 1,
		.retry_count = end->retries,
		.rnr_retry_count = end->rnr_retries,
		.srq = end->has_srq,
		.qp_num = end->qp->qp_num,
	};
}

/* The manager knows the path and the peer; the rest is the caller's choice. */
static void adapt(const struct dpumap_cm_end *end, const struct dpumap_device *device,
		  struct ibv_qp_attr *attr)
{
	const uint8_t served = at_most(device->attr.max_qp_rd_atom);
	const uint8_t sent = at_most(device->attr.max_qp_init_rd_atom);

	attr->qp_access_flags = end->access;
	attr->min_rnr_timer = end->min_rnr_timer;
	attr->retry_cnt = end->retries;
	attr->rnr_retry = end->rnr_retries;
	if (end->ack_timeout)
		attr->timeout = end->ack_timeout;
	if (attr->max_dest_rd_atomic > served)
		attr->max_dest_rd_atomic = served;
	if (attr->max_rd_atomic > sent)
		attr->max_rd_atomic = sent;
}

static doca_error_t move(const struct dpumap_cm_end *end, const struct dpumap_device *device,
			 struct rdma_cm_id *id, enum ibv_qp_state state, const char *name)
{
	struct ibv_qp_attr attr = {.qp_state = state};
	int mask = 0, err;

	if (rdma_init_qp_attr(id, &attr, &mask))
		return dpumap_fail(DOCA_ERROR_CONNECTION_ABORTED,
				   "%s: the connection of queue pair 0x%x ended before %s: %s",
				   dpumap_hca_name(device->hca), end->qp->qp_num, name,
				   strerror(errno));
	adapt(end, device, &attr);
	err = ibv_modify_qp(end->qp, &attr, mask | IBV_QP_STATE);
	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: moving queue pair 0x%x to %s failed: %s",
				   dpumap_hca_name(device->hca), end->qp->qp_num, name,
				   strerror(err));
	return DOCA_SUCCESS;
}

doca_error_t dpumap_cm_end_connect(const struct dpumap_cm_end *end,
				   const struct dpumap_device *device, struct rdma_cm_id *id)
{
	doca_error_t result = move(end, device, id, IBV_QPS_INIT, "INIT");

	if (result == DOCA_SUCCESS)
		result = move(end, device, id, IBV_QPS_RTR, "RTR");
	if (result == DOCA_SUCCESS)
		result = move(end, device, id, IBV_QPS_RTS, "RTS");
	return result;
}

void dpumap_cm_end_fail(const struct dpumap_cm_end *end)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	/* A queue pair that cannot be moved is of a device that has failed, which has flushed it. */
	if (end->qp)
		ibv_modify_qp(end->qp, &attr, IBV_QP_STATE);
}
