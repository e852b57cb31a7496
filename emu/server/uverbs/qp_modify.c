/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/qp_modify.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>

#include "base/array.h"
#include "emu/ipc/path_mtu.h"
#include "emu/server/card/engines.h"
#include "emu/server/card/gid.h"
#include "emu/server/card/path.h"
#include "emu/server/card/pkey.h"
#include "emu/server/card/segments.h"
#include "emu/server/mm/pin.h"
#include "emu/server/uverbs/ah.h"
#include "emu/server/uverbs/cmd.h"
#include "emu/server/uverbs/qp.h"
#include "emu/server/uverbs/xrc.h"

/* The numbers of enum ibv_qp_attr_mask. */
enum {
	A_STATE = 1 << 0,
	A_CUR_STATE = 1 << 1,
	A_ACCESS = 1 << 3,
	A_PKEY = 1 << 4,
	A_PORT = 1 << 5,
	A_QKEY = 1 << 6,
	A_AV = 1 << 7,
	A_MTU = 1 << 8,
	A_TIMEOUT = 1 << 9,
	A_RETRY = 1 << 10,
	A_RNR_RETRY = 1 << 11,
	A_RQ_PSN = 1 << 12,
	A_RD_ATOMIC = 1 << 13,
	A_ALT = 1 << 14,
	A_MIN_RNR = 1 << 15,
	A_SQ_PSN = 1 << 16,
	A_DEST_RD = 1 << 17,
	A_PATH_MIG = 1 << 18,
	A_DEST_QPN = 1 << 20,
	A_RATE_LIMIT = 1 << 25,
};

#define A_STANDARD	((1u << 21) - 1)

#define MAX_RD_ATOMIC	16
#define HOP_LIMIT	64
#define CONTROLLED_QKEY 0x80000000u

enum column { COL_RC, COL_UC, COL_UD, COL_XRC_INI, COL_XRC_TGT, NCOLS };

static enum column column_of(uint8_t type)
{
	switch (type) {
	case EMU_QPT_UC:
		return COL_UC;
	case EMU_QPT_UD:
		return COL_UD;
	case EMU_QPT_XRC_INI:
		return COL_XRC_INI;
	case EMU_QPT_XRC_TGT:
		return COL_XRC_TGT;
	default:
		return COL_RC;
	}
}

#define BEGIN	 (A_PKEY | A_PORT | A_ACCESS)
#define BEGIN_UD (A_PKEY | A_PORT | A_QKEY)
#define PEER	 (A_AV | A_MTU | A_DEST_QPN | A_RQ_PSN)
#define RESPOND	 (A_DEST_RD | A_MIN_RNR)
#define REQUEST	 (A_TIMEOUT | A_RETRY | A_RNR_RETRY | A_RD_ATOMIC)
#define LIVE	 (A_CUR_STATE | A_ALT | A_ACCESS | A_PATH_MIG)
#define LIVE_UD	 (A_CUR_STATE | A_QKEY)

/*
 * The kernel core's qp_state_table without the transition to SQD, for which mlx5 has no command
 * (__mlx5_ib_modify_qp: optab). Transitions to RESET and to ERR allow no other attribute; there is
 * none from RESET to ERR.
 */
