/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* An event loop: waits for many descriptors and calls the watch of each that is ready. */
#ifndef DPUMAPD_LOOP_H
#define DPUMAPD_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "local/error.h"

/* A source of events works for so long in a turn of the loop; what is left waits for the next one. */
#define LOOP_SHARE_NS 10000000u

struct loop;
struct watch;

/* events as of epoll. May change or remove any watch, this one included. */
typedef void ready_fn(struct watch *watch, uint32_t events);

/* Embedded in the object that owns the descriptor. */
struct watch {
	ready_fn *ready;
	int fd;
	uint32_t events;
};

doca_error_t loop_create(struct loop **loop, struct dpumap_error *error);
/* All watches must have been removed. NULL is allowed. */
void loop_destroy(struct loop *loop);

doca_error_t loop_add(struct loop *loop, struct watch *watch, int fd, uint32_t events,
		      ready_fn *ready, struct dpumap_error *error);
/* Changes the events to wait for. */
doca_error_t loop_change(struct loop *loop, struct watch *watch, uint32_t events,
			 struct dpumap_error *error);
/* Must be called before the descriptor is closed. An all-zero watch may be removed. */
void loop_remove(struct loop *loop, struct watch *watch);

/* One round: waits up to timeout_ms (-1: without limit) and calls the watches that are ready. */
/* A turn is what happens between two waits: everybody waits for the longest one. */
struct loop_stats {
	uint64_t turns;
	uint64_t longest_ns;
};
/* The number of the turn. */
uint64_t loop_number(const struct loop *loop);
void loop_get_stats(const struct loop *loop, struct loop_stats *stats);
doca_error_t loop_turn(struct loop *loop, int timeout_ms, struct dpumap_error *error);

#endif
