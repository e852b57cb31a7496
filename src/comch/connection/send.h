/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The send tasks of servers and clients. */
#ifndef DPUMAP_COMCH_SEND_H
#define DPUMAP_COMCH_SEND_H

#include "comch/connection/control.h"

/* doca_comch_server_task_send_set_conf(), and that of clients. */
doca_error_t dpumap_comch_send_set_conf(struct comch_control *control, const char *function,
					doca_comch_task_send_completion_cb_t success_cb,
					doca_comch_task_send_completion_cb_t error_cb,
					uint32_t num_tasks);
/* doca_comch_server_task_send_alloc_init(), and that of clients. */
doca_error_t dpumap_comch_send_alloc(struct comch_control *control, const char *function,
				     struct doca_comch_connection *peer, const void *msg,
				     uint32_t len, struct doca_comch_task_send **task);

/* Operations of the context. */
doca_error_t dpumap_comch_send_submit(struct doca_task *task, uint32_t flags);
doca_error_t dpumap_comch_send_check(const struct doca_task *task);
void dpumap_comch_send_complete(struct doca_task *task);
void dpumap_comch_send_release(struct doca_task *task);

/* The operations that servers and clients have in common. */
#define COMCH_COMMON_OPS                                                                   \
	.survives_failure = true, .free = dpumap_comch_control_free,                       \
	.submit = dpumap_comch_send_submit, .check = dpumap_comch_send_check,              \
	.progress = dpumap_comch_control_progress, .complete = dpumap_comch_send_complete, \
	.release = dpumap_comch_send_release, .arm = dpumap_comch_control_arm,             \
	.is_ready = dpumap_comch_control_is_ready

#endif
