/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/cm/send.h"

#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <string.h>

#include "emu/server/cm/cm.h"
#include "emu/server/cm/cm_priv.h"
#include "emu/server/cm/post.h"

#define TRANSPORT_RC	   0
#define TRANSPORT_UC	   1
#define TRANSPORT_EXTENDED 3
#define EXTENDED_XRC	   1

static bool fits(enum emu_cm_attr attr, size_t len)
{
	return len <= emu_cm_private_size(attr);
}

static void set_private(struct emu_cm_msg *m, const void *data, size_t len)
{
	if (len)
		memcpy(m->data, data, len);
}

static void set_transport(struct emu_cm_msg *m, uint8_t qp_type)
{
	m->transport = qp_type == IB_UVERBS_QPT_RC   ? TRANSPORT_RC
		       : qp_type == IB_UVERBS_QPT_UC ? TRANSPORT_UC
						     : TRANSPORT_EXTENDED;
	m->extended_transport = qp_type == IB_UVERBS_QPT_XRC_INI ? EXTENDED_XRC : 0;
}

/* Ethernet has no LIDs: the kernel says "permissive" for a routed path and 0 for a local one. */
static void set_av(struct emu_cm_av *av, const struct emu_cm_path *p)
{
	memcpy(av->local_gid, p->sgid, sizeof(av->local_gid));
	memcpy(av->remote_gid, p->dgid, sizeof(av->remote_gid));
	av->subnet_local = p->hop_limit <= 1;
	av->local_lid = av->remote_lid = av->subnet_local ? 0 : 0xffff;
	av->flow_label = p->flow_label;
	av->rate = p->rate;
	av->traffic_class = p->traffic_class;
	av->hop_limit = p->hop_limit;
	av->sl = p->sl;
	av->ack_timeout = emu_cm_ack_timeout(EMU_CM_ACK_DELAY, p->packet_life_time);
}

static void format_req(const struct emu_cm_conn *c, const struct emu_cm_req_param *p,
		       struct emu_cm_msg *m)
{
	emu_cm_begin(c, m, EMU_CM_REQ);
	m->attr_mod = p->ece_attr_mod;
	m->vendor_id = p->ece_vendor_id;
	m->service_id = p->service_id;
	m->ca_guid = c->cm->ops->guid(c->cm->ctx, c->path.port);
	m->qpn = p->qpn;
	m->psn = p->psn;
	m->initiator_depth = p->initiator_depth;
	m->remote_response_timeout = p->remote_response_timeout;
	m->local_response_timeout = p->local_response_timeout;
	m->flow_control = p->flow_control;
	m->max_cm_retries = p->max_cm_retries;
	m->pkey = c->path.pkey;
	m->mtu = c->path.mtu;
	set_transport(m, p->qp_type);
	set_av(&m->primary, &c->path);
	if (p->qp_type == IB_UVERBS_QPT_XRC_INI)
		return; /* these are the target's */
	m->responder_resources = p->responder_resources;
	m->retry_count = p->retry_count;
	m->rnr_retry_count = p->rnr_retry_count;
	m->srq = p->srq;
}

int emu_cm_send_req(struct emu_cm_conn *c, const struct emu_cm_path *path,
		    const struct emu_cm_req_param *p, const void *data, size_t len)
{
	struct emu_cm_msg m;

	if (c->state != EMU_CM_IDLE || !fits(EMU_CM_REQ, len))
		return -EINVAL;
	if (p->qp_type != IB_UVERBS_QPT_RC && p->qp_type != IB_UVERBS_QPT_UC &&
	    p->qp_type != IB_UVERBS_QPT_XRC_INI)
		return -EINVAL;
	c->path = *path;
	c->service_id = p->service_id;
	c->remote_id = 0;
	c->ack_timeout = path->packet_life_time + 1;
	c->timeout = 2 * emu_cm_ms(path->packet_life_time) + emu_cm_ms(p->remote_response_timeout);
	c->max_retries = p->max_cm_retries;
	c->initiator_depth = p->initiator_depth;
	c->responder_resources = p->responder_resources;
	c->retry_count = p->retry_count;
	c->qp_type = p->qp_type;
	c->local_qpn = p->qpn & 0xffffff;
	c->rq_psn = p->psn & 0xffffff;
	c->tid = emu_cm_own_tid(c);
	format_req(c, p, &m);
	set_private(&m, data, len);
	c->state = EMU_CM_REQ_SENT;
	emu_cm_post_request(c, &m);
	return 0;
}

