/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * RDMA reads, RDMA writes and MMO copies are executed here, in chunks; all keys are checked again for
 * each chunk, so that revoking a key ends a long copy. Requests that need the responder's receive
 * queue, and atomics, go as a message into the responder QP's inbox.
 */
#include "emu/engine/send.h"

#include <string.h>

#include "base/clock.h"
#include "emu/engine/count.h"
#include "emu/engine/cq.h"
#include "emu/engine/datagram.h"
#include "emu/engine/fault.h"
#include "emu/engine/memory/copy.h"
#include "emu/engine/memory/maps.h"
#include "emu/engine/notes.h"
#include "emu/engine/page_fault.h"
#include "emu/engine/rq.h"
#include "emu/engine/srq.h"
#include "emu/engine/state.h"
#include "emu/engine/transform.h"
#include "emu/engine/ud.h"
#include "emu/engine/umr.h"
#include "emu/ipc/pkey.h"
#include "emu/wire/aeth.h"

#define SOLICITED 0x02u /* in fm_ce_se */
#define LOSS_NS	  10000000000ull
#define STUCK_NS  2000000000ull
/* A Q_Key with this bit in a WQE stands for the QP's own (IBA 10.2.5). */
#define CONTROLLED_QKEY 0x80000000u

static const struct emu_domain *local_domain(struct emu_send *s, uint32_t need)
{
	s->here.need = need;
	return &s->here;
}

/* What a request may access at the responder: with XRC its SRQ decides, not its QP (IBA A14.2). */
static bool domain_of(const struct emu_send *s, const struct emu_qp *p, uint32_t need,
		      struct emu_domain *d)
{
	const struct emu_srq *srq;

	*d = (struct emu_domain){p->func, p->pdn, need, 0, (uint32_t)(p - s->e->cfg.queues->qp)};
	if (p->type != EMU_QPT_XRC_TGT)
		return true;
	srq = emu_srq_of_xrc(s->e, p, s->w.srqn);
	if (srq)
		d->pdn = srq->pdn;
	return srq;
}

static uint8_t peer_type(uint8_t type)
{
	return type == EMU_QPT_XRC_INI ? EMU_QPT_XRC_TGT : type;
}

/* The peer QP, if it is connected to this one and able to answer. */
static struct emu_qp *find_connected(const struct emu_send *s)
{
	struct emu_qp *p;
	uint32_t state;

	if (s->q->dest_qpn >= EMU_MAX_QPS)
		return NULL;
	p = &s->e->cfg.queues->qp[s->q->dest_qpn];
	if (!atomic_load(&p->serial))
		return NULL;
	state = atomic_load(&p->state);
	if (state < EMU_QPS_RTR || state > EMU_QPS_SQE)
		return NULL;
	if (p->func != s->q->dest_func || p->type != peer_type(s->q->type) ||
	    p->dest_qpn != s->qpn || p->dest_func != s->q->func)
		return NULL;
	return p;
}

static bool is_silenced(const struct emu_send *s, const struct emu_qp *p)
{
	return s->e->pass.qp_faults && emu_fault_silences(s->q, p);
}

/*
 * The receiver drops packets of other partitions silently (IBA 9.6.1.1.3). The retries of a request
 * are not counted.
 */
static bool has_wrong_pkey(const struct emu_send *s, const struct emu_qp *p)
{
	if (emu_pkey_matches(atomic_load_explicit(&s->q->pkey, memory_order_relaxed),
			     atomic_load_explicit(&p->pkey, memory_order_relaxed)))
		return false;
	if (!s->run->wrong_pkey)
		emu_count_violation(s->e, p, EMU_COUNTER_bad_pkey_cntr);
	s->run->wrong_pkey = true;
	return true;
}

/* The QP that receives this one's packets, if any does. */
static struct emu_qp *find_peer(const struct emu_send *s)
{
	bool addressed = s->q->type == EMU_QPT_UD || s->q->type == EMU_QPT_DCI;
	struct emu_qp *p =
		addressed ? emu_ud_peer(s->e, s->q, &s->w.av, s->run->member) : find_connected(s);

	if (!p || is_silenced(s, p) || has_wrong_pkey(s, p))
		return NULL;
	if (!addressed && atomic_load(&p->state) == EMU_QPS_RTR)
		emu_engine_qp_established(s->e, p);
	return p;
}

