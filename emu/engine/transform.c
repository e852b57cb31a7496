/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/engine/transform.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/engine/memory/access.h"
#include "emu/engine/memory/copy.h"
#include "emu/engine/send.h"
#include "emu/engine/state.h"

/* Bytes that are read and written before others have their turn. */
#define TURN	 (128u << 10)

#define TOO_LONG 0x84 /* emu_cqe.hw_syndrome; drivers of DPDK print it */

static const struct emu_domain *domain(struct emu_send *s, uint32_t need)
{
	s->here.need = need;
	return &s->here;
}

static const struct emu_transform_ops *ops_of(const struct emu_send *s)
{
	return s->w.opmod == EMU_MMO_crypto ? &emu_transform_crypto : &emu_transform_compress;
}

/* --- the engine's owner and memory ------------------------------------------------------------ */

static bool owns(const struct engine *e, uint32_t qpn)
{
	const struct emu_transform *t = &e->transform;

	return t->stream && t->qpn == qpn && t->serial == e->qp_run[qpn].serial &&
	       t->resets == e->qp_run[qpn].resets;
}

/* Does a queue have the engine that still is what it was when its request began? */
static bool is_taken(const struct engine *e)
{
	const struct emu_transform *t = &e->transform;
	const struct emu_qp *q = &e->cfg.queues->qp[t->qpn];

	return t->stream && atomic_load(&q->serial) == t->serial &&
	       atomic_load(&q->resets) == t->resets;
}

static void release(struct engine *e)
{
	if (e->transform.stream)
		emu_stream_close(e->transform.stream);
	e->transform.stream = NULL;
}

void emu_transform_end(struct engine *e, uint32_t qpn)
{
	if (owns(e, qpn))
		release(e);
}

void emu_transform_prune(struct engine *e)
{
	if (!is_taken(e))
		release(e);
}

void emu_transform_close(struct engine *e)
{
	struct emu_transform *t = &e->transform;

	release(e);
	if (t->memory)
		syscall(SYS_munmap, t->memory, t->memory_bytes);
	*t = (struct emu_transform){0};
}

/* Core dumps of the program do not contain it. */
static bool enlarge(struct engine *e, size_t bytes)
{
	struct emu_transform *t = &e->transform;
	long p;

	if (t->memory_bytes >= bytes)
		return true;
	emu_transform_close(e);
	p = syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == -1)
		return false;
	syscall(SYS_madvise, p, bytes, MADV_DONTDUMP);
	t->memory = (void *)p;
	t->memory_bytes = bytes;
	return true;
}

/* --- a request -------------------------------------------------------------------------------- */

static bool may_access(struct emu_send *s)
{
	const struct emu_sge *sge = s->w.sge;
	struct emu_memory *mem = &s->e->memory;

	return emu_sge_check(mem, domain(s, ops_of(s)->result_rights), &sge[0], 1) &&
	       emu_sge_check(mem, domain(s, EMU_LR), &sge[1], 1) &&
	       emu_sge_check(mem, domain(s, EMU_LW), &sge[2], 1);
}

static int open_stream(struct emu_send *s, const struct emu_stream_format *format)
{
	struct emu_transform *t = &s->e->transform;

	if (!enlarge(s->e, emu_stream_bytes(format, s->w.len)))
		return EMU_SYN_LOC_QP_OP;
	t->stream = emu_stream_open(t->memory, format, s->w.len);
	return t->stream ? EMU_STEP_MORE : (int)EMU_SYN_LOC_QP_OP;
}

static int begin(struct emu_send *s)
{
	struct emu_transform *t = &s->e->transform;
	struct emu_stream_format format = {0};
	int result;

	if (!may_access(s))
		return EMU_SYN_LOC_PROT;
	release(s->e);
	result = ops_of(s)->read_format(s, &format);
	if (result == EMU_STEP_MORE)
		result = open_stream(s, &format);
	if (result != EMU_STEP_MORE)
		return result;
	s->run->done = 0;
	t->ops = ops_of(s);
	t->in_len = s->w.len;
	t->qpn = s->qpn;
	t->serial = s->run->serial;
	t->resets = s->run->resets;
	t->piece_len = 0;
	t->state = EMU_STREAM_MORE;
	return EMU_STEP_MORE;
}

