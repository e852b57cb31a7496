/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "channel/fields.h"

#include "local/comch_place.h"

static const struct dpumap_field fields[DPUMAP_MSG_KEYS] = {
	[DPUMAP_MSG_ID] = {"id", DPUMAP_FIELD_NUMBER, 0},
	[DPUMAP_MSG_OP] = {"op", DPUMAP_FIELD_TEXT, DPUMAP_OP_NAME_MAX},
	[DPUMAP_MSG_VERSION] = {"version", DPUMAP_FIELD_NUMBER, 0},
	[DPUMAP_MSG_STATUS] = {"status", DPUMAP_FIELD_NUMBER, 0},
	[DPUMAP_MSG_ERROR] = {"error", DPUMAP_FIELD_TEXT, sizeof(((struct dpumap_error *)0)->text)},
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
	[DPUMAP_MSG_DM_EXPORTED] = {"dm-exported", DPUMAP_FIELD_NUMBER, 0},
	[DPUMAP_MSG_EVENT] = {"event", DPUMAP_FIELD_TEXT, DPUMAP_OP_NAME_MAX},
	[DPUMAP_MSG_DETAILS] = {"details", DPUMAP_FIELD_BYTES, DPUMAP_DETAILS_MAX},
	[DPUMAP_MSG_CARD] = {"card", DPUMAP_FIELD_NUMBER, 0},
	[DPUMAP_MSG_FUNCTION] = {"function", DPUMAP_FIELD_NUMBER, 0},
	[DPUMAP_MSG_SERVER] = {"server", DPUMAP_FIELD_BYTES, DPUMAP_COMCH_NAME_SIZE - 1},
	[DPUMAP_MSG_KEY] = {"key", DPUMAP_FIELD_BYTES, DPUMAP_COMCH_KEY_LEN},
	[DPUMAP_MSG_ADDRESS] = {"address", DPUMAP_FIELD_TEXT, DPUMAP_IP_TEXT_MAX - 1},
	[DPUMAP_MSG_PORT] = {"port", DPUMAP_FIELD_NUMBER, 0},
	[DPUMAP_MSG_TICKET] = {"ticket", DPUMAP_FIELD_BYTES, DPUMAP_TICKET_LEN},
};

const struct dpumap_field *dpumap_field_get(enum dpumap_msg_key key)
{
	return &fields[key];
}

const char *dpumap_msg_key_name(enum dpumap_msg_key key)
{
	return fields[key].name;
}
