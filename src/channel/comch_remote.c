/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "channel/comch_remote.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "channel/address.h"
#include "channel/comch_session.h"
#include "channel/host_config.h"
#include "channel/reply.h"
#include "channel/requester.h"

enum step {
	STEP_IDLE,    /* not connected */
	STEP_CONNECT, /* to dpumapd, the handshake included */
	STEP_HELLO,
	STEP_READY, /* connected, nothing asked */
	STEP_ASK,
	STEP_LEAVE,	/* dpumapd */
	STEP_HANDSHAKE, /* the handshake with the server */
	STEP_OVER,	/* a final error, or done */
};

struct dpumap_comch_remote {
	struct dpumap_comch_place place;
	struct dpumap_host_config config;
	struct dpumap_address address;
	struct dpumap_tls *tls;
	int epoll, timer;
	enum step step;
	uint64_t deadline; /* of the attempt */
	int watched;	   /* in the epoll descriptor, or -1 */
	struct dpumap_requester *requester;
	char identity[DPUMAP_PEER_NAME_MAX];
	struct dpumap_comch_session *session;
	unsigned char key[DPUMAP_COMCH_KEY_LEN];
};

/* --- life ------------------------------------------------------------------------------------- */

static doca_error_t configure(struct dpumap_comch_remote *r, struct dpumap_error *error)
{
	const char *connect;
	doca_error_t result = dpumap_host_config_environment(&connect, error);

	if (result == DOCA_SUCCESS)
		result = dpumap_host_config_load(NULL, &r->config, error);
	if (result != DOCA_SUCCESS)
		return result;
	if (connect) {
		r->config.connect = connect;
		r->config.server = NULL;
	}
	if (!r->config.connect)
		return dpumap_error_set(
			error, DOCA_ERROR_NOT_FOUND,
			"for servers on other machines, name the address of dpumapd "
			"in dpumap.conf, see dpumap(1)");
	result = dpumap_address_parse(r->config.connect, &r->address, error);
	if (result == DOCA_SUCCESS && r->address.kind != DPUMAP_ADDRESS_TLS)
		return dpumap_error_set(
			error, DOCA_ERROR_NOT_FOUND,
			"for servers on other machines, dpumap.conf must connect to "
			"a tls: address, not to %s",
			r->config.connect);
	if (result != DOCA_SUCCESS)
		return result;
	return dpumap_tls_create(&r->config.tls, false, &r->tls, error);
}

/* A socket that was closed is watched no longer, although the next one may have its number. */
static bool watch(struct dpumap_comch_remote *r, int fd, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.fd = fd};

	r->watched = fd;
	return epoll_ctl(r->epoll, EPOLL_CTL_MOD, fd, &event) == 0 ||
	       (errno == ENOENT && epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &event) == 0);
}

static void unwatch(struct dpumap_comch_remote *r)
{
	if (r->watched >= 0)
		epoll_ctl(r->epoll, EPOLL_CTL_DEL, r->watched, NULL);
	r->watched = -1;
}

doca_error_t dpumap_comch_remote_create(const struct dpumap_comch_place *place,
					struct dpumap_comch_remote **remote,
					struct dpumap_error *error)
{
	struct dpumap_comch_remote *r = calloc(1, sizeof(*r));
	struct epoll_event event = {.events = EPOLLIN};
	doca_error_t result;

	if (!r)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for a client");
	r->place = *place;
	r->watched = -1;
	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	r->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (r->epoll < 0 || r->timer < 0 ||
	    epoll_ctl(r->epoll, EPOLL_CTL_ADD, r->timer, &event) != 0)
		result = dpumap_error_errno(error, errno, "cannot create a client of doca_comch");
	else
		result = configure(r, error);
	if (result != DOCA_SUCCESS) {
		dpumap_comch_remote_destroy(r);
		return result;
	}
	*remote = r;
	return DOCA_SUCCESS;
}

/* Back to IDLE; what has been configured stays. */
static void disconnect(struct dpumap_comch_remote *r)
{
	unwatch(r);
	dpumap_requester_destroy(r->requester);
	r->requester = NULL;
	if (r->session)
		dpumap_comch_session_close(r->session);
	r->session = NULL;
	explicit_bzero(r->key, sizeof(r->key));
	r->step = STEP_IDLE;
}

