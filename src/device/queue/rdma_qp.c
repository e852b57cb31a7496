/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/queue/rdma_qp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "device/device_priv.h"
#include "device/domain_priv.h"
#include "device/errno.h"
#include "device/memory/access.h"
#include "device/port.h"
#include "device/queue/rdma_qp_priv.h"
#include "device/queue/rdma_queue_priv.h"
#include "log/log.h"

/*
 * The peer may connect later than this side posts. 268 ms, and 1.9 s with all attempts; devices may
 * take four times as long.
 */
#define ACK_TIMEOUT 16

/* --- creation --------------------------------------------------------------------------------- */

/* Received bytes must not be in the completion: libmlx5 would copy them, to memory of any kind. */
static struct ibv_qp *create_mlx5(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	struct mlx5dv_qp_init_attr dv = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
		.create_flags = MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE,
	};

	return mlx5dv_create_qp(context, attr, &dv);
}

static doca_error_t create_qp(struct dpumap_rdma_qp *qp, const struct dpumap_rdma_qp_attr *attr)
{
	struct dpumap_device *device = qp->queue->device;
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = qp->queue->cq,
		.recv_cq = qp->queue->cq,
		.srq = qp->queue->srq,
		.cap = {.max_send_wr = attr->depth, .max_send_sge = attr->max_pieces},
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = dpumap_domain_pd(device->domain),
	};
	int err;

	dpumap_domain_clear_alloc_error();
	qp->qp = device->caps.is_mlx5 ? create_mlx5(device->context, &init)
				      : ibv_create_qp_ex(device->context, &init);
	if (qp->qp) {
		qp->qpn = qp->qp->qp_num;
		return DOCA_SUCCESS;
	}
	err = errno;
	if (dpumap_domain_alloc_error() != DOCA_SUCCESS)
		return dpumap_domain_alloc_error();
	return dpumap_fail(
		dpumap_errno_to_one_of(err, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_NO_MEMORY),
		"%s: creating a queue pair for %u work requests of %u pieces failed: %s",
		dpumap_hca_name(device->hca), attr->depth, attr->max_pieces, strerror(err));
}

static doca_error_t init_end(struct dpumap_rdma_qp *qp, const struct dpumap_rdma_qp_attr *attr)
{
	doca_error_t result = dpumap_port_query_active(qp->queue->device, &qp->port);

	if (result == DOCA_SUCCESS)
		result =
			dpumap_rc_end_init(&qp->end, qp->queue->device, &qp->port, attr->gid_index);
	if (result != DOCA_SUCCESS)
		return result;
	if (attr->log_mtu && attr->log_mtu < (unsigned int)qp->end.max_mtu + DPUMAP_LOG_MTU_BASE)
		qp->end.max_mtu = (enum ibv_mtu)(attr->log_mtu - DPUMAP_LOG_MTU_BASE);
	qp->end.sl = attr->sl;
	qp->end.ack_timeout = ACK_TIMEOUT;
	qp->end.rnr_retry = attr->rnr_retry;
	qp->log_mtu = (uint8_t)(qp->end.max_mtu + DPUMAP_LOG_MTU_BASE);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_rdma_qp_create(struct dpumap_rdma_queue *queue,
				   const struct dpumap_rdma_qp_attr *attr,
				   struct dpumap_rdma_qp **qp)
{
	struct dpumap_rdma_qp *created = calloc(1, sizeof(*created));
	doca_error_t result;

	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a connection");
	created->queue = queue;
	created->owner = attr->owner;
	created->depth = attr->depth;
	created->access = IBV_ACCESS_LOCAL_WRITE | dpumap_access_rdma(attr->access);
	result = init_end(created, attr);
	if (result == DOCA_SUCCESS)
		result = create_qp(created, attr);
	if (result != DOCA_SUCCESS)
		goto free_qp;
	if (queue->is_mapped)
		result = dpumap_rdma_sq_map(&created->sq, created->qp,
					    dpumap_hca_name(queue->device->hca), attr->depth,
					    attr->max_pieces);
	if (result == DOCA_SUCCESS)
		result = dpumap_rdma_queue_add(queue, created);
	if (result != DOCA_SUCCESS)
		goto destroy_qp;
	*qp = created;
	return DOCA_SUCCESS;

destroy_qp:
	dpumap_rdma_sq_unmap(&created->sq);
	ibv_destroy_qp(created->qp);
free_qp:
	free(created);
	return result;
}

/* --- connecting ------------------------------------------------------------------------------- */

void dpumap_rdma_qp_describe(const struct dpumap_rdma_qp *qp, struct dpumap_qp_info *info)
{
	dpumap_rc_end_describe(&qp->end, qp->qpn, info);
}

const struct ibv_gid_entry *dpumap_rdma_qp_gid(const struct dpumap_rdma_qp *qp)
{
	return qp->port.link_layer == IBV_LINK_LAYER_ETHERNET ? &qp->end.gid : NULL;
}

doca_error_t dpumap_rdma_qp_connect(struct dpumap_rdma_qp *qp, const struct dpumap_qp_info *peer)
{
	doca_error_t result = dpumap_rc_end_connect(&qp->end, qp->qp, qp->access, peer);

	if (result == DOCA_SUCCESS)
		qp->log_mtu = (uint8_t)(dpumap_rc_end_mtu(&qp->end, peer) + DPUMAP_LOG_MTU_BASE);
	return result;
}

uint8_t dpumap_rdma_qp_log_mtu(const struct dpumap_rdma_qp *qp)
{
	return qp->log_mtu;
}

struct ibv_qp *dpumap_rdma_qp_verbs(const struct dpumap_rdma_qp *qp)
{
	return qp->qp;
}

unsigned int dpumap_rdma_qp_access(const struct dpumap_rdma_qp *qp)
{
	return qp->access;
}

/* --- posting ---------------------------------------------------------------------------------- */

static void move_to_error(struct dpumap_rdma_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	/* Refused for a queue pair that was never connected, which executes nothing. */
	(void)ibv_modify_qp(qp->qp, &attr, IBV_QP_STATE);
	qp->failed = true;
}

static void set_peer(struct ibv_send_wr *wr, const struct dpumap_rdma_request *request)
{
	if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr->wr.atomic.remote_addr = request->peer_addr;
		wr->wr.atomic.compare_add = request->operand;
		wr->wr.atomic.swap = request->swap;
		wr->wr.atomic.rkey = request->peer_key;
	} else {
		wr->wr.rdma.remote_addr = request->peer_addr;
		wr->wr.rdma.rkey = request->peer_key;
	}
}

