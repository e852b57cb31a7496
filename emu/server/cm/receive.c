/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/cm/cm_priv.h"

#include <rdma/ib_user_ioctl_verbs.h>
#include <string.h>

#include "emu/server/cm/cm.h"
#include "emu/server/cm/post.h"

/* An event is the last thing that a function here does: its handler may destroy the connection. */
static void count_duplicate(struct emu_cm *cm, const struct emu_cm_msg *m)
{
	cm->counters.duplicate[m->attr - EMU_CM_REQ]++;
}

/* A REJ that belongs to no connection. */
static void reject(struct emu_cm *cm, const struct emu_cm_path *path, const struct emu_cm_msg *m,
		   enum emu_cm_reason reason, enum emu_cm_answered answered)
{
	const struct emu_cm_msg rej = {
		.attr = EMU_CM_REJ,
		.tid = m->tid,
		.local_id = m->remote_id,
		.remote_id = m->local_id,
		.answered = answered,
		.reason = reason,
	};

	emu_cm_post(cm, path, &rej);
}

static void receive_req_again(struct emu_cm_conn *c, const struct emu_cm_msg *req)
{
	struct emu_cm_msg m;

	count_duplicate(c->cm, req);
	if (c->state == EMU_CM_MRA_REQ_SENT) {
		emu_cm_resend(c, c->reply);
	} else if (c->state == EMU_CM_TIMEWAIT) {
		emu_cm_begin(c, &m, EMU_CM_REJ);
		m.answered = EMU_CM_OF_OTHER;
		m.reason = EMU_CM_REJ_STALE_CONN;
		emu_cm_post(c->cm, &c->path, &m);
	}
}

/* The peer uses the queue pair of an old connection for a new one, so the old one is dead. */
static void end_stale(struct emu_cm *cm, const struct emu_cm_path *path, const struct emu_cm_msg *m,
		      struct emu_cm_conn *stale)
{
	reject(cm, path, m, EMU_CM_REJ_STALE_CONN,
	       m->attr == EMU_CM_REQ ? EMU_CM_OF_REQ : EMU_CM_OF_REP);
	emu_cm_send_dreq(stale, NULL, 0);
}

static void take_path(struct emu_cm_conn *c, const struct emu_cm_path *path,
		      const struct emu_cm_msg *m)
{
	c->path = *path;
	c->path.pkey = m->pkey;
	c->path.mtu = m->mtu;
	c->path.rate = m->primary.rate;
	c->path.sl = m->primary.sl;
	c->path.traffic_class = m->primary.traffic_class;
	c->path.hop_limit = m->primary.hop_limit;
	c->path.flow_label = m->primary.flow_label;
	c->path.packet_life_time = m->primary.ack_timeout ? m->primary.ack_timeout - 1 : 0;
	c->ack_timeout = c->path.packet_life_time + 1;
}

static uint8_t qp_type_of(const struct emu_cm_msg *m)
{
	if (m->transport == 0)
		return IB_UVERBS_QPT_RC;
	if (m->transport == 1)
		return IB_UVERBS_QPT_UC;
	return m->transport == 3 && m->extended_transport == 1 ? IB_UVERBS_QPT_XRC_TGT : 0;
}

static struct emu_cm_conn *accept_req(struct emu_cm *cm, const struct emu_cm_path *path,
				      const struct emu_cm_msg *m)
{
	struct emu_cm_conn *c = emu_cm_conn_new(cm, NULL);

	if (!c)
		return NULL;
	take_path(c, path, m);
	c->service_id = m->service_id;
	c->tid = m->tid;
	c->remote_id = m->local_id;
	c->remote_qpn = m->qpn;
	c->remote_guid = m->ca_guid;
	c->timeout = emu_cm_ms(m->local_response_timeout);
	c->max_retries = m->max_cm_retries;
	c->initiator_depth = m->responder_resources;
	c->responder_resources = m->initiator_depth;
	c->sq_psn = m->psn;
	c->retry_count = m->retry_count;
	c->rnr_retry_count = m->rnr_retry_count;
	c->qp_type = qp_type_of(m);
	if (emu_cm_insert_remote(c)) {
		emu_cm_discard(c);
		return NULL;
	}
	c->state = EMU_CM_REQ_RCVD;
	return c;
}

