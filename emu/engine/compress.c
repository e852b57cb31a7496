/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/engine/compress.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/engine/memory/access.h"
#include "emu/engine/memory/copy.h"
#include "emu/engine/send.h"
#include "emu/engine/state.h"

/* Bytes that are read and written before others have their turn. */
#define TURN (128u << 10)

/* emu_cqe.hw_syndrome; drivers of DPDK print both of them. */
#define BAD_INPUT 0x11
#define TOO_LONG  0x84

/* Fields of the control segment's last word. */
#define COMPRESS_WINDOW	   12 /* log2 of the window in KiB */
#define COMPRESS_BLOCK	   16
#define COMPRESS_TABLE	   20 /* log2 of the size of dynamic codes; 0: fixed ones */
#define DECOMPRESS_FORMAT  8
#define DECOMPRESS_FORM	   20
#define DECOMPRESS_LZ4	   2u
#define DECOMPRESS_ALONE   (1u << 22) /* no block refers to another one */
#define MAX_LOG_WINDOW_KIB 5
#define MIN_LOG_BLOCK	   4

static uint32_t bits(uint32_t word, unsigned int from, uint32_t mask)
{
	return word >> from & mask;
}

static bool compress_format(uint32_t control, struct emu_stream_format *f)
{
	uint32_t window = bits(control, COMPRESS_WINDOW, 15);

	f->kind = EMU_STREAM_DEFLATE;
	f->log_window = (uint8_t)(10 + window);
	f->fixed = !bits(control, COMPRESS_TABLE, 15);
	return window <= MAX_LOG_WINDOW_KIB && bits(control, COMPRESS_BLOCK, 15) >= MIN_LOG_BLOCK;
}

static bool decompress_format(const struct emu_mmo *mmo, uint32_t control,
			      struct emu_stream_format *f)
{
	uint32_t format = bits(control, DECOMPRESS_FORMAT, 15);

	f->kind = format == DECOMPRESS_LZ4 ? EMU_STREAM_LZ4 : EMU_STREAM_INFLATE;
	f->form = (enum emu_lz4_form)bits(control, DECOMPRESS_FORM, 3);
	f->independent = control & DECOMPRESS_ALONE;
	return !format || (format == DECOMPRESS_LZ4 && mmo->newer && f->form <= EMU_LZ4_CHECKED);
}

/* False: the card has no such format. */
static bool format_of(const struct emu_send *s, struct emu_stream_format *f)
{
	uint32_t control = emu_get32((const uint8_t *)&s->w.imm);

	*f = (struct emu_stream_format){0};
	return s->w.opmod == EMU_MMO_compress ? compress_format(control, f)
					      : decompress_format(&s->q->mmo, control, f);
}

static const struct emu_domain *domain(struct emu_send *s, uint32_t need)
{
	s->here.need = need;
	return &s->here;
}

/* --- the engine's owner and memory ------------------------------------------------------------ */

static bool owns(const struct engine *e, uint32_t qpn)
{
	const struct emu_compressor *c = &e->compressor;

	return c->stream && c->qpn == qpn && c->serial == e->qp_run[qpn].serial &&
	       c->resets == e->qp_run[qpn].resets;
}

void emu_compress_end(struct engine *e, uint32_t qpn)
{
	if (owns(e, qpn))
		e->compressor.stream = NULL;
}

void emu_compress_close(struct engine *e)
{
	struct emu_compressor *c = &e->compressor;

	if (c->memory)
		syscall(SYS_munmap, c->memory, c->memory_bytes);
	*c = (struct emu_compressor){0};
}

static bool enlarge(struct engine *e, size_t bytes)
{
	struct emu_compressor *c = &e->compressor;
	long p;

	if (c->memory_bytes >= bytes)
		return true;
	emu_compress_close(e);
	p = syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == -1)
		return false;
	c->memory = (void *)p;
	c->memory_bytes = bytes;
	return true;
}

/* --- a request -------------------------------------------------------------------------------- */

static bool may_access(struct emu_send *s)
{
	const struct emu_sge *sge = s->w.sge;
	struct emu_memory *mem = &s->e->memory;
	return emu_sge_check(mem, domain(s, EMU_LW), &sge[0], 1) &&
	       emu_sge_check(mem, domain(s, EMU_LR), &sge[1], 1) &&
	       emu_sge_check(mem, domain(s, EMU_LW), &sge[2], 1);
}

