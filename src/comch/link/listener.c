/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Everything that listens or whose checks are not done is in one epoll descriptor. Its number and
 * its time are bounded. Peers that may not connect are closed when they are accepted, so that they
 * never count.
 */
#include "comch/link/listener.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "comch/link/link_priv.h"
#include "local/passed_fd.h"
#include "local/socket_file.h"
#include "log/log.h"

#define PENDING_MAX    64u
#define PENDING_TIME   (30 * NSEC_PER_SEC) /* a handshake on a busy machine may take some seconds */
#define EXHAUSTED_TIME (100 * NSEC_PER_MSEC)
#define ACCEPT_MAX     16 /* in one call, so that a flood of peers does not hold it */

/* A client, or dpumapd with an introduction, that has not said everything. */
struct pending {
	int fd;
	int passed; /* the introduced client's socket, or -1 */
	uint64_t deadline;
	uid_t uid;
	struct dpumap_comch_rights rights; /* of this user */
	const struct dpumap_comch_tls *tls;
	struct dpumap_comch_session *session; /* the handshake with an introduced client */
	uint32_t events;		      /* that epoll waits for on the session */
	size_t used;
	union {
		struct dpumap_comch_preamble preamble;
		unsigned char bytes[sizeof(struct dpumap_comch_preamble) +
				    sizeof(struct dpumap_comch_introduction)];
	} said;
};

struct dpumap_comch_listener {
	struct dpumap_comch_place place;
	char text[DPUMAP_COMCH_PLACE_TEXT_SIZE];
	struct dpumap_socket_file file;
	int fd, epoll, timer;
	bool accepts;	 /* epoll waits for the listening socket */
	uint64_t resume; /* when it accepts again after a lack of descriptors; 0: now */
	uint64_t timer_at;
	struct pending *pending[PENDING_MAX];
	unsigned int num_pending;
};

static bool control(const struct dpumap_comch_listener *l, int op, int fd, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.fd = fd};

	return epoll_ctl(l->epoll, op, fd, &event) == 0;
}

/* --- life ------------------------------------------------------------------------------------- */

static doca_error_t open_descriptors(struct dpumap_comch_listener *l)
{
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	l->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (l->epoll < 0 || l->timer < 0 || !control(l, EPOLL_CTL_ADD, l->timer, EPOLLIN))
		return dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM, "cannot create server %s: %s",
				   l->text, strerror(errno));
	return DOCA_SUCCESS;
}

static doca_error_t bind_place(struct dpumap_comch_listener *l)
{
	struct dpumap_comch_directories directories;
	struct dpumap_error error = {0};
	struct sockaddr_un address;
	doca_error_t result;

	dpumap_comch_directories_find(&directories);
	result = dpumap_comch_directory_make(directories.path[0], &error);
	if (result == DOCA_SUCCESS)
		dpumap_comch_directory_sweep(directories.path[0]);
	if (result == DOCA_SUCCESS)
		result = dpumap_comch_place_address(&l->place, directories.path[0], &address,
						    &error);
	if (result == DOCA_SUCCESS)
		result = dpumap_socket_file_listen(&address, true, &l->fd, &l->file, &error);
	if (result == DOCA_ERROR_AGAIN || result == DOCA_ERROR_ALREADY_EXIST)
		result = DOCA_ERROR_IN_USE;
	if (result != DOCA_SUCCESS)
		return dpumap_fail(result, "cannot start server %s: %s", l->text, error.text);
	return DOCA_SUCCESS;
}

doca_error_t dpumap_comch_listener_create(const struct dpumap_comch_place *place,
					  struct dpumap_comch_listener **listener)
{
	struct dpumap_comch_listener *l = calloc(1, sizeof(*l));
	doca_error_t result;

	if (!l)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a server of doca_comch");
	l->fd = l->epoll = l->timer = -1;
	l->place = *place;
	dpumap_comch_place_text(place, l->text);
	result = open_descriptors(l);
	if (result == DOCA_SUCCESS)
		result = bind_place(l);
	if (result == DOCA_SUCCESS && !control(l, EPOLL_CTL_ADD, l->fd, EPOLLIN))
		result = dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM, "cannot watch server %s: %s",
				     l->text, strerror(errno));
	if (result != DOCA_SUCCESS) {
		dpumap_comch_listener_destroy(l);
		return result;
	}
	l->accepts = true;
	*listener = l;
	return DOCA_SUCCESS;
}

static void destroy_pending(struct pending *p)
{
	if (p->session)
		p->tls->close(p->session);
	if (p->passed >= 0)
		close(p->passed);
	if (p->fd >= 0)
		close(p->fd);
	explicit_bzero(p, sizeof(*p));
	free(p);
}

