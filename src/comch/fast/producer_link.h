/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The links of a producer. Only the producer's own thread calls these functions. */
#ifndef DPUMAP_COMCH_PRODUCER_LINK_H
#define DPUMAP_COMCH_PRODUCER_LINK_H

#include "comch/fast/producer.h"

extern const struct comch_endpoint_ops dpumap_comch_producer_endpoint_ops;

/*
 * The link to a consumer, opened if necessary. INVALID_VALUE: the peer has no such consumer;
 * NOT_CONNECTED: the connection ended. Logged.
 */
doca_error_t dpumap_comch_link_get(struct doca_comch_producer *producer, uint32_t consumer_id,
				   struct producer_link **link);
/* Post a task, or let it wait for the link. False: the link is closed. */
bool dpumap_comch_link_submit(struct doca_comch_producer *producer, struct producer_link *link,
			      struct doca_comch_producer_task_send *task);
/* Handle what other threads have found: see has_link_events. Tasks that end are finished. */
void dpumap_comch_link_handle_events(struct doca_comch_producer *producer);
/* A consumer, or the connection, is gone, and the device has not completed all tasks yet. */
bool dpumap_comch_link_is_any_draining(const struct doca_comch_producer *producer);
/*
 * A task failed: post those after it through a new queue pair, as the old one is in error. Return the
 * status of the task.
 */
doca_error_t dpumap_comch_link_recover(struct doca_comch_producer *producer,
				       struct producer_link *link, doca_error_t status);
/* Close all links; their tasks finish. False: the device failed, call again. */
bool dpumap_comch_link_close_all(struct doca_comch_producer *producer);

/*
 * Post to a link that is up. Without OPTIMIZE_REPORTS a task must not wait for the completion of later
 * ones, for which the consumer may have no receive.
 */
static inline bool dpumap_comch_link_post(const struct doca_comch_producer *producer,
					  const struct producer_link *link,
					  struct doca_comch_producer_task_send *task,
					  uint32_t flags)
{
	struct dpumap_mq_message message = {
		.header = task->imm,
		.tag = dpumap_comch_tag(producer->endpoint.id, task->imm_len),
		.len = task->len,
		.key = &task->key,
		.addr = task->addr,
		.cookie = task,
		.is_signaled = !(flags & DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS),
	};

	return dpumap_mq_send_post(link->send, &message);
}

#endif
