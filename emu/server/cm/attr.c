/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/cm/cm_priv.h"

#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <string.h>

#include "emu/server/cm/cm.h"

/* enum ibv_qp_state and enum ibv_qp_attr_mask, which no header of the kernel exports. */
enum { STATE_INIT = 1, STATE_RTR = 2, STATE_RTS = 3 };
enum {
	QP_STATE = 1 << 0,
	QP_ACCESS_FLAGS = 1 << 3,
	QP_PKEY_INDEX = 1 << 4,
	QP_PORT = 1 << 5,
	QP_AV = 1 << 7,
	QP_PATH_MTU = 1 << 8,
	QP_TIMEOUT = 1 << 9,
	QP_RETRY_CNT = 1 << 10,
	QP_RNR_RETRY = 1 << 11,
	QP_RQ_PSN = 1 << 12,
	QP_MAX_RD_ATOMIC = 1 << 13,
	QP_MIN_RNR_TIMER = 1 << 15,
	QP_SQ_PSN = 1 << 16,
	QP_MAX_DEST_RD_ATOMIC = 1 << 17,
	QP_DEST_QPN = 1 << 20,
};

static void to_init(const struct emu_cm_conn *c, struct ib_uverbs_qp_attr *a)
{
	a->qp_attr_mask = QP_STATE | QP_ACCESS_FLAGS | QP_PKEY_INDEX | QP_PORT;
	a->qp_access_flags = IB_UVERBS_ACCESS_REMOTE_WRITE;
	if (c->responder_resources)
		a->qp_access_flags |= IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC;
}

static void to_rtr(const struct emu_cm_conn *c, struct ib_uverbs_qp_attr *a)
{
	a->qp_attr_mask = QP_STATE | QP_AV | QP_PATH_MTU | QP_DEST_QPN | QP_RQ_PSN;
	a->ah_attr.is_global = 1;
	memcpy(a->ah_attr.grh.dgid, c->path.dgid, sizeof(a->ah_attr.grh.dgid));
	a->ah_attr.grh.flow_label = c->path.flow_label;
	a->ah_attr.grh.hop_limit = c->path.hop_limit;
	a->ah_attr.grh.traffic_class = c->path.traffic_class;
	a->ah_attr.sl = c->path.sl;
	a->ah_attr.static_rate = c->path.rate;
	a->path_mtu = c->path.mtu;
	a->dest_qp_num = c->remote_qpn;
	a->rq_psn = c->rq_psn;
	if (c->qp_type == IB_UVERBS_QPT_RC || c->qp_type == IB_UVERBS_QPT_XRC_TGT) {
		a->qp_attr_mask |= QP_MAX_DEST_RD_ATOMIC | QP_MIN_RNR_TIMER;
		a->max_dest_rd_atomic = c->responder_resources;
	}
}

static void to_rts(const struct emu_cm_conn *c, struct ib_uverbs_qp_attr *a)
{
	bool initiates = c->qp_type == IB_UVERBS_QPT_RC || c->qp_type == IB_UVERBS_QPT_XRC_INI;

	a->qp_attr_mask = QP_STATE | QP_SQ_PSN;
	a->sq_psn = c->sq_psn;
	if (initiates) {
		a->qp_attr_mask |= QP_RETRY_CNT | QP_RNR_RETRY | QP_MAX_RD_ATOMIC;
		a->retry_cnt = c->retry_count;
		a->rnr_retry = c->rnr_retry_count;
		a->max_rd_atomic = c->initiator_depth;
	}
	if (initiates || c->qp_type == IB_UVERBS_QPT_XRC_TGT) {
		a->qp_attr_mask |= QP_TIMEOUT;
		a->timeout = c->ack_timeout;
	}
}

/* Does the connection know what INIT, or what RTR and RTS need? */
static bool knows_itself(enum emu_cm_state s)
{
	return s >= EMU_CM_REQ_SENT && s <= EMU_CM_ESTABLISHED;
}

static bool knows_peer(enum emu_cm_state s)
{
	return knows_itself(s) && s != EMU_CM_REQ_SENT && s != EMU_CM_MRA_REQ_RCVD;
}

int emu_cm_qp_attr(const struct emu_cm_conn *c, uint8_t state, struct ib_uverbs_qp_attr *a)
{
	memset(a, 0, sizeof(*a));
	a->qp_state = state;
	if (state == STATE_INIT && knows_itself(c->state))
		to_init(c, a);
	else if (state == STATE_RTR && knows_peer(c->state))
		to_rtr(c, a);
	else if (state == STATE_RTS && knows_peer(c->state))
		to_rts(c, a);
	else
		return -EINVAL;
	return 0;
}