/* A packet of an unreliable service without a receiver is lost: the sender does not wait. */
static bool is_lost(struct emu_send *s)
{
	uint64_t now = monotonic_ns();

	if (emu_qp_reliable(s->q))
		return false;
	if (!s->run->retry_end)
		s->run->retry_end = now + LOSS_NS;
	return now >= s->run->retry_end;
}

/* The peer does not take the request, however long the engines work. */
static int wait_barred(struct emu_send *s)
{
	s->run->barred = true;
	return EMU_STEP_WAIT;
}

/* Is the target in another emulator, or a card? No public document describes the packets of DC. */
static bool is_dc_on_wire(const struct emu_send *s)
{
	return s->q->type == EMU_QPT_DCI && !emu_ud_is_local(s->e, s->w.av.dgid) &&
	       emu_datagram_route(s->e, s->q, &s->w.av) < EMU_MAX_ENDPOINTS;
}

static int refuse_wire(const struct emu_send *s)
{
	const struct emu_note note = {
		.type = EMU_NOTE_DC_WIRE, .number = s->qpn, .serial = s->run->serial};

	emu_engine_event(s->e, &note);
	return EMU_SYN_LOC_QP_OP;
}

/* There is no answer, as if the packets were lost. */
static int unreachable(struct emu_send *s)
{
	uint64_t now = monotonic_ns();

	if (!emu_qp_reliable(s->q))
		return EMU_SYN_OK;
	if (is_dc_on_wire(s))
		return refuse_wire(s);
	if (!s->q->timeout)
		return wait_barred(s);
	if (!s->run->retry_end)
		s->run->retry_end =
			now + (4096ull << (s->q->timeout & 31)) * (s->q->retry_cnt + 1u);
	return now < s->run->retry_end ? wait_barred(s) : (int)EMU_SYN_RETRY;
}

/* An unreliable connection gets no answer from the responder. */
static int remote_error(const struct emu_send *s, enum emu_syndrome syndrome)
{
	return emu_qp_reliable(s->q) ? (int)syndrome : EMU_SYN_OK;
}

/* The first n bytes of `to` have arrived. */
static int advance(struct emu_send *s, const struct emu_seg_list *to, uint64_t n)
{
	if (s->e->pass.data_rule)
		emu_fault_data(s->e, s->q->func, to, n);
	s->run->done += n;
	s->moved += n;
	s->e->pass.worked = true;
	return s->run->done < s->w.len ? EMU_STEP_MORE : EMU_SYN_OK;
}

static uint64_t chunk(const struct emu_send *s)
{
	uint64_t left = s->w.len - s->run->done;

	return left < ENGINE_CHUNK ? left : ENGINE_CHUNK;
}

/* Only if it is cheap to find out: the translation ends at once. */
static void find_whole(struct emu_send *s, struct emu_known_key *k)
{
	const struct emu_mkey *m = k->mkey;
	struct emu_seg_list all;

	if (emu_mkey_is_list(m) && m->u.klm.count > 1)
		return;
	k->whole = emu_mkey_translate_found(&s->e->memory,
					    local_domain(s, m->rights & (EMU_LR | EMU_LW)), m,
					    m->start, m->len, &all) &&
		   all.n == 1 && all.len == m->len;
	emu_page_fault_begin(s->e); /* the access may need none that is missing */
	if (k->whole)
		k->at = all.seg[0];
}

static const struct emu_known_key *look_up(struct emu_send *s, uint32_t key)
{
	const struct emu_mkey *m = emu_mkey_find(&s->e->memory, &s->here, key);
	struct emu_known_key *k = &s->known[s->nknown % ENGINE_KNOWN_KEYS];

	if (!m)
		return NULL;
	*k = (struct emu_known_key){
		.key = key, .rights = m->rights, .start = m->start, .len = m->len};
	k->mkey = m;
	k->map = emu_maps_get(&s->e->memory, key, m);
	if (!k->map)
		find_whole(s, k);
	if (s->nknown < ENGINE_KNOWN_KEYS)
		s->nknown++;
	return k;
}

