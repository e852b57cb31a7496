/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "comch/link/dial.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "comch/link/link_priv.h"
#include "log/log.h"

/* Between two attempts, on this machine and on another. */
#define PAUSE_MS	25u
#define REMOTE_PAUSE_MS 100u

struct dpumap_comch_dial {
	struct dpumap_comch_place place;
	struct dpumap_comch_directories directories;
	uint64_t deadline;
	int epoll, timer;
	bool is_waiting; /* for the timer */
	bool is_polling; /* through remote */
	bool no_remote;	 /* the reason is in why */
	const struct dpumap_comch_tls *tls;
	struct dpumap_comch_remote *remote;
	struct dpumap_error why; /* of the last attempt at another machine */
};

static bool watch(const struct dpumap_comch_dial *dial, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(dial->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void set_timer(struct dpumap_comch_dial *dial, uint64_t ms)
{
	const struct itimerspec spec = {.it_value = {.tv_nsec = (long)(ms * NSEC_PER_MSEC)}};

	timerfd_settime(dial->timer, 0, &spec, NULL);
	dial->is_waiting = ms != 0;
}

doca_error_t dpumap_comch_dial_create(const struct dpumap_comch_place *place, unsigned int wait_ms,
				      struct dpumap_comch_dial **dial)
{
	struct dpumap_comch_dial *d = calloc(1, sizeof(*d));

	if (!d)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a client of doca_comch");
	d->place = *place;
	d->deadline = monotonic_ns() + wait_ms * NSEC_PER_MSEC;
	dpumap_comch_directories_find(&d->directories);
	d->epoll = epoll_create1(EPOLL_CLOEXEC);
	d->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (d->epoll < 0 || d->timer < 0 || !watch(d, d->timer)) {
		dpumap_log_line(DPUMAP_LOG_ERROR, DOCA_ERROR_OPERATING_SYSTEM,
				"cannot create a client of doca_comch: %s", strerror(errno));
		dpumap_comch_dial_destroy(d);
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	*dial = d;
	return DOCA_SUCCESS;
}

/* --- on this machine -------------------------------------------------------------------------- */

static doca_error_t make_plain_link(int fd, struct dpumap_comch_link **link)
{
	struct dpumap_comch_link_parts parts = {.fd = fd, .introducer = -1};
	char peer[DPUMAP_COMCH_IDENTITY_SIZE];
	struct ucred server;
	socklen_t len = sizeof(server);
	doca_error_t result;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &server, &len) != 0)
		server.uid = (uid_t)-1;
	snprintf(peer, sizeof(peer), "uid:%u", server.uid);
	parts.peer = peer;
	result = dpumap_comch_link_create(&parts, link);
	if (result != DOCA_SUCCESS)
		close(fd);
	return result;
}

/* NOT_FOUND and AGAIN are not logged. */
static doca_error_t connect_here(struct dpumap_comch_dial *dial, struct dpumap_comch_link **link)
{
	doca_error_t result = DOCA_ERROR_NOT_FOUND;
	struct dpumap_error error = {0};
	int fd;

	for (unsigned int i = 0; i < dial->directories.num && result == DOCA_ERROR_NOT_FOUND; i++)
		result = dpumap_comch_place_connect(&dial->place, dial->directories.path[i],
						    DPUMAP_COMCH_CLIENT, &fd, &error);
	if (result == DOCA_SUCCESS)
		return make_plain_link(fd, link);
	if (result != DOCA_ERROR_NOT_FOUND && result != DOCA_ERROR_AGAIN)
		return dpumap_fail(result, "%s", error.text);
	return result;
}

/* --- on another machine ----------------------------------------------------------------------- */

/* Without a configuration for another machine, the client looks on this one only. */
static doca_error_t start_remote(struct dpumap_comch_dial *dial)
{
	doca_error_t result;

	if (dial->no_remote)
		return DOCA_ERROR_NOT_FOUND;
	dial->tls = dpumap_comch_tls_get(&dial->why);
	result = dial->tls ? dial->tls->remote_create(&dial->place, &dial->remote, &dial->why)
			   : DOCA_ERROR_NOT_FOUND;
	if (result == DOCA_SUCCESS && !watch(dial, dial->tls->remote_fd(dial->remote)))
		return dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM,
				   "cannot watch a client of doca_comch: %s", strerror(errno));
	if (result == DOCA_SUCCESS)
		return DOCA_SUCCESS;
	dial->no_remote = true;
	return result == DOCA_ERROR_NOT_FOUND ? result : dpumap_fail(result, "%s", dial->why.text);
}

