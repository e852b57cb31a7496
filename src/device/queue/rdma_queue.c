/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/queue/rdma_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "device/device_priv.h"
#include "device/domain_priv.h"
#include "device/errno.h"
#include "device/memory/region_priv.h"
#include "device/queue/cq.h"
#include "device/queue/rdma_map.h"
#include "device/queue/rdma_qp_priv.h"
#include "device/queue/rdma_queue_priv.h"
#include "device/queue/rdma_take.h"
#include "log/log.h"

/* What a work request is: of a queue pair, or a receive. */
#define IS_RECEIVE	 (1ull << 63)
#define INDEX_SHIFT	 32
#define GENERATION_SHIFT 48
#define GENERATION_MASK	 0x7fffu
#define NUMBER_MASK	 0x7fffffffu /* of a receive */

#define POLL_BATCH	 16

struct dpumap_rdma_piece dpumap_rdma_piece(const struct dpumap_region *region, uint64_t addr,
					   size_t len)
{
	return (struct dpumap_rdma_piece){
		.addr = region->iova + (addr - region->range.addr),
		.len = (uint32_t)len,
		.key = region->lkey,
	};
}

/* --- creation --------------------------------------------------------------------------------- */

static doca_error_t create_cq(struct dpumap_rdma_queue *queue,
			      const struct dpumap_rdma_queue_attr *attr)
{
	struct dpumap_cq_attr cq = {
		.domain = queue->device->domain,
		.depth = queue->num_sends + queue->num_recvs,
		.events = attr->events,
		.vector = attr->vector,
		.num_events = &queue->num_events,
	};

	return dpumap_cq_create(&cq, &queue->cq);
}

static doca_error_t create_srq(struct dpumap_rdma_queue *queue, uint32_t max_pieces)
{
	struct ibv_srq_init_attr attr = {
		.attr = {.max_wr = queue->num_recvs, .max_sge = max_pieces},
	};
	int err;

	dpumap_domain_clear_alloc_error();
	queue->srq = ibv_create_srq(dpumap_domain_pd(queue->device->domain), &attr);
	if (queue->srq)
		return DOCA_SUCCESS;
	err = errno;
	if (dpumap_domain_alloc_error() != DOCA_SUCCESS)
		return dpumap_domain_alloc_error();
	return dpumap_fail(
		dpumap_errno_to_one_of(err, DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_NO_MEMORY,
				       DOCA_ERROR_NOT_SUPPORTED),
		"%s: creating a shared receive queue for %u receives of %u pieces failed: %s",
		dpumap_hca_name(queue->device->hca), queue->num_recvs, max_pieces, strerror(err));
}