int emu_cm_send_rep(struct emu_cm_conn *c, const struct emu_cm_rep_param *p, const void *data,
		    size_t len)
{
	bool xrc = c->qp_type == IB_UVERBS_QPT_XRC_TGT;
	struct emu_cm_msg m;

	if ((c->state != EMU_CM_REQ_RCVD && c->state != EMU_CM_MRA_REQ_SENT) ||
	    !fits(EMU_CM_REP, len))
		return -EINVAL;
	emu_cm_begin(c, &m, EMU_CM_REP);
	m.attr_mod = p->ece_attr_mod;
	m.vendor_id = p->ece_vendor_id;
	m.psn = p->psn;
	m.responder_resources = p->responder_resources;
	m.target_ack_delay = EMU_CM_ACK_DELAY;
	m.failover = p->failover;
	m.rnr_retry_count = p->rnr_retry_count;
	m.ca_guid = c->cm->ops->guid(c->cm->ctx, c->path.port);
	m.qpn = xrc ? 0 : p->qpn;
	m.eecn = xrc ? p->qpn : 0;
	m.initiator_depth = xrc ? 0 : p->initiator_depth;
	m.flow_control = xrc ? 0 : p->flow_control;
	m.srq = xrc ? 1 : p->srq;
	set_private(&m, data, len);
	c->initiator_depth = p->initiator_depth;
	c->responder_resources = p->responder_resources;
	c->rq_psn = p->psn & 0xffffff;
	c->local_qpn = p->qpn & 0xffffff;
	c->state = EMU_CM_REP_SENT;
	emu_cm_post_request(c, &m);
	return 0;
}

int emu_cm_send_rtu(struct emu_cm_conn *c, const void *data, size_t len)
{
	struct emu_cm_msg m;

	if ((c->state != EMU_CM_REP_RCVD && c->state != EMU_CM_MRA_REP_SENT) ||
	    !fits(EMU_CM_RTU, len))
		return -EINVAL;
	emu_cm_begin(c, &m, EMU_CM_RTU);
	set_private(&m, data, len);
	c->state = EMU_CM_ESTABLISHED;
	emu_cm_post_reply(c, &m);
	return 0;
}

static bool is_rejectable(enum emu_cm_state s)
{
	return s >= EMU_CM_REQ_SENT && s < EMU_CM_ESTABLISHED;
}

static enum emu_cm_answered what_is_answered(enum emu_cm_state s)
{
	if (s == EMU_CM_REQ_RCVD || s == EMU_CM_MRA_REQ_SENT)
		return EMU_CM_OF_REQ;
	return s == EMU_CM_REP_RCVD || s == EMU_CM_MRA_REP_SENT ? EMU_CM_OF_REP : EMU_CM_OF_OTHER;
}

int emu_cm_send_rej(struct emu_cm_conn *c, enum emu_cm_reason reason, const void *info,
		    size_t info_len, const void *data, size_t len)
{
	struct emu_cm_msg m;

	if (!is_rejectable(c->state) || !fits(EMU_CM_REJ, len) || info_len > EMU_CM_MAX_INFO)
		return -EINVAL;
	emu_cm_begin(c, &m, EMU_CM_REJ);
	if (c->state == EMU_CM_REQ_RCVD)
		m.local_id = 0;
	m.answered = what_is_answered(c->state);
	m.reason = reason;
	m.info_len = (uint8_t)info_len;
	if (info_len)
		memcpy(m.info, info, info_len);
	set_private(&m, data, len);
	if (c->state == EMU_CM_REP_SENT || c->state == EMU_CM_MRA_REP_RCVD)
		emu_cm_enter_timewait(c);
	else
		emu_cm_reset_to_idle(c);
	emu_cm_post(c->cm, &c->path, &m);
	return 0;
}

