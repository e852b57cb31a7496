/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "host/remote/remote.h"

#include <stdio.h>
#include <string.h>

#include <doca_types.h>

#include "channel/host_config.h"
#include "host/base/interrupt.h"
#include "host/fleet/resolve.h"
#include "secret/secret.h"

#define MSEC_PER_SEC 1000

_Static_assert(sizeof(sig_atomic_t) == sizeof(int), "the channel looks at the flag as an int");

doca_error_t remote_explain(doca_error_t result, struct dpumap_error *error)
{
	if (result == DOCA_SUCCESS || result == DOCA_ERROR_INVALID_VALUE)
		return result;
	if (result == DOCA_ERROR_TIME_OUT)
		error->code = DOCA_ERROR_NOT_CONNECTED;
	return dpumap_error_see_doctor(error);
}

static doca_error_t connect_to(const char *where, const struct options *options,
			       struct dpumap_client **client, struct dpumap_error *error)
{
	struct dpumap_address address;
	struct dpumap_tls *tls = NULL;
	doca_error_t result;

	result = dpumap_address_parse(where, &address, error);
	if (result == DOCA_SUCCESS && address.kind == DPUMAP_ADDRESS_TLS)
		result = dpumap_tls_create(&options->tls, false, &tls, error);
	if (result == DOCA_SUCCESS)
		result = remote_explain(
			dpumap_client_create(&address, tls, options->server,
					     (unsigned int)options->timeout_s * MSEC_PER_SEC,
					     &interrupt_signal, client, error),
			error);
	dpumap_tls_destroy(tls);
	return result;
}

/* The addresses of the registry in turn, until the DPU that has the name answers. */
static doca_error_t connect_in_fleet(const struct options *options, struct dpumap_client **client,
				     struct dpumap_error *error)
{
	const struct resolved_export *resolved = options->resolved;
	struct dpumap_error why = {0};
	doca_error_t result;

	for (size_t i = 0; i < resolved->num_addresses; i++) {
		result = connect_to(resolved->addresses[i], options, client, &why);
		if (result == DOCA_SUCCESS)
			return result;
		if (result == DOCA_ERROR_SHUTDOWN)
			break;
	}
	return dpumap_error_set(error, why.code, "DPU %s: %.240s", resolved->dpu, why.text);
}

/* Of a host that has only the registry of a fleet. */
static void advise_fleet(const char *fleet, struct dpumap_error *error)
{
	size_t used = strlen(error->text);

	snprintf(error->text + used, sizeof(error->text) - used,
		 "; an export of fleet %s is DPU:EXPORT", fleet);
}

doca_error_t remote_connect(const struct options *options, struct dpumap_client **client,
			    struct dpumap_error *error)
{
	doca_error_t result;

	if (options->resolved)
		return connect_in_fleet(options, client, error);
	result = connect_to(options->connect, options, client, error);
	if (result != DOCA_SUCCESS && options->connect_is_default && options->registry->fleet)
		advise_fleet(options->registry->fleet, error);
	return result;
}

static void ask(struct dpumap_msg *request, enum dpumap_op op)
{
	dpumap_msg_init(request);
	dpumap_msg_set_text(request, DPUMAP_MSG_OP, dpumap_op_name(op));
}

static doca_error_t ask_about(struct dpumap_client *client, enum dpumap_op op, const char *name,
			      struct dpumap_msg *reply, struct dpumap_error *error)
{
	struct dpumap_msg request;

	/* The message cannot carry an invalid name. */
	if (!dpumap_export_name_valid(name))
		return dpumap_error_set(error, DOCA_ERROR_NOT_FOUND,
					"there is no export called \"%s\"; see dpumap list", name);
	ask(&request, op);
	dpumap_msg_set_text(&request, DPUMAP_MSG_NAME, name);
	return dpumap_client_call(client, &request, reply, error);
}

bool remote_is_writable(const struct dpumap_export_info *info)
{
	return info->access & (DOCA_ACCESS_FLAG_PCI_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_WRITE);
}

bool remote_is_rdma(const struct dpumap_export_info *info)
{
	return info->access & (DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE);
}

static doca_error_t incomplete(enum dpumap_op op, struct dpumap_error *error)
{
	return dpumap_error_set(error, DOCA_ERROR_UNEXPECTED, "dpumapd's reply to %s is incomplete",
				dpumap_op_name(op));
}

doca_error_t remote_list(struct dpumap_client *client, remote_list_fn *each, void *context,
			 struct dpumap_error *error)
{
	char after[DPUMAP_EXPORT_NAME_MAX] = "", next[DPUMAP_EXPORT_NAME_MAX];
	struct dpumap_msg request, reply = {0};
	doca_error_t result;

