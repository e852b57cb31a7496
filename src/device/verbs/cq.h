/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Completion queues and their channels. */
#ifndef DPUMAP_DEVICE_VERBS_CQ_H
#define DPUMAP_DEVICE_VERBS_CQ_H

#include <doca_compat.h>

#include "device/verbs/context.h"

struct dpumap_verbs_channel {
	struct ibv_comp_channel *channel;
	struct dpumap_verbs_context *context;
};

/* The memory of a queue; addresses are NULL if the device is not an mlx5 device. */
struct dpumap_verbs_cq_memory {
	uint8_t *cqes;
	uint32_t size, cqe_size;
	uint32_t *record; /* consumer index, and request for events */
	uint64_t *doorbell;
	uint32_t cqn;
};

struct dpumap_verbs_cq {
	struct dpumap_verbs_context *context;
	struct ibv_cq *cq;
	struct dpumap_verbs_cq *next;
	struct dpumap_verbs_cq_memory memory;
	bool is_external;
	const void *uar;	     /* of the program */
	atomic_uint consumed;	     /* completions, by the program */
	struct ibv_cq *_Atomic fast; /* NULL: poll by dpumap_verbs_poll_slowly() */
	uint32_t num_waits;	     /* requests that are held back for its completions */
	struct ibv_wc *kept; /* completions that were polled when a queue pair was destroyed */
	uint32_t first_kept, num_kept;
	size_t kept_room;
};

struct dpumap_verbs_cq_attr {
	uint32_t size;
	bool has_large_entries, may_overrun, is_external;
	const struct dpumap_verbs_channel *channel;
	const void *uar;
};

/* Initialize *cq. */
doca_error_t dpumap_verbs_create_cq(struct dpumap_verbs_cq *cq,
				    struct dpumap_verbs_context *context,
				    const struct dpumap_verbs_cq_attr *attr);
doca_error_t dpumap_verbs_destroy_cq(struct dpumap_verbs_cq *cq);

doca_error_t dpumap_verbs_arm_cq(struct dpumap_verbs_cq *cq, bool solicited_only);
int dpumap_verbs_poll_slowly(struct dpumap_verbs_cq *cq, int num, struct ibv_wc *wc);

/* As ibv_poll_cq(). */
static inline int dpumap_verbs_poll(struct dpumap_verbs_cq *cq, int num, struct ibv_wc *wc)
{
	struct ibv_cq *fast = atomic_load_explicit(&cq->fast, memory_order_acquire);
	int polled;

	if (doca_unlikely(!fast))
		return dpumap_verbs_poll_slowly(cq, num, wc);
	polled = ibv_poll_cq(fast, num, wc);
	if (doca_likely(polled > 0))
		atomic_fetch_add_explicit(&cq->consumed, (unsigned int)polled,
					  memory_order_release);
	return polled;
}

/* Whether the completion with this number exists, counted from 0. Under the lock of the context. */
bool dpumap_verbs_has_completed(const struct dpumap_verbs_cq *cq, uint32_t number);
/*
 * Take the completions out of the queue, and keep those of other queue pairs than this one, which
 * completes nothing any more. Under the lock of the context. NO_MEMORY: some are still there.
 */
doca_error_t dpumap_verbs_keep_others(struct dpumap_verbs_cq *cq, uint32_t qpn);

/* Initialize *channel. */
doca_error_t dpumap_verbs_create_channel(struct dpumap_verbs_context *context,
					 struct dpumap_verbs_channel *channel);
void dpumap_verbs_destroy_channel(const struct dpumap_verbs_channel *channel);
int dpumap_verbs_channel_fd(const struct dpumap_verbs_channel *channel);
doca_error_t dpumap_verbs_next_cq_event(const struct dpumap_verbs_channel *channel,
					struct dpumap_verbs_cq **cq);
void dpumap_verbs_ack_cq(struct dpumap_verbs_cq *cq, unsigned int num);

#endif
