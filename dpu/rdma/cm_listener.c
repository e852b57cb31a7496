/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/rdma/cm_listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include <rdma/rdma_cma.h>

#include "base/clock.h"
#include "channel/address.h"
#include "dpu/base/log.h"

#define BACKLOG	   256
#define TEXT_MAX   300
#define EVENTS_MAX 64	/* at once: other clients wait meanwhile */
#define SEARCH_MS  3000 /* Linux asks a neighbour three times, once a second */

/* An address to listen at. */
struct listening {
	struct rdma_cm_id *id; /* NULL: none */
	char text[TEXT_MAX];
	struct cm_endpoint endpoint;
};

struct cm_listener {
	struct watch watch;
	struct loop *loop;
	struct rdma_event_channel *channel; /* NULL before the first address */
	const struct cm_handlers *handlers;
	void *context;
	struct listening now, next;
};

/* --- addresses -------------------------------------------------------------------------------- */

doca_error_t cm_listener_parse(const char *text, struct sockaddr_storage *address,
			       struct dpumap_error *error)
{
	const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
				       .ai_socktype = SOCK_STREAM};
	struct dpumap_address parts;
	struct addrinfo *found;
	char tls[TEXT_MAX];

	snprintf(tls, sizeof(tls), "tls:%s", text);
	if (strlen(text) >= sizeof(tls) - 4 ||
	    dpumap_address_parse(tls, &parts, error) != DOCA_SUCCESS ||
	    getaddrinfo(parts.host, parts.port, &hints, &found))
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"must be an IP address of the device and a port, "
					"\"192.0.2.1:18515\" or \"[2001:db8::1]:18515\"");
	*address = (struct sockaddr_storage){0};
	memcpy(address, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return DOCA_SUCCESS;
}

static const void *bytes_of(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return &((const struct sockaddr_in *)(const void *)address)->sin_addr;
	return &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
}

static void print_address(const struct sockaddr *address, char *text, size_t size)
{
	if (!inet_ntop(address->sa_family, bytes_of(address), text, (socklen_t)size))
		snprintf(text, size, "unknown");
}

void cm_listener_print_peer(struct rdma_cm_id *id, char text[CM_PEER_MAX])
{
	print_address(rdma_get_peer_addr(id), text, CM_PEER_MAX);
}

/* --- events ----------------------------------------------------------------------------------- */

static void on_request(struct cm_listener *l, struct cm_request *request)
{
	cm_listener_print_peer(request->id, request->peer);
	dpumap_quota_name_address(rdma_get_peer_addr(request->id), request->source);
	l->handlers->request(l->context, request);
}

static void handle(struct cm_listener *l, enum rdma_cm_event_type type, void *connection)
{
	switch (type) {
	case RDMA_CM_EVENT_ESTABLISHED:
		l->handlers->established(l->context, connection);
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_DISCONNECTED:
		l->handlers->ended(l->context, connection);
		break;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ADDR_ERROR:
		l->handlers->searched(l->context, connection, type == RDMA_CM_EVENT_ADDR_RESOLVED);
		break;
	default: /* the end of TIMEWAIT, or of the device, which ends dpumapd (device_watch.h) */
		break;
	}
}

/* Acknowledges the event first, because destroying its id waits for that. */
static bool take(struct cm_listener *l)
{
	struct cm_request request = {0};
	enum rdma_cm_event_type type;
	struct rdma_cm_event *event;
	size_t len;

	if (rdma_get_cm_event(l->channel, &event))
		return false;
	request.id = event->id;
	type = event->event;
	len = event->param.conn.private_data_len;
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST && event->param.conn.private_data)
		memcpy(request.data, event->param.conn.private_data,
		       len < sizeof(request.data) ? len : sizeof(request.data));
	rdma_ack_cm_event(event);
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
		on_request(l, &request);
	else if (request.id->context)
		handle(l, type, request.id->context);
	return true;
}

static void on_ready(struct watch *watch, uint32_t events)
{
	struct cm_listener *l =
		(struct cm_listener *)((char *)watch - offsetof(struct cm_listener, watch));
	uint64_t end = monotonic_ns() + LOOP_SHARE_NS;

	(void)events;
	for (int i = 0; i < EVENTS_MAX && monotonic_ns() < end && take(l); i++)
		;
}

void cm_listener_follow(struct rdma_cm_id *id, void *connection)
{
	id->context = connection;
}

