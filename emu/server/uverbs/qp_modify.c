/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/qp_modify.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>

#include "base/array.h"
#include "emu/ipc/path_mtu.h"
#include "emu/prm/prm_qp.h"
#include "emu/server/card/dct_context.h"
#include "emu/server/card/gid.h"
#include "emu/server/card/pkey.h"
#include "emu/server/card/qp_context.h"
#include "emu/server/card/segments.h"
#include "emu/server/mm/pin.h"
#include "emu/server/uverbs/ah.h"
#include "emu/server/uverbs/cmd.h"
#include "emu/server/uverbs/qp.h"
#include "emu/server/uverbs/queue.h"
#include "emu/server/uverbs/xrc.h"
#include "emu/server/wire/endpoints.h"

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

#define A_STANDARD	 ((1u << 21) - 1)

#define MAX_RD_ATOMIC	 16
#define HOP_LIMIT	 64
#define LOG_MAX_MSG	 30
#define LOG_MAX_DATAGRAM 12
#define CONTROLLED_QKEY	 0x80000000u

enum column { COL_RC, COL_UC, COL_UD, COL_XRC_INI, COL_XRC_TGT, COL_DCI, NCOLS };

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
	case EMU_QPT_DCI:
		return COL_DCI;
	default:
		return COL_RC;
	}
}

#define BEGIN	 (A_PKEY | A_PORT | A_ACCESS)
#define BEGIN_UD (A_PKEY | A_PORT | A_QKEY)
#define BEGIN_DC (A_PKEY | A_PORT)
#define PEER	 (A_AV | A_MTU | A_DEST_QPN | A_RQ_PSN)
#define RESPOND	 (A_DEST_RD | A_MIN_RNR)
#define REQUEST	 (A_TIMEOUT | A_RETRY | A_RNR_RETRY | A_RD_ATOMIC)
#define LIVE	 (A_CUR_STATE | A_ALT | A_ACCESS | A_PATH_MIG)
#define LIVE_UD	 (A_CUR_STATE | A_QKEY)

/*
 * The kernel core's qp_state_table without SQD, to which mlx5 has no command (__mlx5_ib_modify_qp: optab). Transitions
 * to RESET and to ERR allow no other attribute; there is none from RESET to ERR. The column of DC initiators is that of
 * the driver (modify_dci_qp_is_ok()), which demands a state.
 */
