/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Completion queues: writing CQEs, overrun, completion events.
 */
#include "emu/engine/cq.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "emu/engine/count.h"
#include "emu/engine/fault.h"
#include "emu/engine/memory/segments.h"
#include "emu/engine/memory/wire.h"
#include "emu/engine/notes.h"
#include "emu/engine/state.h"
#include "emu/ipc/codes.h"

#define CI_MASK	      0xffffffu
#define ARM_SOLICITED (1u << 24)
#define QPN_MASK      0xffffffu
#define VENDOR_ENGINE 0x9d /* vendor_err_synd: see hw_error_syndrome */
#define AHEAD	      4	   /* entries */

static void close_channel(struct engine *e, struct emu_cq_run *r)
{
	if (!r->channel)
		return;
	syscall(SYS_close, r->channel - 1);
	r->channel = 0;
	e->cq.channels--;
}

static struct emu_cq *find(struct engine *e, uint32_t cqn, struct emu_cq_run **run)
{
	struct emu_cq_run *r;
	struct emu_cq *cq;
	uint32_t serial;

	if (cqn >= EMU_MAX_CQS)
		return NULL;
	cq = &e->cfg.queues->cq[cqn];
	serial = atomic_load(&cq->serial); /* grace.pml: look_up */
	if (!serial || cq->engine != e->cfg.slot)
		return NULL;
	r = &e->cq.run[cqn];
	if (r->serial != serial) {
		close_channel(e, r);
		memset(r, 0, sizeof(*r));
		r->serial = serial;
	}
	*run = r;
	return cq;
}

static uint8_t vendor_of(uint8_t syndrome)
{
#define VENDOR(name, number, vendor, word, meaning) \
	case number:                                \
		return vendor;
	switch (syndrome) {
		EMU_CQE_SYNDROMES(VENDOR)
	default:
		return UINT8_MAX; /* a fault on demand */
	}
#undef VENDOR
}

/* Write all but the time, which is equal for CQEs published together, and the last byte. */
static inline __attribute__((always_inline)) void fill(struct emu_cqe64 *to,
						       const struct emu_cqe *cqe)
{
	memset(to, 0, offsetof(struct emu_cqe64, op_own));
	emu_put32(to->flags_rqpn, (uint32_t)cqe->net << 24 | (cqe->src_qpn & QPN_MASK));
	emu_put32(to->srqn_uidx, cqe->uidx & QPN_MASK);
	memcpy(to->imm_inval_pkey, &cqe->imm, sizeof(to->imm_inval_pkey));
	emu_put32(to->byte_cnt, cqe->byte_cnt);
	to->err.syndrome = cqe->syndrome;
	if (cqe->syndrome) {
		to->err.hw_error_syndrome = cqe->hw_syndrome;
		to->err.vendor_err_synd =
			cqe->hw_syndrome ? VENDOR_ENGINE : vendor_of(cqe->syndrome);
	}
	emu_put32(to->sop_drop_qpn, (uint32_t)cqe->wqe_opcode << 24 | (cqe->qpn & QPN_MASK));
	emu_put16(to->wqe_counter, cqe->wqe_counter);
}

bool emu_cq_frozen(const struct engine *e, uint32_t cqn)
{
	/* a server that has ended never thaws it */
	return !e->abandoned && cqn < EMU_MAX_CQS && atomic_load(&e->cfg.queues->cq[cqn].frozen);
}

static bool is_full(const struct emu_cq *cq, uint32_t ci)
{
	return !cq->overwrites && ((cq->pi - ci) & CI_MASK) >= cq->entries;
}

/* The batch's CQ was checked in this pass. */
static struct emu_cq *find_fast(struct engine *e, uint32_t cqn, struct emu_cq_run **run)
{
	if (!e->cq.batch.n || e->cq.batch.cqn != cqn)
		return find(e, cqn, run);
	*run = &e->cq.run[cqn];
	return e->cq.batch.cq;
}

static uint8_t *entry(const struct emu_cq *cq, uint32_t index)
{
	return emu_own(cq->buf_addr) + (size_t)(index & (cq->entries - 1)) * cq->cqe_size;
}

/* The 64 bytes of an entry that form the CQE. */
static struct emu_cqe64 *cqe64(const struct emu_cq *cq, uint32_t index)
{
	return (struct emu_cqe64 *)(entry(cq, index) + cq->cqe_size - sizeof(struct emu_cqe64));
}

static void *blank_entry(const struct emu_cq *cq, uint32_t index)
{
	if (cq->padded)
		memset(entry(cq, index), 0, cq->cqe_size - sizeof(struct emu_cqe64));
	return cqe64(cq, index);
}

