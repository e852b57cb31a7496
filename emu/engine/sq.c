/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The requester: executes the WQEs of a send queue, in order and one at a time. RDMA reads, RDMA
 * writes and MMO copies are executed here, in chunks; all keys are checked again for each chunk, so
 * that revoking a key ends a long copy. Requests that need the responder's receive queue, and
 * atomics, go as a message into the responder QP's inbox.
 */
#include "emu/engine/sq.h"

#include <string.h>

#include "base/clock.h"
#include "emu/engine/count.h"
#include "emu/engine/cq.h"
#include "emu/engine/datagram.h"
#include "emu/engine/fault.h"
#include "emu/engine/memory/copy.h"
#include "emu/engine/memory/maps.h"
#include "emu/engine/memory/mkey.h"
#include "emu/engine/memory/wire.h"
#include "emu/engine/memory/wqe.h"
#include "emu/engine/notes.h"
#include "emu/engine/qp.h"
#include "emu/engine/rq.h"
#include "emu/engine/srq.h"
#include "emu/engine/state.h"
#include "emu/engine/trace.h"
#include "emu/engine/ud.h"
#include "emu/engine/umr.h"
#include "emu/ipc/pkey.h"
#include "emu/wire/aeth.h"

#define LONG_COPY      4096u /* completions do not wait for a copy of this length */
#define CE_MASK	       0x0cu /* in fm_ce_se */
#define CE_FIRST_ERROR 0x04u
#define CE_ALWAYS      0x08u /* also with the bit below */
#define SOLICITED      0x02u
#define AHEAD	       4u /* blocks of the send ring */
#define KNOWN	       4u

#define LOSS_NS	       10000000000ull
#define STUCK_NS       2000000000ull
/* A Q_Key with this bit in a WQE stands for the QP's own (IBA 10.2.5). */
#define CONTROLLED_QKEY 0x80000000u

/* Results of a step other than an enum emu_syndrome, which ends the WQE. */
enum step {
	STEP_MORE = -1, /* moved bytes, not finished */
	STEP_WAIT = -2, /* waits for the peer or a timer */
};

/*
 * What a copy needs to know about a key. A stream of copies uses the same few keys, and the bytes
 * it moves evict everything else from the processor's cache.
 */
struct known {
	uint32_t key;
	uint32_t rights;
	uint64_t start;
	uint64_t len;
	const struct emu_mkey *mkey;
	bool whole;		   /* one piece of memory: */
	struct emu_seg at;	   /* of `start` */
	const struct emu_map *map; /* of another process's memory, or NULL */
};

struct send {
	struct engine *e;
	struct emu_qp *q;
	uint32_t qpn;
	struct emu_qp_run *run;
	uint64_t moved;		   /* bytes in this pass */
	struct known known[KNOWN]; /* keys that this pass has looked up */
	uint32_t nknown;
	struct emu_domain here;
	struct emu_wqe w;
};

static const struct emu_domain *local_domain(struct send *s, uint32_t need)
{
	s->here.need = need;
	return &s->here;
}

