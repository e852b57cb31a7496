/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/base/reactor.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "emu/ipc/look.h"

#define BATCH 1024

static int epoll = -1;
static bool stopped;

static void **free_list;
static size_t free_count, free_room;

int emu_reactor_create(void)
{
	epoll = epoll_create1(EPOLL_CLOEXEC);
	return epoll < 0 ? -errno : 0;
}

void emu_reactor_stop(void)
{
	stopped = true;
}

bool emu_reactor_is_stopped(void)
{
	return stopped;
}

void emu_free_later(void *p)
{
	void **bigger;

	if (free_count == free_room) {
		bigger = realloc(free_list, (free_room + 64) * sizeof(*free_list));
		if (!bigger)
			return; /* a leak is better than a use after free */
		free_list = bigger;
		free_room += 64;
	}
	free_list[free_count++] = p;
}

int emu_watch_add(struct emu_watch *w)
{
	struct epoll_event e = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = w};

	return epoll_ctl(epoll, EPOLL_CTL_ADD, w->fd, &e) ? -errno : 0;
}

void emu_watch_change(struct emu_watch *w, uint32_t events)
{
	struct epoll_event e = {.events = events | EPOLLRDHUP, .data.ptr = w};

	epoll_ctl(epoll, EPOLL_CTL_MOD, w->fd, &e);
}

/* EPOLL_CTL_DEL is needed: close() does not end the watch if a client has a duplicate of our end. */
void emu_watch_del(struct emu_watch *w)
{
	if (w->fd >= 0) {
		epoll_ctl(epoll, EPOLL_CTL_DEL, w->fd, NULL);
		close(w->fd);
	}
	w->fd = -1;
}

static bool is_hang_up(const struct epoll_event *e)
{
	return e->events & (EPOLLHUP | EPOLLRDHUP | EPOLLERR);
}

static void call(struct emu_watch *w, void (*handler)(struct emu_watch *w))
{
	if (w->fd >= 0 && handler)
		handler(w);
}

static int take_ready(void *batch)
{
	return epoll_wait(epoll, batch, BATCH, 0);
}

static int await_ready(struct epoll_event *batch)
{
	static struct emu_look look;
	int n = emu_look(&look, take_ready, batch);

	return n ? n : epoll_wait(epoll, batch, BATCH, -1);
}

/*
 * Hang-ups go first: a process that closed a device and then sends a command must find the objects
 * of the old device gone, as after a real close(), though the two arrive on different sockets.
 */
void emu_reactor_turn(void)
{
	static struct epoll_event batch[BATCH];
	struct emu_watch *w;
	int n;

	n = await_ready(batch);
	for (int i = 0; i < n; i++) {
		w = batch[i].data.ptr;
		if (is_hang_up(&batch[i]))
			call(w, w->hang_up);
	}
	for (int i = 0; i < n; i++) {
		w = batch[i].data.ptr;
		if (!is_hang_up(&batch[i]))
			call(w, w->ready);
	}
	while (free_count)
		free(free_list[--free_count]);
}
