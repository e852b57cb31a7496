/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * AES-GCM (NIST SP 800-38D) in both directions: additional data that stay as they are, a text, and after it a tag. The
 * source becomes the destination in place, and all of it is given at once: nothing of a text whose tag is wrong.
 */
#include "emu/engine/stream/kinds.h"

#include <string.h>

#include <nettle/gcm.h>
#include <nettle/memops.h>

struct gcm {
	union {
		struct gcm_aes128_ctx aes128;
		struct gcm_aes256_ctx aes256;
	} u;
	bool is_256;
	bool is_finished; /* the text; what is left is to give the tag */
};

_Static_assert(EMU_STREAM_PIECE % GCM_BLOCK_SIZE == 0,
	       "only the last piece may end within a block");

static struct gcm *gcm_of(const struct emu_stream *s)
{
	return (struct gcm *)s->work;
}

static bool opens(const struct emu_stream *s)
{
	return s->format.kind == EMU_STREAM_OPEN;
}

/* The bytes of the source before the tag, which only a source to open has. */
static size_t text_end(const struct emu_stream *s)
{
	return opens(s) ? s->in_len - s->format.gcm.tag_bytes : s->in_len;
}

static bool is_long_enough(const struct emu_stream *s)
{
	const struct emu_stream_gcm *f = &s->format.gcm;

	return s->in_len >= (uint64_t)f->aad_bytes + (opens(s) ? f->tag_bytes : 0);
}

static bool open_gcm(struct emu_stream *s)
{
	struct emu_stream_gcm *f = &s->format.gcm;
	struct gcm *g = gcm_of(s);

	memset(g, 0, sizeof(*g));
	g->is_256 = f->key_bytes == EMU_STREAM_KEY_MAX;
	if (g->is_256) {
		gcm_aes256_set_key(&g->u.aes256, f->key);
		gcm_aes256_set_iv(&g->u.aes256, sizeof(f->iv), f->iv);
	} else {
		gcm_aes128_set_key(&g->u.aes128, f->key);
		gcm_aes128_set_iv(&g->u.aes128, sizeof(f->iv), f->iv);
	}
	f->key = NULL;
	return true;
}

static void authenticate(struct gcm *g, const uint8_t *at, size_t n)
{
	if (g->is_256)
		gcm_aes256_update(&g->u.aes256, n, at);
	else
		gcm_aes128_update(&g->u.aes128, n, at);
}

static void cipher(struct gcm *g, bool opens, uint8_t *at, size_t n)
{
	if (g->is_256 && opens)
		gcm_aes256_decrypt(&g->u.aes256, n, at, at);
	else if (g->is_256)
		gcm_aes256_encrypt(&g->u.aes256, n, at, at);
	else if (opens)
		gcm_aes128_decrypt(&g->u.aes128, n, at, at);
	else
		gcm_aes128_encrypt(&g->u.aes128, n, at, at);
}

static void put_tag(struct emu_stream *s)
{
	struct gcm *g = gcm_of(s);

	if (g->is_256)
		gcm_aes256_digest(&g->u.aes256, s->format.gcm.tag_bytes, s->out);
	else
		gcm_aes128_digest(&g->u.aes128, s->format.gcm.tag_bytes, s->out);
}

static void work_on_piece(struct emu_stream *s)
{
	const size_t aad = s->format.gcm.aad_bytes;
	const bool is_aad = s->taken < aad;
	size_t n = (is_aad ? aad : text_end(s)) - s->taken;

	if (n > EMU_STREAM_PIECE)
		n = EMU_STREAM_PIECE;
	if (is_aad)
		authenticate(gcm_of(s), s->in + s->taken, n);
	else
		cipher(gcm_of(s), opens(s), s->in + s->taken, n);
	s->taken += n;
}

static bool is_right(const struct emu_stream *s)
{
	return memeql_sec(s->out, s->in + text_end(s), s->format.gcm.tag_bytes);
}

static enum emu_stream_state next_gcm(struct emu_stream *s, const uint8_t **bytes, size_t *len)
{
	struct gcm *g = gcm_of(s);

	*len = 0;
	if (!is_long_enough(s))
		return EMU_STREAM_BAD;
	if (s->taken < text_end(s)) {
		work_on_piece(s);
		return EMU_STREAM_MORE;
	}
	if (g->is_finished) {
		*bytes = s->out;
		*len = s->format.gcm.tag_bytes;
		return EMU_STREAM_END;
	}
	g->is_finished = true;
	put_tag(s);
	if (opens(s) && !is_right(s))
		return EMU_STREAM_BAD;
	*bytes = s->in;
	*len = text_end(s);
	return opens(s) ? EMU_STREAM_END : EMU_STREAM_MORE;
}

/* Keys and texts do not stay in memory. */
static void close_gcm(struct emu_stream *s)
{
	explicit_bzero(s->work, sizeof(struct gcm));
	explicit_bzero(s->in, s->in_len);
	explicit_bzero(s->out, GCM_DIGEST_SIZE);
}

const struct emu_stream_ops emu_stream_gcm = {
	.out_bytes = GCM_DIGEST_SIZE,
	.work_bytes = sizeof(struct gcm),
	.open = open_gcm,
	.next = next_gcm,
	.close = close_gcm,
};