/* What a request may access at the responder: with XRC its SRQ decides, not its QP (IBA A14.2). */
static bool domain_of(const struct send *s, const struct emu_qp *p, uint32_t need,
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
static struct emu_qp *find_connected(const struct send *s)
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

static bool is_silenced(const struct send *s, const struct emu_qp *p)
{
	return s->e->pass.qp_faults && emu_fault_silences(s->q, p);
}

/*
 * The receiver drops packets of other partitions silently (IBA 9.6.1.1.3). The retries of a request
 * are not counted.
 */
static bool is_foreign(const struct send *s, const struct emu_qp *p)
{
	if (emu_pkey_matches(atomic_load_explicit(&s->q->pkey, memory_order_relaxed),
			     atomic_load_explicit(&p->pkey, memory_order_relaxed)))
		return false;
	if (!s->run->foreign)
		emu_count_violation(s->e, p, EMU_COUNTER_bad_pkey_cntr);
	s->run->foreign = true;
	return true;
}

/* The QP that receives this one's packets, if any does. */
static struct emu_qp *find_peer(const struct send *s)
{
	bool ud = s->q->type == EMU_QPT_UD;
	struct emu_qp *p =
		ud ? emu_ud_peer(s->e, s->q, &s->w.av, s->run->member) : find_connected(s);

	if (!p || is_silenced(s, p) || is_foreign(s, p))
		return NULL;
	if (!ud && atomic_load(&p->state) == EMU_QPS_RTR)
		emu_engine_qp_heard(s->e, p);
	return p;
}

/* A packet of an unreliable service without a receiver is lost: the sender does not wait. */
static bool is_lost(struct send *s)
{
	uint64_t now = monotonic_ns();

	if (emu_qp_reliable(s->q))
		return false;
	if (!s->run->retry_end)
		s->run->retry_end = now + LOSS_NS;
	return now >= s->run->retry_end;
}

/* The peer does not take the request, however long the engines work. */
static int wait_barred(struct send *s)
{
	s->run->barred = true;
	return STEP_WAIT;
}

/* There is no answer, as if the packets were lost. */
static int unreachable(struct send *s)
{
	uint64_t now = monotonic_ns();

	if (!emu_qp_reliable(s->q))
		return EMU_SYN_OK;
	if (!s->q->timeout)
		return wait_barred(s);
	if (!s->run->retry_end)
		s->run->retry_end =
			now + (4096ull << (s->q->timeout & 31)) * (s->q->retry_cnt + 1u);
	return now < s->run->retry_end ? wait_barred(s) : (int)EMU_SYN_RETRY;
}

/* An unreliable connection gets no answer from the responder. */
static int remote_error(const struct send *s, enum emu_syndrome syndrome)
{
	return emu_qp_reliable(s->q) ? (int)syndrome : EMU_SYN_OK;
}

static int advance(struct send *s, uint64_t n, uint64_t total)
{
	s->run->done += n;
	s->moved += n;
	s->e->pass.worked = true;
	return s->run->done < total ? STEP_MORE : EMU_SYN_OK;
}

static uint64_t chunk(const struct send *s)
{
	uint64_t left = s->w.len - s->run->done;

	return left < ENGINE_CHUNK ? left : ENGINE_CHUNK;
}

/* Only if it is cheap to find out: the walk ends at once. */
static void find_whole(struct send *s, struct known *k)
{
	const struct emu_mkey *m = k->mkey;
	struct emu_seg_list all;

	if (emu_mkey_is_list(m) && m->u.klm.count > 1)
		return;
	k->whole = emu_mkey_reach(&s->e->memory, local_domain(s, m->rights & (EMU_LR | EMU_LW)), m,
				  m->start, m->len, &all) &&
		   all.n == 1 && all.len == m->len;
	if (k->whole)
		k->at = all.seg[0];
}

static const struct known *look_up(struct send *s, uint32_t key)
{
	const struct emu_mkey *m = emu_mkey_find(&s->e->memory, &s->here, key);
	struct known *k = &s->known[s->nknown % KNOWN];

	if (!m)
		return NULL;
	*k = (struct known){.key = key, .rights = m->rights, .start = m->start, .len = m->len};
	k->mkey = m;
	k->map = emu_maps_get(&s->e->memory, key, m);
	if (!k->map)
		find_whole(s, k);
	if (s->nknown < KNOWN)
		s->nknown++;
	return k;
}

/* The mkey of an entry, if it grants the access. */
static inline const struct known *admit(struct send *s, const struct emu_sge *sge, uint32_t need)
{
	const struct known *k = s->known, *end = k + s->nknown;

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
static inline bool reach_map(const struct send *s, const struct emu_map *map, uint32_t need,
			     uint64_t addr, uint64_t n, struct emu_seg_list *out)
{
	if (!map || !emu_map_covers(map, need, addr, n))
		return false;
	out->n = 1;
	out->len = n;
	out->seg[0] = (struct emu_seg){map->at + (addr - map->start), n, s->e->memory.pid, 0};
	return true;
}

/* Translate the first of the remaining bytes, as many as the list has room for. */
static inline bool reach(struct send *s, const struct emu_sge *sge, uint32_t need, uint64_t n,
			 struct emu_seg_list *out)
{
	const struct known *k = admit(s, sge, need);
	uint64_t addr = sge->addr + s->run->done;

	if (!k)
		return false;
	if (k->map && reach_map(s, k->map, need, addr, n, out))
		return true;
	if (!k->whole)
		return emu_mkey_reach(&s->e->memory, local_domain(s, need), k->mkey, addr, n, out);
	out->n = 1;
	out->len = n;
	out->seg[0] = (struct emu_seg){k->at.addr + (addr - k->start), n, k->at.pid, k->at.mkey};
	return true;
}

static int step_mmo(struct send *s)
{
	const struct emu_sge *sge = s->w.sge;
	struct emu_seg_list src;
	struct emu_seg_list dst;

	if (!admit(s, &sge[0], EMU_LW) || !reach(s, &sge[1], EMU_LR, chunk(s), &src) ||
	    !reach(s, &sge[2], EMU_LW, src.len, &dst))
		return EMU_SYN_LOC_PROT;
	if (emu_memory_copy(&s->e->memory, &dst, &src, dst.len) != EMU_COPY_OK)
		return EMU_SYN_LOC_PROT;
	return advance(s, dst.len, s->w.len);
}

static int violate(const struct send *s, struct emu_qp *peer, enum emu_syndrome syndrome)
{
	emu_rq_violation(s->e, peer,
			 syndrome == EMU_SYN_REM_ACCESS ? EMU_EVENT_QP_ACCESS_ERR
							: EMU_EVENT_QP_REQ_ERR);
	return remote_error(s, syndrome);
}

/* By a key for another function's memory. */
static bool reach_alias(const struct send *s, const struct emu_domain *d, uint32_t key,
			uint64_t addr, uint64_t n, struct emu_seg_list *out)
{
	const struct emu_mkey *m;

	if (key >> 8 >= EMU_MAX_MKEYS || s->e->cfg.tables->mkey[key >> 8].mode != EMU_MKEY_ALIAS)
		return false;
	m = emu_mkey_find(&s->e->memory, d, key);
	return m && reach_map(s, emu_maps_get(&s->e->memory, key, m), d->need, addr, n, out);
}

/* Pieces of the memory on each side, at most n bytes from the first remaining one on. */
static bool reach_local(const struct send *s, const struct emu_domain *here, uint64_t n,
			struct emu_seg_list *out)
{
	const struct emu_sge *first = s->w.sge;
	uint64_t done = s->run->done;

	if (!emu_sge_check(&s->e->memory, here, first, s->w.nsge))
		return false;
	return (s->w.nsge == 1 && !first->inl && n <= first->len - done &&
		reach_alias(s, here, first->lkey, first->addr + done, n, out)) ||
	       emu_sge_translate(&s->e->memory, here, first, s->w.nsge, done, n, out);
}

/* Through another process's queue pair its memory is reached, and not mapped. */
static bool reach_remote(const struct send *s, const struct emu_qp *peer,
			 const struct emu_domain *there, uint64_t n, struct emu_seg_list *out)
{
	uint64_t addr = s->w.raddr + s->run->done;

	if (!emu_mkey_check(&s->e->memory, there, s->w.rkey, s->w.raddr, s->w.len))
		return false;
	return (peer->engine == s->e->cfg.slot && reach_alias(s, there, s->w.rkey, addr, n, out)) ||
	       emu_mkey_translate(&s->e->memory, there, s->w.rkey, addr, n, out);
}

/*
 * RDMA read and write: IB checks no key for an access without bytes. A write gathers its data before
 * the request leaves, and a read scatters it after the responder has answered; this order decides
 * which of two errors is reported.
 */
static int step_rdma(struct send *s)
{
	bool read = s->w.opcode == EMU_WQE_RDMA_READ;
	const struct emu_domain *here = local_domain(s, read ? EMU_LW : EMU_LR);
	struct emu_qp *peer;
	struct emu_seg_list local;
	struct emu_seg_list remote = {0};
	struct emu_domain there;
	enum emu_copy_fault fault;
	uint64_t n;

	if (!read && !reach_local(s, here, chunk(s), &local))
		return EMU_SYN_LOC_PROT;
	peer = find_peer(s);
	if (!peer)
		return unreachable(s);
	s->run->retry_end = 0;
	if (!(peer->access & (read ? EMU_QP_REMOTE_READ : EMU_QP_REMOTE_WRITE)))
		return violate(s, peer, EMU_SYN_REM_INV_REQ);
	if (!s->w.len)
		return EMU_SYN_OK;
	if (!domain_of(s, peer, read ? EMU_RR : EMU_RW, &there))
		return violate(s, peer, EMU_SYN_REM_INV_REQ);
	if (!reach_remote(s, peer, &there, read ? chunk(s) : local.len, &remote))
		return violate(s, peer, EMU_SYN_REM_ACCESS);
	if (read && !reach_local(s, here, remote.len, &local))
		return EMU_SYN_LOC_PROT;
	n = read ? local.len : remote.len;
	fault = read ? emu_memory_copy(&s->e->memory, &local, &remote, n)
		     : emu_memory_copy(&s->e->memory, &remote, &local, n);
	if (fault == (read ? EMU_COPY_SRC : EMU_COPY_DST))
		return violate(s, peer, EMU_SYN_REM_ACCESS);
	if (fault != EMU_COPY_OK)
		return EMU_SYN_LOC_PROT;
	return advance(s, n, s->w.len);
}

static bool is_atomic(const struct send *s)
{
	return s->w.opcode == EMU_WQE_ATOMIC_CS || s->w.opcode == EMU_WQE_ATOMIC_FA;
}

static void fill_message(const struct send *s, struct emu_msg *m)
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

static uint32_t executor(const struct send *s, const struct emu_qp *peer)
{
	return peer->type == EMU_QPT_XRC_TGT ? emu_xrc_engine(s->e, peer, s->w.srqn) : peer->engine;
}

static int rnr(struct send *s)
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
static int post_message(struct send *s)
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
	s->run->peer_qpn = (uint32_t)(peer - s->e->cfg.queues->qp);
	if (s->e->pass.qp_faults && !is_atomic(s) && emu_fault_unready(peer)) {
		s->run->retry_end = 0;
		return rnr(s);
	}
	if (!atomic_compare_exchange_strong(&peer->inbox.state, &expect, EMU_MSG_CLAIMED))
		return is_lost(s) ? (int)EMU_SYN_OK : STEP_WAIT;
	s->run->retry_end = 0;
	fill_message(s, &peer->inbox);
	s->run->posted = true;
	s->run->peer_serial = atomic_load(&peer->serial);
	s->e->pass.worked = true;
	slot = executor(s, peer);
	/* doorbell.pml: post */
	atomic_store(&peer->inbox.state, EMU_MSG_FOR(slot, EMU_MSG_POSTED));
	emu_engine_kick(s->e, slot);
	return STEP_WAIT;
}

/*
 * The inbox that holds this QP's message; NULL if it was dropped. The inbox outlives its QP until
 * the number is used again: a peer that took the message and ended at once has answered it.
 */
static struct emu_msg *outstanding(const struct send *s, uint32_t *state)
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

static int take_result(struct send *s, uint64_t result)
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

static int take_answer(struct send *s, struct emu_msg *m, uint32_t state)
{
	uint32_t answer = m->syndrome;
	uint64_t result = m->result;

	if (!atomic_compare_exchange_strong(&m->state, &state, EMU_MSG_FREE))
		return STEP_WAIT; /* the responder checks whether it is still wanted */
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

static int await_answer(struct send *s)
{
	uint32_t state = EMU_MSG_FREE;
	struct emu_msg *m = outstanding(s, &state);
	const struct emu_qp *peer;
	bool lost;

	if (!m) {
		s->run->posted = false;
		return STEP_WAIT;
	}
	if (EMU_MSG_STATE(state) == EMU_MSG_DONE)
		return take_answer(s, m, state);
	if (EMU_MSG_STATE(state) != EMU_MSG_POSTED)
		return STEP_WAIT;
	lost = is_lost(s);
	peer = find_peer(s);
	if ((lost || !peer || executor(s, peer) != EMU_MSG_SLOT(state)) &&
	    atomic_compare_exchange_strong(&m->state, &state, EMU_MSG_FREE)) {
		s->run->posted = false;
		return lost ? (int)EMU_SYN_OK : STEP_WAIT;
	}
	return STEP_WAIT;
}

static int step_message(struct send *s)
{
	return s->run->posted ? await_answer(s) : post_message(s);
}

/* A datagram is posted to each member of its group; without members it is lost. */
static int step_datagram(struct send *s)
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
		s->run->foreign = false;
		s->run->retry_end = 0;
	}
}