/* The mkey of an entry, if it grants the access. */
static inline const struct emu_known_key *admit(struct emu_send *s, const struct emu_sge *sge,
						uint32_t need)
{
	const struct emu_known_key *k = s->known, *end = k + s->nknown;

	while (k < end && k->key != sge->lkey)
		k++;
	if (k == end)
		k = look_up(s, sge->lkey);
	if (!k || (k->rights & need) != need || sge->addr < k->start || sge->len > k->len ||
	    sge->addr - k->start > k->len - sge->len)
		return NULL;
	return k;
}

/* One piece of mapped memory, if the mapping has all of it. */
static inline bool translate_by_map(const struct emu_send *s, const struct emu_map *map,
				    uint32_t need, uint64_t addr, uint64_t n,
				    struct emu_seg_list *out)
{
	if (!map || !emu_map_covers(map, need, addr, n))
		return false;
	out->n = 1;
	out->len = n;
	out->seg[0] = (struct emu_seg){map->at + (addr - map->start), n, s->e->memory.pid, 0};
	return true;
}

/* Translate the first of the remaining bytes, as many as the list has room for. */
static inline bool translate_sge(struct emu_send *s, const struct emu_sge *sge, uint32_t need,
				 uint64_t n, struct emu_seg_list *out)
{
	const struct emu_known_key *k = admit(s, sge, need);
	uint64_t addr = sge->addr + s->run->done;

	if (!k)
		return false;
	if (k->map && translate_by_map(s, k->map, need, addr, n, out))
		return true;
	if (!k->whole)
		return emu_mkey_translate_found(&s->e->memory, local_domain(s, need), k->mkey, addr,
						n, out);
	out->n = 1;
	out->len = n;
	out->seg[0] = (struct emu_seg){k->at.addr + (addr - k->start), n, k->at.pid, k->at.mkey};
	return true;
}

static int step_mmo(struct emu_send *s)
{
	const struct emu_sge *sge = s->w.sge;
	struct emu_seg_list src;
	struct emu_seg_list dst;

	if (!admit(s, &sge[0], EMU_LW) || !translate_sge(s, &sge[1], EMU_LR, chunk(s), &src) ||
	    !translate_sge(s, &sge[2], EMU_LW, src.len, &dst))
		return EMU_SYN_LOC_PROT;
	if (emu_memory_copy(&s->e->memory, &dst, &src, dst.len) != EMU_COPY_OK)
		return EMU_SYN_LOC_PROT;
	return advance(s, &dst, dst.len);
}

static int violate(const struct emu_send *s, struct emu_qp *peer, enum emu_syndrome syndrome)
{
	emu_rq_violation(s->e, peer,
			 syndrome == EMU_SYN_REM_ACCESS ? EMU_EVENT_QP_ACCESS_ERR
							: EMU_EVENT_QP_REQ_ERR);
	return remote_error(s, syndrome);
}

/* A target of DC serves only requests with its key; the status is assumed (docs/emu/emulator.md). */
static bool has_wrong_key(const struct emu_send *s, const struct emu_qp *peer)
{
	struct emu_note note = {.type = EMU_NOTE_DC_KEY};

	if (s->q->type != EMU_QPT_DCI || s->w.av.dc_key == peer->dc_key)
		return false;
	note.number = (uint32_t)(peer - s->e->cfg.queues->qp);
	note.serial = atomic_load(&peer->serial);
	emu_engine_event(s->e, &note);
	return true;
}

/* By a key for another function's memory. */
static bool translate_alias(const struct emu_send *s, const struct emu_domain *d, uint32_t key,
			    uint64_t addr, uint64_t n, struct emu_seg_list *out)
{
	const struct emu_mkey *m;

	if (key >> 8 >= EMU_MAX_MKEYS || s->e->cfg.tables->mkey[key >> 8].mode != EMU_MKEY_ALIAS)
		return false;
	m = emu_mkey_find(&s->e->memory, d, key);
	return m && translate_by_map(s, emu_maps_get(&s->e->memory, key, m), d->need, addr, n, out);
}

/* Pieces of the memory on each side, at most n bytes from the first remaining one on. */
static bool translate_local(const struct emu_send *s, const struct emu_domain *here, uint64_t n,
			    struct emu_seg_list *out)
{
	const struct emu_sge *first = s->w.sge;
	uint64_t done = s->run->done;

	if (!emu_sge_check(&s->e->memory, here, first, s->w.nsge))
		return false;
	return (s->w.nsge == 1 && !first->inl && n <= first->len - done &&
		translate_alias(s, here, first->lkey, first->addr + done, n, out)) ||
	       emu_sge_translate(&s->e->memory, here, first, s->w.nsge, done, n, out);
}

