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

#include "comch/connection/endpoint.h"

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

/* --- for servers and clients ------------------------------------------------------------------ */

struct comch_owner;
struct dpumap_comch_link;

/*
 * A connection that waits for its first frame. Takes the link over, also on failure. `own` are the limits of this
 * side. `recycled` is a connection without other references, whose memory is used again, or NULL.
 */
doca_error_t dpumap_comch_conn_open(struct comch_owner *owner, struct dpumap_comch_link *link,
				    const struct comch_limits *own,
				    struct doca_comch_connection *recycled,
				    struct doca_comch_connection **connection);
/* The server or client no longer needs the connection; its memory stays until dpumap_comch_conn_put(). */
void dpumap_comch_conn_retire(struct doca_comch_connection *connection);
void dpumap_comch_conn_get(struct doca_comch_connection *connection);
void dpumap_comch_conn_put(struct doca_comch_connection *connection);

#endif
