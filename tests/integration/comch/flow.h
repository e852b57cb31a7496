/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Consumers and producers on a connection between this process (HERE) and one on the other function of
 * the card (THERE). The same operations work on both sides. Each side progresses its engines while it
 * waits, unless they are frozen.
 *
 * Message number i of a producer is fixture_fill(i), with i in its first bytes; a consumer checks that
 * numbers grow and bytes are right.
 */
#ifndef DPUMAP_TESTS_COMCH_FLOW_H
#define DPUMAP_TESTS_COMCH_FLOW_H

#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

#include "node.h"

#define FLOW_OBJECTS 8 /* consumers and producers of a side */
#define FLOW_TASKS   1024
#define FLOW_PEERS   64 /* producers of the peer whose numbers are checked */

enum flow_side { HERE, THERE };

/* With its arguments; DOCA_SUCCESS or the first error. flow_value is what it says it returns. */
enum flow_op {
	/* The connection. */
	FLOW_CONNECTED, /* wait for the connection */
	FLOW_START,	/* of the node */
	FLOW_STOP,	/* doca_ctx_stop() of the node */
	FLOW_CLOSE,	/* stop and destroy everything */
	FLOW_FREEZE,	/* mask of enum flow_engine: progress no more */
	FLOW_WORD, /* wait until the log of the node has new:B (A = 0), gone:B (A = 1) or msg:hello (A = 2) */
	FLOW_WORDS,	 /* returns how often it has */
	FLOW_NODE_STATE, /* wait for the state A of the node */
	/* Consumers and producers: A is the object's index, both kinds count from 0. */
	FLOW_CONSUMER, /* create with B tasks and bufs of C bytes; returns its id */
	FLOW_PRODUCER, /* the same */
	FLOW_RUN,      /* start consumer A, and wait until it is RUNNING */
	FLOW_IMM,      /* B: the longest immediate data of consumer A, which is not started */
	FLOW_BEGIN,    /* doca_ctx_start() of consumer A (B = 0) or producer A (B = 1) */
	FLOW_POST,     /* B receives on consumer A; C: without buf */
	FLOW_REPOST,   /* B: whether consumer A posts again what has completed */
	FLOW_SEND,     /* B messages of C bytes from producer A to consumer id D & 0xffff, with
			  D >> 16 bytes of immediate data; each is submitted when there is a task */
	FLOW_RECEIVED, /* wait until consumer A has received B messages */
	FLOW_SENT,     /* wait until producer A has sent B */
	FLOW_FAILED,   /* wait until B tasks of consumer A have failed */
	FLOW_ENDED,    /* wait until B tasks of producer A have ended */
	FLOW_UNSENT,   /* the same of producer A */
	FLOW_ERROR, /* returns the status of the last failed task: of consumer A (B = 0), producer A */
	FLOW_COUNT, /* returns the messages that consumer A has received */
	FLOW_SENT_COUNT,
	FLOW_BAD,     /* returns how many were wrong */
	FLOW_STATE,   /* wait for state C of consumer A (B = 0) or producer A (B = 1) */
	FLOW_HALT,    /* doca_ctx_stop() of consumer A (B = 0) or producer A (B = 1) */
	FLOW_DESTROY, /* stop consumer A (B = 0) or producer A (B = 1), and destroy it */
	FLOW_DROP,    /* free all posted tasks of consumer A, and their bufs */
	FLOW_THREADS, /* a consumer and a producer with engines and threads of their own, which
			  exchange A messages of B bytes with the peer's, in both directions;
			    C: times that this was done before */
};

enum flow_engine {
	FLOW_NODE_ENGINE = 1,
	FLOW_FAST_ENGINE = 2,
};

struct flow_task {
	struct doca_task *task;
	struct doca_buf *buf;
	unsigned int slot;
};

/* A consumer or a producer. */
struct flow_object {
	struct doca_comch_consumer *consumer;
	struct doca_comch_producer *producer;
	struct doca_ctx *ctx;
	struct doca_pe *pe;
	struct doca_dev *dev;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	uint8_t *bytes;
	uint32_t n_tasks, size;
	struct flow_task tasks[FLOW_TASKS]; /* by slot; task NULL: free */
	unsigned int n_done, n_failed, n_bad;
	doca_error_t error;
	bool reposts;
	uint32_t number;	   /* of the next message */
	uint32_t last[FLOW_PEERS]; /* number + 1 of the last message of each producer */
	uint32_t imm_len;	   /* of the last message */
	uint8_t imm[64];
	uint32_t producer_id;
	char states[256];
};

struct flow {
	struct node node;
	struct doca_pe *pe; /* of consumers and producers */
	uint32_t frozen;
	struct flow_object *consumers[FLOW_OBJECTS], *producers[FLOW_OBJECTS];
};

extern struct flow flow;
extern uint32_t flow_value;
/*
 * This side sleeps on the descriptors of its engines, up to FLOW_NAP_MS. flow_missed counts the naps that
 * ended by time though there was something to do.
 */
extern bool flow_waits_for_events;
extern unsigned int flow_missed;
#define FLOW_NAP_MS 5000
extern struct process flow_peer;

doca_error_t flow_do(enum flow_side side, enum flow_op op, uint32_t a, uint32_t b, uint32_t c,
		     uint32_t d);
#define flow_ok(side, op, a, b, c, d) assert_ok(flow_do((side), (op), (a), (b), (c), (d)))
/* The same; flow_value must be that. */
#define flow_is(side, op, a, b, c, d, wanted)           \
	do {                                            \
		flow_ok(side, op, a, b, c, d);          \
		assert_int_equal(flow_value, (wanted)); \
	} while (0)

/* Progress this side once. */
bool flow_progress(void);
/* Progress until *what is at least n; false after FIXTURE_TIMEOUT_MS. */
bool flow_wait(const unsigned int *what, unsigned int n);
bool flow_wait_state(const struct flow_object *object, enum doca_ctx_states state);
struct doca_comch_connection *flow_connection(void);

/* Objects of this side, with what they need. */
doca_error_t flow_open_consumer(struct flow_object *o, struct doca_pe *pe, uint32_t tasks,
				uint32_t size);
doca_error_t flow_open_producer(struct flow_object *o, struct doca_pe *pe, uint32_t tasks,
				uint32_t size);
doca_error_t flow_post(struct flow_object *o, unsigned int n, bool without_buf);
/* Submit one message; NO_MEMORY: no task. */
doca_error_t flow_send(struct flow_object *o, uint32_t len, uint32_t consumer_id, uint32_t imm_len);
void flow_drop(struct flow_object *o);
/* Its context is IDLE. */
doca_error_t flow_destroy(struct flow_object *o);

/* In the peer: serve until stdin ends. Returns the exit status. */
int flow_serve(void);

/* Setup and teardown: connected. */
int flow_setup(void **state);
int flow_teardown(void **state);
/* The callback that reports the connection starts consumer 0 and sends "hello". */
int flow_eager_setup(void **state);
extern uint32_t flow_eager_id;
#define flow_eager_test(function) \
	cmocka_unit_test_setup_teardown(function, flow_eager_setup, flow_teardown)
/* For a test that has ended the peer. */
int flow_teardown_here(void **state);
#define flow_test(function) cmocka_unit_test_setup_teardown(function, flow_setup, flow_teardown)
#define flow_killing_test(function) \
	cmocka_unit_test_setup_teardown(function, flow_setup, flow_teardown_here)

#endif
