/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Bytes over a non-blocking socket, plain or in a TLS session. */
#ifndef DPUMAP_CHANNEL_STREAM_H
#define DPUMAP_CHANNEL_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "channel/tls.h"

struct dpumap_stream {
	int fd;
	SSL *ssl;	    /* NULL: plain */
	bool is_open;	    /* the handshake is done */
	bool keeps_buffers; /* of the TLS session */
	bool has_buffers;   /* that it keeps, since the last read */
	short wants;	    /* poll() events that a call waits for; 0: those of the call itself */
	int passes; /* a descriptor that goes with the next bytes of a plain stream; -1: none */
	bool keeps_passed; /* receives descriptors, and keeps the last one */
	int passed;	   /* that one, or -1 */
};

/* Takes fd over, also on failure. tls is NULL for a plain stream. */
doca_error_t dpumap_stream_open(struct dpumap_stream *stream, int fd, struct dpumap_tls *tls,
				const char *server, struct dpumap_error *error);
/*
 * Tunes a TCP socket for small requests and replies; a peer that vanishes is detected within a
 * minute.
 */
void dpumap_stream_tune(int fd);
/*
 * For connections that stay: a machine that vanishes is detected within about five seconds while no
 * bytes wait for it. TCP_USER_TIMEOUT would also end a connection whose peer reads nothing for a
 * while.
 */
void dpumap_stream_watch_peer(int fd);
/*
 * For a stream of small records: reads all that the socket has with one call, so the caller must read
 * until dpumap_stream_has_input() is false. The TLS session keeps its buffers, until
 * dpumap_stream_rest() frees those without data.
 */
void dpumap_stream_read_ahead(struct dpumap_stream *stream);
void dpumap_stream_rest(struct dpumap_stream *stream);
/*
 * Of a plain stream over a Unix socket: a descriptor, taken over, goes with the next bytes that are written; and
 * descriptors that come along are kept, the last one of them. The kernel closes others.
 */
void dpumap_stream_pass_fd(struct dpumap_stream *stream, int fd);
void dpumap_stream_keep_passed(struct dpumap_stream *stream);
/* That one, which is the caller's, or -1. No more are kept. */
int dpumap_stream_take_passed(struct dpumap_stream *stream);
/* Sends close_notify if that does not block. */
void dpumap_stream_close(struct dpumap_stream *stream);

/*
 * All three return AGAIN, with wants set, when they would block; CONNECTION_RESET when the peer
 * closed the connection; AUTHENTICATION when either side rejects the other. A rejection by the peer
 * may show only when reading. A retried write must begin with the same bytes.
 */
doca_error_t dpumap_stream_handshake(struct dpumap_stream *stream, struct dpumap_error *error);
doca_error_t dpumap_stream_read(struct dpumap_stream *stream, void *buf, size_t len, size_t *done,
				struct dpumap_error *error);
doca_error_t dpumap_stream_write(struct dpumap_stream *stream, const void *buf, size_t len,
				 size_t *done, struct dpumap_error *error);
/*
 * Ends the TLS session on both sides, and leaves the connection open: no byte after the session was
 * read. To be called until it succeeds; AGAIN and errors as above. All must have been written.
 */
doca_error_t dpumap_stream_end(struct dpumap_stream *stream, struct dpumap_error *error);
/* No more is written: the peer reads CONNECTION_RESET after all that was written before. */
void dpumap_stream_finish(struct dpumap_stream *stream);
/* The socket, which is the caller's from then on. The stream can only be closed. */
int dpumap_stream_take_fd(struct dpumap_stream *stream);
/* Is there data to read that poll() does not report? */
bool dpumap_stream_has_more(const struct dpumap_stream *stream);
/* The same after dpumap_stream_read_ahead(). The data may be part of a record: reading returns AGAIN. */
bool dpumap_stream_has_input(const struct dpumap_stream *stream);
bool dpumap_stream_is_tls_server(const struct dpumap_stream *stream);

#endif
