/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A client that waits for the steps of a requester (requester.h), or leaves that to its caller. */
#ifndef DPUMAP_CHANNEL_CLIENT_H
#define DPUMAP_CHANNEL_CLIENT_H

#include <sys/types.h>

#include "channel/address.h"
#include "channel/message.h"
#include "channel/tls.h"

struct dpumap_client;

/*
 * Connects and sends hello. tls is required for a TLS address; server is the name expected in the
 * certificate, NULL for the host of the address. stop may be NULL; when it becomes non-zero, a
 * waiting call returns SHUTDOWN. It must outlive the client. timeout_ms limits each call.
 */
doca_error_t dpumap_client_create(const struct dpumap_address *address, struct dpumap_tls *tls,
				  const char *server, unsigned int timeout_ms,
				  const volatile int *stop, struct dpumap_client **client,
				  struct dpumap_error *error);
/*
 * The same in steps, of which none waits; watches: the last one subscribes to events. AGAIN: to be called again when
 * poll() reports dpumap_client_events() of dpumap_client_fd(), which change, or at dpumap_client_due(). TIME_OUT after
 * timeout_ms without progress. Address, tls and server must outlive the steps. Only a client that is connected takes
 * other calls than these.
 */
doca_error_t dpumap_client_begin(const struct dpumap_address *address, struct dpumap_tls *tls,
				 const char *server, unsigned int timeout_ms, bool watches,
				 struct dpumap_client **client, struct dpumap_error *error);
doca_error_t dpumap_client_step(struct dpumap_client *client, struct dpumap_error *error);
/* All steps that are left, with waiting. */
doca_error_t dpumap_client_finish(struct dpumap_client *client, struct dpumap_error *error);
/* Of the channel protocol, after hello. */
uint32_t dpumap_client_version(const struct dpumap_client *client);
short dpumap_client_events(const struct dpumap_client *client);
/* When the time is over for a step or for the reply to ping, as monotonic_ns(). */
uint64_t dpumap_client_due(const struct dpumap_client *client);
void dpumap_client_destroy(struct dpumap_client *client);
/*
 * Sends the request, sets its id and waits for the reply, which is valid until the next call.
 * Returns the status of an error reply, with the server's text.
 */
doca_error_t dpumap_client_call(struct dpumap_client *client, struct dpumap_msg *request,
				struct dpumap_msg *reply, struct dpumap_error *error);

/* The same for a reply with a descriptor, which is the caller's; UNEXPECTED if none comes. *fd is -1 on failure. */
doca_error_t dpumap_client_call_for_fd(struct dpumap_client *client, struct dpumap_msg *request,
				       struct dpumap_msg *reply, int *fd,
				       struct dpumap_error *error);

/*
 * Sends a request without waiting for its reply, and sets its id. dpumapd answers in the order of the
 * requests. All replies must be taken before any other call.
 */
doca_error_t dpumap_client_send(struct dpumap_client *client, struct dpumap_msg *request,
				struct dpumap_error *error);
/*
 * The reply to the oldest of these requests, valid until the next call. AGAIN: the reply has not arrived
 * yet; TIME_OUT: no reply arrived within timeout_ms. Otherwise as dpumap_client_call().
 */
doca_error_t dpumap_client_take_reply(struct dpumap_client *client, struct dpumap_msg *reply,
				      struct dpumap_error *error);

/*
 * The same for many requests: put() sets the id of one, and await() sends what was put and waits for the reply to the
 * oldest, valid until the next call.
 */
doca_error_t dpumap_client_put(struct dpumap_client *client, struct dpumap_msg *request,
			       struct dpumap_error *error);
doca_error_t dpumap_client_await(struct dpumap_client *client, struct dpumap_msg *reply,
				 struct dpumap_error *error);

/*
 * Asks for a sign of life, without waiting. dpumap_client_next_event() takes the reply, or returns TIME_OUT after
 * timeout_ms. Nothing is to be done while dpumap_client_is_pinging().
 */
doca_error_t dpumap_client_ping(struct dpumap_client *client, struct dpumap_error *error);
bool dpumap_client_is_pinging(const struct dpumap_client *client);
/* When the last message came from dpumapd, as monotonic_ns(). */
uint64_t dpumap_client_heard_at(const struct dpumap_client *client);

/*
 * The next event, in order, without waiting. AGAIN: none; CONNECTION_RESET and others: there will
 * be no more.
 */
doca_error_t dpumap_client_next_event(struct dpumap_client *client, enum dpumap_event *event,
				      char name[static DPUMAP_EXPORT_NAME_MAX],
				      struct dpumap_error *error);
/* Readable when there may be an event, except for events received with a reply. */
int dpumap_client_fd(const struct dpumap_client *client);

#endif
