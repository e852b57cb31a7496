/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * HTTP requests by libcurl, any number at once, without blocking. An epoll descriptor tells when
 * there is something to do. Every answer is bounded.
 */
#ifndef DPUMAP_FLEET_HTTP_H
#define DPUMAP_FLEET_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "local/error.h"

#define DPUMAP_HTTP_ANSWER_MAX (4u << 20) /* of an answer, or of a line of a stream, in bytes */

struct dpumap_http;
struct dpumap_http_call;

struct dpumap_http_answer {
	/*
	 * SUCCESS: an answer with any status. TIME_OUT, NOT_CONNECTED, AUTHENTICATION (TLS), TOO_BIG
	 * (longer than DPUMAP_HTTP_ANSWER_MAX), NO_MEMORY; with the reason.
	 */
	struct dpumap_error error;
	long status;
	const char *body; /* with a NUL behind it */
	size_t len;
};

/* The end of a request, once; the call is invalid then. May begin and cancel any call. */
typedef void dpumap_http_done_fn(void *context, const struct dpumap_http_answer *answer);
/* A line of a stream, without the newline. May begin and cancel any call. */
typedef void dpumap_http_line_fn(void *context, const char *line, size_t len);

struct dpumap_http_request {
	const char *url, *body;	   /* copied */
	const char *authorization; /* value of the header; NULL: none */
	const char *header;	   /* another header line; NULL: none */
	unsigned int timeout_ms;   /* of the request; of the connection for a stream */
	bool is_secret;		   /* body is a secret */
	dpumap_http_done_fn *done;
	dpumap_http_line_fn *line; /* NULL: the answer is not a stream */
	void *context;
};

/* The contents of PEM files; borrowed until the end of the calls. NULL: none. */
struct dpumap_http_tls {
	const char *ca, *cert, *key;
	size_t ca_len, cert_len, key_len;
};

doca_error_t dpumap_http_create(const struct dpumap_http_tls *tls, struct dpumap_http **http,
				struct dpumap_error *error);
/* Cancels all calls. NULL is allowed. */
void dpumap_http_destroy(struct dpumap_http *http);

/* done() is called later, by dpumap_http_process(), unless the call is cancelled. */
doca_error_t dpumap_http_begin(struct dpumap_http *http, const struct dpumap_http_request *request,
			       struct dpumap_http_call **call, struct dpumap_error *error);
/* done() is not called. NULL is allowed. */
void dpumap_http_cancel(struct dpumap_http_call *call);

int dpumap_http_fd(const struct dpumap_http *http);
/* Monotonic time in nanoseconds at which to process; UINT64_MAX: none. */
uint64_t dpumap_http_next(const struct dpumap_http *http);
void dpumap_http_process(struct dpumap_http *http);

#endif