static int step_umr(struct send *s)
{
	uint32_t answer = emu_umr_step(s->e, s->qpn, EMU_UMR_SQ, &s->w.umr);

	return answer == ENGINE_UMR_WAIT ? STEP_WAIT : (int)answer;
}

static int step(struct send *s)
{
	switch (s->w.opcode) {
	case EMU_WQE_NOP:
		return EMU_SYN_OK;
	case EMU_WQE_UMR:
		return step_umr(s);
	case EMU_WQE_MMO:
		return step_mmo(s);
	case EMU_WQE_RDMA_READ:
	case EMU_WQE_RDMA_WRITE:
		return step_rdma(s);
	default:
		return s->q->type == EMU_QPT_UD ? step_datagram(s) : step_message(s);
	}
}

/* docs/emu/emulator.md has the table of completion modes. */
static bool is_reported(const struct send *s, enum emu_syndrome syndrome)
{
	if (s->w.flags & CE_ALWAYS)
		return true;
	return syndrome != EMU_SYN_OK &&
	       (syndrome != EMU_SYN_FLUSH || (s->w.flags & CE_MASK) != CE_FIRST_ERROR);
}

/* The WQE is finished: write its completion and go to the next. */
static void retire(struct send *s, enum emu_syndrome syndrome)
{
	struct emu_cqe cqe = {
		.opcode = syndrome ? EMU_CQE_REQ_ERR : EMU_CQE_REQ,
		.syndrome = (uint8_t)syndrome,
		.wqe_opcode = s->w.opcode,
		.wqe_counter = s->run->sq_ci,
		.qpn = s->qpn,
		.uidx = s->q->uidx,
		.byte_cnt = (uint32_t)s->w.len,
	};

	emu_wr_finished(s->e, s->qpn, &s->w, syndrome);
	s->run->sq_ci = (uint16_t)(s->run->sq_ci + s->w.blocks);
	s->run->active = false;
	s->run->held_until = 0;
	s->run->done = 0;
	s->run->rnr_count = 0;
	s->run->foreign = false;
	s->run->rnr_end = 0;
	s->run->retry_end = 0;
	s->run->member = 0;
	s->e->pass.worked = true;
	if (!is_reported(s, syndrome))
		return;
	if (!emu_cq_push(s->e, s->q->send_cqn, &cqe))
		emu_engine_qp_fail(s->q);
	if (s->w.len >= LONG_COPY)
		emu_cq_publish(s->e);
}

