/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "comch/link/link_priv.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "log/log.h"

/* How often, and how many times in a row, a peer's machine may leave bytes unanswered. */
#define ANSWER_TIME    NSEC_PER_SEC
#define UNANSWERED_MAX 5u

struct dpumap_comch_link {
	int epoll;
	int fd;		   /* of the socket */
	int introducer;	   /* dpumapd's connection, which withdraws the peer's right; or -1 */
	int timer;	   /* of check_at; -1 on one machine */
	uint64_t check_at; /* whether the peer's machine answers; 0: no bytes wait for it */
	unsigned int unanswered;
	bool want_write;
	bool is_withdrawn;
	uint32_t events; /* that epoll waits for */
	const struct dpumap_comch_tls *tls;
	struct dpumap_comch_session *session; /* NULL: plain */
	char peer[DPUMAP_COMCH_IDENTITY_SIZE];
};

static doca_error_t fail(const struct dpumap_comch_link *link, const struct dpumap_error *error)
{
	enum dpumap_log_level level =
		error->code == DOCA_ERROR_CONNECTION_RESET ? DPUMAP_LOG_INFO : DPUMAP_LOG_ERROR;

	dpumap_log_from(link->peer, level, error->code, "connection of doca_comch with %s: %s",
			link->peer, error->text);
	return error->code;
}

static void update_events(struct dpumap_comch_link *link)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = link->fd};

	if (link->want_write || (link->session && (link->tls->wants(link->session) & POLLOUT)))
		event.events |= EPOLLOUT;
	if (event.events == link->events)
		return;
	/* Both descriptors are the link's own, so this cannot fail. */
	epoll_ctl(link->epoll, EPOLL_CTL_MOD, link->fd, &event);
	link->events = event.events;
}

