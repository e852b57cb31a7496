/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Frames over a non-blocking socket: 4 bytes little-endian length of what follows, which is
 * 1 to DPUMAP_FRAME_MAX bytes of payload. A connection gathers frames until they are sent.
 */
#ifndef DPUMAP_CHANNEL_CONN_H
#define DPUMAP_CHANNEL_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel/message.h"
#include "channel/tls.h"

#define DPUMAP_FRAME_HEADER 4u
#define DPUMAP_FRAME_MAX    65536u

struct dpumap_conn;

/*
 * Takes fd over, also on failure, and makes it non-blocking. tls is NULL on a Unix socket; server
 * is the name that a TLS client expects (tls.h).
 */
doca_error_t dpumap_conn_create(int fd, struct dpumap_tls *tls, const char *server,
				struct dpumap_conn **conn, struct dpumap_error *error);
/* Wipes the buffers and closes the socket. NULL is allowed. */
void dpumap_conn_destroy(struct dpumap_conn *conn);
int dpumap_conn_fd(const struct dpumap_conn *conn);
/* The events to poll() for after AGAIN. */
short dpumap_conn_events(const struct dpumap_conn *conn);
/*
 * To be called until it succeeds, before anything is sent or received. AGAIN; CONNECTION_RESET;
 * AUTHENTICATION, UNSUPPORTED_VERSION.
 */
doca_error_t dpumap_conn_handshake(struct dpumap_conn *conn, struct dpumap_error *error);
/* The identity of the TLS peer, after the handshake (tls.h). */
doca_error_t dpumap_conn_peer_name(const struct dpumap_conn *conn,
				   char name[static DPUMAP_PEER_NAME_MAX],
				   struct dpumap_error *error);
/*
 * AUTHENTICATION if tls, which may be newer than the connection, rejects the peer's certificate or
 * pre-shared key.
 */
doca_error_t dpumap_conn_check_again(const struct dpumap_conn *conn, const struct dpumap_tls *tls,
				     struct dpumap_error *error);

/*
 * Reads what has arrived. AGAIN: nothing; CONNECTION_RESET: the peer closed the connection. With
 * TLS also the errors of the handshake: a client learns of its rejection when it reads.
 */
doca_error_t dpumap_conn_fill(struct dpumap_conn *conn, struct dpumap_error *error);
/*
 * The payload of the first complete frame, valid until dpumap_conn_drop_frame(). AGAIN: not
 * complete yet; INVALID_VALUE: invalid length.
 */
doca_error_t dpumap_conn_frame(const struct dpumap_conn *conn, const uint8_t **payload, size_t *len,
			       struct dpumap_error *error);
void dpumap_conn_drop_frame(struct dpumap_conn *conn);

/* Encodes msg behind the frames that have not been sent. TOO_BIG: there is no room for it. */
doca_error_t dpumap_conn_put(struct dpumap_conn *conn, const struct dpumap_msg *msg,
			     struct dpumap_error *error);
/*
 * False: these frames are to be sent before the next one is put, as they are long, wait for the socket, or go with a
 * descriptor.
 */
bool dpumap_conn_may_gather(const struct dpumap_conn *conn);
/* dpumap_stream_pass_fd(), with the frames that have not been sent; and the other two. */
void dpumap_conn_pass_fd(struct dpumap_conn *conn, int fd);
void dpumap_conn_keep_passed(struct dpumap_conn *conn);
int dpumap_conn_take_passed(struct dpumap_conn *conn);
/*
 * Sends as much as the socket accepts. AGAIN: some is left; CONNECTION_RESET: the peer closed the
 * connection.
 */
doca_error_t dpumap_conn_flush(struct dpumap_conn *conn, struct dpumap_error *error);
/*
 * Ends the TLS session on both sides, to be called until it succeeds (stream.h). *fd is the open
 * connection, the caller's. From then on the connection only remembers its peer, for
 * dpumap_conn_check_again().
 */
doca_error_t dpumap_conn_leave(struct dpumap_conn *conn, int *fd, struct dpumap_error *error);
/* Frees what an idle TLS session does not need. To be called now and then. */
void dpumap_conn_rest(struct dpumap_conn *conn);
bool dpumap_conn_has_output(const struct dpumap_conn *conn);
/* Since when a frame has been incomplete, in either direction; 0 when none is. */
uint64_t dpumap_conn_stalled_since(const struct dpumap_conn *conn);

#endif
