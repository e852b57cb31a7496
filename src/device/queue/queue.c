/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/queue/queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "device/device_priv.h"
#include "device/domain_priv.h"
#include "device/errno.h"
#include "device/memory/region_priv.h"
#include "device/port.h"
#include "device/queue/cq.h"
#include "device/queue/qp.h"
#include "device/queue/queue_priv.h"
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
	bool failed;	     /* in error until reset */
	bool lost;	     /* some posted work will never complete */
	uint32_t unflushed;  /* posted since the last doorbell */
	uint32_t next;	     /* the number of the next work request */
	uint32_t slot;	     /* its place in `cookies` */
	uint32_t expected;   /* lower numbers have completed */
	uint64_t *cookies;   /* of the work requests, for their completions */
	uint32_t num_events; /* completion events that were read */
	struct ibv_port_attr port;
};

static bool is_valid_depth(const struct dpumap_device *device, uint32_t depth)
{
	return depth && depth <= device->caps.max_queue_depth &&
	       depth <= (uint32_t)device->attr.max_cqe;
}

static doca_error_t create_cq(struct dpumap_queue *queue, const struct dpumap_queue_attr *attr)
{
	struct dpumap_cq_attr cq = {
		.domain = queue->domain,
		.depth = queue->depth,
		.events = attr->events,
		.vector = attr->vector,
		.num_events = &queue->num_events,
	};

	return dpumap_cq_create(&cq, &queue->cq);
}

static struct ibv_qp *create_mlx5_qp(struct dpumap_queue *queue, struct ibv_qp_init_attr_ex *attr)
{
	struct mlx5dv_qp_init_attr dv = {0};

	if (queue->mmo) {
		dv.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS;
		dv.send_ops_flags = MLX5DV_QP_EX_WITH_MEMCPY;
	}
	return mlx5dv_create_qp(queue->device->context, attr, &dv);
}

static doca_error_t create_qp(struct dpumap_queue *queue)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC,
		.send_cq = queue->cq,
		.recv_cq = queue->cq,
		.cap = {.max_send_wr = queue->depth, .max_send_sge = 1},
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = dpumap_domain_pd(queue->domain),
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_RDMA_WRITE,
	};
	int err;

	dpumap_domain_clear_alloc_error();
	if (queue->device->caps.is_mlx5)
		queue->qp = create_mlx5_qp(queue, &attr);
	else
		queue->qp = ibv_create_qp_ex(queue->device->context, &attr);
	if (!queue->qp) {
		err = errno;
		if (dpumap_domain_alloc_error() != DOCA_SUCCESS)
			return dpumap_domain_alloc_error();
		return dpumap_fail(
			dpumap_errno_to_one_of(err, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_NO_MEMORY),
			"%s: creating a queue pair for %u work requests failed: %s",
			dpumap_hca_name(queue->device->hca), queue->depth, strerror(err));
	}
	queue->qpx = ibv_qp_to_qp_ex(queue->qp);
	if (queue->mmo)
		queue->mqpx = mlx5dv_qp_ex_from_ibv_qp_ex(queue->qpx);
	return DOCA_SUCCESS;
}

static doca_error_t create_objects(struct dpumap_queue *queue, const struct dpumap_queue_attr *attr)
{
	doca_error_t result;

	result = create_cq(queue, attr);
	if (result != DOCA_SUCCESS)
		return result;
	result = create_qp(queue);
	if (result != DOCA_SUCCESS)
		goto destroy_cq;
	result = dpumap_qp_connect_to_self(queue->device, queue->qp, &queue->port);
	if (result != DOCA_SUCCESS)
		goto destroy_qp;
	return DOCA_SUCCESS;

destroy_qp:
	ibv_destroy_qp(queue->qp);
destroy_cq:
	ibv_destroy_cq(queue->cq);
	return result;
}

doca_error_t dpumap_queue_check_copies(const struct dpumap_device *device)
{
	if (device->caps.is_mlx5)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
			   "%s does not support copies: not an mlx5 device",
			   dpumap_hca_name(device->hca));
}

doca_error_t dpumap_queue_create(struct dpumap_device *device, const struct dpumap_queue_attr *attr,
				 struct dpumap_queue **queue)
{
	struct dpumap_queue *created;
	doca_error_t result;

