/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Fixture for the tests of the control channel: a server in this process, and clients in another one
 * on the host's function. Each client has an engine of its own, and makes progress only while it executes
 * a command.
 */
#ifndef DPUMAP_TEST_COMCH_H
#define DPUMAP_TEST_COMCH_H

#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_pe.h>

#include "fixture.h"

#define COMCH_OTHER_NAME  "another server"
#define COMCH_NAME	  "a server of tests"
#define COMCH_MAX_CLIENTS 64
#define COMCH_TASKS	  1024
#define COMCH_MAX_CHANGES 16

struct comch_change {
	enum doca_ctx_states prev, next;
};

/* A server or a client, and what its callbacks have seen. */
struct comch_side {
	struct doca_comch_server *server;
	struct doca_comch_client *client;
	struct doca_ctx *ctx;
	struct doca_pe *pe;
	struct comch_change changes[COMCH_MAX_CHANGES];
	unsigned int num_changes;

	struct doca_comch_connection *last; /* that connected, or sent a message */
	unsigned int num_connected, num_disconnected;
	uint32_t num_received,
		num_wrong; /* messages; those that are not the next of their sender */
	uint32_t num_sent, num_failed;
	uint32_t next_number; /* of the messages to send */
	doca_error_t last_error;

	/* What callbacks do in addition. */
	void (*on_connect)(struct comch_side *side, struct doca_comch_connection *connection);
	void (*on_message)(struct comch_side *side, struct doca_comch_connection *connection);
	void (*on_sent)(struct comch_side *side);
	void (*on_disconnect)(struct comch_side *side, struct doca_comch_connection *connection);
};

/* The process of the clients, and the server of this process. */
extern struct process comch_peer;
extern struct comch_side comch_server;
extern struct doca_dev *comch_dev;
extern struct doca_dev_rep *comch_rep;

/* A directory for sockets of its own. */
int comch_open_group(void **state);
int comch_close_group(void **state);
/* Setup and teardown: a server that is RUNNING, and a process for clients. */
int comch_setup(void **state);
int comch_teardown(void **state);
#define comch_test(function) cmocka_unit_test_setup_teardown(function, comch_setup, comch_teardown)

/* A server on an engine, IDLE and configured. */
doca_error_t comch_server_create(struct comch_side *side, struct doca_pe *pe, const char *name);
/* Progress until the context is IDLE; destroy it. */
void comch_server_destroy(struct comch_side *side);
enum doca_ctx_states comch_state(const struct comch_side *side);

/* Send numbered messages; the task is freed by its callback. AGAIN: no task is free. */
doca_error_t comch_submit(struct comch_side *side, struct doca_comch_connection *connection,
			  uint32_t len);
/* The same, until all of them have completed. */
doca_error_t comch_send(struct comch_side *side, struct doca_comch_connection *connection,
			uint32_t num, uint32_t len);

/* Progress of an engine in a loop that waits; sleeps for a moment when there has been none for long. */
void comch_progress(struct doca_pe *pe);

/* Progress the server until the condition holds; the test fails if it does not in time. */
#define comch_wait(condition)                                            \
	do {                                                             \
		uint64_t wait_end = monotonic_ms() + FIXTURE_TIMEOUT_MS; \
		while (!(condition)) {                                   \
			comch_progress(comch_server.pe);                 \
			assert_true(monotonic_ms() < wait_end);          \
		}                                                        \
	} while (0)

/* --- commands to the clients ------------------------------------------------------------------ */

enum comch_op {
	COMCH_START,   /* until RUNNING: SUCCESS, or IDLE: NOT_FOUND */
	COMCH_BEGIN,   /* start without progress */
	COMCH_FINISH,  /* progress until it is no longer STARTING, as COMCH_START */
	COMCH_SEND,    /* `num` messages of `len` bytes, until they have completed */
	COMCH_SUBMIT,  /* the same without progress */
	COMCH_RECEIVE, /* until `num` messages have arrived in all; value: those that were wrong */
	COMCH_AWAIT_END, /* progress until IDLE; value: number of failed tasks */
	COMCH_STOP,	 /* the same, after a call of doca_ctx_stop() */
	COMCH_CHANGES,	 /* value: the states that its callback was called with, a hex digit each */
	COMCH_SLEEP,	 /* as COMCH_FINISH, but wait for events; value: how often it woke */
	COMCH_DESTROY,
};

/* Executes a command in the other process, while this one makes progress. */
doca_error_t comch_command(enum comch_op op, unsigned int client, uint32_t num, uint32_t len,
			   uint32_t *value);
/* The same in two halves: this process makes no progress in between. */
void comch_ask(enum comch_op op, unsigned int client, uint32_t num, uint32_t len);
doca_error_t comch_answer(uint32_t *value);
#define assert_command(...) assert_ok(comch_command(__VA_ARGS__, NULL))

/* main() of the process of the clients. */
int comch_serve(void);

/* A process that serves COMCH_OTHER_NAME; true when it runs. It ends when its socket is closed. */
bool comch_start_other_server(struct process *process);
/* The same process: its main(), or -1 in other processes. */
int comch_serve_other(void);

#endif