static int begin(struct emu_send *s)
{
	struct emu_compressor *c = &s->e->compressor;
	struct emu_stream_format format;

	if (!format_of(s, &format))
		return EMU_SYN_LOC_QP_OP;
	if (!may_access(s))
		return EMU_SYN_LOC_PROT;
	if (!enlarge(s->e, emu_stream_bytes(&format, s->w.len)))
		return EMU_SYN_LOC_QP_OP;
	c->stream = emu_stream_open(c->memory, &format, s->w.len);
	if (!c->stream)
		return EMU_SYN_LOC_QP_OP;
	s->run->done = 0;
	c->in_len = s->w.len;
	c->qpn = s->qpn;
	c->serial = s->run->serial;
	c->resets = s->run->resets;
	c->piece_len = 0;
	c->state = EMU_STREAM_MORE;
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
			  emu_stream_in(s->e->compressor.stream) + at, n))
		return EMU_SYN_LOC_PROT;
	s->run->done += n;
	s->moved += n;
	return EMU_STEP_MORE;
}

static int write_some(struct emu_send *s)
{
	struct emu_compressor *c = &s->e->compressor;
	uint32_t n = turn_of(c->piece_len);

	if (!emu_sge_write(&s->e->memory, domain(s, EMU_LW), &s->w.sge[2], 1, s->run->produced,
			   c->piece, n))
		return EMU_SYN_LOC_PROT;
	s->run->produced += n;
	s->moved += n;
	c->piece += n;
	c->piece_len -= n;
	return EMU_STEP_MORE;
}

static void put_xxh32(uint8_t out[4], uint32_t digest)
{
	for (unsigned int i = 0; i < 4; i++)
		out[i] = (uint8_t)(digest >> 8 * i);
}

/* An LZ4 frame has its checksum in little-endian order, and so has the result. */
static void put_sums(struct emu_mmo_result *r, const struct emu_sums *sums, bool newer)
{
	if (!newer) {
		emu_put32(r->older_crc32, sums->crc32);
		emu_put32(r->older_adler32, sums->adler32);
		return;
	}
	emu_put32(r->newer_crc32, sums->crc32);
	emu_put32(r->newer_adler32, sums->adler32);
	emu_put32(r->newer_crc32c, sums->crc32c);
	put_xxh32(r->newer_xxh32, emu_sums_xxh32(sums));
}

static int finish(struct emu_send *s, uint8_t syndrome)
{
	struct emu_mmo_result r = {0};

	if (syndrome) {
		s->run->produced = 0;
		emu_put32(r.syndrome, syndrome);
	} else {
		emu_put32(r.length, s->run->produced);
		put_sums(&r, emu_stream_sums(s->e->compressor.stream), s->q->mmo.newer);
	}
	if (!emu_sge_write(&s->e->memory, domain(s, EMU_LW), s->w.sge, 1, 0, (const uint8_t *)&r,
			   sizeof(r)))
		return EMU_SYN_LOC_PROT;
	s->run->hw_syndrome = syndrome;
	s->e->compressor.stream = NULL;
	return syndrome ? EMU_STEP_BAD : (int)EMU_SYN_OK;
}

static int transform(struct emu_send *s)
{
	struct emu_compressor *c = &s->e->compressor;

	if (c->state == EMU_STREAM_END)
		return finish(s, 0);
	if (c->state == EMU_STREAM_MORE)
		c->state = emu_stream_next(c->stream, &c->piece, &c->piece_len);
	if (c->state == EMU_STREAM_BAD)
		return finish(s, BAD_INPUT);
	s->moved += TURN / 2; /* what it costs besides moving bytes */
	return EMU_STEP_MORE;
}

static int advance(struct emu_send *s)
{
	const struct emu_compressor *c = &s->e->compressor;

	if (s->run->done < s->w.len)
		return read_some(s);
	if (s->run->produced + c->piece_len > s->w.sge[2].len)
		return finish(s, TOO_LONG);
	return c->piece_len ? write_some(s) : transform(s);
}

/* Does a queue have the engine that still is what it was when its request began? */
static bool is_taken(const struct engine *e)
{
	const struct emu_compressor *c = &e->compressor;
	const struct emu_qp *q = &e->cfg.queues->qp[c->qpn];

	return c->stream && atomic_load(&q->serial) == c->serial &&
	       atomic_load(&q->resets) == c->resets;
}

/* Another queue has the engine; while it waits for a page, so does this one. */
static int wait_for_turn(struct emu_send *s)
{
	s->run->barred = s->e->qp_run[s->e->compressor.qpn].barred;
	return EMU_STEP_WAIT;
}

int emu_compress_step(struct emu_send *s)
{
	const uint64_t began = s->moved;
	int result = EMU_STEP_MORE;

	if (!owns(s->e, s->qpn)) {
		if (is_taken(s->e))
			return wait_for_turn(s);
		result = begin(s);
	}
	if (result == EMU_STEP_MORE && s->w.len != s->e->compressor.in_len)
		return EMU_SYN_LOC_QP_OP; /* rewritten while it was executed */
	while (result == EMU_STEP_MORE && s->moved - began < TURN)
		result = advance(s);
	s->e->pass.worked = true;
	if (result == EMU_STEP_MORE)
		s->moved = ENGINE_CHUNK;
	return result;
}
