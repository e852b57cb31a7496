/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A connection, as consumers and producers use it.
 *
 * The lock of a connection guards its link, its output and its lists. Every engine that has an
 * object of the connection may pump it: read what has arrived. Frames for consumers and producers are
 * handled at once, in the thread that pumps; messages of the user and events of consumers wait for
 * the engine of the server or client. No callback of the user runs under the lock.
 */
#ifndef DPUMAP_COMCH_CONNECTION_H
#define DPUMAP_COMCH_CONNECTION_H

#include <stdbool.h>

#include <doca_error.h>

#include "comch/link/wire.h"
#include "core/pe/ctx.h"

#define COMCH_MAX_ENDPOINTS 256 /* consumers, and as many producers, of each side of a connection */
#define COMCH_MAX_CONSUMERS COMCH_MAX_ENDPOINTS
#define COMCH_MAX_PRODUCERS COMCH_MAX_ENDPOINTS

struct doca_comch_connection;
struct comch_endpoint;

/*
 * All are called with the connection locked, in any thread that pumps. They call no callback of the
 * user and do not remove endpoints; they may send frames. They use dpumap_pe_wake() if the engine of
 * the endpoint has something to do.
 */
struct comch_endpoint_ops {
	/*
	 * A frame for this endpoint. A consumer gets CONSUMER_ACK, PATH_OPEN and PATH_CLOSE, a
	 * producer PATH_UP and PATH_DOWN. Its ids are in range; its other fields are as the peer
	 * wrote them.
	 */
	void (*on_frame)(struct comch_endpoint *endpoint, const struct comch_frame *frame);
	/* For a producer: this consumer of the peer is gone. Its id is not in use again soon. */
	void (*on_consumer_gone)(struct comch_endpoint *endpoint, uint32_t consumer_id);
	/* The connection ended. Once, and nothing follows. */
	void (*on_down)(struct comch_endpoint *endpoint);
};

/* A consumer or a producer of this side. Its owner fills in ops, ctx and is_producer. */
struct comch_endpoint {
	const struct comch_endpoint_ops *ops;
	struct doca_ctx *ctx;
	bool is_producer;
	uint32_t id; /* unique among the consumers, or the producers, of this side */
	struct doca_comch_connection *connection;
	struct comch_endpoint *next;
};

/*
 * Add an endpoint, and set its id. From then on it holds the connection: the object stays valid, also
 * after it ended. BAD_STATE: the connection is not established; NO_MEMORY: too many endpoints. Logged.
 * Takes the lock.
 */
doca_error_t dpumap_comch_conn_add(struct doca_comch_connection *connection,
				   struct comch_endpoint *endpoint);
/* Takes the lock. Afterwards no operation of the endpoint is called any more. */
void dpumap_comch_conn_remove(struct comch_endpoint *endpoint);

void dpumap_comch_conn_lock(struct doca_comch_connection *connection);
void dpumap_comch_conn_unlock(struct doca_comch_connection *connection);

/*
 * Read what has arrived and write what waits, unless another thread does so. Returns true if
 * something arrived. Takes the lock. One or two system calls: not for each call of progress.
 */
bool dpumap_comch_conn_pump(struct doca_comch_connection *connection);
/* Any thread, no lock needed. */
bool dpumap_comch_conn_is_up(const struct doca_comch_connection *connection);
/*
 * Descriptor for dpumap_pe_watch(); valid while an endpoint holds the connection. Readable after the
 * connection ended: an engine stops watching it then.
 */
int dpumap_comch_conn_fd(const struct doca_comch_connection *connection);
/* The device of the server or client. */
struct doca_dev *dpumap_comch_conn_dev(const struct doca_comch_connection *connection);

/*
 * Send a frame, in order. Never blocks; what the socket does not take is kept and written by later
 * pumps. NOT_CONNECTED, not logged: the connection ended. The lock is held.
 */
doca_error_t dpumap_comch_conn_send(struct doca_comch_connection *connection,
				    const struct comch_frame *frame);
/* What the peer told of its consumer; NULL if it has none with that id. The lock is held. */
const struct comch_consumer_info *
dpumap_comch_conn_find_consumer(const struct doca_comch_connection *connection, uint32_t id);

/* --- for servers and clients ------------------------------------------------------------------- */

struct comch_control;
struct dpumap_comch_link;

/*
 * A connection that waits for its first frame. Takes the link over, also on failure. `recycled` is a
 * connection without other references, whose memory is used again, or NULL.
 */
doca_error_t dpumap_comch_conn_open(struct comch_control *control, struct dpumap_comch_link *link,
				    struct doca_comch_connection *recycled,
				    struct doca_comch_connection **connection);
/* The server or client no longer needs the connection; its memory stays until dpumap_comch_conn_put(). */
void dpumap_comch_conn_retire(struct doca_comch_connection *connection);
/* Disconnect after all that was sent. The lock is held. */
void dpumap_comch_conn_close(struct doca_comch_connection *connection);
/* It has ended: complete its tasks, and tell its endpoints. The lock is held. */
void dpumap_comch_conn_down(struct doca_comch_connection *connection);
/* The peer has taken too long to connect or to disconnect. The lock is held. */
void dpumap_comch_conn_check_deadline(struct doca_comch_connection *connection);
void dpumap_comch_conn_get(struct doca_comch_connection *connection);
void dpumap_comch_conn_put(struct doca_comch_connection *connection);

#endif