	if (!is_valid_depth(device, attr->depth))
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE, "%s: invalid queue depth %u, must be 1 to %u",
			dpumap_hca_name(device->hca), attr->depth, device->caps.max_queue_depth);
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a queue");
	created->device = device;
	created->domain = attr->domain ? attr->domain : device->domain;
	created->depth = attr->depth;
	created->mmo = device->caps.max_memcpy_len > 0;
	created->max_len = device->caps.max_copy_len;
	created->cookies = calloc(created->depth, sizeof(*created->cookies));
	result = created->cookies ? dpumap_port_query_active(device, &created->port)
				  : dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a queue");
	if (result == DOCA_SUCCESS)
		result = create_objects(created, attr);
	if (result != DOCA_SUCCESS) {
		free(created->cookies);
		free(created);
		return result;
	}
	*queue = created;
	return DOCA_SUCCESS;
}

static doca_error_t fail_destroy(const struct dpumap_queue *queue, const char *what, int err)
{
	return dpumap_fail(DOCA_ERROR_DRIVER, "%s: destroying the %s of a queue failed: %s",
			   dpumap_hca_name(queue->device->hca), what, strerror(err));
}

doca_error_t dpumap_queue_destroy(struct dpumap_queue *queue)
{
	int err;

	/* Destroying the queue pair stops the device: it moves nothing afterwards. */
	if (queue->qp) {
		queue->failed = true;
		err = dpumap_errno_of_end(queue->device->context, ibv_destroy_qp(queue->qp));
		if (err)
			return fail_destroy(queue, "queue pair", err);
		queue->qp = NULL;
	}
	err = dpumap_errno_of_end(queue->device->context, ibv_destroy_cq(queue->cq));
	if (err)
		return fail_destroy(queue, "completion queue", err);
	free(queue->cookies);
	free(queue);
	return DOCA_SUCCESS;
}

enum dpumap_dma_engine dpumap_queue_engine(const struct dpumap_queue *queue)
{
	return queue->mmo ? DPUMAP_DMA_ENGINE_MMO : DPUMAP_DMA_ENGINE_RDMA;
}

struct ibv_qp *dpumap_queue_qp(const struct dpumap_queue *queue)
{
	return queue->qp;
}

struct ibv_cq *dpumap_queue_cq(const struct dpumap_queue *queue, const uint32_t **num_events)
{
	*num_events = &queue->num_events;
	return queue->cq;
}

const struct dpumap_device *dpumap_queue_device(const struct dpumap_queue *queue)
{
	return queue->device;
}

uint32_t dpumap_queue_depth(const struct dpumap_queue *queue)
{
	return queue->depth;
}

uint64_t dpumap_queue_max_len(const struct dpumap_queue *queue)
{
	return queue->max_len;
}

static uint64_t iova_of(const struct dpumap_region *region, uint64_t addr)
{
	return region->iova + (addr - region->range.addr);
}

