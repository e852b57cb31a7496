/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Nodes in another process, on the other function of the card. It progresses its nodes while it waits
 * for calls, unless they are frozen. This process progresses its own nodes while it waits for an answer.
 */
#ifndef DPUMAP_TESTS_COMCH_AGENT_H
#define DPUMAP_TESTS_COMCH_AGENT_H

#include "node.h"

#define AGENT_NODES 8

/* DOCA_ERROR_CONNECTION_RESET when the agent has ended, DOCA_ERROR_TIME_OUT when it does not answer. */
doca_error_t agent_open(struct process *agent, unsigned int node, const char *name);
doca_error_t agent_close(struct process *agent, unsigned int node);
doca_error_t agent_set_actions(struct process *agent, unsigned int node, uint32_t actions);
doca_error_t agent_set_max_message(struct process *agent, unsigned int node, uint32_t len);
doca_error_t agent_set_queue(struct process *agent, unsigned int node, uint32_t size);
doca_error_t agent_set_frozen(struct process *agent, unsigned int node, bool is_frozen);
doca_error_t agent_start(struct process *agent, unsigned int node);
doca_error_t agent_stop(struct process *agent, unsigned int node);
doca_error_t agent_send(struct process *agent, unsigned int node, unsigned int connection,
			const void *msg, uint32_t len);
/* Wait until its log has the word so often. */
doca_error_t agent_wait(struct process *agent, unsigned int node, const char *word,
			unsigned int times);
/* So many clients with this name, all on one engine; SUCCESS when all are RUNNING. */
doca_error_t agent_crowd(struct process *agent, unsigned int node, const char *name,
			 unsigned int n);
/* Submit messages number 0 to n - 1, as node_numbered() makes them, with progress in between. */
doca_error_t agent_flood(struct process *agent, unsigned int node, unsigned int n);
/* How often its log has the word. */
unsigned int agent_count(struct process *agent, unsigned int node, const char *word);
/* Its log so far, valid until the next call; "" when the agent has ended. */
const char *agent_log(struct process *agent, unsigned int node);

/* In the agent: serve until stdin ends. Returns the exit status. */
int agent_serve(void);

/* Setup and teardown: `agent` runs; nodes of this process that tests leave open are closed. */
extern struct process agent;
extern struct node local;
int agent_setup(void **state);
int agent_teardown(void **state);
/* For a test that has ended the agent itself. */
int agent_teardown_local(void **state);
#define agent_test(function) cmocka_unit_test_setup_teardown(function, agent_setup, agent_teardown)
#define agent_killing_test(function) \
	cmocka_unit_test_setup_teardown(function, agent_setup, agent_teardown_local)

/* `local` and node 0 of the agent, open, with the same name, and not started. */
const char *agent_open_both(void);
/* The same, started and connected: the client is RUNNING, and the server has seen it. */
void agent_connect(void);

#endif
