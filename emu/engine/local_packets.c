/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/engine/local_packets.h"

#include <string.h>

#include "emu/engine/capture.h"
#include "emu/engine/conn.h"
#include "emu/engine/datagram.h"
#include "emu/engine/memory/access.h"
#include "emu/engine/memory/wire.h"
#include "emu/ipc/gid.h"
#include "emu/ipc/group.h"
#include "emu/ipc/path_mtu.h"
#include "emu/wire/aeth.h"
#include "emu/wire/icrc.h"
#include "emu/wire/psn.h"
#include "emu/wire/requester.h"

#define ROCE_V2		2u
#define SOLICITED	0x02u /* in fm_ce_se */
#define CONTROLLED_QKEY 0x80000000u
#define HOP_LIMIT	64u
#define SHOWN		16u /* packets of a long message, before the last one */

struct transfer {
	struct engine *e;
	const struct emu_qp *q;
	struct emu_qp_run *run;
	const struct emu_wqe *w;
	struct emu_domain here;
	enum wire_service service;
	enum wire_work work;
	uint32_t qpn, mtu, packets, psn;
	struct wire_path to, back;
	struct emu_note_packet n;
};

/* --- addresses -------------------------------------------------------------------------------- */

/* The first GID of a port for RoCE v2 without a VLAN, of this version of IP. */
static bool find_gid(const struct engine *e, uint32_t func, bool ipv4, uint8_t out[16])
{
	const struct emu_port *port = &e->cfg.tables->port[func];
	uint32_t high = atomic_load(&port->gid_high), i;
	const struct emu_gid *g;

	for (i = 0; i < high && i < EMU_MAX_GIDS; i++) {
		g = &port->gid[i];
		if (atomic_load_explicit(&g->serial, memory_order_acquire) && g->type == ROCE_V2 &&
		    g->vlan == EMU_NO_VLAN && emu_gid_is_ipv4(g->raw) == ipv4) {
			memcpy(out, g->raw, sizeof(g->raw));
			return true;
		}
	}
	return false;
}

/* Engines do not know the GIDs that a connection uses, only the functions. */
static bool find_connection(struct transfer *t)
{
	uint32_t here = t->q->func, there = t->n.peer_func;

	t->to.hop_limit = HOP_LIMIT;
	return (find_gid(t->e, here, true, t->to.src) && find_gid(t->e, there, true, t->to.dst)) ||
	       (find_gid(t->e, here, false, t->to.src) && find_gid(t->e, there, false, t->to.dst));
}

static bool find_datagram(struct transfer *t)
{
	const struct emu_av *av = &t->w->av;
	const struct emu_gid *from = &t->e->cfg.tables->port[t->q->func].gid[av->sgid_index];

	if (emu_datagram_route(t->e, t->q, av) < EMU_MAX_ENDPOINTS ||
	    !atomic_load_explicit(&from->serial, memory_order_acquire))
		return false;
	memcpy(t->to.src, from->raw, sizeof(t->to.src));
	memcpy(t->to.dst, av->dgid, sizeof(t->to.dst));
	t->to.tclass = av->tclass;
	t->to.hop_limit = av->hop_limit;
	t->to.flow_label = av->flow;
	return true;
}

/* False: its packets are not of this emulator, or no address says where they go. */
static bool find_path(struct transfer *t)
{
	uint32_t dest_qpn = t->q->type == EMU_QPT_UD ? t->w->av.qpn : t->q->dest_qpn;
	bool found;

	if (t->n.func >= EMU_MAX_FUNCS)
		return false;
	if (t->q->type == EMU_QPT_UD)
		found = find_datagram(t);
	else
		found = t->n.peer_func < EMU_MAX_FUNCS && find_connection(t);
	t->to.dport = WIRE_PORT;
	t->to.sport = wire_path_sport(t->to.flow_label, t->qpn, dest_qpn & WIRE_QPN_MASK);
	t->back = t->to;
	memcpy(t->back.src, t->to.dst, sizeof(t->back.src));
	memcpy(t->back.dst, t->to.src, sizeof(t->back.dst));
	return found;
}

/* --- packets ---------------------------------------------------------------------------------- */

/* With `p->len` bytes of the request's local memory from `at` on. */
static void emit(struct transfer *t, const struct wire_packet *p, const struct wire_path *path,
		 uint32_t flags, uint64_t at)
{
	struct emu_note_packet *n = &t->n;
	size_t head = wire_build(p, n->bytes);

	n->flags = EMU_PACKET_LOCAL | EMU_PACKET_WR | flags;
	if (p->len && !emu_sge_read(&t->e->memory, &t->here, t->w->sge, t->w->nsge, at,
				    n->bytes + head, p->len)) {
		memset(n->bytes + head, 0, p->len);
		n->flags |= EMU_PACKET_BLANK;
	}
	n->len = n->kept = (uint32_t)wire_seal(path, n->bytes, head + p->len);
	emu_capture_path(n, path);
	emu_capture_send(t->e, n);
}

