/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/engine/conn.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/engine/count.h"
#include "emu/engine/cq.h"
#include "emu/engine/fault.h"
#include "emu/engine/memory/access.h"
#include "emu/engine/memory/wire.h"
#include "emu/engine/net.h"
#include "emu/engine/notes.h"
#include "emu/engine/receive.h"
#include "emu/engine/rq.h"
#include "emu/engine/send.h"
#include "emu/engine/sq.h"
#include "emu/engine/srq.h"
#include "emu/engine/state.h"
#include "emu/engine/umr.h"
#include "emu/ipc/path_mtu.h"
#include "emu/wire/qp.h"

#define SOLICITED  0x02u /* in fm_ce_se */
#define FENCE	   0xe0u
#define ALL	   UINT16_MAX
#define PAGE_BYTES 4096u
#define QUIET_NS   100000000u /* without an answer */

struct emu_conn {
	struct wire_qp wire;
	struct engine *e;
	struct emu_qp *q;
	struct emu_qp_run *run;
	uint32_t qpn;
	uint32_t serial, resets; /* of the queue pair */
	uint32_t endpoint;
	uint16_t flow;
	bool foreign; /* a packet of another partition has arrived, the last one with foreign_psn */
	uint32_t foreign_psn;
	bool sends;	   /* it was in RTS */
	uint16_t next;	   /* the WQE of the send ring that is handed over next */
	uint32_t done;	   /* requests that succeeded; their completions are delayed */
	uint32_t una, end; /* the requester's, and when one of them changed last */
	uint64_t moved;
	struct emu_wqe w;   /* parsed last: */
	bool parsed;	    /* in this pass */
	uint16_t parsed_ci; /* where it is */
	struct emu_receiver rx;
};

/* --- memory ----------------------------------------------------------------------------------- */

static struct emu_domain local(const struct emu_conn *c, uint32_t need)
{
	return (struct emu_domain){c->q->func, c->q->pdn, need, c->e->memory.pid, c->qpn};
}

/* With XRC the SRQ decides what a request may access (IBA A14.2). False: there is no such SRQ. */
static bool remote(const struct emu_conn *c, uint32_t srqn, uint32_t need, struct emu_domain *d)
{
	const struct emu_srq *srq;

	*d = local(c, need);
	if (c->q->type != EMU_QPT_XRC_TGT)
		return true;
	srq = emu_srq_of_xrc(c->e, c->q, srqn);
	if (srq)
		d->pdn = srq->pdn;
	return srq;
}

/* The WQE of a request in flight; the driver does not write it again before it is completed. */
static const struct emu_wqe *wqe_of(struct emu_conn *c, const struct wire_wr *wr)
{
	uint16_t ci = (uint16_t)wr->cookie;

	if (c->parsed && c->parsed_ci == ci)
		return &c->w;
	c->parsed = emu_wqe_parse(c->q, c->qpn, ci, ALL, &c->w) == EMU_SYN_OK;
	c->parsed_ci = ci;
	return c->parsed ? &c->w : NULL;
}

static enum emu_syndrome gather(void *ctx, const struct wire_wr *wr, uint32_t at, uint8_t *out,
				uint32_t len)
{
	struct emu_conn *c = ctx;
	const struct emu_wqe *w = wqe_of(c, wr);
	const struct emu_domain here = local(c, EMU_LR);

	if (!w || !emu_sge_read(&c->e->memory, &here, w->sge, w->nsge, at, out, len))
		return EMU_SYN_LOC_PROT;
	return EMU_SYN_OK;
}

static enum emu_syndrome scatter(void *ctx, const struct wire_wr *wr, uint32_t at,
				 const uint8_t *in, uint32_t len)
{
	struct emu_conn *c = ctx;
	const struct emu_wqe *w = wqe_of(c, wr);
	const struct emu_domain here = local(c, EMU_LW);

	if (!w || !emu_sge_write(&c->e->memory, &here, w->sge, w->nsge, at, in, len))
		return EMU_SYN_LOC_PROT;
	return EMU_SYN_OK;
}

static enum wire_answer reach(void *ctx, enum wire_access access, const struct wire_remote *m)
{
	static const struct {
		uint32_t qp, key;
	} needs[] = {
		[WIRE_REMOTE_WRITE] = {EMU_QP_REMOTE_WRITE, EMU_RW},
		[WIRE_REMOTE_READ] = {EMU_QP_REMOTE_READ, EMU_RR},
		[WIRE_REMOTE_ATOMIC] = {EMU_QP_REMOTE_ATOMIC, EMU_RA},
	};
	const struct emu_conn *c = ctx;
	struct emu_domain d;

