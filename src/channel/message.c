/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Messages as objects: what fields there are, and setting and reading them. */
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "channel/fields.h"

#define NAME_MAX_LEN 32 /* of an operation or event */

static const struct dpumap_field fields[DPUMAP_MSG_KEYS] = {
	[DPUMAP_MSG_ID] = {"id", DPUMAP_FIELD_NUMBER, 0},
	[DPUMAP_MSG_OP] = {"op", DPUMAP_FIELD_TEXT, NAME_MAX_LEN},
	[DPUMAP_MSG_VERSION] = {"version", DPUMAP_FIELD_NUMBER, 0},
	[DPUMAP_MSG_STATUS] = {"status", DPUMAP_FIELD_NUMBER, 0},
	[DPUMAP_MSG_ERROR] = {"error", DPUMAP_FIELD_TEXT, sizeof(((struct dpumap_fault *)0)->text)},
	[DPUMAP_MSG_NAME] = {"name", DPUMAP_FIELD_TEXT, DPUMAP_EXPORT_NAME_MAX - 1},
	[DPUMAP_MSG_AFTER] = {"after", DPUMAP_FIELD_TEXT, DPUMAP_EXPORT_NAME_MAX - 1},
	[DPUMAP_MSG_NEXT] = {"next", DPUMAP_FIELD_TEXT, DPUMAP_EXPORT_NAME_MAX - 1},
	[DPUMAP_MSG_DESCRIPTOR] = {"descriptor", DPUMAP_FIELD_BYTES, DPUMAP_DESCRIPTOR_MAX},
	[DPUMAP_MSG_DIGEST] = {"digest", DPUMAP_FIELD_NUMBER, 0},
	[DPUMAP_MSG_OFFSET] = {"offset", DPUMAP_FIELD_NUMBER, 0},
	[DPUMAP_MSG_LENGTH] = {"length", DPUMAP_FIELD_NUMBER, 0},
	[DPUMAP_MSG_SHA256] = {"sha256", DPUMAP_FIELD_BYTES, 32},
	[DPUMAP_MSG_EXPORTS] = {"exports", DPUMAP_FIELD_EXPORTS, DPUMAP_EXPORTS_PER_MSG},
	[DPUMAP_MSG_DEVICE] = {"device", DPUMAP_FIELD_TEXT, DPUMAP_DEVICE_NAME_MAX - 1},
	[DPUMAP_MSG_DM_TOTAL] = {"dm-total", DPUMAP_FIELD_NUMBER, 0},
	[DPUMAP_MSG_DM_FREE] = {"dm-free", DPUMAP_FIELD_NUMBER, 0},
	[DPUMAP_MSG_DM_LONGEST] = {"dm-longest", DPUMAP_FIELD_NUMBER, 0},
	[DPUMAP_MSG_EVENT] = {"event", DPUMAP_FIELD_TEXT, NAME_MAX_LEN},
	[DPUMAP_MSG_DETAILS] = {"details", DPUMAP_FIELD_BYTES, DPUMAP_DETAILS_MAX},
};

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
};

static const char *const event_names[DPUMAP_EVENTS] = {
	[DPUMAP_EVENT_ADDED] = "added",
	[DPUMAP_EVENT_CHANGED] = "changed",
	[DPUMAP_EVENT_REMOVED] = "removed",
};

const struct dpumap_field *dpumap_field_get(enum dpumap_msg_key key)
{
	return &fields[key];
}

const char *dpumap_msg_key_name(enum dpumap_msg_key key)
{
	return fields[key].name;
}

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
	assert(fields[key].type == DPUMAP_FIELD_NUMBER);
	msg->value[key].number = number;
	msg->present |= 1u << key;
}

void dpumap_msg_set_bytes(struct dpumap_msg *msg, enum dpumap_msg_key key, const void *data,
			  size_t len)
{
	assert(fields[key].type == DPUMAP_FIELD_TEXT || fields[key].type == DPUMAP_FIELD_BYTES);
	msg->value[key].data = data;
	msg->value[key].len = len;
	msg->present |= 1u << key;
}

void dpumap_msg_set_text(struct dpumap_msg *msg, enum dpumap_msg_key key, const char *text)
{
	dpumap_msg_set_bytes(msg, key, text, strlen(text));
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

/* The index of the text in the table; num if it is none of them. */
static unsigned int find_name(const struct dpumap_msg *msg, enum dpumap_msg_key key,
			      const char *const *names, unsigned int num)
{
	char name[NAME_MAX_LEN + 1];
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
