/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/clock.h"
#include "requests.h"
#include "say.h"
#include "server.h"
#include "session.h"

/* For a hello, for the rest of a frame, and for taking a reply. */
#define PATIENCE_NS (5 * DPUMAP_NSEC_PER_SEC)
#define TICK_MS	    500
#define EVENTS_MAX  32

struct server {
	const struct options *options;
	struct dpumap_listener *listener;
	struct exports *exports;
	int epoll;
	bool accepting;
	unsigned int num_sessions;
	struct session *sessions;
};

/* Tags of the two descriptors that are no session; their addresses are what counts. */
static char listener_tag, stop_tag;

static doca_error_t watch(struct server *server, int fd, void *tag, struct dpumap_fault *fault)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = tag};

	if (epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
		return dpumap_fault_errno(fault, errno, "cannot wait for connections");
	return DOCA_SUCCESS;
}

doca_error_t server_create(const struct options *options, struct dpumap_listener *listener,
			   int stop_fd, struct exports *exports, struct server **server,
			   struct dpumap_fault *fault)
{
	struct server *s = calloc(1, sizeof(*s));
	doca_error_t result;

	if (!s)
		return dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY, "no memory for the server");
	s->options = options;
	s->listener = listener;
	s->exports = exports;
	s->accepting = true;
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0) {
		result = dpumap_fault_errno(fault, errno, "cannot wait for connections");
		goto free_server;
	}
	result = watch(s, dpumap_listener_fd(listener), &listener_tag, fault);
	if (result == DOCA_SUCCESS)
		result = watch(s, stop_fd, &stop_tag, fault);
	if (result != DOCA_SUCCESS)
		goto close_epoll;
	*server = s;
	return DOCA_SUCCESS;

close_epoll:
	close(s->epoll);
free_server:
	free(s);
	return result;
}

void server_destroy(struct server *server)
{
	struct session *session;

	if (!server)
		return;
	while ((session = server->sessions)) {
		server->sessions = session->next;
		session_destroy(session);
	}
	close(server->epoll);
	free(server);
}

/* Level-triggered readiness that cannot be served would spin: look away until the next tick. */
static void set_accepting(struct server *server, bool accepting)
{
	struct epoll_event event = {.events = accepting ? EPOLLIN : 0, .data.ptr = &listener_tag};

	if (server->accepting == accepting)
		return;
	if (epoll_ctl(server->epoll, EPOLL_CTL_MOD, dpumap_listener_fd(server->listener), &event) ==
	    0)
		server->accepting = accepting;
}

static bool may_import(const struct options *options, uid_t uid)
{
	if (uid == 0 || uid == geteuid())
		return true;
	for (size_t i = 0; i < options->num_uids; i++) {
		if (options->uids[i] == uid)
			return true;
	}
	return false;
}

/*
 * Tells somebody who is not served why. The socket is fresh, so the reply fits into it; if not, the
 * client learns from the closing alone.
 */
static void turn_away(int fd, const struct dpumap_peer *peer, const struct dpumap_fault *why)
{
	struct dpumap_fault fault = {0};
	struct dpumap_conn *conn;
	struct dpumap_msg reply;

	say("uid %u pid %d turned away: %s", peer->uid, peer->pid, why->text);
	if (dpumap_conn_create(fd, &conn, &fault) != DOCA_SUCCESS)
		return;
	dpumap_msg_init(&reply);
	dpumap_msg_set_number(&reply, DPUMAP_MSG_ID, 0);
	dpumap_msg_set_number(&reply, DPUMAP_MSG_STATUS, why->code);
	dpumap_msg_set_text(&reply, DPUMAP_MSG_ERROR, why->text);
	if (dpumap_conn_put(conn, &reply, &fault) == DOCA_SUCCESS)
		dpumap_conn_flush(conn, &fault);
	dpumap_conn_destroy(conn);
}

static doca_error_t check_welcome(const struct server *server, const struct dpumap_peer *peer,
				  struct dpumap_fault *fault)
{
	if (!may_import(server->options, peer->uid))
		return dpumap_fault_set(fault, DOCA_ERROR_NOT_PERMITTED,
					"user %u may not import from this dpumapd", peer->uid);
	if (server->num_sessions >= server->options->max_clients)
		return dpumap_fault_set(fault, DOCA_ERROR_FULL,
					"dpumapd serves %u clients already, which is its limit",
					server->num_sessions);
	return DOCA_SUCCESS;
}

static void admit(struct server *server, int fd, const struct dpumap_peer *peer)
{
	struct epoll_event event = {.events = EPOLLIN};
	struct dpumap_fault fault = {0};
	struct session *session;

	if (check_welcome(server, peer, &fault) != DOCA_SUCCESS) {
		turn_away(fd, peer, &fault);
		return;
	}
	if (session_create(fd, peer, exports_count(server->exports), &session, &fault) !=
	    DOCA_SUCCESS) {
		say("%s", fault.text);
		return;
	}
	event.data.ptr = session;
	if (epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
		say("cannot serve uid %u pid %d: %s", peer->uid, peer->pid, strerror(errno));
		session_destroy(session);
		return;
	}
	session->interest = EPOLLIN;
	session->next = server->sessions;
	server->sessions = session;
	server->num_sessions++;
	say("uid %u pid %d connects", peer->uid, peer->pid);
}

