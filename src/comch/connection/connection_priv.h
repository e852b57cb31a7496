/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The objects behind connections, for the files that implement them. */
#ifndef DPUMAP_COMCH_CONNECTION_PRIV_H
#define DPUMAP_COMCH_CONNECTION_PRIV_H

#include <pthread.h>
#include <stdatomic.h>

#include <doca_comch.h>

#include "comch/connection/endpoint.h"
#include "comch/connection/inbox.h"
#include "comch/link/link.h"
#include "core/pe/task_pool.h"

#define COMCH_GREETING_MS    30000 /* for the HELLO of a client, which a busy machine may slow down */
#define COMCH_FLUSH_MS	     5000 /* a peer that takes nothing for so long delays no stop */
#define COMCH_BYE_TIMEOUT_MS 2000 /* for the BYE of the peer */

/* What connections need of their server or client. */
struct comch_owner {
	/* Set before the first connection. */
	struct doca_ctx *ctx;
	bool is_server;
	/* Whether the server accepts the client; logged if not. The connection is locked. */
	doca_error_t (*admit)(struct doca_comch_connection *connection,
			      const struct comch_hello *hello);

	/* Of ready.c. */
	pthread_mutex_t ready_lock;
	struct doca_comch_connection *first_ready, *last_ready;
	atomic_uint num_ready; /* changes under the lock */
};

enum comch_conn_state {
	COMCH_CONN_GREETING, /* before WELCOME */
	COMCH_CONN_UP,
	COMCH_CONN_CLOSING, /* BYE was sent, or follows what waits to be sent */
	COMCH_CONN_DOWN,
};

struct doca_comch_task_send {
	struct doca_task base;
	struct doca_comch_connection *connection;
	const void *msg;
	uint32_t len;
	uint64_t end;  /* of its frame in the stream */
	uint8_t *copy; /* room for a message that waits */
};

/* An event of a consumer of the peer, after that many messages of the peer. */
struct comch_note {
	struct comch_note *next;
	uint64_t after;
	uint32_t id;
	bool is_expired;
};

/* A consumer of the peer. Its entry is in use until its last event was reported. */
struct comch_remote {
	struct comch_consumer_info info;
	bool is_used;
	bool is_alive;
	struct comch_note added, expired;
};

struct comch_output {
	uint8_t *bytes;
	size_t size, start, len;
	uint64_t queued, written; /* bytes of the stream */
	bool is_broken;		  /* the link does not take any more */
	bool has_bye, is_shut;
	uint32_t credits; /* messages that the peer accepts now */
};

struct comch_input {
	uint8_t *bytes;
	size_t len;
	uint32_t credits_to_return; /* credits to return */
	uint64_t received, delivered;
};

struct comch_counters {
	uint64_t sent_messages, sent_bytes, recv_messages, recv_bytes;
};

struct doca_comch_connection {
	/* Only the thread of the server or client uses what follows. */
	struct doca_comch_connection *next, *prev; /* in the list of its control */
	struct doca_comch_connection *next_retired;
	union doca_data user_data;
	struct comch_counters updated;
	bool is_listed;
	bool is_new;	/* the program does not know it yet */
	bool is_hidden; /* the program must not hear of it any more, except for its tasks */

	atomic_uint refs; /* control, endpoints, tasks */
	atomic_int state; /* enum comch_conn_state; changes under the lock */
	bool is_server;
	struct doca_dev *dev;
	char identity[DPUMAP_COMCH_IDENTITY_SIZE]; /* of the peer */

	pthread_mutex_t lock;	   /* guards the rest */
	struct comch_owner *owner; /* NULL after it has ended */
	struct dpumap_comch_link *link;
	struct comch_limits own, peer;
	uint32_t max_message;
	uint64_t deadline; /* ms; while GREETING or CLOSING */
	uint64_t stalled;  /* ms: since when the peer has accepted no message that waits */
	bool close_wanted; /* as soon as there are no endpoints */
	doca_error_t refusal;
	struct comch_input in;
	struct comch_output out;
	struct comch_inbox inbox;
	struct task_list waiting; /* for a credit or for room in the output */
	struct task_list writing; /* in the output */
	struct task_list done;	  /* their callbacks have not run yet */
	struct comch_counters counters;
	struct comch_note *first_note, *last_note;
	struct comch_remote remotes[COMCH_MAX_CONSUMERS];
	struct comch_endpoint *endpoints;
	uint32_t num_consumers, num_producers;
	uint32_t last_consumer, last_producer; /* ids */

	/* Under the ready lock of the owner. */
	struct doca_comch_connection *next_ready;
	bool is_ready;
};

static inline enum comch_conn_state comch_conn_state(const struct doca_comch_connection *c)
{
	return (enum comch_conn_state)atomic_load_explicit(&c->state, memory_order_acquire);
}

/* NULL for NULL. */
static inline struct doca_comch_task_send *comch_task_of(struct doca_task *task)
{
	return (struct doca_comch_task_send *)task;
}

#endif
