/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "device/domain_priv.h"
#include "device/errno.h"
#include "device/queue_link.h"
#include "device/region_priv.h"
#include "log/log.h"

#define POLL_BATCH 16

struct dpumap_queue {
	struct dpumap_device *device;
	const struct dpumap_domain *domain;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_qp_ex *qpx;
	struct mlx5dv_qp_ex *mqpx;
	uint64_t max_len;
	uint32_t depth;
	uint32_t inflight;
	bool mmo;
	bool failed; /* in error until reset */
	struct ibv_port_attr port;
};

static bool fits(const struct dpumap_device *device, uint32_t depth)
{
	return depth && depth <= device->caps.max_queue_depth &&
	       depth <= (uint32_t)device->attr.max_cqe;
}

static doca_error_t create_cq(struct dpumap_queue *queue)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = queue->depth,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD,
		.flags = queue->domain->td ? IBV_CREATE_CQ_ATTR_SINGLE_THREADED : 0,
		.parent_domain = queue->domain->parent,
	};
	struct ibv_cq_ex *cq;
	int err;

	dpumap_domain_forget_refusal();
	cq = ibv_create_cq_ex(queue->device->context, &attr);
	if (cq) {
		queue->cq = ibv_cq_ex_to_cq(cq);
		return DOCA_SUCCESS;
	}
	err = errno;
	if (dpumap_domain_refusal() != DOCA_SUCCESS)
		return dpumap_domain_refusal();
	return dpumap_fail(err == ENOMEM ? DOCA_ERROR_NO_MEMORY : DOCA_ERROR_DRIVER,
			   "%s: no completion queue for %u copies: %s",
			   dpumap_hca_name(queue->device->hca), queue->depth, strerror(err));
}

static doca_error_t create_qp(struct dpumap_queue *queue)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC,
		.send_cq = queue->cq,
		.recv_cq = queue->cq,
		.cap = {.max_send_wr = queue->depth, .max_send_sge = 1},
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = queue->domain->parent,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_RDMA_WRITE,
	};
	struct mlx5dv_qp_init_attr dv = {0};
	int err;

	if (queue->mmo) {
		dv.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS;
		dv.send_ops_flags = MLX5DV_QP_EX_WITH_MEMCPY;
	}
	dpumap_domain_forget_refusal();
	queue->qp = mlx5dv_create_qp(queue->device->context, &attr, &dv);
	if (!queue->qp) {
		err = errno;
		if (dpumap_domain_refusal() != DOCA_SUCCESS)
			return dpumap_domain_refusal();
		return dpumap_fail(err == EINVAL   ? DOCA_ERROR_INVALID_VALUE
				   : err == ENOMEM ? DOCA_ERROR_NO_MEMORY
						   : DOCA_ERROR_DRIVER,
				   "%s: no queue pair for %u copies: %s",
				   dpumap_hca_name(queue->device->hca), queue->depth,
				   strerror(err));
	}
	queue->qpx = ibv_qp_to_qp_ex(queue->qp);
	queue->mqpx = mlx5dv_qp_ex_from_ibv_qp_ex(queue->qpx);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_queue_create(struct dpumap_device *device, struct dpumap_domain *domain,
				 uint32_t depth, struct dpumap_queue **queue)
{
	struct dpumap_queue *created;
	doca_error_t result;

	if (!fits(device, depth))
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE, "%s: %u copies in flight, can do 1 to %u",
			dpumap_hca_name(device->hca), depth, device->caps.max_queue_depth);
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a copy queue");
	created->device = device;
	created->domain = domain ? domain : device->domain;
	created->depth = depth;
	created->mmo = device->caps.max_memcpy_len > 0;
	result = dpumap_queue_query_port(device, &created->port);
	if (result != DOCA_SUCCESS)
		goto free_queue;
	created->max_len = created->mmo ? device->caps.max_memcpy_len : created->port.max_msg_sz;
	result = create_cq(created);
	if (result != DOCA_SUCCESS)
		goto free_queue;
	result = create_qp(created);
	if (result != DOCA_SUCCESS)
		goto destroy_cq;
	result = dpumap_queue_link(device, created->qp, &created->port);
	if (result != DOCA_SUCCESS)
		goto destroy_qp;
	*queue = created;
	return DOCA_SUCCESS;

destroy_qp:
	ibv_destroy_qp(created->qp);
destroy_cq:
	ibv_destroy_cq(created->cq);
free_queue:
	free(created);
	return result;
}

static doca_error_t fail_destroy(const struct dpumap_queue *queue, const char *what, int err)
{
	return dpumap_fail(DOCA_ERROR_DRIVER, "%s: destroying the %s of a copy queue failed: %s",
			   dpumap_hca_name(queue->device->hca), what, strerror(err));
}

doca_error_t dpumap_queue_destroy(struct dpumap_queue *queue)
{
	int err;

	/* Destroying the QP is what stops the device: nothing moves for it afterwards. */
	if (queue->qp) {
		queue->failed = true;
		err = ibv_destroy_qp(queue->qp);
		if (err)
			return fail_destroy(queue, "queue pair", err);
		queue->qp = NULL;
	}
	err = ibv_destroy_cq(queue->cq);
	if (err)
		return fail_destroy(queue, "completion queue", err);
	free(queue);
	return DOCA_SUCCESS;
}

