/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/queue/counter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "device/device_priv.h"
#include "device/errno.h"
#include "device/memory/region_priv.h"
#include "device/port.h"
#include "device/queue/cq.h"
#include "device/queue/qp.h"
#include "log/log.h"

#define DEPTH	   64u /* requests at a time: bits of `free` */
#define TIMEOUT_MS 10000
#define ALIGNMENT  64

struct slot {
	struct dpumap_counter_op *op;
	uint32_t generation; /* of the request in it; others with this slot are of the past */
};

struct dpumap_counter {
	uint64_t cells[DEPTH]; /* which the device reads and writes, one for each slot */
	struct dpumap_device *device;
	struct ibv_cq *cq;
	struct ibv_qp *qp, *responder;
	struct ibv_mr *mr; /* of cells */
	uint32_t key;
	uint64_t addr;
	uint64_t free;	/* a bit for each slot */
	uint64_t since; /* when the device last completed a request, or got the first */
	uint32_t num_events;
	bool failed; /* the queue pair is in error */
	struct ibv_port_attr port;
	struct slot slots[DEPTH];
};

static doca_error_t fail_create(const struct dpumap_counter *counter, const char *what)
{
	int err = errno;

	return dpumap_fail(dpumap_errno_to_one_of(err, DOCA_ERROR_NO_MEMORY),
			   "%s: creating the %s for a counter failed: %s",
			   dpumap_hca_name(counter->device->hca), what, strerror(err));
}

static doca_error_t connect_qps(const struct dpumap_counter *counter)
{
	doca_error_t result = dpumap_qp_connect_here(counter->device, counter->responder,
						     &counter->port, counter->qp->qp_num);

	if (result == DOCA_SUCCESS)
		result = dpumap_qp_connect_here(counter->device, counter->qp, &counter->port,
						counter->responder->qp_num);
	return result;
}

/*
 * Two queue pairs: if one were connected to itself, a request that the responder refuses would be
 * flushed, and its error lost.
 */
static doca_error_t create_qps(struct dpumap_counter *counter)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = counter->cq,
		.recv_cq = counter->cq,
		.cap = {.max_send_wr = DEPTH, .max_send_sge = 1},
		.sq_sig_all = 1,
	};

	counter->qp = ibv_create_qp(counter->device->pd, &init);
	if (!counter->qp)
		return fail_create(counter, "queue pair");
	init.cap.max_send_wr = 1;
	counter->responder = ibv_create_qp(counter->device->pd, &init);
	if (!counter->responder)
		return fail_create(counter, "second queue pair");
	return connect_qps(counter);
}

static doca_error_t create_objects(struct dpumap_counter *counter,
				   const struct dpumap_counter_attr *attr)
{
	struct dpumap_cq_attr cq = {
		.domain = counter->device->domain,
		.depth = DEPTH,
		.events = attr->events,
		.vector = attr->vector,
		.num_events = &counter->num_events,
	};
	doca_error_t result = dpumap_port_query_active(counter->device, &counter->port);

	if (result != DOCA_SUCCESS)
		return result;
	counter->mr = ibv_reg_mr(counter->device->pd, counter->cells, sizeof(counter->cells),
				 IBV_ACCESS_LOCAL_WRITE);
	if (!counter->mr)
		return fail_create(counter, "memory region");
	result = dpumap_cq_create(&cq, &counter->cq);
	return result == DOCA_SUCCESS ? create_qps(counter) : result;
}