	do {
		ask(&request, DPUMAP_OP_LIST);
		dpumap_msg_set_text(&request, DPUMAP_MSG_AFTER, after);
		result = dpumap_client_call(client, &request, &reply, error);
		if (result != DOCA_SUCCESS)
			return result;
		for (uint32_t i = 0; i < reply.num_exports; i++)
			each(context, &reply.exports[i]);
		if (!dpumap_msg_has(&reply, DPUMAP_MSG_NEXT))
			return DOCA_SUCCESS;
		dpumap_msg_get_text(&reply, DPUMAP_MSG_NEXT, next, sizeof(next));
		/* Refuse a server that makes no progress: the loop would not end. */
		if (strcmp(next, after) <= 0)
			return incomplete(DPUMAP_OP_LIST, error);
		memcpy(after, next, sizeof(after));
	} while (true);
}

doca_error_t remote_get(struct dpumap_client *client, const char *name,
			struct remote_export *export, struct dpumap_error *error)
{
	struct dpumap_msg reply = {0};
	doca_error_t result;

	result = ask_about(client, DPUMAP_OP_GET, name, &reply, error);
	if (result != DOCA_SUCCESS)
		return result;
	if (reply.num_exports != 1 || strcmp(reply.exports[0].name, name) != 0 ||
	    !dpumap_msg_has(&reply, DPUMAP_MSG_DESCRIPTOR))
		return incomplete(DPUMAP_OP_GET, error);
	result = remote_export_alloc(export, error);
	if (result != DOCA_SUCCESS)
		return result;
	export->info = reply.exports[0];
	export->desc_len = reply.value[DPUMAP_MSG_DESCRIPTOR].len;
	if (export->desc_len > 0)
		memcpy(export->desc, reply.value[DPUMAP_MSG_DESCRIPTOR].data, export->desc_len);
	return DOCA_SUCCESS;
}

doca_error_t remote_device(struct dpumap_client *client, struct remote_device *device,
			   struct dpumap_error *error)
{
	struct dpumap_msg request, reply = {0};
	doca_error_t result;

	ask(&request, DPUMAP_OP_DEVICE);
	result = dpumap_client_call(client, &request, &reply, error);
	if (result != DOCA_SUCCESS)
		return result;
	if (!dpumap_msg_has(&reply, DPUMAP_MSG_DEVICE) ||
	    !dpumap_msg_has(&reply, DPUMAP_MSG_DM_TOTAL) ||
	    !dpumap_msg_has(&reply, DPUMAP_MSG_DM_EXPORTED))
		return incomplete(DPUMAP_OP_DEVICE, error);
	dpumap_msg_get_text(&reply, DPUMAP_MSG_DEVICE, device->name, sizeof(device->name));
	device->dm_total = reply.value[DPUMAP_MSG_DM_TOTAL].number;
	device->dm_exported = reply.value[DPUMAP_MSG_DM_EXPORTED].number;
	return DOCA_SUCCESS;
}

static void ask_to_connect(struct dpumap_msg *request, const char *name, const void *details,
			   size_t len)
{
	ask(request, DPUMAP_OP_CONNECT);
	dpumap_msg_set_text(request, DPUMAP_MSG_NAME, name);
	dpumap_msg_set_bytes(request, DPUMAP_MSG_DETAILS, details, len);
}

/* To a dpumapd that does not know the request, the details are invalid. */
doca_error_t remote_ask_address(struct dpumap_client *client, const char *name,
				struct remote_address *address, struct dpumap_error *error)
{
	struct dpumap_msg request, reply = {0};
	doca_error_t result;

	ask_to_connect(&request, name, "", 0);
	result = dpumap_client_call(client, &request, &reply, error);
	if (result == DOCA_ERROR_INVALID_VALUE)
		error->code = DOCA_ERROR_NOT_SUPPORTED;
	if (result != DOCA_SUCCESS)
		return error->code;
	if (!dpumap_msg_has(&reply, DPUMAP_MSG_ADDRESS) ||
	    !dpumap_msg_has(&reply, DPUMAP_MSG_PORT) ||
	    !dpumap_msg_has(&reply, DPUMAP_MSG_TICKET) ||
	    reply.value[DPUMAP_MSG_PORT].number > UINT16_MAX ||
	    reply.value[DPUMAP_MSG_TICKET].len != sizeof(address->ticket))
		return incomplete(DPUMAP_OP_CONNECT, error);
	dpumap_msg_get_text(&reply, DPUMAP_MSG_ADDRESS, address->address, sizeof(address->address));
	address->port = (uint16_t)reply.value[DPUMAP_MSG_PORT].number;
	memcpy(address->ticket, reply.value[DPUMAP_MSG_TICKET].data, sizeof(address->ticket));
	return DOCA_SUCCESS;
}

