/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/verbs/qp.h"

#include <errno.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "device/device_priv.h"
#include "device/errno.h"
#include "device/hca_priv.h"
#include "log/log.h"

/* Without these libmlx5 does not make work requests large enough for them. */
#define RC_OPERATIONS                                                                           \
	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND | \
	 IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |                              \
	 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |              \
	 IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND_WITH_INV)

/* A queue pair that takes raw work requests, by which its requests can wait. */
static struct ibv_qp *create_raw(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	struct mlx5dv_qp_init_attr dv = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
		.send_ops_flags = MLX5DV_QP_EX_WITH_RAW_WQE,
	};

	attr->comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr->send_ops_flags = RC_OPERATIONS;
	return mlx5dv_create_qp(context, attr, &dv);
}

/* libmlx5 has raw work requests for RC alone. */
static struct ibv_qp *create(struct dpumap_verbs_qp *qp, struct dpumap_verbs_qp_init *init)
{
	struct ibv_context *context = init->pd->pd->context;
	struct dpumap_verbs_cq *any = init->send_cq ? init->send_cq : init->receive_cq;
	struct ibv_qp_init_attr_ex attr = {
		.qp_context = qp,
		.send_cq = init->send_cq ? init->send_cq->cq : any->cq,
		.recv_cq = init->receive_cq ? init->receive_cq->cq : any->cq,
		.srq = init->srq ? init->srq->srq : NULL,
		.cap = init->cap,
		.qp_type = init->is_rc ? IBV_QPT_RC : IBV_QPT_UC,
		.sq_sig_all = init->sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = init->pd->pd,
	};
	struct ibv_qp *created;

	qp->can_wait = !init->is_external && init->is_rc && init->cap.max_send_wr &&
		       dpumap_ibdev_is_mlx5(context->device);
	created = qp->can_wait ? create_raw(context, &attr) : ibv_create_qp_ex(context, &attr);
	if (created)
		init->cap = attr.cap; /* may be larger than asked for */
	return created;
}

static doca_error_t map(struct dpumap_verbs_qp *qp)
{
	struct mlx5dv_qp dv = {0};
	struct mlx5dv_obj obj = {.qp.in = qp->qp, .qp.out = &dv};
	int err;

	if (!dpumap_ibdev_is_mlx5(qp->qp->context->device))
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "%s: no external data path: not an mlx5 device",
				   dpumap_verbs_name(qp->context));
	err = mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP);
	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: mapping a QP failed: %s",
				   dpumap_verbs_name(qp->context), strerror(err));
	qp->memory = (struct dpumap_verbs_qp_memory){
		.sq = dv.sq.buf,
		.sq_entries = dv.sq.wqe_cnt,
		.rq = dv.rq.buf,
		.rq_entries = dv.rq.wqe_cnt,
		.rq_entry_size = dv.rq.stride,
		.doorbell = dv.bf.reg,
		.record = dv.dbrec,
	};
	return DOCA_SUCCESS;
}

static void link_qp(struct dpumap_verbs_qp *qp)
{
	pthread_mutex_lock(&qp->context->lock);
	atomic_store(&qp->post, qp->is_external || qp->context->may_wait
					? dpumap_verbs_post_carefully
					: qp->qp->context->ops.post_send);
	qp->next = qp->context->qps;
	qp->context->qps = qp;
	pthread_mutex_unlock(&qp->context->lock);
}

static void unlink_qp(const struct dpumap_verbs_qp *qp)
{
	struct dpumap_verbs_qp **at = &qp->context->qps;

	pthread_mutex_lock(&qp->context->lock);
	while (*at != qp)
		at = &(*at)->next;
	*at = qp->next;
	pthread_mutex_unlock(&qp->context->lock);
}

doca_error_t dpumap_verbs_create_qp(struct dpumap_verbs_qp *qp,
				    struct dpumap_verbs_context *context,
				    struct dpumap_verbs_qp_init *init)
{
	doca_error_t result = DOCA_SUCCESS;

	qp->context = context;
	qp->send_cq = init->send_cq;
	qp->receive_cq = init->receive_cq;
	qp->uar = init->uar;
	qp->sig_all = init->sig_all;
	qp->is_external = init->is_external;
	qp->is_rc = init->is_rc;
	atomic_init(&qp->is_holding, false);
	qp->qp = create(qp, init);
	if (!qp->qp)
		return dpumap_fail(dpumap_errno_to_one_of(errno, DOCA_ERROR_INVALID_VALUE,
							  DOCA_ERROR_NO_MEMORY,
							  DOCA_ERROR_NOT_SUPPORTED),
				   "%s: creating a QP of %u sends and %u receives failed: %s",
				   dpumap_verbs_name(context), init->cap.max_send_wr,
				   init->cap.max_recv_wr, strerror(errno));
	qp->cap = init->cap;
	if (init->is_external)
		result = map(qp);
	if (result != DOCA_SUCCESS) {
		ibv_destroy_qp(qp->qp);
		return result;
	}
	link_qp(qp);
	return DOCA_SUCCESS;
}