static struct wire_packet describe(const struct transfer *t, uint8_t operation, uint32_t index)
{
	return (struct wire_packet){
		.opcode = (uint8_t)((uint8_t)t->service | operation),
		.migrated = true,
		.pkey = atomic_load(&t->q->pkey),
		.psn = wire_psn_add(t->psn, index),
	};
}

static bool has_response(const struct transfer *t)
{
	return t->work >= WIRE_WORK_READ;
}

static uint32_t part_of(const struct transfer *t, uint32_t index)
{
	uint64_t left = t->w->len - (uint64_t)index * t->mtu;

	return left < t->mtu ? (uint32_t)left : t->mtu;
}

static void emit_request(struct transfer *t, uint32_t index)
{
	const struct emu_wqe *w = t->w;
	bool last = has_response(t) || index + 1 == t->packets;
	struct wire_packet p = describe(
		t, wire_operation_of(t->work, index, has_response(t) ? 1 : t->packets), index);

	p.dest_qpn = t->q->dest_qpn;
	if (t->service == WIRE_UD) {
		p.dest_qpn = w->av.qpn & WIRE_QPN_MASK;
		p.qkey = w->av.qkey & CONTROLLED_QKEY ? t->q->qkey : w->av.qkey;
		p.src_qpn = t->qpn;
	}
	p.srqn = w->srqn;
	p.va = w->raddr;
	p.rkey = w->rkey;
	p.dma_len = (uint32_t)w->len;
	p.swap_add = w->operand[0];
	p.compare = w->operand[1];
	p.imm = emu_get32((const uint8_t *)&w->imm);
	p.invalidate = p.imm;
	p.len = has_response(t) ? 0 : part_of(t, index);
	p.solicited = last && !has_response(t) && w->flags & SOLICITED;
	p.ack_req = last && !has_response(t) && emu_qp_reliable(t->q);
	emit(t, &p, &t->to, EMU_PACKET_SENT, (uint64_t)index * t->mtu);
}

static struct wire_packet answer(const struct transfer *t, uint8_t operation, uint32_t index)
{
	struct wire_packet p = describe(t, operation, index);

	p.dest_qpn = t->qpn;
	p.syndrome = WIRE_ACK_UNLIMITED;
	p.msn = t->run->shown_messages & WIRE_PSN_MASK;
	return p;
}

static void emit_read_response(struct transfer *t, uint32_t index)
{
	uint8_t operation = WIRE_READ_MIDDLE;
	struct wire_packet p;

	if (t->packets == 1)
		operation = WIRE_READ_ONLY;
	else if (!index)
		operation = WIRE_READ_FIRST;
	else if (index + 1 == t->packets)
		operation = WIRE_READ_LAST;
	p = answer(t, operation, index);
	p.len = part_of(t, index);
	emit(t, &p, &t->back, 0, (uint64_t)index * t->mtu);
}

static void emit_message(struct transfer *t,
			 void (*emit_packet)(struct transfer *t, uint32_t index))
{
	for (uint32_t i = 0; i < t->packets; i++) {
		bool gap = i + 1 == SHOWN && t->packets > SHOWN + 1;

		t->n.left_out = gap ? t->packets - SHOWN - 1 : 0;
		emit_packet(t, i);
		if (gap)
			i = t->packets - 2;
	}
}

/* The result is in host order in the request's memory (atomic endianness mode 1). */
static void emit_atomic_answer(struct transfer *t)
{
	struct wire_packet p = answer(t, WIRE_ATOMIC_ACK, 0);

	(void)emu_sge_read(&t->e->memory, &t->here, t->w->sge, t->w->nsge, 0,
			   (uint8_t *)&p.original, sizeof(p.original));
	emit(t, &p, &t->back, 0, 0);
}

static void emit_ack(struct transfer *t, uint8_t syndrome, uint32_t index)
{
	struct wire_packet p = answer(t, WIRE_ACK, index);

	p.syndrome = syndrome;
	emit(t, &p, &t->back, 0, 0);
}

static void emit_success(struct transfer *t)
{
	t->run->shown_messages++;
	if (t->work == WIRE_WORK_READ) {
		emit_request(t, 0);
		emit_message(t, emit_read_response);
	} else if (has_response(t)) {
		emit_request(t, 0);
		emit_atomic_answer(t);
	} else {
		emit_message(t, emit_request);
		if (emu_qp_reliable(t->q))
			emit_ack(t, WIRE_ACK_UNLIMITED, t->packets - 1);
	}
}