/* Through another process's queue pair its memory is reached, and not mapped. */
static bool translate_remote(const struct emu_send *s, const struct emu_qp *peer,
			     const struct emu_domain *there, uint64_t n, struct emu_seg_list *out)
{
	uint64_t addr = s->w.raddr + s->run->done;

	if (!emu_mkey_check(&s->e->memory, there, s->w.rkey, s->w.raddr, s->w.len))
		return false;
	return (peer->engine == s->e->cfg.slot &&
		translate_alias(s, there, s->w.rkey, addr, n, out)) ||
	       emu_mkey_translate(&s->e->memory, there, s->w.rkey, addr, n, out);
}

/* The responder's driver is asked for the page. */
static int wait_for_remote_page(struct emu_send *s, const struct emu_qp *peer, uint64_t n)
{
	const uint32_t qpn = (uint32_t)(peer - s->e->cfg.queues->qp);
	const struct emu_page_fault what = {
		.wq = qpn,
		.type = s->w.opcode == EMU_WQE_RDMA_READ ? EMU_PAGE_FAULT_READ
							 : EMU_PAGE_FAULT_WRITE,
		.by_key = true,
		.key = s->w.rkey,
		.address = s->w.raddr + s->run->done,
		.len = (uint32_t)n,
	};

	emu_page_fault_post(s->e, qpn, EMU_PAGE_FAULT_RESPONDER, &what);
	return wait_barred(s);
}

/*
 * RDMA read and write: IB checks no key for an access without bytes. A write gathers its data before
 * the request leaves, and a read scatters it after the responder has answered; this order decides
 * which of two errors is reported.
 */
static int step_rdma(struct emu_send *s)
{
	bool read = s->w.opcode == EMU_WQE_RDMA_READ;
	const struct emu_domain *here = local_domain(s, read ? EMU_LW : EMU_LR);
	struct emu_qp *peer;
	struct emu_seg_list local;
	struct emu_seg_list remote = {0};
	struct emu_domain there;
	enum emu_page_fault_state waits;
	enum emu_copy_fault fault;
	uint64_t n;

	if (!read && !translate_local(s, here, chunk(s), &local))
		return EMU_SYN_LOC_PROT;
	peer = find_peer(s);
	if (!peer)
		return unreachable(s);
	s->run->retry_end = 0;
	if (has_wrong_key(s, peer))
		return EMU_SYN_REM_ACCESS;
	if (!(peer->access & (read ? EMU_QP_REMOTE_READ : EMU_QP_REMOTE_WRITE)))
		return violate(s, peer, EMU_SYN_REM_INV_REQ);
	if (!s->w.len)
		return EMU_SYN_OK;
	if (!domain_of(s, peer, read ? EMU_RR : EMU_RW, &there))
		return violate(s, peer, EMU_SYN_REM_INV_REQ);
	waits = emu_page_fault_of(peer, EMU_PAGE_FAULT_RESPONDER);
	if (waits == EMU_PAGE_FAULT_POSTED)
		return wait_barred(s);
	n = read ? chunk(s) : local.len;
	if (waits == EMU_PAGE_FAULT_FAILED || !translate_remote(s, peer, &there, n, &remote))
		return emu_page_fault_met(s->e) ? wait_for_remote_page(s, peer, n)
						: violate(s, peer, EMU_SYN_REM_ACCESS);
	if (read && !translate_local(s, here, remote.len, &local))
		return EMU_SYN_LOC_PROT;
	n = read ? local.len : remote.len;
	fault = read ? emu_memory_copy(&s->e->memory, &local, &remote, n)
		     : emu_memory_copy(&s->e->memory, &remote, &local, n);
	if (fault == (read ? EMU_COPY_SRC : EMU_COPY_DST))
		return violate(s, peer, EMU_SYN_REM_ACCESS);
	if (fault != EMU_COPY_OK)
		return EMU_SYN_LOC_PROT;
	return advance(s, read ? &local : &remote, n);
}

static bool is_atomic(const struct emu_send *s)
{
	return s->w.opcode == EMU_WQE_ATOMIC_CS || s->w.opcode == EMU_WQE_ATOMIC_FA;
}

