/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/cm/event.h"

#include <errno.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>

#include "device/cm/cm_priv.h"
#include "log/log.h"

/* IBA volume 1, table 96: no such service, which is how the manager refuses a port without listener. */
#define NO_LISTENER 8

/* What is needed of a librdmacm event, which is acknowledged at once. */
struct received_event {
	enum rdma_cm_event_type type;
	int status;
	struct rdma_cm_id *rdma;
	struct dpumap_cm_id *id; /* of a request: the listener's */
	struct rdma_conn_param param;
};

static bool deliver(struct dpumap_cm_event *event, struct dpumap_cm_id *id,
		    enum dpumap_cm_event_type type, enum dpumap_cm_state state)
{
	event->type = type;
	event->id = id;
	id->state = state;
	return true;
}

/* The queue pair has left the caller's state. */
static bool is_moved(const struct dpumap_cm_id *id)
{
	return id->state == DPUMAP_CM_IS_ACCEPTED || id->state == DPUMAP_CM_IS_ESTABLISHED ||
	       id->state == DPUMAP_CM_IS_DISCONNECTING;
}

static bool deliver_failure(struct dpumap_cm_event *event, struct dpumap_cm_id *id,
			    doca_error_t error)
{
	if (is_moved(id))
		dpumap_cm_end_fail(&id->end);
	event->error = error;
	event->data_len = 0;
	return deliver(event, id, DPUMAP_CM_FAILED, DPUMAP_CM_IS_ENDED);
}

static doca_error_t error_of_status(int status)
{
	return status == -ETIMEDOUT ? DOCA_ERROR_TIME_OUT : DOCA_ERROR_NOT_CONNECTED;
}

static bool fail_with(struct dpumap_cm_event *event, const struct received_event *received,
		      const char *what)
{
	char text[DPUMAP_CM_ADDRESS_TEXT];

	return deliver_failure(event, received->id,
			       dpumap_fail(error_of_status(received->status),
					   "%s: %s %s failed: %s", dpumap_cm_name(received->id->cm),
					   what, dpumap_cm_id_print_peer(received->id, text),
					   strerror(abs(received->status))));
}

static bool on_address(struct dpumap_cm_event *event, const struct received_event *received)
{
	struct dpumap_cm_id *id = received->id;
	doca_error_t result = dpumap_cm_check_device(id->cm, id->rdma[0]);

	if (result == DOCA_SUCCESS && rdma_resolve_route(id->rdma[0], id->end.resolve_ms))
		result = dpumap_fail(DOCA_ERROR_NOT_CONNECTED, "%s: finding a route failed: %s",
				     dpumap_cm_name(id->cm), strerror(errno));
	return result != DOCA_SUCCESS && deliver_failure(event, id, result);
}

static bool on_route(struct dpumap_cm_event *event, const struct received_event *received)
{
	struct dpumap_cm_id *id = received->id;
	struct rdma_conn_param param;

	dpumap_cm_end_describe(&id->end, id->cm->device, &param);
	id->state = DPUMAP_CM_IS_CONNECTING;
	if (!rdma_connect(id->rdma[0], &param))
		return false;
	return deliver_failure(event, id,
			       dpumap_fail(DOCA_ERROR_CONNECTION_ABORTED,
					   "%s: sending a request for a connection failed: %s",
					   dpumap_cm_name(id->cm), strerror(errno)));
}

static bool on_response(struct dpumap_cm_event *event, const struct received_event *received)
{
	struct dpumap_cm_id *id = received->id;
	doca_error_t result = dpumap_cm_end_connect(&id->end, id->cm->device, id->rdma[0]);

	if (result != DOCA_SUCCESS)
		rdma_reject(id->rdma[0], NULL, 0);
	else if (rdma_establish(id->rdma[0]))
		result = dpumap_fail(DOCA_ERROR_CONNECTION_ABORTED,
				     "%s: completing a connection failed: %s",
				     dpumap_cm_name(id->cm), strerror(errno));
	if (result != DOCA_SUCCESS)
		return deliver_failure(event, id, result);
	return deliver(event, id, DPUMAP_CM_ESTABLISHED, DPUMAP_CM_IS_ESTABLISHED);
}

static bool on_request(struct dpumap_cm_event *event, const struct received_event *received)
{
	struct dpumap_cm_id *listener = received->id, *id;

	id = dpumap_cm_is_on_device(listener->cm, received->rdma)
		     ? dpumap_cm_id_new(listener->cm, DPUMAP_CM_IS_REQUESTED, 1)
		     : NULL;
	if (!id) {
		dpumap_log(DPUMAP_LOG_WARNING,
			   "%s: rejected a request for a connection: no memory, or it arrived at "
			   "another device",
			   dpumap_cm_name(listener->cm));
		rdma_destroy_id(received->rdma);
		return false;
	}
	id->rdma[id->num_rdma++] = received->rdma;
	received->rdma->context = id;
	id->user = listener->user;
	/* As this end sees it: at most so many may it serve, and at most so many may it send. */
	id->offer_served = received->param.responder_resources;
	id->offer_sent = received->param.initiator_depth;
	event->listener = listener;
	return deliver(event, id, DPUMAP_CM_REQUEST, DPUMAP_CM_IS_REQUESTED);
}

