/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What an administrator can ask of a dpumapd that runs: a line COMMAND [ARGUMENT], answered by one
 * JSON object with "status" (the name of a doca_error_t) and "error" or what was asked for.
 *
 *   status | list | sessions | reload | add EXPORT | remove NAME
 *
 * The descriptor of a dma-buf comes along with add.
 */
#ifndef DPUMAPD_ADMIN_H
#define DPUMAPD_ADMIN_H

#include <stdio.h>

/* An answer_fn (exchange.h); the context is the daemon. */
void admin_answer(void *daemon, const char *question, int fd, FILE *answer);

#endif