enum dpumap_dma_engine dpumap_queue_engine(const struct dpumap_queue *queue)
{
	return queue->mmo ? DPUMAP_DMA_ENGINE_MMO : DPUMAP_DMA_ENGINE_RDMA;
}

uint64_t dpumap_queue_max_len(const struct dpumap_queue *queue)
{
	return queue->max_len;
}

static uint64_t iova_of(const struct dpumap_region *region, uint64_t addr)
{
	return region->iova + (addr - region->range.addr);
}

/* An alias can be either side; a plain local region is best read from, which needs no right to be
 * written. */
static void build_rdma(struct dpumap_queue *queue, const struct dpumap_copy *copy)
{
	uint64_t dst = iova_of(copy->dst, copy->dst_addr);
	uint64_t src = iova_of(copy->src, copy->src_addr);

	if (copy->dst->imported) {
		ibv_wr_rdma_write(queue->qpx, copy->dst->rkey, dst);
		ibv_wr_set_sge(queue->qpx, copy->src->lkey, src, (uint32_t)copy->len);
	} else {
		ibv_wr_rdma_read(queue->qpx, copy->src->rkey, src);
		ibv_wr_set_sge(queue->qpx, copy->dst->lkey, dst, (uint32_t)copy->len);
	}
}

static void build_mmo(struct dpumap_queue *queue, const struct dpumap_copy *copy)
{
	mlx5dv_wr_memcpy(queue->mqpx, copy->dst->lkey, iova_of(copy->dst, copy->dst_addr),
			 copy->src->lkey, iova_of(copy->src, copy->src_addr), copy->len);
}

doca_error_t dpumap_queue_post(struct dpumap_queue *queue, const struct dpumap_copy *copy)
{
	int err;

	if (doca_unlikely(queue->failed))
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "%s: the copy queue is in error: poll it empty and reset it",
				   dpumap_hca_name(queue->device->hca));
	if (queue->inflight == queue->depth)
		return DOCA_ERROR_AGAIN;
	ibv_wr_start(queue->qpx);
	queue->qpx->wr_id = copy->user_data.u64;
	queue->qpx->wr_flags = IBV_SEND_SIGNALED;
	if (queue->mmo)
		build_mmo(queue, copy);
	else
		build_rdma(queue, copy);
	err = ibv_wr_complete(queue->qpx);
	if (doca_unlikely(err))
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: posting a copy of %zu bytes failed: %s",
				   dpumap_hca_name(queue->device->hca), copy->len, strerror(err));
	queue->inflight++;
	return DOCA_SUCCESS;
}

static doca_error_t status_to_error(enum ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_SUCCESS:
		return DOCA_SUCCESS;
	case IBV_WC_LOC_PROT_ERR:
	case IBV_WC_LOC_ACCESS_ERR:
	case IBV_WC_REM_ACCESS_ERR:
		return DOCA_ERROR_NOT_PERMITTED;
	case IBV_WC_WR_FLUSH_ERR:
		return DOCA_ERROR_SHUTDOWN;
	default:
		return DOCA_ERROR_IO_FAILED;
	}
}

static doca_error_t judge(struct dpumap_queue *queue, const struct ibv_wc *wc)
{
	doca_error_t result = status_to_error(wc->status);

	if (doca_likely(result == DOCA_SUCCESS))
		return result;
	queue->failed = true;
	if (result == DOCA_ERROR_SHUTDOWN)
		return result;
	return dpumap_fail(result, "%s: a copy failed: %s (vendor syndrome 0x%x)",
			   dpumap_hca_name(queue->device->hca), ibv_wc_status_str(wc->status),
			   wc->vendor_err);
}

doca_error_t dpumap_queue_poll(struct dpumap_queue *queue, struct dpumap_dma_completion *out,
			       uint32_t max, uint32_t *n)
{
	struct ibv_wc wc[POLL_BATCH];
	uint32_t done = 0;

	while (done < max) {
		uint32_t want = max - done < POLL_BATCH ? max - done : POLL_BATCH;
		int got = ibv_poll_cq(queue->cq, (int)want, wc);

		if (doca_unlikely(got < 0)) {
			queue->failed = true;
			if (done)
				break;
			return dpumap_fail(DOCA_ERROR_DRIVER,
					   "%s: the completion queue is broken (%d)",
					   dpumap_hca_name(queue->device->hca), got);
		}
		for (int i = 0; i < got; i++, done++) {
			out[done].user_data.u64 = wc[i].wr_id;
			out[done].status = judge(queue, &wc[i]);
		}
		queue->inflight -= (uint32_t)got;
		if ((uint32_t)got < want)
			break;
	}
	*n = done;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_queue_reset(struct dpumap_queue *queue)
{
	doca_error_t result;

	if (queue->inflight)
		return dpumap_fail(DOCA_ERROR_IN_USE, "%s: %u copies of the queue are to be polled",
				   dpumap_hca_name(queue->device->hca), queue->inflight);
	if (!queue->failed)
		return DOCA_SUCCESS;
	if (!queue->qp)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: the copy queue is half destroyed",
				   dpumap_hca_name(queue->device->hca));
	result = dpumap_queue_unlink(queue->device, queue->qp);
	if (result == DOCA_SUCCESS)
		result = dpumap_queue_link(queue->device, queue->qp, &queue->port);
	if (result == DOCA_SUCCESS)
		queue->failed = false;
	return result;
}