static const struct transition {
	uint8_t from, to;
	uint32_t required[NCOLS], optional[NCOLS];
} transitions[] = {
	{EMU_QPS_RESET, EMU_QPS_RESET, {0}, {0}},
	{EMU_QPS_RESET, EMU_QPS_INIT, {BEGIN, BEGIN, BEGIN_UD, BEGIN, BEGIN}, {0}},
	{EMU_QPS_INIT, EMU_QPS_RESET, {0}, {0}},
	{EMU_QPS_INIT, EMU_QPS_ERR, {0}, {0}},
	{EMU_QPS_INIT, EMU_QPS_INIT, {0}, {BEGIN, BEGIN, BEGIN_UD, BEGIN, BEGIN}},
	{EMU_QPS_INIT,
	 EMU_QPS_RTR,
	 {PEER | RESPOND, PEER, 0, PEER, PEER | RESPOND},
	 {A_ALT | A_ACCESS | A_PKEY, A_ALT | A_ACCESS | A_PKEY, A_PKEY | A_QKEY,
	  A_ALT | A_ACCESS | A_PKEY, A_ALT | A_ACCESS | A_PKEY}},
	{EMU_QPS_RTR, EMU_QPS_RESET, {0}, {0}},
	{EMU_QPS_RTR, EMU_QPS_ERR, {0}, {0}},
	{EMU_QPS_RTR,
	 EMU_QPS_RTS,
	 {A_SQ_PSN | REQUEST, A_SQ_PSN, A_SQ_PSN, A_SQ_PSN | REQUEST, A_SQ_PSN | A_TIMEOUT},
	 {LIVE | A_MIN_RNR, LIVE, LIVE_UD, LIVE, LIVE | A_MIN_RNR}},
	{EMU_QPS_RTS, EMU_QPS_RESET, {0}, {0}},
	{EMU_QPS_RTS, EMU_QPS_ERR, {0}, {0}},
	{EMU_QPS_RTS, EMU_QPS_RTS, {0}, {LIVE | A_MIN_RNR, LIVE, LIVE_UD, LIVE, LIVE | A_MIN_RNR}},
	{EMU_QPS_SQD, EMU_QPS_RESET, {0}, {0}},
	{EMU_QPS_SQD, EMU_QPS_ERR, {0}, {0}},
	{EMU_QPS_SQD, EMU_QPS_RTS, {0}, {LIVE | A_MIN_RNR, LIVE, LIVE_UD, LIVE, LIVE | A_MIN_RNR}},
	{EMU_QPS_SQE, EMU_QPS_RESET, {0}, {0}},
	{EMU_QPS_SQE, EMU_QPS_ERR, {0}, {0}},
	{EMU_QPS_SQE, EMU_QPS_RTS, {0}, {0, A_CUR_STATE | A_ACCESS, LIVE_UD, 0, 0}},
	{EMU_QPS_ERR, EMU_QPS_RESET, {0}, {0}},
	{EMU_QPS_ERR, EMU_QPS_ERR, {0}, {0}},
};

/*
 * Attributes that half of an XRC connection does not use are accepted all the same
 * (modify_qp_mask).
 */
static uint32_t ignored(uint8_t type)
{
	switch (type) {
	case EMU_QPT_XRC_INI:
		return A_DEST_RD | A_MIN_RNR;
	case EMU_QPT_XRC_TGT:
		return A_RD_ATOMIC | A_RETRY | A_RNR_RETRY;
	default:
		return 0;
	}
}

/* The rules of ib_modify_qp_is_ok(). */
static int check_transition(uint8_t type, uint32_t from, uint32_t to, uint32_t mask)
{
	const enum column col = column_of(type);
	const struct transition *t;

	if (mask & A_CUR_STATE && (from < EMU_QPS_RTR || from > EMU_QPS_SQE))
		return -EINVAL;
	mask &= ~(uint32_t)A_STATE;
	for (size_t i = 0; i < ARRAY_SIZE(transitions); i++) {
		t = &transitions[i];
		if (t->from == from && t->to == to)
			return (mask & t->required[col]) == t->required[col] &&
					       !(mask & ~(t->required[col] | t->optional[col]))
				       ? 0
				       : -EINVAL;
	}
	return -EINVAL;
}

/*
 * A RoCE port has no LIDs: the address must have the peer's GID and a valid index of ours. The
 * kernel looks up the neighbour before it connects (ib_resolve_eth_dmac).
 */
static int check_av(const struct emu_func *f, const struct ib_uverbs_qp_dest *d)
{
	uint8_t mac[EMU_MAC_BYTES];

	if (!d->is_global || d->sgid_index >= f->card->profile->max_gids || d->port_num < 1 ||
	    d->port_num > EMU_PORTS)
		return -EINVAL;
	if (!emu_gid_at(f, d->sgid_index))
		return -ENODATA; /* rdma_get_gid_attr() */
	return emu_resolve(f, d->sgid_index, d->dgid, mac);
}

