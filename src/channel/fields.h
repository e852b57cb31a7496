/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The table of message fields that encoder and decoder share. */
#ifndef DPUMAP_CHANNEL_FIELDS_H
#define DPUMAP_CHANNEL_FIELDS_H

#include "channel/message.h"

#define DPUMAP_OP_NAME_MAX 32 /* of an operation or event, without the NUL */

enum dpumap_field_type {
	DPUMAP_FIELD_NUMBER,
	DPUMAP_FIELD_TEXT, /* printable ASCII, because terminals and logs show it */
	DPUMAP_FIELD_BYTES,
	DPUMAP_FIELD_EXPORTS,
};

struct dpumap_field {
	const char *name;
	enum dpumap_field_type type;
	size_t max; /* bytes of text or bytes, number of exports */
};

const struct dpumap_field *dpumap_field_get(enum dpumap_msg_key key);
const char *dpumap_msg_key_name(enum dpumap_msg_key key);

#endif
