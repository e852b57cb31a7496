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
#include "loop.h"

#define SESSION_DIGESTS	   4
#define SESSION_EVENTS_MAX 4096u
#define SESSION_LINKS	   64

struct digest {
	struct dpumap_sha256 *sha; /* NULL: free */
	uint64_t export;	   /* its id */
};

struct event {
	struct event *next;
	enum dpumap_event event;
	char name[DPUMAP_EXPORT_NAME_MAX];
};

struct server;

/* What was asked and how it ended. */
struct requests_stats {
	uint64_t answered;
	uint64_t gets;
	uint64_t errors;
};

struct session {
	struct watch watch;
	struct server *server;
	struct session *next;
	struct dpumap_conn *conn;
	struct dpumap_peer peer;
	char who[DPUMAP_PEER_NAME_MAX]; /* "" until the handshake is done */
	uint64_t since;			/* when it connected */
	bool greeted;
	bool watching;
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
	uint64_t *held; /* ids of exports that it got, as often as it did */
	size_t num_held;
	uint64_t links[SESSION_LINKS]; /* of connections over RDMA, the ids of their exports */
	size_t num_links;
	struct event *events, **last_event; /* to be sent */
	size_t num_events;
};

/* Takes fd over, also on failure. tls is NULL on a Unix socket. */
doca_error_t session_create(int fd, const struct dpumap_peer *peer, struct dpumap_tls *tls,
			    struct session **session, struct dpumap_fault *fault);
void session_destroy(struct session *session);

/* A line for the log, which begins with who it is. */
void session_say(const struct session *session, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* FULL, NO_MEMORY. */
doca_error_t session_hold(struct session *session, uint64_t export, struct dpumap_fault *fault);
bool session_holds(const struct session *session, uint64_t export);
/* Once less. */
void session_let_go(struct session *session, uint64_t export);
/* A connection to the export; FULL. */
doca_error_t session_link(struct session *session, uint64_t export, struct dpumap_fault *fault);
/* One less, or none any more. */
void session_unlink(struct session *session, uint64_t export);
void session_unlink_all(struct session *session, uint64_t export);
/* There is no such export any more, nor connections to it; returns how often it was held. */
size_t session_forget(struct session *session, uint64_t export);

/* False when it is too slow for what happens. */
bool session_tell(struct session *session, enum dpumap_event event, const char *name);
/* Puts the next event into the connection, which has nothing to send. */
void session_send_event(struct session *session);

#endif
