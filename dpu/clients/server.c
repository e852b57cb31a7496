/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/clients/server.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "dpu/base/log.h"
#include "dpu/clients/acceptors.h"
#include "dpu/clients/requests.h"

/*
 * Above this, the oldest unauthenticated connection is closed, so that they cannot lock clients
 * out.
 */
#define UNAUTHENTICATED_MAX 256

/* In a turn of the loop, unless LOOP_SHARE_NS have passed before. */
#define DONE_AT_ONCE 64u

struct server {
	struct loop *loop;
	struct export_table *exports;
	const struct introduction_rules *rules;
	struct dpumap_tls *tls;
	bool has_unchecked; /* sessions: see needs_check() */
	struct acceptors *acceptors;
	struct by_address *by_address;
	struct session *sessions; /* the newest first */
	struct session *waiting, **last_waiting;
	size_t num_with_events; /* waiting sessions that have events */
	uint64_t turn_end;	/* 0: nothing was done in this turn */
	unsigned int num_done;
	unsigned int max_clients, max_per_identity;
	uint64_t timeout_ns; /* of a client, see server_set_timeout() */
	struct server_stats stats;
};

/* --- sessions --------------------------------------------------------------------------------- */

static const struct dpumap_error
	not_introduced = {.text = "comch.introduce no longer allows its server"},
	is_slow = {DOCA_ERROR_TIME_OUT, "timed out"},
	is_deaf = {DOCA_ERROR_FULL, "the client does not read its events"},
	is_dismissed = {DOCA_ERROR_CONNECTION_RESET, "the administrator ended the connection"};

static bool is_unauthenticated(const struct session *session)
{
	return !session->identity[0];
}

static void disconnect(const struct server *server, struct session *session)
{
	struct named_export *export;

	while (session->num_rdma_conns > 0) {
		uint64_t id = session->rdma_conns[0];

		export = export_table_find_id(server->exports, id);
		if (export)
			export_disconnect(export, session);
		session_remove_rdma_conns(session, id);
	}
}

static void begin_waiting(struct server *server, struct session *session)
{
	if (session->waits)
		return;
	session->waits = true;
	session->next_waiting = NULL;
	*server->last_waiting = session;
	server->last_waiting = &session->next_waiting;
}

/* The client hears of its events one in a turn: there may be very many. */
static void announce(struct server *server, struct session *session)
{
	begin_waiting(server, session);
	server->num_with_events += !session->has_events;
	session->has_events = true;
}

void server_wake(struct session *session)
{
	if (!session->job.sleeps)
		return;
	session->job.sleeps = false;
	begin_waiting(session->server, session);
}

static bool has_piece(const struct session *session)
{
	return session->job.active && !session->job.sleeps;
}

static void end_waiting(struct server *server, struct session *session)
{
	struct session **at = &server->waiting;

	if (!session->waits)
		return;
	while (*at != session)
		at = &(*at)->next_waiting;
	*at = session->next_waiting;
	if (!*at)
		server->last_waiting = at;
	session->waits = false;
	server->num_with_events -= session->has_events;
	session->has_events = false;
}

static void remove_session(struct server *server, struct session *session)
{
	const struct session_sink sink = session->sink;
	struct session **at = &server->sessions;

	while (*at != session)
		at = &(*at)->next;
	*at = session->next;
	end_waiting(server, session);
	loop_remove(server->loop, &session->watch);
	disconnect(server, session);
	for (size_t i = 0; i < session->held.num; i++)
		export_table_abandon(server->exports, session->held.list[i].id,
				     session->held.list[i].times);
	server->stats.held -= session->held.total;
	if (is_unauthenticated(session))
		server->stats.unauthenticated--;
	else
		server->stats.clients--;
	session_destroy(session);
	if (sink.end)
		sink.end(sink.context);
	acceptors_resume(server->acceptors);
}

/* Clients come and go. */
static enum dpumap_line_level level_of(const struct dpumap_error *why)
{
	bool is_usual = why->code == DOCA_SUCCESS || why->code == DOCA_ERROR_SHUTDOWN ||
			why->code == DOCA_ERROR_CONNECTION_RESET;

	return is_usual ? DPUMAP_LINE_INFO : DPUMAP_LINE_WARNING;
}

