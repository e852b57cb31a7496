/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * doca_comch_consumer: consumer.c has the object and its settings, consumer_ctx.c starts, progresses
 * and stops its context, consumer_path.c connects the producers of the peer, consumer_task.c has its
 * tasks.
 *
 * One thread uses a consumer. Frames are handled by any thread that pumps the connection. What both
 * use is atomic or guarded by the connection's lock. Responders are created under that lock, so that a
 * producer is connected without progress of the consumer's own engine.
 */
#ifndef DPUMAP_COMCH_CONSUMER_H
#define DPUMAP_COMCH_CONSUMER_H

#include <doca_comch_consumer.h>
#include <stdatomic.h>

#include "comch/connection/connection.h"
#include "comch/fast/fast.h"
#include "core/pe/task_pool.h"
#include "device/queue/message_queue.h"

struct doca_comch_consumer_task_post_recv {
	struct doca_task base;
	struct doca_buf *buf;
	uint32_t len;	      /* received */
	uint32_t producer_id; /* 0: there is no message */
	uint32_t imm_len;
	uint8_t imm[COMCH_MAX_IMM];
};

/* A producer of the peer. */
struct consumer_path {
	uint32_t producer_id;
	struct dpumap_mq_responder *responder;
	struct consumer_path *next;
};

struct doca_comch_consumer {
	struct doca_ctx ctx;
	struct comch_endpoint endpoint;
	const struct doca_mmap *mmap; /* compared, not used */
	doca_comch_consumer_task_post_recv_completion_cb_t success_cb, error_cb;
	struct task_pool pool;
	uint32_t imm_len;

	struct doca_comch_consumer_task_post_recv *finished; /* found by is_ready() */
	struct dpumap_events *events; /* this and the following while the context is not IDLE */
	struct dpumap_mq_recv *recv;
	struct comch_poller poller;
	bool is_closed;

	bool is_open; /* this and the following: guarded by the connection's lock */
	uint32_t num_paths;
	struct consumer_path *paths;

	_Atomic(doca_error_t) answer; /* of the peer; IN_PROGRESS: none yet */
	atomic_bool is_down;	      /* the connection ended */
};

static inline struct doca_comch_consumer *dpumap_comch_consumer_of(const struct doca_ctx *ctx)
{
	return (struct doca_comch_consumer *)ctx;
}

/* The context of a consumer. */
extern const struct ctx_ops dpumap_comch_consumer_ctx_ops;

/* Progress that found no task; true if something happened. */
bool dpumap_comch_consumer_idle(struct doca_comch_consumer *consumer);

/* The frames for a consumer, and the paths that producers of the peer have to it. */
extern const struct comch_endpoint_ops dpumap_comch_consumer_endpoint_ops;

/* Tell the peer that there is a consumer. Its answer follows. */
doca_error_t dpumap_comch_consumer_announce(struct doca_comch_consumer *consumer);
/* Tell the peer that the consumer is gone, and destroy all paths. On failure call again. */
doca_error_t dpumap_comch_consumer_withdraw(struct doca_comch_consumer *consumer);

/* Operations of a consumer's context on its tasks. */
doca_error_t dpumap_comch_consumer_task_submit(struct doca_task *task, uint32_t flags);
doca_error_t dpumap_comch_consumer_task_check(const struct doca_task *task);
void dpumap_comch_consumer_task_complete(struct doca_task *task);

/* The next task that is finished, with its status; NULL if there is none. */
struct doca_comch_consumer_task_post_recv *
dpumap_comch_consumer_next_task(struct doca_comch_consumer *consumer);
/* Complete that task, or consumer->finished; if there is none, do what is to be done then. */
bool dpumap_comch_consumer_task_progress(struct doca_ctx *ctx);

#endif
