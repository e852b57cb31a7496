/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Connections that ask one thing as text, get one text and end: administrators, metrics. */
#ifndef DPUMAPD_EXCHANGE_H
#define DPUMAPD_EXCHANGE_H

#include <stdio.h>

#include "channel/channel.h"
#include "loop.h"

struct exchange;

/* fd is one that came with the question, or -1; it stays the exchange's. */
typedef void answer_fn(void *context, const char *question, int fd, FILE *answer);

/*
 * Takes the listener over, also on failure. A question ends with end, or where the asking side
 * stops writing. Only root and our own user are answered on a Unix socket.
 */
doca_error_t exchange_create(struct loop *loop, struct dpumap_listener *listener, const char *end,
			     answer_fn *answer, void *context, struct exchange **exchange,
			     struct dpumap_fault *fault);
/* NULL is allowed. */
void exchange_destroy(struct exchange *exchange);
/* To be called about twice a second: ends what takes too long. */
void exchange_tick(struct exchange *exchange);

#endif