	if (!(c->q->access & needs[access].qp) || !remote(c, m->srqn, needs[access].key, &d))
		return WIRE_REFUSE_REQUEST;
	if (m->len && !emu_mkey_check(&c->e->memory, &d, m->rkey, m->va, m->len))
		return WIRE_REFUSE_ACCESS;
	return WIRE_DONE;
}

static enum wire_answer read_memory(void *ctx, const struct wire_remote *m, uint8_t *out)
{
	const struct emu_conn *c = ctx;
	struct emu_domain d;

	if (!remote(c, m->srqn, EMU_RR, &d) ||
	    !emu_key_read(&c->e->memory, &d, m->rkey, m->va, out, m->len))
		return WIRE_REFUSE_ACCESS;
	return WIRE_DONE;
}

static enum wire_answer write_memory(void *ctx, const struct wire_remote *m, const uint8_t *in)
{
	const struct emu_conn *c = ctx;
	struct emu_domain d;

	if (!remote(c, m->srqn, EMU_RW, &d) ||
	    !emu_key_write(&c->e->memory, &d, m->rkey, m->va, in, m->len))
		return WIRE_REFUSE_ACCESS;
	return WIRE_DONE;
}

struct change {
	enum wire_work work;
	uint64_t swap_add, compare, original;
};

/* Memory is in host order (atomic endianness mode 1). */
static void change_cell(uint64_t *cell, void *arg)
{
	struct change *x = arg;

	if (x->work == WIRE_WORK_FETCH_ADD) {
		x->original = __atomic_fetch_add(cell, x->swap_add, __ATOMIC_SEQ_CST);
		return;
	}
	x->original = x->compare;
	__atomic_compare_exchange_n(cell, &x->original, x->swap_add, false, __ATOMIC_SEQ_CST,
				    __ATOMIC_SEQ_CST);
}

static enum wire_answer change_memory(void *ctx, const struct wire_remote *m, enum wire_work work,
				      uint64_t swap_add, uint64_t compare, uint64_t *original)
{
	struct change x = {.work = work, .swap_add = swap_add, .compare = compare};
	const struct emu_conn *c = ctx;
	struct emu_seg_list cell = {0};
	struct emu_domain d;

	if (!remote(c, m->srqn, EMU_RA, &d) ||
	    !emu_mkey_translate(&c->e->memory, &d, m->rkey, m->va, sizeof(uint64_t), &cell))
		return WIRE_REFUSE_ACCESS;
	switch (emu_memory_atomic(&c->e->memory, &cell.seg[0], change_cell, &x)) {
	case EMU_ATOMIC_DONE:
		*original = x.original;
		return WIRE_DONE;
	case EMU_ATOMIC_BUSY:
		return WIRE_LATER;
	default:
		return WIRE_CANNOT;
	}
}

/* --- receives --------------------------------------------------------------------------------- */

static enum wire_answer take(void *ctx, uint32_t srqn, uint64_t *room)
{
	struct emu_conn *c = ctx;
	struct emu_wqe w;

	if (!emu_receiver_find(&c->rx, srqn))
		return WIRE_REFUSE_REQUEST;
	if ((c->e->pass.qp_faults && emu_fault_unready(c->q)) || emu_receiver_frozen(&c->rx) ||
	    !emu_receiver_take(&c->rx, &w)) {
		emu_count_violation(c->e, c->q, EMU_COUNTER_out_of_buffer);
		return WIRE_NOT_READY;
	}
	*room = w.len;
	return WIRE_DONE;
}

/* An SRQ may have ended since the receive was taken. */
static bool find_taken(struct emu_conn *c)
{
	return emu_receiver_find(&c->rx, c->run->rx_srqn);
}

static enum wire_answer fill(void *ctx, uint32_t at, const uint8_t *in, uint32_t len)
{
	struct emu_conn *c = ctx;
	struct emu_domain here = local(c, EMU_LW);
	struct emu_wqe w;

	if (!find_taken(c) || !emu_receiver_take(&c->rx, &w))
		return WIRE_CANNOT;
	if (c->rx.srq)
		here.pdn = c->rx.srq->pdn;
	if (!emu_sge_write(&c->e->memory, &here, w.sge, w.nsge, at, in, len))
		return WIRE_CANNOT;
	return WIRE_DONE;
}