uint32_t emu_cq_produced(const struct engine *e, uint32_t cqn)
{
	return cqn < EMU_MAX_CQS ? e->cfg.queues->cq[cqn].pi : 0;
}

void emu_cq_publish(struct engine *e)
{
	struct emu_cq_batch *b = &e->cq.batch;
	const struct emu_cq *cq = b->cq;
	uint64_t now;

	if (!b->n)
		return;
	now = monotonic_ns();
	e->pass.now = now;
	e->pass.timed = true;
	for (uint32_t i = 0; i < b->n; i++) {
		struct emu_cqe64 *cqe = cqe64(cq, cq->pi - b->n + i);

		if (b->op_own[i] >> 4 < EMU_CQE_REQ_ERR)
			emu_put64(cqe->timestamp, now);
		/* cq.pml: cqe_store */
		__atomic_store_n(&cqe->op_own, b->op_own[i], __ATOMIC_RELEASE);
	}
	b->n = 0;
}

/* Prefetch it for writing; the driver has read it on another processor. */
static void prefetch_for_write(const struct emu_cqe64 *p)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*p));
#else
	__builtin_prefetch(p, 1);
#endif
}

/*
 * False if the ring is full. The consumer's index, which another processor writes, is read only if
 * its last known value means that the ring is full.
 */
static bool make_room(struct engine *e, struct emu_cq *cq, uint32_t cqn, struct emu_cq_run *r)
{
	struct emu_cq_batch *b = &e->cq.batch;

	if (b->n == ENGINE_CQES || b->cq != cq)
		emu_cq_publish(e);
	b->cq = cq;
	b->cqn = cqn;
	if (!is_full(cq, r->ci))
		return true;
	r->ci = emu_dbr_word(cq->dbr_addr, 0);
	return !is_full(cq, r->ci);
}

/*
 * Compression. A session of n completions has n entries of the ring. The first entry is the title:
 * the CQE of the first completion, marked as compressed, with n in place of its length. The next
 * entry holds mini CQEs, eight per entry, from the first completion on; every further eight are at a
 * multiple of 8 entries from the title. The other entries stay unchanged: the poller marks them as
 * consumed. (Layout 0 of the CQ context, as Linux' mlx5_core and DPDK read it.)
 *
 * Devices choose when to compress. This one compresses plain sends without an event, from one sender
 * into WQEs of the QP's own ring, whose indices count up.
 */
#define COMPRESSED (3u << 2) /* the format in op_own */
#define MINIS	   (sizeof(struct emu_cqe64) / sizeof(struct emu_mini_cqe))

static bool is_compressible(const struct engine *e, const struct emu_cqe *cqe)
{
	const struct emu_qp *q = &e->cfg.queues->qp[cqe->qpn];

	return cqe->opcode == EMU_CQE_RESP_SEND && !cqe->solicited && !q->srqn &&
	       q->type != EMU_QPT_XRC_TGT;
}

static bool continues(const struct emu_cq_session *s, const struct emu_cqe *cqe)
{
	return cqe->qpn == s->first.qpn && cqe->src_qpn == s->first.src_qpn &&
	       cqe->net == s->first.net && cqe->uidx == s->first.uidx &&
	       cqe->wqe_counter == (uint16_t)(s->first.wqe_counter + s->n);
}

/* The rest of a compressed completion: RoCE has neither a hash nor a checksum. */
static void put_mini(struct emu_mini_cqe *to, const struct emu_cq *cq,
		     const struct emu_cq_session *s, uint32_t i)
{
	memset(to, 0, sizeof(*to));
	if (cq->mini == EMU_MINI_CSUM_STRIDX)
		emu_put16(to->stride_index, (uint16_t)(s->first.wqe_counter + i));
	emu_put32(to->byte_cnt, s->byte_cnt[i]);
}

static void put_minis(const struct emu_cq *cq, const struct emu_cq_session *s, uint32_t from,
		      uint32_t n)
{
	void *entry = blank_entry(cq, cq->pi + (from ? from : 1));
	struct emu_mini_cqe *mini = entry;

	memset(entry, 0, sizeof(struct emu_cqe64));
	for (uint32_t i = from; i < n && i < from + MINIS; i++)
		put_mini(&mini[i - from], cq, s, i);
}

