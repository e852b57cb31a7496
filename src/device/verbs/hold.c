/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/verbs/hold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "device/verbs/cq.h"
#include "device/verbs/qp.h"
#include "log/log.h"

/* Where a request keeps what it waits for: members that a program leaves alone. */
#define WAIT_CQ(wr)	((wr)->wr.atomic.compare_add)
#define WAIT_NUMBER(wr) ((wr)->wr.atomic.swap)

/* From now on requests and completions are looked at. */
static void begin_waiting(struct dpumap_verbs_context *context)
{
	pthread_mutex_lock(&context->lock);
	context->may_wait = true;
	for (struct dpumap_verbs_cq *cq = context->cqs; cq; cq = cq->next)
		atomic_store(&cq->fast, NULL);
	for (struct dpumap_verbs_qp *qp = context->qps; qp; qp = qp->next)
		atomic_store(&qp->post, dpumap_verbs_post_carefully);
	pthread_mutex_unlock(&context->lock);
}

int dpumap_verbs_set_wait(struct dpumap_verbs_cq *cq, uint32_t number, struct ibv_send_wr *wr)
{
	if (!cq->memory.cqes)
		return EOPNOTSUPP;
	if (atomic_load(&cq->fast))
		begin_waiting(cq->context);
	wr->opcode = IBV_WR_DRIVER1;
	wr->sg_list = NULL;
	wr->num_sge = 0;
	WAIT_CQ(wr) = (uintptr_t)cq;
	WAIT_NUMBER(wr) = number;
	return 0;
}

/* NULL: the program made the request itself, or the queue was destroyed. */
static struct dpumap_verbs_cq *cq_of(const struct dpumap_verbs_context *context,
				     const struct ibv_send_wr *wr)
{
	struct dpumap_verbs_cq *cq = context->cqs;

	while (cq && (uintptr_t)cq != WAIT_CQ(wr))
		cq = cq->next;
	return cq;
}

static int check_wait(const struct dpumap_verbs_qp *qp, const struct ibv_send_wr *wr)
{
	const struct dpumap_verbs_cq *cq = cq_of(qp->context, wr);

	if (!qp->can_wait) {
		dpumap_log(DPUMAP_LOG_ERROR, "%s: QP 0x%x cannot wait: no work request can be raw",
			   dpumap_verbs_name(qp->context), qp->qp->qp_num);
		return EOPNOTSUPP;
	}
	if (!cq) {
		dpumap_log(DPUMAP_LOG_ERROR,
			   "%s: a request of QP 0x%x waits for a CQ that is not one of its "
			   "context; call doca_verbs_bridge_set_wait_cq_pi_wr()",
			   dpumap_verbs_name(qp->context), qp->qp->qp_num);
		return EINVAL;
	}
	if (cq->uar != qp->uar) {
		dpumap_log(
			DPUMAP_LOG_ERROR,
			"%s: QP 0x%x cannot wait for CQ 0x%x: set the same external_uar for both",
			dpumap_verbs_name(qp->context), qp->qp->qp_num, cq->memory.cqn);
		return EINVAL;
	}
	return 0;
}

/* --- the ring --------------------------------------------------------------------------------- */

static void free_ring(struct dpumap_verbs_hold *hold)
{
	free(hold->requests);
	free(hold->pieces);
	free(hold->inline_data);
	*hold = (struct dpumap_verbs_hold){0};
}

static bool allocate(struct dpumap_verbs_qp *qp)
{
	struct dpumap_verbs_hold *hold = &qp->hold;
	const struct ibv_qp_cap *cap = &qp->cap;

	if (hold->requests)
		return true;
	hold->requests = calloc(cap->max_send_wr, sizeof(*hold->requests));
	hold->pieces = calloc((size_t)cap->max_send_wr * cap->max_send_sge, sizeof(*hold->pieces));
	hold->inline_data = calloc(cap->max_send_wr, cap->max_inline_data + 1);
	hold->size = cap->max_send_wr;
	if (hold->requests && hold->pieces && hold->inline_data)
		return true;
	free_ring(hold);
	return false;
}