/*
 * Not ibv_wr_set_sge_list(): librxe of rdma-core 44 and later takes the length of a list to be that of
 * its first piece times the number of pieces.
 */
static void post_by_verbs(struct dpumap_rdma_qp *qp, const struct dpumap_rdma_request *request)
{
	static const enum ibv_wr_opcode opcodes[] = {
		[DPUMAP_RDMA_SEND] = IBV_WR_SEND,
		[DPUMAP_RDMA_SEND_IMM] = IBV_WR_SEND_WITH_IMM,
		[DPUMAP_RDMA_WRITE] = IBV_WR_RDMA_WRITE,
		[DPUMAP_RDMA_WRITE_IMM] = IBV_WR_RDMA_WRITE_WITH_IMM,
		[DPUMAP_RDMA_READ] = IBV_WR_RDMA_READ,
		[DPUMAP_RDMA_CMP_SWP] = IBV_WR_ATOMIC_CMP_AND_SWP,
		[DPUMAP_RDMA_FETCH_ADD] = IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct ibv_send_wr wr = {
		.wr_id = qp->id | qp->posted,
		.sg_list = (struct ibv_sge *)(uintptr_t)request->pieces,
		.num_sge = (int)request->num_pieces,
		.opcode = opcodes[request->op],
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = request->imm,
	};
	struct ibv_send_wr *bad;
	int err;

	set_peer(&wr, request);
	err = ibv_post_send(qp->qp, &wr, &bad);
	if (doca_likely(!err))
		return;
	dpumap_log(DPUMAP_LOG_ERROR, "%s: posting a work request failed: %s",
		   dpumap_hca_name(qp->queue->device->hca), strerror(err));
	qp->lost = true;
	qp->lost_from = qp->posted;
	qp->queue->num_lost++;
	move_to_error(qp);
}

doca_error_t dpumap_rdma_qp_post(struct dpumap_rdma_qp *qp,
				 const struct dpumap_rdma_request *request)
{
	if (doca_unlikely(qp->failed))
		return DOCA_ERROR_SHUTDOWN;
	if (doca_unlikely(!dpumap_rdma_qp_has_room(qp)))
		return DOCA_ERROR_AGAIN;
	if (doca_likely(qp->queue->is_mapped))
		dpumap_rdma_sq_post(&qp->sq, request, qp->posted);
	else
		post_by_verbs(qp, request);
	dpumap_rdma_qp_note_posted(qp);
	return DOCA_SUCCESS;
}

void dpumap_rdma_qp_flush(struct dpumap_rdma_qp *qp)
{
	qp->is_dirty = false;
	if (doca_likely(qp->queue->is_mapped))
		dpumap_send_ring_flush(&qp->sq.ring);
}

uint32_t dpumap_rdma_qp_posted(const struct dpumap_rdma_qp *qp)
{
	return qp->posted;
}

/* --- the end ---------------------------------------------------------------------------------- */

void dpumap_rdma_qp_fail(struct dpumap_rdma_qp *qp)
{
	dpumap_rdma_queue_flush(qp->queue);
	move_to_error(qp);
}

doca_error_t dpumap_rdma_qp_destroy(struct dpumap_rdma_qp *qp)
{
	int err;

	if (qp->qp) {
		dpumap_rdma_qp_fail(qp);
		/* The driver forgets its completions; but it leaves a mapped completion queue alone. */
		dpumap_rdma_queue_take(qp->queue);
		err = dpumap_errno_of_end(qp->queue->device->context, ibv_destroy_qp(qp->qp));
		if (err)
			return dpumap_fail(
				DOCA_ERROR_DRIVER, "%s: destroying queue pair 0x%x failed: %s",
				dpumap_hca_name(qp->queue->device->hca), qp->qpn, strerror(err));
		dpumap_rdma_queue_take(qp->queue);
		dpumap_rdma_queue_remove(qp->queue, qp);
	}
	dpumap_rdma_sq_unmap(&qp->sq);
	free(qp);
	return DOCA_SUCCESS;
}
