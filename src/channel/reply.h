/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What every client of dpumapd says first, and how it reads replies. */
#ifndef DPUMAP_CHANNEL_REPLY_H
#define DPUMAP_CHANNEL_REPLY_H

#include "channel/message.h"
#include "local/error.h"

/* The request hello; its id is still missing. */
void dpumap_reply_ask_hello(struct dpumap_msg *request, uint32_t version);
/*
 * name: of dpumapd, for the error. *version becomes the version of both, from that of the request.
 * UNSUPPORTED_VERSION.
 */
doca_error_t dpumap_reply_check_hello(const struct dpumap_msg *reply, const char *name,
				      uint32_t *version, struct dpumap_error *error);
/* The status and the error of dpumapd's reply; UNEXPECTED if it is not one to the request with id. */
doca_error_t dpumap_reply_check(uint64_t id, const struct dpumap_msg *reply,
				struct dpumap_error *error);

#endif
