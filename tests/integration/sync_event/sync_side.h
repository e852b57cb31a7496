/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sync events of this process and of a peer on the other function of the card. The event of a test is
 * this process's own, its own and exported to the peer, or imported from the peer.
 */
#ifndef DPUMAP_TESTS_SYNC_SIDE_H
#define DPUMAP_TESTS_SYNC_SIDE_H

#include <doca_ctx.h>
#include <doca_pe.h>
#include <doca_sync_event.h>

#include "fixture.h"
#include "process.h"

#define SYNC_MAX_BLOB 4096u

struct sync_blob {
	uint8_t bytes[SYNC_MAX_BLOB];
	size_t len;
};

/* What the peer does with its event. */
enum sync_order {
	SYNC_CREATE, /* with a remote PCI publisher, start it, and export it */
	SYNC_IMPORT, /* and start it */
	SYNC_GET,
	SYNC_SET,
	SYNC_ADD, /* `times` times; the value is that before the last */
	SYNC_WAIT_EQ,
	SYNC_WAIT_NEQ,
	SYNC_WAIT_GT,
	SYNC_STOP,
	SYNC_DESTROY,
};

struct sync_request {
	enum sync_order order;
	uint64_t value;
	uint32_t times;
	struct sync_blob blob;
};

struct sync_answer {
	doca_error_t result;
	uint64_t value;
	struct sync_blob blob;
};

/* The peer's program. Returns its exit code. */
int sync_serve(void);

/* Ask the peer, now or in two steps. */
void sync_send(const struct process *peer, const struct sync_request *request);
void sync_receive(const struct process *peer, struct sync_answer *answer);
doca_error_t sync_ask(const struct process *peer, enum sync_order order, uint64_t value);
uint64_t sync_ask_value(const struct process *peer, enum sync_order order, uint64_t value);

enum sync_origin { SYNC_OWN, SYNC_EXPORTED, SYNC_IMPORTED };
extern const enum sync_origin sync_origins[3];

/*
 * The event of a test, which is not started, and the peer, which SYNC_OWN lacks; setup takes the origin
 * from *state.
 */
extern struct sync_test {
	enum sync_origin origin;
	struct process peer;
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_sync_event *event;
	struct doca_ctx *ctx; /* once sync_use_ctx() was called */
} test;

int sync_setup(void **state);
int sync_teardown(void **state);

/* A test of an event of one origin, of both that the peer has too, or of each. */
#define sync_origin_test(function, at)                                                \
	cmocka_unit_test_prestate_setup_teardown(function, sync_setup, sync_teardown, \
						 (void *)&sync_origins[at])
#define own_test(function)	sync_origin_test(function, SYNC_OWN)
#define exported_test(function) sync_origin_test(function, SYNC_EXPORTED)
#define imported_test(function) sync_origin_test(function, SYNC_IMPORTED)
#define shared_test(function)	exported_test(function), imported_test(function)
#define all_test(function)	own_test(function), shared_test(function)

/* An event that is not started, with that publisher and a subscriber on the CPU. */
enum sync_publisher { SYNC_BY_CPU, SYNC_BY_PCI, SYNC_BY_NET };
struct doca_sync_event *sync_create(struct doca_dev *dev, enum sync_publisher publisher);

/* Start it without a context; the peer has it afterwards unless it is SYNC_OWN. */
void sync_start(void);
void sync_stop(void);
/* The same with its context; callbacks, if any, are to be set between the two. */
void sync_use_ctx(void);
void sync_start_ctx(void);
void sync_stop_ctx(void);
uint64_t sync_value(void);

#endif
