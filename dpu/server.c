/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "server.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/clock.h"
#include "requests.h"
#include "say.h"

/* For a handshake and hello, for the rest of a frame, and for taking a reply. */
#define PATIENCE_NS (5 * DPUMAP_NSEC_PER_SEC)
/* More, and the one that has been silent for longest goes: nobody is kept out by those who wait. */
#define STRANGERS_MAX 256
/* Lines between two ticks about those who are not known: nobody is to fill the log from outside. */
#define STRANGERS_LOGGED 20u
/* Then those who are there already get their turn, however fast others come. */
#define ACCEPTED_AT_ONCE 16

struct entrance {
	struct watch watch;
	struct server *server;
	struct dpumap_listener *listener;
	struct entrance *next;
};

struct server {
	struct loop *loop;
	struct exports *exports;
	struct dpumap_tls *tls;
	struct entrance *entrances;
	struct session *sessions; /* the newest first */
	unsigned int max_clients;
	bool accepting;
	unsigned int strangers_left; /* since the last tick */
	struct server_stats stats;
};

/* -- entrances -- */

/* Level-triggered readiness that cannot be served would spin: look away until the next tick. */
static void set_accepting(struct server *server, bool accepting)
{
	struct dpumap_fault ignored;

	if (server->accepting == accepting)
		return;
	for (struct entrance *e = server->entrances; e; e = e->next)
		loop_change(server->loop, &e->watch, accepting ? EPOLLIN : 0, &ignored);
	server->accepting = accepting;
}

static void close_entrance(struct entrance *entrance)
{
	loop_remove(entrance->server->loop, &entrance->watch);
	dpumap_listener_destroy(entrance->listener);
	free(entrance);
}

/* -- sessions -- */

static bool is_stranger(const struct session *session)
{
	return !session->who[0];
}

static void disconnect(const struct server *server, struct session *session)
{
	struct export *export;

	while (session->num_links > 0) {
		uint64_t id = session->links[0];

		export = exports_of_id(server->exports, id);
		if (export)
			export_disconnect(export, session);
		session_unlink_all(session, id);
	}
}

static void remove_session(struct server *server, struct session *session)
{
	struct session **at = &server->sessions;

	while (*at != session)
		at = &(*at)->next;
	*at = session->next;
	loop_remove(server->loop, &session->watch);
	disconnect(server, session);
	server->stats.held -= session->num_held;
	if (is_stranger(session))
		server->stats.strangers--;
	else
		server->stats.clients--;
	session_destroy(session);
	set_accepting(server, true);
}

static void drop(struct server *server, struct session *session, const struct dpumap_fault *why)
{
	if (is_stranger(session))
		server->stats.refused++;
	if (!is_stranger(session) || server->strangers_left++ < STRANGERS_LOGGED)
		session_say(session, "leaves: %s", why->text);
	remove_session(server, session);
}

static struct session *session_of(struct watch *watch)
{
	return (struct session *)((char *)watch - offsetof(struct session, watch));
}

static bool may_import_any(const struct server *server, const char *who)
{
	for (size_t i = 0; i < exports_count(server->exports); i++)
		if (spec_allows(export_spec(exports_get(server->exports, i)), who))
			return true;
	return false;
}

static doca_error_t check_welcome(const struct server *server, const char *who,
				  struct dpumap_fault *fault)
{
	if (!may_import_any(server, who))
		return dpumap_fault_set(fault, DOCA_ERROR_NOT_PERMITTED,
					"%s may not import from this dpumapd", who);
	if (server->stats.clients >= server->max_clients)
		return dpumap_fault_set(fault, DOCA_ERROR_FULL,
					"dpumapd serves %u clients already, which is its limit",
					server->stats.clients);
	return DOCA_SUCCESS;
}

/* Is it somebody now? A client that is not welcome is told why. */
static doca_error_t welcome(struct server *server, struct session *session, const char *who,
			    struct dpumap_fault *fault)
{
	doca_error_t result = check_welcome(server, who, fault);