void cm_listener_reject(struct rdma_cm_id *id)
{
	/* The client may have given up. */
	rdma_reject(id, NULL, 0);
	rdma_destroy_id(id);
}

/* --- the connection manager ------------------------------------------------------------------- */

static doca_error_t no_manager(int err, struct dpumap_error *error)
{
	if (err == EACCES || err == EPERM)
		return dpumap_error_errno(error, err,
					  "cannot open /dev/infiniband/rdma_cm for reading and "
					  "writing");
	return dpumap_error_errno(error, err,
				  "cannot open the connection manager of this machine (load the "
				  "kernel module rdma_ucm)");
}

/* It stays open, because connections outlive their address. */
static doca_error_t open_channel(struct cm_listener *l, struct dpumap_error *error)
{
	doca_error_t result;
	int flags;

	if (l->channel)
		return DOCA_SUCCESS;
	l->channel = rdma_create_event_channel();
	if (!l->channel)
		return no_manager(errno, error);
	flags = fcntl(l->channel->fd, F_GETFL);
	if (flags < 0 || fcntl(l->channel->fd, F_SETFL, flags | O_NONBLOCK))
		result = no_manager(errno, error);
	else
		result = loop_add(l->loop, &l->watch, l->channel->fd, EPOLLIN, on_ready, error);
	if (result == DOCA_SUCCESS)
		return result;
	rdma_destroy_event_channel(l->channel);
	l->channel = NULL;
	return result;
}

/* --- searches for addresses ------------------------------------------------------------------- */

doca_error_t cm_listener_search(struct cm_listener *listener, struct sockaddr_storage *own,
				struct sockaddr_storage *peer, void *connection,
				struct rdma_cm_id **search, struct dpumap_error *error)
{
	char text[CM_PEER_MAX];
	doca_error_t result = open_channel(listener, error);

	if (result != DOCA_SUCCESS)
		return result;
	if (rdma_create_id(listener->channel, search, connection, RDMA_PS_TCP)) {
		*search = NULL;
		return dpumap_error_errno(error, errno, "cannot search for the client's address");
	}
	if (rdma_resolve_addr(*search, (struct sockaddr *)own, (struct sockaddr *)peer,
			      SEARCH_MS) == 0)
		return DOCA_SUCCESS;
	print_address((const struct sockaddr *)peer, text, sizeof(text));
	result = dpumap_error_errno(error, errno, "cannot reach the client's address %s", text);
	cm_listener_end_search(*search);
	*search = NULL;
	return result;
}

/* The address of a GID on the network of own. */
static void address_of(const uint8_t gid[16], const struct sockaddr_storage *own,
		       struct sockaddr_storage *address)
{
	struct sockaddr_in6 *full = (struct sockaddr_in6 *)address;
	struct sockaddr_in *short_form = (struct sockaddr_in *)address;
	struct in6_addr ip;

	memcpy(&ip, gid, sizeof(ip));
	*address = (struct sockaddr_storage){0};
	if (IN6_IS_ADDR_V4MAPPED(&ip)) {
		short_form->sin_family = AF_INET;
		memcpy(&short_form->sin_addr, gid + 12, sizeof(short_form->sin_addr));
		return;
	}
	full->sin6_family = AF_INET6;
	full->sin6_addr = ip;
	if (own->ss_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&ip))
		full->sin6_scope_id = ((const struct sockaddr_in6 *)own)->sin6_scope_id;
}

/* Its queue pair gets the GID that the request states, not the address from which the request came. */
doca_error_t cm_listener_search_client(struct cm_listener *listener, struct rdma_cm_id *request,
				       void *connection, struct rdma_cm_id **search,
				       struct dpumap_error *error)
{
	struct sockaddr_storage own = request->route.addr.src_storage, peer;

	if (!request->route.num_paths)
		return DOCA_ERROR_NOT_SUPPORTED;
	address_of(request->route.path_rec->dgid.raw, &own, &peer);
	if (own.ss_family != peer.ss_family)
		return DOCA_ERROR_NOT_SUPPORTED;
	if (own.ss_family == AF_INET)
		((struct sockaddr_in *)&own)->sin_port = 0;
	else
		((struct sockaddr_in6 *)&own)->sin6_port = 0;
	return cm_listener_search(listener, &own, &peer, connection, search, error);
}

void cm_listener_end_search(struct rdma_cm_id *search)
{
	if (search)
		rdma_destroy_id(search);
}