static void drop(struct server *server, struct session *session, const struct dpumap_error *why)
{
	if (is_unauthenticated(session))
		server->stats.refused++;
	session_log(session, level_of(why), "disconnected: %s", why->text);
	remove_session(server, session);
}

static struct session *session_of(struct watch *watch)
{
	return (struct session *)((char *)watch - offsetof(struct session, watch));
}

/* As session_may_import() for one of all exports. */
static bool may_import_any(const struct server *server, const struct session *session)
{
	return export_table_has_importer(server->exports, session->identity, EXPORT_VIA_PCI) ||
	       (session->conn &&
		export_table_has_importer(server->exports, session->identity, EXPORT_VIA_RDMA));
}

static unsigned int count_others(const struct server *server, const struct session *session)
{
	unsigned int num = 0;

	for (const struct session *s = server->sessions; s; s = s->next)
		num += s != session && !s->closing && strcmp(s->identity, session->identity) == 0;
	return num;
}

static doca_error_t check_authorized(const struct server *server, const struct session *session,
				     struct dpumap_error *error)
{
	const char *identity = session->identity;

	if (!may_import_any(server, session) &&
	    !(session->conn && introduction_rules_match(server->rules, identity, NULL)))
		return dpumap_error_set(error, DOCA_ERROR_NOT_PERMITTED,
					"%s may not import from this dpumapd: add it to the allow "
					"list of an export or of comch.introduce",
					identity);
	if (server->stats.clients >= server->max_clients)
		return dpumap_error_set(
			error, DOCA_ERROR_FULL,
			"dpumapd already serves %u clients, its limit (max_clients)",
			server->stats.clients);
	if (count_others(server, session) >= server->max_per_identity)
		return dpumap_error_set(
			error, DOCA_ERROR_FULL,
			"dpumapd already serves %u clients of %s, the limit of one identity "
			"(max_clients_per_identity): end some of them",
			server->max_per_identity, identity);
	return DOCA_SUCCESS;
}

/* Records the identity. A client that is not authorized gets the reason. */
static doca_error_t authorize(struct server *server, struct session *session, const char *identity,
			      struct dpumap_error *error)
{
	doca_error_t result;

	snprintf(session->identity, sizeof(session->identity), "%s", identity);
	result = check_authorized(server, session, error);
	server->stats.unauthenticated--;
	server->stats.clients++;
	if (result == DOCA_SUCCESS) {
		session_log(session, DPUMAP_LINE_INFO, "connected");
		return result;
	}
	server->stats.refused++;
	requests_reject(session, error);
	return DOCA_SUCCESS;
}

static bool may_still_connect(const struct session *session)
{
	return !session->introduction ||
	       introduction_rules_match(session->rules, session->identity,
					introduction_place(session->introduction)->name);
}

/*
 * Would the current TLS settings accept the client of a session, which may have authenticated with
 * earlier ones?
 */
static doca_error_t check_accepted(const struct server *server, const struct session *session,
				   struct dpumap_error *error)
{
	if (session->peer.kind == DPUMAP_ADDRESS_UNIX)
		return DOCA_SUCCESS;
	if (!server->tls)
		return dpumap_error_set(error, DOCA_ERROR_AUTHENTICATION,
					"the configuration no longer has TLS");
	return dpumap_conn_check_again(session->conn, server->tls, error);
}

static doca_error_t authenticate(struct server *server, struct session *session,
				 struct dpumap_error *error)
{
	char identity[DPUMAP_PEER_NAME_MAX];
	doca_error_t result;

	if (session->peer.kind == DPUMAP_ADDRESS_UNIX) {
		snprintf(identity, sizeof(identity), "uid:%u", session->peer.uid);
		return authorize(server, session, identity, error);
	}
	result = dpumap_conn_handshake(session->conn, error);
	if (result == DOCA_SUCCESS)
		result = check_accepted(server, session, error);
	if (result == DOCA_SUCCESS)
		result = dpumap_conn_peer_name(session->conn, identity, error);
	if (result == DOCA_SUCCESS)
		result = authorize(server, session, identity, error);
	return result;
}

/* Clients of other machines come by an introduction, which knows the certificate. */
static void refuse_introduced(const struct server *server, const char *identity)
{
	for (struct session *s = server->sessions; s; s = s->next)
		s->refused |= !s->conn && strcmp(s->identity, identity) == 0;
}