	server->stats.strangers--;
	server->stats.clients++;
	snprintf(session->who, sizeof(session->who), "%s", who);
	if (result == DOCA_SUCCESS) {
		session_say(session, "connects");
		return result;
	}
	server->stats.refused++;
	requests_reject(session, fault);
	return DOCA_SUCCESS;
}

static doca_error_t get_to_know(struct server *server, struct session *session,
				struct dpumap_fault *fault)
{
	char who[DPUMAP_PEER_NAME_MAX];
	doca_error_t result;

	if (session->peer.kind == DPUMAP_ADDRESS_UNIX) {
		snprintf(who, sizeof(who), "uid:%u", session->peer.uid);
		return welcome(server, session, who, fault);
	}
	result = dpumap_conn_handshake(session->conn, fault);
	if (result == DOCA_SUCCESS)
		result = dpumap_conn_peer_name(session->conn, who, fault);
	if (result == DOCA_SUCCESS)
		result = welcome(server, session, who, fault);
	return result;
}

/* Answers frame after frame until one is incomplete, a reply is stuck or a job is started. */
static doca_error_t serve_frames(struct server *server, struct session *session,
				 struct dpumap_fault *fault)
{
	const uint8_t *payload;
	doca_error_t result;
	size_t len;

	while (!session->job.active && !session->closing) {
		result = dpumap_conn_frame(session->conn, &payload, &len, fault);
		if (result == DOCA_ERROR_AGAIN)
			break;
		if (result != DOCA_SUCCESS) {
			requests_reject(session, fault);
			break;
		}
		server->stats.held -= session->num_held;
		requests_answer(session, server->exports, &server->stats.requests, payload, len);
		server->stats.held += session->num_held;
		dpumap_conn_drop_frame(session->conn);
		result = dpumap_conn_flush(session->conn, fault);
		if (result != DOCA_SUCCESS)
			return result;
	}
	return dpumap_conn_flush(session->conn, fault);
}

/*
 * Sends what is left to send, then events, then goes on with the client's next request: what
 * happened before a request is told before it is answered.
 */
static doca_error_t advance(struct server *server, struct session *session,
			    struct dpumap_fault *fault)
{
	doca_error_t result = dpumap_conn_flush(session->conn, fault);

	while (result == DOCA_SUCCESS && session->events && !session->closing) {
		session_send_event(session);
		result = dpumap_conn_flush(session->conn, fault);
	}
	if (result == DOCA_SUCCESS)
		result = serve_frames(server, session, fault);
	if (result == DOCA_ERROR_AGAIN)
		return DOCA_SUCCESS;
	if (result == DOCA_SUCCESS && session->closing)
		return dpumap_fault_set(fault, DOCA_ERROR_SHUTDOWN, "disconnected");
	return result;
}

static uint32_t interest_of(const struct session *session)
{
	if (session->job.active && !dpumap_conn_has_output(session->conn))
		return 0;
	return dpumap_conn_events(session->conn) == POLLOUT ? EPOLLOUT : EPOLLIN;
}

static doca_error_t go_on(struct server *server, struct session *session, uint32_t events,
			  struct dpumap_fault *fault)
{
	doca_error_t result = DOCA_SUCCESS;

	if (is_stranger(session)) {
		result = get_to_know(server, session, fault);
		if (result != DOCA_SUCCESS)
			return result;
		events |= EPOLLIN; /* the session may hold bytes that came with the handshake */
	}
	if (events & EPOLLIN)
		result = dpumap_conn_fill(session->conn, fault);
	else if (events & (EPOLLHUP | EPOLLERR))
		result = dpumap_fault_set(fault, DOCA_ERROR_CONNECTION_RESET,
					  "the other side closed the connection");
	if (result == DOCA_SUCCESS || result == DOCA_ERROR_AGAIN)
		result = advance(server, session, fault);
	return result;
}