uint16_t emu_sq_posted(const struct emu_qp *q, const struct emu_qp_run *r)
{
	if (!q->sq_wqe_count)
		return 0;
	return (uint16_t)(emu_dbr_word(q->dbr_addr, 1) - r->sq_ci);
}

/* Is the process stopped that executes the message? It may delay others only for a limited time. */
static bool is_stuck(const struct send *s, uint32_t state)
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

/* A failed QP first takes its message back: no engine may work for a flushed WQE. */
static bool withdraw(struct send *s)
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
static void take_acknowledgement(struct send *s)
{
	uint32_t state = EMU_MSG_FREE;
	struct emu_msg *m;

	if (!s->run->posted || s->run->member || s->e->abandoned)
		return;
	m = outstanding(s, &state);
	if (!m || EMU_MSG_STATE(state) != EMU_MSG_DONE || m->syndrome != EMU_SYN_OK)
		return;
	(void)emu_wqe_parse(s->q, s->qpn, s->run->sq_ci, emu_sq_posted(s->q, s->run), &s->w);
	if (take_answer(s, m, state) == EMU_SYN_OK)
		retire(s, EMU_SYN_OK);
}

static void flush(struct send *s)
{
	unsigned int i;
	uint16_t avail;

	take_acknowledgement(s);
	if (!withdraw(s))
		return;
	for (i = 0; i < ENGINE_BUDGET; i++) {
		avail = emu_sq_posted(s->q, s->run);
		if (!avail)
			return;
		(void)emu_wqe_parse(s->q, s->qpn, s->run->sq_ci, avail, &s->w);
		retire(s, EMU_SYN_FLUSH);
	}
}

