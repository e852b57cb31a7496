/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Looking for a message before one sleeps. Commands come in bursts, and waking takes several times as long as a
 * command: the server looks for the next command, its client for the answer. Who looks in vain wastes a processor that
 * the other one may need. So a look that found nothing is followed by 1, 2, 4 and at most LOOK_PAUSE waits without one.
 */
#ifndef EMU_LOOK_H
#define EMU_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

#define EMU_LOOK_NS    50000u
#define EMU_LOOK_PAUSE 64u

struct emu_look {
	uint32_t pause,
		left; /* waits without a look after the last one, and those of them to come */
};

/* Call `found` until it returns something else than 0, for a short time. Returns what it returned. */
static inline int emu_look(struct emu_look *l, int (*found)(void *arg), void *arg)
{
	uint64_t end;
	int n;

	if (l->left) {
		l->left--;
		return 0;
	}
	end = monotonic_ns() + EMU_LOOK_NS;
	do
		n = found(arg);
	while (!n && monotonic_ns() < end);
	l->pause = n ? 0 : l->pause ? 2 * l->pause : 1;
	if (l->pause > EMU_LOOK_PAUSE)
		l->pause = EMU_LOOK_PAUSE;
	l->left = l->pause;
	return n;
}

#endif