int emu_cm_send_mra(struct emu_cm_conn *c, uint8_t timeout, bool delay, const void *data,
		    size_t len)
{
	bool of_req = c->state == EMU_CM_REQ_RCVD;
	struct emu_cm_msg m;

	if ((!of_req && c->state != EMU_CM_REP_RCVD) || !fits(EMU_CM_MRA, len))
		return -EINVAL;
	emu_cm_begin(c, &m, EMU_CM_MRA);
	m.answered = of_req ? EMU_CM_OF_REQ : EMU_CM_OF_REP;
	m.service_timeout = timeout;
	set_private(&m, data, len);
	c->state = of_req ? EMU_CM_MRA_REQ_SENT : EMU_CM_MRA_REP_SENT;
	if (delay)
		emu_cm_encode(&m, c->reply);
	else
		emu_cm_post_reply(c, &m);
	return 0;
}

int emu_cm_send_dreq(struct emu_cm_conn *c, const void *data, size_t len)
{
	struct emu_cm_msg m;

	if (c->state != EMU_CM_ESTABLISHED || !fits(EMU_CM_DREQ, len))
		return -EINVAL;
	emu_cm_begin(c, &m, EMU_CM_DREQ);
	m.tid = emu_cm_own_tid(c);
	m.remote_qpn = c->remote_qpn;
	set_private(&m, data, len);
	c->user_established = false;
	c->state = EMU_CM_DREQ_SENT;
	emu_cm_post_request(c, &m);
	return 0;
}

int emu_cm_send_drep(struct emu_cm_conn *c, const void *data, size_t len)
{
	struct emu_cm_msg m;

	if (c->state != EMU_CM_DREQ_RCVD || !fits(EMU_CM_DREP, len))
		return -EINVAL;
	emu_cm_begin(c, &m, EMU_CM_DREP);
	set_private(&m, data, len);
	emu_cm_enter_timewait(c);
	emu_cm_post_reply(c, &m);
	return 0;
}

int emu_cm_notify_established(struct emu_cm_conn *c)
{
	if (c->state == EMU_CM_ESTABLISHED)
		return -EISCONN;
	if (c->state != EMU_CM_REP_SENT && c->state != EMU_CM_MRA_REP_RCVD)
		return -EINVAL;
	c->state = EMU_CM_ESTABLISHED;
	c->user_established = true;
	emu_cm_set_deadline(c, 0);
	return 0;
}

int emu_cm_send_sidr_req(struct emu_cm_conn *c, const struct emu_cm_path *path, uint64_t service_id,
			 unsigned int timeout_ms, uint8_t max_cm_retries, const void *data,
			 size_t len)
{
	struct emu_cm_msg m;

	if (c->state != EMU_CM_IDLE || !fits(EMU_CM_SIDR_REQ, len))
		return -EINVAL;
	c->path = *path;
	c->service_id = service_id;
	c->remote_id = 0;
	c->timeout = timeout_ms ? timeout_ms : 1;
	c->max_retries = max_cm_retries;
	c->tid = emu_cm_own_tid(c);
	emu_cm_begin(c, &m, EMU_CM_SIDR_REQ);
	m.pkey = path->pkey;
	m.service_id = service_id;
	set_private(&m, data, len);
	c->state = EMU_CM_SIDR_REQ_SENT;
	emu_cm_post_request(c, &m);
	return 0;
}

int emu_cm_send_sidr_rep(struct emu_cm_conn *c, const struct emu_cm_sidr_rep_param *p,
			 const void *data, size_t len)
{
	struct emu_cm_msg m;

	if (c->state != EMU_CM_SIDR_REQ_RCVD || !fits(EMU_CM_SIDR_REP, len))
		return -EINVAL;
	emu_cm_begin(c, &m, EMU_CM_SIDR_REP);
	m.local_id = c->remote_id; /* the requester's */
	m.attr_mod = p->ece_attr_mod;
	m.vendor_id = p->ece_vendor_id;
	m.status = p->status;
	m.qpn = p->qpn;
	m.qkey = p->qkey;
	m.service_id = c->service_id;
	set_private(&m, data, len);
	emu_cm_reset_to_idle(c);
	emu_cm_post(c->cm, &c->path, &m);
	return 0;
}
