/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Serves the exports to many clients from one thread; no client makes another wait. */
#ifndef DPUMAPD_SERVER_H
#define DPUMAPD_SERVER_H

#include "channel/channel.h"
#include "exports.h"
#include "loop.h"
#include "session.h"

struct server;

/* Borrows the loop until server_destroy(). */
doca_error_t server_create(struct loop *loop, struct server **server, struct dpumap_fault *fault);
/* What it serves, from before the loop's first turn until server_destroy(). */
void server_set_exports(struct server *server, struct exports *exports);
/* Disconnects everybody. NULL is allowed. */
void server_destroy(struct server *server);

/* Takes the listener over, also on failure. */
doca_error_t server_listen(struct server *server, struct dpumap_listener *listener,
			   struct dpumap_fault *fault);
void server_set_max_clients(struct server *server, unsigned int max_clients);
/*
 * For connections from now on; those there are have to satisfy it too, or are closed. Takes it
 * over; NULL for none.
 */
void server_set_tls(struct server *server, struct dpumap_tls *tls);

/* Work that no descriptor tells of: is there some, and doing a little of it. */
bool server_has_work(const struct server *server);
void server_work(struct server *server);
/* To be called about twice a second: ends what takes too long. */
void server_tick(struct server *server);

struct server_stats {
	unsigned int clients;
	unsigned int strangers; /* that have not said yet who they are */
	uint64_t accepted;
	uint64_t refused; /* connections */
	uint64_t held;	  /* exports, as often as they are */
	struct requests_stats requests;
};

void server_get_stats(const struct server *server, struct server_stats *stats);
const struct session *server_first_session(const struct server *server);

#endif