static void put_back(void *ctx)
{
	struct emu_conn *c = ctx;

	if (find_taken(c))
		emu_receiver_put_back(&c->rx);
	else
		emu_receiver_let_go(&c->rx);
}

static enum wire_answer invalidate(void *ctx, uint32_t srqn, uint32_t rkey, enum emu_syndrome *why)
{
	const struct emu_umr what = {.op = EMU_UMR_INVALIDATE, .key = rkey, .srqn = srqn};
	const struct emu_conn *c = ctx;
	uint32_t answer = emu_umr_step(c->e, c->qpn, EMU_UMR_RQ, &what);

	if (answer == ENGINE_UMR_WAIT)
		return WIRE_LATER;
	*why = (enum emu_syndrome)answer;
	return answer ? WIRE_CANNOT : WIRE_DONE;
}

static uint8_t opcode_of(const struct wire_receipt *r)
{
	switch (r->work) {
	case WIRE_WORK_SEND_IMM:
		return EMU_CQE_RESP_SEND_IMM;
	case WIRE_WORK_SEND_INV:
		return EMU_CQE_RESP_SEND_INV;
	case WIRE_WORK_WRITE_IMM:
		return EMU_CQE_RESP_WR_IMM;
	default:
		return EMU_CQE_RESP_SEND;
	}
}

static void received(void *ctx, const struct wire_receipt *receipt)
{
	struct emu_conn *c = ctx;
	struct emu_cqe cqe = {
		.opcode = opcode_of(receipt),
		.solicited = receipt->solicited,
		.src_qpn = c->q->dest_qpn,
		.byte_cnt = receipt->len,
	};

	emu_put32((uint8_t *)&cqe.imm, receipt->imm);
	if (receipt->syndrome != EMU_SYN_OK)
		emu_engine_qp_fail(c->q);
	emu_cq_answered(c->e, c->q->recv_cqn);
	if (!find_taken(c))
		emu_receiver_let_go(&c->rx);
	else if (receipt->syndrome != EMU_SYN_OK)
		emu_receiver_push_error(&c->rx, receipt->syndrome);
	else
		emu_receiver_push(&c->rx, &cqe);
}

static int receives(void *ctx)
{
	const struct emu_conn *c = ctx;

	if (c->q->srqn || c->q->type == EMU_QPT_XRC_TGT)
		return -1;
	return emu_receives_posted(c->q, c->run);
}

/* --- ends ------------------------------------------------------------------------------------- */

static void finish(struct emu_conn *c)
{
	while (c->done && emu_sq_finish(c->e, c->qpn))
		c->done--;
	if (c->done && c->run->held_until < c->e->pass.deadline)
		c->e->pass.deadline = c->run->held_until;
}

/* The queue has failed: a completion is delayed no more. */
static void finish_all(struct emu_conn *c)
{
	for (; c->done; c->done--)
		emu_sq_complete(c->e, c->qpn, EMU_SYN_OK);
}

static void succeed(struct emu_conn *c, const struct wire_wr *wr)
{
	uint32_t cqn = c->q->send_cqn, before = emu_cq_produced(c->e, cqn);

	c->done++;
	finish(c);
	if (wr->work <= WIRE_WORK_SEND_INV && cqn == c->q->recv_cqn &&
	    emu_cq_produced(c->e, cqn) != before)
		emu_cq_sent(c->e, cqn);
}

/* It is the oldest one. */
static void finished(void *ctx, const struct wire_wr *wr, enum emu_syndrome syndrome)
{
	struct emu_conn *c = ctx;

	if (syndrome == EMU_SYN_OK) {
		succeed(c, wr);
		return;
	}
	finish_all(c);
	emu_sq_complete(c->e, c->qpn, syndrome);
}