static void fill_message(const struct emu_send *s, struct emu_msg *m)
{
	m->src_engine = s->e->cfg.slot;
	m->src_qpn = s->qpn;
	m->src_serial = s->run->serial;
	m->src_resets = s->run->resets;
	m->opcode = s->w.opcode;
	m->imm = s->w.imm;
	m->flags = s->w.flags & SOLICITED ? EMU_MSG_SOLICITED : 0;
	m->len = s->w.len;
	m->raddr = s->w.raddr;
	m->rkey = s->w.rkey;
	m->srqn = s->w.srqn;
	m->nsge = s->w.nsge;
	memcpy(m->operand, s->w.operand, sizeof(m->operand));
	memcpy(m->sge, s->w.sge, s->w.nsge * sizeof(m->sge[0]));
	if (s->q->type == EMU_QPT_UD) {
		m->qkey = s->w.av.qkey & CONTROLLED_QKEY ? s->q->qkey : s->w.av.qkey;
		emu_ud_header(s->e, s->q, &s->w.av, s->w.len, m->grh);
	}
}

static uint32_t executor(const struct emu_send *s, const struct emu_qp *peer)
{
	return peer->type == EMU_QPT_XRC_TGT ? emu_xrc_engine(s->e, peer, s->w.srqn) : peer->engine;
}

static int rnr(struct emu_send *s)
{
	const struct emu_qp *peer = &s->e->cfg.queues->qp[s->run->peer_qpn];

	emu_count_no_buffer(s->e, s->q, peer);
	if (!emu_qp_reliable(s->q))
		return EMU_SYN_OK;
	if (s->q->rnr_retry < 7 && s->run->rnr_count >= s->q->rnr_retry)
		return EMU_SYN_RNR_RETRY;
	if (s->q->rnr_retry < 7)
		s->run->rnr_count++;
	s->run->rnr_end = monotonic_ns() + wire_rnr_ns(peer->min_rnr_timer);
	return wait_barred(s);
}

/* An atomic needs its local memory only when the answer arrives: see take_result(). */
static int post_message(struct emu_send *s)
{
	const struct emu_domain *here = local_domain(s, EMU_LR);
	struct emu_qp *peer;
	uint32_t expect = EMU_MSG_FREE;
	uint32_t slot;

	if (s->run->rnr_end && monotonic_ns() < s->run->rnr_end)
		return wait_barred(s);
	emu_cq_publish(s->e);
	s->run->rnr_end = 0;
	if (!is_atomic(s) && !emu_sge_check(&s->e->memory, here, s->w.sge, s->w.nsge))
		return EMU_SYN_LOC_PROT;
	peer = find_peer(s);
	if (!peer)
		return unreachable(s);
	if (has_wrong_key(s, peer))
		return EMU_SYN_REM_ACCESS;
	s->run->peer_qpn = (uint32_t)(peer - s->e->cfg.queues->qp);
	if (s->e->pass.qp_faults && !is_atomic(s) && emu_fault_unready(peer)) {
		s->run->retry_end = 0;
		return rnr(s);
	}
	if (!atomic_compare_exchange_strong(&peer->inbox.state, &expect, EMU_MSG_CLAIMED))
		return is_lost(s) ? (int)EMU_SYN_OK : EMU_STEP_WAIT;
	s->run->retry_end = 0;
	fill_message(s, &peer->inbox);
	s->run->posted = true;
	s->run->peer_serial = atomic_load(&peer->serial);
	s->e->pass.worked = true;
	slot = executor(s, peer);
	/* doorbell.pml: post */
	atomic_store(&peer->inbox.state, EMU_MSG_FOR(slot, EMU_MSG_POSTED));
	emu_engine_wake(s->e, slot);
	return EMU_STEP_WAIT;
}

/*
 * The inbox that holds this QP's message; NULL if it was dropped. The inbox outlives its QP until
 * the number is used again: a peer that took the message and ended at once has answered it.
 */
static struct emu_msg *outstanding(const struct emu_send *s, uint32_t *state)
{
	struct emu_qp *p = &s->e->cfg.queues->qp[s->run->peer_qpn];
	uint32_t serial = atomic_load(&p->serial);
	struct emu_msg *m = &p->inbox;

