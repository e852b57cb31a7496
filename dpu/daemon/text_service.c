/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/daemon/text_service.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "dpu/base/log.h"
#include "local/passed_fd.h"

#define REQUEST_MAX 8192
#define TIMEOUT_NS  (5 * NSEC_PER_SEC)
#define CONNS_MAX   32

struct text_conn {
	struct watch watch;
	struct text_service *service;
	struct text_conn *next;
	uint64_t since;
	int fd; /* descriptor received with the request; -1: none */
	enum text_outcome outcome;
	struct text_progress progress;
	size_t request_len;
	char request[REQUEST_MAX + 1];
	char *reply; /* NULL: not available yet */
	size_t reply_len;
	size_t sent;
};

struct text_service {
	struct watch watch;
	struct loop *loop;
	struct dpumap_listener *listener;
	const char *end;
	text_service_fn *answer;
	void *context;
	struct text_conn *conns;
	unsigned int num_conns;
	uint64_t turn; /* of the loop, in which the last request was answered */
};

static void close_conn(struct text_conn *conn)
{
	struct text_service *service = conn->service;
	struct text_conn **at = &service->conns;

	while (*at != conn)
		at = &(*at)->next;
	*at = conn->next;
	service->num_conns--;
	loop_remove(service->loop, &conn->watch);
	close(conn->watch.fd);
	if (conn->fd >= 0)
		close(conn->fd);
	free(conn->reply);
	free(conn);
}

static ssize_t receive(struct text_conn *conn)
{
	int fd;
	ssize_t n = dpumap_receive_fd(conn->watch.fd, conn->request + conn->request_len,
				      REQUEST_MAX - conn->request_len, 0, &fd);

	if (n >= 0 && fd >= 0 && conn->fd >= 0)
		close(conn->fd);
	if (n >= 0 && fd >= 0)
		conn->fd = fd;
	return n;
}

static bool make_reply(struct text_conn *conn)
{
	struct text_service *service = conn->service;
	FILE *out = open_memstream(&conn->reply, &conn->reply_len);

	if (!out)
		return false;
	service->turn = loop_number(service->loop);
	conn->since = monotonic_ns();
	conn->sent = 0;
	conn->outcome =
		service->answer(service->context, conn->request, conn->fd, &conn->progress, out);
	if (fclose(out) != 0 || !conn->reply)
		return false;
	if (conn->outcome == TEXT_LATER) {
		free(conn->reply);
		conn->reply = NULL;
	}
	return true;
}

/* False when the connection is to be closed. */
static bool read_request(struct text_conn *conn)
{
	ssize_t n = receive(conn);
	bool is_whole;

	if (n < 0)
		return errno == EAGAIN;
	conn->request_len += (size_t)n;
	conn->request[conn->request_len] = '\0';
	is_whole = n == 0 || strstr(conn->request, conn->service->end);
	if (!is_whole)
		return conn->request_len < REQUEST_MAX;
	return make_reply(conn);
}

static bool write_reply(struct text_conn *conn)
{
	ssize_t n;

	while (conn->sent < conn->reply_len) {
		n = send(conn->watch.fd, conn->reply + conn->sent, conn->reply_len - conn->sent,
			 MSG_NOSIGNAL);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		conn->sent += (size_t)n;
	}
	free(conn->reply);
	conn->reply = NULL;
	return conn->outcome == TEXT_MORE;
}

static uint32_t interest_of(const struct text_conn *conn)
{
	if (conn->outcome == TEXT_LATER)
		return 0;
	return conn->reply || conn->outcome == TEXT_MORE ? EPOLLOUT : EPOLLIN;
}

/* May free the connection. */
static void go_on(struct text_conn *conn, bool goes_on)
{
	struct dpumap_error error = {0};

	if (goes_on && conn->reply)
		goes_on = write_reply(conn);
	if (!goes_on || loop_change(conn->service->loop, &conn->watch, interest_of(conn), &error) !=
				DOCA_SUCCESS)
		close_conn(conn);
}

static void on_conn(struct watch *watch, uint32_t events)
{
	struct text_conn *conn =
		(struct text_conn *)((char *)watch - offsetof(struct text_conn, watch));

	(void)events;
	/* While the answer waits, the loop reports only the end of the connection. */
	if (conn->outcome == TEXT_LATER)
		go_on(conn, false);
	else if (conn->reply)
		go_on(conn, true);
	/* A connection that is not answered in this turn is still ready in the next one. */
	else if (conn->service->turn != loop_number(conn->service->loop))
		go_on(conn, conn->outcome == TEXT_MORE ? make_reply(conn) : read_request(conn));
}

