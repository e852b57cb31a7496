/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "channel/message.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "channel/fields.h"

static const char *const op_names[DPUMAP_OPS] = {
	[DPUMAP_OP_HELLO] = "hello",
	[DPUMAP_OP_LIST] = "list",
	[DPUMAP_OP_GET] = "get",
	[DPUMAP_OP_RELEASE] = "release",
	[DPUMAP_OP_DIGEST_START] = "digest-start",
	[DPUMAP_OP_DIGEST_UPDATE] = "digest-update",
	[DPUMAP_OP_DIGEST_FINAL] = "digest-final",
	[DPUMAP_OP_DEVICE] = "device",
	[DPUMAP_OP_WATCH] = "watch",
	[DPUMAP_OP_PING] = "ping",
	[DPUMAP_OP_CONNECT] = "connect",
	[DPUMAP_OP_DMABUF] = "dmabuf",
	[DPUMAP_OP_COMCH] = "comch",
};

static const char *const event_names[DPUMAP_EVENTS] = {
	[DPUMAP_EVENT_ADDED] = "added",
	[DPUMAP_EVENT_CHANGED] = "changed",
	[DPUMAP_EVENT_REMOVED] = "removed",
};

void dpumap_msg_init(struct dpumap_msg *msg)
{
	/* The exports are valid up to num_exports only: no need to clear 5 KiB per message. */
	msg->present = 0;
	msg->num_exports = 0;
}

bool dpumap_msg_has(const struct dpumap_msg *msg, enum dpumap_msg_key key)
{
	return msg->present & 1u << key;
}

void dpumap_msg_set_number(struct dpumap_msg *msg, enum dpumap_msg_key key, uint64_t number)
{
	assert(dpumap_field_get(key)->type == DPUMAP_FIELD_NUMBER);
	msg->value[key].number = number;
	msg->present |= 1u << key;
}

void dpumap_msg_set_bytes(struct dpumap_msg *msg, enum dpumap_msg_key key, const void *data,
			  size_t len)
{
	assert(dpumap_field_get(key)->type == DPUMAP_FIELD_TEXT ||
	       dpumap_field_get(key)->type == DPUMAP_FIELD_BYTES);
	msg->value[key].data = data;
	msg->value[key].len = len;
	msg->present |= 1u << key;
}

void dpumap_msg_set_text(struct dpumap_msg *msg, enum dpumap_msg_key key, const char *text)
{
	dpumap_msg_set_bytes(msg, key, text, strlen(text));
}

static const enum dpumap_msg_key digest_keys[DPUMAP_HASHES] = {
	[DPUMAP_SHA256] = DPUMAP_MSG_SHA256,
	[DPUMAP_XXH128] = DPUMAP_MSG_XXH128,
};

void dpumap_msg_set_digest(struct dpumap_msg *msg, const struct dpumap_digest *digest)
{
	enum dpumap_msg_key key = digest_keys[digest->hash];

	dpumap_msg_set_bytes(msg, key, digest->bytes, dpumap_field_get(key)->max);
}

bool dpumap_msg_get_digest(const struct dpumap_msg *msg, enum dpumap_hash hash,
			   struct dpumap_digest *digest)
{
	enum dpumap_msg_key key = digest_keys[hash];

	if (!dpumap_msg_has(msg, key) || msg->value[key].len != dpumap_field_get(key)->max)
		return false;
	*digest = (struct dpumap_digest){.hash = hash};
	memcpy(digest->bytes, msg->value[key].data, msg->value[key].len);
	return true;
}

bool dpumap_msg_add_export(struct dpumap_msg *msg, const struct dpumap_export_info *info)
{
	if (msg->num_exports == DPUMAP_EXPORTS_PER_MSG)
		return false;
	msg->exports[msg->num_exports++] = *info;
	msg->present |= 1u << DPUMAP_MSG_EXPORTS;
	return true;
}

void dpumap_msg_get_text(const struct dpumap_msg *msg, enum dpumap_msg_key key, char *text,
			 size_t size)
{
	size_t len = dpumap_msg_has(msg, key) ? msg->value[key].len : 0;

	if (len > size - 1)
		len = size - 1;
	if (len > 0)
		memcpy(text, msg->value[key].data, len);
	text[len] = '\0';
}

const char *dpumap_op_name(enum dpumap_op op)
{
	return op_names[op];
}

/* The index of the text in the table; num if it is not found. */
static unsigned int find_name(const struct dpumap_msg *msg, enum dpumap_msg_key key,
			      const char *const *names, unsigned int num)
{
	char name[DPUMAP_OP_NAME_MAX + 1];
	unsigned int i;

	dpumap_msg_get_text(msg, key, name, sizeof(name));
	for (i = 0; i < num && strcmp(name, names[i]) != 0; i++)
		;
	return i;
}

bool dpumap_op_find(const struct dpumap_msg *msg, enum dpumap_op *op)
{
	*op = find_name(msg, DPUMAP_MSG_OP, op_names, DPUMAP_OPS);
	return *op < DPUMAP_OPS;
}

const char *dpumap_event_name(enum dpumap_event event)
{
	return event_names[event];
}

bool dpumap_event_find(const struct dpumap_msg *msg, enum dpumap_event *event)
{
	*event = find_name(msg, DPUMAP_MSG_EVENT, event_names, DPUMAP_EVENTS);
	return *event < DPUMAP_EVENTS;
}

bool dpumap_export_name_valid(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len < DPUMAP_EXPORT_NAME_MAX && isalnum((unsigned char)name[0]) &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") ==
		       len;
}
