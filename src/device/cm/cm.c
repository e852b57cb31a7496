/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/cm/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>

#include "device/cm/address.h"
#include "device/cm/own.h"
#include "device/device_priv.h"
#include "device/errno.h"
#include "log/log.h"

/* IBA volume 1, table 96: no such service, which is how the manager refuses a port without listener. */
#define NO_LISTENER 8

struct dpumap_cm {
	const struct dpumap_device *device;
	struct rdma_event_channel *channel;
};

enum state {
	LISTENING,
	RESOLVING,
	CONNECTING,
	REQUESTED,
	ACCEPTED,
	ESTABLISHED,
	DISCONNECTING,
	ENDED,
};

struct dpumap_cm_id {
	struct dpumap_cm *cm;
	enum state state;
	bool is_foreign; /* its events are on a channel of the program */
	void *user;
	struct dpumap_cm_end end;
	uint8_t data[DPUMAP_CM_REQUEST_DATA]; /* of end, until the request is sent */
	struct rdma_conn_param
		offer;	 /* of a request: how many reads it lets this end serve and send */
	size_t num_rdma; /* a listener has one for each address */
	struct rdma_cm_id *rdma[];
};

static const char *name_of(const struct dpumap_cm *cm)
{
	return dpumap_hca_name(cm->device->hca);
}

static const char *peer_of(const struct dpumap_cm_id *id, char text[static DPUMAP_CM_ADDRESS_TEXT])
{
	struct sockaddr_storage address;

	dpumap_cm_id_peer(id, &address);
	dpumap_cm_address_print(&address, text);
	return text;
}

/* --- managers --------------------------------------------------------------------------------- */

static doca_error_t fail_to_open(const struct dpumap_cm *cm, int err)
{
	if (err == EACCES)
		return dpumap_fail(DOCA_ERROR_NOT_PERMITTED,
				   "%s: cannot open the connection manager: %s: the user needs "
				   "read and write access to /dev/infiniband/rdma_cm",
				   name_of(cm), strerror(err));
	if (err == EMFILE || err == ENFILE || err == ENOMEM)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY,
				   "%s: cannot open the connection manager: %s", name_of(cm),
				   strerror(err));
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
			   "%s: this machine has no connection manager: %s: load the kernel module "
			   "rdma_ucm",
			   name_of(cm), strerror(err));
}

doca_error_t dpumap_cm_create(const struct dpumap_device *device, struct dpumap_cm **cm)
{
	struct dpumap_cm *created = calloc(1, sizeof(*created));
	doca_error_t result;
	int flags;

	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a connection manager");
	created->device = device;
	created->channel = rdma_create_event_channel();
	if (!created->channel) {
		result = fail_to_open(created, errno);
		goto free_cm;
	}
	flags = fcntl(created->channel->fd, F_GETFL);
	if (flags < 0 || fcntl(created->channel->fd, F_SETFL, flags | O_NONBLOCK)) {
		result = dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM,
				     "%s: the connection manager's file cannot be made "
				     "non-blocking: %s",
				     name_of(created), strerror(errno));
		goto destroy_channel;
	}
	*cm = created;
	return DOCA_SUCCESS;

destroy_channel:
	rdma_destroy_event_channel(created->channel);
free_cm:
	free(created);
	return result;
}

void dpumap_cm_destroy(struct dpumap_cm *cm)
{
	if (!cm)
		return;
	rdma_destroy_event_channel(cm->channel);
	free(cm);
}

int dpumap_cm_fd(const struct dpumap_cm *cm)
{
	return cm->channel->fd;
}

/* --- ids -------------------------------------------------------------------------------------- */

static struct dpumap_cm_id *id_new(struct dpumap_cm *cm, enum state state, size_t max_rdma)
{
	struct dpumap_cm_id *id = calloc(1, sizeof(*id) + max_rdma * sizeof(struct rdma_cm_id *));

	if (id) {
		id->cm = cm;
		id->state = state;
	}
	return id;
}

static doca_error_t fail_id(const struct dpumap_cm *cm)
{
	return dpumap_fail(DOCA_ERROR_NO_MEMORY, "%s: no memory for a connection by address",
			   name_of(cm));
}

static doca_error_t add_rdma(struct dpumap_cm_id *id)
{
	struct rdma_cm_id **at = &id->rdma[id->num_rdma];

	if (rdma_create_id(id->cm->channel, at, id, RDMA_PS_TCP))
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: creating an id of the connection manager failed: %s",
				   name_of(id->cm), strerror(errno));
	id->num_rdma++;
	return DOCA_SUCCESS;
}