doca_error_t remote_connect_rdma(struct dpumap_client *client, const char *name,
				 const void *details, size_t len, void *answer, size_t *size,
				 struct dpumap_error *error)
{
	struct dpumap_msg request, reply = {0};
	doca_error_t result;
	size_t got;

	ask_to_connect(&request, name, details, len);
	result = dpumap_client_call(client, &request, &reply, error);
	if (result != DOCA_SUCCESS)
		return result;
	got = reply.value[DPUMAP_MSG_DETAILS].len;
	if (!dpumap_msg_has(&reply, DPUMAP_MSG_DETAILS) || got == 0 || got > *size)
		return incomplete(DPUMAP_OP_CONNECT, error);
	memcpy(answer, reply.value[DPUMAP_MSG_DETAILS].data, got);
	*size = got;
	return DOCA_SUCCESS;
}

doca_error_t remote_export_alloc(struct remote_export *export, struct dpumap_error *error)
{
	if (!export->desc)
		export->desc = dpumap_secret_alloc(DPUMAP_DESCRIPTOR_MAX);
	if (!export->desc)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a descriptor");
	return DOCA_SUCCESS;
}

void remote_export_wipe(struct remote_export *export)
{
	dpumap_secret_free(export->desc, DPUMAP_DESCRIPTOR_MAX);
	*export = (struct remote_export){0};
}

doca_error_t remote_release(struct dpumap_client *client, const char *name,
			    struct dpumap_error *error)
{
	struct dpumap_msg reply = {0};

	return ask_about(client, DPUMAP_OP_RELEASE, name, &reply, error);
}

static doca_error_t ask_shortly(struct dpumap_client *client, enum dpumap_op op,
				struct dpumap_error *error)
{
	struct dpumap_msg request, reply = {0};

	ask(&request, op);
	return dpumap_client_call(client, &request, &reply, error);
}

doca_error_t remote_watch(struct dpumap_client *client, struct dpumap_error *error)
{
	return ask_shortly(client, DPUMAP_OP_WATCH, error);
}

doca_error_t remote_ping(struct dpumap_client *client, struct dpumap_error *error)
{
	return ask_shortly(client, DPUMAP_OP_PING, error);
}

doca_error_t remote_digest_start(struct dpumap_client *client, const char *name,
				 enum dpumap_hash *hash, uint64_t *handle,
				 struct dpumap_error *error)
{
	struct dpumap_msg request, reply = {0};
	doca_error_t result;

	ask(&request, DPUMAP_OP_DIGEST_START);
	dpumap_msg_set_text(&request, DPUMAP_MSG_NAME, name);
	if (dpumap_client_version(client) == DPUMAP_CHANNEL_OLDEST)
		*hash = DPUMAP_SHA256;
	else
		dpumap_msg_set_text(&request, DPUMAP_MSG_HASH, dpumap_hash_name(*hash));
	result = dpumap_client_call(client, &request, &reply, error);
	if (result != DOCA_SUCCESS)
		return result;
	if (!dpumap_msg_has(&reply, DPUMAP_MSG_DIGEST))
		return incomplete(DPUMAP_OP_DIGEST_START, error);
	*handle = reply.value[DPUMAP_MSG_DIGEST].number;
	return DOCA_SUCCESS;
}

doca_error_t remote_digest_send(struct dpumap_client *client, uint64_t handle, uint64_t offset,
				uint64_t length, struct dpumap_error *error)
{
	struct dpumap_msg request;

	ask(&request, DPUMAP_OP_DIGEST_UPDATE);
	dpumap_msg_set_number(&request, DPUMAP_MSG_DIGEST, handle);
	dpumap_msg_set_number(&request, DPUMAP_MSG_OFFSET, offset);
	dpumap_msg_set_number(&request, DPUMAP_MSG_LENGTH, length);
	return dpumap_client_send(client, &request, error);
}

doca_error_t remote_digest_take(struct dpumap_client *client, struct dpumap_error *error)
{
	struct dpumap_msg reply = {0};

	return dpumap_client_take_reply(client, &reply, error);
}

doca_error_t remote_digest_final(struct dpumap_client *client, uint64_t handle,
				 struct dpumap_digest *digest, struct dpumap_error *error)
{
	struct dpumap_msg request, reply = {0};
	doca_error_t result;

	ask(&request, DPUMAP_OP_DIGEST_FINAL);
	dpumap_msg_set_number(&request, DPUMAP_MSG_DIGEST, handle);
	result = dpumap_client_call(client, &request, &reply, error);
	if (result != DOCA_SUCCESS)
		return result;
	if (!dpumap_msg_get_digest(&reply, digest->hash, digest))
		return incomplete(DPUMAP_OP_DIGEST_FINAL, error);
	return DOCA_SUCCESS;
}