doca_error_t dpumap_counter_create(struct dpumap_device *device,
				   const struct dpumap_counter_attr *attr,
				   struct dpumap_counter **counter)
{
	size_t size = (sizeof(struct dpumap_counter) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	struct dpumap_counter *created = aligned_alloc(ALIGNMENT, size);
	doca_error_t result;

	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a counter");
	memset(created, 0, size);
	created->device = device;
	created->key = attr->region->rkey;
	created->addr = attr->region->iova + (attr->addr - attr->region->range.addr);
	created->free = UINT64_MAX;
	result = create_objects(created, attr);
	if (result != DOCA_SUCCESS) {
		(void)dpumap_counter_destroy(created);
		return result;
	}
	*counter = created;
	return DOCA_SUCCESS;
}

static doca_error_t fail_destroy(const struct dpumap_counter *counter, const char *what, int err)
{
	return dpumap_fail(DOCA_ERROR_DRIVER, "%s: destroying the %s of a counter failed: %s",
			   dpumap_hca_name(counter->device->hca), what, strerror(err));
}

static doca_error_t destroy_qp(const struct dpumap_counter *counter, struct ibv_qp **qp)
{
	int err = *qp ? dpumap_errno_of_end(counter->device->context, ibv_destroy_qp(*qp)) : 0;

	if (err)
		return fail_destroy(counter, "queue pair", err);
	*qp = NULL;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_counter_destroy(struct dpumap_counter *counter)
{
	/* Without its queue pair, the device does not touch the cells. */
	doca_error_t result = destroy_qp(counter, &counter->qp);
	int err;

	if (result == DOCA_SUCCESS)
		result = destroy_qp(counter, &counter->responder);
	if (result != DOCA_SUCCESS)
		return result;
	if (counter->cq) {
		err = dpumap_errno_of_end(counter->device->context, ibv_destroy_cq(counter->cq));
		if (err)
			return fail_destroy(counter, "completion queue", err);
		counter->cq = NULL;
	}
	if (counter->mr) {
		err = dpumap_errno_of_end(counter->device->context, ibv_dereg_mr(counter->mr));
		if (err)
			return fail_destroy(counter, "memory region", err);
	}
	free(counter);
	return DOCA_SUCCESS;
}

/* --- requests --------------------------------------------------------------------------------- */

static bool is_idle(const struct dpumap_counter *counter)
{
	return counter->free == UINT64_MAX;
}

static void end(struct dpumap_counter *counter, uint32_t at, doca_error_t status)
{
	struct dpumap_counter_op *op = counter->slots[at].op;

	counter->slots[at].op = NULL;
	counter->free |= UINT64_C(1) << at;
	op->status = status;
	op->is_posted = false;
	if (status == DOCA_SUCCESS && op->kind != DPUMAP_COUNTER_WRITE)
		op->value = counter->cells[at];
}

/* Make the queue pairs usable again; nothing is posted. */
static doca_error_t revive(struct dpumap_counter *counter)
{
	doca_error_t result = dpumap_qp_reset(counter->device, counter->qp);

	if (result == DOCA_SUCCESS)
		result = dpumap_qp_reset(counter->device, counter->responder);
	if (result == DOCA_SUCCESS)
		result = connect_qps(counter);
	counter->failed = result != DOCA_SUCCESS;
	return result;
}

static doca_error_t send_request(struct dpumap_counter *counter, const struct dpumap_counter_op *op,
				 uint32_t at)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)&counter->cells[at],
		.length = sizeof(counter->cells[at]),
		.lkey = counter->mr->lkey,
	};
	struct ibv_send_wr *bad,
		wr = {
			.wr_id = (uint64_t)counter->slots[at].generation << 32 | at,
			.sg_list = &sge,
			.num_sge = 1,
		};
	int err;

	if (op->kind == DPUMAP_COUNTER_ADD) {
		wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr.wr.atomic.remote_addr = counter->addr;
		wr.wr.atomic.rkey = counter->key;
		wr.wr.atomic.compare_add = op->value;
	} else {
		wr.opcode = op->kind == DPUMAP_COUNTER_READ ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
		wr.wr.rdma.remote_addr = counter->addr;
		wr.wr.rdma.rkey = counter->key;
	}
	err = ibv_post_send(counter->qp, &wr, &bad);
	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: posting a work request failed: %s",
				   dpumap_hca_name(counter->device->hca), strerror(err));
	return DOCA_SUCCESS;
}

