/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Metrics for Prometheus, over HTTP on a Unix socket or a loopback address. */
#ifndef DPUMAPD_METRICS_H
#define DPUMAPD_METRICS_H

#include <stdio.h>

#include "channel/address.h"
#include "dpu/daemon/text_service.h"
#include "local/error.h"

/* where is /PATH, or HOST:PORT with a loopback address; INVALID_VALUE for any other. */
doca_error_t metrics_parse(const char *where, struct dpumap_address *address,
			   struct dpumap_error *error);

/* A text_service_fn; the context is the daemon. */
enum text_outcome metrics_answer(void *daemon, const char *request, int fd,
				 struct text_progress *progress, FILE *answer);

#endif