/* The NAK for an error of the responder; 0: there is no answer. */
static uint8_t nak_of(const struct transfer *t, uint32_t syndrome)
{
	const struct emu_qp *peer = &t->e->cfg.queues->qp[t->q->dest_qpn % EMU_MAX_QPS];

	switch (syndrome) {
	case EMU_SYN_REM_INV_REQ:
		return WIRE_NAK_REQUEST;
	case EMU_SYN_REM_ACCESS:
		return WIRE_NAK_ACCESS;
	case EMU_SYN_REM_OP:
		return WIRE_NAK_OPERATION;
	case EMU_SYN_RNR_RETRY:
		return (uint8_t)(WIRE_RNR | WIRE_SYNDROME_VALUE(peer->min_rnr_timer));
	default:
		return 0;
	}
}

/* The first packet stands for all, and for those of all retries. */
static void emit_failure(struct transfer *t, uint32_t syndrome)
{
	uint8_t nak = nak_of(t, syndrome);

	t->n.left_out = has_response(t) ? 0 : t->packets - 1;
	emit_request(t, 0);
	t->n.left_out = 0;
	if (nak)
		emit_ack(t, nak, 0);
}

static enum wire_service service_of(const struct emu_qp *q)
{
	switch (q->type) {
	case EMU_QPT_UC:
		return WIRE_UC;
	case EMU_QPT_UD:
		return WIRE_UD;
	case EMU_QPT_XRC_INI:
		return WIRE_XRC;
	default:
		return WIRE_RC;
	}
}

/* Other errors are those of the requester, which sends nothing. */
static bool leaves_requester(uint32_t syndrome)
{
	return syndrome == EMU_SYN_OK || syndrome == EMU_SYN_REM_INV_REQ ||
	       syndrome == EMU_SYN_REM_ACCESS || syndrome == EMU_SYN_REM_OP ||
	       syndrome == EMU_SYN_RETRY || syndrome == EMU_SYN_RNR_RETRY;
}

/* `peer_func` of a datagram: whose port has the address. */
static uint32_t func_of(const struct engine *e, const uint8_t gid[16])
{
	for (uint32_t i = 0; i < EMU_MAX_FUNCS && !emu_gid_is_group(gid); i++) {
		const struct emu_port *port = &e->cfg.tables->port[i];
		uint32_t high = atomic_load(&port->gid_high);

		for (uint32_t j = 0; j < high && j < EMU_MAX_GIDS; j++)
			if (atomic_load_explicit(&port->gid[j].serial, memory_order_acquire) &&
			    !memcmp(port->gid[j].raw, gid, sizeof(port->gid[j].raw)))
				return i;
	}
	return EMU_NOWHERE;
}

static void begin(struct transfer *t, uint32_t qpn)
{
	const struct emu_qp *q = &t->e->cfg.queues->qp[qpn];

	t->q = q;
	t->qpn = qpn;
	t->run = &t->e->qp_run[qpn];
	t->here = (struct emu_domain){q->func, q->pdn, t->work >= WIRE_WORK_READ ? EMU_LW : EMU_LR,
				      t->e->memory.pid, qpn};
	t->service = service_of(q);
	t->mtu = q->type == EMU_QPT_UD ? WIRE_MAX_MTU : emu_mtu_bytes(q->mtu);
	t->packets = 1;
	if (t->work <= WIRE_WORK_READ && t->w->len)
		t->packets = (uint32_t)((t->w->len + t->mtu - 1) / t->mtu);
	t->psn = wire_psn_add(q->sq_psn, t->run->shown_packets);
	t->n.note = (struct emu_note){EMU_NOTE_PACKET, qpn, t->run->serial, 0};
	t->n.total = t->w->len;
	t->n.work = (uint8_t)t->work;
	t->n.wqe = t->run->sq_ci;
	t->n.func = q->func;
	t->n.peer_func =
		q->type == EMU_QPT_UD ? func_of(t->e, t->w->av.dgid) : atomic_load(&q->dest_func);
}

void emu_local_packets(struct engine *e, uint32_t qpn, const struct emu_wqe *w, uint32_t syndrome)
{
	struct transfer t;
	uint8_t work;

	if (!leaves_requester(syndrome) || !emu_conn_work(w->opcode, &work) ||
	    e->cfg.queues->qp[qpn].type == EMU_QPT_DCI) /* its packets are not published */
		return;
	memset(&t, 0, offsetof(struct transfer, n.bytes));
	t.e = e;
	t.w = w;
	t.work = (enum wire_work)work;
	begin(&t, qpn);
	if (!find_path(&t))
		return;
	if (syndrome == EMU_SYN_OK)
		emit_success(&t);
	else
		emit_failure(&t, syndrome);
	t.run->shown_packets = wire_psn_add(t.run->shown_packets, t.packets);
}
