/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "channel/message.h"

#include <string.h>

#include <cbor.h>

#include "channel/fields.h"

/* libcbor's encoders write nothing and return 0 when there is no room. */
struct writer {
	uint8_t *buf;
	size_t size;
	size_t len;
	bool full;
};

typedef size_t start_fn(size_t count, unsigned char *buf, size_t size);

static void advance(struct writer *w, size_t n)
{
	if (n == 0)
		w->full = true;
	w->len += n;
}

static void put_start(struct writer *w, start_fn *start, size_t count)
{
	advance(w, start(count, w->buf + w->len, w->size - w->len));
}

static void put_number(struct writer *w, uint64_t number)
{
	advance(w, cbor_encode_uint(number, w->buf + w->len, w->size - w->len));
}

static void put_run(struct writer *w, start_fn *start, const void *data, size_t len)
{
	put_start(w, start, len);
	if (w->full || len > w->size - w->len) {
		w->full = true;
		return;
	}
	if (len > 0)
		memcpy(w->buf + w->len, data, len);
	w->len += len;
}

static void put_text(struct writer *w, const char *text)
{
	put_run(w, cbor_encode_string_start, text, strlen(text));
}

static void put_export(struct writer *w, const struct dpumap_export_info *info)
{
	put_start(w, cbor_encode_map_start, 4);
	put_text(w, "name");
	put_text(w, info->name);
	put_text(w, "kind");
	put_text(w, info->kind);
	put_text(w, "size");
	put_number(w, info->size);
	put_text(w, "access");
	put_number(w, info->access);
}

static void put_exports(struct writer *w, const struct dpumap_msg *msg)
{
	put_start(w, cbor_encode_array_start, msg->num_exports);
	for (uint32_t i = 0; i < msg->num_exports; i++)
		put_export(w, &msg->exports[i]);
}

static void put_field(struct writer *w, const struct dpumap_msg *msg, enum dpumap_msg_key key)
{
	const struct dpumap_field *field = dpumap_field_get(key);

	put_text(w, field->name);
	switch (field->type) {
	case DPUMAP_FIELD_NUMBER:
		put_number(w, msg->value[key].number);
		break;
	case DPUMAP_FIELD_TEXT:
		put_run(w, cbor_encode_string_start, msg->value[key].data, msg->value[key].len);
		break;
	case DPUMAP_FIELD_BYTES:
		put_run(w, cbor_encode_bytestring_start, msg->value[key].data, msg->value[key].len);
		break;
	case DPUMAP_FIELD_EXPORTS:
		put_exports(w, msg);
		break;
	}
}

static bool too_long(const struct dpumap_msg *msg, enum dpumap_msg_key key)
{
	const struct dpumap_field *field = dpumap_field_get(key);

	return (field->type == DPUMAP_FIELD_TEXT || field->type == DPUMAP_FIELD_BYTES) &&
	       msg->value[key].len > field->max;
}

doca_error_t dpumap_msg_encode(const struct dpumap_msg *msg, uint8_t *buf, size_t size, size_t *len,
			       struct dpumap_error *error)
{
	struct writer w = {.buf = buf, .size = size};

	put_start(&w, cbor_encode_map_start, (size_t)__builtin_popcount(msg->present));
	for (enum dpumap_msg_key key = 0; key < DPUMAP_MSG_KEYS; key++) {
		if (!dpumap_msg_has(msg, key))
			continue;
		if (too_long(msg, key))
			return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
						"%zu bytes exceed the limit of the field \"%s\"",
						msg->value[key].len, dpumap_msg_key_name(key));
		put_field(&w, msg, key);
	}
	if (w.full)
		return dpumap_error_set(error, DOCA_ERROR_TOO_BIG,
					"the message does not fit into %zu bytes", size);
	*len = w.len;
	return DOCA_SUCCESS;
}