void dpumap_comch_remote_destroy(struct dpumap_comch_remote *remote)
{
	if (!remote)
		return;
	disconnect(remote);
	dpumap_tls_destroy(remote->tls);
	dpumap_host_config_free(&remote->config);
	if (remote->timer >= 0)
		close(remote->timer);
	if (remote->epoll >= 0)
		close(remote->epoll);
	free(remote);
}

int dpumap_comch_remote_fd(const struct dpumap_comch_remote *remote)
{
	return remote->epoll;
}

/* --- the steps; each returns AGAIN until it is done ------------------------------------------- */

static doca_error_t finish_connect(struct dpumap_comch_remote *r, struct dpumap_error *error)
{
	doca_error_t result = dpumap_requester_connect(r->requester, error);
	struct dpumap_msg request;

	if (result == DOCA_SUCCESS)
		result = dpumap_conn_peer_name(dpumap_requester_conn(r->requester), r->identity,
					       error);
	if (result != DOCA_SUCCESS)
		return result;
	dpumap_reply_ask_hello(&request, DPUMAP_CHANNEL_OLDEST);
	return dpumap_requester_put(r->requester, &request, error);
}

static doca_error_t send_request(struct dpumap_comch_remote *r, struct dpumap_error *error)
{
	struct dpumap_msg request;

	dpumap_msg_init(&request);
	dpumap_msg_set_text(&request, DPUMAP_MSG_OP, dpumap_op_name(DPUMAP_OP_COMCH));
	dpumap_msg_set_number(&request, DPUMAP_MSG_CARD, r->place.card);
	dpumap_msg_set_number(&request, DPUMAP_MSG_FUNCTION, r->place.function);
	dpumap_msg_set_bytes(&request, DPUMAP_MSG_SERVER, r->place.name, strlen(r->place.name));
	return dpumap_requester_put(r->requester, &request, error);
}

/* Sends the request, and receives the reply. */
static doca_error_t exchange(struct dpumap_comch_remote *r, struct dpumap_msg *reply,
			     struct dpumap_error *error)
{
	doca_error_t result = dpumap_requester_flush(r->requester, error);

	if (result == DOCA_SUCCESS)
		result = dpumap_requester_receive(r->requester, reply, error);
	if (result == DOCA_SUCCESS)
		result = dpumap_requester_check(r->requester, reply, error);
	return result;
}

static doca_error_t exchange_hello(struct dpumap_comch_remote *r, struct dpumap_error *error)
{
	uint32_t version = DPUMAP_CHANNEL_OLDEST;
	struct dpumap_msg reply = {0};
	doca_error_t result = exchange(r, &reply, error);

	if (result != DOCA_SUCCESS)
		return result;
	return dpumap_reply_check_hello(&reply, dpumap_requester_name(r->requester), &version,
					error);
}

static doca_error_t ask(struct dpumap_comch_remote *r, struct dpumap_error *error)
{
	struct dpumap_msg reply = {0};
	doca_error_t result = exchange(r, &reply, error);

	/* The server is not there yet: the connection to dpumapd can be used again. */
	if (result == DOCA_ERROR_NOT_FOUND)
		r->step = STEP_READY;
	if (result != DOCA_SUCCESS)
		return result;
	if (!dpumap_msg_has(&reply, DPUMAP_MSG_KEY) ||
	    reply.value[DPUMAP_MSG_KEY].len != sizeof(r->key))
		return dpumap_error_set(error, DOCA_ERROR_UNEXPECTED,
					"dpumapd's reply has no key for the server");
	memcpy(r->key, reply.value[DPUMAP_MSG_KEY].data, sizeof(r->key));
	dpumap_requester_drop(r->requester);
	return DOCA_SUCCESS;
}

static doca_error_t leave(struct dpumap_comch_remote *r, struct dpumap_error *error)
{
	int fd;
	doca_error_t result = dpumap_conn_leave(dpumap_requester_conn(r->requester), &fd, error);

	if (result != DOCA_SUCCESS)
		return result;
	unwatch(r);
	result = dpumap_comch_session_create(fd, r->key, false, &r->session, error);
	explicit_bzero(r->key, sizeof(r->key));
	return result;
}