static uint32_t turn_of(uint64_t left)
{
	return left < TURN ? (uint32_t)left : TURN;
}

static int read_some(struct emu_send *s)
{
	uint64_t at = s->run->done;
	uint32_t n = turn_of(s->w.len - at);

	if (!emu_sge_read(&s->e->memory, domain(s, EMU_LR), &s->w.sge[1], 1, at,
			  emu_stream_in(s->e->transform.stream) + at, n))
		return EMU_SYN_LOC_PROT;
	s->run->done += n;
	s->moved += n;
	return EMU_STEP_MORE;
}

static int write_some(struct emu_send *s)
{
	struct emu_transform *t = &s->e->transform;
	uint32_t n = turn_of(t->piece_len);

	if (!emu_sge_write(&s->e->memory, domain(s, EMU_LW), &s->w.sge[2], 1, s->run->produced,
			   t->piece, n))
		return EMU_SYN_LOC_PROT;
	s->run->produced += n;
	s->moved += n;
	t->piece += n;
	t->piece_len -= n;
	return EMU_STEP_MORE;
}

static int finish(struct emu_send *s, uint8_t syndrome)
{
	struct emu_transform *t = &s->e->transform;

	if (syndrome)
		s->run->produced = 0;
	if (!t->ops->put_result(s, t->stream, syndrome))
		return EMU_SYN_LOC_PROT;
	s->run->hw_syndrome = syndrome;
	release(s->e);
	return syndrome ? EMU_STEP_BAD : (int)EMU_SYN_OK;
}

static int transform(struct emu_send *s)
{
	struct emu_transform *t = &s->e->transform;

	if (t->state == EMU_STREAM_END)
		return finish(s, 0);
	if (t->state == EMU_STREAM_MORE)
		t->state = emu_stream_next(t->stream, &t->piece, &t->piece_len);
	if (t->state == EMU_STREAM_BAD)
		return finish(s, t->ops->bad_input);
	s->moved += TURN / 2; /* what it costs besides moving bytes */
	return EMU_STEP_MORE;
}

static int advance(struct emu_send *s)
{
	const struct emu_transform *t = &s->e->transform;

	if (s->run->done < s->w.len)
		return read_some(s);
	if (s->run->produced + t->piece_len > s->w.sge[2].len)
		return finish(s, TOO_LONG);
	return t->piece_len ? write_some(s) : transform(s);
}

/* Another queue has the engine; while it waits for a page, so does this one. */
static int wait_for_turn(struct emu_send *s)
{
	s->run->barred = s->e->qp_run[s->e->transform.qpn].barred;
	return EMU_STEP_WAIT;
}

/* Has the work request been rewritten while it was executed? */
static bool is_changed(const struct emu_send *s)
{
	return s->w.len != s->e->transform.in_len || ops_of(s) != s->e->transform.ops;
}

int emu_transform_step(struct emu_send *s)
{
	const uint64_t began = s->moved;
	int result = EMU_STEP_MORE;

	if (!owns(s->e, s->qpn)) {
		if (is_taken(s->e))
			return wait_for_turn(s);
		result = begin(s);
		if (result == EMU_STEP_WAIT)
			return result;
	}
	if (result == EMU_STEP_MORE && is_changed(s))
		return EMU_SYN_LOC_QP_OP;
	while (result == EMU_STEP_MORE && s->moved - began < TURN)
		result = advance(s);
	s->e->pass.worked = true;
	if (result == EMU_STEP_MORE)
		s->moved = ENGINE_CHUNK;
	return result;
}
