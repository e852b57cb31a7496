/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A server or a client with a progress engine of its own, and a log of what its callbacks saw: on the
 * DPU's function a server, on the host's a client.
 *
 * The log is a line of words: STARTING RUNNING STOPPING IDLE for the context; connect:I disconnect:I
 * refused for the I-th connection; msg:TEXT or msg[LENGTH,SUM] for messages; sent failed:ERROR for
 * tasks; new:ID gone:ID for consumers.
 */
#ifndef DPUMAP_TESTS_COMCH_NODE_H
#define DPUMAP_TESTS_COMCH_NODE_H

#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_pe.h>

#include "fixture.h"

#define NODE_CONNECTIONS 600
#define NODE_TASKS	 160 /* more than the smallest window */
#define NODE_LOG	 16384
#define NODE_NAME	 64
#define NODE_MESSAGE	 4080 /* programs have this constant */

/* What callbacks do besides writing the log. */
enum node_action {
	NODE_ECHO = 1 << 0,	       /* a message: send it back */
	NODE_STOP_ON_MESSAGE = 1 << 1, /* stop the context, after the echo */
	NODE_STOP_ON_SENT = 1 << 2,    /* a completed task: stop the context */
	NODE_ONE_CLIENT = 1 << 3,      /* disconnect all connections but the first */
	NODE_STOP_ON_RUNNING = 1 << 4,
	NODE_SEND_ON_RUNNING = 1 << 5, /* client: send "hello" */
	NODE_SEND_ON_CONNECT = 1 << 6, /* server: send "welcome" */
	NODE_SCRIBBLE = 1 << 7,	       /* overwrite each message that arrives */
};

struct node {
	bool is_server;
	bool is_frozen; /* node_progress_all() leaves it out */
	bool keeps_tasks;
	uint32_t actions;
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	struct doca_pe *pe;
	struct doca_comch_server *server;
	struct doca_comch_client *client;
	struct doca_ctx *ctx;
	struct doca_comch_connection *connections[NODE_CONNECTIONS]; /* NULL after their end */
	unsigned int n_connections;
	/* The last message. */
	uint8_t message[NODE_MESSAGE];
	uint32_t message_len;
	/* For tests that do more in a callback; after the word was written. */
	void (*hook)(struct node *node, const char *word);
	struct doca_comch_task_send *kept[NODE_TASKS];
	unsigned int n_kept;
	char log[NODE_LOG];
	size_t log_len;
	struct node *next; /* in the list of all open nodes */
};

/* A name that no other test on this machine has, different on each call. */
const char *node_unique_name(void);

/*
 * Open the device, and create the object and its engine: with callbacks for everything and NODE_TASKS
 * tasks, not started. Logged words begin anew.
 */
doca_error_t node_open(struct node *node, const char *name);
/* The same without device, callbacks and tasks; its engine is `pe`, or one of its own. */
doca_error_t node_open_bare(struct node *node, const char *name, struct doca_pe *pe);
/* Stop it, wait until it is idle, and destroy everything. */
doca_error_t node_close(struct node *node);

doca_error_t node_register(struct node *node);
doca_error_t node_set_tasks(struct node *node, uint32_t n);
doca_error_t node_set_max_message(struct node *node, uint32_t len);
doca_error_t node_set_queue(struct node *node, uint32_t size);
doca_error_t node_start(struct node *node);
doca_error_t node_stop(struct node *node);
enum doca_ctx_states node_state(const struct node *node);

doca_error_t node_alloc(struct node *node, unsigned int connection, const void *msg, uint32_t len,
			struct doca_comch_task_send **task);
/* Allocate and submit. */
doca_error_t node_send(struct node *node, unsigned int connection, const void *msg, uint32_t len);
/* The same, with progress until there is a task. */
doca_error_t node_send_all(struct node *node, unsigned int connection, const void *msg,
			   uint32_t len);

/* Message number i of a sequence, up to NODE_MESSAGE bytes; returns its length. */
uint32_t node_numbered(uint8_t *message, unsigned int i);

/* Progress all open nodes of this process that are not frozen; true if one did anything. */
bool node_progress_all(void);
/* How often the log has the word. */
unsigned int node_count(const struct node *node, const char *word);
/* Progress all nodes until the log of this one has the word so often; false after FIXTURE_TIMEOUT_MS. */
bool node_wait_for(struct node *node, const char *word, unsigned int times);
#define node_wait(node, word) assert_true(node_wait_for((node), (word), 1))

#endif