void dpumap_cm_id_destroy(struct dpumap_cm_id *id)
{
	if (!id)
		return;
	/* Destroying a connection tells the peer, and destroying a request rejects it. */
	while (id->num_rdma > 0)
		rdma_destroy_id(id->rdma[--id->num_rdma]);
	free(id);
}

void dpumap_cm_id_set_user(struct dpumap_cm_id *id, void *user)
{
	id->user = user;
}

void *dpumap_cm_id_user(const struct dpumap_cm_id *id)
{
	return id->user;
}

uint16_t dpumap_cm_id_port(const struct dpumap_cm_id *id)
{
	return be16toh(rdma_get_src_port(id->rdma[0]));
}

void dpumap_cm_id_peer(const struct dpumap_cm_id *id, struct sockaddr_storage *address)
{
	*address = id->rdma[0]->route.addr.dst_storage;
}

static bool is_on_device(const struct dpumap_cm *cm, const struct rdma_cm_id *rdma)
{
	return rdma->verbs && rdma->port_num == DPUMAP_DEVICE_PORT &&
	       strcmp(ibv_get_device_name(rdma->verbs->device),
		      ibv_get_device_name(cm->device->context->device)) == 0;
}

static doca_error_t check_device(const struct dpumap_cm *cm, const struct rdma_cm_id *rdma)
{
	if (is_on_device(cm, rdma))
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
			   "%s: the connection is on port %u of %s, not on port %d of this device",
			   name_of(cm), rdma->port_num,
			   rdma->verbs ? ibv_get_device_name(rdma->verbs->device) : "no device",
			   DPUMAP_DEVICE_PORT);
}

/* --- listeners -------------------------------------------------------------------------------- */

static doca_error_t fail_to_listen(const struct dpumap_cm *cm,
				   const struct sockaddr_storage *address, int err)
{
	char text[DPUMAP_CM_ADDRESS_TEXT];

	dpumap_cm_address_print(address, text);
	if (err == EADDRINUSE)
		return dpumap_fail(DOCA_ERROR_IN_USE,
				   "%s: another listener uses %s: choose another port", name_of(cm),
				   text);
	if (err == EADDRNOTAVAIL || err == ENODEV)
		return dpumap_fail_quiet(DOCA_ERROR_NOT_FOUND,
					 "%s: %s is not an address of this device: %s", name_of(cm),
					 text, strerror(err));
	return dpumap_fail(
		dpumap_errno_to_one_of(err, DOCA_ERROR_NO_MEMORY, DOCA_ERROR_NOT_PERMITTED),
		"%s: listening at %s failed: %s", name_of(cm), text, strerror(err));
}

/* 0 or an errno */
static int bind_and_listen(const struct dpumap_cm *cm, struct rdma_cm_id *rdma,
			   struct sockaddr *address, int backlog)
{
	if (rdma_bind_addr(rdma, address))
		return errno;
	if (!is_on_device(cm, rdma))
		return EADDRNOTAVAIL;
	return rdma_listen(rdma, backlog) ? errno : 0;
}

static doca_error_t listen_at(struct dpumap_cm_id *id, const struct sockaddr_storage *address,
			      int backlog)
{
	struct sockaddr_storage at = *address;
	struct rdma_cm_id *rdma;
	doca_error_t result = add_rdma(id);
	int err;

	if (result != DOCA_SUCCESS)
		return result;
	rdma = id->rdma[id->num_rdma - 1];
	err = bind_and_listen(id->cm, rdma, (struct sockaddr *)&at, backlog);
	if (!err)
		return DOCA_SUCCESS;
	rdma_destroy_id(id->rdma[--id->num_rdma]);
	return fail_to_listen(id->cm, address, err);
}

/* An address of the port may be one that the machine does not have, such as that of RoCE v1. */
static doca_error_t listen_at_all(struct dpumap_cm_id *id, const struct dpumap_cm_own *own,
				  uint16_t port, int backlog)
{
	doca_error_t result = DOCA_SUCCESS;

	for (size_t i = 0; i < own->num_addresses; i++) {
		struct sockaddr_storage address = own->addresses[i];

		dpumap_cm_address_set_port(&address, id->num_rdma ? dpumap_cm_id_port(id) : port);
		result = listen_at(id, &address, backlog);
		if (result != DOCA_SUCCESS && result != DOCA_ERROR_NOT_FOUND)
			return result;
	}
	if (id->num_rdma > 0)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_NOT_FOUND,
			   "%s: its port has no IP address to listen at: see "
			   "rdma link and ip address",
			   name_of(id->cm));
}

