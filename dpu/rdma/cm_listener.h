/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The connection manager of the machine: requests for RDMA connections by address, and searches for the link
 * addresses of clients.
 *
 * Only its private data says which export a request is for, and each export has a protection domain of its own: so
 * this is a server of librdmacm, and the export's context takes the request by the bridge of doca_rdma.
 */
#ifndef DPUMAPD_CM_LISTENER_H
#define DPUMAPD_CM_LISTENER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "channel/message.h"
#include "dpu/base/loop.h"
#include "local/error.h"
#include "local/quota.h"

#define CM_REQUEST_DATA 56 /* bytes of private data */
#define CM_PEER_MAX	64 /* with the NUL */

struct cm_listener;
struct rdma_cm_id;

struct cm_request {
	struct rdma_cm_id *id; /* the handler's, which accepts or rejects it */
	char peer[CM_PEER_MAX];
	char source[DPUMAP_QUOTA_SOURCE_MAX]; /* of log lines */
	uint8_t data[CM_REQUEST_DATA];
};

struct cm_handlers {
	void (*request)(void *context, const struct cm_request *request);
	/* What happened to a connection that cm_listener_follow() named. */
	void (*established)(void *context, void *connection);
	void (*ended)(void *context, void *connection);
	/* The end of a search: is_found, or nothing answers. Only cm_listener_end_search() may follow. */
	void (*searched)(void *context, void *connection, bool is_found);
};

/* Where clients connect. */
struct cm_endpoint {
	char address[DPUMAP_IP_TEXT_MAX];
	uint16_t port;
};

/* "ADDRESS:PORT" or "[IPV6]:PORT", with a numeric address. INVALID_VALUE with the reason. */
doca_error_t cm_listener_parse(const char *text, struct sockaddr_storage *address,
			       struct dpumap_error *error);

/* Listens nowhere yet, and needs no connection manager. Borrows loop and handlers. */
doca_error_t cm_listener_create(struct loop *loop, const struct cm_handlers *handlers,
				void *context, struct cm_listener **listener,
				struct dpumap_error *error);
/* All requests have ended. NULL is allowed. */
void cm_listener_destroy(struct cm_listener *listener);

/*
 * Opens the address, which must be one of the device called device_name; NULL: none. Then
 * cm_listener_use() closes the address before, or cm_listener_cancel() closes the new one.
 */
doca_error_t cm_listener_prepare(struct cm_listener *listener, const char *text,
				 const char *device_name, struct dpumap_error *error);
void cm_listener_use(struct cm_listener *listener);
void cm_listener_cancel(struct cm_listener *listener);
/* NULL: it listens nowhere. */
const struct cm_endpoint *cm_listener_endpoint(const struct cm_listener *listener);

/* The accepted request is this connection, which must end before it is freed. */
void cm_listener_follow(struct rdma_cm_id *id, void *connection);
void cm_listener_reject(struct rdma_cm_id *id);
/* The client's address as text. */
void cm_listener_print_peer(struct rdma_cm_id *id, char text[CM_PEER_MAX]);

/*
 * Searches for the link address of a peer. While a queue pair is connected, the kernel searches too, for a
 * second, and its caller waits; after a search it knows the address.
 */
doca_error_t cm_listener_search(struct cm_listener *listener, struct sockaddr_storage *own,
				struct sockaddr_storage *peer, void *connection,
				struct rdma_cm_id **search, struct dpumap_error *error);
/* The same for the client of a request. NOT_SUPPORTED without an error: the kernel will not search. */
doca_error_t cm_listener_search_client(struct cm_listener *listener, struct rdma_cm_id *request,
				       void *connection, struct rdma_cm_id **search,
				       struct dpumap_error *error);
/* Before its end, or after it. NULL is allowed. */
void cm_listener_end_search(struct rdma_cm_id *search);

#endif
