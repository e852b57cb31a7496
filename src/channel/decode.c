/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Decodes untrusted bytes in one pass over libcbor's tokens and accepts exactly the format of the
 * messages, without allocation or recursion.
 */
#include "channel/message.h"

#include <stdio.h>
#include <string.h>

#include <cbor.h>

#include "channel/fields.h"

enum token_type {
	TOKEN_NUMBER,
	TOKEN_TEXT,
	TOKEN_BYTES,
	TOKEN_ARRAY,
	TOKEN_MAP,
	TOKEN_OTHER,
};

static const char *const token_names[] = {
	[TOKEN_NUMBER] = "a number",	 [TOKEN_TEXT] = "a text string",
	[TOKEN_BYTES] = "a byte string", [TOKEN_ARRAY] = "an array",
	[TOKEN_MAP] = "a map",		 [TOKEN_OTHER] = "an unsupported type",
};

struct token {
	enum token_type type;
	uint64_t number; /* or the count of an array or map */
	const uint8_t *data;
	size_t len;
};

struct reader {
	const uint8_t *buf;
	size_t len;
	size_t at;
	struct dpumap_error *error;
};

static void got_number(struct token *t, uint64_t number)
{
	t->type = TOKEN_NUMBER;
	t->number = number;
}

static void on_uint8(void *t, uint8_t v)
{
	got_number(t, v);
}

static void on_uint16(void *t, uint16_t v)
{
	got_number(t, v);
}

static void on_uint32(void *t, uint32_t v)
{
	got_number(t, v);
}

static void on_uint64(void *t, uint64_t v)
{
	got_number(t, v);
}

static void got_run(struct token *t, enum token_type type, const uint8_t *data, size_t len)
{
	t->type = type;
	t->data = data;
	t->len = len;
}

static void on_bytes(void *t, cbor_data data, size_t len)
{
	got_run(t, TOKEN_BYTES, data, len);
}

static void on_text(void *t, cbor_data data, size_t len)
{
	got_run(t, TOKEN_TEXT, data, len);
}

static void on_array(void *t, size_t count)
{
	got_number(t, count);
	((struct token *)t)->type = TOKEN_ARRAY;
}

static void on_map(void *t, size_t count)
{
	got_number(t, count);
	((struct token *)t)->type = TOKEN_MAP;
}

static doca_error_t malformed(struct reader *r, const char *what)
{
	dpumap_error_set(r->error, DOCA_ERROR_INVALID_VALUE,
			 "malformed message: %s at byte %zu of %zu", what, r->at, r->len);
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t next(struct reader *r, struct token *t)
{
	struct cbor_callbacks callbacks = cbor_empty_callbacks;
	struct cbor_decoder_result result;

	callbacks.uint8 = on_uint8;
	callbacks.uint16 = on_uint16;
	callbacks.uint32 = on_uint32;
	callbacks.uint64 = on_uint64;
	callbacks.byte_string = on_bytes;
	callbacks.string = on_text;
	callbacks.array_start = on_array;
	callbacks.map_start = on_map;
	*t = (struct token){.type = TOKEN_OTHER};
	if (r->at == r->len)
		return malformed(r, "it is truncated");
	result = cbor_stream_decode(r->buf + r->at, r->len - r->at, &callbacks, t);
	if (result.status == CBOR_DECODER_NEDATA)
		return malformed(r, "an item is truncated");
	if (result.status != CBOR_DECODER_FINISHED)
		return malformed(r, "not CBOR");
	r->at += result.read;
	return DOCA_SUCCESS;
}

static doca_error_t expect(struct reader *r, enum token_type type, struct token *t)
{
	char what[80];
	doca_error_t result = next(r, t);

	if (result != DOCA_SUCCESS)
		return result;
	if (t->type != type) {
		snprintf(what, sizeof(what), "%s in place of %s, ending", token_names[t->type],
			 token_names[type]);
		return malformed(r, what);
	}
	return DOCA_SUCCESS;
}

static bool printable(const uint8_t *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] < 0x20 || text[i] > 0x7e)
			return false;
	}
	return true;
}

static doca_error_t expect_text(struct reader *r, size_t max, struct token *t)
{
	doca_error_t result = expect(r, TOKEN_TEXT, t);

	if (result != DOCA_SUCCESS)
		return result;
	if (t->len > max)
		return malformed(r, "a text string above its limit, ending");
	if (!printable(t->data, t->len))
		return malformed(r, "a text string that is not printable ASCII, ending");
	return DOCA_SUCCESS;
}

static bool token_is(const struct token *t, const char *text)
{
	return t->len == strlen(text) && memcmp(t->data, text, t->len) == 0;
}

static doca_error_t copy_text(struct reader *r, char *text, size_t size)
{
	struct token t;
	doca_error_t result = expect_text(r, size - 1, &t);

	if (result != DOCA_SUCCESS)
		return result;
	memcpy(text, t.data, t.len);
	text[t.len] = '\0';
	return DOCA_SUCCESS;
}

