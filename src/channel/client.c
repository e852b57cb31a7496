/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "channel/client.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "channel/reply.h"
#include "channel/requester.h"

/* A signal may arrive just before poll() or in another thread: check the flag periodically. */
#define STOP_CHECK_MS 100
/* Until a Unix socket with a full queue is tried again. */
#define FULL_MS 10

/* What comes next until the client is connected. */
enum stage {
	CONNECTS,
	SAYS_HELLO,
	AWAITS_HELLO,
	WATCHES,
	AWAITS_WATCH,
	IS_CONNECTED,
};

struct dpumap_client {
	struct dpumap_requester *requester;
	const volatile int *stop;
	enum stage stage;
	uint32_t version; /* of the channel protocol: offered, then that of both */
	bool watches;
	bool pings; /* a reply to ping is awaited */
	uint64_t timeout_ns;
	uint64_t since;		/* the last progress until it is connected */
	uint64_t awaited_since; /* since when the oldest reply is awaited */
	uint64_t heard_at;
};

static doca_error_t timed_out(const struct dpumap_client *client, struct dpumap_error *error)
{
	return dpumap_error_set(
		error, DOCA_ERROR_TIME_OUT, "no reply from %s within %" PRIu64 " ms",
		dpumap_requester_name(client->requester), client->timeout_ns / NSEC_PER_MSEC);
}

/* After AGAIN. */
static doca_error_t wait_for(const struct dpumap_client *client, uint64_t deadline,
			     struct dpumap_error *error)
{
	short events = dpumap_requester_events(client->requester);
	struct pollfd p = {.fd = events ? dpumap_requester_fd(client->requester) : -1,
			   .events = events};
	uint64_t limit_ms = events ? STOP_CHECK_MS : FULL_MS;
	uint64_t now = monotonic_ns();
	uint64_t wait_ms;
	int n;

	if (client->stop && *client->stop)
		return dpumap_error_set(error, DOCA_ERROR_SHUTDOWN, "interrupted");
	if (now >= deadline)
		return timed_out(client, error);
	wait_ms = (deadline - now) / NSEC_PER_MSEC + 1;
	n = poll(&p, 1, (int)(wait_ms < limit_ms ? wait_ms : limit_ms));
	if (n < 0 && errno != EINTR)
		return dpumap_error_errno(error, errno, "cannot wait for %s",
					  dpumap_requester_name(client->requester));
	return DOCA_SUCCESS;
}

/* Does a step until it is done. */
static doca_error_t finish(const struct dpumap_client *client,
			   doca_error_t (*step)(struct dpumap_requester *requester,
						struct dpumap_error *error),
			   uint64_t deadline, struct dpumap_error *error)
{
	doca_error_t result;

	while ((result = step(client->requester, error)) == DOCA_ERROR_AGAIN) {
		result = wait_for(client, deadline, error);
		if (result != DOCA_SUCCESS)
			return result;
	}
	return result;
}

/* The reply has rarely come yet: waits before it reads. */
static doca_error_t await_reply(struct dpumap_client *client, uint64_t deadline,
				struct dpumap_msg *reply, struct dpumap_error *error)
{
	struct dpumap_requester *requester = client->requester;
	doca_error_t result;

	while ((result = dpumap_requester_take(requester, reply, error)) == DOCA_ERROR_AGAIN) {
		result = wait_for(client, deadline, error);
		if (result == DOCA_SUCCESS)
			result = dpumap_requester_fill(requester, error);
		if (result != DOCA_SUCCESS && result != DOCA_ERROR_AGAIN)
			return result;
	}
	client->heard_at = monotonic_ns();
	return result;
}

/* The reply to ping comes before that to a later request. */
static doca_error_t await_ping(struct dpumap_client *client, uint64_t deadline,
			       struct dpumap_error *error)
{
	struct dpumap_msg reply = {0};
	doca_error_t result;

	if (!client->pings)
		return DOCA_SUCCESS;
	result = await_reply(client, deadline, &reply, error);
	if (result == DOCA_SUCCESS)
		result = dpumap_requester_check(client->requester, &reply, error);
	client->pings = false;
	return result;
}