/* A fault on demand may delay the completion of a finished WQE, and all later ones. */
static bool is_held_back(struct send *s)
{
	if (s->e->pass.rule == EMU_CQE_DELAY && !s->run->held_until && is_reported(s, EMU_SYN_OK))
		s->run->held_until = emu_fault_delay(s->e, s->qpn);
	if (s->e->pass.qp_faults && !s->run->held_until)
		s->run->held_until = emu_fault_slow(s->q);
	return s->run->held_until && monotonic_ns() < s->run->held_until;
}

/*
 * Prefetch what the driver has written on another processor: a block of the ring, or the doorbell
 * record.
 */
static void fetch_ahead(const struct send *s, uint16_t avail)
{
	const struct emu_qp *q = s->q;
	uint64_t ring = q->buf_addr + ((uint64_t)q->rq_wqe_count << q->rq_wqe_shift);
	uint64_t block = (s->run->sq_ci + AHEAD) & (q->sq_wqe_count - 1u);

	__builtin_prefetch(emu_own(avail > AHEAD ? ring + block * 64 : q->dbr_addr));
}

/* Execute one WQE or a chunk of it; false if nothing is left to do in this pass. */
static bool execute(struct send *s, uint16_t avail)
{
	enum emu_syndrome refused = emu_wqe_parse(s->q, s->qpn, s->run->sq_ci, avail, &s->w);
	int result = refused;

	s->run->barred = false;
	if (s->w.len >= LONG_COPY)
		emu_cq_publish(s->e);
	if (!refused && s->run->done > s->w.len)
		result = EMU_SYN_LOC_QP_OP; /* rewritten while it was executed */
	else if (!refused && !s->run->held_until)
		result = step(s);
	s->run->active = true;
	if (result == STEP_WAIT)
		return false;
	if (result == STEP_MORE)
		return s->moved < ENGINE_CHUNK;
	if (result == EMU_SYN_OK) {
		if (is_held_back(s)) {
			s->run->barred = true;
			return false;
		}
		if (s->w.len >= LONG_COPY)
			fetch_ahead(s, avail); /* the time has passed */
		retire(s, EMU_SYN_OK);
		return s->moved < ENGINE_CHUNK;
	}
	if (withdraw(s) && emu_engine_sq_fail(s->q))
		retire(s, (enum emu_syndrome)result);
	return false;
}

