/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* States and order of events as in the kernel's cma.c: cma_ib_handler(), cma_ib_req_handler(). */
#include "emu/server/ucma/connect.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/server/ucma/address.h"
#include "emu/server/ucma/command.h"
#include "emu/server/ucma/event.h"
#include "emu/server/ucma/file.h"
#include "emu/server/ucma/header.h"
#include "emu/server/ucma/id.h"
#include "emu/server/ucma/ports.h"

#define MAX_BACKLOG	 1024u /* net.rdma_ucm.max_backlog */
#define RESPONSE_TIMEOUT 20u
#define MAX_RETRIES	 15u
#define SIDR_TIMEOUT_MS	 (1u << (RESPONSE_TIMEOUT - 8))
#define MRA_TIMEOUT	 24u
#define QPN_MASK	 0xffffffu
#define COMM_EST	 4u /* enum ib_event_type */

/* enum ib_qp_type */
#define QPT_RC	    2
#define QPT_UC	    3
#define QPT_UD	    4
#define QPT_XRC_TGT 10

/* --- listeners -------------------------------------------------------------------------------- */

static bool accepts_address(const struct emu_cma_id *l, const struct sockaddr_storage *to)
{
	bool any = emu_addr_is_any(&l->src);

	if (l->src.ss_family == AF_IB || (any && !l->afonly))
		return true;
	if (l->src.ss_family != to->ss_family)
		return false;
	return any || emu_addr_equal(&l->src, to);
}

/* The listener on a service ID at a port. `to`: the address that the request names; NULL: any. */
static struct emu_cma_id *listener_of(const struct emu_cma_machine *m, const struct emu_func *at,
				      uint64_t service_id, const struct sockaddr_storage *to)
{
	uint16_t ps = (uint16_t)(service_id >> 16), port = (uint16_t)service_id;
	struct emu_cma_id *l = NULL;

	while ((l = emu_cma_port_next(m, ps, port, l)))
		if (l->state == EMU_CMA_LISTEN && (!l->func || l->func == at) &&
		    (!to || accepts_address(l, to)))
			return l;
	return NULL;
}

bool emu_cma_listens(void *ctx, const struct emu_cm_path *path, uint64_t service_id)
{
	return listener_of(ctx, path->port, service_id, NULL);
}

int emu_cma_listen(const struct emu_cma_cmd *c)
{
	struct rdma_ucm_listen cmd;
	struct emu_cma_id *id;
	int err;

	err = emu_cma_in(c, &cmd, sizeof(cmd));
	if (!err)
		err = emu_cma_id_get(c->file, cmd.id, &id);
	if (err)
		return err;
	id->backlog = cmd.backlog && cmd.backlog <= MAX_BACKLOG ? cmd.backlog : MAX_BACKLOG;
	if (id->state != EMU_CMA_ADDR_BOUND)
		err = emu_cma_bind_any(id, c->pid);
	/* From now on the address must be its own. */
	if (!err && id->reuseaddr)
		err = emu_cma_port_check(id);
	if (err)
		return err;
	id->reuseaddr = false;
	id->state = EMU_CMA_LISTEN;
	return 0;
}

/* --- requests that arrive --------------------------------------------------------------------- */

static uint8_t type_of(const struct emu_cm_event *e)
{
	if (e->type == EMU_CM_SIDR_REQ_RECEIVED)
		return QPT_UD;
	switch (e->msg->transport) {
	case 0:
		return QPT_RC;
	case 1:
		return QPT_UC;
	default:
		return QPT_XRC_TGT;
	}
}

static void copy_data(uint8_t *to, uint8_t *len, const struct emu_cm_msg *m, size_t offset)
{
	size_t n = emu_cm_private_size(m->attr);

	*len = (uint8_t)(n - offset);
	memcpy(to, m->data + offset, n - offset);
}

/* The sender's resources are what the receiver may ask for, and the other way round. */
static void fill_conn(struct emu_cma_event *e, const struct emu_cm_msg *m, size_t offset)
{
	struct rdma_ucm_conn_param *p = &e->resp.param.conn;

	copy_data(p->private_data, &p->private_data_len, m, offset);
	if (m->attr != EMU_CM_REQ && m->attr != EMU_CM_REP)
		return;
	p->responder_resources = m->initiator_depth;
	p->initiator_depth = m->responder_resources;
	p->flow_control = m->flow_control;
	p->retry_count = m->retry_count;
	p->rnr_retry_count = m->rnr_retry_count;
	p->srq = m->srq;
	p->qp_num = m->qpn;
	e->resp.ece.vendor_id = m->vendor_id;
	e->resp.ece.attr_mod = m->attr_mod;
}

