/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The stages that a stream of bytes passes through, and their positions in it. Some stages are
 * threads, the caller does the work of the others. All of them work at the same time, each on bytes
 * of its own.
 */
#ifndef DPUMAP_HOST_FLOW_H
#define DPUMAP_HOST_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "local/error.h"

enum flow_stage {
	FLOW_READ,
	FLOW_HASH_SOURCE,
	FLOW_PUT,
	FLOW_DIGEST,
	FLOW_GET,
	FLOW_WRITE,
	FLOW_CHECK_SINK,
	FLOW_STAGES
};

#define FLOW_BIT(stage) (1u << (stage))

/*
 * Works on the *len bytes at position at. It may return that there are fewer: the stream ends there.
 */
typedef doca_error_t flow_fn(void *context, uint64_t at, size_t *len, struct dpumap_error *error);

/* Where a stage may be. Stages that do not exist count for nothing. */
struct flow_rule {
	unsigned int after; /* stages that must have passed a byte before */
	unsigned int ahead; /* stages that must not be more than room bytes behind */
	uint64_t room;
	flow_fn *work; /* NULL: the caller does it */
};

struct flow;

/*
 * total is UINT64_MAX if unknown. Threads work on pieces of up to 1 MiB, which do not cross a multiple
 * of ring.
 */
doca_error_t flow_create(uint64_t total, size_t ring, void *context, struct flow **flow,
			 struct dpumap_error *error);
/* Before flow_start(). */
void flow_add(struct flow *flow, enum flow_stage stage, const struct flow_rule *rule);
doca_error_t flow_start(struct flow *flow, struct dpumap_error *error);

/* Up to which position may the stage work now? */
uint64_t flow_limit(struct flow *flow, enum flow_stage stage);
/* The stage has worked on len more bytes. */
void flow_advance(struct flow *flow, enum flow_stage stage, uint64_t len);
/* The position of the last stage. */
uint64_t flow_done(struct flow *flow);
/* Is this position the end of the stream? */
bool flow_is_end(struct flow *flow, uint64_t at);
/* Have all stages passed the end? */
bool flow_is_complete(struct flow *flow);
/* The failure of a thread. */
doca_error_t flow_check(struct flow *flow, struct dpumap_error *error);
/* Readable when a thread has worked since flow_listen(). */
int flow_fd(const struct flow *flow);
void flow_listen(struct flow *flow);

/* Ends the threads, which may wait in a call, and frees the flow. *total is the end of the stream. */
void flow_destroy(struct flow *flow, uint64_t *total);

#endif