	if (serial && serial != s->run->peer_serial)
		return NULL;
	*state = atomic_load(&m->state);
	if (EMU_MSG_STATE(*state) < EMU_MSG_POSTED || m->src_qpn != s->qpn ||
	    m->src_serial != s->run->serial || m->src_resets != s->run->resets)
		return NULL;
	return m;
}

static int take_result(struct emu_send *s, uint64_t result)
{
	const struct emu_domain *here = local_domain(s, EMU_LW);
	struct emu_sge value = {.addr = (uintptr_t)&result, .len = sizeof(result), .inl = 1};
	struct emu_seg_list src;
	struct emu_seg_list dst;

	emu_sge_translate(&s->e->memory, here, &value, 1, 0, sizeof(result), &src);
	if (!emu_sge_translate(&s->e->memory, here, s->w.sge, s->w.nsge, 0, sizeof(result), &dst) ||
	    emu_memory_copy(&s->e->memory, &dst, &src, dst.len) != EMU_COPY_OK)
		return EMU_SYN_LOC_PROT;
	return EMU_SYN_OK;
}

/* The answer stays where it is while a page for it is missing. */
static bool has_place(struct emu_send *s)
{
	struct emu_seg_list dst;

	return emu_sge_translate(&s->e->memory, local_domain(s, EMU_LW), s->w.sge, s->w.nsge, 0,
				 sizeof(uint64_t), &dst) ||
	       !emu_page_fault_met(s->e);
}

static int take_answer(struct emu_send *s, struct emu_msg *m, uint32_t state)
{
	uint32_t answer = m->syndrome;
	uint64_t result = m->result;

	if (answer == EMU_SYN_OK && is_atomic(s) && !has_place(s))
		return EMU_SYN_LOC_PROT;
	if (!atomic_compare_exchange_strong(&m->state, &state, EMU_MSG_FREE))
		return EMU_STEP_WAIT; /* the responder checks whether it is still wanted */
	s->run->posted = false;
	s->e->pass.worked = true;
	if (answer == EMU_NAK_RNR)
		return rnr(s);
	if (answer == EMU_SYN_LOC_PROT)
		return EMU_SYN_LOC_PROT;
	if (answer != EMU_SYN_OK)
		return remote_error(s, (enum emu_syndrome)answer);
	return is_atomic(s) ? take_result(s, result) : EMU_SYN_OK;
}

static int await_answer(struct emu_send *s)
{
	uint32_t state = EMU_MSG_FREE;
	struct emu_msg *m = outstanding(s, &state);
	const struct emu_qp *peer;
	bool lost;

	if (!m) {
		s->run->posted = false;
		return EMU_STEP_WAIT;
	}
	if (EMU_MSG_STATE(state) == EMU_MSG_DONE)
		return take_answer(s, m, state);
	if (EMU_MSG_STATE(state) != EMU_MSG_POSTED)
		return EMU_STEP_WAIT;
	lost = is_lost(s);
	peer = find_peer(s);
	if ((lost || !peer || executor(s, peer) != EMU_MSG_SLOT(state)) &&
	    atomic_compare_exchange_strong(&m->state, &state, EMU_MSG_FREE)) {
		s->run->posted = false;
		return lost ? (int)EMU_SYN_OK : EMU_STEP_WAIT;
	}
	return EMU_STEP_WAIT;
}

static int step_message(struct emu_send *s)
{
	return s->run->posted ? await_answer(s) : post_message(s);
}

/* A datagram is posted to each member of its group; without members it is lost. */
static int step_datagram(struct emu_send *s)
{
	const struct emu_av *av = &s->w.av;
	uint32_t next, endpoint = emu_datagram_route(s->e, s->q, av);
	int result;

	if (endpoint < EMU_MAX_ENDPOINTS && !s->run->posted)
		return (int)emu_datagram_send(s->e, s->qpn, &s->w, endpoint);
	if (!emu_ud_is_multicast(av))
		return step_message(s);
	if (!s->run->member)
		s->run->member = emu_ud_next_member(s->e, s->q, av->dgid, 0);
	for (;;) {
		result = step_message(s);
		if (result != EMU_SYN_OK || !s->run->member)
			return result;
		next = emu_ud_next_member(s->e, s->q, av->dgid, s->run->member);
		if (!next)
			return EMU_SYN_OK;
		s->run->member = next;
		s->run->wrong_pkey = false;
		s->run->retry_end = 0;
	}
}