/* --- all of them ------------------------------------------------------------------------------ */

static void set_timer(struct dpumap_comch_remote *r, uint64_t ns)
{
	const struct itimerspec spec = {.it_value = {.tv_sec = (time_t)(ns / NSEC_PER_SEC),
						     .tv_nsec = (long)(ns % NSEC_PER_SEC)}};

	timerfd_settime(r->timer, 0, &spec, NULL);
}

void dpumap_comch_remote_retry(struct dpumap_comch_remote *remote)
{
	uint64_t timeout_s = remote->config.timeout_s;
	uint64_t ns = (timeout_s ? timeout_s : DPUMAP_HOST_TIMEOUT_S) * NSEC_PER_SEC;

	remote->deadline = monotonic_ns() + ns;
	set_timer(remote, ns);
}

static doca_error_t do_step(struct dpumap_comch_remote *r, struct dpumap_error *error)
{
	switch (r->step) {
	case STEP_IDLE:
		return dpumap_requester_create(&r->address, r->tls, r->config.server, &r->requester,
					       error);
	case STEP_CONNECT:
		return finish_connect(r, error);
	case STEP_HELLO:
		return exchange_hello(r, error);
	case STEP_READY:
		return send_request(r, error);
	case STEP_ASK:
		return ask(r, error);
	case STEP_LEAVE:
		return leave(r, error);
	default:
		return dpumap_comch_session_handshake(r->session, error);
	}
}

/* Waits for what the step waits for. */
static bool watch_step(struct dpumap_comch_remote *r)
{
	short wants;

	if (r->session) {
		wants = dpumap_comch_session_wants(r->session);
		return watch(r, dpumap_comch_session_fd(r->session),
			     wants & POLLOUT ? EPOLLOUT : EPOLLIN);
	}
	wants = dpumap_requester_events(r->requester);
	return watch(r, dpumap_requester_fd(r->requester), wants & POLLOUT ? EPOLLOUT : EPOLLIN);
}

/*
 * dpumapd, the server, or their machine may be about to start: the client tries again later. Other
 * errors stay as they are.
 */
static doca_error_t fail(struct dpumap_comch_remote *r, doca_error_t result)
{
	bool is_asked = r->step == STEP_READY; /* dpumapd answered */

	set_timer(r, 0);
	if (!is_asked)
		disconnect(r);
	switch (result) {
	case DOCA_ERROR_NOT_FOUND:
	case DOCA_ERROR_NOT_CONNECTED:
	case DOCA_ERROR_CONNECTION_RESET:
		return DOCA_ERROR_NOT_FOUND;
	default:
		r->step = STEP_OVER;
		return result;
	}
}

doca_error_t dpumap_comch_remote_poll(struct dpumap_comch_remote *remote,
				      struct dpumap_comch_session **session,
				      char identity[DPUMAP_COMCH_IDENTITY_SIZE],
				      struct dpumap_error *error)
{
	doca_error_t result = DOCA_SUCCESS;

	*error = (struct dpumap_error){0};
	while (result == DOCA_SUCCESS && remote->step < STEP_OVER) {
		result = do_step(remote, error);
		if (result == DOCA_SUCCESS)
			remote->step++;
	}
	if (result == DOCA_ERROR_AGAIN && monotonic_ns() >= remote->deadline)
		result = dpumap_error_set(error, DOCA_ERROR_TIME_OUT,
					  "dpumapd at %s:%s or the server behind it did not answer",
					  remote->address.host, remote->address.port);
	if (result == DOCA_ERROR_AGAIN && !watch_step(remote))
		result = dpumap_error_errno(error, errno, "cannot watch a connection");
	if (result == DOCA_ERROR_AGAIN)
		return DOCA_ERROR_IN_PROGRESS;
	if (result != DOCA_SUCCESS)
		return fail(remote, result);
	set_timer(remote, 0);
	unwatch(remote);
	snprintf(identity, DPUMAP_COMCH_IDENTITY_SIZE, "%s", remote->identity);
	*session = remote->session;
	remote->session = NULL;
	return DOCA_SUCCESS;
}
