/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Bytes over a non-blocking socket, plain or in a TLS session. */
#ifndef DPUMAP_CHANNEL_STREAM_H
#define DPUMAP_CHANNEL_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "channel/tls.h"

struct dpumap_stream {
	int fd;
	SSL *ssl;     /* NULL: plain */
	bool is_open; /* the handshake is done */
	short wants;  /* poll() events that a call waits for; 0: none but what its nature says */
};

/* Takes fd over, also on failure. tls is NULL for a plain stream. */
doca_error_t dpumap_stream_open(struct dpumap_stream *stream, int fd, struct dpumap_tls *tls,
				const char *server, struct dpumap_fault *fault);
/*
 * For TCP sockets: requests and replies are small and wait for each other, and a peer that vanished
 * without a word is noticed within a minute.
 */
void dpumap_stream_tune(int fd);
/* Says goodbye if that needs no waiting. */
void dpumap_stream_close(struct dpumap_stream *stream);

/*
 * All three: AGAIN, with wants set, when it must wait; CONNECTION_RESET when the peer is gone;
 * AUTHENTICATION when either side does not believe the other. What a peer refused may be learnt
 * only when reading. A retried write begins with the same bytes.
 */
doca_error_t dpumap_stream_handshake(struct dpumap_stream *stream, struct dpumap_fault *fault);
doca_error_t dpumap_stream_read(struct dpumap_stream *stream, void *buf, size_t len, size_t *done,
				struct dpumap_fault *fault);
doca_error_t dpumap_stream_write(struct dpumap_stream *stream, const void *buf, size_t len,
				 size_t *done, struct dpumap_fault *fault);
/* Is there something to read that poll() does not tell of? */
bool dpumap_stream_has_more(const struct dpumap_stream *stream);

#endif
