/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Encryption and decryption by AES-GCM. The request names a data encryption key (DEK), and its first piece of memory
 * has the initialization vector and the lengths of the tag and of the additional data.
 */
#include <string.h>

#include "emu/engine/keys.h"
#include "emu/engine/memory/access.h"
#include "emu/engine/send.h"
#include "emu/engine/state.h"
#include "emu/engine/transform.h"

#define BAD_TAG 0x12 /* emu_cqe.hw_syndrome; no public source has the number of the card */

/* The control segment's last word, and the word after it. */
#define OPERATION 20
#define TYPE	  24
#define TYPE_GCM  3u
#define DEK_MASK  0xffffffu

static bool read_kind(const struct emu_send *s, struct emu_stream_format *f)
{
	uint32_t control = emu_get32((const uint8_t *)&s->w.imm);
	uint32_t operation = control >> OPERATION & 15;

	f->kind = operation ? EMU_STREAM_OPEN : EMU_STREAM_SEAL;
	return operation <= 1 && (control >> TYPE) == TYPE_GCM;
}

static int read_parameters(struct emu_send *s, struct emu_stream_gcm *f)
{
	struct emu_crypto_opaque o;
	uint32_t tag;

	s->here.need = EMU_LR;
	if (!emu_sge_read(&s->e->memory, &s->here, s->w.sge, 1, 0, (uint8_t *)&o, sizeof(o)))
		return EMU_SYN_LOC_PROT;
	tag = emu_get32(o.tag_bytes);
	if (tag != 12 && tag != EMU_STREAM_TAG_MAX)
		return EMU_SYN_LOC_QP_OP;
	f->tag_bytes = (uint8_t)tag;
	f->aad_bytes = emu_get32(o.aad_bytes);
	memcpy(f->iv, o.iv, sizeof(f->iv));
	return EMU_STEP_MORE;
}

static int read_format(struct emu_send *s, struct emu_stream_format *f)
{
	const struct emu_key *key;
	int result;

	if (!read_kind(s, f))
		return EMU_SYN_LOC_QP_OP;
	key = emu_key_find(s, s->w.control & DEK_MASK, &result);
	if (!key)
		return result;
	f->gcm.key = key->raw;
	f->gcm.key_bytes = key->bytes;
	return read_parameters(s, &f->gcm);
}

/* Only what is a result is written: drivers may keep the parameters for the next request. */
static bool put_result(struct emu_send *s, const struct emu_stream *stream, uint8_t syndrome)
{
	uint8_t result[offsetof(struct emu_crypto_opaque, iv)] = {0};

	(void)stream;
	emu_put32(result, syndrome);
	s->here.need = EMU_LW;
	return emu_sge_write(&s->e->memory, &s->here, s->w.sge, 1, 0, result, sizeof(result));
}

const struct emu_transform_ops emu_transform_crypto = {
	.read_format = read_format,
	.put_result = put_result,
	.result_rights = EMU_LR | EMU_LW,
	.bad_input = BAD_TAG,
};