/* Where the list is that the request points to. */
static bool find_list(struct emu_send *s)
{
	struct emu_umr *u = &s->w.umr;
	struct emu_seg_list list;

	if (!emu_sge_translate(&s->e->memory, local_domain(s, EMU_LR), s->w.sge, 1, 0,
			       s->w.sge[0].len, &list) ||
	    list.n > EMU_UMR_SEGS || list.len != s->w.sge[0].len)
		return false;
	u->nseg = list.n;
	memcpy(u->seg, list.seg, list.n * sizeof(list.seg[0]));
	return true;
}

static int step_umr(struct emu_send *s)
{
	uint32_t answer;

	if (s->w.nsge && !s->run->umr[EMU_UMR_SQ] && !find_list(s))
		return EMU_SYN_LOC_PROT;
	answer = emu_umr_step(s->e, s->qpn, EMU_UMR_SQ, &s->w.umr);

	return answer == ENGINE_UMR_WAIT ? EMU_STEP_WAIT : (int)answer;
}

/* The queue is one of the same engine: others would not look at it. */
static int step_send_en(struct emu_send *s)
{
	struct emu_qp *q = s->w.rkey < EMU_MAX_QPS ? &s->e->cfg.queues->qp[s->w.rkey] : NULL;

	if (!q || !atomic_load(&q->serial) || !q->is_released || q->engine != s->e->cfg.slot ||
	    q->func != s->q->func || q->pdn != s->q->pdn)
		return EMU_SYN_LOC_QP_OP;
	atomic_store(&q->released, (uint32_t)s->w.operand[0]);
	return EMU_SYN_OK;
}

/* Frames have no network to go to. */
int emu_send_step(struct emu_send *s)
{
	if (s->q->type == EMU_QPT_FRAMES)
		return EMU_SYN_OK;
	switch (s->w.opcode) {
	case EMU_WQE_NOP:
		return EMU_SYN_OK;
	case EMU_WQE_UMR:
		return step_umr(s);
	case EMU_WQE_SEND_EN:
		return step_send_en(s);
	case EMU_WQE_MMO:
		return emu_wqe_transforms(&s->w) ? emu_transform_step(s) : step_mmo(s);
	case EMU_WQE_RDMA_READ:
	case EMU_WQE_RDMA_WRITE:
		return step_rdma(s);
	default:
		return s->q->type == EMU_QPT_UD ? step_datagram(s) : step_message(s);
	}
}

/* Is the process stopped that executes the message? It may delay others only for a limited time. */
static bool is_stuck(const struct emu_send *s, uint32_t state)
{
	const struct emu_engine *other = &s->e->cfg.queues->engine[EMU_MSG_SLOT(state)];
	uint32_t epoch = atomic_load(&other->epoch);
	uint64_t now = monotonic_ns();

	if (!s->run->stuck_since || s->run->stuck_epoch != epoch) {
		s->run->stuck_since = now;
		s->run->stuck_epoch = epoch;
	}
	return now - s->run->stuck_since >= STUCK_NS;
}

bool emu_send_withdraw(struct emu_send *s)
{
	uint32_t state = EMU_MSG_FREE;
	struct emu_msg *m;

	if (!s->run->posted)
		return true;
	m = outstanding(s, &state);
	if (m && !s->e->abandoned &&
	    ((EMU_MSG_STATE(state) == EMU_MSG_BUSY && !is_stuck(s, state)) ||
	     !atomic_compare_exchange_strong(&m->state, &state, EMU_MSG_FREE)))
		return false;
	s->run->posted = false;
	s->run->stuck_since = 0;
	return true;
}

/* On a network, the acknowledgement of a message arrives before the end of the connection by its receiver. */
bool emu_send_acknowledged(struct emu_send *s)
{
	uint32_t state = EMU_MSG_FREE;
	struct emu_msg *m;

	if (!s->run->posted || s->run->member || s->e->abandoned)
		return false;
	m = outstanding(s, &state);
	if (!m || EMU_MSG_STATE(state) != EMU_MSG_DONE || m->syndrome != EMU_SYN_OK)
		return false;
	(void)emu_wqe_parse(s->q, s->qpn, s->run->sq_ci, emu_sq_posted(s->q, s->run), &s->w);
	return take_answer(s, m, state) == EMU_SYN_OK;
}