/* May free the session. */
static void serve(struct server *server, struct session *session, uint32_t events)
{
	struct dpumap_fault fault = {0};
	doca_error_t result = go_on(server, session, events, &fault);

	if (result == DOCA_SUCCESS || result == DOCA_ERROR_AGAIN)
		result = loop_change(server->loop, &session->watch, interest_of(session), &fault);
	if (result != DOCA_SUCCESS)
		drop(server, session, &fault);
}

static void on_session(struct watch *watch, uint32_t events)
{
	struct session *session = session_of(watch);

	serve(session->server, session, events);
}

/* -- those who come -- */

static void drop_oldest_stranger(struct server *server)
{
	const struct dpumap_fault why = {.text = "too many wait to be known"};
	struct session *oldest = NULL;

	for (struct session *s = server->sessions; s; s = s->next)
		if (is_stranger(s))
			oldest = s;
	if (oldest)
		drop(server, oldest, &why);
}

static void admit(struct server *server, int fd, const struct dpumap_peer *peer)
{
	struct dpumap_tls *tls = peer->kind == DPUMAP_ADDRESS_UNIX ? NULL : server->tls;
	struct dpumap_fault fault = {0};
	struct session *session;

	server->stats.accepted++;
	if (server->stats.strangers >= STRANGERS_MAX)
		drop_oldest_stranger(server);
	if (session_create(fd, peer, tls, &session, &fault) != DOCA_SUCCESS) {
		say("%s", fault.text);
		return;
	}
	session->server = server;
	if (loop_add(server->loop, &session->watch, fd, EPOLLIN, on_session, &fault) !=
	    DOCA_SUCCESS) {
		say("%s", fault.text);
		session_destroy(session);
		return;
	}
	session->next = server->sessions;
	server->sessions = session;
	server->stats.strangers++;
	serve(server, session, 0);
}

static void on_entrance(struct watch *watch, uint32_t events)
{
	struct entrance *entrance =
		(struct entrance *)((char *)watch - offsetof(struct entrance, watch));
	struct dpumap_fault fault = {0};
	struct dpumap_peer peer;
	doca_error_t result = DOCA_SUCCESS;
	int fd;

	(void)events;
	for (int i = 0; i < ACCEPTED_AT_ONCE; i++) {
		result = dpumap_listener_accept(entrance->listener, &fd, &peer, &fault);
		if (result == DOCA_SUCCESS)
			admit(entrance->server, fd, &peer);
		else if (result != DOCA_ERROR_CONNECTION_RESET)
			break;
	}
	if (result == DOCA_ERROR_FULL) {
		say("%s", fault.text);
		set_accepting(entrance->server, false);
	}
}

/* -- what happens to exports -- */

static bool find_event(const struct session *session, const struct export_spec *was,
		       const struct export_spec *is, enum dpumap_event *event)
{
	bool had = was && spec_allows(was, session->who);
	bool has = is && spec_allows(is, session->who);

	*event = had && has ? DPUMAP_EVENT_CHANGED
		 : had	    ? DPUMAP_EVENT_REMOVED
			    : DPUMAP_EVENT_ADDED;
	return had || has;
}

static void on_change(void *context, const struct export_spec *was, uint64_t was_id,
		      const struct export_spec *is)
{
	const struct dpumap_fault slow = {.text = "too slow for its events"};
	struct server *server = context;
	struct session *session, *next;
	enum dpumap_event event;

	for (session = server->sessions; session; session = next) {
		next = session->next;
		if (was)
			server->stats.held -= session_forget(session, was_id);
		if (!session->watching || !find_event(session, was, is, &event))
			continue;
		if (session_tell(session, event, (is ? is : was)->name))
			serve(server, session, 0);
		else
			drop(server, session, &slow);
	}
}

/* -- the rest -- */

doca_error_t server_create(struct loop *loop, struct server **server, struct dpumap_fault *fault)
{
	struct server *s = calloc(1, sizeof(*s));

	if (!s)
		return dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY, "no memory for the server");
	s->loop = loop;
	s->accepting = true;
	*server = s;
	return DOCA_SUCCESS;
}

void server_set_exports(struct server *server, struct exports *exports)
{
	server->exports = exports;
	exports_watch(exports, on_change, server);
}