void dpumap_comch_listener_destroy(struct dpumap_comch_listener *listener)
{
	if (!listener)
		return;
	for (unsigned int i = 0; i < listener->num_pending; i++)
		destroy_pending(listener->pending[i]);
	if (listener->fd >= 0) {
		dpumap_socket_file_remove(&listener->file);
		close(listener->fd);
	}
	if (listener->timer >= 0)
		close(listener->timer);
	if (listener->epoll >= 0)
		close(listener->epoll);
	free(listener);
}

int dpumap_comch_listener_fd(const struct dpumap_comch_listener *listener)
{
	return listener->epoll;
}

/* --- refusals --------------------------------------------------------------------------------- */

static void refuse(const struct dpumap_comch_listener *l, const struct pending *p,
		   const struct dpumap_error *why)
{
	/* A second server tries whether this one lives. */
	enum dpumap_log_level level =
		why->code == DOCA_ERROR_CONNECTION_RESET ? DPUMAP_LOG_INFO : DPUMAP_LOG_WARNING;

	char source[DPUMAP_COMCH_IDENTITY_SIZE];

	snprintf(source, sizeof(source), "uid:%u", p->uid);
	dpumap_log_from(source, level, why->code, "server %s refused a peer of user %u: %s",
			l->text, p->uid, why->text);
}

/* Root and the own user may do everything, other users what the configuration says. */
static doca_error_t check_user(struct pending *p, struct dpumap_error *error)
{
	p->rights = (struct dpumap_comch_rights){.connect = true, .introduce = true};
	if (p->uid == 0 || p->uid == geteuid())
		return DOCA_SUCCESS;
	p->tls = dpumap_comch_tls_get(error);
	return p->tls ? p->tls->check_user(p->uid, &p->rights, error) : error->code;
}

/* It has one of the rights; does it use the other one? */
static doca_error_t check_beginning(const struct pending *p, struct dpumap_error *error)
{
	bool is_client = p->said.preamble.begins == DPUMAP_COMCH_CLIENT;

	if (is_client ? p->rights.connect : p->rights.introduce)
		return DOCA_SUCCESS;
	return dpumap_error_set(error, DOCA_ERROR_NOT_PERMITTED,
				"it may %s, but it is not one of comch.%s in dpumap.conf",
				is_client ? "introduce clients" : "connect",
				is_client ? "users" : "introducers");
}

static doca_error_t identify(struct pending *p, struct dpumap_error *error)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(p->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
		return dpumap_error_errno(error, errno, "cannot identify a peer");
	p->uid = peer.uid;
	return check_user(p, error);
}

/* --- what a peer says ------------------------------------------------------------------------- */

/* Receives up to len bytes in all, and the descriptor that may come with them. */
static doca_error_t receive(struct pending *p, size_t len, struct dpumap_error *error)
{
	ssize_t n;
	int fd;

	if (p->used == len)
		return DOCA_SUCCESS;
	n = dpumap_receive_fd(p->fd, p->said.bytes + p->used, len - p->used, MSG_DONTWAIT, &fd);
	if (n < 0 && errno == EAGAIN)
		return DOCA_ERROR_AGAIN;
	if (n < 0)
		return dpumap_error_errno(error, errno, "cannot receive");
	if (fd >= 0 && p->passed >= 0)
		close(p->passed);
	if (fd >= 0)
		p->passed = fd;
	if (n == 0)
		return dpumap_error_set(error, DOCA_ERROR_CONNECTION_RESET, "it left");
	p->used += (size_t)n;
	return p->used == len ? DOCA_SUCCESS : DOCA_ERROR_AGAIN;
}

static doca_error_t make_plain_link(const struct dpumap_comch_listener *l, struct pending *p,
				    struct dpumap_comch_link **link)
{
	char peer[DPUMAP_COMCH_IDENTITY_SIZE];
	const struct dpumap_comch_link_parts parts = {.fd = p->fd, .introducer = -1, .peer = peer};
	doca_error_t result;

	snprintf(peer, sizeof(peer), "uid:%u", p->uid);
	control(l, EPOLL_CTL_DEL, p->fd, 0);
	result = dpumap_comch_link_create(&parts, link);
	if (result == DOCA_SUCCESS)
		p->fd = -1;
	return result;
}

static const struct dpumap_comch_introduction *introduction(const struct pending *p)
{
	return (const void *)(p->said.bytes + sizeof(p->said.preamble));
}

/* A user of this machine needs no introduction. */
static bool is_identity(const char identity[static DPUMAP_COMCH_IDENTITY_SIZE])
{
	return memchr(identity, '\0', DPUMAP_COMCH_IDENTITY_SIZE) &&
	       (strncmp(identity, "cert:", 5) == 0 || strncmp(identity, "psk:", 4) == 0);
}