static void write_session(struct engine *e, struct emu_cq *cq, uint32_t n)
{
	const struct emu_cq_session *s = &e->cq.session;
	struct emu_cqe64 *title = blank_entry(cq, cq->pi);
	uint8_t op_own = (uint8_t)(s->first.opcode << 4 | (cq->pi & cq->entries ? 1 : 0));

	e->pass.now = monotonic_ns();
	e->pass.timed = true;
	fill(title, &s->first);
	emu_put64(title->timestamp, e->pass.now);
	if (n > 1) {
		op_own |= COMPRESSED;
		emu_put32(title->byte_cnt, n);
		for (uint32_t i = 0; i < n; i += MINIS)
			put_minis(cq, s, i, n);
	}
	__atomic_store_n(&title->op_own, op_own, __ATOMIC_RELEASE);
	cq->pi += n;
}

/* Completions of a QP that was destroyed or reset are dropped: its CQ was cleaned of them. */
static bool is_current(const struct engine *e, const struct emu_cq_session *s)
{
	const struct emu_qp *q = &e->cfg.queues->qp[s->first.qpn];

	return atomic_load(&q->serial) == s->qp_serial && atomic_load(&q->resets) == s->qp_resets;
}

/* A session needs several entries, more than make_room() checks. */
static bool has_room(const struct emu_cq *cq, uint32_t n)
{
	return cq->overwrites ||
	       ((cq->pi + n - emu_dbr_word(cq->dbr_addr, 0)) & CI_MASK) <= cq->entries;
}

static void fail_cq(struct engine *e, struct emu_cq *cq, uint32_t cqn, uint32_t serial)
{
	struct emu_note note = {.type = EMU_NOTE_CQ_ERR, .number = cqn, .serial = serial};

	atomic_store(&cq->error, 1);
	emu_engine_event(e, &note);
}

static void end_session(struct engine *e)
{
	struct emu_cq_session *s = &e->cq.session;
	struct emu_cq_run *r;
	struct emu_cq *cq = find(e, s->cqn, &r);
	uint32_t n = s->n;

	emu_cq_publish(e);
	s->n = 0;
	e->pass.worked = true;
	if (!cq || r->serial != s->cq_serial || !is_current(e, s))
		return;
	if (has_room(cq, n))
		write_session(e, cq, n);
	else
		fail_cq(e, cq, s->cqn, r->serial); /* its ring was replaced by a smaller one */
}

void emu_cq_end_session(struct engine *e)
{
	if (e->cq.session.n && !emu_cq_frozen(e, e->cq.session.cqn))
		end_session(e);
}

void emu_cq_age_session(struct engine *e)
{
	const struct emu_cq_session *s = &e->cq.session;

	if (!s->n)
		return;
	if (e->pass.now - s->opened >= ENGINE_SESSION_NS ||
	    (!e->pass.worked && e->pass.now - s->grown >= ENGINE_SESSION_IDLE_NS))
		emu_cq_end_session(e);
}

static void begin_session(struct engine *e, uint32_t cqn, const struct emu_cqe *cqe)
{
	const struct emu_qp *q = &e->cfg.queues->qp[cqe->qpn];
	struct emu_cq_session *s = &e->cq.session;

	s->cqn = cqn;
	s->cq_serial = e->cq.run[cqn].serial;
	s->qp_serial = atomic_load(&q->serial);
	s->qp_resets = atomic_load(&q->resets);
	s->opened = e->pass.now;
	s->first = *cqe;
}

/* False: it must be written now. */
static bool hold(struct engine *e, const struct emu_cq *cq, uint32_t cqn, const struct emu_cqe *cqe)
{
	struct emu_cq_session *s = &e->cq.session;
	bool compressible = is_compressible(e, cqe);

	/* The server may freeze a CQ during a pass: that applies from the next pass on. */
	if (s->n && s->cqn != cqn)
		emu_cq_end_session(e);
	else if (s->n && (!compressible || !continues(s, cqe) || !is_current(e, s)))
		end_session(e);
	if (!compressible || (s->n && s->cqn != cqn))
		return false;
	if (!s->n)
		begin_session(e, cqn, cqe);
	s->grown = e->pass.now;
	s->byte_cnt[s->n++] = cqe->byte_cnt;
	if (s->n >= cq->session || s->n >= cq->entries)
		end_session(e);
	return true;
}

/* Room for one more, besides the session. */
static bool has_room_beside(const struct engine *e, const struct emu_cq *cq, uint32_t cqn)
{
	return !e->cq.session.n || e->cq.session.cqn != cqn || has_room(cq, e->cq.session.n + 1);
}