static void open_send(struct send *s, struct engine *e, uint32_t qpn)
{
	s->e = e;
	s->q = &e->cfg.queues->qp[qpn];
	s->qpn = qpn;
	s->run = &e->qp_run[qpn];
	s->moved = 0;
	s->here = (struct emu_domain){s->q->func, s->q->pdn, 0, e->memory.pid, qpn};
	s->nknown = 0;
}

bool emu_sq_step(struct engine *e, uint32_t qpn)
{
	struct send s;
	uint16_t at;

	open_send(&s, e, qpn);
	at = s.run->sq_ci;
	(void)execute(&s, emu_sq_posted(s.q, s.run));
	return s.run->sq_ci != at;
}

bool emu_sq_finish(struct engine *e, uint32_t qpn)
{
	struct send s;

	open_send(&s, e, qpn);
	(void)emu_wqe_parse(s.q, qpn, s.run->sq_ci, emu_sq_posted(s.q, s.run), &s.w);
	if (is_held_back(&s))
		return false;
	retire(&s, EMU_SYN_OK);
	return true;
}

void emu_sq_complete(struct engine *e, uint32_t qpn, enum emu_syndrome syndrome)
{
	struct send s;

	open_send(&s, e, qpn);
	(void)emu_wqe_parse(s.q, qpn, s.run->sq_ci, emu_sq_posted(s.q, s.run), &s.w);
	if (syndrome != EMU_SYN_OK && syndrome != EMU_SYN_FLUSH)
		emu_engine_sq_fail(s.q);
	retire(&s, syndrome);
}

void emu_sq_flush(struct engine *e, uint32_t qpn)
{
	struct send s;

	open_send(&s, e, qpn);
	flush(&s);
}

void emu_sq_advance(struct engine *e, uint32_t qpn)
{
	struct send s;
	uint16_t avail = 0;
	unsigned int i;

	open_send(&s, e, qpn);
	for (i = 0; i < ENGINE_BUDGET; i++) {
		uint32_t state = atomic_load(&s.q->state);
		uint16_t at = s.run->sq_ci;

		if (state != EMU_QPS_RTS && !(state == EMU_QPS_SQD && s.run->active))
			break;
		if (!avail)
			avail = emu_sq_posted(s.q, s.run);
		fetch_ahead(&s, avail);
		if (!avail || !execute(&s, avail))
			break;
		avail = (uint16_t)(avail - (uint16_t)(s.run->sq_ci - at));
	}
	if (!avail || s.run->barred)
		emu_engine_qp_rests(e, s.q);
	if (atomic_load(&s.q->state) >= EMU_QPS_SQE)
		flush(&s);
	if (atomic_load_explicit(&s.q->done, memory_order_relaxed) != s.run->sq_ci)
		atomic_store(&s.q->done, s.run->sq_ci);
}
