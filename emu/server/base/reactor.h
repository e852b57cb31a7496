/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The reactor: waits for descriptors and calls the functions of their watches. One thread. */
#ifndef EMU_REACTOR_H
#define EMU_REACTOR_H

#include <stdbool.h>
#include <stdint.h>

/* Everything that has a descriptor begins with a watch, which epoll returns. */
struct emu_watch {
	int fd;				      /* -1 after emu_watch_del() */
	void (*ready)(struct emu_watch *w);   /* there is something to read; or NULL */
	void (*hang_up)(struct emu_watch *w); /* the other end is closed; or NULL */
};

/* Returns 0 or a negative errno. */
int emu_reactor_create(void);
/* Wait for events and handle one batch. */
void emu_reactor_turn(void);
/* Ask the main loop to end. */
void emu_reactor_stop(void);
bool emu_reactor_is_stopped(void);

/* Watch for input. Returns 0 or a negative errno; the descriptor stays the caller's on failure. */
int emu_watch_add(struct emu_watch *w);
/* Watch for EPOLLIN or EPOLLOUT instead. */
void emu_watch_change(struct emu_watch *w, uint32_t events);
/* Stop watching and close the descriptor, if it is open. */
void emu_watch_del(struct emu_watch *w);
/* Free `p` after the current batch, whose events may still point to it. */
void emu_free_later(void *p);

#endif
