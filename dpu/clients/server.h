/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Serves the exports to many clients from one thread; no client makes another wait. */
#ifndef DPUMAPD_SERVER_H
#define DPUMAPD_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "channel/listener.h"
#include "channel/tls.h"
#include "dpu/base/loop.h"
#include "dpu/clients/acceptors.h"
#include "dpu/clients/by_address.h"
#include "dpu/clients/requests.h"
#include "dpu/clients/session.h"
#include "dpu/exports/export_table.h"

struct server;

/* Borrows the loop until server_destroy(). */
doca_error_t server_create(struct loop *loop, struct server **server, struct dpumap_error *error);
/* Borrows the exports until server_destroy(). To be called before the loop runs. */
void server_set_exports(struct server *server, struct export_table *exports);
/* Disconnects every client. NULL is allowed. */
void server_destroy(struct server *server);

/*
 * Takes the listener over, also on failure. The server accepts nothing from it before
 * server_use_listeners().
 */
doca_error_t server_listen(struct server *server, struct dpumap_listener *listener,
			   struct dpumap_error *error);
/* The listener at this address; NULL: none. */
const struct dpumap_listener *server_find_listener(const struct server *server,
						   const char *address);
/* acceptors_each_adopted() */
void server_each_adopted(const struct server *server, acceptors_each_fn *each, void *context);
/*
 * Accepts connections at these addresses and from adopted sockets, and closes the other listeners.
 * A listener on TCP is also closed if there is no TLS. open_to_all is for Unix sockets (listener.h).
 */
void server_use_listeners(struct server *server, char *const *addresses, size_t num,
			  bool open_to_all);
/* Where clients connect over RDMA: nowhere, until an address is set. */
struct cm_listener *server_cm_listener(const struct server *server);
/* Limits the clients that are connected at once, and those of the same identity among them. */
void server_set_max_clients(struct server *server, unsigned int max_clients,
			    unsigned int max_per_identity);
/* A client has so long for handshake and hello, for the rest of a frame, and to read a reply. */
void server_set_timeout(struct server *server, unsigned int seconds);
/*
 * Which clients dpumapd introduces to servers of doca_comch; borrowed until the next call. A client
 * that was introduced and may no longer reach its server loses the connection to it, in server_work().
 */
void server_set_introductions(struct server *server, const struct introduction_rules *rules);
/*
 * Takes over tls, which may be NULL, for new connections. A connection that tls would not accept is
 * closed, and the client's access is revoked: by server_work(), or when the client asks for something. NULL accepts
 * none over TCP.
 */
void server_set_tls(struct server *server, struct dpumap_tls *tls);
/* Are there connections that these functions and server_disconnect() may end, and have not yet? */
bool server_ends_clients(const struct server *server);
/* NULL: none. */
const struct dpumap_tls *server_tls(const struct server *server);

/*
 * A client that has authenticated over another kind of connection; see session.h about the sink.
 * NULL if the client is not authorized. The sink got the reason, and end() was called, also if there
 * is no memory. Each of the functions below may end the session.
 */
struct session *server_admit(struct server *server, const char *identity,
			     const struct session_sink *sink);
/* Answers a request of the client, or refuses what is not one. */
void server_request(struct server *server, struct session *session,
		    const struct dpumap_msg *request);
void server_refuse_request(struct server *server, struct session *session,
			   const struct dpumap_error *error);
/* The sink is ready again. */
void server_continue(struct server *server, struct session *session);
/* Ends the session. */
void server_end_session(struct server *server, struct session *session, const char *why);

/*
 * Has some client not heard yet of a change of the exports? server_work() tells some of them. A further change should
 * wait: a client that has too many events to hear is disconnected.
 */
bool server_announces(const struct server *server);

/* Is there work that no descriptor announces? server_work() does a little of it. */
bool server_has_work(const struct server *server);
void server_work(struct server *server);
/* To be called about twice a second: closes connections that time out. */
void server_tick(struct server *server);

/* Ends the sleep of a session's job. */
void server_wake(struct session *session);

/* Ends all sessions of a client, in server_work(). NOT_FOUND if there is none. */
doca_error_t server_disconnect(struct server *server, const char *identity,
			       struct dpumap_error *error);

struct server_stats {
	unsigned int clients;
	unsigned int unauthenticated; /* connections in the handshake */
	uint64_t accepted;
	uint64_t refused; /* connections */
	uint64_t held;	  /* exports, counted once for each client's get */
	struct requests_stats requests;
};

void server_get_stats(const struct server *server, struct server_stats *stats);
const struct session *server_first_session(const struct server *server);

#endif
