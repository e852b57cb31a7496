/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Bytes from an untrusted peer to messages. */
#ifndef DPUMAP_CHANNEL_DECODE_H
#define DPUMAP_CHANNEL_DECODE_H

#include "channel/message.h"
#include "local/fault.h"

/* Decodes untrusted bytes. INVALID_VALUE with the reason; msg is then invalid. */
doca_error_t dpumap_msg_decode(const uint8_t *buf, size_t len, struct dpumap_msg *msg,
			       struct dpumap_fault *fault);

#endif
