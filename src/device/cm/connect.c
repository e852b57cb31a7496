/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/cm/connect.h"

#include <errno.h>
#include <rdma/rdma_cma.h>
#include <string.h>

#include "device/cm/cm_priv.h"
#include "device/cm/own.h"
#include "log/log.h"

static doca_error_t check_data(const struct dpumap_cm *cm, uint8_t len, unsigned int max)
{
	if (len <= max)
		return DOCA_SUCCESS;
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
			   "%s: %u bytes of private data: the maximum is %u", dpumap_cm_name(cm),
			   len, max);
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
		return dpumap_fail(
			DOCA_ERROR_NOT_CONNECTED, "%s: its port has no IPv%c address to reach %s",
			dpumap_cm_name(id->cm), peer->ss_family == AF_INET ? '4' : '6', text);
	if (found) {
		from = *found;
		complete_scope(&to, &from);
	}
	if (rdma_resolve_addr(id->rdma[0], found ? (struct sockaddr *)&from : NULL,
			      (struct sockaddr *)&to, id->end.resolve_ms))
		return dpumap_fail(DOCA_ERROR_NOT_CONNECTED, "%s: %s cannot be reached: %s",
				   dpumap_cm_name(id->cm), text, strerror(errno));
	return DOCA_SUCCESS;
}

static void keep_end(struct dpumap_cm_id *id, const struct dpumap_cm_end *end)
{
	id->end = *end;
	if (end->data_len > 0)
		memcpy(id->data, end->data, end->data_len);
	id->end.data = id->data;
}

static doca_error_t start(struct dpumap_cm_id *id, const struct sockaddr_storage *peer,
			  int gid_index)
{
	struct dpumap_cm_own own;
	doca_error_t result = dpumap_cm_id_add(id);

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
	created = dpumap_cm_id_new(cm, DPUMAP_CM_IS_RESOLVING, 1);
	if (!created)
		return dpumap_cm_fail_id(cm);
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
	if (id->state != DPUMAP_CM_IS_REQUESTED)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: the request of %s has ended",
				   dpumap_cm_name(cm), dpumap_cm_id_print_peer(id, text));
	id->end = *end;
	id->end.data = NULL; /* the caller's, and needed only now */
	result = dpumap_cm_end_connect(end, cm->device, id->rdma[0]);
	if (result != DOCA_SUCCESS)
		return result;
	dpumap_cm_end_describe(end, cm->device, &param);
	param.responder_resources = smaller(param.responder_resources, id->offer_served);
	param.initiator_depth = smaller(param.initiator_depth, id->offer_sent);
	if (rdma_accept(id->rdma[0], &param))
		return dpumap_fail(DOCA_ERROR_CONNECTION_ABORTED,
				   "%s: accepting the connection of %s failed: %s",
				   dpumap_cm_name(cm), dpumap_cm_id_print_peer(id, text),
				   strerror(errno));
	id->state = DPUMAP_CM_IS_ACCEPTED;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_cm_reject(struct dpumap_cm_id *id, const void *data, uint8_t data_len)
{
	char text[DPUMAP_CM_ADDRESS_TEXT];
	doca_error_t result = check_data(id->cm, data_len, DPUMAP_CM_REJECT_DATA);

	if (result != DOCA_SUCCESS)
		return result;
	if (id->state != DPUMAP_CM_IS_REQUESTED || rdma_reject(id->rdma[0], data, data_len))
		return dpumap_fail(DOCA_ERROR_CONNECTION_ABORTED, "%s: the request of %s has ended",
				   dpumap_cm_name(id->cm), dpumap_cm_id_print_peer(id, text));
	id->state = DPUMAP_CM_IS_ENDED;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_cm_disconnect(struct dpumap_cm_id *id)
{
	char text[DPUMAP_CM_ADDRESS_TEXT];

	if (id->state == DPUMAP_CM_IS_ENDED || id->state == DPUMAP_CM_IS_DISCONNECTING)
		return DOCA_SUCCESS;
	if (id->state != DPUMAP_CM_IS_ESTABLISHED && id->state != DPUMAP_CM_IS_ACCEPTED)
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "%s: the connection is not established",
				   dpumap_cm_name(id->cm));
	dpumap_cm_end_fail(&id->end);
	/* The manager refuses if the peer has ended too, or is not yet ready; an event follows. */
	if (rdma_disconnect(id->rdma[0]) && errno != EINVAL)
		return dpumap_fail(DOCA_ERROR_CONNECTION_ABORTED,
				   "%s: disconnecting from %s failed: %s", dpumap_cm_name(id->cm),
				   dpumap_cm_id_print_peer(id, text), strerror(errno));
	id->state = DPUMAP_CM_IS_DISCONNECTING;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_cm_adopt(struct dpumap_cm *cm, struct rdma_cm_id *request,
			     struct dpumap_cm_id **id)
{
	struct dpumap_cm_id *created;
	doca_error_t result = dpumap_cm_check_device(cm, request);

	if (result != DOCA_SUCCESS)
		return result;
	created = dpumap_cm_id_new(cm, DPUMAP_CM_IS_REQUESTED, 1);
	if (!created)
		return dpumap_cm_fail_id(cm);
	created->offer_served = UINT8_MAX; /* the event with them is the program's */
	created->offer_sent = UINT8_MAX;
	created->rdma[created->num_rdma++] = request;
	*id = created;
	return DOCA_SUCCESS;
}

void dpumap_cm_set_established(struct dpumap_cm_id *id)
{
	if (id->state == DPUMAP_CM_IS_ACCEPTED)
		id->state = DPUMAP_CM_IS_ESTABLISHED;
}
