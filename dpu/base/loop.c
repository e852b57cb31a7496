/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/base/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"

#define EVENTS_MAX 64

struct loop {
	int epoll;
	int num; /* of the round */
	int next;
	struct epoll_event events[EVENTS_MAX];
	uint64_t woken; /* time of the last end of a wait; 0: none */
	struct loop_stats stats;
};

doca_error_t loop_create(struct loop **loop, struct dpumap_error *error)
{
	struct loop *l = calloc(1, sizeof(*l));

	if (!l)
		return dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for the server");
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll < 0) {
		free(l);
		return dpumap_error_errno(error, errno, "cannot create an epoll instance");
	}
	*loop = l;
	return DOCA_SUCCESS;
}

void loop_destroy(struct loop *loop)
{
	if (!loop)
		return;
	close(loop->epoll);
	free(loop);
}

static doca_error_t control(const struct loop *loop, int op, struct watch *watch, uint32_t events,
			    struct dpumap_error *error)
{
	struct epoll_event event = {.events = events, .data.ptr = watch};

	if (epoll_ctl(loop->epoll, op, watch->fd, &event) != 0)
		return dpumap_error_errno(error, errno, "cannot poll a connection");
	watch->events = events;
	return DOCA_SUCCESS;
}

doca_error_t loop_add(struct loop *loop, struct watch *watch, int fd, uint32_t events,
		      ready_fn *ready, struct dpumap_error *error)
{
	doca_error_t result;

	watch->fd = fd;
	result = control(loop, EPOLL_CTL_ADD, watch, events, error);
	if (result == DOCA_SUCCESS)
		watch->ready = ready;
	return result;
}

doca_error_t loop_change(struct loop *loop, struct watch *watch, uint32_t events,
			 struct dpumap_error *error)
{
	if (watch->events == events)
		return DOCA_SUCCESS;
	return control(loop, EPOLL_CTL_MOD, watch, events, error);
}

void loop_remove(struct loop *loop, struct watch *watch)
{
	if (!watch->ready)
		return;
	epoll_ctl(loop->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
	watch->ready = NULL;
	/* Its event may still be pending in this round. */
	for (int i = loop->next; i < loop->num; i++)
		if (loop->events[i].data.ptr == watch)
			loop->events[i].data.ptr = NULL;
}

static void measure_turn(struct loop *loop)
{
	uint64_t took = loop->woken ? monotonic_ns() - loop->woken : 0;

	loop->stats.turns++;
	if (took > loop->stats.longest_ns)
		loop->stats.longest_ns = took;
}

uint64_t loop_number(const struct loop *loop)
{
	return loop->stats.turns;
}

void loop_get_stats(const struct loop *loop, struct loop_stats *stats)
{
	*stats = loop->stats;
}

doca_error_t loop_turn(struct loop *loop, int timeout_ms, struct dpumap_error *error)
{
	measure_turn(loop);
	loop->num = epoll_wait(loop->epoll, loop->events, EVENTS_MAX, timeout_ms);
	loop->woken = monotonic_ns();
	if (loop->num < 0 && errno != EINTR)
		return dpumap_error_errno(error, errno, "cannot wait for events");
	for (loop->next = 0; loop->next < loop->num;) {
		const struct epoll_event *event = &loop->events[loop->next++];
		struct watch *watch = event->data.ptr;

		if (watch)
			watch->ready(watch, event->events);
	}
	return DOCA_SUCCESS;
}