static void event(void *ctx, enum wire_event what)
{
	struct emu_conn *c = ctx;

	switch (what) {
	case WIRE_EVENT_ESTABLISHED:
		if (atomic_load(&c->q->state) == EMU_QPS_RTR)
			emu_engine_qp_heard(c->e, c->q);
		break;
	case WIRE_EVENT_REQUEST_ERROR:
		emu_rq_violation(c->e, c->q, EMU_EVENT_QP_REQ_ERR);
		break;
	case WIRE_EVENT_ACCESS_ERROR:
		emu_count_violation(c->e, c->q, EMU_COUNTER_resp_remote_access_errors);
		emu_rq_violation(c->e, c->q, EMU_EVENT_QP_ACCESS_ERR);
		break;
	case WIRE_EVENT_ERROR:
		emu_engine_qp_fail(c->q);
		break;
	case WIRE_EVENT_SEND_ERROR:
		break; /* finished() has moved it to SQE */
	}
}

static void count(void *ctx, enum wire_count what)
{
	static const enum emu_counter counters[WIRE_COUNT_COUNT] = {
		[WIRE_COUNT_OUT_OF_SEQUENCE] = EMU_COUNTER_out_of_sequence,
		[WIRE_COUNT_DUPLICATE] = EMU_COUNTER_duplicate_request,
		[WIRE_COUNT_SEQUENCE_NAK] = EMU_COUNTER_packet_seq_err,
		[WIRE_COUNT_IMPLIED_NAK] = EMU_COUNTER_implied_nak_seq_err,
		[WIRE_COUNT_RNR_NAK] = EMU_COUNTER_rnr_nak_retry_err,
		[WIRE_COUNT_TIMEOUT] = EMU_COUNTER_local_ack_timeout_err,
		[WIRE_COUNT_MARKED] = EMU_COUNTER_np_ecn_marked_roce_packets,
		[WIRE_COUNT_CNP_SENT] = EMU_COUNTER_np_cnp_sent,
		[WIRE_COUNT_CNP_TAKEN] = EMU_COUNTER_rp_cnp_handled,
	};
	const struct emu_conn *c = ctx;

	emu_count_one(c->e, c->q->func, counters[what]);
}

static const struct wire_ops ops = {
	.gather = gather,
	.scatter = scatter,
	.finished = finished,
	.reach = reach,
	.read = read_memory,
	.write = write_memory,
	.atomic = change_memory,
	.take = take,
	.fill = fill,
	.put_back = put_back,
	.invalidate = invalidate,
	.received = received,
	.receives = receives,
	.event = event,
	.count = count,
};

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
	wire_qp_open(&c->wire, &attr, &ops, c);
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
	uint32_t i;

	for (i = 0; e->net.granted && i < EMU_MAX_QPS; i++)
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
	unsigned int i;

	for (i = 0; i < ENGINE_BUDGET && avail && atomic_load(&c->q->state) == EMU_QPS_RTS; i++) {
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
	unsigned int i;

	for (i = 0; i < ENGINE_BUDGET; i++) {
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
	finish_all(c);
	emu_sq_flush(c->e, c->qpn);
	if (c->wire.dead)
		emu_rq_flush(c->e, c->qpn);
}

/* Everything is acknowledged, or was sent and nobody answers; or the peer has no receive, or no packet reaches it. */
static bool rests(struct emu_conn *c)
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
	       (r->head == r->tail || (r->top == r->end && c->e->pass.now - c->moved >= QUIET_NS));
}

void emu_conn_advance(struct emu_conn *c)
{
	uint32_t state = atomic_load(&c->q->state);

	c->parsed = false;
	refresh(c, state);
	finish(c);
	if (state == EMU_QPS_ERR && !c->wire.dead)
		wire_qp_fail(&c->wire);
	else if (state == EMU_QPS_SQE &&
		 !c->wire.requester.failed) /* what needs no peer has failed */
		wire_requester_flush(&c->wire, EMU_SYN_FLUSH);
	else if (state == EMU_QPS_RTS)
		post(c);
	output(c);
	if (rests(c))
		emu_engine_qp_rests(c->e, c->q);
	c->parsed = false;
	flush(c);
	if (atomic_load_explicit(&c->q->done, memory_order_relaxed) != c->run->sq_ci)
		atomic_store(&c->q->done, c->run->sq_ci);
}

/* The retries of a request are not counted. */
static void count_foreign(struct emu_conn *c, uint32_t psn)
{
	if (!c->foreign || c->foreign_psn != psn)
		emu_count_violation(c->e, c->q, EMU_COUNTER_bad_pkey_cntr);
	c->foreign = true;
	c->foreign_psn = psn;
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
		count_foreign(c, p->psn);
	emu_count_arrived_packet(c->e, c->q, p, fresh && drop == WIRE_ACCEPTED);
	return drop;
}
