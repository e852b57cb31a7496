/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Operations of a consumer's context on its tasks. */
#ifndef DPUMAP_COMCH_CONSUMER_TASK_H
#define DPUMAP_COMCH_CONSUMER_TASK_H

#include "comch/fast/consumer.h"

doca_error_t dpumap_comch_consumer_task_submit(struct doca_task *task, uint32_t flags);
doca_error_t dpumap_comch_consumer_task_check(const struct doca_task *task);
void dpumap_comch_consumer_task_complete(struct doca_task *task);

/* The next task that is finished, with its status; NULL if there is none. */
struct doca_comch_consumer_task_post_recv *
dpumap_comch_consumer_next_task(struct doca_comch_consumer *consumer);
/* Complete that task, or consumer->finished; if there is none, do what is to be done then. */
bool dpumap_comch_consumer_task_progress(struct doca_ctx *ctx);

#endif