static void check_connection(const struct server *server, struct session *session)
{
	struct dpumap_error ignored = {0};

	session->unchecked = false;
	session->refused = check_accepted(server, session, &ignored) != DOCA_SUCCESS;
	if (session->refused && session->introduction)
		refuse_introduced(server, session->identity);
	if (!may_still_connect(session))
		session->leaves = &not_introduced;
}

/* Decides whether the current settings accept the client: session->refused, session->leaves. */
static void check_session(const struct server *server, struct session *session)
{
	if (session->conn) {
		check_connection(server, session);
		return;
	}
	session->unchecked = false;
	for (struct session *s = server->sessions; s; s = s->next)
		if (s->unchecked && s->introduction && strcmp(s->identity, session->identity) == 0)
			check_connection(server, s);
}

/* Other holders get new descriptors. */
static void revoke_one(struct server *server, struct session *session)
{
	uint64_t id = session->held.list[session->held.num - 1].id;
	struct named_export *export = export_table_find_id(server->exports, id);
	size_t times;

	if (export)
		export_table_revoke(server->exports, export);
	times = held_forget(&session->held, id); /* of an export over RDMA */
	export_table_abandon(server->exports, id, times);
	server->stats.held -= times;
}

/* Revokes the next export that the client holds; once there are none, the session ends. */
static void refuse_further(struct server *server, struct session *session)
{
	struct dpumap_error error = {0};

	disconnect(server, session);
	if (session->held.num) {
		if (!server_announces(server))
			revoke_one(server, session);
		return;
	}
	if (session->conn)
		check_accepted(server, session, &error);
	else
		dpumap_error_set(&error, DOCA_ERROR_AUTHENTICATION,
				 "its certificate or pre-shared key is no longer accepted");
	if (introduction_is_done(session->introduction))
		introduction_withdraw(session->introduction);
	drop(server, session, &error);
}

static bool needs_check(const struct session *session)
{
	return session->unchecked || session->refused || session->leaves;
}

/* True if the session ends or has ended, because its client is no longer accepted, or is to leave. */
static bool end_if_refused(struct server *server, struct session *session)
{
	if (session->unchecked)
		check_session(server, session);
	if (session->refused) {
		refuse_further(server, session);
		return true;
	}
	if (!session->leaves)
		return false;
	if (introduction_is_done(session->introduction))
		introduction_withdraw(session->introduction);
	drop(server, session, session->leaves);
	return true;
}

static bool can_answer(const struct session *session)
{
	return !session->job.active && !session->closing && !session->introduction;
}

/* To be called once for each request, end of a session and so on. */
static bool is_turn_over(struct server *server)
{
	uint64_t now = monotonic_ns();

	if (!server->turn_end)
		server->turn_end = now + LOOP_SHARE_NS;
	return ++server->num_done > DONE_AT_ONCE || now >= server->turn_end;
}

/* Whether another request has arrived. An invalid one is rejected in its turn. */
static bool has_request(const struct session *session)
{
	struct dpumap_error ignored = {0};
	const uint8_t *payload;
	size_t len;

	return can_answer(session) &&
	       dpumap_conn_frame(session->conn, &payload, &len, &ignored) != DOCA_ERROR_AGAIN;
}

/* Few replies wait for those to the requests that have arrived, because sending costs more than answering. */
static doca_error_t send_replies(const struct session *session, struct dpumap_error *error)
{
	if (has_request(session) && dpumap_conn_may_gather(session->conn))
		return DOCA_SUCCESS;
	return dpumap_conn_flush(session->conn, error);
}

/*
 * Answers one request: a client that sends many at once does not make others wait. AGAIN if the reply
 * cannot be sent, or if there is none.
 */
static doca_error_t answer_one(struct server *server, struct session *session,
			       struct dpumap_error *error)
{
	const uint8_t *payload;
	doca_error_t result;
	size_t len;

	result = dpumap_conn_frame(session->conn, &payload, &len, error);
	if (result == DOCA_ERROR_AGAIN)
		return result;
	if (result != DOCA_SUCCESS) {
		requests_reject(session, error);
		return send_replies(session, error);
	}
	server->stats.held -= session->held.total;
	requests_answer_frame(session, server->exports, &server->stats.requests, payload, len);
	server->stats.held += session->held.total;
	dpumap_conn_drop_frame(session->conn);
	return send_replies(session, error);
}

