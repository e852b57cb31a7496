/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/base/timer.h"

#include <errno.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "emu/server/base/log.h"
#include "emu/server/base/reactor.h"

static TAILQ_HEAD(timers, emu_timer) timers = TAILQ_HEAD_INITIALIZER(timers); /* by time */

static void expire(struct emu_watch *w);

static struct emu_watch watch = {.fd = -1, .ready = expire};
static uint64_t handled; /* timers until then are being handled; 0: none are */

/* At least 1 ns: an itimerspec of 0 disarms. */
static void arm(void)
{
	const struct emu_timer *first = TAILQ_FIRST(&timers);
	struct itimerspec at = {0};

	if (first) {
		at.it_value.tv_sec = (time_t)(first->when / 1000);
		at.it_value.tv_nsec = (long)(first->when % 1000) * 1000000;
		if (!first->when)
			at.it_value.tv_nsec = 1;
	}
	timerfd_settime(watch.fd, TFD_TIMER_ABSTIME, &at, NULL);
}

static void clear(struct emu_timer *t)
{
	if (t->set)
		TAILQ_REMOVE(&timers, t, link);
	t->set = false;
}

/*
 * Handlers may set and clear every timer, so the list is read anew each time. A timer that a
 * handler sets waits at least until the next turn: other clients have theirs in between.
 */
static void expire(struct emu_watch *w)
{
	uint64_t times, now = monotonic_ms();
	struct emu_timer *t;

	if (read(w->fd, &times, sizeof(times)) < 0 && errno != EAGAIN)
		emu_log("cannot read the timer: %s", strerror(errno));
	handled = now;
	while ((t = TAILQ_FIRST(&timers)) && t->when <= now) {
		clear(t);
		t->expired(t);
	}
	handled = 0;
	arm();
}

static bool is_running(void)
{
	if (watch.fd >= 0)
		return true;
	watch.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (watch.fd >= 0 && !emu_watch_add(&watch))
		return true;
	emu_log("cannot create a timer, so timeouts do not happen: %s", strerror(errno));
	if (watch.fd >= 0)
		close(watch.fd);
	watch.fd = -1;
	return false;
}

void emu_timer_set(struct emu_timer *t, uint64_t when)
{
	struct emu_timer *before;

	clear(t);
	if (when == EMU_NEVER || !is_running())
		return;
	if (handled && when <= handled)
		when = handled + 1;
	t->when = when;
	t->set = true;
	before = TAILQ_LAST(&timers, timers);
	while (before && before->when > when)
		before = TAILQ_PREV(before, timers, link);
	if (before)
		TAILQ_INSERT_AFTER(&timers, before, t, link);
	else
		TAILQ_INSERT_HEAD(&timers, t, link);
	if (!before)
		arm();
}
