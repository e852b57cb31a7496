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

#include <stdatomic.h>

#include <doca_comch_consumer.h>

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
	struct comch_pulse pulse;
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

#endif