static doca_error_t read_number(struct reader *r, uint64_t max, uint64_t *number)
{
	struct token t;
	doca_error_t result = expect(r, TOKEN_NUMBER, &t);

	if (result != DOCA_SUCCESS)
		return result;
	if (t.number > max)
		return malformed(r, "a number above its limit, ending");
	*number = t.number;
	return DOCA_SUCCESS;
}

/* Reads one field of an export; *seen has a bit for each of the four. */
static doca_error_t read_export_pair(struct reader *r, struct dpumap_export_info *info,
				     unsigned int *seen)
{
	static const char *const names[] = {"name", "kind", "size", "access"};
	uint64_t access = 0;
	unsigned int which = 0;
	struct token key;
	doca_error_t result;

	result = expect(r, TOKEN_TEXT, &key);
	if (result != DOCA_SUCCESS)
		return result;
	while (which < 4 && !token_is(&key, names[which]))
		which++;
	if (which == 4)
		return malformed(r, "an unknown field of an export, ending");
	if (*seen & 1u << which)
		return malformed(r, "a duplicate field of an export, ending");
	*seen |= 1u << which;
	switch (which) {
	case 0:
		return copy_text(r, info->name, sizeof(info->name));
	case 1:
		return copy_text(r, info->kind, sizeof(info->kind));
	case 2:
		return read_number(r, UINT64_MAX, &info->size);
	default:
		result = read_number(r, UINT32_MAX, &access);
		info->access = (uint32_t)access;
		return result;
	}
}

static doca_error_t read_export(struct reader *r, struct dpumap_export_info *info)
{
	unsigned int seen = 0;
	struct token t;
	doca_error_t result;

	result = expect(r, TOKEN_MAP, &t);
	if (result != DOCA_SUCCESS)
		return result;
	if (t.number != 4)
		return malformed(r, "an export without exactly four fields,");
	for (int i = 0; i < 4 && result == DOCA_SUCCESS; i++)
		result = read_export_pair(r, info, &seen);
	if (result == DOCA_SUCCESS && !dpumap_export_name_valid(info->name))
		return malformed(r, "an invalid export name, ending");
	return result;
}

static doca_error_t read_exports(struct reader *r, struct dpumap_msg *msg)
{
	struct token t;
	doca_error_t result;

	result = expect(r, TOKEN_ARRAY, &t);
	if (result != DOCA_SUCCESS)
		return result;
	if (t.number > DPUMAP_EXPORTS_PER_MSG)
		return malformed(r, "more exports than the limit,");
	for (uint64_t i = 0; i < t.number && result == DOCA_SUCCESS; i++) {
		result = read_export(r, &msg->exports[i]);
		msg->num_exports = (uint32_t)i + 1;
	}
	return result;
}

static doca_error_t read_value(struct reader *r, struct dpumap_msg *msg, enum dpumap_msg_key key)
{
	const struct dpumap_field *field = dpumap_field_get(key);
	struct token t = {.type = TOKEN_OTHER};
	doca_error_t result;

	switch (field->type) {
	case DPUMAP_FIELD_NUMBER:
		return read_number(r, UINT64_MAX, &msg->value[key].number);
	case DPUMAP_FIELD_EXPORTS:
		return read_exports(r, msg);
	case DPUMAP_FIELD_TEXT:
		result = expect_text(r, field->max, &t);
		break;
	default:
		result = expect(r, TOKEN_BYTES, &t);
		if (result == DOCA_SUCCESS && t.len > field->max)
			result = malformed(r, "a byte string above its limit, ending");
	}
	msg->value[key].data = t.data;
	msg->value[key].len = t.len;
	return result;
}

static doca_error_t read_pair(struct reader *r, struct dpumap_msg *msg)
{
	enum dpumap_msg_key key = 0;
	struct token name;
	doca_error_t result;

	result = expect(r, TOKEN_TEXT, &name);
	if (result != DOCA_SUCCESS)
		return result;
	while (key < DPUMAP_MSG_KEYS && !token_is(&name, dpumap_field_get(key)->name))
		key++;
	if (key == DPUMAP_MSG_KEYS)
		return malformed(r, "an unknown field, whose name ends");
	if (dpumap_msg_has(msg, key))
		return malformed(r, "a duplicate field, whose name ends");
	msg->present |= 1u << key;
	return read_value(r, msg, key);
}

doca_error_t dpumap_msg_decode(const uint8_t *buf, size_t len, struct dpumap_msg *msg,
			       struct dpumap_error *error)
{
	struct reader r = {.buf = buf, .len = len, .error = error};
	struct token t;
	doca_error_t result;

	dpumap_msg_init(msg);
	result = expect(&r, TOKEN_MAP, &t);
	if (result != DOCA_SUCCESS)
		return result;
	if (t.number > DPUMAP_MSG_KEYS)
		return malformed(&r, "more fields than exist,");
	for (uint64_t i = 0; i < t.number && result == DOCA_SUCCESS; i++)
		result = read_pair(&r, msg);
	if (result == DOCA_SUCCESS && r.at != r.len)
		return malformed(&r, "bytes after the end,");
	return result;
}
