/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The tasks of sync events. */
#ifndef DPUMAP_SYNC_EVENT_TASK_H
#define DPUMAP_SYNC_EVENT_TASK_H

#include "sync_event/sync_event.h"

/* Operations of the context. */
void dpumap_sync_complete(struct doca_task *task);
void dpumap_sync_enter_graph(struct doca_ctx *ctx);

#endif
