/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "exchange.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "say.h"

#define QUESTION_MAX 8192
#define PATIENCE_NS  (5 * DPUMAP_NSEC_PER_SEC)
#define TALKS_MAX    32

struct talk {
	struct watch watch;
	struct exchange *exchange;
	struct talk *next;
	uint64_t since;
	int passed; /* descriptor that came along; -1: none */
	size_t asked;
	char question[QUESTION_MAX + 1];
	char *answer; /* NULL: not there yet */
	size_t len;
	size_t sent;
};

struct exchange {
	struct watch watch;
	struct loop *loop;
	struct dpumap_listener *listener;
	const char *end;
	answer_fn *answer;
	void *context;
	struct talk *talks;
	unsigned int num_talks;
};

static void end_talk(struct talk *talk)
{
	struct exchange *exchange = talk->exchange;
	struct talk **at = &exchange->talks;

	while (*at != talk)
		at = &(*at)->next;
	*at = talk->next;
	exchange->num_talks--;
	loop_remove(exchange->loop, &talk->watch);
	close(talk->watch.fd);
	if (talk->passed >= 0)
		close(talk->passed);
	free(talk->answer);
	free(talk);
}

/* One descriptor is kept, others are closed. */
static void keep_descriptor(struct talk *talk, struct msghdr *msg)
{
	int fds[16];

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		size_t num = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		memcpy(fds, CMSG_DATA(c), num * sizeof(int));
		for (size_t i = 0; i < num; i++) {
			if (talk->passed < 0)
				talk->passed = fds[i];
			else
				close(fds[i]);
		}
	}
}

static ssize_t receive(struct talk *talk)
{
	char control[CMSG_SPACE(16 * sizeof(int))];
	struct iovec iov = {.iov_base = talk->question + talk->asked,
			    .iov_len = QUESTION_MAX - talk->asked};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(talk->watch.fd, &msg, MSG_CMSG_CLOEXEC);

	if (n >= 0)
		keep_descriptor(talk, &msg);
	return n;
}

static bool make_answer(struct talk *talk)
{
	FILE *out = open_memstream(&talk->answer, &talk->len);

	if (!out)
		return false;
	talk->exchange->answer(talk->exchange->context, talk->question, talk->passed, out);
	return fclose(out) == 0 && talk->answer;
}

/* False when the talk is over. */
static bool hear(struct talk *talk)
{
	ssize_t n = receive(talk);
	bool is_whole;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	talk->asked += (size_t)n;
	talk->question[talk->asked] = '\0';
	is_whole = n == 0 || strstr(talk->question, talk->exchange->end);
	if (!is_whole)
		return talk->asked < QUESTION_MAX;
	return make_answer(talk);
}

static bool speak(struct talk *talk)
{
	ssize_t n;

	while (talk->sent < talk->len) {
		n = send(talk->watch.fd, talk->answer + talk->sent, talk->len - talk->sent,
			 MSG_NOSIGNAL);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		talk->sent += (size_t)n;
	}
	return false;
}

static void on_talk(struct watch *watch, uint32_t events)
{
	struct talk *talk = (struct talk *)((char *)watch - offsetof(struct talk, watch));
	struct dpumap_fault fault = {0};
	bool goes_on = true;

	(void)events;
	if (!talk->answer)
		goes_on = hear(talk);
	if (goes_on && talk->answer)
		goes_on = speak(talk);
	if (!goes_on || loop_change(talk->exchange->loop, watch, talk->answer ? EPOLLOUT : EPOLLIN,
				    &fault) != DOCA_SUCCESS)
		end_talk(talk);
}

static void begin_talk(struct exchange *exchange, int fd)
{
	struct talk *talk = exchange->num_talks < TALKS_MAX ? calloc(1, sizeof(*talk)) : NULL;
	struct dpumap_fault fault = {0};

	if (!talk ||
	    loop_add(exchange->loop, &talk->watch, fd, EPOLLIN, on_talk, &fault) != DOCA_SUCCESS) {
		free(talk);
		close(fd);
		return;
	}
	talk->exchange = exchange;
	talk->passed = -1;
	talk->since = dpumap_clock_ns();
	talk->next = exchange->talks;
	exchange->talks = talk;
	exchange->num_talks++;
}

static bool may_ask(const struct dpumap_peer *peer)
{
	return peer->kind != DPUMAP_ADDRESS_UNIX || peer->uid == 0 || peer->uid == geteuid();
}

static void on_listener(struct watch *watch, uint32_t events)
{
	struct exchange *exchange =
		(struct exchange *)((char *)watch - offsetof(struct exchange, watch));
	struct dpumap_fault fault = {0};
	struct dpumap_peer peer;
	int fd;

	(void)events;
	while (dpumap_listener_accept(exchange->listener, &fd, &peer, &fault) == DOCA_SUCCESS) {
		if (may_ask(&peer)) {
			begin_talk(exchange, fd);
		} else {
			say("%s turned away: not an administrator", peer.text);
			close(fd);
		}
	}
}

doca_error_t exchange_create(struct loop *loop, struct dpumap_listener *listener, const char *end,
			     answer_fn *answer, void *context, struct exchange **exchange,
			     struct dpumap_fault *fault)
{
	struct exchange *e = calloc(1, sizeof(*e));
	doca_error_t result;

	if (!e) {
		dpumap_listener_destroy(listener);
		return dpumap_fault_set(fault, DOCA_ERROR_NO_MEMORY, "no memory for the server");
	}
	e->loop = loop;
	e->listener = listener;
	e->end = end;
	e->answer = answer;
	e->context = context;
	result = loop_add(loop, &e->watch, dpumap_listener_fd(listener), EPOLLIN, on_listener,
			  fault);
	if (result != DOCA_SUCCESS) {
		exchange_destroy(e);
		return result;
	}
	*exchange = e;
	return DOCA_SUCCESS;
}

void exchange_destroy(struct exchange *exchange)
{
	if (!exchange)
		return;
	while (exchange->talks)
		end_talk(exchange->talks);
	loop_remove(exchange->loop, &exchange->watch);
	dpumap_listener_destroy(exchange->listener);
	free(exchange);
}

void exchange_tick(struct exchange *exchange)
{
	uint64_t now = dpumap_clock_ns();
	struct talk *talk, *next;

	for (talk = exchange->talks; talk; talk = next) {
		next = talk->next;
		if (now - talk->since > PATIENCE_NS)
			end_talk(talk);
	}
}
