/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * doca_comch_producer: producer.c has the object and its settings, producer_ctx.c starts, progresses
 * and stops its context, producer_link.c connects it to consumers of the peer, producer_task.c has its
 * tasks.
 *
 * A producer has a link, with a send queue, for each consumer that it sends to. While a link is
 * opening, its tasks wait in a list, and the connection's lock guards all of it. The thread whose pump
 * receives the peer's answer posts them and makes the link LINK_UP: messages leave without progress of
 * the producer's own engine. From then on the queue belongs to the thread that uses the producer, and
 * no lock is needed.
 */
#ifndef DPUMAP_COMCH_PRODUCER_H
#define DPUMAP_COMCH_PRODUCER_H

#include <doca_comch_producer.h>
#include <stdatomic.h>

#include "comch/connection/connection.h"
#include "comch/fast/fast.h"
#include "core/pe/task_pool.h"
#include "device/queue/message_queue.h"

enum link_state {
	LINK_CLOSED,
	LINK_OPENING, /* the peer was asked */
	LINK_UP,
	LINK_FAILED, /* the answer was no; the producer's thread fails the tasks that wait */
};

struct doca_comch_producer_task_send {
	struct doca_task base;
	const struct doca_buf *buf;
	struct producer_link *link; /* of consumer_id, if they agree */
	uint32_t consumer_id;
	uint32_t imm_len;
	uint32_t len;
	struct dpumap_sq_key key;
	uint64_t addr;
	uint8_t imm[COMCH_MAX_IMM]; /* zeros after imm_len */
};

struct producer_link {
	uint32_t consumer_id;
	uint32_t imm_len, max_len; /* of the consumer */
	struct dpumap_mq_send *send;
	_Atomic(enum link_state) state; /* OPENING becomes UP or FAILED in any thread */
	uint32_t answers;		/* that the peer owes; guarded */
	struct task_list waiting;	/* guarded while OPENING */
	atomic_bool is_gone;		/* the consumer */
	struct producer_link *next;
};

struct doca_comch_producer {
	struct doca_ctx ctx;
	struct comch_endpoint endpoint;
	doca_comch_producer_task_send_completion_cb_t success_cb, error_cb;
	struct task_pool pool;

	struct task_list finished;
	struct dpumap_events *events; /* while the context is not IDLE */
	struct comch_poller poller;
	struct producer_link *unflushed;   /* posted to without a doorbell */
	struct producer_link *next_polled; /* NULL for the first */

	struct producer_link *links; /* changed under the connection's lock */
	bool is_open;		     /* guarded */
	atomic_bool has_link_events; /* a link failed or is gone, or the connection ended */
	atomic_bool is_down;	     /* the connection ended */
};

static inline struct doca_comch_producer *dpumap_comch_producer_of(const struct doca_ctx *ctx)
{
	return (struct doca_comch_producer *)ctx;
}

static inline bool dpumap_comch_link_is_up(const struct producer_link *link)
{
	return atomic_load_explicit(&link->state, memory_order_acquire) == LINK_UP;
}

/* The context of a producer. */
extern const struct ctx_ops dpumap_comch_producer_ctx_ops;

/* Progress that found no task; true if something happened. */
bool dpumap_comch_producer_idle(struct doca_comch_producer *producer);

/* Operations of a producer's context on its tasks. */
doca_error_t dpumap_comch_producer_task_submit(struct doca_task *task, uint32_t flags);
doca_error_t dpumap_comch_producer_task_check(const struct doca_task *task);
void dpumap_comch_producer_task_complete(struct doca_task *task);
void dpumap_comch_producer_flush(struct doca_ctx *ctx);

/* The next task that is finished, with its status; NULL if there is none. */
struct doca_comch_producer_task_send *
dpumap_comch_producer_next_task(struct doca_comch_producer *producer);
/* Complete that task; if there is none, do what is to be done then. */
bool dpumap_comch_producer_task_progress(struct doca_ctx *ctx);

#endif
