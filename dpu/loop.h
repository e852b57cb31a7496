/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Waits for many descriptors and calls whoever watches the one that is ready. */
#ifndef DPUMAPD_LOOP_H
#define DPUMAPD_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "common/fault.h"

struct loop;
struct watch;

/* events as of epoll. May do anything to any watch, this one included. */
typedef void ready_fn(struct watch *watch, uint32_t events);

/* Part of what the descriptor belongs to. */
struct watch {
	ready_fn *ready;
	int fd;
	uint32_t events;
};

doca_error_t loop_create(struct loop **loop, struct dpumap_fault *fault);
/* Everything was removed before. NULL is allowed. */
void loop_destroy(struct loop *loop);

doca_error_t loop_add(struct loop *loop, struct watch *watch, int fd, uint32_t events,
		      ready_fn *ready, struct dpumap_fault *fault);
/* Waits for these events from now on. */
doca_error_t loop_change(struct loop *loop, struct watch *watch, uint32_t events,
			 struct dpumap_fault *fault);
/* Before the descriptor is closed. A watch that is all zero may be removed. */
void loop_remove(struct loop *loop, struct watch *watch);

/* One round: waits up to timeout_ms (-1: as long as it takes) and calls whoever is to be called. */
doca_error_t loop_turn(struct loop *loop, int timeout_ms, struct dpumap_fault *fault);

#endif