static void on_introducer_event(struct watch *watch, uint32_t events)
{
	const struct dpumap_error why = {.text = "its connection to the server ended"};
	struct session *session = session_of(watch);

	(void)events;
	if (introduction_has_ended(session->introduction))
		drop(session->server, session, &why);
}

/*
 * AGAIN until the TLS session has ended on both sides. Then the server has the client's connection,
 * and the session waits for its end.
 */
static doca_error_t go_on_introducing(const struct server *server, struct session *session,
				      struct dpumap_error *error)
{
	char text[DPUMAP_COMCH_PLACE_TEXT_SIZE];
	doca_error_t result;
	int fd;

	result = dpumap_conn_leave(session->conn, &fd, error);
	if (result != DOCA_SUCCESS)
		return result;
	/* Otherwise epoll reports the connection as long as the server has it. */
	loop_remove(server->loop, &session->watch);
	result = introduction_pass(session->introduction, fd, error);
	if (result != DOCA_SUCCESS)
		return result;
	session_log(session, DPUMAP_LINE_INFO, "meets server %.240s",
		    dpumap_comch_place_text(introduction_place(session->introduction), text));
	return loop_add(server->loop, &session->watch, introduction_fd(session->introduction),
			EPOLLIN, on_introducer_event, error);
}

static doca_error_t send_events(struct server *server, struct session *session,
				struct dpumap_error *error)
{
	doca_error_t result = send_replies(session, error);

	if (result == DOCA_SUCCESS && session->events && !session->closing) {
		session_send_event(session);
		result = send_replies(session, error);
	}
	if (result == DOCA_SUCCESS && session->events)
		announce(server, session);
	return result;
}

/*
 * Sends pending output, then the next event, or answers the next request: events that precede a request
 * are sent before its reply.
 */
static doca_error_t advance(struct server *server, struct session *session,
			    struct dpumap_error *error)
{
	doca_error_t result = send_events(server, session, error);

	if (result == DOCA_SUCCESS && can_answer(session) && !session->waits)
		result = answer_one(server, session, error);
	if (has_piece(session) || (result == DOCA_SUCCESS && has_request(session)))
		begin_waiting(server, session);
	if (result == DOCA_SUCCESS && session->introduction && !session->closing)
		result = go_on_introducing(server, session, error);
	if (result == DOCA_ERROR_AGAIN)
		return DOCA_SUCCESS;
	if (result == DOCA_SUCCESS && session->closing)
		return dpumap_error_set(error, DOCA_ERROR_SHUTDOWN, "session closed");
	return result;
}

static uint32_t interest_of(const struct session *session)
{
	/* Its turn comes, and sends its replies. */
	if (session->job.active ? !dpumap_conn_has_output(session->conn) : session->waits)
		return 0;
	return dpumap_conn_events(session->conn) == POLLOUT ? EPOLLOUT : EPOLLIN;
}

static doca_error_t go_on(struct server *server, struct session *session, uint32_t events,
			  struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;

	if (session->introduction && !dpumap_conn_has_output(session->conn))
		return go_on_introducing(server, session, error);
	if (is_unauthenticated(session)) {
		result = authenticate(server, session, error);
		if (result != DOCA_SUCCESS)
			return result;
		events |= EPOLLIN; /* the session may hold bytes that came with the handshake */
	}
	if (events & EPOLLIN)
		result = dpumap_conn_fill(session->conn, error);
	else if (events & (EPOLLHUP | EPOLLERR))
		result = dpumap_error_set(error, DOCA_ERROR_CONNECTION_RESET,
					  "the client closed the connection");
	if (result == DOCA_SUCCESS || result == DOCA_ERROR_AGAIN)
		result = advance(server, session, error);
	return result;
}

/* The same for a client that has a sink. */
static doca_error_t go_on_with_sink(struct server *server, struct session *session,
				    struct dpumap_error *error)
{
	if (session->events && session->sink.is_ready(session->sink.context))
		session_send_event(session);
	if (session->closing)
		return dpumap_error_set(error, DOCA_ERROR_SHUTDOWN, "session closed");
	if (session->events && session->sink.is_ready(session->sink.context))
		announce(server, session);
	return DOCA_SUCCESS;
}

