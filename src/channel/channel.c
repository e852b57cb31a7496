/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The public interface of clients, on top of a client that lives as long as its connection. */
#include "channel/channel.h"

#include <dpumap/channel.h>

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

#include <doca_rdma.h>

#include "base/clock.h"
#include "channel/client.h"

#define TIMEOUT_MS    10000u
#define ALIVE_NS      (15 * NSEC_PER_SEC)
#define FIRST_WAIT_MS 100u
#define LAST_WAIT_MS  30000u
/*
 * Requests without a reply: few enough that sockets hold them all, however long dpumapd reads none. So sending never
 * waits for dpumapd, which may wait until its replies are read.
 */
#define WINDOW 64u

_Static_assert(DPUMAP_CHANNEL_DESCRIPTOR_MAX == DPUMAP_DESCRIPTOR_MAX, "both mean the same");
_Static_assert((int)DPUMAP_CHANNEL_ADDED == (int)DPUMAP_EVENT_ADDED &&
		       (int)DPUMAP_CHANNEL_CHANGED == (int)DPUMAP_EVENT_CHANGED &&
		       (int)DPUMAP_CHANNEL_REMOVED == (int)DPUMAP_EVENT_REMOVED,
	       "both mean the same");

struct dpumap_channel {
	char *address, *cert, *key, *ca, *crl, *psk, *psk_name, *server;
	uint32_t timeout_ms;
	int epoll;		      /* of the connection, or of the attempt to make one */
	int polled;		      /* the descriptor that it polls; -1: none */
	struct dpumap_client *client; /* NULL: not connected */
	struct {
		struct dpumap_client *client; /* NULL: there is no attempt */
		struct dpumap_address address;
		struct dpumap_tls *tls;
	} attempt;
	bool was_connected;
	bool is_lost; /* until BACK was reported */
	bool lost_reported;
	uint32_t wait_ms;  /* back-off after the next attempt */
	uint64_t next_try; /* when lost */
	dpumap_channel_watch_cb_t heard;
	union doca_data user_data;
	struct dpumap_error error;
};

static doca_error_t wrong(struct dpumap_channel *c, doca_error_t code, const char *why)
{
	return dpumap_error_set(&c->error, code, "%s", why);
}

static void end_attempt(struct dpumap_channel *c)
{
	dpumap_client_destroy(c->attempt.client);
	dpumap_tls_destroy(c->attempt.tls);
	c->attempt.client = NULL;
	c->attempt.tls = NULL;
}

