/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Operations of a producer's context on its tasks. */
#ifndef DPUMAP_COMCH_PRODUCER_TASK_H
#define DPUMAP_COMCH_PRODUCER_TASK_H

#include "comch/fast/producer.h"

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
