/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The admin socket of dpumapd: a request is a line COMMAND [ARGUMENT], a reply one JSON object with
 * "status" (the name of a doca_error_t) and either "error" or the requested data.
 *
 *   status | list | sessions | reload | add EXPORT | remove NAME | rekey NAME |
 *   disconnect CLIENT
 *
 * The file descriptor of a dma-buf is passed along with add.
 */
#ifndef DPUMAPD_ADMIN_H
#define DPUMAPD_ADMIN_H

#include <stdio.h>

#include "dpu/daemon/text_service.h"

/* A text_service_fn; the context is the daemon. */
enum text_outcome admin_answer(void *daemon, const char *request, int fd,
			       struct text_progress *progress, FILE *answer);

#endif