/* The ends of a connection whose listener has a GID for an address. */
static void name_gids(struct emu_cma_id *id, const struct emu_cm_path *path, uint64_t service_id)
{
	struct emu_sockaddr_ib *src = (struct emu_sockaddr_ib *)&id->src;
	struct emu_sockaddr_ib *dst = (struct emu_sockaddr_ib *)&id->dst;

	src->sib_family = dst->sib_family = AF_IB;
	src->sib_pkey = dst->sib_pkey = UINT16_MAX;
	memcpy(src->sib_addr, path->sgid, sizeof(src->sib_addr));
	memcpy(dst->sib_addr, path->dgid, sizeof(dst->sib_addr));
	src->sib_sid = htobe64(service_id);
	src->sib_sid_mask = UINT64_MAX;
}

struct request {
	struct emu_cma_id *listener;
	bool has_addresses;
	struct sockaddr_storage src, dst; /* as the listener sees them */
};

static int match(const struct emu_cma_machine *m, const struct emu_cm_event *e, struct request *r)
{
	uint64_t sid = e->msg->service_id;
	uint8_t type = type_of(e);

	r->has_addresses = emu_cma_header_read(e->msg->data, (uint16_t)sid, &r->src, &r->dst);
	r->listener = listener_of(m, e->path->port, sid, &r->src);
	if (!r->listener)
		return -EINVAL;
	if (r->listener->src.ss_family != AF_IB && !r->has_addresses)
		return -EINVAL;
	return r->listener->qp_type && r->listener->qp_type != type ? -EINVAL : 0;
}

static struct emu_cma_id *new_end(const struct request *r, const struct emu_cm_event *e)
{
	const struct emu_cma_id *l = r->listener;
	struct emu_cma_id *id = emu_cma_id_new(l->file, l->ps, type_of(e));

	if (!id)
		return NULL;
	id->reported = false;
	id->state = EMU_CMA_CONNECT;
	id->func = e->path->port;
	id->path = *e->path;
	id->has_path = id->qp_type != QPT_UD;
	if (l->src.ss_family == AF_IB) {
		name_gids(id, e->path, e->msg->service_id);
	} else {
		id->src = r->src;
		id->dst = r->dst;
	}
	return id;
}

static struct emu_cma_event *request_event(const struct request *r, const struct emu_cm_event *e,
					   struct emu_cma_id *id)
{
	struct emu_cma_event *ev = emu_cma_event_new(r->listener, EMU_CMA_EV_CONNECT_REQUEST, 0);
	size_t offset = emu_cma_header_size(&r->listener->src);
	struct rdma_ucm_ud_param *ud;

	if (!ev)
		return NULL;
	ev->fresh = id;
	ev->resp.id = id->number;
	if (id->qp_type == QPT_UD) {
		ud = &ev->resp.param.ud;
		copy_data(ud->private_data, &ud->private_data_len, e->msg, offset);
	} else {
		fill_conn(ev, e->msg, offset);
	}
	return ev;
}

/* A request beyond the backlog is forgotten, and its sender tries again. */
static int receive_request(const struct emu_cma_machine *m, struct emu_cm_conn *conn,
			   const struct emu_cm_event *e)
{
	struct emu_cma_event *ev;
	struct emu_cma_id *id;
	struct request r = {0};
	int err;

	err = match(m, e, &r);
	if (err)
		return err;
	id = r.listener->backlog ? new_end(&r, e) : NULL;
	if (!id)
		return -ENOMEM;
	ev = request_event(&r, e, id);
	if (!ev) {
		emu_cma_id_destroy(id);
		return -ENOMEM;
	}
	r.listener->backlog--;
	id->conn = conn;
	emu_cm_set_user(conn, id);
	emu_cma_queue(r.listener->file, ev);
	if (id->qp_type != QPT_UD)
		emu_cm_send_mra(conn, MRA_TIMEOUT, true, NULL, 0);
	return 0;
}

/* --- events of connections -------------------------------------------------------------------- */

