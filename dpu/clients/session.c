/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/clients/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "dpu/base/log.h"
#include "dpu/exports/file_sync.h"

static void number(struct session *s)
{
	static uint64_t last_id;

	s->id = ++last_id;
	s->since = monotonic_ns();
}

doca_error_t session_create(int fd, const struct dpumap_peer *peer, struct dpumap_tls *tls,
			    struct session **session, struct dpumap_error *error)
{
	bool is_local = peer->kind == DPUMAP_ADDRESS_UNIX;
	struct session *s;
	doca_error_t result;

	if (!is_local && !tls) {
		close(fd);
		return dpumap_error_set(error, DOCA_ERROR_NOT_PERMITTED,
					"unknown at %s refused: TLS is not configured", peer->text);
	}
	s = calloc(1, sizeof(*s));
	if (!s) {
		close(fd);
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a client");
	}
	result = dpumap_conn_create(fd, is_local ? NULL : tls, NULL, &s->conn, error);
	if (result != DOCA_SUCCESS) {
		free(s);
		return result;
	}
	s->peer = *peer;
	number(s);
	s->last_event = &s->events;
	*session = s;
	return DOCA_SUCCESS;
}

doca_error_t session_create_for(const struct session_sink *sink, const char *identity,
				struct session **session, struct dpumap_error *error)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a client");
	s->sink = *sink;
	s->peer.kind = DPUMAP_ADDRESS_UNIX; /* it has no address */
	snprintf(s->peer.text, sizeof(s->peer.text), "comch");
	snprintf(s->identity, sizeof(s->identity), "%s", identity);
	s->hello_done = true;
	number(s);
	s->last_event = &s->events;
	*session = s;
	return DOCA_SUCCESS;
}

doca_error_t session_put(const struct session *session, const struct dpumap_msg *msg,
			 struct dpumap_error *error)
{
	if (session->conn)
		return dpumap_conn_put(session->conn, msg, error);
	return session->sink.put(session->sink.context, msg, error);
}

bool session_may_import(const struct session *session, const struct export_spec *spec)
{
	return export_spec_allows(spec, session->identity) &&
	       (session->conn || spec->via == EXPORT_VIA_PCI);
}

static void drop_event(struct session *session)
{
	struct event *event = session->events;

	session->events = event->next;
	if (!session->events)
		session->last_event = &session->events;
	session->num_events--;
	free(event);
}

void session_destroy(struct session *session)
{
	for (size_t i = 0; i < SESSION_DIGESTS; i++)
		dpumap_hasher_destroy(session->digests[i].hasher);
	while (session->events)
		drop_event(session);
	free(session->job.list);
	file_sync_end(session->job.sync);
	introduction_destroy(session->introduction);
	dpumap_conn_destroy(session->conn);
	held_free(&session->held);
	free(session);
}

void session_log(const struct session *session, enum dpumap_line_level level, const char *fmt, ...)
{
	const char *identity = session->identity[0] ? session->identity : "unknown";
	const char *source = session->identity[0] ? session->identity : session->peer.source;
	char text[sizeof(((struct dpumap_error *)0)->text)];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (session->conn && session->peer.kind == DPUMAP_ADDRESS_UNIX)
		log_from(level, source, "%s %s", session->peer.text, text);
	else
		log_from(level, source, "%s at %s %s", identity, session->peer.text, text);
}

doca_error_t session_add_rdma_conn(struct session *session, uint64_t export,
				   struct dpumap_error *error)
{
	if (session->num_rdma_conns == SESSION_RDMA_CONNS_MAX)
		return dpumap_error_set(
			error, DOCA_ERROR_FULL,
			"the client already has %d RDMA connections: release some exports first",
			SESSION_RDMA_CONNS_MAX);
	session->rdma_conns[session->num_rdma_conns++] = export;
	return DOCA_SUCCESS;
}

void session_remove_rdma_conn(struct session *session, uint64_t export)
{
	for (size_t i = session->num_rdma_conns; i > 0; i--) {
		if (session->rdma_conns[i - 1] != export)
			continue;
		session->rdma_conns[i - 1] = session->rdma_conns[--session->num_rdma_conns];
		return;
	}
}

void session_remove_rdma_conns(struct session *session, uint64_t export)
{
	size_t left = 0;

	for (size_t i = 0; i < session->num_rdma_conns; i++)
		if (session->rdma_conns[i] != export)
			session->rdma_conns[left++] = session->rdma_conns[i];
	session->num_rdma_conns = left;
	tickets_forget(&session->tickets, export);
}

size_t session_forget_export(struct session *session, uint64_t export)
{
	session_remove_rdma_conns(session, export);
	return held_forget(&session->held, export);
}

bool session_queue_event(struct session *session, enum dpumap_event event, const char *name)
{
	struct event *e;

	if (session->num_events == SESSION_EVENTS_MAX)
		return false;
	e = calloc(1, sizeof(*e));
	if (!e)
		return false;
	e->event = event;
	memcpy(e->name, name, strlen(name) + 1);
	*session->last_event = e;
	session->last_event = &e->next;
	session->num_events++;
	return true;
}

void session_send_event(struct session *session)
{
	struct dpumap_error error = {0};
	struct dpumap_msg msg;

	dpumap_msg_init(&msg);
	dpumap_msg_set_number(&msg, DPUMAP_MSG_ID, 0);
	dpumap_msg_set_text(&msg, DPUMAP_MSG_EVENT, dpumap_event_name(session->events->event));
	dpumap_msg_set_text(&msg, DPUMAP_MSG_NAME, session->events->name);
	if (session_put(session, &msg, &error) != DOCA_SUCCESS)
		session->closing = true;
	drop_event(session);
}