unsigned int text_service_num_waiting(const struct text_service *service)
{
	unsigned int num = 0;

	for (const struct text_conn *conn = service->conns; conn; conn = conn->next)
		num += conn->outcome == TEXT_LATER;
	return num;
}

void text_service_retry(struct text_service *service)
{
	struct text_conn *next;

	for (struct text_conn *conn = service->conns; conn; conn = next) {
		next = conn->next;
		if (conn->outcome != TEXT_LATER)
			continue;
		go_on(conn, make_reply(conn));
	}
}

/* The first one that has not asked yet: connections are made to ask at once. */
static void close_idle(struct text_service *service)
{
	struct text_conn *oldest = NULL;

	for (struct text_conn *conn = service->conns; conn; conn = conn->next)
		if (conn->outcome == TEXT_DONE && !conn->reply)
			oldest = conn;
	if (oldest)
		close_conn(oldest);
}

static void open_conn(struct text_service *service, int fd)
{
	struct dpumap_error error = {0};
	struct text_conn *conn;

	if (service->num_conns >= CONNS_MAX)
		close_idle(service);
	conn = service->num_conns < CONNS_MAX ? calloc(1, sizeof(*conn)) : NULL;
	if (!conn ||
	    loop_add(service->loop, &conn->watch, fd, EPOLLIN, on_conn, &error) != DOCA_SUCCESS) {
		free(conn);
		close(fd);
		return;
	}
	conn->service = service;
	conn->fd = -1;
	conn->since = monotonic_ns();
	conn->next = service->conns;
	service->conns = conn;
	service->num_conns++;
}

static bool is_administrator(const struct dpumap_peer *peer)
{
	return peer->kind != DPUMAP_ADDRESS_UNIX || peer->uid == 0 || peer->uid == geteuid();
}

/* Without free descriptors the listener stays readable: stop polling it until the next tick. */
static void set_accepting(struct text_service *service, bool accepting)
{
	struct dpumap_error ignored;

	loop_change(service->loop, &service->watch, accepting ? EPOLLIN : 0, &ignored);
}

static void on_listener(struct watch *watch, uint32_t events)
{
	struct text_service *service =
		(struct text_service *)((char *)watch - offsetof(struct text_service, watch));
	struct dpumap_error error = {0};
	struct dpumap_peer peer;
	doca_error_t result = DOCA_SUCCESS;
	int fd;

	(void)events;
	for (int i = 0; i < CONNS_MAX; i++) { /* the others in the next turn */
		result = dpumap_listener_accept(service->listener, &fd, &peer, &error);
		if (result == DOCA_ERROR_CONNECTION_RESET)
			continue;
		if (result != DOCA_SUCCESS)
			break;
		if (is_administrator(&peer)) {
			open_conn(service, fd);
		} else {
			log_from(DPUMAP_LINE_WARNING, peer.source,
				 "%s rejected: only root and the user of dpumapd may connect",
				 peer.text);
			close(fd);
		}
	}
	if (result == DOCA_ERROR_FULL) {
		log_from(DPUMAP_LINE_ERROR, "lack of file descriptors", "%s", error.text);
		set_accepting(service, false);
	}
}

doca_error_t text_service_create(struct loop *loop, struct dpumap_listener *listener,
				 const char *end, text_service_fn *answer, void *context,
				 struct text_service **service, struct dpumap_error *error)
{
	struct text_service *e = calloc(1, sizeof(*e));
	doca_error_t result;

	if (!e) {
		dpumap_listener_destroy(listener);
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for the server");
	}
	e->loop = loop;
	e->listener = listener;
	e->end = end;
	e->answer = answer;
	e->context = context;
	result = loop_add(loop, &e->watch, dpumap_listener_fd(listener), EPOLLIN, on_listener,
			  error);
	if (result != DOCA_SUCCESS) {
		text_service_destroy(e);
		return result;
	}
	*service = e;
	return DOCA_SUCCESS;
}

void text_service_destroy(struct text_service *service)
{
	if (!service)
		return;
	while (service->conns)
		close_conn(service->conns);
	loop_remove(service->loop, &service->watch);
	dpumap_listener_destroy(service->listener);
	free(service);
}

void text_service_tick(struct text_service *service)
{
	uint64_t now = monotonic_ns();
	struct text_conn *next;

	for (struct text_conn *conn = service->conns; conn; conn = next) {
		next = conn->next;
		if (conn->outcome != TEXT_LATER && now - conn->since > TIMEOUT_NS)
			close_conn(conn);
	}
	set_accepting(service, true);
}