static bool push(struct engine *e, uint32_t cqn, const struct emu_cqe *cqe)
{
	struct emu_cq_run *r;
	struct emu_cq *cq = find_fast(e, cqn, &r);
	struct emu_cqe other;

	if (!cq)
		return true; /* destroyed: no program reads it */
	if (e->pass.rule != EMU_CQE_NORMAL)
		cqe = emu_fault_completion(e, cqe, &other);
	if (!cqe)
		return true;
	if (atomic_load(&cq->error))
		return false;
	if (!make_room(e, cq, cqn, r) || (cq->session && !has_room_beside(e, cq, cqn))) {
		emu_cq_end_session(e);
		fail_cq(e, cq, cqn, r->serial);
		return false;
	}
	if (cq->session && hold(e, cq, cqn, cqe))
		return cqe != &other;
	prefetch_for_write(cqe64(cq, cq->pi + AHEAD));
	fill(blank_entry(cq, cq->pi), cqe);
	e->cq.batch.op_own[e->cq.batch.n++] =
		(uint8_t)(cqe->opcode << 4 | (cqe->solicited ? 2 : 0) |
			  ((cq->pi & cq->entries) ? 1 : 0));
	cq->pi++;
	if (cqe->solicited || cqe->syndrome) {
		r->solicited = cq->pi;
		r->any_solicited = true;
	}
	e->pass.worked = true;
	return cqe != &other;
}

/* Does a CQE with an index of at least ci exist, if `end` is the index after the last one? */
static bool reached(uint32_t end, uint32_t ci)
{
	uint32_t ahead = (end - ci) & CI_MASK;

	return ahead && ahead <= CI_MASK / 2;
}

/*
 * Programs size their CQs for one completion of each work request, and libmlx5 adds an entry: one
 * duplicate that is not yet read has room, a second one might overrun the CQ.
 */
static bool has_room_for_duplicate(struct engine *e, uint32_t cqn)
{
	struct emu_cq_run *r;
	const struct emu_cq *cq = find(e, cqn, &r);
	uint32_t ci;

	if (!cq)
		return false;
	ci = emu_dbr_word(cq->dbr_addr, 0);
	r->doubled = r->doubled && reached(r->doubled_pi, ci);
	return !r->doubled && ((cq->pi - ci) & CI_MASK) + 2 <= cq->entries;
}

static bool push_twice(struct engine *e, uint32_t cqn, const struct emu_cqe *cqe)
{
	bool written = push(e, cqn, cqe);
	struct emu_cq_run *r;
	const struct emu_cq *cq;

	if (written)
		written = push(e, cqn, cqe);
	cq = find(e, cqn, &r);
	if (written && cq) {
		r->doubled = true;
		r->doubled_pi = cq->pi;
	}
	return written;
}

bool emu_cq_push(struct engine *e, uint32_t cqn, const struct emu_cqe *cqe)
{
	if (cqe->syndrome)
		emu_count_completion(e, cqe);
	if (e->pass.rule == EMU_CQE_TWICE && has_room_for_duplicate(e, cqn) &&
	    emu_fault_twice(e, cqe))
		return push_twice(e, cqn, cqe);
	return push(e, cqn, cqe);
}

/*
 * Does moderation (MODIFY_CQ) delay the event? It does until the requested number of CQEs exists,
 * or the first one has waited for the whole period; a count of 0 or a period of 0 is no condition.
 */
static bool moderated(struct engine *e, const struct emu_cq *cq, struct emu_cq_run *r, uint32_t ci)
{
	uint32_t moderation = atomic_load(&cq->moderation);
	uint32_t count = moderation & 0xffff;
	uint64_t now;

	if (!count || !(moderation >> 16) || ((cq->pi - ci) & CI_MASK) >= count)
		return false;
	now = monotonic_ns();
	if (!r->held_since)
		r->held_since = now;
	if (now - r->held_since >= (uint64_t)(moderation >> 16) * 1000)
		return false;
	e->pass.worked = true; /* no sleep before it was sent */
	return true;
}

void emu_cq_sent(struct engine *e, uint32_t cqn)
{
	struct emu_cq_run *r;
	const struct emu_cq *cq = find(e, cqn, &r);

	if (!cq)
		return;
	r->is_answered = !r->sent_at;
	r->sent_at = e->pass.now;
	r->sent_pi = cq->pi;
}

void emu_cq_answered(struct engine *e, uint32_t cqn)
{
	struct emu_cq_run *r;

	if (find(e, cqn, &r))
		r->sent_at = 0;
}

/*
 * A program that sends messages and waits for replies by events would wake twice for each. The completion of a message
 * waits for the reply if the message before had one, and nothing else has completed.
 */
