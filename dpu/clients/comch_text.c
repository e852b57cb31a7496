/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/clients/comch_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <doca_types.h>

#include "base/array.h"

#define KNOWN "list, list NAME, get NAME, release NAME or ping"

/* The requests, and the field of the name that follows each. */
static const struct request_word {
	const char *word;
	enum dpumap_op op;
	enum dpumap_msg_key name;
	bool takes_name, needs_name;
} words[] = {
	{"list", DPUMAP_OP_LIST, DPUMAP_MSG_AFTER, true, false},
	{"get", DPUMAP_OP_GET, DPUMAP_MSG_NAME, true, true},
	{"release", DPUMAP_OP_RELEASE, DPUMAP_MSG_NAME, true, true},
	{"ping", DPUMAP_OP_PING, DPUMAP_MSG_NAME, false, false},
};

static doca_error_t invalid(struct dpumap_error *error, const char *why)
{
	return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE, "%s", why);
}

static const struct request_word *find_word(const char *bytes, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i].word) == len && memcmp(words[i].word, bytes, len) == 0)
			return &words[i];
	return NULL;
}

doca_error_t comch_text_parse(const uint8_t *bytes, size_t len, struct comch_request *request,
			      struct dpumap_error *error)
{
	const uint8_t *space = len ? memchr(bytes, ' ', len) : NULL;
	size_t word_len = space ? (size_t)(space - bytes) : len;
	const struct request_word *word = find_word((const char *)bytes, word_len);
	size_t name_len = space ? len - word_len - 1 : 0;

	if (!word)
		return invalid(error, "unknown request: send " KNOWN);
	if (space && !word->takes_name)
		return invalid(error, "the request has no argument: send " KNOWN);
	if (!space && word->needs_name)
		return invalid(error, "the name of an export is missing: send " KNOWN);
	memset(request->name, 0, sizeof(request->name));
	if (name_len < sizeof(request->name) && space)
		memcpy(request->name, space + 1, name_len);
	if (space &&
	    (strlen(request->name) != name_len || !dpumap_export_name_valid(request->name)))
		return invalid(error, "the argument is not a valid name of an export");
	dpumap_msg_init(&request->msg);
	dpumap_msg_set_number(&request->msg, DPUMAP_MSG_ID, 1);
	dpumap_msg_set_text(&request->msg, DPUMAP_MSG_OP, dpumap_op_name(word->op));
	if (space)
		dpumap_msg_set_text(&request->msg, word->name, request->name);
	return DOCA_SUCCESS;
}

/* A text that is being written. */
struct text {
	char *bytes;
	size_t len, room;
};

/* False if it does not fit: then nothing is added. */
__attribute__((format(printf, 2, 3))) static bool add(struct text *text, const char *fmt, ...)
{
	size_t left = text->room - text->len;
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(text->bytes + text->len, left, fmt, args);
	va_end(args);
	if (len < 0 || (size_t)len >= left)
		return false;
	text->len += (size_t)len;
	return true;
}

static const char *access_name(const struct dpumap_export_info *info)
{
	return info->access & DOCA_ACCESS_FLAG_PCI_READ_WRITE ? "rw" : "ro";
}

static void format_error(const struct dpumap_msg *msg, struct text *text)
{
	char why[sizeof(((struct dpumap_error *)0)->text)];
	doca_error_t code = (doca_error_t)msg->value[DPUMAP_MSG_STATUS].number;

	dpumap_msg_get_text(msg, DPUMAP_MSG_ERROR, why, sizeof(why));
	add(text, "error %s %s", doca_error_get_name(code), why);
}

static void format_export(const struct dpumap_msg *msg, struct text *text)
{
	const struct dpumap_export_info *info = &msg->exports[0];
	const uint8_t *desc = msg->value[DPUMAP_MSG_DESCRIPTOR].data;
	size_t len = msg->value[DPUMAP_MSG_DESCRIPTOR].len;

	add(text, "ok %" PRIu64 " %s\n", info->size, access_name(info));
	memcpy(text->bytes + text->len, desc, len); /* DPUMAP_DESCRIPTOR_MAX bytes always fit */
	text->len += len;
}

/* The first line depends on whether all exports fit. */
static void format_list(const struct dpumap_msg *msg, struct text *text)
{
	struct text lines = {.bytes = text->bytes + sizeof("ok more") - 1,
			     .room = text->room - (sizeof("ok more") - 1)};
	bool has_more = dpumap_msg_has(msg, DPUMAP_MSG_NEXT);

	for (uint32_t i = 0; i < msg->num_exports; i++) {
		const struct dpumap_export_info *info = &msg->exports[i];

		if (add(&lines, "\n%s %s %" PRIu64 " %s", info->name, info->kind, info->size,
			access_name(info)))
			continue;
		has_more = true;
		break;
	}
	text->len = has_more ? sizeof("ok more") - 1 : sizeof("ok") - 1;
	memmove(text->bytes + text->len, lines.bytes, lines.len);
	memcpy(text->bytes, "ok more", text->len);
	text->len += lines.len;
}

size_t comch_text_format(const struct dpumap_msg *msg, uint8_t text[static COMCH_TEXT_MAX])
{
	struct text t = {.bytes = (char *)text, .room = COMCH_TEXT_MAX};
	char name[DPUMAP_EXPORT_NAME_MAX];

	if (dpumap_msg_has(msg, DPUMAP_MSG_EVENT)) {
		dpumap_msg_get_text(msg, DPUMAP_MSG_NAME, name, sizeof(name));
		add(&t, "gone %s", name);
	} else if (msg->value[DPUMAP_MSG_STATUS].number != DOCA_SUCCESS) {
		format_error(msg, &t);
	} else if (dpumap_msg_has(msg, DPUMAP_MSG_DESCRIPTOR)) {
		format_export(msg, &t);
	} else {
		format_list(msg, &t);
	}
	return t.len;
}