/* libmlx5 does not know the queue pair any more when they are polled. */
static doca_error_t forget_completions(const struct dpumap_verbs_qp *qp)
{
	doca_error_t result = DOCA_SUCCESS;

	if (qp->is_external)
		return DOCA_SUCCESS;
	pthread_mutex_lock(&qp->context->lock);
	if (qp->send_cq)
		result = dpumap_verbs_keep_others(qp->send_cq, qp->qp->qp_num);
	if (result == DOCA_SUCCESS && qp->receive_cq && qp->receive_cq != qp->send_cq)
		result = dpumap_verbs_keep_others(qp->receive_cq, qp->qp->qp_num);
	pthread_mutex_unlock(&qp->context->lock);
	return result;
}

static void drop_requests(struct dpumap_verbs_qp *qp)
{
	pthread_mutex_lock(&qp->context->lock);
	dpumap_verbs_drop(qp);
	qp->has_failed = false;
	pthread_mutex_unlock(&qp->context->lock);
}

doca_error_t dpumap_verbs_destroy_qp(struct dpumap_verbs_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	doca_error_t result;
	int err;

	drop_requests(qp);
	/* It completes nothing any more. A device that is gone does not, either. */
	if (!qp->is_external)
		ibv_modify_qp(qp->qp, &attr, IBV_QP_STATE);
	result = forget_completions(qp);
	if (result != DOCA_SUCCESS)
		return result;
	unlink_qp(qp);
	err = dpumap_errno_of_end(qp->context->context, ibv_destroy_qp(qp->qp));
	if (!err)
		return DOCA_SUCCESS;
	link_qp(qp);
	return dpumap_fail(DOCA_ERROR_DRIVER, "%s: destroying QP 0x%x failed: %s",
			   dpumap_verbs_name(qp->context), qp->qp->qp_num, strerror(err));
}

/* --- states ----------------------------------------------------------------------------------- */

/* Each of them is one part of a word that the driver takes as a whole. */
static void merge_access(struct dpumap_verbs_qp_attr *kept, const struct dpumap_verbs_qp_attr *attr,
			 int mask, bool is_rc)
{
	if (mask & DOCA_VERBS_QP_ATTR_ALLOW_REMOTE_WRITE)
		kept->allow_remote_write = attr->allow_remote_write;
	if (mask & DOCA_VERBS_QP_ATTR_ALLOW_REMOTE_READ && is_rc)
		kept->allow_remote_read = attr->allow_remote_read;
	if (mask & DOCA_VERBS_QP_ATTR_ATOMIC_MODE && is_rc)
		kept->atomic_mode = attr->atomic_mode;
	if (mask & DOCA_VERBS_QP_ATTR_PORT_NUM)
		kept->port_num = attr->port_num;
}

/* Programs leave the numbers of reads out, and read. */
static int add_reads(const struct dpumap_verbs_qp *qp, struct ibv_qp_attr *ibv, int ibv_mask)
{
	if (!qp->is_rc)
		return ibv_mask;
	if (ibv->qp_state == IBV_QPS_RTR && !(ibv_mask & IBV_QP_MAX_DEST_RD_ATOMIC)) {
		ibv->max_dest_rd_atomic = 1;
		return ibv_mask | IBV_QP_MAX_DEST_RD_ATOMIC;
	}
	if (ibv->qp_state == IBV_QPS_RTS && qp->state == DOCA_VERBS_QP_STATE_RTR &&
	    !(ibv_mask & IBV_QP_MAX_QP_RD_ATOMIC)) {
		ibv->max_rd_atomic = 1;
		return ibv_mask | IBV_QP_MAX_QP_RD_ATOMIC;
	}
	return ibv_mask;
}

static doca_error_t fail_modify(const struct dpumap_verbs_qp *qp, int err)
{
	return dpumap_fail(dpumap_errno_to_one_of(err, DOCA_ERROR_INVALID_VALUE),
			   "%s: modifying QP 0x%x failed: %s", dpumap_verbs_name(qp->context),
			   qp->qp->qp_num, strerror(err));
}