static doca_error_t allocate(struct dpumap_rdma_queue *queue)
{
	uint32_t buckets = 1;

	while (buckets < queue->max_qps)
		buckets *= 2;
	queue->number_mask = buckets - 1;
	queue->by_number = calloc(buckets, sizeof(struct dpumap_rdma_qp *));
	queue->qps = calloc(queue->max_qps, sizeof(struct dpumap_rdma_qp *));
	queue->taken = calloc((size_t)queue->num_sends + queue->num_recvs, sizeof(*queue->taken));
	if (queue->num_recvs) {
		queue->receives = calloc(queue->size_recvs, sizeof(*queue->receives));
		queue->order = calloc(queue->num_recvs, sizeof(*queue->order));
	}
	if (!queue->by_number || !queue->qps || !queue->taken ||
	    (queue->num_recvs && (!queue->receives || !queue->order)))
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a queue of connections");
	for (uint32_t i = 0; i < queue->num_recvs; i++)
		queue->receives[i].next = i + 1;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_rdma_queue_create(struct dpumap_device *device,
				      const struct dpumap_rdma_queue_attr *attr,
				      struct dpumap_rdma_queue **queue)
{
	struct dpumap_rdma_queue *created = calloc(1, sizeof(*created));
	doca_error_t result;

	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a queue of connections");
	created->device = device;
	created->num_sends = attr->num_sends;
	created->num_recvs = attr->num_recvs;
	created->size_recvs = attr->num_recvs;
	created->max_qps = attr->max_qps;
	result = create_cq(created, attr);
	if (result == DOCA_SUCCESS && attr->num_recvs)
		result = create_srq(created, attr->max_recv_pieces);
	if (result == DOCA_SUCCESS && device->caps.is_mlx5)
		result = dpumap_rdma_map(created);
	if (result == DOCA_SUCCESS)
		result = allocate(created);
	if (result != DOCA_SUCCESS) {
		dpumap_rdma_queue_destroy(created);
		return result;
	}
	*queue = created;
	return DOCA_SUCCESS;
}

/* --- queue pairs ------------------------------------------------------------------------------ */

doca_error_t dpumap_rdma_queue_add(struct dpumap_rdma_queue *queue, struct dpumap_rdma_qp *qp)
{
	struct dpumap_rdma_qp **bucket = &queue->by_number[qp->qpn & queue->number_mask];
	uint16_t index = 0;

	while (index < queue->max_qps && queue->qps[index])
		index++;
	if (index == queue->max_qps)
		return dpumap_fail(DOCA_ERROR_FULL, "%s: all %u connections are in use",
				   dpumap_hca_name(queue->device->hca), queue->max_qps);
	queue->qps[index] = qp;
	queue->generation = (queue->generation + 1) & GENERATION_MASK;
	qp->index = index;
	qp->id = (uint64_t)queue->generation << GENERATION_SHIFT | (uint64_t)index << INDEX_SHIFT;
	qp->next_of_number = *bucket;
	*bucket = qp;
	return DOCA_SUCCESS;
}

static void forget_dirty(struct dpumap_rdma_queue *queue, const struct dpumap_rdma_qp *qp)
{
	for (struct dpumap_rdma_qp **at = &queue->dirty; *at; at = &(*at)->next_dirty)
		if (*at == qp) {
			*at = qp->next_dirty;
			return;
		}
}

void dpumap_rdma_queue_remove(struct dpumap_rdma_queue *queue, struct dpumap_rdma_qp *qp)
{
	struct dpumap_rdma_qp **at = &queue->by_number[qp->qpn & queue->number_mask];

	if (queue->qps[qp->index] != qp)
		return;
	while (*at != qp)
		at = &(*at)->next_of_number;
	*at = qp->next_of_number;
	queue->qps[qp->index] = NULL;
	queue->sends -= qp->posted - qp->completed;
	queue->num_lost -= qp->lost;
	forget_dirty(queue, qp);
}

void dpumap_rdma_queue_flush(struct dpumap_rdma_queue *queue)
{
	struct dpumap_rdma_qp *qp;

	while ((qp = queue->dirty)) {
		queue->dirty = qp->next_dirty;
		dpumap_rdma_qp_flush(qp);
	}
}

/* --- receiving -------------------------------------------------------------------------------- */

_Static_assert(sizeof(struct dpumap_rdma_piece) == sizeof(struct ibv_sge) &&
		       offsetof(struct dpumap_rdma_piece, addr) == offsetof(struct ibv_sge, addr) &&
		       offsetof(struct dpumap_rdma_piece, len) ==
			       offsetof(struct ibv_sge, length) &&
		       offsetof(struct dpumap_rdma_piece, key) == offsetof(struct ibv_sge, lkey),
	       "a piece is passed to the driver as it is");

static doca_error_t receive_by_verbs(struct dpumap_rdma_queue *queue,
				     const struct dpumap_rdma_piece *pieces, uint32_t num_pieces,
				     uint32_t *index)
{
	uint32_t first = queue->free_recv;
	struct ibv_recv_wr *bad,
		wr = {
			.wr_id = IS_RECEIVE |
				 (uint64_t)(queue->recv_number & NUMBER_MASK) << INDEX_SHIFT |
				 first,
			.sg_list = (struct ibv_sge *)(uintptr_t)pieces,
			.num_sge = (int)num_pieces,
		};
	int err = ibv_post_srq_recv(queue->srq, &wr, &bad);

	if (doca_unlikely(err))
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: posting a receive failed: %s",
				   dpumap_hca_name(queue->device->hca), strerror(err));
	queue->free_recv = queue->receives[first].next;
	*index = first;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_rdma_queue_receive(struct dpumap_rdma_queue *queue,
				       const struct dpumap_rdma_piece *pieces, uint32_t num_pieces,
				       void *cookie)
{
	doca_error_t result = DOCA_SUCCESS;
	uint32_t index;

	if (doca_unlikely(queue->recvs == queue->num_recvs))
		return DOCA_ERROR_AGAIN;
	if (doca_likely(queue->is_mapped))
		index = dpumap_rdma_queue_put_receive(queue, pieces, num_pieces);
	else
		result = receive_by_verbs(queue, pieces, num_pieces, &index);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	dpumap_rdma_queue_note_receive(queue, index, cookie);
	return DOCA_SUCCESS;
}

static void free_receive(struct dpumap_rdma_queue *queue, uint32_t index)
{
	queue->receives[index].next = queue->free_recv;
	queue->free_recv = index;
}

/* --- completions ------------------------------------------------------------------------------ */

static const struct {
	enum ibv_wc_status status;
	doca_error_t error;
} failures[] = {
	{IBV_WC_WR_FLUSH_ERR, DOCA_ERROR_SHUTDOWN},
	{IBV_WC_LOC_PROT_ERR, DOCA_ERROR_NOT_PERMITTED},
	{IBV_WC_LOC_ACCESS_ERR, DOCA_ERROR_NOT_PERMITTED},
	{IBV_WC_REM_ACCESS_ERR, DOCA_ERROR_NOT_PERMITTED},
	{IBV_WC_REM_INV_REQ_ERR, DOCA_ERROR_INVALID_VALUE},
	{IBV_WC_RETRY_EXC_ERR, DOCA_ERROR_CONNECTION_ABORTED},
	{IBV_WC_RNR_RETRY_EXC_ERR, DOCA_ERROR_CONNECTION_ABORTED},
};

__attribute__((cold, noinline)) static doca_error_t fail(const struct dpumap_rdma_queue *queue,
							 const struct ibv_wc *wc, bool is_receive)
{
	doca_error_t error = DOCA_ERROR_IO_FAILED;

	for (size_t i = 0; i < ARRAY_SIZE(failures); i++)
		if (failures[i].status == wc->status)
			error = failures[i].error;
	if (is_receive && wc->status == IBV_WC_LOC_LEN_ERR)
		error = DOCA_ERROR_INVALID_VALUE;
	if (error == DOCA_ERROR_SHUTDOWN)
		return error;
	return dpumap_fail(error, "%s: %s failed: %s (vendor syndrome 0x%x)",
			   dpumap_hca_name(queue->device->hca),
			   is_receive ? "a receive" : "a work request",
			   ibv_wc_status_str(wc->status), wc->vendor_err);
}

/*
 * Devices do not complete anything twice, but what such a completion says would complete later work
 * whose bytes may not have been moved yet.
 */
__attribute__((cold, noinline)) void dpumap_rdma_queue_drop(const struct dpumap_rdma_queue *queue)
{
	dpumap_log(DPUMAP_LOG_ERROR,
		   "%s: a work request completed twice; the second completion is ignored",
		   dpumap_hca_name(queue->device->hca));
}

static bool take_send(struct dpumap_rdma_queue *queue, const struct ibv_wc *wc,
		      struct dpumap_rdma_done *done)
{
	struct dpumap_rdma_qp *qp = queue->qps[(uint16_t)(wc->wr_id >> INDEX_SHIFT)];

	if (doca_unlikely(!qp || (wc->wr_id ^ qp->id) >> INDEX_SHIFT ||
			  !dpumap_rdma_take_send(queue, qp, (uint32_t)wc->wr_id, done))) {
		dpumap_rdma_queue_drop(queue);
		return false;
	}
	if (doca_unlikely(wc->status != IBV_WC_SUCCESS)) {
		qp->failed = qp->has_flushed = true;
		done->status = fail(queue, wc, false);
	}
	return true;
}

static enum dpumap_rdma_received kind_of(const struct ibv_wc *wc)
{
	if (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM)
		return DPUMAP_RDMA_RECEIVED_WRITE_IMM;
	return wc->wc_flags & IBV_WC_WITH_IMM ? DPUMAP_RDMA_RECEIVED_SEND_IMM
					      : DPUMAP_RDMA_RECEIVED_SEND;
}

static bool take_receive(struct dpumap_rdma_queue *queue, const struct ibv_wc *wc,
			 struct dpumap_rdma_done *done)
{
	uint32_t index = (uint32_t)wc->wr_id;
	uint32_t number = (uint32_t)(wc->wr_id >> INDEX_SHIFT) & NUMBER_MASK;
	struct dpumap_rdma_qp *qp = dpumap_rdma_take_qp(queue, wc->qp_num);

	if (doca_unlikely(number != (queue->receives[index].number & NUMBER_MASK) ||
			  !dpumap_rdma_take_receive(queue, qp, index, done))) {
		dpumap_rdma_queue_drop(queue);
		return false;
	}
	free_receive(queue, index);
	if (doca_unlikely(wc->status != IBV_WC_SUCCESS)) {
		if (qp)
			qp->failed = true;
		done->status = fail(queue, wc, true);
		return true;
	}
	done->kind = kind_of(wc);
	done->len = wc->byte_len;
	done->imm = wc->imm_data;
	return true;
}

static uint32_t take(struct dpumap_rdma_queue *queue, const struct ibv_wc *wc, int n,
		     struct dpumap_rdma_done *done)
{
	uint32_t taken = 0;

	for (int i = 0; i < n; i++)
		taken += wc[i].wr_id & IS_RECEIVE ? take_receive(queue, &wc[i], &done[taken])
						  : take_send(queue, &wc[i], &done[taken]);
	return taken;
}

static doca_error_t poll_device(struct dpumap_rdma_queue *queue, struct dpumap_rdma_done *done,
				uint32_t max, uint32_t *n)
{
	struct ibv_wc wc[POLL_BATCH];

	if (doca_likely(queue->is_mapped)) {
		*n += dpumap_rdma_map_poll(queue, done + *n, max - *n);
		return DOCA_SUCCESS;
	}
	while (*n < max) {
		uint32_t want = max - *n < POLL_BATCH ? max - *n : POLL_BATCH;
		int got = ibv_poll_cq(queue->cq, (int)want, wc);

		if (doca_unlikely(got < 0)) {
			queue->failed = true;
			return dpumap_fail(DOCA_ERROR_DRIVER,
					   "%s: polling the completion queue failed (%d)",
					   dpumap_hca_name(queue->device->hca), got);
		}
		*n += take(queue, wc, got, done + *n);
		if ((uint32_t)got < want)
			break;
	}
	return DOCA_SUCCESS;
}

void dpumap_rdma_queue_take(struct dpumap_rdma_queue *queue)
{
	uint32_t size = queue->num_sends + queue->num_recvs, n = 0;

	if (queue->failed)
		return;
	if (queue->first_taken) {
		queue->num_taken -= queue->first_taken;
		memmove(queue->taken, queue->taken + queue->first_taken,
			queue->num_taken * sizeof(*queue->taken));
		queue->first_taken = 0;
	}
	(void)poll_device(queue, queue->taken + queue->num_taken, size - queue->num_taken, &n);
	queue->num_taken += n;
	queue->is_fast = false;
}

static uint32_t return_taken(struct dpumap_rdma_queue *queue, struct dpumap_rdma_done *done,
			     uint32_t max)
{
	uint32_t n = 0;

	while (n < max && queue->first_taken < queue->num_taken)
		done[n++] = queue->taken[queue->first_taken++];
	if (queue->first_taken == queue->num_taken)
		queue->first_taken = queue->num_taken = 0;
	return n;
}

/* The queue pairs whose last work requests did not reach the device, once earlier ones are done. */
static uint32_t return_lost(struct dpumap_rdma_queue *queue, struct dpumap_rdma_done *done,
			    uint32_t max)
{
	uint32_t n = 0;

	for (uint16_t i = 0; i < queue->max_qps && n < max && queue->num_lost; i++) {
		struct dpumap_rdma_qp *qp = queue->qps[i];

		if (!qp || !qp->lost || qp->completed != qp->lost_from)
			continue;
		qp->lost = false;
		queue->num_lost--;
		queue->sends -= qp->posted - qp->completed;
		qp->completed = qp->posted;
		done[n++] = (struct dpumap_rdma_done){
			.owner = qp->owner, .status = DOCA_ERROR_DRIVER, .number = qp->posted - 1};
	}
	return n;
}

static uint32_t return_left(struct dpumap_rdma_queue *queue, struct dpumap_rdma_done *done,
			    uint32_t max)
{
	uint32_t n = 0;

	while (n < max && queue->left) {
		struct rdma_receive *receive = &queue->receives[queue->order[--queue->left]];

		receive->posted = false;
		queue->recvs--;
		done[n++] = (struct dpumap_rdma_done){.is_receive = true,
						      .status = DOCA_ERROR_SHUTDOWN,
						      .cookie = receive->cookie};
	}
	return n;
}

static bool is_fast(const struct dpumap_rdma_queue *queue)
{
	return queue->is_mapped && !queue->num_taken && !queue->failed && !queue->stopped;
}

doca_error_t dpumap_rdma_queue_poll(struct dpumap_rdma_queue *queue, struct dpumap_rdma_done *done,
				    uint32_t max, uint32_t *n)
{
	doca_error_t result = DOCA_SUCCESS;
	uint32_t count = 0;

	if (doca_unlikely(queue->num_taken))
		count = return_taken(queue, done, max);
	if (doca_likely(!queue->failed))
		result = poll_device(queue, done, max, &count);
	else if (!queue->stopped)
		result = DOCA_ERROR_DRIVER;
	if (doca_unlikely(queue->num_lost))
		count += return_lost(queue, done + count, max - count);
	if (doca_unlikely(queue->stopped))
		count += return_left(queue, done + count, max - count);
	*n = count;
	queue->is_fast = is_fast(queue);
	return count ? DOCA_SUCCESS : result;
}

doca_error_t dpumap_rdma_queue_arm(struct dpumap_rdma_queue *queue)
{
	int err = 0;

	if (doca_likely(queue->is_mapped))
		dpumap_cq_ring_arm(&queue->ring);
	else
		err = ibv_req_notify_cq(queue->cq, 0);
	if (!err)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_DRIVER, "%s: requesting a completion event failed: %s",
			   dpumap_hca_name(queue->device->hca), strerror(err));
}

