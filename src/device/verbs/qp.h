/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Queue pairs and shared receive queues. */
#ifndef DPUMAP_DEVICE_VERBS_QP_H
#define DPUMAP_DEVICE_VERBS_QP_H

#include <doca_compat.h>

#include "device/verbs/cq.h"
#include "device/verbs/hold.h"
#include "device/verbs/qp_attr.h"

/* The memory of queues that the program posts to; NULL for others. */
struct dpumap_verbs_qp_memory {
	uint8_t *sq, *rq;
	uint32_t sq_entries, rq_entries, rq_entry_size;
	void *doorbell, *record;
};

struct dpumap_verbs_srq {
	struct ibv_srq *srq;
	uint8_t *memory; /* this and the record: of a queue that the program posts to, else NULL */
	void *record;
	uint32_t number, entries, entry_size;
};

struct dpumap_verbs_qp_init {
	bool is_rc, sig_all, is_external;
	struct ibv_qp_cap cap;			      /* changed to what the queue pair has */
	struct dpumap_verbs_cq *send_cq, *receive_cq; /* one of them may be NULL */
	const struct dpumap_verbs_srq *srq;	      /* or NULL */
	const struct dpumap_verbs_pd *pd;
	const void *uar;
};

struct dpumap_verbs_qp {
	struct dpumap_verbs_context *context;
	struct ibv_qp *qp;
	struct dpumap_verbs_qp *next, *next_holder;
	struct dpumap_verbs_cq *send_cq, *receive_cq;
	struct dpumap_verbs_qp_memory memory;
	struct ibv_qp_cap cap;
	const void *uar;
	bool sig_all, is_external, is_rc;
	bool can_wait, has_failed;
	enum doca_verbs_qp_state state;	    /* that the program chose */
	struct dpumap_verbs_qp_attr access; /* what the peer may do; and the port */
	struct dpumap_verbs_hold hold;
	atomic_bool is_holding;
	/* That of libmlx5, or dpumap_verbs_post_carefully(). */
	int (*_Atomic post)(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **);
};

/* Initialize *qp. */
doca_error_t dpumap_verbs_create_qp(struct dpumap_verbs_qp *qp,
				    struct dpumap_verbs_context *context,
				    struct dpumap_verbs_qp_init *init);
/* NO_MEMORY, DRIVER: the queue pair still exists. */
doca_error_t dpumap_verbs_destroy_qp(struct dpumap_verbs_qp *qp);

/* attr->next_state is the state to be in; ah is that of DOCA_VERBS_QP_ATTR_AH_ATTR. */
doca_error_t dpumap_verbs_modify_qp(struct dpumap_verbs_qp *qp,
				    const struct dpumap_verbs_qp_attr *attr,
				    const struct dpumap_verbs_ah *ah, int mask);
/* *has_path: the queue pair has one, which *ah is. */
doca_error_t dpumap_verbs_query_qp(const struct dpumap_verbs_qp *qp,
				   struct dpumap_verbs_qp_attr *attr, struct dpumap_verbs_ah *ah,
				   bool *has_path);

/*
 * Post to a queue pair whose requests may have to wait, or which the program posts to itself: 0 or an
 * errno value. *bad_wr is written on errors only.
 */
int dpumap_verbs_post_carefully(struct ibv_qp *ibv, struct ibv_send_wr *wr,
				struct ibv_send_wr **bad_wr);

/* As ibv_post_send(). */
static inline int dpumap_verbs_post_send(struct dpumap_verbs_qp *qp, struct ibv_send_wr *wr,
					 struct ibv_send_wr **bad_wr)
{
	return atomic_load_explicit(&qp->post, memory_order_acquire)(qp->qp, wr, bad_wr);
}

/* As ibv_post_recv() and ibv_post_srq_recv(). */
static inline int dpumap_verbs_post_recv(struct dpumap_verbs_qp *qp, struct ibv_recv_wr *wr,
					 struct ibv_recv_wr **bad_wr)
{
	return ibv_post_recv(qp->qp, wr, bad_wr);
}

static inline int dpumap_verbs_post_srq_recv(struct dpumap_verbs_srq *srq, struct ibv_recv_wr *wr,
					     struct ibv_recv_wr **bad_wr)
{
	return ibv_post_srq_recv(srq->srq, wr, bad_wr);
}

static inline uint32_t dpumap_verbs_qpn(const struct dpumap_verbs_qp *qp)
{
	return qp->qp->qp_num;
}

/* Initialize *srq. */
doca_error_t dpumap_verbs_create_srq(struct dpumap_verbs_srq *srq, const struct dpumap_verbs_pd *pd,
				     uint32_t num_requests, uint32_t num_pieces, bool is_external);
doca_error_t dpumap_verbs_destroy_srq(const struct dpumap_verbs_srq *srq);
doca_error_t dpumap_verbs_query_srq(const struct dpumap_verbs_srq *srq, uint32_t *num_requests,
				    uint32_t *num_pieces);

#endif