/* Without memory the request is dropped: the peer will send it again. */
static void receive_req(struct emu_cm *cm, const struct emu_cm_path *path,
			const struct emu_cm_msg *m)
{
	struct emu_cm_conn *c = emu_cm_find_remote_id(cm, m->ca_guid, m->local_id);

	if (!m->local_id)
		return; /* 0 stands for an unknown ID */
	if (c) {
		receive_req_again(c, m);
		return;
	}
	c = emu_cm_find_remote_qpn(cm, m->ca_guid, m->qpn);
	if (c) {
		end_stale(cm, path, m, c);
		return;
	}
	if (!cm->ops->listens(cm->ctx, path, m->service_id)) {
		reject(cm, path, m, EMU_CM_REJ_INVALID_SERVICE_ID, EMU_CM_OF_REQ);
		return;
	}
	if (!qp_type_of(m)) {
		reject(cm, path, m, EMU_CM_REJ_INVALID_TRANSPORT_TYPE, EMU_CM_OF_REQ);
		return;
	}
	c = accept_req(cm, path, m);
	if (!c)
		return;
	if (memcmp(m->primary.remote_gid, path->sgid, sizeof(path->sgid)) != 0) {
		emu_cm_send_rej(c, EMU_CM_REJ_INVALID_GID, path->sgid, sizeof(path->sgid), NULL, 0);
		emu_cm_discard(c);
		return;
	}
	emu_cm_report(c, EMU_CM_REQ_RECEIVED, m);
}

static void receive_rep_again(struct emu_cm *cm, const struct emu_cm_msg *m)
{
	struct emu_cm_conn *c = emu_cm_find(cm, m->remote_id, m->local_id);

	if (!c)
		return;
	count_duplicate(cm, m);
	if (c->state == EMU_CM_ESTABLISHED || c->state == EMU_CM_MRA_REP_SENT)
		emu_cm_resend(c, c->reply);
}

static void receive_rep(struct emu_cm *cm, const struct emu_cm_path *path,
			const struct emu_cm_msg *m)
{
	struct emu_cm_conn *c = emu_cm_find(cm, m->remote_id, 0), *stale;
	uint32_t qpn;

	if (!c) {
		receive_rep_again(cm, m);
		return;
	}
	if (c->state != EMU_CM_REQ_SENT && c->state != EMU_CM_MRA_REQ_RCVD)
		return;
	qpn = c->qp_type == IB_UVERBS_QPT_XRC_INI ? m->eecn : m->qpn;
	if (!m->local_id || emu_cm_find_remote_id(cm, m->ca_guid, m->local_id))
		return;
	stale = emu_cm_find_remote_qpn(cm, m->ca_guid, qpn);
	if (stale) {
		end_stale(cm, path, m, stale);
		return;
	}
	c->remote_id = m->local_id;
	c->remote_guid = m->ca_guid;
	c->remote_qpn = qpn;
	if (emu_cm_insert_remote(c)) {
		c->remote_id = 0; /* the peer will send it again */
		return;
	}
	c->initiator_depth = m->responder_resources;
	c->responder_resources = m->initiator_depth;
	c->sq_psn = m->psn;
	c->rnr_retry_count = m->rnr_retry_count;
	c->ack_timeout = emu_cm_ack_timeout(m->target_ack_delay, c->ack_timeout - 1);
	c->state = EMU_CM_REP_RCVD;
	emu_cm_answered(c);
	emu_cm_report(c, EMU_CM_REP_RECEIVED, m);
}

