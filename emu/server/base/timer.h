/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Timers of the main loop: one timerfd for all. */
#ifndef EMU_TIMER_H
#define EMU_TIMER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/clock.h"

#define EMU_NEVER UINT64_MAX

struct emu_timer {
	void (*expired)(struct emu_timer *t); /* the timer is not set any more */
	bool set;
	uint64_t when;
	TAILQ_ENTRY(emu_timer) link;
};

/*
 * Call t->expired() from the main loop when monotonic_ms() is `when`; the past: at its next turn, never
 * before this returns. EMU_NEVER clears the timer.
 */
void emu_timer_set(struct emu_timer *t, uint64_t when);

#endif