/* May free the session. */
static void serve(struct server *server, struct session *session, uint32_t events)
{
	struct dpumap_error error = {0};
	doca_error_t result;

	if (end_if_refused(server, session) || introduction_is_done(session->introduction))
		return;
	result = session->conn ? go_on(server, session, events, &error)
			       : go_on_with_sink(server, session, &error);
	if (session->conn && !introduction_is_done(session->introduction) &&
	    (result == DOCA_SUCCESS || result == DOCA_ERROR_AGAIN))
		result = loop_change(server->loop, &session->watch, interest_of(session), &error);
	if (result != DOCA_SUCCESS)
		drop(server, session, &error);
}

/* What is not served in this turn is still ready in the next one. */
static void on_session(struct watch *watch, uint32_t events)
{
	struct session *session = session_of(watch);

	if (!is_turn_over(session->server))
		serve(session->server, session, events);
}

/* --- new connections -------------------------------------------------------------------------- */

static void drop_oldest_unauthenticated(struct server *server)
{
	const struct dpumap_error why = {DOCA_ERROR_FULL, "too many unauthenticated connections"};
	struct session *oldest = NULL;

	for (struct session *s = server->sessions; s; s = s->next)
		if (is_unauthenticated(s))
			oldest = s;
	if (oldest)
		drop(server, oldest, &why);
}

static void link_session(struct server *server, struct session *session)
{
	session->server = server;
	session->rules = server->rules;
	session->by_address = server->by_address;
	session->next = server->sessions;
	server->sessions = session;
	server->stats.unauthenticated++;
}

static void admit(void *context, int fd, const struct dpumap_peer *peer)
{
	struct server *server = context;
	struct dpumap_error error = {0};
	struct session *session;

	server->stats.accepted++;
	if (server->stats.unauthenticated >= UNAUTHENTICATED_MAX)
		drop_oldest_unauthenticated(server);
	if (session_create(fd, peer, server->tls, &session, &error) != DOCA_SUCCESS) {
		log_from(DPUMAP_LINE_WARNING, peer->source, "%s", error.text);
		server->stats.refused++;
		return;
	}
	if (loop_add(server->loop, &session->watch, fd, EPOLLIN, on_session, &error) !=
	    DOCA_SUCCESS) {
		log_from(DPUMAP_LINE_WARNING, peer->source, "%s", error.text);
		session_destroy(session);
		return;
	}
	link_session(server, session);
	on_session(&session->watch, 0);
}

/* --- changes of exports ----------------------------------------------------------------------- */

/* The export as the event is about it, or NULL: the session sees none. */
static const struct export_spec *find_event(const struct session *session,
					    const struct export_spec *was,
					    const struct export_spec *is, enum dpumap_event *event)
{
	bool had = was && session_may_import(session, was);
	bool has = is && session_may_import(session, is);

	*event = had && has ? DPUMAP_EVENT_CHANGED
		 : had	    ? DPUMAP_EVENT_REMOVED
			    : DPUMAP_EVENT_ADDED;
	return has ? is : had ? was : NULL;
}

/* Clients with a sink are told what they lose. Others see all changes if they ask. */
static const struct export_spec *find_report(const struct session *session,
					     const struct export_spec *was, bool was_held,
					     const struct export_spec *is, enum dpumap_event *event)
{
	const struct export_spec *visible = find_event(session, was, is, event);

	if (session->refused)
		return NULL;
	if (session->conn)
		return session->watching ? visible : NULL;
	*event = DPUMAP_EVENT_REMOVED;
	return was_held ? was : NULL;
}

static void on_change(void *context, const struct export_spec *was, uint64_t was_id,
		      const struct export_spec *is)
{
	struct server *server = context;
	const struct export_spec *about;
	enum dpumap_event event;
	size_t forgotten;

	for (struct session *session = server->sessions; session; session = session->next) {
		forgotten = was ? session_forget_export(session, was_id) : 0;
		if (was && session->job.export == was_id)
			server_wake(session);
		server->stats.held -= forgotten;
		about = find_report(session, was, forgotten > 0, is, &event);
		if (!about)
			continue;
		if (session_queue_event(session, event, about->name))
			announce(server, session);
		else
			session->leaves = &is_deaf;
		server->has_unchecked |= session->leaves != NULL;
	}
}