/* Write to an imported region; otherwise read, which needs no right to write the destination. */
static void build_rdma(struct dpumap_queue *queue, const struct dpumap_copy *copy)
{
	uint64_t dst = iova_of(copy->dst, copy->dst_addr);
	uint64_t src = iova_of(copy->src, copy->src_addr);

	if (copy->dst->is_imported) {
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

/* On failure the work requests since the last doorbell are lost. */
static doca_error_t submit(struct dpumap_queue *queue)
{
	uint32_t posted = queue->unflushed;
	int err;

	queue->unflushed = 0;
	err = ibv_wr_complete(queue->qpx);
	if (doca_likely(!err))
		return DOCA_SUCCESS;
	queue->inflight -= posted;
	return dpumap_fail(DOCA_ERROR_DRIVER, "%s: posting %u work requests failed: %s",
			   dpumap_hca_name(queue->device->hca), posted, strerror(err));
}

/* Start a work request, which the caller builds. */
static inline doca_error_t start_request(struct dpumap_queue *queue, uint64_t cookie)
{
	if (doca_unlikely(queue->failed))
		return dpumap_fail(DOCA_ERROR_BAD_STATE,
				   "%s: the queue is in error: poll all completions, then reset it",
				   dpumap_hca_name(queue->device->hca));
	if (queue->inflight == queue->depth)
		return DOCA_ERROR_AGAIN;
	if (!queue->unflushed)
		ibv_wr_start(queue->qpx);
	queue->cookies[queue->slot] = cookie;
	queue->qpx->wr_id = (uint64_t)queue->next++ << 32 | queue->slot;
	queue->slot = queue->slot + 1 < queue->depth ? queue->slot + 1 : 0;
	queue->qpx->wr_flags = IBV_SEND_SIGNALED;
	queue->unflushed++;
	queue->inflight++;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_queue_post_later(struct dpumap_queue *queue, const struct dpumap_copy *copy)
{
	doca_error_t result = start_request(queue, copy->user_data.u64);

	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	if (queue->mmo)
		build_mmo(queue, copy);
	else
		build_rdma(queue, copy);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_queue_post(struct dpumap_queue *queue, const struct dpumap_copy *copy)
{
	doca_error_t result = dpumap_queue_post_later(queue, copy);

	return doca_likely(result == DOCA_SUCCESS) ? submit(queue) : result;
}

doca_error_t dpumap_queue_flush(struct dpumap_queue *queue)
{
	if (!queue->unflushed || doca_likely(submit(queue) == DOCA_SUCCESS))
		return DOCA_SUCCESS;
	queue->failed = true;
	queue->lost = true;
	return DOCA_ERROR_DRIVER;
}

bool dpumap_queue_has_failed(const struct dpumap_queue *queue)
{
	return queue->failed;
}

doca_error_t dpumap_queue_arm(struct dpumap_queue *queue)
{
	int err = ibv_req_notify_cq(queue->cq, 0);

	if (!err)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_DRIVER, "%s: requesting a completion event failed: %s",
			   dpumap_hca_name(queue->device->hca), strerror(err));
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

static doca_error_t completion_status(struct dpumap_queue *queue, const struct ibv_wc *wc)
{
	doca_error_t result = status_to_error(wc->status);

	if (doca_likely(result == DOCA_SUCCESS))
		return result;
	queue->failed = true;
	if (result == DOCA_ERROR_SHUTDOWN)
		return result;
	return dpumap_fail(result, "%s: a work request failed: %s (vendor syndrome 0x%x)",
			   dpumap_hca_name(queue->device->hca), ibv_wc_status_str(wc->status),
			   wc->vendor_err);
}

/*
 * Work requests complete in the order in which they were posted. A completion that comes again must not
 * complete a later work request, whose bytes may not have been moved yet.
 */
static bool is_expected(struct dpumap_queue *queue, const struct ibv_wc *wc)
{
	uint32_t number = (uint32_t)(wc->wr_id >> 32);

	if (doca_unlikely(number - queue->expected >= queue->next - queue->expected)) {
		dpumap_log(DPUMAP_LOG_ERROR,
			   "%s: a work request completed twice; the second completion is ignored",
			   dpumap_hca_name(queue->device->hca));
		return false;
	}
	queue->expected = number + 1;
	return true;
}

/* Take over the expected ones of these completions; returns how many. */
static uint32_t take(struct dpumap_queue *queue, const struct ibv_wc *wc, int n,
		     struct dpumap_dma_completion *out)
{
	uint32_t taken = 0;

	for (int i = 0; i < n; i++) {
		if (!is_expected(queue, &wc[i]))
			continue;
		out[taken].user_data.u64 = queue->cookies[(uint32_t)wc[i].wr_id];
		out[taken++].status = completion_status(queue, &wc[i]);
	}
	queue->inflight -= taken;
	return taken;
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
					   "%s: polling the completion queue failed (%d)",
					   dpumap_hca_name(queue->device->hca), got);
		}
		if (doca_unlikely(!got && !done && queue->lost))
			return DOCA_ERROR_DRIVER;
		done += take(queue, wc, got, out + done);
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
		return dpumap_fail(DOCA_ERROR_IN_USE,
				   "%s: resetting a queue: %u completions are left to poll",
				   dpumap_hca_name(queue->device->hca), queue->inflight);
	if (!queue->failed)
		return DOCA_SUCCESS;
	if (!queue->qp)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: the queue is partially destroyed",
				   dpumap_hca_name(queue->device->hca));
	result = dpumap_qp_reset(queue->device, queue->qp);
	if (result == DOCA_SUCCESS)
		result = dpumap_qp_connect_to_self(queue->device, queue->qp, &queue->port);
	if (result == DOCA_SUCCESS)
		queue->failed = queue->lost = false;
	return result;
}
