/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/engine/conn.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/engine/conn_ops.h"
#include "emu/engine/count.h"
#include "emu/engine/cq.h"
#include "emu/engine/fault.h"
#include "emu/engine/memory/wire.h"
#include "emu/engine/net.h"
#include "emu/engine/rq.h"
#include "emu/engine/send.h"
#include "emu/engine/sq.h"
#include "emu/engine/state.h"
#include "emu/ipc/path_mtu.h"

#define SOLICITED    0x02u /* in fm_ce_se */
#define FENCE	     0xe0u
#define PAGE_BYTES   4096u
#define NO_ANSWER_NS 100000000u /* without an answer */

/* --- connections ------------------------------------------------------------------------------ */

static enum wire_service service_of(const struct emu_qp *q)
{
	switch (q->type) {
	case EMU_QPT_UC:
		return WIRE_UC;
	case EMU_QPT_XRC_INI:
	case EMU_QPT_XRC_TGT:
		return WIRE_XRC;
	default:
		return WIRE_RC;
	}
}

static void describe(const struct emu_conn *c, struct wire_attr *a)
{
	const struct emu_qp *q = c->q;

	*a = (struct wire_attr){
		.service = service_of(q),
		.qpn = c->qpn,
		.dest_qpn = q->dest_qpn,
		.mtu = emu_mtu_bytes(q->mtu),
		.pkey = atomic_load(&q->pkey),
		.sq_psn = q->sq_psn,
		.rq_psn = q->rq_psn,
		.timeout = q->timeout,
		.retry_cnt = q->retry_cnt,
		.rnr_retry = q->rnr_retry,
		.min_rnr_timer = q->min_rnr_timer,
		.max_rd_atomic = q->max_rd_atomic,
		.max_dest_rd_atomic = q->max_dest_rd_atomic,
		.window = c->e->net.endpoint[c->endpoint].window,
	};
	memcpy(a->path.src, c->e->cfg.tables->endpoint[c->endpoint].addr, sizeof(a->path.src));
	memcpy(a->path.dst, q->route.dst, sizeof(a->path.dst));
	a->path.tclass = q->route.tclass;
	a->path.hop_limit = q->route.hop_limit;
	a->path.flow_label = q->route.flow_label;
}

/*
 * Room for all connections, which costs memory only where one was. A mapping for each would come and go in the
 * address space of a program that may count on the place where it has unmapped something.
 */
static struct emu_conn *room_for(struct engine *e, uint32_t qpn)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	long p;

	if (e->conns.room)
		return &e->conns.room[qpn];
	p = syscall(SYS_mmap, NULL, EMU_MAX_QPS * sizeof(*e->conns.room), PROT_READ | PROT_WRITE,
		    flags, -1, 0);
	if (p == -1)
		return NULL;
	e->conns.room = (struct emu_conn *)p;
	return &e->conns.room[qpn];
}

/* Whole pages that no other connection shares are given back. */
static void release(struct engine *e, uint32_t qpn)
{
	uintptr_t page = (uintptr_t)PAGE_BYTES - 1;
	uintptr_t from = ((uintptr_t)e->conns.of[qpn] + page) & ~page;
	uintptr_t to = (uintptr_t)(e->conns.of[qpn] + 1) & ~page;

	syscall(SYS_madvise, from, to - from, MADV_DONTNEED);
	e->conns.of[qpn] = NULL;
}

static struct emu_conn *begin(struct engine *e, uint32_t qpn)
{
	struct emu_qp *q = &e->cfg.queues->qp[qpn];
	struct emu_conn *c;
	struct wire_attr attr;

	if (q->route.endpoint >= EMU_MAX_ENDPOINTS || !e->net.endpoint[q->route.endpoint].sockets)
		return NULL;
	c = room_for(e, qpn);
	if (!c)
		return NULL; /* tried again in the next pass */
	memset(c, 0, sizeof(*c));
	c->e = e;
	c->q = q;
	c->qpn = qpn;
	c->run = &e->qp_run[qpn];
	c->serial = c->run->serial;
	c->resets = c->run->resets;
	c->next = c->run->sq_ci;
	c->endpoint = q->route.endpoint;
	c->rx = (struct emu_receiver){.e = e, .q = q, .qpn = qpn, .run = c->run};
	c->flow = wire_path_sport(q->route.flow_label, qpn, q->dest_qpn);
	describe(c, &attr);
	wire_qp_open(&c->wire, &attr, &emu_conn_ops, c);
	e->conns.of[qpn] = c;
	return c;
}

static bool is_current(const struct engine *e, const struct emu_conn *c)
{
	const struct emu_qp *q = &e->cfg.queues->qp[c->qpn];

	return atomic_load(&q->serial) == c->serial && atomic_load(&q->resets) == c->resets;
}

struct emu_conn *emu_conn_of(struct engine *e, uint32_t qpn)
{
	const struct emu_qp *q = &e->cfg.queues->qp[qpn];
	struct emu_conn *c = e->conns.of[qpn];