static bool awaits_reply(struct engine *e, const struct emu_cq *cq, const struct emu_cq_run *r)
{
	uint64_t end = r->sent_at + ENGINE_REPLY_NS;

	if (!r->sent_at || !r->is_answered || cq->pi != r->sent_pi || !r->fired ||
	    cq->pi - r->fired_pi != 1 || e->pass.now >= end)
		return false;
	if (end < e->pass.deadline)
		e->pass.deadline = end;
	return true;
}

/*
 * A request for any completion outlives a later one for solicited completions only (IBA 11.4.2.2).
 * The driver overwrites the first with the second, so only requests that this engine has seen count.
 */
static uint32_t strongest(struct emu_cq_run *r, uint32_t arm)
{
	if (arm & ARM_SOLICITED)
		return r->any ? r->any_arm : arm;
	r->any = true;
	r->any_arm = arm;
	return arm;
}

/* Without the watcher nobody may notice that the server has ended, and close the channel. */
static bool may_hold_channel(const struct engine *e)
{
	return e->doorbells.stop_fd >= 0 && e->cq.channels < ENGINE_CHANNELS;
}

void emu_cq_accept(struct engine *e, const struct emu_channel_fd *g, int fd)
{
	struct emu_cq_run *r;

	if (!find(e, g->cqn, &r) || r->serial != g->serial || r->channel || !may_hold_channel(e)) {
		syscall(SYS_close, fd);
		return;
	}
	r->channel = fd + 1;
	r->element = g->element;
	e->cq.channels++;
}

void emu_cq_prune(struct engine *e)
{
	struct emu_cq_run *r;

	for (uint32_t i = 0; e->cq.channels && i < EMU_MAX_CQS; i++) {
		r = &e->cq.run[i];
		if (r->channel && r->serial != atomic_load(&e->cfg.queues->cq[i].serial))
			close_channel(e, r);
	}
}

void emu_cq_close_channels(struct engine *e)
{
	for (uint32_t i = 0; e->cq.channels && i < EMU_MAX_CQS; i++)
		close_channel(e, &e->cq.run[i]);
}

/*
 * Report an event: the program wakes once, without the server. A program that does not read 8,192 events loses
 * those that follow, as from the server.
 */
static bool report(struct engine *e, struct emu_cq *cq, const struct emu_cq_run *r,
		   const struct emu_note *note)
{
	if (!r->channel)
		return emu_engine_note(e, note); /* notes.pml: comp_send */
	if (syscall(SYS_write, r->channel - 1, &r->element, sizeof(r->element)) ==
	    sizeof(r->element))
		atomic_fetch_add(&cq->events, 1);
	return true;
}

/*
 * Send one event per arm sequence number: the driver increments it when it has received the event.
 * CQEs that were reported once are not reported again, even if they are still there when the CQ is
 * armed again (IBA 11.4.2.2: only CQEs added afterwards count; perftest, issue 137, hung on a
 * ConnectX-5 for this reason).
 *
 * The program stores the arm word (cq.pml: arm_store), rings (cq.pml: arm_ring), polls again
 * (cq.pml: poll_again) and waits for the event (cq.pml: event_wait).
 */
void emu_cq_notify(struct engine *e, uint32_t cqn)
{
	struct emu_cq_run *r;
	struct emu_cq *cq = find(e, cqn, &r);
	struct emu_note note = {.type = EMU_NOTE_COMP, .number = cqn};
	uint32_t arm;
	uint8_t sn;

	if (!cq || !cq->has_channel)
		return;
	arm = emu_dbr_word(cq->dbr_addr, 1); /* cq.pml: arm_load */
	sn = arm >> 28 & 3;
	if (arm == EMU_CQ_UNARMED || (!r->fired && arm == EMU_CQ_INITIAL) ||
	    (r->fired && r->fired_sn == sn))
		return;
	arm = strongest(r, arm);
	if (arm & ARM_SOLICITED ? !r->any_solicited : r->fired && r->fired_pi == cq->pi)
		return;
	if (!reached(arm & ARM_SOLICITED ? r->solicited : cq->pi, arm & CI_MASK))
		return;
	if (moderated(e, cq, r, arm & CI_MASK) || awaits_reply(e, cq, r))
		return;
	note.serial = r->serial;
	if (!report(e, cq, r, &note)) { /* cq.pml: event_send */
		e->pass.unsent = true;	/* cq.pml: event_unsent */
		return;
	}
	e->cq.reported = e->pass.now;
	r->held_since = 0;
	r->any = false;
	r->fired = true;
	r->fired_sn = sn;
	r->fired_pi = cq->pi;
	r->any_solicited = false;
	e->pass.worked = true;
}