static bool on_established(struct dpumap_cm_event *event, const struct received_event *received)
{
	struct dpumap_cm_id *id = received->id;

	if (id->state == DPUMAP_CM_IS_DISCONNECTING) { /* which was too early for the manager */
		rdma_disconnect(id->rdma[0]);
		return false;
	}
	event->data_len = 0;
	return deliver(event, id, DPUMAP_CM_ESTABLISHED, DPUMAP_CM_IS_ESTABLISHED);
}

static bool deliver_end(struct dpumap_cm_event *event, struct dpumap_cm_id *id)
{
	dpumap_cm_end_fail(&id->end);
	event->data_len = 0;
	return deliver(event, id, DPUMAP_CM_DISCONNECTED, DPUMAP_CM_IS_ENDED);
}

static bool on_rejected(struct dpumap_cm_event *event, const struct received_event *received)
{
	struct dpumap_cm_id *id = received->id;
	char text[DPUMAP_CM_ADDRESS_TEXT];

	/* The peer ended before it knew that the connection was established. */
	if (id->state == DPUMAP_CM_IS_ESTABLISHED || id->state == DPUMAP_CM_IS_DISCONNECTING)
		return deliver_end(event, id);
	if (is_moved(id))
		dpumap_cm_end_fail(&id->end);
	event->reason = received->status;
	if (received->status == NO_LISTENER)
		event->error =
			dpumap_fail(DOCA_ERROR_NOT_CONNECTED, "%s: nobody listens at %s",
				    dpumap_cm_name(id->cm), dpumap_cm_id_print_peer(id, text));
	else
		event->error = dpumap_fail(DOCA_ERROR_CONNECTION_ABORTED,
					   "%s: %s rejected the connection for reason %d",
					   dpumap_cm_name(id->cm),
					   dpumap_cm_id_print_peer(id, text), received->status);
	return deliver(event, id, DPUMAP_CM_REJECTED, DPUMAP_CM_IS_ENDED);
}

static bool on_disconnected(struct dpumap_cm_event *event, const struct received_event *received)
{
	struct dpumap_cm_id *id = received->id;

	/* Answers a peer that disconnects. */
	if (id->state != DPUMAP_CM_IS_DISCONNECTING)
		rdma_disconnect(id->rdma[0]);
	if (id->state != DPUMAP_CM_IS_ESTABLISHED && id->state != DPUMAP_CM_IS_DISCONNECTING)
		return fail_with(event, received, "completing the connection with");
	return deliver_end(event, id);
}

static bool on_removal(struct dpumap_cm_event *event, const struct received_event *received)
{
	return deliver_failure(event, received->id,
			       dpumap_fail(DOCA_ERROR_DRIVER, "%s: the device has failed",
					   dpumap_cm_name(received->id->cm)));
}

/* Returns whether there is an event for the caller. */
static bool handle(struct dpumap_cm_event *event, const struct received_event *received)
{
	if (received->id->state == DPUMAP_CM_IS_ENDED)
		return false;
	switch (received->type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return on_address(event, received);
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return on_route(event, received);
	case RDMA_CM_EVENT_ADDR_ERROR:
		return fail_with(event, received, "finding the address");
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return fail_with(event, received, "finding a route to");
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		return fail_with(event, received, "connecting to");
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return on_request(event, received);
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		return on_response(event, received);
	case RDMA_CM_EVENT_REJECTED:
		return on_rejected(event, received);
	case RDMA_CM_EVENT_ESTABLISHED:
		return on_established(event, received);
	case RDMA_CM_EVENT_DISCONNECTED:
		return on_disconnected(event, received);
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return on_removal(event, received);
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

static doca_error_t take(struct dpumap_cm *cm, struct received_event *received,
			 struct dpumap_cm_event *event)
{
	struct rdma_cm_event *taken;

	if (rdma_get_cm_event(cm->channel, &taken)) {
		if (errno == EAGAIN)
			return DOCA_ERROR_AGAIN;
		return dpumap_fail(DOCA_ERROR_DRIVER,
				   "%s: reading an event of the connection manager failed: %s",
				   dpumap_cm_name(cm), strerror(errno));
	}
	*received = (struct received_event){
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
	struct received_event received;
	doca_error_t result;

	do
		result = take(cm, &received, event);
	while (result == DOCA_SUCCESS && !handle(event, &received));
	return result;
}