static void report_with_data(struct emu_cma_id *id, enum emu_cma_event_type type, int status,
			     const struct emu_cm_msg *m)
{
	struct emu_cma_event *ev = emu_cma_event_new(id, type, status);

	if (ev && m)
		fill_conn(ev, m, 0);
	emu_cma_event_send(ev);
}

static void receive_sidr_rep(struct emu_cma_id *id, const struct emu_cm_msg *m)
{
	struct rdma_ucm_ud_param *ud;
	struct emu_cma_event *ev;

	ev = emu_cma_event_new(id, m->status ? EMU_CMA_EV_UNREACHABLE : EMU_CMA_EV_ESTABLISHED,
			       m->status);
	if (!ev)
		return;
	ud = &ev->resp.param.ud;
	copy_data(ud->private_data, &ud->private_data_len, m, 0);
	if (!m->status && id->qkey && m->qkey != id->qkey) {
		ev->resp.event = EMU_CMA_EV_ADDR_ERROR;
		ev->resp.status = (uint32_t)-EINVAL;
	} else if (!m->status) {
		id->qkey = m->qkey;
		ud->qp_num = m->qpn;
		ud->qkey = m->qkey;
		emu_cma_fill_ah(&ud->ah_attr, &id->path, id->path.dgid);
	}
	emu_cma_event_send(ev);
}

static void disconnected(struct emu_cma_id *id, int status)
{
	id->state = EMU_CMA_DISCONNECT;
	emu_cma_report(id, EMU_CMA_EV_DISCONNECTED, status);
}

static void in_connect(struct emu_cma_id *id, const struct emu_cm_event *e)
{
	switch (e->type) {
	case EMU_CM_REQ_ERROR:
	case EMU_CM_REP_ERROR:
	case EMU_CM_SIDR_REQ_ERROR:
		emu_cma_report(id, EMU_CMA_EV_UNREACHABLE, -ETIMEDOUT);
		break;
	case EMU_CM_REP_RECEIVED:
		emu_cm_send_mra(id->conn, MRA_TIMEOUT, true, NULL, 0);
		report_with_data(id, EMU_CMA_EV_CONNECT_RESPONSE, 0, e->msg);
		break;
	case EMU_CM_RTU_RECEIVED:
	case EMU_CM_USER_ESTABLISHED:
		emu_cma_report(id, EMU_CMA_EV_ESTABLISHED, 0);
		break;
	case EMU_CM_REJ_RECEIVED:
		report_with_data(id, EMU_CMA_EV_REJECTED, e->msg ? e->msg->reason : 0, e->msg);
		break;
	case EMU_CM_SIDR_REP_RECEIVED:
		receive_sidr_rep(id, e->msg);
		break;
	case EMU_CM_DREQ_ERROR:
		disconnected(id, -ETIMEDOUT);
		break;
	case EMU_CM_DREQ_RECEIVED:
	case EMU_CM_DREP_RECEIVED:
		disconnected(id, 0);
		break;
	default:
		break;
	}
}

int emu_cma_event(void *ctx, struct emu_cm_conn *conn, const struct emu_cm_event *e)
{
	struct emu_cma_id *id = emu_cm_user(conn);

	if (e->type == EMU_CM_REQ_RECEIVED || e->type == EMU_CM_SIDR_REQ_RECEIVED)
		return receive_request(ctx, conn, e);
	if (!id)
		return 0;
	if (id->state == EMU_CMA_CONNECT)
		in_connect(id, e);
	else if (id->state == EMU_CMA_DISCONNECT && e->type == EMU_CM_TIMEWAIT_EXIT)
		emu_cma_report(id, EMU_CMA_EV_TIMEWAIT_EXIT, 0);
	return 0;
}

void emu_cma_device_gone(const struct emu_func *f)
{
	for (struct emu_cma_file *file = emu_cma_files; file; file = file->next)
		for (struct emu_cma_id *id = file->ids; id; id = id->next) {
			if (id->func != f || id->state == EMU_CMA_REMOVED)
				continue;
			id->state = EMU_CMA_REMOVED;
			emu_cma_report(id, EMU_CMA_EV_DEVICE_REMOVAL, 0);
			if (id->conn)
				emu_cm_conn_destroy(id->conn);
			id->conn = NULL;
		}
}

/* --- commands --------------------------------------------------------------------------------- */

static void take_param(struct emu_cma_id *id, const struct rdma_ucm_conn_param *p)
{
	id->qpn = p->qp_num & QPN_MASK;
	id->srq = p->srq != 0;
}