static doca_error_t listen_at_own(struct dpumap_cm *cm, int gid_index, uint16_t port, int backlog,
				  struct dpumap_cm_id **id)
{
	struct dpumap_cm_own own;
	doca_error_t result = dpumap_cm_own_query(cm->device, gid_index, &own);

	if (result != DOCA_SUCCESS)
		return result;
	*id = id_new(cm, LISTENING, own.num_addresses);
	result = *id ? listen_at_all(*id, &own, port, backlog) : fail_id(cm);
	dpumap_cm_own_free(&own);
	return result;
}

doca_error_t dpumap_cm_listen(struct dpumap_cm *cm, const struct sockaddr_storage *address,
			      int gid_index, uint16_t port, int backlog, struct dpumap_cm_id **id)
{
	struct sockaddr_storage at;
	struct dpumap_cm_id *created = NULL;
	doca_error_t result;

	if (address) {
		at = *address;
		dpumap_cm_address_set_port(&at, port);
		created = id_new(cm, LISTENING, 1);
		result = created ? listen_at(created, &at, backlog) : fail_id(cm);
	} else {
		result = listen_at_own(cm, gid_index, port, backlog, &created);
	}
	if (result != DOCA_SUCCESS) {
		dpumap_cm_id_destroy(created);
		return result;
	}
	*id = created;
	return DOCA_SUCCESS;
}

/* --- the active side -------------------------------------------------------------------------- */

/* A link-local address needs its network, which is that of the source. */
static void complete_scope(struct sockaddr_storage *peer, const struct sockaddr_storage *source)
{
	struct sockaddr_in6 *to = (struct sockaddr_in6 *)peer;

	if (peer->ss_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&to->sin6_addr) &&
	    !to->sin6_scope_id)
		to->sin6_scope_id = ((const struct sockaddr_in6 *)source)->sin6_scope_id;
}

static doca_error_t resolve(struct dpumap_cm_id *id, const struct sockaddr_storage *peer,
			    const struct dpumap_cm_own *own)
{
	const struct sockaddr_storage *found = dpumap_cm_own_find(own, peer);
	struct sockaddr_storage to = *peer, from;
	char text[DPUMAP_CM_ADDRESS_TEXT];

	dpumap_cm_address_print(peer, text);
	if (!found && own->num_addresses > 0)
		return dpumap_fail(DOCA_ERROR_NOT_CONNECTED,
				   "%s: its port has no IPv%c address to reach %s", name_of(id->cm),
				   peer->ss_family == AF_INET ? '4' : '6', text);
	if (found) {
		from = *found;
		complete_scope(&to, &from);
	}
	if (rdma_resolve_addr(id->rdma[0], found ? (struct sockaddr *)&from : NULL,
			      (struct sockaddr *)&to, id->end.resolve_ms))
		return dpumap_fail(DOCA_ERROR_NOT_CONNECTED, "%s: %s cannot be reached: %s",
				   name_of(id->cm), text, strerror(errno));
	return DOCA_SUCCESS;
}

static void keep_end(struct dpumap_cm_id *id, const struct dpumap_cm_end *end)
{
	id->end = *end;
	if (end->data_len > 0)
		memcpy(id->data, end->data, end->data_len);
	id->end.data = id->data;
}

static doca_error_t check_data(const struct dpumap_cm *cm, uint8_t len, unsigned int max)
{
	if (len <= max)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
			   "%s: %u bytes of private data: the maximum is %u", name_of(cm), len,
			   max);
}

static doca_error_t start(struct dpumap_cm_id *id, const struct sockaddr_storage *peer,
			  int gid_index)
{
	struct dpumap_cm_own own;
	doca_error_t result = add_rdma(id);

	if (result == DOCA_SUCCESS)
		result = dpumap_cm_own_query(id->cm->device, gid_index, &own);
	if (result != DOCA_SUCCESS)
		return result;
	result = resolve(id, peer, &own);
	dpumap_cm_own_free(&own);
	return result;
}

doca_error_t dpumap_cm_connect(struct dpumap_cm *cm, const struct sockaddr_storage *peer,
			       int gid_index, const struct dpumap_cm_end *end,
			       struct dpumap_cm_id **id)
{
	struct dpumap_cm_id *created;
	doca_error_t result = check_data(cm, end->data_len, DPUMAP_CM_REQUEST_DATA);