static const struct transition {
	uint8_t from, to;
	uint32_t required[NCOLS], optional[NCOLS];
} transitions[] = {
	{EMU_QPS_RESET, EMU_QPS_RESET, {0}, {0}},
	{EMU_QPS_RESET, EMU_QPS_INIT, {BEGIN, BEGIN, BEGIN_UD, BEGIN, BEGIN, BEGIN_DC}, {0}},
	{EMU_QPS_INIT, EMU_QPS_RESET, {0}, {0}},
	{EMU_QPS_INIT, EMU_QPS_ERR, {0}, {0}},
	{EMU_QPS_INIT, EMU_QPS_INIT, {0}, {BEGIN, BEGIN, BEGIN_UD, BEGIN, BEGIN, BEGIN_DC}},
	{EMU_QPS_INIT,
	 EMU_QPS_RTR,
	 {PEER | RESPOND, PEER, 0, PEER, PEER | RESPOND, A_MTU},
	 {A_ALT | A_ACCESS | A_PKEY, A_ALT | A_ACCESS | A_PKEY, A_PKEY | A_QKEY,
	  A_ALT | A_ACCESS | A_PKEY, A_ALT | A_ACCESS | A_PKEY, A_PKEY | A_AV}},
	{EMU_QPS_RTR, EMU_QPS_RESET, {0}, {0}},
	{EMU_QPS_RTR, EMU_QPS_ERR, {0}, {0}},
	{EMU_QPS_RTR,
	 EMU_QPS_RTS,
	 {A_SQ_PSN | REQUEST, A_SQ_PSN, A_SQ_PSN, A_SQ_PSN | REQUEST, A_SQ_PSN | A_TIMEOUT,
	  A_SQ_PSN | REQUEST},
	 {LIVE | A_MIN_RNR, LIVE, LIVE_UD, LIVE, LIVE | A_MIN_RNR, A_MIN_RNR}},
	{EMU_QPS_RTS, EMU_QPS_RESET, {0}, {0}},
	{EMU_QPS_RTS, EMU_QPS_ERR, {0}, {0}},
	{EMU_QPS_RTS,
	 EMU_QPS_RTS,
	 {0},
	 {LIVE | A_MIN_RNR, LIVE, LIVE_UD, LIVE, LIVE | A_MIN_RNR, A_MIN_RNR}},
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

	if ((mask & A_CUR_STATE && (from < EMU_QPS_RTR || from > EMU_QPS_SQE)) ||
	    (type == EMU_QPT_DCI && !(mask & A_STATE)))
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

#define SLOWEST 2u  /* enum ib_rate: 0 is the rate of the port, 1 has no meaning */
#define FASTEST 22u /* 600 Gb/s, the last one of Linux 6.1 */

/* ib_rate_to_mlx5() */
static int check_rate(uint8_t rate)
{
	return rate && (rate < SLOWEST || rate > FASTEST) ? -EINVAL : 0;
}

/*
 * A RoCE port has no LIDs: the address must have the peer's GID and a valid index of ours. The
 * kernel looks up the neighbour before it connects (ib_resolve_eth_dmac), unless requests name their peers.
 */
static int check_av(const struct emu_func *f, uint8_t type, const struct ib_uverbs_qp_dest *d)
{
	uint8_t mac[EMU_MAC_BYTES];
	int err;

	if (!d->is_global || d->sgid_index >= f->card->profile->max_gids || d->port_num < 1 ||
	    d->port_num > EMU_PORTS)
		return -EINVAL;
	if (!emu_gid_at(f, d->sgid_index))
		return -ENODATA; /* rdma_get_gid_attr() */
	if (type == EMU_QPT_DCI || type == EMU_QPT_DCT)
		return 0;
	err = emu_resolve(f, d->sgid_index, d->dgid, mac);
	return err ? err : check_rate(d->static_rate);
}

static int check_values(const struct emu_func *f, uint8_t type, const struct ib_uverbs_modify_qp *a)
{
	uint32_t m = a->attr_mask;

	if ((m & A_PORT && (a->port_num < 1 || a->port_num > EMU_PORTS)) ||
	    (m & A_PKEY && !emu_pkey_is_index(f, a->pkey_index)) ||
	    (m & A_MTU && (a->path_mtu < 1 || a->path_mtu > 5)) ||
	    (m & A_RD_ATOMIC && a->max_rd_atomic > MAX_RD_ATOMIC) ||
	    (m & A_DEST_RD && a->max_dest_rd_atomic > MAX_RD_ATOMIC))
		return -EINVAL;
	if (m & A_ALT || (m & A_PATH_MIG && a->path_mig_state))
		return -EINVAL; /* RoCE has one path */
	return m & A_AV ? check_av(f, type, &a->dest) : 0;
}

/* ib_resolve_unicast_gid_dmac(): it is the route's, except between link-local addresses of RoCE v1. */
static void set_hop_limit(const struct emu_func *f, struct ib_uverbs_qp_dest *d)
{
	bool link_local = d->dgid[0] == 0xfe && (d->dgid[1] & 0xc0) == 0x80;

	if (!link_local || emu_gid_at(f, d->sgid_index)->type != EMU_GID_ROCE_V1)
		d->hop_limit = HOP_LIMIT;
}

/* --- the driver's part: a queue pair's attributes and its context ------------------------------ */

/* RDMA reads and atomics at once: the device counts them in powers of two, from 1 on. */
static uint64_t log_depth(uint8_t max_rd_atomic)
{
	uint64_t log = 0;

	while (1u << log < max_rd_atomic)
		log++;
	return log;
}

/*
 * The remote accesses that a QP serves: without resources for RDMA reads and atomics (max_dest_rd_atomic) neither of
 * these, whatever its access flags (set_qpc_atomic_flags()).
 */
static void put_access(const struct emu_qp_obj *qp, const struct ib_uverbs_modify_qp *a,
		       uint8_t *qpc)
{
	uint32_t flags = a->attr_mask & A_ACCESS ? a->qp_access_flags : qp->access;
	bool reads = a->attr_mask & A_DEST_RD ? a->max_dest_rd_atomic : qp->responders;
	const struct emu_prm_value fields[] = {
		{EMU_QPC_RRE, reads && flags & IB_UVERBS_ACCESS_REMOTE_READ},
		{EMU_QPC_RWE, (flags & IB_UVERBS_ACCESS_REMOTE_WRITE) != 0},
		{EMU_QPC_RAE, reads && flags & IB_UVERBS_ACCESS_REMOTE_ATOMIC},
	};

	EMU_PRM_FILL(qpc, fields);
}

/* The card has no rates below that of the port, so an address's rate is that one (ib_rate_to_mlx5()). */
static void put_address(const struct ib_uverbs_qp_dest *d, uint8_t *qpc)
{
	const struct emu_prm_value fields[] = {
		{EMU_QPC_PATH(EMU_ADS_SRC_ADDR_INDEX), d->sgid_index},
		{EMU_QPC_PATH(EMU_ADS_HOP_LIMIT), d->hop_limit},
		{EMU_QPC_PATH(EMU_ADS_TCLASS), d->traffic_class},
		{EMU_QPC_PATH(EMU_ADS_FLOW_LABEL),
		 emu_prm_fit(EMU_QPC_PATH(EMU_ADS_FLOW_LABEL), d->flow_label)},
	};

	EMU_PRM_FILL(qpc, fields);
	memcpy(emu_prm_at(qpc, EMU_QPC_PATH(EMU_ADS_RGID_RIP)), d->dgid, sizeof(d->dgid));
}

/* __mlx5_ib_modify_qp(). Numbers of packets and queue pairs are the client's; they are cut as there. */
static void to_context(const struct emu_qp_obj *qp, const struct ib_uverbs_modify_qp *a,
		       uint8_t *qpc)
{
	const uint32_t m = a->attr_mask;
	const struct {
		uint32_t mask;
		struct emu_prm_value value;
	} fields[] = {
		{A_MTU, {EMU_QPC_MTU, a->path_mtu}},
		{A_MTU, {EMU_QPC_LOG_MSG_MAX, LOG_MAX_MSG}},
		{A_DEST_QPN, {EMU_QPC_REMOTE_QPN, a->dest_qp_num}},
		{A_PKEY, {EMU_QPC_PATH(EMU_ADS_PKEY_INDEX), a->pkey_index}},
		{A_PORT, {EMU_QPC_PATH(EMU_ADS_VHCA_PORT_NUM), a->port_num}},
		{A_TIMEOUT, {EMU_QPC_PATH(EMU_ADS_ACK_TIMEOUT), a->timeout}},
		{A_RNR_RETRY, {EMU_QPC_RNR_RETRY, a->rnr_retry}},
		{A_RETRY, {EMU_QPC_RETRY_COUNT, a->retry_cnt}},
		{A_RD_ATOMIC, {EMU_QPC_LOG_SRA_MAX, log_depth(a->max_rd_atomic)}},
		{A_DEST_RD, {EMU_QPC_LOG_RRA_MAX, log_depth(a->max_dest_rd_atomic)}},
		{A_SQ_PSN, {EMU_QPC_NEXT_SEND_PSN, a->sq_psn}},
		{A_RQ_PSN, {EMU_QPC_NEXT_RCV_PSN, a->rq_psn}},
		{A_MIN_RNR, {EMU_QPC_MIN_RNR_NAK, a->min_rnr_timer}},
		{A_QKEY, {EMU_QPC_Q_KEY, a->qkey}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (m & fields[i].mask)
			emu_prm_set(qpc, fields[i].value.field,
				    emu_prm_fit(fields[i].value.field, fields[i].value.value));
	if (qp->type == EMU_QPT_UD) {
		emu_prm_set(qpc, EMU_QPC_MTU, EMU_MTU_4096);
		emu_prm_set(qpc, EMU_QPC_LOG_MSG_MAX, LOG_MAX_DATAGRAM);
	}
	if (m & A_AV)
		put_address(&a->dest, qpc);
	if (m & (A_ACCESS | A_DEST_RD))
		put_access(qp, a, qpc);
}

/* ib_mask_to_mlx5_opt() */
static uint32_t to_optpar(uint32_t mask)
{
	static const struct {
		uint32_t mask, optpar;
	} bits[] = {
		{A_ACCESS | A_DEST_RD, EMU_OPTPAR_RRE | EMU_OPTPAR_RWE | EMU_OPTPAR_RAE},
		{A_PKEY, EMU_OPTPAR_PKEY_INDEX},
		{A_PORT, EMU_OPTPAR_PRI_PORT},
		{A_QKEY, EMU_OPTPAR_Q_KEY},
		{A_MIN_RNR, EMU_OPTPAR_RNR_TIMEOUT},
	};
	uint32_t optpar = 0;

	for (size_t i = 0; i < ARRAY_SIZE(bits); i++)
		if (mask & bits[i].mask)
			optpar |= bits[i].optpar;
	return optpar;
}

/* query_qp_attr(); to_rdma_ah_attr(): on Ethernet each path has a GRH, and neither a LID nor a service level. */
static void address_of(const uint8_t *qpc, struct ib_uverbs_qp_dest *d)
{
	d->is_global = 1;
	d->port_num = (uint8_t)emu_prm_get(qpc, EMU_QPC_PATH(EMU_ADS_VHCA_PORT_NUM));
	d->sgid_index = (uint8_t)emu_prm_get(qpc, EMU_QPC_PATH(EMU_ADS_SRC_ADDR_INDEX));
	d->hop_limit = (uint8_t)emu_prm_get(qpc, EMU_QPC_PATH(EMU_ADS_HOP_LIMIT));
	d->traffic_class = (uint8_t)emu_prm_get(qpc, EMU_QPC_PATH(EMU_ADS_TCLASS));
	d->flow_label = (uint32_t)emu_prm_get(qpc, EMU_QPC_PATH(EMU_ADS_FLOW_LABEL));
	memcpy(d->dgid, emu_prm_at_const(qpc, EMU_QPC_PATH(EMU_ADS_RGID_RIP)), sizeof(d->dgid));
}

static uint32_t access_of(const uint8_t *qpc)
{
	return (uint32_t)((emu_prm_get(qpc, EMU_QPC_RRE) * IB_UVERBS_ACCESS_REMOTE_READ) |
			  (emu_prm_get(qpc, EMU_QPC_RWE) * IB_UVERBS_ACCESS_REMOTE_WRITE) |
			  (emu_prm_get(qpc, EMU_QPC_RAE) * IB_UVERBS_ACCESS_REMOTE_ATOMIC));
}

/* The driver's own of a queue pair, which all handles of it share. */
static void keep(struct emu_qp_obj *qp, const struct ib_uverbs_modify_qp *a)
{
	if (a->attr_mask & A_ACCESS)
		qp->access = a->qp_access_flags;
	if (a->attr_mask & A_DEST_RD)
		qp->responders = a->max_dest_rd_atomic;
	emu_qp_copy_access(qp);
}

static int modify_qp(struct emu_cmd *c, struct emu_qp_obj *qp, struct ib_uverbs_modify_qp *a)
{
	uint8_t qpc[EMU_QPC_BYTES] = {0};
	uint32_t from, to;
	int err;

	a->attr_mask &= ~ignored(qp->type);
	from = atomic_load(&emu_queues->qp[qp->qpn].state);
	to = a->attr_mask & A_STATE ? a->qp_state : from;
	if (a->attr_mask & A_CUR_STATE && a->cur_qp_state != from)
		return -EINVAL;
	err = check_transition(qp->type, from, to, a->attr_mask);
	if (!err)
		err = check_values(c->file->func, qp->type, a);
	if (!err && (to == EMU_QPS_RESET || to == EMU_QPS_ERR))
		err = emu_let_send(c, qp->qpn);
	if (err)
		return err;
	if (a->attr_mask & A_AV)
		set_hop_limit(c->file->func, &a->dest);
	to_context(qp, a, qpc);
	if (emu_qp_transit(c->file->func, qp->qpn, emu_qp_opcode(from, to), qpc,
			   to_optpar(a->attr_mask)) != EMU_TRANSIT_DONE)
		return -EINVAL;
	keep(qp, a);
	return 0;
}

/* --- targets of DC: mlx5_ib_modify_dct() ------------------------------------------------------- */

static void initialize_target(struct emu_qp_obj *qp, const struct ib_uverbs_modify_qp *a)
{
	const struct emu_prm_value fields[] = {
		{EMU_DCTC_RRE, (a->qp_access_flags & IB_UVERBS_ACCESS_REMOTE_READ) != 0},
		{EMU_DCTC_RWE, (a->qp_access_flags & IB_UVERBS_ACCESS_REMOTE_WRITE) != 0},
		{EMU_DCTC_RAE, (a->qp_access_flags & IB_UVERBS_ACCESS_REMOTE_ATOMIC) != 0},
		{EMU_DCTC_PKEY_INDEX, a->pkey_index},
		{EMU_DCTC_PORT, a->port_num},
	};

	EMU_PRM_FILL(qp->dctc, fields);
	qp->dct_state = EMU_QPS_INIT;
}

/* The firmware gets the target, and gives it a number. */
static int activate_target(struct emu_cmd *c, struct emu_qp_obj *qp,
			   const struct ib_uverbs_modify_qp *a)
{
	const struct emu_prm_value fields[] = {
		{EMU_DCTC_MIN_RNR_NAK, emu_prm_fit(EMU_DCTC_MIN_RNR_NAK, a->min_rnr_timer)},
		{EMU_DCTC_TCLASS, a->dest.traffic_class},
		{EMU_DCTC_FLOW_LABEL, emu_prm_fit(EMU_DCTC_FLOW_LABEL, a->dest.flow_label)},
		{EMU_DCTC_MTU, a->path_mtu},
		{EMU_DCTC_GID_INDEX, a->dest.sgid_index},
		{EMU_DCTC_HOP_LIMIT, a->dest.hop_limit},
		{EMU_DCTC_ETH_PRIO, a->dest.sl & 7u},
	};
	struct emu_qp q = {.file = qp->obj.file->ino, .handle = qp->obj.handle};
	int err;

	EMU_PRM_FILL(qp->dctc, fields);
	if (!emu_dct_is_valid(c->file->func, qp->dctc))
		return -EINVAL;
	err = emu_engine_of(c, &q.engine);
	if (!err)
		err = emu_wire_admit(c->file->func, q.engine);
	if (err)
		return err;
	qp->qpn = emu_dct_publish(c->file->func, qp->dctc, &q);
	if (!qp->qpn)
		return -ENOMEM;
	qp->dct_state = EMU_QPS_RTR;
	return 0;
}

#define BEGIN_DCT  (A_STATE | A_ACCESS | A_PKEY | A_PORT)
#define ANSWER_DCT (A_STATE | A_MIN_RNR | A_AV | A_MTU)

static int modify_target(struct emu_cmd *c, struct emu_qp_obj *qp,
			 const struct ib_uverbs_modify_qp *a)
{
	int err = check_values(c->file->func, qp->type, a);

	if (err)
		return err;
	if (qp->dct_state == EMU_QPS_RESET && a->qp_state == EMU_QPS_INIT &&
	    a->attr_mask == BEGIN_DCT) {
		initialize_target(qp, a);
		return 0;
	}
	if (qp->dct_state != EMU_QPS_INIT || a->qp_state != EMU_QPS_RTR ||
	    a->attr_mask != ANSWER_DCT ||
	    emu_attr_len(c, UVERBS_ATTR_UHW_OUT) <
		    offsetof(struct mlx5_ib_modify_qp_resp, ece_options))
		return -EINVAL;
	return activate_target(c, qp, a);
}

static int modify(struct emu_cmd *c, struct ib_uverbs_modify_qp *a, struct emu_qp_obj **of)
{
	struct emu_qp_obj *qp;
	int err;

	err = emu_cmd_obj(c, a->qp_handle, EMU_T_QP, &qp);
	if (err)
		return err;
	*of = qp;
	/* As Linux 6.4, and as 6.1 with its updates: modify_qp() of uverbs_cmd.c */
	if (a->attr_mask & A_QKEY && a->qkey & CONTROLLED_QKEY &&
	    !emu_capable(c->chan->pid, CAP_NET_RAW))
		return -EPERM;
	return qp->type == EMU_QPT_DCT ? modify_target(c, qp, a) : modify_qp(c, qp, a);
}

int emu_write_modify_qp(struct emu_cmd *c)
{
	struct ib_uverbs_modify_qp a;
	struct emu_qp_obj *qp;
	int err;

	err = emu_attr_in(c, UVERBS_ATTR_CORE_IN, &a, sizeof(a));
	if (err)
		return err;
	return a.attr_mask & ~A_STANDARD ? -EOPNOTSUPP : modify(c, &a, &qp);
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
	struct emu_qp_obj *qp;
	int err;

	err = emu_attr_in(c, UVERBS_ATTR_CORE_IN, &a, sizeof(a));
	if (err)
		return err;
	if (a.reserved || a.base.attr_mask & ~(A_STANDARD | A_RATE_LIMIT))
		return -EOPNOTSUPP;
	err = read_driver_part(c, &drv);
	if (!err)
		err = modify(c, &a.base, &qp);
	if (!err)
		err = emu_attr_out(c, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
	if (err || !emu_attr_len(c, UVERBS_ATTR_UHW_OUT))
		return err;
	uhw.dctn = qp->type == EMU_QPT_DCT ? qp->qpn : 0;
	uhw.ece_options = drv.ece_options & EMU_ECE;
	return emu_attr_out(c, UVERBS_ATTR_UHW_OUT, &uhw, sizeof(uhw));
}

/* mlx5_ib_dct_query_qp(); the address that the driver returns is lost, as it sets no flag of a global address. */
static int query_target(struct emu_cmd *c, const struct emu_qp_obj *qp, uint32_t mask)
{
	struct ib_uverbs_query_qp_resp r = {.sq_sig_all = 1}; /* of zeros: IB_SIGNAL_ALL_WR */
	const uint8_t *dctc = emu_dct_context(qp->qpn);

	if (mask & ~(uint32_t)BEGIN_DCT & ~(uint32_t)ANSWER_DCT || qp->dct_state != EMU_QPS_RTR)
		return -EINVAL;
	if (mask & A_STATE)
		r.qp_state = EMU_QPS_RTR;
	if (mask & A_ACCESS)
		r.qp_access_flags = emu_queues->qp[qp->qpn].access;
	if (mask & A_PORT)
		r.port_num = (uint8_t)emu_prm_get(dctc, EMU_DCTC_PORT);
	if (mask & A_MIN_RNR)
		r.min_rnr_timer = (uint8_t)emu_prm_get(dctc, EMU_DCTC_MIN_RNR_NAK);
	if (mask & A_MTU)
		r.path_mtu = (uint8_t)emu_prm_get(dctc, EMU_DCTC_MTU);
	if (mask & A_PKEY)
		r.pkey_index = (uint16_t)emu_prm_get(dctc, EMU_DCTC_PKEY_INDEX);
	return emu_attr_out(c, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
}

/*
 * As mlx5_ib_query_qp(). Only the library knows the limits of the send queue, and replaces the zeros by
 * them.
 */
int emu_write_query_qp(struct emu_cmd *c)
{
	struct ib_uverbs_query_qp_resp r = {0};
	const struct emu_qp_obj *qp;
	struct ib_uverbs_query_qp req;
	const uint8_t *qpc;
	int err;

	err = emu_attr_in(c, UVERBS_ATTR_CORE_IN, &req, sizeof(req));
	if (err)
		return err;
	err = emu_cmd_obj(c, req.qp_handle, EMU_T_QP, &qp);
	if (err)
		return err;
	if (qp->type == EMU_QPT_DCT)
		return query_target(c, qp, req.attr_mask);
	qpc = emu_qp_context(qp->qpn);
	if (qp->type != EMU_QPT_UD && qp->type != EMU_QPT_DCI)
		address_of(qpc, &r.dest);
	r.max_recv_wr = qp->cap.max_recv_wr;
	r.max_recv_sge = qp->cap.max_recv_sge;
	r.qkey = (uint32_t)emu_prm_get(qpc, EMU_QPC_Q_KEY);
	r.rq_psn = (uint32_t)emu_prm_get(qpc, EMU_QPC_NEXT_RCV_PSN);
	r.sq_psn = (uint32_t)emu_prm_get(qpc, EMU_QPC_NEXT_SEND_PSN);
	r.dest_qp_num = (uint32_t)emu_prm_get(qpc, EMU_QPC_REMOTE_QPN);
	r.qp_access_flags = access_of(qpc);
	r.pkey_index = (uint16_t)emu_prm_get(qpc, EMU_QPC_PATH(EMU_ADS_PKEY_INDEX));
	r.qp_state = r.cur_qp_state = (uint8_t)atomic_load(&emu_queues->qp[qp->qpn].state);
	r.path_mtu = (uint8_t)emu_prm_get(qpc, EMU_QPC_MTU);
	r.max_rd_atomic = (uint8_t)(1u << emu_prm_get(qpc, EMU_QPC_LOG_SRA_MAX));
	r.max_dest_rd_atomic = (uint8_t)(1u << emu_prm_get(qpc, EMU_QPC_LOG_RRA_MAX));
	r.min_rnr_timer = (uint8_t)emu_prm_get(qpc, EMU_QPC_MIN_RNR_NAK);
	r.port_num = (uint8_t)emu_prm_get(qpc, EMU_QPC_PATH(EMU_ADS_VHCA_PORT_NUM));
	r.timeout = (uint8_t)emu_prm_get(qpc, EMU_QPC_PATH(EMU_ADS_ACK_TIMEOUT));
	r.retry_cnt = (uint8_t)emu_prm_get(qpc, EMU_QPC_RETRY_COUNT);
	r.rnr_retry = (uint8_t)emu_prm_get(qpc, EMU_QPC_RNR_RETRY);
	r.sq_sig_all = qp->sq_sig_all;
	return emu_attr_out(c, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
}