void server_destroy(struct server *server)
{
	struct entrance *entrance;

	if (!server)
		return;
	if (server->exports)
		exports_watch(server->exports, NULL, NULL);
	while ((entrance = server->entrances)) {
		server->entrances = entrance->next;
		close_entrance(entrance);
	}
	while (server->sessions)
		remove_session(server, server->sessions);
	dpumap_tls_destroy(server->tls);
	free(server);
}

doca_error_t server_listen(struct server *server, struct dpumap_listener *listener,
			   struct dpumap_fault *fault)
{
	struct entrance *entrance = calloc(1, sizeof(*entrance));
	doca_error_t result;

	if (!entrance) {
		dpumap_listener_destroy(listener);
		return dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY, "no memory for the server");
	}
	entrance->server = server;
	entrance->listener = listener;
	result = loop_add(server->loop, &entrance->watch, dpumap_listener_fd(listener), EPOLLIN,
			  on_entrance, fault);
	if (result != DOCA_SUCCESS) {
		close_entrance(entrance);
		return result;
	}
	entrance->next = server->entrances;
	server->entrances = entrance;
	return DOCA_SUCCESS;
}

void server_set_max_clients(struct server *server, unsigned int max_clients)
{
	server->max_clients = max_clients;
}

/* One that was accepted once, and would not be now. */
static struct session *find_refused(const struct server *server)
{
	struct dpumap_fault fault = {0};

	for (struct session *s = server->sessions; s; s = s->next)
		if (s->peer.kind == DPUMAP_ADDRESS_TLS && !is_stranger(s) &&
		    dpumap_conn_check_again(s->conn, server->tls, &fault) != DOCA_SUCCESS)
			return s;
	return NULL;
}

/* With what it holds: others who have the same get it again. */
static void cut_off(struct server *server, struct session *session)
{
	struct dpumap_fault fault = {0};
	uint64_t *held = session->held;
	size_t num_held = session->num_held;
	struct export *export;

	server->stats.held -= num_held;
	session->held = NULL;
	session->num_held = 0;
	dpumap_conn_check_again(session->conn, server->tls, &fault);
	drop(server, session, &fault);
	for (size_t i = 0; i < num_held; i++) {
		export = exports_of_id(server->exports, held[i]);
		if (export)
			exports_revoke(server->exports, export);
	}
	free(held);
}

void server_set_tls(struct server *server, struct dpumap_tls *tls)
{
	struct session *session;

	dpumap_tls_destroy(server->tls);
	server->tls = tls;
	while (tls && (session = find_refused(server)))
		cut_off(server, session);
}

bool server_has_work(const struct server *server)
{
	for (const struct session *s = server->sessions; s; s = s->next) {
		if (s->job.active)
			return true;
	}
	return false;
}

void server_work(struct server *server)
{
	struct session *session, *next;

	for (session = server->sessions; session; session = next) {
		next = session->next;
		if (!session->job.active)
			continue;
		requests_work(session, server->exports);
		if (!session->job.active)
			serve(server, session, 0);
	}
}

static bool is_late(const struct session *session, uint64_t now)
{
	uint64_t since =
		session->greeted ? dpumap_conn_stalled_since(session->conn) : session->since;

	return !session->job.active && since != 0 && now - since > PATIENCE_NS;
}

void server_tick(struct server *server)
{
	const struct dpumap_fault slow = {.text = "too slow"};
	uint64_t now = dpumap_clock_ns();
	struct session *session, *next;

	for (session = server->sessions; session; session = next) {
		next = session->next;
		if (is_late(session, now))
			drop(server, session, &slow);
	}
	if (server->strangers_left > STRANGERS_LOGGED)
		say("%u more who were not known leave", server->strangers_left - STRANGERS_LOGGED);
	server->strangers_left = 0;
	set_accepting(server, true);
}

void server_get_stats(const struct server *server, struct server_stats *stats)
{
	*stats = server->stats;
}

const struct session *server_first_session(const struct server *server)
{
	return server->sessions;
}
