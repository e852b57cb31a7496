/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/clients/by_address.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "dpu/base/log.h"
#include "dpu/rdma/rdma_conns.h"

struct by_address {
	struct cm_listener *listener;
	struct session *const *sessions;
	void (*wake)(struct session *session);
	struct export_table *exports;
};

/* --- requests --------------------------------------------------------------------------------- */

/* Compares with all tickets, so that the time does not disclose which are valid. */
static struct session *find_owner(const struct by_address *b, const struct cm_request *request,
				  uint64_t *export)
{
	uint64_t now = monotonic_ns();
	struct session *found = NULL;

	for (struct session *s = *b->sessions; s; s = s->next)
		if (tickets_redeem(&s->tickets, request->data, now, export))
			found = s;
	return found;
}

static void report(const struct by_address *b, const struct session *session, uint64_t export,
		   const char *peer, doca_error_t result, const struct dpumap_error *error)
{
	if (result == DOCA_SUCCESS)
		session_log(session, DPUMAP_LINE_INFO, "connects to export %s by address, from %s",
			    export_get_spec(export_table_find_id(b->exports, export))->name, peer);
	else if (result != DOCA_ERROR_AGAIN)
		session_log(session, DPUMAP_LINE_WARNING,
			    "rejected its RDMA connection from %s: %s", peer, error->text);
}

/* Takes the request over, also on failure. */
static doca_error_t accept_for(const struct by_address *b, struct session *session, uint64_t id,
			       const struct cm_request *request, struct dpumap_error *error)
{
	struct named_export *export = export_table_find_id(b->exports, id);
	doca_error_t result;

	if (!export)
		result = dpumap_error_set(error, DOCA_ERROR_NOT_FOUND, "the export has ended");
	else
		result = session_add_rdma_conn(session, id, error);
	if (result != DOCA_SUCCESS) {
		cm_listener_reject(request->id);
		return result;
	}
	result = export_accept(export, session, request->id, b->listener, error);
	if (result != DOCA_SUCCESS && result != DOCA_ERROR_AGAIN)
		session_remove_rdma_conn(session, id);
	return result;
}

static void on_request(void *context, const struct cm_request *request)
{
	struct by_address *b = context;
	struct dpumap_error error = {0};
	struct session *session;
	uint64_t export = 0;

	session = find_owner(b, request, &export);
	if (!session) {
		log_from(DPUMAP_LINE_WARNING, request->source,
			 "rejected an RDMA connection from %s: its ticket is not valid, was used "
			 "before or has expired",
			 request->peer);
		cm_listener_reject(request->id);
		return;
	}
	report(b, session, export, request->peer, accept_for(b, session, export, request, &error),
	       &error);
}

/* --- connections ------------------------------------------------------------------------------ */

static void on_established(void *context, void *connection)
{
	(void)context;
	rdma_conn_establish(connection);
}

static struct session *session_of(const struct by_address *b, const void *owner)
{
	struct session *s = *b->sessions;

	while (s && s != owner)
		s = s->next;
	return s;
}

/* The client disconnected, or vanished. */
static void on_end(void *context, void *connection)
{
	const struct by_address *b = context;
	uint64_t export;
	struct session *session = session_of(b, rdma_conn_end(connection, &export));

	if (session)
		session_remove_rdma_conn(session, export);
}

static void accept_found(const struct by_address *b, struct session *session,
			 struct rdma_conn *conn, struct rdma_cm_id *request, uint64_t export)
{
	struct dpumap_error error = {0};
	char peer[CM_PEER_MAX];
	doca_error_t result;

	cm_listener_print_peer(request, peer);
	result = export_finish_accepting(export_table_find_id(b->exports, export), conn, &error);
	if (result != DOCA_SUCCESS)
		session_remove_rdma_conn(session, export);
	report(b, session, export, peer, result, &error);
}

/* Details are answered when it is the client's turn. */
static void on_searched(void *context, void *connection, bool is_found)
{
	const struct by_address *b = context;
	struct session *session = session_of(b, rdma_conn_searched(connection, is_found));
	uint64_t export;
	struct rdma_cm_id *request = rdma_conn_request(connection, &export);

	if (session && request)
		accept_found(b, session, connection, request, export);
	else if (session)
		b->wake(session);
}

/* --- life ------------------------------------------------------------------------------------- */

doca_error_t by_address_create(struct loop *loop, struct session *const *sessions,
			       void (*wake)(struct session *session),
			       struct by_address **by_address, struct dpumap_error *error)
{
	static const struct cm_handlers handlers = {on_request, on_established, on_end,
						    on_searched};
	struct by_address *b = calloc(1, sizeof(*b));
	doca_error_t result;

	if (!b)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for the server");
	b->sessions = sessions;
	b->wake = wake;
	result = cm_listener_create(loop, &handlers, b, &b->listener, error);
	if (result != DOCA_SUCCESS) {
		free(b);
		return result;
	}
	*by_address = b;
	return DOCA_SUCCESS;
}

void by_address_destroy(struct by_address *by_address)
{
	if (!by_address)
		return;
	cm_listener_destroy(by_address->listener);
	free(by_address);
}

void by_address_set_exports(struct by_address *by_address, struct export_table *exports)
{
	by_address->exports = exports;
}

struct cm_listener *by_address_listener(const struct by_address *by_address)
{
	return by_address->listener;
}

const struct cm_endpoint *by_address_endpoint(const struct by_address *by_address)
{
	return cm_listener_endpoint(by_address->listener);
}