static void on_registered(void *context, uint64_t id)
{
	const struct server *server = context;

	for (struct session *s = server->sessions; s; s = s->next)
		if (s->job.active && s->job.kind == SESSION_GETS && s->job.export == id)
			server_wake(s);
}

/* --- public functions ------------------------------------------------------------------------- */

doca_error_t server_create(struct loop *loop, struct server **server, struct dpumap_error *error)
{
	struct server *s = calloc(1, sizeof(*s));
	doca_error_t result;

	if (!s)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for the server");
	s->loop = loop;
	s->last_waiting = &s->waiting;
	result = acceptors_create(loop, admit, s, &s->acceptors, error);
	if (result == DOCA_SUCCESS)
		result = by_address_create(loop, &s->sessions, server_wake, &s->by_address, error);
	if (result != DOCA_SUCCESS) {
		acceptors_destroy(s->acceptors);
		free(s);
		return result;
	}
	*server = s;
	return DOCA_SUCCESS;
}

void server_set_exports(struct server *server, struct export_table *exports)
{
	server->exports = exports;
	by_address_set_exports(server->by_address, exports);
	export_table_on_change(exports, on_change, on_registered, server);
}

void server_destroy(struct server *server)
{
	if (!server)
		return;
	if (server->exports)
		export_table_on_change(server->exports, NULL, NULL, NULL);
	while (server->sessions)
		remove_session(server, server->sessions);
	acceptors_destroy(server->acceptors);
	by_address_destroy(server->by_address);
	dpumap_tls_destroy(server->tls);
	free(server);
}

doca_error_t server_listen(struct server *server, struct dpumap_listener *listener,
			   struct dpumap_error *error)
{
	return acceptors_add(server->acceptors, listener, error);
}

struct cm_listener *server_cm_listener(const struct server *server)
{
	return by_address_listener(server->by_address);
}

const struct dpumap_listener *server_find_listener(const struct server *server, const char *address)
{
	return acceptors_find(server->acceptors, address);
}

void server_each_adopted(const struct server *server, acceptors_each_fn *each, void *context)
{
	acceptors_each_adopted(server->acceptors, each, context);
}

void server_use_listeners(struct server *server, char *const *addresses, size_t num,
			  bool open_to_all)
{
	const struct acceptors_choice choice = {addresses, num, server->tls, open_to_all};

	acceptors_use(server->acceptors, &choice);
}

void server_set_max_clients(struct server *server, unsigned int max_clients,
			    unsigned int max_per_identity)
{
	server->max_clients = max_clients;
	server->max_per_identity = max_per_identity;
}

void server_set_timeout(struct server *server, unsigned int seconds)
{
	server->timeout_ns = seconds * NSEC_PER_SEC;
}

void server_set_introductions(struct server *server, const struct introduction_rules *rules)
{
	server->rules = rules;
	for (struct session *s = server->sessions; s; s = s->next) {
		s->rules = rules;
		s->unchecked |= s->introduction != NULL;
		server->has_unchecked |= s->unchecked;
	}
}

void server_set_tls(struct server *server, struct dpumap_tls *tls)
{
	dpumap_tls_destroy(server->tls);
	server->tls = tls;
	for (struct session *s = server->sessions; s; s = s->next)
		s->unchecked = !is_unauthenticated(s);
	server->has_unchecked = server->sessions != NULL;
}

const struct dpumap_tls *server_tls(const struct server *server)
{
	return server->tls;
}

bool server_has_work(const struct server *server)
{
	return server->waiting || server->has_unchecked || export_table_has_work(server->exports);
}

bool server_announces(const struct server *server)
{
	return server->num_with_events > 0;
}

bool server_ends_clients(const struct server *server)
{
	return server->has_unchecked;
}

/* Each check verifies signatures. One at least in a turn. A client that asks meanwhile is checked first. */
static void end_some(struct server *server)
{
	struct session *session;

	do {
		for (session = server->sessions; session; session = session->next)
			if (needs_check(session))
				break;
		if (session)
			end_if_refused(server, session);
	} while (session && !is_turn_over(server));
	server->has_unchecked = session != NULL;
}