/* Of a request that is held back: its queue cannot be destroyed. */
static struct dpumap_verbs_cq *kept_cq(const struct ibv_send_wr *wr)
{
	return (struct dpumap_verbs_cq *)(uintptr_t)WAIT_CQ(wr);
}

static void begin_holding(struct dpumap_verbs_qp *qp)
{
	qp->next_holder = atomic_load(&qp->context->holders);
	atomic_store(&qp->context->holders, qp);
	atomic_store_explicit(&qp->is_holding, true, memory_order_release);
}

static void end_holding(struct dpumap_verbs_qp *qp)
{
	struct dpumap_verbs_qp *before = atomic_load(&qp->context->holders);

	if (before == qp) {
		atomic_store(&qp->context->holders, qp->next_holder);
	} else {
		while (before->next_holder != qp)
			before = before->next_holder;
		before->next_holder = qp->next_holder;
	}
	atomic_store_explicit(&qp->is_holding, false, memory_order_release);
}

void dpumap_verbs_drop(struct dpumap_verbs_qp *qp)
{
	struct dpumap_verbs_hold *hold = &qp->hold;
	const struct ibv_send_wr *wr;

	for (uint32_t i = 0; i < hold->count; i++) {
		wr = &hold->requests[(hold->first + i) % hold->size];
		if (dpumap_verbs_is_wait(wr))
			kept_cq(wr)->num_waits--;
	}
	if (hold->count)
		end_holding(qp);
	free_ring(hold);
}

/* The data of an inline request are the program's again when it was posted. */
static int copy_inline(const struct dpumap_verbs_qp *qp, const struct ibv_send_wr *wr,
		       struct ibv_sge *piece, uint8_t *data)
{
	uint32_t len = 0;

	for (int i = 0; i < wr->num_sge; i++) {
		if (wr->sg_list[i].length > qp->cap.max_inline_data - len)
			return EINVAL;
		memcpy(data + len, (const void *)(uintptr_t)wr->sg_list[i].addr,
		       wr->sg_list[i].length);
		len += wr->sg_list[i].length;
	}
	*piece = (struct ibv_sge){.addr = (uintptr_t)data, .length = len};
	return 0;
}

static int copy(struct dpumap_verbs_qp *qp, const struct ibv_send_wr *wr, uint32_t at)
{
	struct dpumap_verbs_hold *hold = &qp->hold;
	struct ibv_sge *pieces = hold->pieces + (size_t)at * qp->cap.max_send_sge;
	struct ibv_send_wr *kept = &hold->requests[at];
	int err = 0;

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->cap.max_send_sge)
		return EINVAL;
	*kept = *wr;
	kept->next = NULL;
	kept->sg_list = pieces;
	if (wr->send_flags & IBV_SEND_INLINE) {
		err = copy_inline(qp, wr, pieces,
				  hold->inline_data + (size_t)at * (qp->cap.max_inline_data + 1));
		kept->num_sge = 1;
	} else if (wr->num_sge) {
		memcpy(pieces, wr->sg_list, (size_t)wr->num_sge * sizeof(*pieces));
	}
	return err;
}

int dpumap_verbs_keep(struct dpumap_verbs_qp *qp, const struct ibv_send_wr *wr)
{
	struct dpumap_verbs_hold *hold = &qp->hold;
	int err = 0;

	if (dpumap_verbs_is_wait(wr))
		err = check_wait(qp, wr);
	if (!err && !allocate(qp))
		err = ENOMEM;
	if (!err && hold->count == hold->size)
		err = ENOMEM;
	if (!err)
		err = copy(qp, wr, (hold->first + hold->count) % hold->size);
	if (err)
		return err;
	if (dpumap_verbs_is_wait(wr))
		kept_cq(wr)->num_waits++;
	if (!hold->count++)
		begin_holding(qp);
	return 0;
}

/* --- releasing -------------------------------------------------------------------------------- */