doca_error_t dpumap_counter_post(struct dpumap_counter *counter, struct dpumap_counter_op *op)
{
	doca_error_t result;
	uint32_t at;

	if (!counter->free || (counter->failed && !is_idle(counter)))
		return DOCA_ERROR_AGAIN;
	if (counter->failed) {
		result = revive(counter);
		if (result != DOCA_SUCCESS)
			return result;
	}
	at = (uint32_t)__builtin_ctzll(counter->free);
	counter->slots[at].generation++;
	counter->cells[at] = op->value;
	result = send_request(counter, op, at);
	if (result != DOCA_SUCCESS)
		return result;
	if (is_idle(counter))
		counter->since = monotonic_coarse_ms();
	counter->free &= ~(UINT64_C(1) << at);
	counter->slots[at].op = op;
	op->is_posted = true;
	return DOCA_SUCCESS;
}

static doca_error_t error_of(enum ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_LOC_PROT_ERR:
	case IBV_WC_LOC_ACCESS_ERR:
	case IBV_WC_REM_ACCESS_ERR:
		return DOCA_ERROR_NOT_PERMITTED;
	default:
		return DOCA_ERROR_IO_FAILED;
	}
}

static doca_error_t status_of(struct dpumap_counter *counter, const struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_SUCCESS)
		return DOCA_SUCCESS;
	counter->failed = true;
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		return DOCA_ERROR_IO_FAILED;
	return dpumap_fail(
		error_of(wc->status),
		"%s: an access to the counter of a sync event failed: %s (vendor syndrome "
		"0x%x): has its exporter stopped?",
		dpumap_hca_name(counter->device->hca), ibv_wc_status_str(wc->status),
		wc->vendor_err);
}

/* A completion that comes again is ignored. */
static void take(struct dpumap_counter *counter, const struct ibv_wc *wc)
{
	uint32_t at = (uint32_t)wc->wr_id;

	if (at >= DEPTH || !counter->slots[at].op ||
	    counter->slots[at].generation != (uint32_t)(wc->wr_id >> 32))
		return;
	counter->since = monotonic_coarse_ms();
	end(counter, at, status_of(counter, wc));
}

/* No more completions come. A device that answers late finds only the cells. */
static void fail_all(struct dpumap_counter *counter)
{
	counter->failed = true;
	(void)dpumap_qp_reset(counter->device, counter->qp);
	for (uint32_t at = 0; at < DEPTH; at++)
		if (counter->slots[at].op)
			end(counter, at, DOCA_ERROR_IO_FAILED);
}

void dpumap_counter_poll(struct dpumap_counter *counter)
{
	struct ibv_wc wc;
	int got = 0;

	while (!is_idle(counter) && (got = ibv_poll_cq(counter->cq, 1, &wc)) > 0)
		take(counter, &wc);
	if (is_idle(counter) || (!got && monotonic_coarse_ms() - counter->since < TIMEOUT_MS))
		return;
	dpumap_log(DPUMAP_LOG_ERROR,
		   "%s: the device does not complete the requests to the counter of a sync event",
		   dpumap_hca_name(counter->device->hca));
	fail_all(counter);
}

doca_error_t dpumap_counter_execute(struct dpumap_counter *counter, struct dpumap_counter_op *op)
{
	doca_error_t result;

	while ((result = dpumap_counter_post(counter, op)) == DOCA_ERROR_AGAIN)
		dpumap_counter_poll(counter);
	if (result != DOCA_SUCCESS)
		return DOCA_ERROR_IO_FAILED;
	while (op->is_posted)
		dpumap_counter_poll(counter);
	return op->status;
}

doca_error_t dpumap_counter_arm(struct dpumap_counter *counter)
{
	int err = ibv_req_notify_cq(counter->cq, 0);

	if (!err)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_DRIVER, "%s: requesting a completion event failed: %s",
			   dpumap_hca_name(counter->device->hca), strerror(err));
}