static uint8_t at_most_7(uint8_t n)
{
	return n < 7 ? n : 7;
}

static int send_req(struct emu_cma_id *id, const struct rdma_ucm_conn_param *p, const void *data,
		    size_t len)
{
	const struct emu_cm_req_param req = {
		.service_id = emu_cma_service_id(id, &id->dst),
		.qpn = id->qpn,
		.psn = id->psn,
		.qp_type = id->qp_type,
		.responder_resources = p->responder_resources,
		.initiator_depth = p->initiator_depth,
		.flow_control = p->flow_control,
		.retry_count = at_most_7(p->retry_count),
		.rnr_retry_count = at_most_7(p->rnr_retry_count),
		.srq = id->srq,
		.local_response_timeout = RESPONSE_TIMEOUT,
		.remote_response_timeout = RESPONSE_TIMEOUT,
		.max_cm_retries = MAX_RETRIES,
		.ece_vendor_id = id->ece.vendor_id,
		.ece_attr_mod = id->ece.attr_mod,
	};

	if (id->qp_type == QPT_UD)
		return emu_cm_send_sidr_req(id->conn, &id->path, req.service_id, SIDR_TIMEOUT_MS,
					    MAX_RETRIES, data, len);
	return emu_cm_send_req(id->conn, &id->path, &req, data, len);
}

static int connect_id(struct emu_cma_id *id, const struct rdma_ucm_conn_param *p)
{
	uint8_t data[EMU_CMA_HEADER + UINT8_MAX] = {0};
	size_t offset = emu_cma_header_size(&id->src), len = offset + p->private_data_len;
	int err;

	if (id->state != EMU_CMA_ROUTE_RESOLVED || len > UINT8_MAX)
		return -EINVAL;
	if (offset)
		emu_cma_header_make(data, &id->src, &id->dst);
	memcpy(data + offset, p->private_data, p->private_data_len);
	take_param(id, p);
	id->conn = emu_cm_conn_new(id->machine->cm, id);
	if (!id->conn)
		return -ENOMEM;
	id->state = EMU_CMA_CONNECT;
	err = send_req(id, p, data, len);
	if (!err)
		return 0;
	emu_cm_conn_destroy(id->conn);
	id->conn = NULL;
	id->state = EMU_CMA_ROUTE_RESOLVED;
	return err;
}

/* The command has grown: older programs send no ECE. */
#define READ_GROWN(c, cmd, err)                                                      \
	do {                                                                         \
		size_t n_ = sizeof(*(cmd));                                          \
                                                                                     \
		memset((cmd), 0, n_);                                                \
		(err) = (c)->in < offsetof(__typeof__(*(cmd)), ece) ? -EINVAL : 0;   \
		if (!(err))                                                          \
			(err) = emu_cma_in((c), (cmd), (c)->in < n_ ? (c)->in : n_); \
		if (!(err) && (c)->in < n_)                                          \
			memset(&(cmd)->ece, 0, sizeof((cmd)->ece));                  \
	} while (0)

int emu_cma_connect(const struct emu_cma_cmd *c)
{
	struct rdma_ucm_connect cmd;
	struct emu_cma_id *id;
	int err;

	READ_GROWN(c, &cmd, err);
	if (!err && !cmd.conn_param.valid)
		err = -EINVAL;
	if (!err)
		err = emu_cma_id_get_dev(c->file, cmd.id, &id);
	if (err)
		return err;
	id->ece = cmd.ece;
	return connect_id(id, &cmd.conn_param);
}

static int reject_id(struct emu_cma_id *id, uint8_t reason, const void *data, size_t len)
{
	const struct emu_cm_sidr_rep_param refusal = {.status = EMU_CM_SIDR_REJECT};

	if (!id->conn)
		return -EINVAL;
	return id->qp_type == QPT_UD
		       ? emu_cm_send_sidr_rep(id->conn, &refusal, data, len)
		       : emu_cm_send_rej(id->conn, (enum emu_cm_reason)reason, NULL, 0, data, len);
}