static int post_empty(struct dpumap_verbs_qp *qp, const struct ibv_send_wr *wr)
{
	struct ibv_qp_ex *extended = ibv_qp_to_qp_ex(qp->qp);
	bool is_signaled = qp->sig_all || wr->send_flags & IBV_SEND_SIGNALED;
	struct mlx5_wqe_ctrl_seg wqe = {0};

	mlx5dv_set_ctrl_seg(&wqe, 0, MLX5_OPCODE_NOP, 0, qp->qp->qp_num,
			    is_signaled ? MLX5_WQE_CTRL_CQ_UPDATE : 0, 1, 0, 0);
	ibv_wr_start(extended);
	extended->wr_id = wr->wr_id;
	extended->wr_flags = is_signaled ? IBV_SEND_SIGNALED : 0;
	mlx5dv_wr_raw_wqe(mlx5dv_qp_ex_from_ibv_qp_ex(extended), &wqe);
	return ibv_wr_complete(extended);
}

static int post_first(struct dpumap_verbs_qp *qp)
{
	struct ibv_send_wr *wr = &qp->hold.requests[qp->hold.first], *bad;
	struct dpumap_verbs_cq *cq;
	int err;

	if (!dpumap_verbs_is_wait(wr))
		return ibv_post_send(qp->qp, wr, &bad);
	cq = kept_cq(wr);
	if (!qp->has_failed && !dpumap_verbs_has_completed(cq, (uint32_t)WAIT_NUMBER(wr)))
		return EAGAIN;
	err = post_empty(qp, wr);
	if (!err)
		cq->num_waits--;
	return err;
}

/*
 * A request was accepted, and libibverbs refuses it now: nothing after it may be executed, and it is flushed like
 * these.
 */
static int fail(struct dpumap_verbs_qp *qp, int err)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	dpumap_log(DPUMAP_LOG_ERROR,
		   "%s: posting a request of QP 0x%x that was held back failed: %s; the QP fails",
		   dpumap_verbs_name(qp->context), qp->qp->qp_num, strerror(err));
	ibv_modify_qp(qp->qp, &attr, IBV_QP_STATE);
	qp->has_failed = true;
	return post_empty(qp, &qp->hold.requests[qp->hold.first]);
}

void dpumap_verbs_release_qp(struct dpumap_verbs_qp *qp)
{
	struct dpumap_verbs_hold *hold = &qp->hold;
	uint32_t had = hold->count;
	int err = 0;

	while (hold->count) {
		err = post_first(qp);
		if (err && err != EAGAIN && err != ENOMEM)
			err = fail(qp, err);
		if (err)
			break;
		hold->first = (hold->first + 1) % hold->size;
		hold->count--;
	}
	if (had && !hold->count)
		end_holding(qp);
}

void dpumap_verbs_release(struct dpumap_verbs_context *context)
{
	struct dpumap_verbs_qp *next;

	for (struct dpumap_verbs_qp *qp = atomic_load(&context->holders); qp; qp = next) {
		next = qp->next_holder;
		dpumap_verbs_release_qp(qp);
	}
}

/* The next one is probably of the same queue pair: move it to the front. */
static struct dpumap_verbs_qp *find_qp(struct dpumap_verbs_context *context, uint32_t qpn)
{
	struct dpumap_verbs_qp **at = &context->qps, *found;

	while (*at && (*at)->qp->qp_num != qpn)
		at = &(*at)->next;
	found = *at;
	if (found) {
		*at = found->next;
		found->next = context->qps;
		context->qps = found;
	}
	return found;
}

void dpumap_verbs_see(struct dpumap_verbs_context *context, struct ibv_wc *wc)
{
	struct dpumap_verbs_qp *qp;

	if (wc->status == IBV_WC_SUCCESS) {
		if (wc->opcode == (enum ibv_wc_opcode)MLX5DV_WC_RAW_WQE)
			wc->opcode = IBV_WC_DRIVER1;
		return;
	}
	qp = find_qp(context, wc->qp_num);
	if (!qp)
		return;
	qp->has_failed = true;
	dpumap_verbs_release_qp(qp);
}
