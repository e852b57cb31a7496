/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Serves the exports to many clients from one thread; no client makes another wait. */
#ifndef DPUMAPD_SERVER_H
#define DPUMAPD_SERVER_H

#include "channel/channel.h"
#include "exports.h"
#include "options.h"

struct server;

/* Borrows all three until server_destroy(). stop_fd becomes readable when the server is to stop. */
doca_error_t server_create(const struct options *options, struct dpumap_listener *listener,
			   int stop_fd, struct exports *exports, struct server **server,
			   struct dpumap_fault *fault);
/* Returns when told to stop (SUCCESS) or when the waiting itself fails. */
doca_error_t server_run(struct server *server, struct dpumap_fault *fault);
/* Disconnects everybody. NULL is allowed. */
void server_destroy(struct server *server);

#endif