static void receive_rtu(struct emu_cm *cm, const struct emu_cm_msg *m)
{
	struct emu_cm_conn *c = emu_cm_find(cm, m->remote_id, m->local_id);

	if (!c)
		return;
	if (c->state != EMU_CM_REP_SENT && c->state != EMU_CM_MRA_REP_RCVD) {
		count_duplicate(cm, m);
		return;
	}
	c->state = EMU_CM_ESTABLISHED;
	emu_cm_answered(c);
	emu_cm_report(c, EMU_CM_RTU_RECEIVED, m);
}

/* The connection is gone, so the peer may forget it too. */
static void answer_dreq(struct emu_cm *cm, const struct emu_cm_path *path,
			const struct emu_cm_msg *m)
{
	const struct emu_cm_msg drep = {
		.attr = EMU_CM_DREP,
		.tid = m->tid,
		.local_id = m->remote_id,
		.remote_id = m->local_id,
	};

	count_duplicate(cm, m);
	emu_cm_post(cm, path, &drep);
}

static void receive_dreq(struct emu_cm *cm, const struct emu_cm_path *path,
			 const struct emu_cm_msg *m)
{
	struct emu_cm_conn *c = emu_cm_find(cm, m->remote_id, m->local_id);

	if (!c) {
		answer_dreq(cm, path, m);
		return;
	}
	if (c->local_qpn != m->remote_qpn)
		return;
	switch (c->state) {
	case EMU_CM_REP_SENT:
	case EMU_CM_MRA_REP_RCVD:
	case EMU_CM_ESTABLISHED:
	case EMU_CM_DREQ_SENT:
		break;
	case EMU_CM_TIMEWAIT:
		count_duplicate(cm, m);
		emu_cm_repeat_drep(c, m->tid);
		return;
	case EMU_CM_DREQ_RCVD:
		count_duplicate(cm, m);
		return;
	default:
		return;
	}
	emu_cm_answered(c);
	c->user_established = false;
	c->state = EMU_CM_DREQ_RCVD;
	c->tid = m->tid;
	emu_cm_report(c, EMU_CM_DREQ_RECEIVED, m);
}

static void receive_drep(struct emu_cm *cm, const struct emu_cm_msg *m)
{
	struct emu_cm_conn *c = emu_cm_find(cm, m->remote_id, m->local_id);

	if (!c || (c->state != EMU_CM_DREQ_SENT && c->state != EMU_CM_DREQ_RCVD))
		return;
	emu_cm_enter_timewait(c);
	emu_cm_report(c, EMU_CM_DREP_RECEIVED, m);
}

static uint64_t guid_in(const uint8_t info[8])
{
	uint64_t guid = 0;

	for (int i = 0; i < 8; i++)
		guid = guid << 8 | info[i];
	return guid;
}

/* A peer that timed out names its node: it may not know our ID yet. */
static struct emu_cm_conn *find_rejected(struct emu_cm *cm, const struct emu_cm_msg *m)
{
	if (m->reason == EMU_CM_REJ_TIMEOUT)
		return emu_cm_find_remote_id(cm, guid_in(m->info), m->local_id);
	return emu_cm_find(cm, m->remote_id, m->answered == EMU_CM_OF_REQ ? 0 : m->local_id);
}

static void receive_rej(struct emu_cm *cm, const struct emu_cm_msg *m)
{
	struct emu_cm_conn *c = find_rejected(cm, m);

	if (!c)
		return;
	switch (c->state) {
	case EMU_CM_REQ_SENT:
	case EMU_CM_MRA_REQ_RCVD:
	case EMU_CM_REP_SENT:
	case EMU_CM_MRA_REP_RCVD:
	case EMU_CM_REQ_RCVD:
	case EMU_CM_MRA_REQ_SENT:
		if (m->reason == EMU_CM_REJ_STALE_CONN)
			emu_cm_enter_timewait(c);
		else
			emu_cm_reset_to_idle(c);
		break;
	case EMU_CM_REP_RCVD:
	case EMU_CM_MRA_REP_SENT:
	case EMU_CM_ESTABLISHED:
	case EMU_CM_DREQ_SENT:
		emu_cm_enter_timewait(c);
		break;
	default:
		return;
	}
	emu_cm_report(c, EMU_CM_REJ_RECEIVED, m);
}