	if (c && is_current(e, c))
		return c;
	if (c)
		release(e, qpn);
	if (atomic_load(&q->dest_func) != EMU_ON_WIRE || q->type == EMU_QPT_UD ||
	    atomic_load(&q->state) < EMU_QPS_RTR)
		return NULL;
	return begin(e, qpn);
}

const struct wire_wr *emu_conn_request(const struct engine *e, uint32_t qpn, uint32_t psn)
{
	return e->conns.of[qpn] ? wire_requester_find(&e->conns.of[qpn]->wire, psn) : NULL;
}

void emu_conns_prune(struct engine *e)
{
	for (uint32_t i = 0; e->net.num_endpoints && i < EMU_MAX_QPS; i++)
		if (e->conns.of[i] && !is_current(e, e->conns.of[i]))
			release(e, i);
}

void emu_conns_close(struct engine *e)
{
	if (e->conns.room)
		syscall(SYS_munmap, e->conns.room, EMU_MAX_QPS * sizeof(*e->conns.room));
	e->conns.room = NULL;
}

/* --- work requests ---------------------------------------------------------------------------- */

/* From RTR to RTS, and for UC from SQE to RTS. The attributes of requests are set in RTS. */
static void begin_sending(struct emu_conn *c, uint32_t psn)
{
	struct wire_attr *a = &c->wire.attr;
	const struct emu_qp *q = c->q;

	a->sq_psn = psn;
	a->timeout = q->timeout;
	a->retry_cnt = q->retry_cnt;
	a->rnr_retry = q->rnr_retry;
	a->max_rd_atomic = q->max_rd_atomic;
	wire_requester_open(&c->wire);
	c->next = c->run->sq_ci;
	c->sends = true;
}

static void refresh(struct emu_conn *c, uint32_t state)
{
	const struct wire_requester *r = &c->wire.requester;

	c->wire.attr.pkey = atomic_load_explicit(&c->q->pkey, memory_order_relaxed);
	c->wire.attr.min_rnr_timer = c->q->min_rnr_timer;
	if (state != EMU_QPS_RTS || c->wire.dead)
		return;
	if (!c->sends)
		begin_sending(c, c->q->sq_psn);
	else if (r->failed)
		begin_sending(c, r->next);
}

bool emu_conn_work(uint8_t opcode, uint8_t *work)
{
	switch (opcode) {
	case EMU_WQE_SEND:
		*work = WIRE_WORK_SEND;
		return true;
	case EMU_WQE_SEND_IMM:
		*work = WIRE_WORK_SEND_IMM;
		return true;
	case EMU_WQE_SEND_INVAL:
		*work = WIRE_WORK_SEND_INV;
		return true;
	case EMU_WQE_RDMA_WRITE:
		*work = WIRE_WORK_WRITE;
		return true;
	case EMU_WQE_RDMA_WRITE_IMM:
		*work = WIRE_WORK_WRITE_IMM;
		return true;
	case EMU_WQE_RDMA_READ:
		*work = WIRE_WORK_READ;
		return true;
	case EMU_WQE_ATOMIC_CS:
		*work = WIRE_WORK_COMPARE_SWAP;
		return true;
	case EMU_WQE_ATOMIC_FA:
		*work = WIRE_WORK_FETCH_ADD;
		return true;
	default:
		return false; /* it needs no peer */
	}
}

/* Requests that need no peer wait for those before them. Returns 0: nothing can be handed over now. */
static uint16_t hand_over(struct emu_conn *c, uint16_t avail)
{
	struct wire_requester *r = &c->wire.requester;
	enum emu_syndrome refused = emu_wqe_parse(c->q, c->qpn, c->next, avail, &c->w);
	const struct emu_wqe *w = &c->w;
	struct wire_wr wr = {
		.cookie = c->next,
		.solicited = w->flags & SOLICITED,
		.fence = w->flags & FENCE,
		.len = (uint32_t)w->len,
		.raddr = w->raddr,
		.rkey = w->rkey,
		.imm = emu_get32((const uint8_t *)&w->imm),
		.swap_add = w->operand[0],
		.compare = w->operand[1],
		.srqn = w->srqn,
	};
	uint16_t before = c->next;

	c->parsed = !refused;
	c->parsed_ci = c->next;
	if (!refused && emu_conn_work(w->opcode, &wr.work)) {
		if (!wire_qp_post(&c->wire, &wr))
			return 0;
		c->next = (uint16_t)(c->next + w->blocks);
	} else if (r->head == r->tail && !c->done && emu_sq_step(c->e, c->qpn)) {
		c->next = c->run->sq_ci;
	}
	return (uint16_t)(c->next - before);
}

static void post(struct emu_conn *c)
{
	uint16_t ready = emu_sq_posted(c->q, c->run);
	uint16_t handed = (uint16_t)(c->next - c->run->sq_ci);
	uint16_t avail = (uint16_t)(ready - handed), n;

	for (unsigned int i = 0;
	     i < ENGINE_BUDGET && avail && atomic_load(&c->q->state) == EMU_QPS_RTS; i++) {
		n = hand_over(c, avail);
		if (!n)
			return;
		c->e->pass.worked = true;
		avail = (uint16_t)(avail - n);
	}
}

