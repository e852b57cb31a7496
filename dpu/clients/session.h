/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* One connected client: its identity, the exports it holds, and its pending work. */
#ifndef DPUMAPD_SESSION_H
#define DPUMAPD_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel/conn.h"
#include "channel/listener.h"
#include "common/digest.h"
#include "dpu/base/loop.h"
#include "dpu/clients/held.h"
#include "dpu/clients/introduction.h"
#include "dpu/clients/tickets.h"
#include "dpu/spec/export_spec.h"
#include "local/line.h"

#define SESSION_DIGESTS	       4
#define SESSION_EVENTS_MAX     4096u
#define SESSION_RDMA_CONNS_MAX 64

/* What a request that is not answered at once does, between the requests of other clients. */
enum session_job {
	SESSION_GETS,	  /* waits until its export is registered */
	SESSION_HASHES,	  /* a digest-update */
	SESSION_SYNCS,	  /* the release of a file: waits until that is written to its disk */
	SESSION_LISTS,	  /* a list of many exports */
	SESSION_CONNECTS, /* waits until the client's address is found */
};

struct digest {
	struct dpumap_hasher *hasher; /* NULL: free */
	uint64_t export;	      /* its id */
};

struct event {
	struct event *next;
	enum dpumap_event event;
	char name[DPUMAP_EXPORT_NAME_MAX];
};

struct server;
struct by_address;
struct file_sync;

/* How messages reach a client that has no connection of dpumapd's own protocol. */
struct session_sink {
	/* Can put() take a message now? If not, server_continue() is called once it can. */
	bool (*is_ready)(void *context);
	/* Sends a reply or an event, which is only valid during the call. */
	doca_error_t (*put)(void *context, const struct dpumap_msg *msg,
			    struct dpumap_error *error);
	/* The server has ended the session, and frees it after the call. */
	void (*end)(void *context);
	void *context;
};

struct session {
	struct watch watch;
	struct server *server;
	struct session *next;
	struct dpumap_conn *conn; /* NULL: the client has a sink */
	struct session_sink sink;
	/* Which servers of doca_comch the client may reach; NULL: none. */
	const struct introduction_rules *rules;
	struct introduction *introduction; /* NULL: the client did not ask for a server */
	bool was_absent;		   /* the server that the client asked for, the last time */
	struct dpumap_peer peer;
	char identity[DPUMAP_PEER_NAME_MAX]; /* "" until it is authenticated */
	uint64_t id;			     /* of no other session */
	uint64_t since;			     /* when it connected */
	struct {
		uint64_t requests, errors, hashed_bytes;
	} done;
	bool hello_done;
	bool watching;
	bool closing; /* once the last reply is sent */
	/* A job, or the next request, waits for its turn: a place in the server's queue. */
	bool waits;
	struct session *next_waiting;
	bool unchecked; /* by the settings that were read last */
	bool refused;	/* by them: with the client's access */
	const struct dpumap_error
		*leaves; /* why the server ends it at its next turn; NULL: it stays */
	struct digest digests[SESSION_DIGESTS];
	/* A request in progress, which is answered at its end. The fields after `id` are of one kind each. */
	struct {
		bool active;
		bool sleeps; /* has no pieces of work now, but waits for an event */
		enum session_job kind;
		uint64_t id;
		struct digest *digest;
		uint64_t export; /* its id: what the client waits for, hashes or connects to */
		struct file_sync *sync;
		uint64_t offset;
		uint64_t left;
		struct dpumap_msg *list;	    /* the exports so far, on the heap */
		char after[DPUMAP_EXPORT_NAME_MAX]; /* the last name that was looked at */
	} job;
	struct held held;
	uint64_t rdma_conns[SESSION_RDMA_CONNS_MAX]; /* ids of their exports */
	size_t num_rdma_conns;
	const struct by_address *by_address; /* how the client may connect */
	struct tickets tickets;		     /* to connect there */
	bool has_events;		     /* events that were not yet tried to be sent */
	struct event *events, **last_event;  /* to be sent */
	size_t num_events;
};

/*
 * Takes fd over, also on failure. tls is for peers over TCP; without it, such a peer cannot
 * authenticate: NOT_PERMITTED.
 */
doca_error_t session_create(int fd, const struct dpumap_peer *peer, struct dpumap_tls *tls,
			    struct session **session, struct dpumap_error *error);
/* The client has authenticated already. It may only import over PCI. */
doca_error_t session_create_for(const struct session_sink *sink, const char *identity,
				struct session **session, struct dpumap_error *error);
void session_destroy(struct session *session);

/* Sends a reply or an event. */
doca_error_t session_put(const struct session *session, const struct dpumap_msg *msg,
			 struct dpumap_error *error);
/* May the client import the export? */
bool session_may_import(const struct session *session, const struct export_spec *spec);

/* Logs a line that begins with the client's identity and address. */
void session_log(const struct session *session, enum dpumap_line_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Notes an RDMA connection to the export; FULL. */
doca_error_t session_add_rdma_conn(struct session *session, uint64_t export,
				   struct dpumap_error *error);
/* Removes one, or all, of the connections to the export; with all, also the tickets for it. */
void session_remove_rdma_conn(struct session *session, uint64_t export);
void session_remove_rdma_conns(struct session *session, uint64_t export);
/* The export has ended, with all connections to it. Returns how often the session held it. */
size_t session_forget_export(struct session *session, uint64_t export);

/* False when the queue is full: the client does not read its events. */
bool session_queue_event(struct session *session, enum dpumap_event event, const char *name);
/* Sends the next event; the connection has nothing to send, or the sink is ready. */
void session_send_event(struct session *session);

#endif