static int accept_ud(struct emu_cma_id *id, const struct rdma_ucm_conn_param *p)
{
	struct emu_cm_sidr_rep_param rep = {
		.status = EMU_CM_SIDR_SUCCESS,
		.qpn = id->qpn,
		.ece_vendor_id = id->ece.vendor_id,
		.ece_attr_mod = id->ece.attr_mod,
	};

	if (p && id->src.ss_family == AF_IB && p->qkey) {
		if (id->qkey && id->qkey != p->qkey)
			return -EINVAL;
		id->qkey = p->qkey;
	}
	rep.qkey = emu_cma_qkey(id);
	return emu_cm_send_sidr_rep(id->conn, &rep, p ? p->private_data : NULL,
				    p ? p->private_data_len : 0);
}

static int accept_rc(struct emu_cma_id *id, const struct rdma_ucm_conn_param *p)
{
	const struct emu_cm_rep_param rep = {
		.qpn = id->qpn,
		.psn = id->psn,
		.responder_resources = p->responder_resources,
		.initiator_depth = p->initiator_depth,
		.flow_control = p->flow_control,
		.rnr_retry_count = at_most_7(p->rnr_retry_count),
		.srq = id->srq,
		.ece_vendor_id = id->ece.vendor_id,
		.ece_attr_mod = id->ece.attr_mod,
	};

	return emu_cm_send_rep(id->conn, &rep, p->private_data, p->private_data_len);
}

/* Without parameters the program of the active side says that its queue pair is ready. */
static int accept_id(struct emu_cma_id *id, const struct rdma_ucm_conn_param *p)
{
	int err;

	if (id->state != EMU_CMA_CONNECT || !id->conn)
		return -EINVAL;
	if (p)
		take_param(id, p);
	if (id->qp_type == QPT_UD)
		err = accept_ud(id, p);
	else
		err = p ? accept_rc(id, p) : emu_cm_send_rtu(id->conn, NULL, 0);
	if (err)
		reject_id(id, EMU_CM_REJ_CONSUMER_DEFINED, NULL, 0);
	return err;
}

int emu_cma_accept_id(const struct emu_cma_cmd *c)
{
	struct rdma_ucm_accept cmd;
	struct emu_cma_id *id;
	int err;

	READ_GROWN(c, &cmd, err);
	if (!err)
		err = emu_cma_id_get_dev(c->file, cmd.id, &id);
	if (err)
		return err;
	id->ece = cmd.ece;
	err = accept_id(id, cmd.conn_param.valid ? &cmd.conn_param : NULL);
	if (!err && cmd.conn_param.valid)
		id->uid = cmd.uid;
	return err;
}

int emu_cma_reject(const struct emu_cma_cmd *c)
{
	struct rdma_ucm_reject cmd;
	struct emu_cma_id *id;
	int err;

	err = emu_cma_in(c, &cmd, sizeof(cmd));
	if (err)
		return err;
	if (!cmd.reason)
		cmd.reason = EMU_CM_REJ_CONSUMER_DEFINED;
	if (cmd.reason != EMU_CM_REJ_CONSUMER_DEFINED &&
	    cmd.reason != EMU_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED)
		return -EINVAL;
	err = emu_cma_id_get_dev(c->file, cmd.id, &id);
	return err ? err : reject_id(id, cmd.reason, cmd.private_data, cmd.private_data_len);
}

/* Begin to disconnect, or answer the peer that began. */
int emu_cma_disconnect(const struct emu_cma_cmd *c)
{
	struct rdma_ucm_disconnect cmd;
	struct emu_cma_id *id;
	int err;

	err = emu_cma_in(c, &cmd, sizeof(cmd));
	if (!err)
		err = emu_cma_id_get_dev(c->file, cmd.id, &id);
	if (err)
		return err;
	if (!id->conn)
		return -EINVAL;
	if (emu_cma_let_send(c, id->qpn))
		return -EAGAIN;
	if (emu_cm_send_dreq(id->conn, NULL, 0))
		emu_cm_send_drep(id->conn, NULL, 0);
	return 0;
}

/* Data arrived before the RTU: only this event means something to a connection without a second path. */
int emu_cma_notify(const struct emu_cma_cmd *c)
{
	struct rdma_ucm_notify cmd;
	struct emu_cma_id *id;
	int err;

	err = emu_cma_in(c, &cmd, sizeof(cmd));
	if (!err)
		err = emu_cma_id_get(c->file, cmd.id, &id);
	if (err)
		return err;
	if (!id->func || !id->conn || cmd.event != COMM_EST)
		return -EINVAL;
	return emu_cm_notify_established(id->conn);
}
