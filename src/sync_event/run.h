/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Execution of the tasks of sync events. */
#ifndef DPUMAP_SYNC_EVENT_RUN_H
#define DPUMAP_SYNC_EVENT_RUN_H

#include "sync_event/sync_event.h"

/* Operations of the context. */
doca_error_t dpumap_sync_submit(struct doca_task *task, uint32_t flags);
doca_error_t dpumap_sync_check(const struct doca_task *task);
struct doca_task *dpumap_sync_poll(struct doca_ctx *ctx);
doca_error_t dpumap_sync_arm(struct doca_ctx *ctx);
bool dpumap_sync_is_ready(struct doca_ctx *ctx);
void dpumap_sync_begin_stop(struct doca_ctx *ctx);

#endif