doca_error_t dpumap_channel_create(struct dpumap_channel **channel)
{
	struct dpumap_channel *c;

	if (!channel)
		return DOCA_ERROR_INVALID_VALUE;
	c = calloc(1, sizeof(*c));
	if (!c)
		return DOCA_ERROR_NO_MEMORY;
	c->timeout_ms = TIMEOUT_MS;
	c->polled = -1;
	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (c->epoll < 0) {
		free(c);
		return DOCA_ERROR_NO_MEMORY;
	}
	*channel = c;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_channel_destroy(struct dpumap_channel *channel)
{
	if (!channel)
		return DOCA_ERROR_INVALID_VALUE;
	dpumap_client_destroy(channel->client);
	end_attempt(channel);
	close(channel->epoll);
	free(channel->address);
	free(channel->cert);
	free(channel->key);
	free(channel->ca);
	free(channel->crl);
	free(channel->psk);
	free(channel->psk_name);
	free(channel->server);
	free(channel);
	return DOCA_SUCCESS;
}

/* --- settings --------------------------------------------------------------------------------- */

static doca_error_t set(struct dpumap_channel *c, char **setting, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		return wrong(c, DOCA_ERROR_NO_MEMORY, "no memory for a setting");
	free(*setting);
	*setting = copy;
	return DOCA_SUCCESS;
}

static doca_error_t check_settable(struct dpumap_channel *c)
{
	if (c->was_connected)
		return wrong(c, DOCA_ERROR_BAD_STATE, "the channel is already connected");
	return DOCA_SUCCESS;
}

doca_error_t dpumap_channel_set_address(struct dpumap_channel *channel, const char *address)
{
	struct dpumap_address parsed;
	doca_error_t result;

	if (!channel || !address)
		return DOCA_ERROR_INVALID_VALUE;
	result = check_settable(channel);
	if (result == DOCA_SUCCESS)
		result = dpumap_address_parse(address, &parsed, &channel->error);
	if (result == DOCA_SUCCESS)
		result = set(channel, &channel->address, address);
	return result;
}

doca_error_t dpumap_channel_set_certificate(struct dpumap_channel *channel, const char *cert,
					    const char *key, const char *ca, const char *crl)
{
	doca_error_t result;

	if (!channel || !cert || !key || !ca)
		return DOCA_ERROR_INVALID_VALUE;
	result = check_settable(channel);
	if (result == DOCA_SUCCESS)
		result = set(channel, &channel->cert, cert);
	if (result == DOCA_SUCCESS)
		result = set(channel, &channel->key, key);
	if (result == DOCA_SUCCESS)
		result = set(channel, &channel->ca, ca);
	if (result == DOCA_SUCCESS)
		result = set(channel, &channel->crl, crl);
	return result;
}

doca_error_t dpumap_channel_set_psk(struct dpumap_channel *channel, const char *file,
				    const char *name)
{
	doca_error_t result;

	if (!channel || !file)
		return DOCA_ERROR_INVALID_VALUE;
	result = check_settable(channel);
	if (result == DOCA_SUCCESS)
		result = set(channel, &channel->psk, file);
	if (result == DOCA_SUCCESS)
		result = set(channel, &channel->psk_name, name);
	return result;
}

bool dpumap_private_channel_has_psk(const struct dpumap_channel *channel)
{
	return channel->psk != NULL;
}

doca_error_t dpumap_channel_set_server_name(struct dpumap_channel *channel, const char *name)
{
	doca_error_t result;

	if (!channel || !name || !name[0])
		return DOCA_ERROR_INVALID_VALUE;
	result = check_settable(channel);
	if (result == DOCA_SUCCESS)
		result = set(channel, &channel->server, name);
	return result;
}

doca_error_t dpumap_channel_set_timeout(struct dpumap_channel *channel, uint32_t milliseconds)
{
	if (!channel || !milliseconds)
		return DOCA_ERROR_INVALID_VALUE;
	channel->timeout_ms = milliseconds;
	return DOCA_SUCCESS;
}

/* --- the connection --------------------------------------------------------------------------- */

static doca_error_t open_tls(struct dpumap_channel *c, struct dpumap_tls **tls)
{
	const struct dpumap_tls_config config = {.cert = c->cert,
						 .key = c->key,
						 .ca = c->ca,
						 .crl = c->crl,
						 .psk = c->psk,
						 .psk_name = c->psk_name};

	return dpumap_tls_create(&config, false, tls, &c->error);
}

static doca_error_t begin_attempt(struct dpumap_channel *c)
{
	doca_error_t result;

	result = dpumap_address_parse(c->address, &c->attempt.address, &c->error);
	if (result == DOCA_SUCCESS && c->attempt.address.kind == DPUMAP_ADDRESS_TLS)
		result = open_tls(c, &c->attempt.tls);
	if (result == DOCA_SUCCESS)
		result = dpumap_client_begin(&c->attempt.address, c->attempt.tls, c->server,
					     c->timeout_ms, c->heard != NULL, &c->attempt.client,
					     &c->error);
	if (result != DOCA_SUCCESS)
		end_attempt(c);
	return result;
}

/* Instead of the descriptor before, which may be closed. */
static doca_error_t poll_fd(struct dpumap_channel *c, int fd, short events)
{
	struct epoll_event event = {
		.events = (events & POLLIN ? EPOLLIN : 0) | (events & POLLOUT ? EPOLLOUT : 0),
	};

	if (c->polled >= 0)
		epoll_ctl(c->epoll, EPOLL_CTL_DEL, c->polled, NULL);
	c->polled = events ? fd : -1;
	if (events && epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
		return wrong(c, DOCA_ERROR_OPERATING_SYSTEM, "cannot poll the connection");
	return DOCA_SUCCESS;
}

/* After a step of the attempt: AGAIN, there is more to do. */
static doca_error_t settle(struct dpumap_channel *c, doca_error_t result)
{
	struct dpumap_client *client = c->attempt.client;
	const bool goes_on = result == DOCA_ERROR_AGAIN;
	short events = POLLIN;

	if (goes_on)
		events = dpumap_client_events(client);
	if (result == DOCA_SUCCESS || goes_on)
		result = poll_fd(c, dpumap_client_fd(client), events);
	if (result == DOCA_SUCCESS && goes_on)
		return DOCA_ERROR_AGAIN;
	if (result == DOCA_SUCCESS) {
		c->client = client;
		c->attempt.client = NULL;
		c->wait_ms = FIRST_WAIT_MS;
	}
	end_attempt(c);
	return result;
}

/* Waits. */
static doca_error_t open_connection(struct dpumap_channel *c)
{
	doca_error_t result = c->attempt.client ? DOCA_SUCCESS : begin_attempt(c);

	if (result != DOCA_SUCCESS)
		return result;
	return settle(c, dpumap_client_finish(c->attempt.client, &c->error));
}

static void close_client(struct dpumap_channel *c)
{
	poll_fd(c, -1, 0);
	dpumap_client_destroy(c->client);
	c->client = NULL;
}

static void begin(struct dpumap_msg *request, enum dpumap_op op)
{
	dpumap_msg_init(request);
	dpumap_msg_set_text(request, DPUMAP_MSG_OP, dpumap_op_name(op));
}

doca_error_t dpumap_channel_connect(struct dpumap_channel *channel)
{
	doca_error_t result;

	if (!channel)
		return DOCA_ERROR_INVALID_VALUE;
	if (!channel->address)
		return wrong(channel, DOCA_ERROR_BAD_STATE,
			     "the channel has no address: call dpumap_channel_set_address()");
	result = check_settable(channel);
	if (result == DOCA_SUCCESS)
		result = open_connection(channel);
	if (result == DOCA_SUCCESS)
		channel->was_connected = true;
	return result;
}

/*
 * Half of the time plus a random part of the other half, so that clients do not all reconnect at
 * once.
 */
static void wait_for_next_try(struct dpumap_channel *c)
{
	uint32_t random = 0;
	uint64_t wait;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = (uint32_t)monotonic_ns();
	wait = c->wait_ms / 2 + random % (c->wait_ms / 2 + 1);
	c->next_try = monotonic_ns() + wait * NSEC_PER_MSEC;
	c->wait_ms = c->wait_ms < LAST_WAIT_MS / 2 ? 2 * c->wait_ms : LAST_WAIT_MS;
}

static void report_event(const struct dpumap_channel *c, enum dpumap_channel_event event,
			 const char *name)
{
	if (c->heard)
		c->heard(c->user_data, event, name);
}

/* An error reply keeps the connection; no reply, or an invalid one, ends it. */
static bool is_over(doca_error_t result, const struct dpumap_msg *reply)
{
	return result != DOCA_SUCCESS && !dpumap_msg_has(reply, DPUMAP_MSG_STATUS);
}

static void lose(struct dpumap_channel *c)
{
	close_client(c);
	c->is_lost = true;
	wait_for_next_try(c);
}

static doca_error_t check_connected(struct dpumap_channel *c)
{
	doca_error_t result;

	if (c->client)
		return DOCA_SUCCESS;
	if (!c->was_connected)
		return wrong(c, DOCA_ERROR_NOT_CONNECTED, "the channel is not connected");
	if (!c->attempt.client && monotonic_ns() < c->next_try)
		return wrong(c, DOCA_ERROR_NOT_CONNECTED,
			     "the connection was lost; the channel will connect again later");
	result = open_connection(c);
	if (result != DOCA_SUCCESS)
		wait_for_next_try(c);
	return result;
}

/* fd may be NULL. */
static doca_error_t call_for_fd(struct dpumap_channel *c, struct dpumap_msg *request,
				struct dpumap_msg *reply, int *fd)
{
	doca_error_t result = check_connected(c);

	if (result != DOCA_SUCCESS)
		return result;
	reply->present = 0;
	if (fd)
		result = dpumap_client_call_for_fd(c->client, request, reply, fd, &c->error);
	else
		result = dpumap_client_call(c->client, request, reply, &c->error);
	if (is_over(result, reply))
		lose(c);
	return result;
}

static doca_error_t call(struct dpumap_channel *c, struct dpumap_msg *request,
			 struct dpumap_msg *reply)
{
	return call_for_fd(c, request, reply, NULL);
}

/* --- requests --------------------------------------------------------------------------------- */

static doca_error_t incomplete(struct dpumap_channel *c)
{
	return wrong(c, DOCA_ERROR_UNEXPECTED, "dpumapd's reply is incomplete");
}

static void each_export(const struct dpumap_msg *reply, dpumap_channel_list_cb_t each,
			union doca_data user_data)
{
	for (uint32_t i = 0; i < reply->num_exports; i++) {
		const struct dpumap_export_info *info = &reply->exports[i];
		const struct dpumap_channel_export exported = {.name = info->name,
							       .kind = info->kind,
							       .size = info->size,
							       .access = info->access};

		each(user_data, &exported);
	}
}

doca_error_t dpumap_channel_list(struct dpumap_channel *channel, dpumap_channel_list_cb_t each,
				 union doca_data user_data)
{
	char after[DPUMAP_EXPORT_NAME_MAX] = "", next[DPUMAP_EXPORT_NAME_MAX];
	struct dpumap_msg request, reply;
	doca_error_t result;

	if (!channel || !each)
		return DOCA_ERROR_INVALID_VALUE;
	for (;;) {
		begin(&request, DPUMAP_OP_LIST);
		dpumap_msg_set_text(&request, DPUMAP_MSG_AFTER, after);
		result = call(channel, &request, &reply);
		if (result != DOCA_SUCCESS)
			return result;
		each_export(&reply, each, user_data);
		if (!dpumap_msg_has(&reply, DPUMAP_MSG_NEXT))
			return DOCA_SUCCESS;
		dpumap_msg_get_text(&reply, DPUMAP_MSG_NEXT, next, sizeof(next));
		/* Refuse a server that makes no progress: the loop would not end. */
		if (strcmp(next, after) <= 0)
			return incomplete(channel);
		memcpy(after, next, sizeof(after));
	}
}

static doca_error_t ask_about(struct dpumap_channel *c, enum dpumap_op op, const char *name,
			      struct dpumap_msg *reply, int *fd)
{
	struct dpumap_msg request;

	if (!dpumap_export_name_valid(name))
		return wrong(c, DOCA_ERROR_NOT_FOUND, "not a valid export name");
	begin(&request, op);
	dpumap_msg_set_text(&request, DPUMAP_MSG_NAME, name);
	return call_for_fd(c, &request, reply, fd);
}

static bool has_descriptor(const struct dpumap_msg *reply)
{
	return dpumap_msg_has(reply, DPUMAP_MSG_DESCRIPTOR) &&
	       reply->value[DPUMAP_MSG_DESCRIPTOR].data;
}

doca_error_t dpumap_channel_get(struct dpumap_channel *channel, const char *name, void *descriptor,
				size_t *len)
{
	struct dpumap_msg reply = {0};
	doca_error_t result;
	size_t size;

	if (!channel || !name || !descriptor || !len)
		return DOCA_ERROR_INVALID_VALUE;
	result = ask_about(channel, DPUMAP_OP_GET, name, &reply, NULL);
	if (result != DOCA_SUCCESS)
		return result;
	if (!has_descriptor(&reply))
		return incomplete(channel);
	size = reply.value[DPUMAP_MSG_DESCRIPTOR].len;
	if (size > *len) {
		dpumap_channel_release(channel, name);
		return wrong(channel, DOCA_ERROR_TOO_BIG,
			     "the descriptor does not fit into the buffer");
	}
	memcpy(descriptor, reply.value[DPUMAP_MSG_DESCRIPTOR].data, size);
	*len = size;
	return DOCA_SUCCESS;
}

static bool has_null(const char *const *names, size_t num)
{
	for (size_t i = 0; i < num; i++)
		if (!names || !names[i])
			return true;
	return false;
}

static doca_error_t put_get(struct dpumap_channel *c, const char *name)
{
	struct dpumap_msg request;
	doca_error_t result;

	if (!dpumap_export_name_valid(name))
		return DOCA_SUCCESS;
	begin(&request, DPUMAP_OP_GET);
	dpumap_msg_set_text(&request, DPUMAP_MSG_NAME, name);
	result = dpumap_client_put(c->client, &request, &c->error);
	if (result != DOCA_SUCCESS)
		lose(c);
	return result;
}

static doca_error_t take_get(struct dpumap_channel *c, const char *name, struct dpumap_msg *reply)
{
	doca_error_t result;

	if (!dpumap_export_name_valid(name))
		return wrong(c, DOCA_ERROR_NOT_FOUND, "not a valid export name");
	reply->present = 0;
	result = dpumap_client_await(c->client, reply, &c->error);
	if (is_over(result, reply))
		lose(c);
	return result == DOCA_SUCCESS && !has_descriptor(reply) ? incomplete(c) : result;
}

doca_error_t dpumap_channel_get_many(struct dpumap_channel *channel, const char *const *names,
				     size_t num, dpumap_channel_get_cb_t each,
				     union doca_data user_data)
{
	struct dpumap_msg reply = {0};
	doca_error_t result;
	size_t sent = 0;

	if (!channel || !each || has_null(names, num))
		return DOCA_ERROR_INVALID_VALUE;
	result = check_connected(channel);
	for (size_t i = 0; i < num; i++) {
		/* Half of the window at a time: fewer and larger writes. */
		size_t end = i % (WINDOW / 2) == 0 ? i + WINDOW : 0;

		while (channel->client && sent < num && sent < end)
			result = put_get(channel, names[sent++]);
		if (channel->client)
			result = take_get(channel, names[i], &reply);
		if (result == DOCA_SUCCESS)
			each(user_data, i, result, reply.value[DPUMAP_MSG_DESCRIPTOR].data,
			     reply.value[DPUMAP_MSG_DESCRIPTOR].len);
		else
			each(user_data, i, result, NULL, 0);
	}
	return channel->client ? DOCA_SUCCESS : result;
}

doca_error_t dpumap_channel_release(struct dpumap_channel *channel, const char *name)
{
	struct dpumap_msg reply;

	if (!channel || !name)
		return DOCA_ERROR_INVALID_VALUE;
	return ask_about(channel, DPUMAP_OP_RELEASE, name, &reply, NULL);
}

doca_error_t dpumap_channel_import(struct dpumap_channel *channel, const char *name,
				   struct doca_dev *dev, struct doca_mmap **mmap)
{
	uint8_t descriptor[DPUMAP_CHANNEL_DESCRIPTOR_MAX];
	size_t len = sizeof(descriptor);
	doca_error_t result;

	if (!channel || !name || !dev || !mmap)
		return DOCA_ERROR_INVALID_VALUE;
	result = dpumap_channel_get(channel, name, descriptor, &len);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_mmap_create_from_export(NULL, descriptor, len, dev, mmap);
	explicit_bzero(descriptor, sizeof(descriptor));
	if (result != DOCA_SUCCESS) {
		dpumap_channel_release(channel, name);
		dpumap_error_doca(&channel->error, result, "cannot import export %s", name);
	}
	return result;
}

doca_error_t dpumap_channel_get_dmabuf(struct dpumap_channel *channel, const char *name, int *fd,
				       size_t *len)
{
	struct dpumap_msg reply = {0};
	struct dpumap_error why;
	doca_error_t result;
	uint64_t size;

	if (!channel || !name || !fd || !len)
		return DOCA_ERROR_INVALID_VALUE;
	result = ask_about(channel, DPUMAP_OP_GET, name, &reply, NULL);
	if (result != DOCA_SUCCESS)
		return result;
	if (reply.num_exports != 1)
		return incomplete(channel);
	size = reply.exports[0].size;
	result = ask_about(channel, DPUMAP_OP_DMABUF, name, &reply, fd);
	if (result == DOCA_SUCCESS) {
		*len = size;
		return DOCA_SUCCESS;
	}
	why = channel->error;
	dpumap_channel_release(channel, name);
	channel->error = why;
	return result;
}

static doca_error_t join(struct dpumap_channel *c, const char *name, struct doca_rdma *rdma,
			 struct doca_rdma_connection **connection)
{
	struct dpumap_msg request, reply;
	const void *details;
	doca_error_t result;
	size_t len;

	result = doca_rdma_export(rdma, &details, &len, connection);
	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(&c->error, result,
					 "cannot create an RDMA connection to %s", name);
	begin(&request, DPUMAP_OP_CONNECT);
	dpumap_msg_set_text(&request, DPUMAP_MSG_NAME, name);
	dpumap_msg_set_bytes(&request, DPUMAP_MSG_DETAILS, details, len);
	result = call(c, &request, &reply);
	if (result != DOCA_SUCCESS)
		return result;
	if (!dpumap_msg_has(&reply, DPUMAP_MSG_DETAILS) || !reply.value[DPUMAP_MSG_DETAILS].data)
		return incomplete(c);
	result = doca_rdma_connect(rdma, reply.value[DPUMAP_MSG_DETAILS].data,
				   reply.value[DPUMAP_MSG_DETAILS].len, *connection);
	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(&c->error, result, "cannot connect to export %s", name);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_channel_connect_rdma(struct dpumap_channel *channel, const char *name,
					 struct doca_rdma *rdma,
					 struct doca_rdma_connection **connection)
{
	struct doca_rdma_connection *made;
	doca_error_t result;

	if (!channel || !name || !rdma || !connection)
		return DOCA_ERROR_INVALID_VALUE;
	if (!dpumap_export_name_valid(name))
		return wrong(channel, DOCA_ERROR_NOT_FOUND, "not a valid export name");
	result = check_connected(channel);
	if (result == DOCA_SUCCESS)
		result = join(channel, name, rdma, &made);
	if (result == DOCA_SUCCESS)
		*connection = made;
	return result;
}

/* --- events ----------------------------------------------------------------------------------- */

doca_error_t dpumap_channel_watch(struct dpumap_channel *channel, dpumap_channel_watch_cb_t heard,
				  union doca_data user_data)
{
	struct dpumap_msg request, reply;
	doca_error_t result;

	if (!channel || !heard)
		return DOCA_ERROR_INVALID_VALUE;
	begin(&request, DPUMAP_OP_WATCH);
	result = call(channel, &request, &reply);
	if (result != DOCA_SUCCESS)
		return result;
	channel->heard = heard;
	channel->user_data = user_data;
	return DOCA_SUCCESS;
}

/* SUCCESS: no more events for now. */
static doca_error_t report_events(struct dpumap_channel *c)
{
	char name[DPUMAP_EXPORT_NAME_MAX];
	enum dpumap_event event;
	doca_error_t result;

	while (c->client && (result = dpumap_client_next_event(c->client, &event, name,
							       &c->error)) != DOCA_ERROR_AGAIN) {
		if (result != DOCA_SUCCESS)
			return result;
		report_event(c, (enum dpumap_channel_event)event, name);
	}
	return DOCA_SUCCESS;
}

static bool is_ping_due(const struct dpumap_client *client)
{
	return !dpumap_client_is_pinging(client) &&
	       monotonic_ns() - dpumap_client_heard_at(client) >= ALIVE_NS;
}

/* False: the connection has ended. */
static bool continue_connection(struct dpumap_channel *c)
{
	if (report_events(c) != DOCA_SUCCESS)
		return false;
	return !c->client || !is_ping_due(c->client) ||
	       dpumap_client_ping(c->client, &c->error) == DOCA_SUCCESS;
}

/* Goes on with an attempt to connect, or begins one when it is time. */
static void try_again(struct dpumap_channel *c)
{
	doca_error_t result;

	if (!c->attempt.client && monotonic_ns() < c->next_try)
		return;
	result = c->attempt.client ? DOCA_SUCCESS : begin_attempt(c);
	if (result == DOCA_SUCCESS)
		result = settle(c, dpumap_client_step(c->attempt.client, &c->error));
	if (result != DOCA_SUCCESS && result != DOCA_ERROR_AGAIN)
		wait_for_next_try(c);
}

/* One call may have lost the connection and another one restored it: report both. */
static void report_connection(struct dpumap_channel *c)
{
	if (c->is_lost && !c->lost_reported) {
		c->lost_reported = true;
		report_event(c, DPUMAP_CHANNEL_LOST, NULL);
	}
	if (c->is_lost && c->client) {
		c->is_lost = false;
		c->lost_reported = false;
		report_event(c, DPUMAP_CHANNEL_BACK, NULL);
	}
}

doca_error_t dpumap_channel_process(struct dpumap_channel *channel)
{
	if (!channel)
		return DOCA_ERROR_INVALID_VALUE;
	if (!channel->was_connected)
		return wrong(channel, DOCA_ERROR_BAD_STATE,
			     "the channel is not connected: call dpumap_channel_connect()");
	if (!channel->client)
		try_again(channel);
	report_connection(channel);
	if (!continue_connection(channel))
		lose(channel);
	if (!channel->client)
		report_connection(channel);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_channel_get_notification_handle(const struct dpumap_channel *channel,
						    doca_notification_handle_t *handle)
{
	if (!channel || !handle)
		return DOCA_ERROR_INVALID_VALUE;
	*handle = channel->epoll;
	return DOCA_SUCCESS;
}

/* When there is something to do that the descriptor does not show. */
static uint64_t next_time(const struct dpumap_channel *c)
{
	if (c->is_lost && (!c->lost_reported || c->client))
		return 0;
	if (c->attempt.client)
		return dpumap_client_due(c->attempt.client);
	if (!c->client)
		return c->next_try;
	if (dpumap_client_is_pinging(c->client))
		return dpumap_client_due(c->client);
	return dpumap_client_heard_at(c->client) + ALIVE_NS;
}

doca_error_t dpumap_channel_get_next_time(const struct dpumap_channel *channel, int *milliseconds)
{
	uint64_t now = monotonic_ns(), then;

	if (!channel || !milliseconds)
		return DOCA_ERROR_INVALID_VALUE;
	then = next_time(channel);
	*milliseconds = then > now ? (int)((then - now) / NSEC_PER_MSEC) + 1 : 0;
	return DOCA_SUCCESS;
}

const char *dpumap_channel_get_error(const struct dpumap_channel *channel)
{
	return channel ? channel->error.text : "no channel";
}

const struct dpumap_error *dpumap_channel_fault(const struct dpumap_channel *channel)
{
	return &channel->error;
}