/* --- packets ---------------------------------------------------------------------------------- */

static bool is_cut_off(const struct emu_conn *c)
{
	return atomic_load(&c->q->dest_func) != EMU_ON_WIRE ||
	       (c->e->pass.qp_faults && emu_fault_silences(c->q, c->q));
}

static void output(struct emu_conn *c)
{
	struct engine *e = c->e;
	uint64_t deadline;

	for (unsigned int i = 0; i < ENGINE_BUDGET; i++) {
		uint8_t *out = emu_net_reserve(e);
		size_t len = wire_qp_output(&c->wire, e->pass.now, out);

		if (!len)
			break;
		e->pass.worked = true;
		if (is_cut_off(c))
			continue;
		emu_net_send(e, c->qpn, c->endpoint, &c->wire.attr.path, c->flow, len);
		emu_count_sent_packet(e, c->q, len);
	}
	deadline = wire_qp_deadline(&c->wire);
	if (deadline < e->pass.deadline)
		e->pass.deadline = deadline;
}

/*
 * What was in flight has been flushed, and what was not handed over follows. The state may be newer: a queue pair that
 * failed in the course of this pass may have work in flight, which is flushed in the next one.
 */
static void flush(struct emu_conn *c)
{
	if (!c->wire.dead && !c->wire.requester.failed)
		return;
	emu_conn_finish_all(c);
	emu_sq_flush(c->e, c->qpn);
	if (c->wire.dead)
		emu_rq_flush(c->e, c->qpn);
}

/* Everything is acknowledged, or was sent and nobody answers; or the peer has no receive, or no packet reaches it. */
static bool is_idle(struct emu_conn *c)
{
	const struct wire_requester *r = &c->wire.requester;
	uint16_t handed = (uint16_t)(c->next - c->run->sq_ci);

	if (r->una != c->una || r->end != c->end)
		c->moved = c->e->pass.now;
	c->una = r->una;
	c->end = r->end;
	if (r->rnr_at || is_cut_off(c))
		return true;
	return emu_sq_posted(c->q, c->run) == handed &&
	       (r->head == r->tail ||
		(r->top == r->end && c->e->pass.now - c->moved >= NO_ANSWER_NS));
}

void emu_conn_advance(struct emu_conn *c)
{
	uint32_t state = atomic_load(&c->q->state);

	c->parsed = false;
	refresh(c, state);
	emu_conn_finish(c);
	if (state == EMU_QPS_ERR && !c->wire.dead)
		wire_qp_fail(&c->wire);
	else if (state == EMU_QPS_SQE &&
		 !c->wire.requester.failed) /* what needs no peer has failed */
		wire_requester_flush(&c->wire, EMU_SYN_FLUSH);
	else if (state == EMU_QPS_RTS)
		post(c);
	output(c);
	if (is_idle(c))
		emu_engine_qp_note_rest(c->e, c->q);
	c->parsed = false;
	flush(c);
	if (atomic_load_explicit(&c->q->done, memory_order_relaxed) != c->run->sq_ci)
		atomic_store(&c->q->done, c->run->sq_ci);
}

/* The retries of a request are not counted. */
static void count_wrong_pkey(struct emu_conn *c, uint32_t psn)
{
	if (!c->wrong_pkey || c->wrong_pkey_psn != psn)
		emu_count_violation(c->e, c->q, EMU_COUNTER_bad_pkey_cntr);
	c->wrong_pkey = true;
	c->wrong_pkey_psn = psn;
}

/* What packets of one queue pair cause, acknowledgements above all, goes together when they were all processed. */
void emu_conn_answer(struct engine *e)
{
	struct emu_conn *c = e->conns.answering ? e->conns.of[e->conns.answering] : NULL;

	e->conns.answering = 0;
	if (c)
		output(c);
}

/*
 * A READ is answered before the next request is executed, unless its answer is longer than what a queue pair sends in
 * a pass: IBA allows that later requests overtake it (10.8.3.3), and programs do not expect it.
 */
enum wire_drop emu_conn_input(struct emu_conn *c, const struct wire_path *from,
			      const struct wire_packet *p)
{
	uint32_t state = atomic_load(&c->q->state);
	enum wire_drop drop;
	bool fresh;

	if (state < EMU_QPS_RTR || state == EMU_QPS_ERR || is_cut_off(c))
		return WIRE_DROP_STATE;
	c->parsed = false;
	if (c->e->conns.answering != c->qpn)
		emu_conn_answer(c->e);
	c->e->conns.answering = c->qpn;
	if (wire_kind_is_request(p->op.kind) && wire_replies_are_pending(&c->wire)) {
		emu_cq_publish(c->e);
		output(c);
	}
	fresh = p->psn == c->wire.responder.epsn;
	drop = wire_qp_input(&c->wire, c->e->pass.now, from, p);
	if (drop == WIRE_DROP_PKEY)
		count_wrong_pkey(c, p->psn);
	emu_count_arrived_packet(c->e, c->q, p, fresh && drop == WIRE_ACCEPTED);
	return drop;
}