static void receive_mra(struct emu_cm *cm, const struct emu_cm_msg *m)
{
	struct emu_cm_conn *c =
		emu_cm_find(cm, m->remote_id, m->answered == EMU_CM_OF_REQ ? 0 : m->local_id);

	if (!c)
		return;
	if (c->state == EMU_CM_REQ_SENT && m->answered == EMU_CM_OF_REQ) {
		c->state = EMU_CM_MRA_REQ_RCVD;
	} else if (c->state == EMU_CM_REP_SENT && m->answered == EMU_CM_OF_REP) {
		c->state = EMU_CM_MRA_REP_RCVD;
	} else {
		count_duplicate(cm, m);
		return;
	}
	c->wait = emu_cm_ms(m->service_timeout) + emu_cm_ms(c->ack_timeout);
	emu_cm_set_deadline(c, c->wait);
	emu_cm_report(c, EMU_CM_MRA_RECEIVED, m);
}

static void receive_sidr_req(struct emu_cm *cm, const struct emu_cm_path *path,
			     const struct emu_cm_msg *m)
{
	const struct emu_cm_sidr_rep_param refused = {.status = EMU_CM_SIDR_UNSUPPORTED};
	struct emu_cm_conn *c;

	if (emu_cm_find_sidr(cm, m->local_id, path->dgid)) {
		count_duplicate(cm, m);
		return;
	}
	c = emu_cm_conn_new(cm, NULL);
	if (!c)
		return;
	c->path = *path;
	c->path.pkey = m->pkey;
	c->service_id = m->service_id;
	c->tid = m->tid;
	c->remote_id = m->local_id;
	if (emu_cm_insert_sidr(c)) {
		emu_cm_discard(c);
		return;
	}
	c->state = EMU_CM_SIDR_REQ_RCVD;
	if (cm->ops->listens(cm->ctx, path, m->service_id)) {
		emu_cm_report(c, EMU_CM_SIDR_REQ_RECEIVED, m);
	} else {
		emu_cm_send_sidr_rep(c, &refused, NULL, 0);
		emu_cm_discard(c);
	}
}

static void receive_sidr_rep(struct emu_cm *cm, const struct emu_cm_msg *m)
{
	struct emu_cm_conn *c = emu_cm_find(cm, m->local_id, 0);

	if (!c || c->state != EMU_CM_SIDR_REQ_SENT)
		return;
	emu_cm_reset_to_idle(c);
	emu_cm_report(c, EMU_CM_SIDR_REP_RECEIVED, m);
}

void emu_cm_receive(struct emu_cm *cm, const struct emu_cm_path *path,
		    const uint8_t mad[static EMU_MAD_BYTES])
{
	struct emu_cm_msg m;

	if (emu_cm_decode(mad, &m))
		return;
	cm->counters.received[m.attr - EMU_CM_REQ]++;
	switch (m.attr) {
	case EMU_CM_REQ:
		receive_req(cm, path, &m);
		break;
	case EMU_CM_MRA:
		receive_mra(cm, &m);
		break;
	case EMU_CM_REJ:
		receive_rej(cm, &m);
		break;
	case EMU_CM_REP:
		receive_rep(cm, path, &m);
		break;
	case EMU_CM_RTU:
		receive_rtu(cm, &m);
		break;
	case EMU_CM_DREQ:
		receive_dreq(cm, path, &m);
		break;
	case EMU_CM_DREP:
		receive_drep(cm, &m);
		break;
	case EMU_CM_SIDR_REQ:
		receive_sidr_req(cm, path, &m);
		break;
	case EMU_CM_SIDR_REP:
		receive_sidr_rep(cm, &m);
		break;
	case EMU_CM_LAP:
	case EMU_CM_APR:
		break; /* The kernel drops them on Ethernet: there are no alternate paths. */
	}
}