static void accept_all(struct server *server)
{
	struct dpumap_fault fault = {0};
	struct dpumap_peer peer;
	doca_error_t result;
	int fd;

	while ((result = dpumap_listener_accept(server->listener, &fd, &peer, &fault)) ==
	       DOCA_SUCCESS)
		admit(server, fd, &peer);
	if (result != DOCA_ERROR_AGAIN) {
		say("%s", fault.text);
		set_accepting(server, false);
	}
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
		requests_answer(session, server->exports, payload, len);
		dpumap_conn_drop_frame(session->conn);
		result = dpumap_conn_flush(session->conn, fault);
		if (result != DOCA_SUCCESS)
			return result;
	}
	return dpumap_conn_flush(session->conn, fault);
}

/* Sends what is left to send, then goes on with the client's next request. */
static doca_error_t advance(struct server *server, struct session *session,
			    struct dpumap_fault *fault)
{
	doca_error_t result = dpumap_conn_flush(session->conn, fault);

	if (result == DOCA_SUCCESS)
		result = serve_frames(server, session, fault);
	if (result == DOCA_ERROR_AGAIN)
		return DOCA_SUCCESS;
	if (result == DOCA_SUCCESS && session->closing)
		return dpumap_fault_set(fault, DOCA_ERROR_SHUTDOWN, "disconnected");
	return result;
}

static doca_error_t set_interest(struct server *server, struct session *session,
				 struct dpumap_fault *fault)
{
	struct epoll_event event = {.data.ptr = session};

	if (dpumap_conn_has_output(session->conn))
		event.events = EPOLLOUT;
	else if (!session->job.active)
		event.events = EPOLLIN;
	if (event.events == session->interest)
		return DOCA_SUCCESS;
	if (epoll_ctl(server->epoll, EPOLL_CTL_MOD, dpumap_conn_fd(session->conn), &event) != 0)
		return dpumap_fault_errno(fault, errno, "cannot wait for a client");
	session->interest = event.events;
	return DOCA_SUCCESS;
}

static void drop(struct server *server, struct session *session, const struct dpumap_fault *why)
{
	struct session **at = &server->sessions;

	say("uid %u pid %d leaves: %s", session->peer.uid, session->peer.pid, why->text);
	while (*at != session)
		at = &(*at)->next;
	*at = session->next;
	server->num_sessions--;
	session_destroy(session);
	set_accepting(server, true);
}

/* May free the session. */
static void serve(struct server *server, struct session *session, uint32_t events)
{
	struct dpumap_fault fault = {0};
	doca_error_t result = DOCA_SUCCESS;

	if (events & EPOLLIN)
		result = dpumap_conn_fill(session->conn, &fault);
	else if (events & (EPOLLHUP | EPOLLERR))
		result = dpumap_fault_set(&fault, DOCA_ERROR_CONNECTION_RESET,
					  "the other side closed the connection");
	if (result == DOCA_SUCCESS || result == DOCA_ERROR_AGAIN)
		result = advance(server, session, &fault);
	if (result == DOCA_SUCCESS)
		result = set_interest(server, session, &fault);
	if (result != DOCA_SUCCESS)
		drop(server, session, &fault);
}

static void work_on_jobs(struct server *server)
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

static bool has_jobs(const struct server *server)
{
	for (const struct session *s = server->sessions; s; s = s->next) {
		if (s->job.active)
			return true;
	}
	return false;
}

static bool is_late(const struct session *session, uint64_t now)
{
	uint64_t since =
		session->greeted ? dpumap_conn_stalled_since(session->conn) : session->since;

	return !session->job.active && since != 0 && now - since > PATIENCE_NS;
}

static void drop_late(struct server *server)
{
	uint64_t now = dpumap_clock_ns();
	struct session *session, *next;
	struct dpumap_fault fault = {0};

	for (session = server->sessions; session; session = next) {
		next = session->next;
		if (!is_late(session, now))
			continue;
		dpumap_fault_set(&fault, DOCA_ERROR_TIME_OUT, "too slow");
		drop(server, session, &fault);
	}
}

static bool is_session(const void *tag)
{
	return tag != &listener_tag && tag != &stop_tag;
}

/* False when told to stop. */
static bool take_events(struct server *server, const struct epoll_event *events, int n)
{
	bool go_on = true;

	/* Newcomers last: a session of this round may be gone after serve(), but only its own. */
	for (int i = 0; i < n; i++) {
		if (is_session(events[i].data.ptr))
			serve(server, events[i].data.ptr, events[i].events);
		else if (events[i].data.ptr == &stop_tag)
			go_on = false;
		else
			accept_all(server);
	}
	return go_on;
}

doca_error_t server_run(struct server *server, struct dpumap_fault *fault)
{
	struct epoll_event events[EVENTS_MAX];
	uint64_t tick = dpumap_clock_ns();
	bool go_on = true;
	int n;

	while (go_on) {
		n = epoll_wait(server->epoll, events, EVENTS_MAX,
			       has_jobs(server)				? 0
			       : server->sessions || !server->accepting ? TICK_MS
									: -1);
		if (n < 0 && errno != EINTR)
			return dpumap_fault_errno(fault, errno, "cannot wait for events");
		go_on = take_events(server, events, n < 0 ? 0 : n);
		work_on_jobs(server);
		if (dpumap_clock_ns() - tick > TICK_MS * DPUMAP_NSEC_PER_MSEC) {
			tick = dpumap_clock_ns();
			drop_late(server);
			set_accepting(server, true);
		}
	}
	return DOCA_SUCCESS;
}