static int check_values(const struct emu_func *f, const struct ib_uverbs_modify_qp *a)
{
	uint32_t m = a->attr_mask;

	if ((m & A_PORT && (a->port_num < 1 || a->port_num > EMU_PORTS)) ||
	    (m & A_PKEY && !emu_pkey_is_index(f, a->pkey_index)) ||
	    (m & A_MTU && (a->path_mtu < 1 || a->path_mtu > 5)) ||
	    (m & A_RD_ATOMIC && a->max_rd_atomic > MAX_RD_ATOMIC) ||
	    (m & A_DEST_RD && a->max_dest_rd_atomic > MAX_RD_ATOMIC) ||
	    (m & A_RNR_RETRY && a->rnr_retry > 7) || (m & A_RETRY && a->retry_cnt > 7) ||
	    (m & A_MIN_RNR && a->min_rnr_timer > 31) || (m & A_TIMEOUT && a->timeout > 31))
		return -EINVAL;
	if (m & (A_ALT | A_PATH_MIG))
		return -EOPNOTSUPP;
	return m & A_AV ? check_av(f, &a->dest) : 0;
}

/* ib_resolve_unicast_gid_dmac(): it is the route's, except between link-local addresses of RoCE v1. */
static void set_hop_limit(const struct emu_func *f, struct ib_uverbs_qp_dest *d)
{
	bool link_local = d->dgid[0] == 0xfe && (d->dgid[1] & 0xc0) == 0x80;

	if (!link_local || emu_gid_at(f, d->sgid_index)->type != EMU_GID_ROCE_V1)
		d->hop_limit = HOP_LIMIT;
}

/* Keep the last value of each attribute for QUERY_QP. */
static void remember(struct ib_uverbs_modify_qp *kept, const struct ib_uverbs_modify_qp *a)
{
	uint32_t m = a->attr_mask;

	if (m & A_ACCESS)
		kept->qp_access_flags = a->qp_access_flags;
	if (m & A_PKEY)
		kept->pkey_index = a->pkey_index;
	if (m & A_PORT)
		kept->port_num = a->port_num;
	if (m & A_AV)
		kept->dest = a->dest;
	if (m & A_MTU)
		kept->path_mtu = a->path_mtu;
	if (m & A_TIMEOUT)
		kept->timeout = a->timeout;
	if (m & A_RETRY)
		kept->retry_cnt = a->retry_cnt;
	if (m & A_RNR_RETRY)
		kept->rnr_retry = a->rnr_retry;
	if (m & A_RQ_PSN)
		kept->rq_psn = a->rq_psn;
	if (m & A_SQ_PSN)
		kept->sq_psn = a->sq_psn;
	if (m & A_RD_ATOMIC)
		kept->max_rd_atomic = a->max_rd_atomic;
	if (m & A_DEST_RD)
		kept->max_dest_rd_atomic = a->max_dest_rd_atomic;
	if (m & A_MIN_RNR)
		kept->min_rnr_timer = a->min_rnr_timer;
	if (m & A_QKEY)
		kept->qkey = a->qkey;
	if (m & A_DEST_QPN)
		kept->dest_qp_num = a->dest_qp_num;
}

/* QUERY_QP returns these flags too: mlx5 reads them from the device, which knows no local access. */
uint32_t emu_qp_access(const struct ib_uverbs_modify_qp *kept)
{
	const uint32_t known = kept->max_dest_rd_atomic ? IB_UVERBS_ACCESS_REMOTE_WRITE |
								  IB_UVERBS_ACCESS_REMOTE_READ |
								  IB_UVERBS_ACCESS_REMOTE_ATOMIC
							: IB_UVERBS_ACCESS_REMOTE_WRITE;

	return kept->qp_access_flags & known;
}

uint8_t emu_qp_depth(uint8_t max_rd_atomic)
{
	uint8_t depth = 1;

	while (depth < max_rd_atomic)
		depth <<= 1;
	return depth;
}

uint8_t emu_qp_port(const struct ib_uverbs_modify_qp *kept)
{
	return kept->port_num ? kept->port_num : EMU_PORT_BEFORE_INIT;
}

static void set_path(const struct emu_func *f, struct emu_qp *q, const struct ib_uverbs_qp_dest *d)
{
	struct emu_address to = {
		.sgid_index = d->sgid_index,
		.tclass = d->traffic_class,
		.hop_limit = d->hop_limit,
		.flow_label = d->flow_label,
	};

	memcpy(to.dgid, d->dgid, sizeof(to.dgid));
	emu_path_set(f, q, &to);
}