/* Begins the handshake with the client that dpumapd introduced. */
static doca_error_t begin_introduction(struct dpumap_comch_listener *l, struct pending *p,
				       struct dpumap_error *error)
{
	doca_error_t result;
	int fd = p->passed;

	if (fd < 0 || !is_identity(introduction(p)->identity))
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"it introduced a client without connection or identity");
	p->tls = dpumap_comch_tls_get(error);
	if (!p->tls)
		return error->code;
	p->passed = -1;
	result = p->tls->accept(fd, introduction(p)->key, &p->session, error);
	explicit_bzero(p->said.bytes + sizeof(p->said.preamble), DPUMAP_COMCH_KEY_LEN);
	if (result != DOCA_SUCCESS)
		return result;
	p->events = EPOLLIN;
	if (!control(l, EPOLL_CTL_ADD, p->tls->fd(p->session), p->events))
		return dpumap_error_errno(error, errno, "cannot watch an introduced client");
	return DOCA_SUCCESS;
}

static doca_error_t make_tls_link(const struct dpumap_comch_listener *l, struct pending *p,
				  struct dpumap_comch_link **link)
{
	const struct dpumap_comch_link_parts parts = {.introducer = p->fd,
						      .tls = p->tls,
						      .session = p->session,
						      .peer = introduction(p)->identity};
	doca_error_t result;

	control(l, EPOLL_CTL_DEL, p->fd, 0);
	control(l, EPOLL_CTL_DEL, p->tls->fd(p->session), 0);
	result = dpumap_comch_link_create(&parts, link);
	if (result == DOCA_SUCCESS) {
		p->fd = -1;
		p->session = NULL;
	}
	return result;
}

/* While the handshake runs: has dpumapd withdrawn the introduction? It may end. */
static doca_error_t check_introducer(const struct dpumap_comch_listener *l, struct pending *p,
				     struct dpumap_error *error)
{
	char byte;
	ssize_t n = recv(p->fd, &byte, 1, MSG_DONTWAIT);

	if (n > 0)
		return dpumap_error_set(error, DOCA_ERROR_NOT_PERMITTED,
					"dpumapd withdrew its introduction");
	if (n == 0)
		control(l, EPOLL_CTL_DEL, p->fd, 0);
	return DOCA_SUCCESS;
}

static doca_error_t handshake(const struct dpumap_comch_listener *l, struct pending *p,
			      struct dpumap_comch_link **link, struct dpumap_error *error)
{
	doca_error_t result = check_introducer(l, p, error);
	uint32_t events;

	if (result == DOCA_SUCCESS)
		result = p->tls->handshake(p->session, error);
	if (result == DOCA_SUCCESS)
		return make_tls_link(l, p, link);
	events = p->tls->wants(p->session) & POLLOUT ? EPOLLOUT : EPOLLIN;
	if (result == DOCA_ERROR_AGAIN && events != p->events &&
	    control(l, EPOLL_CTL_MOD, p->tls->fd(p->session), events))
		p->events = events;
	return result;
}

/* AGAIN, SUCCESS with a link, or why the peer is refused; not set: it was logged. */
static doca_error_t advance(struct dpumap_comch_listener *l, struct pending *p,
			    struct dpumap_comch_link **link, struct dpumap_error *error)
{
	doca_error_t result;

	if (p->session)
		return handshake(l, p, link, error);
	if (p->used < sizeof(p->said.preamble)) {
		result = receive(p, sizeof(p->said.preamble), error);
		if (result == DOCA_SUCCESS)
			result = dpumap_comch_preamble_check(&p->said.preamble, &l->place, error);
		if (result == DOCA_SUCCESS)
			result = check_beginning(p, error);
		if (result != DOCA_SUCCESS)
			return result;
	}
	if (p->said.preamble.begins == DPUMAP_COMCH_CLIENT)
		return make_plain_link(l, p, link);
	result = receive(p, sizeof(p->said), error);
	if (result == DOCA_SUCCESS)
		result = begin_introduction(l, p, error);
	return result == DOCA_SUCCESS ? handshake(l, p, link, error) : result;
}

static void remove_pending(struct dpumap_comch_listener *l, unsigned int i)
{
	destroy_pending(l->pending[i]);
	l->pending[i] = l->pending[--l->num_pending];
}

/* A peer that says nothing makes room for others. */
static void remove_oldest(struct dpumap_comch_listener *l)
{
	struct dpumap_error error = {0};
	unsigned int oldest = 0;

	for (unsigned int i = 1; i < l->num_pending; i++)
		if (l->pending[i]->deadline < l->pending[oldest]->deadline)
			oldest = i;
	dpumap_error_set(&error, DOCA_ERROR_FULL, "it did not say enough while %u others connected",
			 PENDING_MAX);
	refuse(l, l->pending[oldest], &error);
	remove_pending(l, oldest);
}