	if (result != DOCA_SUCCESS)
		return result;
	created = id_new(cm, RESOLVING, 1);
	if (!created)
		return fail_id(cm);
	keep_end(created, end);
	result = start(created, peer, gid_index);
	if (result != DOCA_SUCCESS) {
		dpumap_cm_id_destroy(created);
		return result;
	}
	*id = created;
	return DOCA_SUCCESS;
}

/* --- the passive side ------------------------------------------------------------------------- */

static uint8_t smaller(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

doca_error_t dpumap_cm_accept(struct dpumap_cm_id *id, const struct dpumap_cm_end *end)
{
	struct dpumap_cm *cm = id->cm;
	struct rdma_conn_param param;
	char text[DPUMAP_CM_ADDRESS_TEXT];
	doca_error_t result = check_data(cm, end->data_len, DPUMAP_CM_ACCEPT_DATA);

	if (result != DOCA_SUCCESS)
		return result;
	if (id->state != REQUESTED)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: the request of %s has ended",
				   name_of(cm), peer_of(id, text));
	id->end = *end;
	id->end.data = NULL; /* the caller's, and needed only now */
	result = dpumap_cm_end_connect(end, cm->device, id->rdma[0]);
	if (result != DOCA_SUCCESS)
		return result;
	dpumap_cm_end_describe(end, cm->device, &param);
	param.responder_resources =
		smaller(param.responder_resources, id->offer.responder_resources);
	param.initiator_depth = smaller(param.initiator_depth, id->offer.initiator_depth);
	if (rdma_accept(id->rdma[0], &param))
		return dpumap_fail(DOCA_ERROR_CONNECTION_ABORTED,
				   "%s: accepting the connection of %s failed: %s", name_of(cm),
				   peer_of(id, text), strerror(errno));
	id->state = ACCEPTED;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_cm_reject(struct dpumap_cm_id *id, const void *data, uint8_t data_len)
{
	char text[DPUMAP_CM_ADDRESS_TEXT];
	doca_error_t result = check_data(id->cm, data_len, DPUMAP_CM_REJECT_DATA);

	if (result != DOCA_SUCCESS)
		return result;
	if (id->state != REQUESTED || rdma_reject(id->rdma[0], data, data_len))
		return dpumap_fail(DOCA_ERROR_CONNECTION_ABORTED, "%s: the request of %s has ended",
				   name_of(id->cm), peer_of(id, text));
	id->state = ENDED;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_cm_disconnect(struct dpumap_cm_id *id)
{
	char text[DPUMAP_CM_ADDRESS_TEXT];

	if (id->state == ENDED || id->state == DISCONNECTING)
		return DOCA_SUCCESS;
	if (id->state != ESTABLISHED && id->state != ACCEPTED)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: the connection is not established",
				   name_of(id->cm));
	dpumap_cm_end_fail(&id->end);
	/* The manager refuses if the peer has ended too, or is not yet ready; an event follows. */
	if (rdma_disconnect(id->rdma[0]) && errno != EINVAL)
		return dpumap_fail(DOCA_ERROR_CONNECTION_ABORTED,
				   "%s: disconnecting from %s failed: %s", name_of(id->cm),
				   peer_of(id, text), strerror(errno));
	id->state = DISCONNECTING;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_cm_adopt(struct dpumap_cm *cm, struct rdma_cm_id *request,
			     struct dpumap_cm_id **id)
{
	struct dpumap_cm_id *created;
	doca_error_t result = check_device(cm, request);

	if (result != DOCA_SUCCESS)
		return result;
	created = id_new(cm, REQUESTED, 1);
	if (!created)
		return fail_id(cm);
	created->is_foreign = true;
	created->offer.responder_resources = UINT8_MAX; /* the event with them is the program's */
	created->offer.initiator_depth = UINT8_MAX;
	created->rdma[created->num_rdma++] = request;
	*id = created;
	return DOCA_SUCCESS;
}

void dpumap_cm_set_established(struct dpumap_cm_id *id)
{
	if (id->state == ACCEPTED)
		id->state = ESTABLISHED;
}

/* --- events ----------------------------------------------------------------------------------- */

/* What is needed of a librdmacm event, which is acknowledged at once. */
struct news {
	enum rdma_cm_event_type type;
	int status;
	struct rdma_cm_id *rdma;
	struct dpumap_cm_id *id; /* of a request: the listener's */
	struct rdma_conn_param param;
};

static bool deliver(struct dpumap_cm_event *event, struct dpumap_cm_id *id,
		    enum dpumap_cm_event_type type, enum state state)
{
	event->type = type;
	event->id = id;
	id->state = state;
	return true;
}

/* The queue pair has left the caller's state. */
static bool is_moved(const struct dpumap_cm_id *id)
{
	return id->state == ACCEPTED || id->state == ESTABLISHED || id->state == DISCONNECTING;
}

static bool deliver_failure(struct dpumap_cm_event *event, struct dpumap_cm_id *id,
			    doca_error_t error)
{
	if (is_moved(id))
		dpumap_cm_end_fail(&id->end);
	event->error = error;
	event->data_len = 0;
	return deliver(event, id, DPUMAP_CM_FAILED, ENDED);
}

static doca_error_t error_of_status(int status)
{
	return status == -ETIMEDOUT ? DOCA_ERROR_TIME_OUT : DOCA_ERROR_NOT_CONNECTED;
}

static bool fail_with(struct dpumap_cm_event *event, const struct news *news, const char *what)
{
	char text[DPUMAP_CM_ADDRESS_TEXT];

	return deliver_failure(event, news->id,
			       dpumap_fail(error_of_status(news->status), "%s: %s %s failed: %s",
					   name_of(news->id->cm), what, peer_of(news->id, text),
					   strerror(abs(news->status))));
}

static bool on_address(struct dpumap_cm_event *event, const struct news *news)
{
	struct dpumap_cm_id *id = news->id;
	doca_error_t result = check_device(id->cm, id->rdma[0]);

	if (result == DOCA_SUCCESS && rdma_resolve_route(id->rdma[0], id->end.resolve_ms))
		result = dpumap_fail(DOCA_ERROR_NOT_CONNECTED, "%s: finding a route failed: %s",
				     name_of(id->cm), strerror(errno));
	return result != DOCA_SUCCESS && deliver_failure(event, id, result);
}

static bool on_route(struct dpumap_cm_event *event, const struct news *news)
{
	struct dpumap_cm_id *id = news->id;
	struct rdma_conn_param param;

	dpumap_cm_end_describe(&id->end, id->cm->device, &param);
	id->state = CONNECTING;
	if (!rdma_connect(id->rdma[0], &param))
		return false;
	return deliver_failure(event, id,
			       dpumap_fail(DOCA_ERROR_CONNECTION_ABORTED,
					   "%s: sending a request for a connection failed: %s",
					   name_of(id->cm), strerror(errno)));
}

static bool on_response(struct dpumap_cm_event *event, const struct news *news)
{
	struct dpumap_cm_id *id = news->id;
	doca_error_t result = dpumap_cm_end_connect(&id->end, id->cm->device, id->rdma[0]);

	if (result != DOCA_SUCCESS)
		rdma_reject(id->rdma[0], NULL, 0);
	else if (rdma_establish(id->rdma[0]))
		result = dpumap_fail(DOCA_ERROR_CONNECTION_ABORTED,
				     "%s: completing a connection failed: %s", name_of(id->cm),
				     strerror(errno));
	if (result != DOCA_SUCCESS)
		return deliver_failure(event, id, result);
	return deliver(event, id, DPUMAP_CM_ESTABLISHED, ESTABLISHED);
}

static bool on_request(struct dpumap_cm_event *event, const struct news *news)
{
	struct dpumap_cm_id *listener = news->id, *id;

	id = is_on_device(listener->cm, news->rdma) ? id_new(listener->cm, REQUESTED, 1) : NULL;
	if (!id) {
		dpumap_log(DPUMAP_LOG_WARNING,
			   "%s: rejected a request for a connection: no memory, or it arrived at "
			   "another device",
			   name_of(listener->cm));
		rdma_destroy_id(news->rdma);
		return false;
	}
	id->rdma[id->num_rdma++] = news->rdma;
	news->rdma->context = id;
	id->user = listener->user;
	/* As this end sees it: at most so many may it serve, and at most so many may it send. */
	id->offer.responder_resources = news->param.responder_resources;
	id->offer.initiator_depth = news->param.initiator_depth;
	event->listener = listener;
	return deliver(event, id, DPUMAP_CM_REQUEST, REQUESTED);
}

static bool on_established(struct dpumap_cm_event *event, const struct news *news)
{
	struct dpumap_cm_id *id = news->id;

	if (id->state == DISCONNECTING) { /* which was too early for the manager */
		rdma_disconnect(id->rdma[0]);
		return false;
	}
	event->data_len = 0;
	return deliver(event, id, DPUMAP_CM_ESTABLISHED, ESTABLISHED);
}

static bool deliver_end(struct dpumap_cm_event *event, struct dpumap_cm_id *id)
{
	dpumap_cm_end_fail(&id->end);
	event->data_len = 0;
	return deliver(event, id, DPUMAP_CM_DISCONNECTED, ENDED);
}

static bool on_rejected(struct dpumap_cm_event *event, const struct news *news)
{
	struct dpumap_cm_id *id = news->id;
	char text[DPUMAP_CM_ADDRESS_TEXT];

	/* The peer ended before it knew that the connection was established. */
	if (id->state == ESTABLISHED || id->state == DISCONNECTING)
		return deliver_end(event, id);
	if (is_moved(id))
		dpumap_cm_end_fail(&id->end);
	event->reason = news->status;
	if (news->status == NO_LISTENER)
		event->error = dpumap_fail(DOCA_ERROR_NOT_CONNECTED, "%s: nobody listens at %s",
					   name_of(id->cm), peer_of(id, text));
	else
		event->error = dpumap_fail(DOCA_ERROR_CONNECTION_ABORTED,
					   "%s: %s rejected the connection for reason %d",
					   name_of(id->cm), peer_of(id, text), news->status);
	return deliver(event, id, DPUMAP_CM_REJECTED, ENDED);
}

static bool on_disconnected(struct dpumap_cm_event *event, const struct news *news)
{
	struct dpumap_cm_id *id = news->id;

	/* Answers a peer that disconnects. */
	if (id->state != DISCONNECTING)
		rdma_disconnect(id->rdma[0]);
	if (id->state != ESTABLISHED && id->state != DISCONNECTING)
		return fail_with(event, news, "completing the connection with");
	return deliver_end(event, id);
}

static bool on_removal(struct dpumap_cm_event *event, const struct news *news)
{
	return deliver_failure(
		event, news->id,
		dpumap_fail(DOCA_ERROR_DRIVER, "%s: the device has failed", name_of(news->id->cm)));
}

/* Returns whether there is an event for the caller. */
static bool handle(struct dpumap_cm_event *event, const struct news *news)
{
	if (news->id->state == ENDED)
		return false;
	switch (news->type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return on_address(event, news);
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return on_route(event, news);
	case RDMA_CM_EVENT_ADDR_ERROR:
		return fail_with(event, news, "finding the address");
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return fail_with(event, news, "finding a route to");
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		return fail_with(event, news, "connecting to");
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return on_request(event, news);
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		return on_response(event, news);
	case RDMA_CM_EVENT_REJECTED:
		return on_rejected(event, news);
	case RDMA_CM_EVENT_ESTABLISHED:
		return on_established(event, news);
	case RDMA_CM_EVENT_DISCONNECTED:
		return on_disconnected(event, news);
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return on_removal(event, news);
	default: /* of multicast, of a bonded port, or the end of TIMEWAIT */
		return false;
	}
}

static void copy_data(struct dpumap_cm_event *event, const struct rdma_conn_param *param)
{
	event->data_len = param->private_data_len < DPUMAP_CM_MAX_DATA ? param->private_data_len
								       : DPUMAP_CM_MAX_DATA;
	if (event->data_len > 0)
		memcpy(event->data, param->private_data, event->data_len);
}

static doca_error_t take(struct dpumap_cm *cm, struct news *news, struct dpumap_cm_event *event)
{
	struct rdma_cm_event *taken;

	if (rdma_get_cm_event(cm->channel, &taken)) {
		if (errno == EAGAIN)
			return DOCA_ERROR_AGAIN;
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: reading an event of the connection manager failed: %s",
				   name_of(cm), strerror(errno));
	}
	*news = (struct news){
		.type = taken->event,
		.status = taken->status,
		.rdma = taken->id,
		.id = taken->listen_id ? taken->listen_id->context : taken->id->context,
		.param = taken->param.conn,
	};
	*event = (struct dpumap_cm_event){.error = DOCA_SUCCESS};
	copy_data(event, &taken->param.conn);
	/* librdmacm waits for this when the id is destroyed, which the caller may do at any time. */
	rdma_ack_cm_event(taken);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_cm_poll(struct dpumap_cm *cm, struct dpumap_cm_event *event)
{
	struct news news;
	doca_error_t result;

	do
		result = take(cm, &news, event);
	while (result == DOCA_SUCCESS && !handle(event, &news));
	return result;
}