/* Update the engine's copy. */
static void apply(const struct emu_func *f, struct emu_qp *q,
		  const struct ib_uverbs_modify_qp *kept, uint32_t mask)
{
	q->access = emu_qp_access(kept);
	q->timeout = kept->timeout;
	q->retry_cnt = kept->retry_cnt;
	q->rnr_retry = kept->rnr_retry;
	q->min_rnr_timer = kept->min_rnr_timer;
	q->mtu = kept->path_mtu;
	q->max_rd_atomic = emu_qp_depth(kept->max_rd_atomic);
	q->max_dest_rd_atomic = emu_qp_depth(kept->max_dest_rd_atomic);
	q->sq_psn = kept->sq_psn;
	q->rq_psn = kept->rq_psn;
	q->qkey = kept->qkey;
	if (mask & A_PKEY)
		emu_pkey_use(f, q, kept->pkey_index);
	if (mask & A_DEST_QPN)
		q->dest_qpn = kept->dest_qp_num;
	if (mask & A_AV)
		set_path(f, q, &kept->dest);
}

/*
 * Change the state first, and wait until all engines have left the queue: an engine that saw the
 * new count of resets with the old state would execute the old ring again. The client clears its
 * rings when the command is done.
 */
static void reset(struct emu_qp *q)
{
	atomic_store(&q->state, EMU_QPS_RESET);
	emu_grace();
	q->mmo = 0;
	q->dest_qpn = 0;
	emu_path_clear(q);
	atomic_store(&q->established_reported, 0);
	atomic_store(&q->inbox.state, EMU_MSG_FREE);
	atomic_store(&q->taker, 0);
	atomic_fetch_add(&q->resets, 1);
	emu_grace(); /* a pass with the old count must not see the next state */
}

/* An engine may have moved the QP to ERR meanwhile: then it stays in ERR. */
int emu_qp_set_state(struct emu_qp *q, uint32_t from, uint32_t to)
{
	if (to == EMU_QPS_RESET)
		reset(q);
	else if (to == EMU_QPS_ERR)
		atomic_store(&q->state, to);
	else if (!atomic_compare_exchange_strong(&q->state, &from, to))
		return -EINVAL;
	return 0;
}

static int modify(struct emu_cmd *c, struct ib_uverbs_modify_qp *a)
{
	struct emu_qp_obj *qp = emu_uobj_get(c->file, a->qp_handle, EMU_T_QP);
	struct emu_qp *q;
	uint32_t from, to;
	int err;

	if (!qp)
		return -EINVAL;
	/* Linux 6.4 and later: modify_qp() of uverbs_cmd.c */
	if (a->attr_mask & A_QKEY && a->qkey & CONTROLLED_QKEY &&
	    !emu_capable(c->chan->pid, CAP_NET_RAW))
		return -EPERM;
	a->attr_mask &= ~ignored(qp->type);
	q = &emu_queues->qp[qp->qpn];
	from = atomic_load(&q->state);
	to = a->attr_mask & A_STATE ? a->qp_state : from;
	if (a->attr_mask & A_CUR_STATE && a->cur_qp_state != from)
		return -EINVAL;
	err = check_transition(qp->type, from, to, a->attr_mask);
	if (!err)
		err = check_values(c->file->func, a);
	if (!err && (to == EMU_QPS_RESET || to == EMU_QPS_ERR))
		err = emu_let_send(c, qp->qpn);
	if (err)
		return err;
	if (a->attr_mask & A_AV)
		set_hop_limit(c->file->func, &a->dest);
	remember(&qp->attr, a);
	if (qp->type == EMU_QPT_UD && to == EMU_QPS_RTR)
		qp->attr.path_mtu = EMU_MTU_4096;
	emu_qp_copy_attr(qp);
	apply(c->file->func, q, &qp->attr, a->attr_mask);
	err = emu_qp_set_state(q, from, to);
	emu_engine_wake(q->engine);
	return err;
}

int emu_write_modify_qp(struct emu_cmd *c)
{
	struct ib_uverbs_modify_qp a;
	int err;

	err = emu_attr_in(c, UVERBS_ATTR_CORE_IN, &a, sizeof(a));
	if (err)
		return err;
	return a.attr_mask & ~A_STANDARD ? -EOPNOTSUPP : modify(c, &a);
}

/*
 * The driver's part of the extended command (mlx5_ib_modify_qp). The driver ignores bursts of queue
 * pairs without a rate limit; here they are refused.
 */
