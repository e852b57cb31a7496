/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/queue/message_send.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "device/device_priv.h"
#include "device/errno.h"
#include "device/queue/cq.h"
#include "device/queue/cq_ring.h"
#include "device/queue/message_qp.h"
#include "log/log.h"

struct send_queue {
	struct dpumap_mq_send base;
	bool stopped;
	uint32_t num_events; /* completion events that were read */
	struct ibv_cq *verbs_cq;
	struct dpumap_mq_qp qp;
};

static inline struct send_queue *to_send_queue(const struct dpumap_mq_send *send)
{
	return (struct send_queue *)send;
}

static doca_error_t create_qp(struct send_queue *send, struct dpumap_device *device)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = send->verbs_cq,
		.recv_cq = send->verbs_cq,
		.cap =
			{
				.max_send_wr = send->base.depth,
				.max_send_sge = 1,
				/* The driver does not count the pointer behind inline data. */
				.max_inline_data = send->base.header_len
							   ? send->base.header_len + DPUMAP_WQE_SEG
							   : 0,
			},
	};

	return dpumap_mq_qp_create(device, &attr, &send->qp);
}

static struct dpumap_mq_shape shape_of(uint32_t bytes, uint32_t qpn)
{
	return (struct dpumap_mq_shape){
		.qpn_ds = htobe32(qpn << 8 | bytes / DPUMAP_WQE_SEG),
		.blocks = dpumap_wqe_blocks(bytes / DPUMAP_WQE_SEG),
	};
}

/* What is the same for all messages. */
static void prepare(struct dpumap_mq_send *send, uint32_t qpn)
{
	uint32_t end = DPUMAP_WQE_SEG;

	if (send->header_len)
		end = (DPUMAP_MQ_INLINE + send->header_len + DPUMAP_WQE_SEG - 1) / DPUMAP_WQE_SEG *
		      DPUMAP_WQE_SEG;
	send->inline_len = htobe32(send->header_len | MLX5_INLINE_SEG);
	send->pointer_block = end / DPUMAP_WQE_BLOCK;
	send->pointer_offset = end % DPUMAP_WQE_BLOCK;
	send->without_data = shape_of(end, qpn);
	send->with_data = shape_of(end + DPUMAP_WQE_SEG, qpn);
}

static doca_error_t map(struct send_queue *send)
{
	struct mlx5dv_qp qp = {0};
	struct mlx5dv_cq cq = {0};
	struct mlx5dv_obj objects = {
		.qp = {.in = send->qp.qp, .out = &qp},
		.cq = {.in = send->verbs_cq, .out = &cq},
	};
	int err = mlx5dv_init_obj(&objects, MLX5DV_OBJ_QP | MLX5DV_OBJ_CQ);

	prepare(&send->base, objects.qp.in->qp_num);
	if (!err && !dpumap_send_ring_map(&send->base.ring, &qp, objects.qp.in->qp_num,
					  send->base.depth * send->base.with_data.blocks))
		err = EPROTO;
	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: cannot map a send queue of messages (mlx5dv_init_obj): %s",
				   dpumap_hca_name(send->qp.device->hca), strerror(err));
	dpumap_cq_ring_map(&send->base.cq, &cq, &send->num_events);
	return DOCA_SUCCESS;
}

static doca_error_t create_objects(struct send_queue *send, struct dpumap_device *device,
				   const struct dpumap_mq_attr *attr)
{
	struct dpumap_cq_attr cq = {
		.domain = device->domain,
		.depth = send->base.depth,
		.events = attr->events,
		.vector = attr->vector,
		.num_events = &send->num_events,
	};
	uint32_t ring = 1;
	doca_error_t result;

	while (ring < send->base.depth)
		ring *= 2;
	send->base.pending_mask = ring - 1;
	send->base.pending = calloc(ring, sizeof(*send->base.pending));
	if (!send->base.pending)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a send queue of messages");
	result = dpumap_cq_create(&cq, &send->verbs_cq);
	if (result == DOCA_SUCCESS)
		result = create_qp(send, device);
	if (result == DOCA_SUCCESS)
		result = map(send);
	return result;
}

