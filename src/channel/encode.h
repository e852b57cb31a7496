/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Messages to bytes. */
#ifndef DPUMAP_CHANNEL_ENCODE_H
#define DPUMAP_CHANNEL_ENCODE_H

#include "channel/message.h"
#include "local/fault.h"

/* INVALID_VALUE for a field above its limit, TOO_BIG when buf is too small. */
doca_error_t dpumap_msg_encode(const struct dpumap_msg *msg, uint8_t *buf, size_t size, size_t *len,
			       struct dpumap_fault *fault);

#endif