/* AGAIN: no peer is done. */
static doca_error_t advance_all(struct dpumap_comch_listener *l, uint64_t now,
				struct dpumap_comch_link **link)
{
	unsigned int i = 0;

	while (i < l->num_pending) {
		struct pending *p = l->pending[i];
		struct dpumap_error error = {0};
		doca_error_t result = advance(l, p, link, &error);

		if (result == DOCA_ERROR_AGAIN && now < p->deadline) {
			i++;
			continue;
		}
		if (result == DOCA_ERROR_AGAIN)
			dpumap_error_set(&error, DOCA_ERROR_TIME_OUT,
					 "it did not say enough in time");
		if (result != DOCA_SUCCESS && error.code != DOCA_SUCCESS)
			refuse(l, p, &error);
		remove_pending(l, i);
		if (result == DOCA_SUCCESS)
			return result;
	}
	return DOCA_ERROR_AGAIN;
}

/* --- accepting -------------------------------------------------------------------------------- */

static void set_timer(struct dpumap_comch_listener *l)
{
	uint64_t at = l->resume;
	struct itimerspec spec = {0};

	for (unsigned int i = 0; i < l->num_pending; i++)
		if (!at || l->pending[i]->deadline < at)
			at = l->pending[i]->deadline;
	if (at == l->timer_at)
		return;
	spec.it_value.tv_sec = (time_t)(at / NSEC_PER_SEC);
	spec.it_value.tv_nsec = (long)(at % NSEC_PER_SEC);
	timerfd_settime(l->timer, TFD_TIMER_ABSTIME, &spec, NULL);
	l->timer_at = at;
}

static void set_accepting(struct dpumap_comch_listener *l)
{
	bool accepts = !l->resume;

	if (accepts != l->accepts && control(l, EPOLL_CTL_MOD, l->fd, accepts ? EPOLLIN : 0))
		l->accepts = accepts;
}

static doca_error_t add_pending(struct dpumap_comch_listener *l, int fd, uint64_t now)
{
	struct pending *p = calloc(1, sizeof(*p));
	struct dpumap_error error = {0};

	if (!p) {
		close(fd);
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "server %s has no memory for a client",
				   l->text);
	}
	p->fd = fd;
	p->passed = -1;
	p->deadline = now + PENDING_TIME;
	if (identify(p, &error) != DOCA_SUCCESS ||
	    (!control(l, EPOLL_CTL_ADD, fd, EPOLLIN) &&
	     dpumap_error_errno(&error, errno, "cannot watch it") != DOCA_SUCCESS)) {
		refuse(l, p, &error);
		destroy_pending(p);
		return DOCA_SUCCESS;
	}
	if (l->num_pending == PENDING_MAX)
		remove_oldest(l);
	l->pending[l->num_pending++] = p;
	return DOCA_SUCCESS;
}

static bool is_exhausted(int err)
{
	return err == EMFILE || err == ENFILE || err == ENOBUFS || err == ENOMEM;
}

static doca_error_t accept_some(struct dpumap_comch_listener *l, uint64_t now)
{
	doca_error_t result = DOCA_SUCCESS;
	int fd;

	for (int i = 0; i < ACCEPT_MAX && result == DOCA_SUCCESS; i++) {
		fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd >= 0) {
			result = add_pending(l, fd, now);
			continue;
		}
		if (!is_exhausted(errno))
			break;
		/* The client waits in the queue of the socket. */
		l->resume = now + EXHAUSTED_TIME;
		result = DOCA_ERROR_OPERATING_SYSTEM;
		dpumap_log_from(l->text, DPUMAP_LOG_ERROR, result,
				"server %s cannot accept a client: %s (see ulimit -n)", l->text,
				strerror(errno));
	}
	return result;
}

static doca_error_t next(struct dpumap_comch_listener *l, struct dpumap_comch_link **link)
{
	uint64_t now = monotonic_ns();
	doca_error_t result = advance_all(l, now, link);

	dpumap_log_report();
	if (result != DOCA_ERROR_AGAIN)
		return result;
	if (l->resume && now < l->resume)
		return DOCA_ERROR_AGAIN;
	l->resume = 0;
	result = accept_some(l, now);
	return result == DOCA_SUCCESS ? advance_all(l, now, link) : result;
}

doca_error_t dpumap_comch_listener_next(struct dpumap_comch_listener *listener,
					struct dpumap_comch_link **link)
{
	doca_error_t result = next(listener, link);

	set_accepting(listener);
	set_timer(listener);
	return result;
}
