/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Requests, replies and events as the text of dpumapd(8), for clients on the control channel. */
#ifndef DPUMAPD_COMCH_TEXT_H
#define DPUMAPD_COMCH_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "channel/message.h"
#include "local/error.h"

/* Every side of a control channel accepts messages of this size. */
#define COMCH_TEXT_MAX 4080u

struct comch_request {
	struct dpumap_msg msg; /* refers to the name */
	char name[DPUMAP_EXPORT_NAME_MAX];
};

/* INVALID_VALUE with the reason. */
doca_error_t comch_text_parse(const uint8_t *bytes, size_t len, struct comch_request *request,
			      struct dpumap_error *error);
/* The length of the text of a reply or an event. A list that is too long ends early. */
size_t comch_text_format(const struct dpumap_msg *msg, uint8_t text[static COMCH_TEXT_MAX]);

#endif