static bool has_output(const struct dpumap_client *client)
{
	return dpumap_conn_has_output(dpumap_requester_conn(client->requester));
}

/* Sends what was put, and waits for the oldest reply. */
static doca_error_t await_until(struct dpumap_client *client, uint64_t deadline,
				struct dpumap_msg *reply, struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;

	if (has_output(client))
		result = finish(client, dpumap_requester_flush, deadline, error);
	if (result == DOCA_SUCCESS)
		result = await_reply(client, deadline, reply, error);
	if (result == DOCA_SUCCESS)
		result = dpumap_requester_check(client->requester, reply, error);
	return result;
}

doca_error_t dpumap_client_call(struct dpumap_client *client, struct dpumap_msg *request,
				struct dpumap_msg *reply, struct dpumap_error *error)
{
	uint64_t deadline = monotonic_ns() + client->timeout_ns;
	doca_error_t result;

	result = await_ping(client, deadline, error);
	if (result != DOCA_SUCCESS)
		return result;
	/* A late reply to a request that timed out has another id. */
	dpumap_requester_forget(client->requester);
	result = dpumap_requester_put(client->requester, request, error);
	if (result == DOCA_SUCCESS)
		result = await_until(client, deadline, reply, error);
	return result;
}

doca_error_t dpumap_client_call_for_fd(struct dpumap_client *client, struct dpumap_msg *request,
				       struct dpumap_msg *reply, int *fd,
				       struct dpumap_error *error)
{
	struct dpumap_conn *conn = dpumap_requester_conn(client->requester);
	doca_error_t result;

	dpumap_conn_keep_passed(conn);
	result = dpumap_client_call(client, request, reply, error);
	*fd = dpumap_conn_take_passed(conn);
	if (result == DOCA_SUCCESS && *fd < 0)
		return dpumap_error_set(error, DOCA_ERROR_UNEXPECTED,
					"dpumapd at %s sent no descriptor: does this process have "
					"one left (ulimit -n)?",
					dpumap_requester_name(client->requester));
	if (result != DOCA_SUCCESS && *fd >= 0) {
		close(*fd);
		*fd = -1;
	}
	return result;
}

doca_error_t dpumap_client_send(struct dpumap_client *client, struct dpumap_msg *request,
				struct dpumap_error *error)
{
	uint64_t now = monotonic_ns();
	doca_error_t result;

	if (!dpumap_requester_awaits_reply(client->requester))
		client->awaited_since = now;
	result = dpumap_requester_put(client->requester, request, error);
	if (result == DOCA_SUCCESS)
		result = finish(client, dpumap_requester_flush, now + client->timeout_ns, error);
	return result;
}

doca_error_t dpumap_client_put(struct dpumap_client *client, struct dpumap_msg *request,
			       struct dpumap_error *error)
{
	doca_error_t result = await_ping(client, monotonic_ns() + client->timeout_ns, error);

	return result == DOCA_SUCCESS ? dpumap_requester_put(client->requester, request, error)
				      : result;
}

doca_error_t dpumap_client_await(struct dpumap_client *client, struct dpumap_msg *reply,
				 struct dpumap_error *error)
{
	return await_until(client, monotonic_ns() + client->timeout_ns, reply, error);
}

doca_error_t dpumap_client_take_reply(struct dpumap_client *client, struct dpumap_msg *reply,
				      struct dpumap_error *error)
{
	uint64_t now = monotonic_ns();
	doca_error_t result;

	result = dpumap_requester_receive(client->requester, reply, error);
	if (result == DOCA_ERROR_AGAIN && now - client->awaited_since >= client->timeout_ns)
		return timed_out(client, error);
	if (result != DOCA_SUCCESS)
		return result;
	client->awaited_since = now;
	return dpumap_requester_check(client->requester, reply, error);
}

/* --- signs of life, and events ---------------------------------------------------------------- */

