/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/engine/datagram.h"

#include <string.h>

#include "emu/engine/count.h"
#include "emu/engine/fault.h"
#include "emu/engine/memory/access.h"
#include "emu/engine/memory/wire.h"
#include "emu/engine/net.h"
#include "emu/engine/receive.h"
#include "emu/engine/state.h"
#include "emu/engine/ud.h"
#include "emu/ipc/group.h"
#include "emu/wire/datagram.h"
#include "emu/wire/psn.h"

#define ROCE_V2		2u
#define SOLICITED	0x02u /* in fm_ce_se */
#define CONTROLLED_QKEY 0x80000000u

uint32_t emu_datagram_route(const struct engine *e, const struct emu_qp *q, const struct emu_av *av)
{
	const struct emu_gid *from =
		&e->cfg.tables->port[q->func % EMU_MAX_FUNCS].gid[av->sgid_index];

	if (!e->net.num_endpoints || emu_gid_is_group(av->dgid) ||
	    !atomic_load_explicit(&from->serial, memory_order_acquire) || from->type != ROCE_V2 ||
	    from->vlan != EMU_NO_VLAN)
		return EMU_MAX_ENDPOINTS;
	if (!e->cfg.tables->wire_forced && emu_ud_is_local(e, av->dgid))
		return EMU_MAX_ENDPOINTS;
	return emu_net_find(e, q->func, from->raw);
}

enum emu_syndrome emu_datagram_send(struct engine *e, uint32_t qpn, const struct emu_wqe *w,
				    uint32_t endpoint)
{
	const struct emu_qp *q = &e->cfg.queues->qp[qpn];
	const struct emu_domain here = {q->func, q->pdn, EMU_LR, e->memory.pid, qpn};
	struct wire_path path = {
		.tclass = w->av.tclass,
		.hop_limit = w->av.hop_limit,
		.flow_label = w->av.flow,
	};
	struct wire_datagram d = {
		.src_qpn = qpn,
		.dest_qpn = w->av.qpn & WIRE_QPN_MASK,
		.qkey = w->av.qkey & CONTROLLED_QKEY ? q->qkey : w->av.qkey,
		.psn = e->datagrams.psn,
		.imm = emu_get32((const uint8_t *)&w->imm),
		.pkey = atomic_load(&q->pkey),
		.has_imm = w->opcode == EMU_WQE_SEND_IMM,
		.solicited = w->flags & SOLICITED,
		.len = (uint32_t)w->len,
	};
	uint8_t *out = emu_net_reserve(e);
	size_t head = wire_datagram_build(&d, out);

	if (!emu_sge_read(&e->memory, &here, w->sge, w->nsge, 0, out + head, d.len))
		return EMU_SYN_LOC_PROT;
	if (e->pass.data_rule)
		emu_fault_packet(e, q->func, out + head, d.len);
	memcpy(path.src, e->cfg.tables->endpoint[endpoint].addr, sizeof(path.src));
	memcpy(path.dst, w->av.dgid, sizeof(path.dst));
	e->datagrams.psn = wire_psn_add(e->datagrams.psn, 1);
	emu_net_send(e, qpn, endpoint, &path, wire_path_sport(w->av.flow, qpn, d.dest_qpn),
		     head + d.len);
	return EMU_SYN_OK;
}

static enum wire_drop check(struct engine *e, const struct emu_qp *q, uint32_t qpn,
			    const struct wire_packet *p)
{
	uint32_t state = atomic_load(&q->state);
	enum wire_drop drop = wire_datagram_check(p, qpn, q->qkey, atomic_load(&q->pkey));

	if (state < EMU_QPS_RTR || state > EMU_QPS_SQE)
		return WIRE_DROP_STATE;
	if (drop == WIRE_DROP_PKEY)
		emu_count_violation(e, q, EMU_COUNTER_bad_pkey_cntr);
	if (drop == WIRE_DROP_QKEY)
		emu_count_violation(e, q, EMU_COUNTER_qkey_viol_cntr);
	return drop;
}

/* The first 40 bytes of a receive: an IPv6 header, or 20 bytes and an IPv4 header (IBA 11.4.1.2, A17.4.2). */
static void put_header(const struct wire_path *from, const struct wire_packet *p,
		       uint8_t area[EMU_GRH])
{
	size_t len = wire_header_bytes(p->opcode) + ((p->len + 3u) & ~3u) + WIRE_ICRC;
	uint8_t head[WIRE_PATH_MAX];
	size_t n = wire_path_network(from, len, head);

	memset(area, 0, EMU_GRH);
	memcpy(area + EMU_GRH - n, head, n);
}

static bool fill(const struct emu_receiver *r, const struct emu_wqe *w, const uint8_t *area,
		 const struct wire_packet *p)
{
	struct emu_domain here = {r->q->func, r->q->pdn, EMU_LW, r->e->memory.pid, r->qpn};

	if (r->srq)
		here.pdn = r->srq->pdn;
	return emu_sge_write(&r->e->memory, &here, w->sge, w->nsge, 0, area, EMU_GRH) &&
	       emu_sge_write(&r->e->memory, &here, w->sge, w->nsge, EMU_GRH, p->payload, p->len);
}

static void push(const struct emu_receiver *r, const uint8_t *area, const struct wire_packet *p)
{
	struct emu_cqe cqe = {
		.opcode = EMU_CQE_RESP_SEND,
		.solicited = p->solicited,
		.src_qpn = p->src_qpn,
		.net = emu_ud_network(area),
		.byte_cnt = p->len + EMU_GRH,
	};

	if (p->op.headers & WIRE_H_IMM) {
		cqe.opcode = EMU_CQE_RESP_SEND_IMM;
		emu_put32((uint8_t *)&cqe.imm, p->imm);
	}
	emu_count_datagram(r->e, r->q, p->len, false);
	emu_receiver_push(r, &cqe);
}

enum wire_drop emu_datagram_input(struct engine *e, uint32_t qpn, const struct wire_path *from,
				  const struct wire_packet *p)
{
	struct emu_qp *q = &e->cfg.queues->qp[qpn];
	struct emu_receiver r = {.e = e, .q = q, .qpn = qpn, .run = &e->qp_run[qpn]};
	enum wire_drop drop = check(e, q, qpn, p);
	uint8_t area[EMU_GRH];
	struct emu_wqe w;

	if (drop != WIRE_ACCEPTED)
		return drop;
	/* A datagram of this emulator's own is being received. */
	if (r.run->rx_srqn || !emu_receiver_find(&r, 0) || emu_receiver_frozen(&r) ||
	    !emu_receiver_take(&r, &w)) {
		emu_count_violation(e, q, EMU_COUNTER_out_of_buffer);
		return WIRE_DROP_NO_RECEIVE;
	}
	if (p->len + EMU_GRH > w.len) {
		emu_receiver_put_back(&r);
		return WIRE_DROP_LENGTH;
	}
	put_header(from, p, area);
	if (fill(&r, &w, area, p)) {
		push(&r, area, p);
		return WIRE_ACCEPTED;
	}
	if (emu_engine_qp_fail(q))
		emu_receiver_push_error(&r, EMU_SYN_LOC_PROT);
	return WIRE_DROP_REFUSED;
}