static void do_piece(struct server *server, struct session *session)
{
	server->stats.held -= session->held.total;
	requests_work(session, server->exports, &server->stats.requests);
	server->stats.held += session->held.total;
}

/* A request that takes long has as many turns as it needs. */
static void take_turn(struct server *server, struct session *session)
{
	bool has_events = session->has_events;

	end_waiting(server, session);
	if (end_if_refused(server, session))
		return;
	if (has_piece(session))
		do_piece(server, session);
	if (has_piece(session))
		begin_waiting(server, session);
	if (!session->job.active || has_events)
		serve(server, session, 0);
}

/* One at least, even if others took all of this turn. */
void server_work(struct server *server)
{
	if (!server_announces(server))
		export_table_work(server->exports);
	do {
		if (!server->waiting)
			break;
		take_turn(server, server->waiting);
	} while (!is_turn_over(server));
	if (server->has_unchecked)
		end_some(server);
	server->turn_end = 0;
	server->num_done = 0;
}

static bool is_late(const struct session *session, uint64_t now)
{
	uint64_t since;

	if (!session->conn)
		return false; /* its messages are whole */
	if (session->introduction)
		since = introduction_since(session->introduction);
	else if (session->job.active)
		since = 0;
	else
		since = session->hello_done ? dpumap_conn_stalled_since(session->conn)
					    : session->since;
	return since != 0 && now - since > session->server->timeout_ns;
}

void server_tick(struct server *server)
{
	uint64_t now = monotonic_ns();

	for (struct session *s = server->sessions; s; s = s->next) {
		if (!s->leaves && is_late(s, now))
			s->leaves = &is_slow;
		else if (s->conn && s->hello_done)
			dpumap_conn_rest(s->conn);
		server->has_unchecked |= s->leaves != NULL;
	}
	acceptors_resume(server->acceptors);
}

struct session *server_admit(struct server *server, const char *identity,
			     const struct session_sink *sink)
{
	struct dpumap_error error = {0};
	struct session *session;

	server->stats.accepted++;
	if (session_create_for(sink, identity, &session, &error) != DOCA_SUCCESS) {
		log_from(DPUMAP_LINE_WARNING, identity, "%s", error.text);
		server->stats.refused++;
		return NULL;
	}
	link_session(server, session);
	authorize(server, session, identity, &error);
	if (!session->closing)
		return session;
	drop(server, session, &(struct dpumap_error){.text = "session closed"});
	return NULL;
}

void server_request(struct server *server, struct session *session,
		    const struct dpumap_msg *request)
{
	struct dpumap_error error = {0};

	if (end_if_refused(server, session))
		return;
	if (session->job.active) {
		dpumap_error_set(&error, DOCA_ERROR_AGAIN,
				 "wait for the reply to the last request");
		requests_refuse(session, &server->stats.requests, &error);
	} else {
		server->stats.held -= session->held.total;
		requests_answer(session, server->exports, &server->stats.requests, request);
		server->stats.held += session->held.total;
		if (has_piece(session))
			begin_waiting(server, session);
	}
	serve(server, session, 0);
}

void server_refuse_request(struct server *server, struct session *session,
			   const struct dpumap_error *error)
{
	requests_refuse(session, &server->stats.requests, error);
	serve(server, session, 0);
}

void server_continue(struct server *server, struct session *session)
{
	serve(server, session, 0);
}

void server_end_session(struct server *server, struct session *session, const char *why)
{
	struct dpumap_error error = {0};

	dpumap_error_set(&error, DOCA_ERROR_CONNECTION_RESET, "%s", why);
	drop(server, session, &error);
}

doca_error_t server_disconnect(struct server *server, const char *identity,
			       struct dpumap_error *error)
{
	bool found = false;

	for (struct session *s = server->sessions; s; s = s->next) {
		if (!identity[0] || strcmp(s->identity, identity) != 0)
			continue;
		s->leaves = &is_dismissed;
		found = true;
	}
	server->has_unchecked |= found;
	if (found)
		return DOCA_SUCCESS;
	return dpumap_error_set(error, DOCA_ERROR_NOT_FOUND,
				"client %s is not connected: see dpumapd ctl sessions", identity);
}

void server_get_stats(const struct server *server, struct server_stats *stats)
{
	*stats = server->stats;
}

const struct session *server_first_session(const struct server *server)
{
	return server->sessions;
}
