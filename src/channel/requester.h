/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Requests to dpumapd and their replies. Nothing waits: a function that returns AGAIN is to be called again when poll()
 * reports dpumap_requester_events().
 */
#ifndef DPUMAP_CHANNEL_REQUESTER_H
#define DPUMAP_CHANNEL_REQUESTER_H

#include "channel/address.h"
#include "channel/conn.h"

struct dpumap_requester;

/*
 * tls is required for a TLS address; server is the name expected in the certificate, NULL for the host of the address.
 * All three must outlive hello.
 */
doca_error_t dpumap_requester_create(const struct dpumap_address *address, struct dpumap_tls *tls,
				     const char *server, struct dpumap_requester **requester,
				     struct dpumap_error *error);
/* In place of one that dpumapd refuses; also after it is connected. On failure, it stays. */
doca_error_t dpumap_requester_begin_anew(struct dpumap_requester **requester,
					 struct dpumap_error *error);
/* NULL is allowed. */
void dpumap_requester_destroy(struct dpumap_requester *requester);
/* The address, for errors. */
const char *dpumap_requester_name(const struct dpumap_requester *requester);
/* NULL before connect() succeeds. */
struct dpumap_conn *dpumap_requester_conn(const struct dpumap_requester *requester);

/* The socket, or another descriptor before there is one; it changes until connect() succeeds. -1: there is none. */
int dpumap_requester_fd(const struct dpumap_requester *requester);
/* 0: call again soon, because the queue of a Unix socket is full. */
short dpumap_requester_events(const struct dpumap_requester *requester);

/* To be called until it succeeds, the TLS handshake included. The next request is hello. */
doca_error_t dpumap_requester_connect(struct dpumap_requester *requester,
				      struct dpumap_error *error);
/* Sets the id, and takes the last reply away. The request is sent, behind those before, by flush(). */
doca_error_t dpumap_requester_put(struct dpumap_requester *requester, struct dpumap_msg *request,
				  struct dpumap_error *error);
/* SUCCESS also if the peer closed the connection, as it may have sent the reason before. */
doca_error_t dpumap_requester_flush(struct dpumap_requester *requester, struct dpumap_error *error);

/*
 * The next reply among what was read, valid until the next take() or put(), or drop(). Events before it are kept.
 * AGAIN: read more with fill(), which also returns AGAIN.
 */
doca_error_t dpumap_requester_take(struct dpumap_requester *requester, struct dpumap_msg *reply,
				   struct dpumap_error *error);
doca_error_t dpumap_requester_fill(struct dpumap_requester *requester, struct dpumap_error *error);
/* Both, until there is a reply. */
doca_error_t dpumap_requester_receive(struct dpumap_requester *requester, struct dpumap_msg *reply,
				      struct dpumap_error *error);
/* Is it the reply to the oldest request that has none? Returns the status of an error reply. */
doca_error_t dpumap_requester_check(struct dpumap_requester *requester,
				    const struct dpumap_msg *reply, struct dpumap_error *error);
/* Wipes the last reply. */
void dpumap_requester_drop(struct dpumap_requester *requester);
/* Replies to the requests so far are those of other requests. */
void dpumap_requester_forget(struct dpumap_requester *requester);
bool dpumap_requester_awaits_reply(const struct dpumap_requester *requester);

/* The oldest event that was read; false: there is none. */
bool dpumap_requester_next_event(struct dpumap_requester *requester, enum dpumap_event *event,
				 char name[static DPUMAP_EXPORT_NAME_MAX]);

#endif
