/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <stdlib.h>
#include <unistd.h>

#include "common/clock.h"
#include "session.h"

doca_error_t session_create(int fd, const struct dpumap_peer *peer, size_t num_exports,
			    struct session **session, struct dpumap_fault *fault)
{
	struct session *s = calloc(1, sizeof(*s) + num_exports * sizeof(s->held[0]));
	doca_error_t result;

	if (!s) {
		close(fd);
		return dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY, "no memory for a client");
	}
	result = dpumap_conn_create(fd, &s->conn, fault);
	if (result != DOCA_SUCCESS) {
		free(s);
		return result;
	}
	s->peer = *peer;
	s->since = dpumap_clock_ns();
	s->num_exports = num_exports;
	*session = s;
	return DOCA_SUCCESS;
}

void session_destroy(struct session *session)
{
	for (size_t i = 0; i < SESSION_DIGESTS; i++)
		dpumap_sha256_destroy(session->digests[i].sha);
	dpumap_conn_destroy(session->conn);
	free(session);
}
