/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Connections of one text request and one text reply: dpumapd ctl and metrics. */
#ifndef DPUMAPD_TEXT_SERVICE_H
#define DPUMAPD_TEXT_SERVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "channel/listener.h"
#include "dpu/base/loop.h"

struct text_service;

enum text_outcome {
	TEXT_DONE,
	TEXT_MORE,  /* the function is called again when this part has been sent, in a later turn */
	TEXT_LATER, /* it is called again by text_service_retry() */
};

/* What the function left when it was called last. All zero at the beginning. */
struct text_progress {
	uint64_t ticket;
	bool has_begun; /* a task that takes several turns */
	char after[80]; /* what a list goes on after: the name of its last object */
};

/*
 * fd came with the request, or is -1; the service closes it. A turn of the loop answers one request, so no part of a
 * reply should take long.
 */
typedef enum text_outcome text_service_fn(void *context, const char *request, int fd,
					  struct text_progress *progress, FILE *reply);

/*
 * Takes the listener over, also on failure. A request ends with end, or where the client stops
 * writing. On a Unix socket, only root and the user of this process get replies.
 */
doca_error_t text_service_create(struct loop *loop, struct dpumap_listener *listener,
				 const char *end, text_service_fn *answer, void *context,
				 struct text_service **service, struct dpumap_error *error);
/* NULL is allowed. */
void text_service_destroy(struct text_service *service);
/* How many requests' replies come later? */
unsigned int text_service_num_waiting(const struct text_service *service);
/* Calls the function again for the requests whose replies come later. */
void text_service_retry(struct text_service *service);
/* To be called about twice a second: closes connections that time out. */
void text_service_tick(struct text_service *service);

#endif