doca_error_t dpumap_mq_send_create(struct dpumap_device *device, const struct dpumap_mq_attr *attr,
				   struct dpumap_mq_send **send)
{
	doca_error_t result = dpumap_mq_attr_check(device, attr);
	struct send_queue *created;

	if (result != DOCA_SUCCESS)
		return result;
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a send queue of messages");
	created->qp.device = device;
	created->base.depth = attr->depth;
	created->base.header_len = attr->header_len;
	result = create_objects(created, device, attr);
	if (result != DOCA_SUCCESS) {
		dpumap_mq_send_destroy(&created->base);
		return result;
	}
	*send = &created->base;
	return DOCA_SUCCESS;
}

void dpumap_mq_send_describe(const struct dpumap_mq_send *send, struct dpumap_qp_info *info)
{
	dpumap_mq_qp_describe(&to_send_queue(send)->qp, info);
}

doca_error_t dpumap_mq_send_connect(struct dpumap_mq_send *send, const struct dpumap_qp_info *peer)
{
	return dpumap_mq_qp_connect(&to_send_queue(send)->qp, peer);
}

void dpumap_mq_send_flush(struct dpumap_mq_send *base)
{
	if (doca_likely(!to_send_queue(base)->stopped))
		dpumap_send_ring_flush(&base->ring);
}

__attribute__((cold, noinline)) static doca_error_t failure(const struct send_queue *send,
							    const struct mlx5_cqe64 *cqe)
{
	static const struct dpumap_cqe_meaning too_long = {
		MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR,
		{DOCA_ERROR_TOO_BIG, "it is longer than the receive that the peer posted"},
	};

	return dpumap_cqe_fail(dpumap_hca_name(send->qp.device->hca), "sending a message", cqe,
			       &too_long);
}

void dpumap_mq_send_drop(struct dpumap_mq_send *base)
{
	dpumap_cq_ring_drop(&base->cq, dpumap_hca_name(to_send_queue(base)->qp.device->hca));
}

/* What follows a failure is flushed, with completions of its own or without. */
__attribute__((cold, noinline)) void dpumap_mq_send_note_failure(struct dpumap_mq_send *base,
								 const struct mlx5_cqe64 *cqe)
{
	if (base->status != DOCA_SUCCESS)
		base->before = DOCA_ERROR_SHUTDOWN;
	base->status = DOCA_SUCCESS;
	if (cqe->op_own >> 4 != MLX5_CQE_REQ)
		base->status = failure(to_send_queue(base), cqe);
}

/* Once the device has stopped, what it did not complete is flushed. */
__attribute__((cold, noinline)) bool dpumap_mq_send_find_left(struct dpumap_mq_send *base)
{
	if (!to_send_queue(base)->stopped || base->completed == base->posted)
		return false;
	base->through = base->pending[(base->posted - 1) & base->pending_mask].block;
	base->before = base->status = DOCA_ERROR_SHUTDOWN;
	base->covered = true;
	return true;
}

void dpumap_mq_send_arm(struct dpumap_mq_send *send)
{
	dpumap_cq_ring_arm(&send->cq);
}

doca_error_t dpumap_mq_send_stop(struct dpumap_mq_send *base)
{
	struct send_queue *send = to_send_queue(base);
	doca_error_t result = dpumap_mq_qp_destroy(&send->qp);

	if (result != DOCA_SUCCESS)
		return result;
	send->stopped = true;
	base->depth = 0;
	return DOCA_SUCCESS;
}

/* As far as it was created. */
doca_error_t dpumap_mq_send_destroy(struct dpumap_mq_send *base)
{
	struct send_queue *send = to_send_queue(base);
	doca_error_t result = dpumap_mq_send_stop(base);
	int err = 0;

	if (result != DOCA_SUCCESS)
		return result;
	if (send->verbs_cq)
		err = dpumap_errno_of_end(send->qp.device->context, ibv_destroy_cq(send->verbs_cq));
	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: destroying the completion queue of a send queue failed: %s",
				   dpumap_hca_name(send->qp.device->hca), strerror(err));
	free(base->pending);
	free(send);
	return DOCA_SUCCESS;
}