static bool watch(const struct dpumap_comch_link *link, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return fd < 0 || epoll_ctl(link->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool open_descriptors(struct dpumap_comch_link *link,
			     const struct dpumap_comch_link_parts *parts)
{
	link->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (link->epoll < 0 || !watch(link, link->fd) || !watch(link, parts->introducer))
		return false;
	if (!parts->session)
		return true;
	link->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return link->timer >= 0 && watch(link, link->timer);
}

static void close_descriptors(const struct dpumap_comch_link *link)
{
	if (link->epoll >= 0)
		close(link->epoll);
	if (link->timer >= 0)
		close(link->timer);
}

doca_error_t dpumap_comch_link_create(const struct dpumap_comch_link_parts *parts,
				      struct dpumap_comch_link **link)
{
	struct dpumap_comch_link *l = calloc(1, sizeof(*l));

	if (!l)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for a connection");
	l->fd = parts->session ? parts->tls->fd(parts->session) : parts->fd;
	l->events = EPOLLIN;
	l->timer = -1;
	if (!open_descriptors(l, parts)) {
		dpumap_log_line(DPUMAP_LOG_ERROR, DOCA_ERROR_OPERATING_SYSTEM,
				"cannot watch a connection: %s", strerror(errno));
		close_descriptors(l);
		free(l);
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	l->introducer = parts->introducer;
	l->tls = parts->tls;
	l->session = parts->session;
	snprintf(l->peer, sizeof(l->peer), "%s", parts->peer);
	*link = l;
	return DOCA_SUCCESS;
}

static void drop_introducer(struct dpumap_comch_link *link)
{
	close(link->introducer);
	link->introducer = -1;
}

/* dpumapd may end: the connection stays. */
static doca_error_t check_introducer(struct dpumap_comch_link *link, struct dpumap_error *error)
{
	char byte;
	ssize_t n;

	if (link->introducer >= 0) {
		n = recv(link->introducer, &byte, 1, MSG_DONTWAIT);
		if (n == 1 && byte == DPUMAP_COMCH_WITHDRAW)
			link->is_withdrawn = true;
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			drop_introducer(link);
	}
	if (!link->is_withdrawn)
		return DOCA_SUCCESS;
	return dpumap_error_set(error, DOCA_ERROR_CONNECTION_RESET,
				"dpumapd withdrew the peer's right to connect");
}

/* now 0: never. */
static void set_check(struct dpumap_comch_link *link, uint64_t now)
{
	uint64_t at = now ? now + ANSWER_TIME : 0;
	const struct itimerspec spec = {.it_value = {
						.tv_sec = (time_t)(at / NSEC_PER_SEC),
						.tv_nsec = (long)(at % NSEC_PER_SEC),
					}};

	timerfd_settime(link->timer, TFD_TIMER_ABSTIME, &spec, NULL);
	link->check_at = at;
}

/* Are there bytes that the peer's machine has been asked for in vain? */
static bool is_unanswered(int fd)
{
	struct tcp_info info = {0};
	socklen_t len = sizeof(info);

	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
	       (info.tcpi_retransmits || info.tcpi_probes);
}

/*
 * While bytes wait for the peer, TCP sends no keepalive probes, and retransmits for a quarter of an
 * hour. A peer whose program does not read answers, without room, for as long as it likes.
 */
static doca_error_t check_answers(struct dpumap_comch_link *link, struct dpumap_error *error)
{
	uint64_t now;
	int waiting;

	if (!link->check_at)
		return DOCA_SUCCESS;
	now = monotonic_ns();
	if (now < link->check_at)
		return DOCA_SUCCESS;
	if (ioctl(link->fd, SIOCOUTQ, &waiting) != 0 || !waiting) {
		link->unanswered = 0;
		set_check(link, 0);
		return DOCA_SUCCESS;
	}
	link->unanswered = is_unanswered(link->fd) ? link->unanswered + 1 : 0;
	set_check(link, now);
	if (link->unanswered < UNANSWERED_MAX)
		return DOCA_SUCCESS;
	return dpumap_error_set(error, DOCA_ERROR_CONNECTION_RESET,
				"the peer's machine does not answer");
}

static doca_error_t plain_result(ssize_t n, const char *what, struct dpumap_error *error)
{
	if (n >= 0)
		return DOCA_SUCCESS;
	if (errno == EAGAIN)
		return DOCA_ERROR_AGAIN;
	return dpumap_error_errno(error, errno, "cannot %s", what);
}

static doca_error_t plain_read(int fd, void *buf, size_t len, size_t *done,
			       struct dpumap_error *error)
{
	ssize_t n;

	do
		n = recv(fd, buf, len, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return dpumap_error_set(error, DOCA_ERROR_CONNECTION_RESET,
					"the peer closed the connection");
	*done = n > 0 ? (size_t)n : *done;
	return plain_result(n, "receive", error);
}

static doca_error_t plain_write(int fd, const void *buf, size_t len, size_t *done,
				struct dpumap_error *error)
{
	ssize_t n;

	do
		n = send(fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	*done = n > 0 ? (size_t)n : *done;
	return plain_result(n, "send", error);
}

doca_error_t dpumap_comch_link_read(struct dpumap_comch_link *link, void *buf, size_t len,
				    size_t *done)
{
	struct dpumap_error error = {0};
	doca_error_t result;

	if (link->session) {
		result = check_introducer(link, &error);
		if (result == DOCA_SUCCESS)
			result = check_answers(link, &error);
		if (result == DOCA_SUCCESS)
			result = link->tls->read(link->session, buf, len, done, &error);
		update_events(link);
	} else {
		result = plain_read(link->fd, buf, len, done, &error);
	}
	if (result == DOCA_SUCCESS || result == DOCA_ERROR_AGAIN)
		return result;
	return fail(link, &error);
}

doca_error_t dpumap_comch_link_write(struct dpumap_comch_link *link, const void *buf, size_t len,
				     size_t *done)
{
	struct dpumap_error error = {0};
	doca_error_t result;

	if (link->session) {
		result = link->tls->write(link->session, buf, len, done, &error);
		update_events(link);
		if (!link->check_at)
			set_check(link, monotonic_ns());
	} else {
		result = plain_write(link->fd, buf, len, done, &error);
	}
	if (result == DOCA_SUCCESS || result == DOCA_ERROR_AGAIN)
		return result;
	return fail(link, &error);
}

bool dpumap_comch_link_has_more(const struct dpumap_comch_link *link)
{
	return link->session && link->tls->has_more(link->session);
}

int dpumap_comch_link_fd(const struct dpumap_comch_link *link)
{
	return link->epoll;
}

void dpumap_comch_link_want_write(struct dpumap_comch_link *link, bool want)
{
	if (want == link->want_write)
		return;
	link->want_write = want;
	update_events(link);
}

void dpumap_comch_link_shutdown(struct dpumap_comch_link *link)
{
	if (link->session)
		link->tls->shutdown(link->session);
	shutdown(link->fd, SHUT_WR);
}

void dpumap_comch_link_close(struct dpumap_comch_link *link)
{
	if (!link)
		return;
	close_descriptors(link);
	if (link->introducer >= 0)
		drop_introducer(link);
	if (link->session)
		link->tls->close(link->session);
	else
		close(link->fd);
	free(link);
}

const char *dpumap_comch_link_peer(const struct dpumap_comch_link *link)
{
	return link->peer;
}
