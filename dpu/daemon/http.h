/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The requests of scrapers, which want one page over one connection. A library such as libmicrohttpd would bring a loop
 * of its own and a dependency for these lines.
 */
#ifndef DPUMAPD_HTTP_H
#define DPUMAPD_HTTP_H

#include <stdbool.h>
#include <stdio.h>

/* The status for a request of the only page, path: 200, or the error. */
unsigned int http_status(const char *request, const char *path, bool *is_head);
/* body is text in the format of Prometheus, or "" if the status is an error; a HEAD gets only its length. */
void http_reply(FILE *out, unsigned int status, const char *body, bool is_head);

#endif