doca_error_t dpumap_client_ping(struct dpumap_client *client, struct dpumap_error *error)
{
	struct dpumap_msg request;
	doca_error_t result;

	dpumap_msg_init(&request);
	dpumap_msg_set_text(&request, DPUMAP_MSG_OP, dpumap_op_name(DPUMAP_OP_PING));
	dpumap_requester_forget(client->requester);
	result = dpumap_requester_put(client->requester, &request, error);
	if (result != DOCA_SUCCESS)
		return result;
	client->pings = true;
	client->awaited_since = monotonic_ns();
	result = dpumap_requester_flush(client->requester, error);
	return result == DOCA_ERROR_AGAIN ? DOCA_SUCCESS : result;
}

bool dpumap_client_is_pinging(const struct dpumap_client *client)
{
	return client->pings;
}

uint64_t dpumap_client_heard_at(const struct dpumap_client *client)
{
	return client->heard_at;
}

/* A message that is no event. */
static doca_error_t take_ping(struct dpumap_client *client, const struct dpumap_msg *reply,
			      struct dpumap_error *error)
{
	if (!client->pings)
		return dpumap_error_set(error, DOCA_ERROR_UNEXPECTED,
					"dpumapd at %s sent a reply without a request",
					dpumap_requester_name(client->requester));
	client->pings = false;
	return dpumap_requester_check(client->requester, reply, error);
}

/* AGAIN: there is nothing more, for now. */
static doca_error_t read_more(struct dpumap_client *client, struct dpumap_error *error)
{
	struct dpumap_msg msg = {0};
	doca_error_t result;

	if (has_output(client)) {
		result = dpumap_requester_flush(client->requester, error);
		if (result != DOCA_SUCCESS && result != DOCA_ERROR_AGAIN)
			return result;
	}
	result = dpumap_requester_receive(client->requester, &msg, error);
	if (result == DOCA_SUCCESS) {
		client->heard_at = monotonic_ns();
		return take_ping(client, &msg, error);
	}
	if (result == DOCA_ERROR_AGAIN && client->pings &&
	    monotonic_ns() - client->awaited_since >= client->timeout_ns)
		return timed_out(client, error);
	return result;
}

doca_error_t dpumap_client_next_event(struct dpumap_client *client, enum dpumap_event *event,
				      char name[static DPUMAP_EXPORT_NAME_MAX],
				      struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;

	/* What came before an error is reported before it. */
	for (;;) {
		if (dpumap_requester_next_event(client->requester, event, name)) {
			client->heard_at = monotonic_ns();
			return DOCA_SUCCESS;
		}
		if (result != DOCA_SUCCESS)
			return result;
		result = read_more(client, error);
	}
}

/* --- connecting ------------------------------------------------------------------------------- */

int dpumap_client_fd(const struct dpumap_client *client)
{
	return dpumap_requester_fd(client->requester);
}

short dpumap_client_events(const struct dpumap_client *client)
{
	return dpumap_requester_events(client->requester);
}

uint64_t dpumap_client_due(const struct dpumap_client *client)
{
	if (!dpumap_client_events(client))
		return monotonic_ns() + FULL_MS * NSEC_PER_MSEC;
	return (client->pings ? client->awaited_since : client->since) + client->timeout_ns;
}

static doca_error_t connect_step(struct dpumap_client *client, struct dpumap_error *error)
{
	return dpumap_requester_connect(client->requester, error);
}

static doca_error_t say_hello(struct dpumap_client *client, struct dpumap_error *error)
{
	struct dpumap_msg request;

	dpumap_reply_ask_hello(&request, client->version);
	return dpumap_requester_put(client->requester, &request, error);
}

static doca_error_t answer_step(struct dpumap_client *client, struct dpumap_msg *reply,
				struct dpumap_error *error)
{
	doca_error_t result = dpumap_requester_flush(client->requester, error);

	if (result == DOCA_SUCCESS)
		result = dpumap_requester_receive(client->requester, reply, error);
	if (result == DOCA_SUCCESS)
		result = dpumap_requester_check(client->requester, reply, error);
	return result;
}

/* dpumapd of version 1 ends the connection instead of choosing. */
static doca_error_t begin_anew(struct dpumap_client *client, struct dpumap_error *error)
{
	doca_error_t result = dpumap_requester_begin_anew(&client->requester, error);

	if (result != DOCA_SUCCESS)
		return result;
	client->version = DPUMAP_CHANNEL_OLDEST;
	client->stage = CONNECTS;
	return connect_step(client, error);
}

