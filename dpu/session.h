/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* One connected client: who it is, what it holds, and what it is waiting for. */
#ifndef DPUMAPD_SESSION_H
#define DPUMAPD_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel/channel.h"
#include "common/sha256.h"
#include "exports.h"

#define SESSION_DIGESTS 4

struct digest {
	struct dpumap_sha256 *sha; /* NULL: free */
	size_t index;		   /* of its export */
};

struct session {
	struct session *next;
	struct dpumap_conn *conn;
	struct dpumap_peer peer;
	uint64_t since;	   /* when it connected */
	uint32_t interest; /* events that the server waits for on it */
	bool greeted;
	bool closing; /* once the last reply is sent */
	struct digest digests[SESSION_DIGESTS];
	/*
	 * A digest-update under way. It is worked off in pieces between the requests of others and
	 * answered at its end.
	 */
	struct {
		bool active;
		uint64_t id;
		struct digest *digest;
		uint64_t offset;
		uint64_t left;
	} job;
	size_t num_exports;
	uint32_t held[]; /* per export: how often it was got and not released */
};

/* Takes fd over, also on failure. */
doca_error_t session_create(int fd, const struct dpumap_peer *peer, size_t num_exports,
			    struct session **session, struct dpumap_fault *fault);
void session_destroy(struct session *session);

#endif