static doca_error_t make_tls_link(const struct dpumap_comch_dial *dial,
				  struct dpumap_comch_session *session, const char *peer,
				  struct dpumap_comch_link **link)
{
	const struct dpumap_comch_link_parts parts = {
		.introducer = -1, .tls = dial->tls, .session = session, .peer = peer};
	doca_error_t result = dpumap_comch_link_create(&parts, link);

	if (result != DOCA_SUCCESS)
		dial->tls->close(session);
	return result;
}

static doca_error_t connect_elsewhere(struct dpumap_comch_dial *dial,
				      struct dpumap_comch_link **link)
{
	char peer[DPUMAP_COMCH_IDENTITY_SIZE];
	struct dpumap_comch_session *session;
	doca_error_t result = DOCA_SUCCESS;

	if (!dial->remote)
		result = start_remote(dial);
	if (result != DOCA_SUCCESS)
		return result;
	if (!dial->is_polling)
		dial->tls->remote_retry(dial->remote);
	dial->is_polling = true;
	result = dial->tls->remote_poll(dial->remote, &session, peer, &dial->why);
	if (result == DOCA_SUCCESS)
		return make_tls_link(dial, session, peer, link);
	dial->is_polling = result == DOCA_ERROR_IN_PROGRESS;
	if (result == DOCA_ERROR_IN_PROGRESS || result == DOCA_ERROR_NOT_FOUND)
		return result;
	return dpumap_fail(result, "%s", dial->why.text);
}

/* --- both ------------------------------------------------------------------------------------- */

static doca_error_t give_up(const struct dpumap_comch_dial *dial)
{
	char place[DPUMAP_COMCH_PLACE_TEXT_SIZE];

	return dpumap_fail(
		DOCA_ERROR_NOT_FOUND, "no server of doca_comch called %s: none in %s%s%s; %s",
		dpumap_comch_place_text(&dial->place, place), dial->directories.path[0],
		dial->directories.num > 1 ? " or " : "",
		dial->directories.num > 1 ? dial->directories.path[1] : "", dial->why.text);
}

static doca_error_t try_once(struct dpumap_comch_dial *dial, struct dpumap_comch_link **link)
{
	doca_error_t result = DOCA_ERROR_NOT_FOUND;

	if (!dial->is_polling)
		result = connect_here(dial, link);
	if (result == DOCA_ERROR_NOT_FOUND)
		result = connect_elsewhere(dial, link);
	return result;
}

doca_error_t dpumap_comch_dial_poll(struct dpumap_comch_dial *dial, struct dpumap_comch_link **link)
{
	doca_error_t result;
	uint64_t expired;

	if (dial->is_waiting) {
		if (read(dial->timer, &expired, sizeof(expired)) < 0)
			return DOCA_ERROR_IN_PROGRESS;
		dial->is_waiting = false;
	}
	result = try_once(dial, link);
	if (result != DOCA_ERROR_NOT_FOUND && result != DOCA_ERROR_AGAIN)
		return result;
	if (monotonic_ns() >= dial->deadline)
		return give_up(dial);
	set_timer(dial, dial->remote ? REMOTE_PAUSE_MS : PAUSE_MS);
	return DOCA_ERROR_IN_PROGRESS;
}

int dpumap_comch_dial_fd(const struct dpumap_comch_dial *dial)
{
	return dial->epoll;
}

void dpumap_comch_dial_destroy(struct dpumap_comch_dial *dial)
{
	if (!dial)
		return;
	if (dial->epoll >= 0)
		close(dial->epoll);
	if (dial->timer >= 0)
		close(dial->timer);
	if (dial->remote)
		dial->tls->remote_destroy(dial->remote);
	free(dial);
}