static doca_error_t await_hello(struct dpumap_client *client, struct dpumap_error *error)
{
	struct dpumap_msg reply = {0};
	doca_error_t result = answer_step(client, &reply, error);

	if (result == DOCA_ERROR_UNSUPPORTED_VERSION && client->version > DPUMAP_CHANNEL_OLDEST)
		return begin_anew(client, error);
	if (result != DOCA_SUCCESS)
		return result;
	return dpumap_reply_check_hello(&reply, dpumap_requester_name(client->requester),
					&client->version, error);
}

static doca_error_t watch(struct dpumap_client *client, struct dpumap_error *error)
{
	struct dpumap_msg request;

	if (!client->watches)
		return DOCA_SUCCESS;
	dpumap_msg_init(&request);
	dpumap_msg_set_text(&request, DPUMAP_MSG_OP, dpumap_op_name(DPUMAP_OP_WATCH));
	return dpumap_requester_put(client->requester, &request, error);
}

static doca_error_t await_watch(struct dpumap_client *client, struct dpumap_error *error)
{
	struct dpumap_msg reply = {0};

	return client->watches ? answer_step(client, &reply, error) : DOCA_SUCCESS;
}

doca_error_t dpumap_client_step(struct dpumap_client *client, struct dpumap_error *error)
{
	static doca_error_t (*const steps[])(struct dpumap_client * client,
					     struct dpumap_error * error) = {
		[CONNECTS] = connect_step,    [SAYS_HELLO] = say_hello,
		[AWAITS_HELLO] = await_hello, [WATCHES] = watch,
		[AWAITS_WATCH] = await_watch,
	};

	while (client->stage != IS_CONNECTED) {
		doca_error_t result = steps[client->stage](client, error);

		if (result == DOCA_ERROR_AGAIN &&
		    monotonic_ns() - client->since >= client->timeout_ns)
			return timed_out(client, error);
		if (result != DOCA_SUCCESS)
			return result;
		client->stage++;
		client->since = client->heard_at = monotonic_ns();
	}
	return DOCA_SUCCESS;
}

doca_error_t dpumap_client_finish(struct dpumap_client *client, struct dpumap_error *error)
{
	doca_error_t result;

	while ((result = dpumap_client_step(client, error)) == DOCA_ERROR_AGAIN) {
		result = wait_for(client, client->since + client->timeout_ns, error);
		if (result != DOCA_SUCCESS)
			return result;
	}
	return result;
}

doca_error_t dpumap_client_begin(const struct dpumap_address *address, struct dpumap_tls *tls,
				 const char *server, unsigned int timeout_ms, bool watches,
				 struct dpumap_client **client, struct dpumap_error *error)
{
	struct dpumap_client *c = calloc(1, sizeof(*c));
	doca_error_t result;

	if (!c)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a connection");
	c->timeout_ns = timeout_ms * NSEC_PER_MSEC;
	c->since = monotonic_ns();
	c->watches = watches;
	c->version = DPUMAP_CHANNEL_VERSION;
	result = dpumap_requester_create(address, tls, server, &c->requester, error);
	if (result != DOCA_SUCCESS) {
		free(c);
		return result;
	}
	*client = c;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_client_create(const struct dpumap_address *address, struct dpumap_tls *tls,
				  const char *server, unsigned int timeout_ms,
				  const volatile int *stop, struct dpumap_client **client,
				  struct dpumap_error *error)
{
	doca_error_t result =
		dpumap_client_begin(address, tls, server, timeout_ms, false, client, error);

	if (result != DOCA_SUCCESS)
		return result;
	(*client)->stop = stop;
	result = dpumap_client_finish(*client, error);
	if (result != DOCA_SUCCESS) {
		dpumap_client_destroy(*client);
		*client = NULL;
	}
	return result;
}

uint32_t dpumap_client_version(const struct dpumap_client *client)
{
	return client->version;
}

void dpumap_client_destroy(struct dpumap_client *client)
{
	if (!client)
		return;
	dpumap_requester_destroy(client->requester);
	free(client);
}