static int read_driver_part(struct emu_cmd *c, struct mlx5_ib_modify_qp *drv)
{
	const size_t len = emu_attr_len(c, UVERBS_ATTR_UHW_IN);
	int err;

	memset(drv, 0, sizeof(*drv));
	if (!len)
		return 0;
	if (len < sizeof(*drv))
		return -EINVAL;
	err = emu_attr_in(c, UVERBS_ATTR_UHW_IN, drv, sizeof(*drv));
	if (err)
		return err;
	return drv->comp_mask || drv->burst_info.max_burst_sz || drv->burst_info.typical_pkt_sz ||
			       drv->burst_info.reserved
		       ? -EOPNOTSUPP
		       : 0;
}

/* Only raw packet queue pairs, which the card lacks, have a rate limit and bursts. */
int emu_write_modify_qp_ex(struct emu_cmd *c)
{
	struct ib_uverbs_ex_modify_qp_resp r = {.response_length = sizeof(r)};
	struct mlx5_ib_modify_qp_resp uhw = {.response_length = sizeof(uhw)};
	struct ib_uverbs_ex_modify_qp a;
	struct mlx5_ib_modify_qp drv;
	int err;

	err = emu_attr_in(c, UVERBS_ATTR_CORE_IN, &a, sizeof(a));
	if (err)
		return err;
	if (a.reserved || a.base.attr_mask & ~(A_STANDARD | A_RATE_LIMIT))
		return -EOPNOTSUPP;
	err = read_driver_part(c, &drv);
	if (!err)
		err = modify(c, &a.base);
	if (!err)
		err = emu_attr_out(c, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
	uhw.ece_options = drv.ece_options & EMU_ECE;
	return err || !emu_attr_len(c, UVERBS_ATTR_UHW_OUT)
		       ? err
		       : emu_attr_out(c, UVERBS_ATTR_UHW_OUT, &uhw, sizeof(uhw));
}

/* to_rdma_ah_attr(): on Ethernet each path has a GRH, and neither a LID nor a service level. */
static void report_path(const struct emu_qp_obj *qp, struct ib_uverbs_qp_dest *d)
{
	memset(d, 0, sizeof(*d));
	if (qp->type == EMU_QPT_UD)
		return;
	*d = qp->attr.dest;
	d->dlid = 0;
	d->sl = 0;
	d->src_path_bits = 0;
	d->is_global = 1;
	d->port_num = emu_qp_port(&qp->attr);
}

/*
 * As mlx5_ib_query_qp(). Only the library knows the limits of the send queue, and replaces the zeros by
 * them.
 */
int emu_write_query_qp(struct emu_cmd *c)
{
	struct ib_uverbs_query_qp_resp r = {0};
	const struct ib_uverbs_modify_qp *a;
	const struct emu_qp_obj *qp;
	struct ib_uverbs_query_qp req;
	int err;

	err = emu_attr_in(c, UVERBS_ATTR_CORE_IN, &req, sizeof(req));
	if (err)
		return err;
	qp = emu_uobj_get(c->file, req.qp_handle, EMU_T_QP);
	if (!qp)
		return -EINVAL;
	a = &qp->attr;
	report_path(qp, &r.dest);
	r.max_recv_wr = qp->cap.max_recv_wr;
	r.max_recv_sge = qp->cap.max_recv_sge;
	r.qkey = a->qkey;
	r.rq_psn = a->rq_psn;
	r.sq_psn = a->sq_psn;
	r.dest_qp_num = a->dest_qp_num;
	r.qp_access_flags = emu_qp_access(a);
	r.pkey_index = a->pkey_index;
	r.qp_state = r.cur_qp_state = (uint8_t)atomic_load(&emu_queues->qp[qp->qpn].state);
	r.path_mtu = a->path_mtu;
	r.max_rd_atomic = emu_qp_depth(a->max_rd_atomic);
	r.max_dest_rd_atomic = emu_qp_depth(a->max_dest_rd_atomic);
	r.min_rnr_timer = a->min_rnr_timer;
	r.port_num = emu_qp_port(a);
	r.timeout = a->timeout;
	r.retry_cnt = a->retry_cnt;
	r.rnr_retry = a->rnr_retry;
	r.sq_sig_all = qp->sq_sig_all;
	return emu_attr_out(c, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
}