/* --- listening -------------------------------------------------------------------------------- */

static bool is_on(const struct rdma_cm_id *id, const char *device_name)
{
	return id->verbs && strcmp(id->verbs->device->name, device_name) == 0;
}

static doca_error_t listen_at(struct listening *listening, struct sockaddr *address,
			      const char *device_name, struct dpumap_error *error)
{
	bool is_bound = rdma_bind_addr(listening->id, address) == 0;

	if (!is_bound && errno == EADDRINUSE)
		return dpumap_error_errno(error, errno, "rdma.listen: cannot listen at %s",
					  listening->text);
	if (!is_bound || !is_on(listening->id, device_name))
		return dpumap_error_set(error, DOCA_ERROR_BAD_CONFIG,
					"rdma.listen: %s is not an address of device %s: see "
					"\"rdma link\" and \"ip address\"",
					listening->text, device_name);
	if (rdma_listen(listening->id, BACKLOG))
		return dpumap_error_errno(error, errno, "rdma.listen: cannot listen at %s",
					  listening->text);
	print_address(address, listening->endpoint.address, sizeof(listening->endpoint.address));
	listening->endpoint.port = ntohs(rdma_get_src_port(listening->id));
	return DOCA_SUCCESS;
}

static void close_listening(struct listening *listening)
{
	if (listening->id)
		rdma_destroy_id(listening->id);
	*listening = (struct listening){0};
}

static doca_error_t open_listening(struct cm_listener *l, const char *text, const char *device_name,
				   struct listening *listening, struct dpumap_error *error)
{
	struct sockaddr_storage address;
	doca_error_t result = cm_listener_parse(text, &address, error);
	struct dpumap_error why = {0};

	if (result != DOCA_SUCCESS)
		return result;
	if (open_channel(l, &why) != DOCA_SUCCESS)
		return dpumap_error_set(error, why.code, "rdma.listen: %.200s", why.text);
	snprintf(listening->text, sizeof(listening->text), "%s", text);
	if (rdma_create_id(l->channel, &listening->id, NULL, RDMA_PS_TCP)) {
		listening->id = NULL;
		return dpumap_error_errno(error, errno, "rdma.listen: cannot listen at %s", text);
	}
	result = listen_at(listening, (struct sockaddr *)&address, device_name, error);
	if (result != DOCA_SUCCESS)
		close_listening(listening);
	return result;
}

doca_error_t cm_listener_prepare(struct cm_listener *listener, const char *text,
				 const char *device_name, struct dpumap_error *error)
{
	listener->next = (struct listening){0};
	if (!text)
		return DOCA_SUCCESS;
	if (listener->now.id && strcmp(listener->now.text, text) == 0) {
		listener->next = listener->now;
		return DOCA_SUCCESS;
	}
	return open_listening(listener, text, device_name, &listener->next, error);
}

void cm_listener_use(struct cm_listener *listener)
{
	const struct cm_endpoint *endpoint = &listener->next.endpoint;

	if (listener->now.id != listener->next.id) {
		close_listening(&listener->now);
		if (listener->next.id)
			log_line("RDMA clients connect to address %s port %u", endpoint->address,
				 endpoint->port);
		else
			log_line("RDMA clients no longer connect by address");
	}
	listener->now = listener->next;
	listener->next = (struct listening){0};
}

void cm_listener_cancel(struct cm_listener *listener)
{
	if (listener->next.id != listener->now.id)
		close_listening(&listener->next);
	listener->next = (struct listening){0};
}

const struct cm_endpoint *cm_listener_endpoint(const struct cm_listener *listener)
{
	return listener->now.id ? &listener->now.endpoint : NULL;
}

doca_error_t cm_listener_create(struct loop *loop, const struct cm_handlers *handlers,
				void *context, struct cm_listener **listener,
				struct dpumap_error *error)
{
	struct cm_listener *l = calloc(1, sizeof(*l));

	if (!l)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for the server");
	l->loop = loop;
	l->handlers = handlers;
	l->context = context;
	*listener = l;
	return DOCA_SUCCESS;
}

void cm_listener_destroy(struct cm_listener *listener)
{
	if (!listener)
		return;
	cm_listener_cancel(listener);
	close_listening(&listener->now);
	if (listener->channel) {
		loop_remove(listener->loop, &listener->watch);
		rdma_destroy_event_channel(listener->channel);
	}
	free(listener);
}
