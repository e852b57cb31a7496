/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Metrics for Prometheus, over HTTP on a Unix socket or a loopback address. */
#ifndef DPUMAPD_METRICS_H
#define DPUMAPD_METRICS_H

#include <stdbool.h>
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

/*
 * The requests of scrapers, which want one page over one connection. A library such as libmicrohttpd would bring a loop
 * of its own and a dependency for these lines.
 */

/* The status for a request of the only page, path: 200, or the error. */
unsigned int http_status(const char *request, const char *path, bool *is_head);
/* body is text in the format of Prometheus, or "" if the status is an error; a HEAD gets only its length. */
void http_reply(FILE *out, unsigned int status, const char *body, bool is_head);

#endif
