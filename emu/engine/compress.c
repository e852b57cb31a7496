/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Compression and decompression: the formats that requests ask for, and their results. */
#include "emu/engine/memory/access.h"
#include "emu/engine/send.h"
#include "emu/engine/state.h"
#include "emu/engine/stream/sums.h"
#include "emu/engine/transform.h"

#define BAD_INPUT 0x11 /* emu_cqe.hw_syndrome; drivers of DPDK print it */

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

static int read_format(struct emu_send *s, struct emu_stream_format *f)
{
	uint32_t control = emu_get32((const uint8_t *)&s->w.imm);
	bool good = s->w.opmod == EMU_MMO_compress ? compress_format(control, f)
						   : decompress_format(&s->q->mmo, control, f);

	return good ? EMU_STEP_MORE : (int)EMU_SYN_LOC_QP_OP;
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

static bool put_result(struct emu_send *s, const struct emu_stream *stream, uint8_t syndrome)
{
	struct emu_mmo_result r = {0};

	if (syndrome) {
		emu_put32(r.syndrome, syndrome);
	} else {
		emu_put32(r.length, s->run->produced);
		put_sums(&r, emu_stream_sums(stream), s->q->mmo.newer);
	}
	s->here.need = EMU_LW;
	return emu_sge_write(&s->e->memory, &s->here, s->w.sge, 1, 0, (const uint8_t *)&r,
			     sizeof(r));
}

const struct emu_transform_ops emu_transform_compress = {
	.read_format = read_format,
	.put_result = put_result,
	.result_rights = EMU_LW,
	.bad_input = BAD_INPUT,
};
