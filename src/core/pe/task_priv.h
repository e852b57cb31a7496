/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What contexts do with their tasks. */
#ifndef DPUMAP_CORE_PE_TASK_PRIV_H
#define DPUMAP_CORE_PE_TASK_PRIV_H

struct doca_task;

/* After the callback of a task: free it if the program did so before the callback. */
void dpumap_task_release_early(struct doca_task *task);

#endif