/* --- the end ---------------------------------------------------------------------------------- */

static doca_error_t fail_destroy(const struct dpumap_rdma_queue *queue, const char *what, int err)
{
	return dpumap_fail(DOCA_ERROR_DRIVER, "%s: destroying the %s of an RDMA context failed: %s",
			   dpumap_hca_name(queue->device->hca), what, strerror(err));
}

static int by_age(const void *a, const void *b, void *arg)
{
	const struct dpumap_rdma_queue *queue = arg;
	uint32_t age_a = queue->recv_number - queue->receives[*(const uint32_t *)a].number;
	uint32_t age_b = queue->recv_number - queue->receives[*(const uint32_t *)b].number;

	return (age_a > age_b) - (age_a < age_b);
}

static void find_left(struct dpumap_rdma_queue *queue)
{
	for (uint32_t i = 0; i < queue->size_recvs; i++)
		if (queue->receives[i].posted)
			queue->order[queue->left++] = i;
	if (queue->left)
		qsort_r(queue->order, queue->left, sizeof(*queue->order), by_age, queue);
}

doca_error_t dpumap_rdma_queue_stop(struct dpumap_rdma_queue *queue)
{
	int err;

	if (queue->stopped)
		return DOCA_SUCCESS;
	err = queue->srq ? dpumap_errno_of_end(queue->device->context, ibv_destroy_srq(queue->srq))
			 : 0;
	if (err)
		return fail_destroy(queue, "shared receive queue", err);
	queue->srq = NULL;
	queue->stopped = true;
	queue->is_fast = false;
	if (queue->receives && queue->order)
		find_left(queue);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_rdma_queue_destroy(struct dpumap_rdma_queue *queue)
{
	doca_error_t result = dpumap_rdma_queue_stop(queue);
	int err;

	if (result != DOCA_SUCCESS)
		return result;
	err = queue->cq ? dpumap_errno_of_end(queue->device->context, ibv_destroy_cq(queue->cq))
			: 0;
	if (err)
		return fail_destroy(queue, "completion queue", err);
	free(queue->order);
	free(queue->receives);
	free(queue->taken);
	free(queue->by_number);
	free(queue->qps);
	free(queue);
	return DOCA_SUCCESS;
}