/* libibverbs has no transition from RESET to ERR. */
static int leave_reset(const struct dpumap_verbs_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = DPUMAP_DEVICE_PORT};

	return ibv_modify_qp(qp->qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

/* What was posted is flushed or abandoned. */
static doca_error_t end(struct dpumap_verbs_qp *qp, enum doca_verbs_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = dpumap_verbs_state_to_ibv(state)};
	int err = 0;

	if (qp->state == DOCA_VERBS_QP_STATE_RST && state == DOCA_VERBS_QP_STATE_ERR)
		err = leave_reset(qp);
	if (!err)
		err = ibv_modify_qp(qp->qp, &attr, IBV_QP_STATE);
	if (err)
		return fail_modify(qp, err);
	qp->state = state;
	if (state == DOCA_VERBS_QP_STATE_RST) {
		drop_requests(qp);
		return forget_completions(qp);
	}
	pthread_mutex_lock(&qp->context->lock);
	qp->has_failed = true;
	dpumap_verbs_release_qp(qp);
	pthread_mutex_unlock(&qp->context->lock);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_verbs_modify_qp(struct dpumap_verbs_qp *qp,
				    const struct dpumap_verbs_qp_attr *attr,
				    const struct dpumap_verbs_ah *ah, int mask)
{
	/* The state is known, and the kernel takes a current one in few transitions. */
	int ibv_mask = (dpumap_verbs_mask_to_ibv(mask) | IBV_QP_STATE) & ~IBV_QP_CUR_STATE;
	struct dpumap_verbs_qp_attr access = qp->access;
	struct ibv_qp_attr ibv = {0};
	int err;

	if (attr->next_state == DOCA_VERBS_QP_STATE_RST ||
	    attr->next_state == DOCA_VERBS_QP_STATE_ERR)
		return end(qp, attr->next_state);
	merge_access(&access, attr, mask, qp->is_rc);
	dpumap_verbs_attr_to_ibv(attr, &ibv);
	dpumap_verbs_access_to_ibv(&access, &ibv);
	if (ah)
		dpumap_verbs_path_to_ibv(ah, access.port_num, &ibv);
	ibv_mask = add_reads(qp, &ibv, ibv_mask);
	err = ibv_modify_qp(qp->qp, &ibv, ibv_mask);
	if (err)
		return fail_modify(qp, err);
	qp->state = attr->next_state;
	qp->access = access;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_verbs_query_qp(const struct dpumap_verbs_qp *qp,
				   struct dpumap_verbs_qp_attr *attr, struct dpumap_verbs_ah *ah,
				   bool *has_path)
{
	const int mask = dpumap_verbs_mask_to_ibv(-1) & ~IBV_QP_CUR_STATE;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr ibv = {0};
	int err = ibv_query_qp(qp->qp, &ibv, mask, &init);

	if (err)
		return dpumap_fail(DOCA_ERROR_DRIVER, "%s: querying QP 0x%x failed: %s",
				   dpumap_verbs_name(qp->context), qp->qp->qp_num, strerror(err));
	/* States of libibverbs that this interface lacks: draining, and an error of sends alone. */
	if (ibv.qp_state == IBV_QPS_SQD)
		ibv.qp_state = IBV_QPS_RTS;
	if (ibv.qp_state == IBV_QPS_SQE)
		ibv.qp_state = IBV_QPS_ERR;
	if (!ibv.path_mtu)
		ibv.path_mtu = IBV_MTU_256;
	dpumap_verbs_attr_from_ibv(attr, &ibv, mask);
	attr->current_state = attr->next_state;
	*has_path = attr->next_state == DOCA_VERBS_QP_STATE_RTR ||
		    attr->next_state == DOCA_VERBS_QP_STATE_RTS;
	dpumap_verbs_ah_from_ibv(ah, &ibv);
	return DOCA_SUCCESS;
}

/* --- posting ---------------------------------------------------------------------------------- */

static int post_or_keep(struct dpumap_verbs_qp *qp, const struct ibv_send_wr *wr)
{
	struct ibv_send_wr one, *bad;

	if (qp->hold.count || dpumap_verbs_is_wait(wr))
		return dpumap_verbs_keep(qp, wr);
	one = *wr;
	one.next = NULL;
	return ibv_post_send(qp->qp, &one, &bad);
}

static int post_slowly(struct dpumap_verbs_qp *qp, struct ibv_send_wr *wr,
		       struct ibv_send_wr **bad_wr)
{
	int err = 0;

	pthread_mutex_lock(&qp->context->lock);
	dpumap_verbs_release_qp(qp);
	for (; wr; wr = wr->next) {
		err = post_or_keep(qp, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
	}
	dpumap_verbs_release_qp(qp);
	pthread_mutex_unlock(&qp->context->lock);
	return err;
}

int dpumap_verbs_post_carefully(struct ibv_qp *ibv, struct ibv_send_wr *wr,
				struct ibv_send_wr **bad_wr)
{
	struct dpumap_verbs_qp *qp = ibv->qp_context;
	const struct ibv_send_wr *each = wr;

	if (qp->is_external)
		return dpumap_verbs_fail_external(qp->context);
	if (atomic_load_explicit(&qp->is_holding, memory_order_acquire))
		return post_slowly(qp, wr, bad_wr);
	for (; each; each = each->next)
		if (dpumap_verbs_is_wait(each))
			return post_slowly(qp, wr, bad_wr);
	return ibv_post_send(ibv, wr, bad_wr);
}
