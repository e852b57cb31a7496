/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/daemon/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* An event in addition to the flags: a flag set just before epoll_wait() would be noticed late. */
static struct watch event = {.fd = -1};
static volatile sig_atomic_t stop_is_asked, reload_is_asked;

static void wake(void)
{
	const uint64_t one = 1;
	int saved = errno;
	ssize_t n = write(event.fd, &one, sizeof(one));

	(void)n;
	errno = saved;
}

static void on_event(struct watch *watch, uint32_t events)
{
	uint64_t count;
	ssize_t n = read(watch->fd, &count, sizeof(count));

	(void)events;
	(void)n;
}

doca_error_t signals_open(struct loop *loop, struct dpumap_error *error)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fd < 0)
		return dpumap_error_errno(error, errno, "cannot set up signal handling");
	return loop_add(loop, &event, fd, EPOLLIN, on_event, error);
}

void signals_close(struct loop *loop)
{
	int fd = event.fd;

	if (fd < 0)
		return;
	loop_remove(loop, &event);
	event.fd = -1;
	close(fd);
}

void signals_ask_stop(void)
{
	stop_is_asked = 1;
	wake();
}

void signals_ask_reload(void)
{
	reload_is_asked = 1;
	wake();
}

bool signals_stop_is_asked(void)
{
	return stop_is_asked;
}

bool signals_reload_is_asked(void)
{
	return reload_is_asked;
}

void signals_take_reload(void)
{
	reload_is_asked = 0;
}
