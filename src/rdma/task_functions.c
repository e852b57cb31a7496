/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What all kinds of tasks have alike: most functions of users. */
#include "rdma/task.h"

/* --- configuration, and the callbacks --------------------------------------------------------- */

#define TASK(name, kind)                                                                      \
	doca_error_t doca_rdma_task_##name##_set_conf(                                        \
		struct doca_rdma *rdma,                                                       \
		doca_rdma_task_##name##_completion_cb_t successful_task_completion_cb,        \
		doca_rdma_task_##name##_completion_cb_t error_task_completion_cb,             \
		uint32_t num_tasks)                                                           \
	{                                                                                     \
		return dpumap_rdma_configure(                                                 \
			rdma, kind, (rdma_callback *)successful_task_completion_cb,           \
			(rdma_callback *)error_task_completion_cb, num_tasks, __func__);      \
	}                                                                                     \
	struct doca_task *doca_rdma_task_##name##_as_task(struct doca_rdma_task_##name *task) \
	{                                                                                     \
		return task ? &task->task.base : NULL;                                        \
	}                                                                                     \
	static void call_##name(struct rdma_task *task, rdma_callback *callback)              \
	{                                                                                     \
		((doca_rdma_task_##name##_completion_cb_t)callback)(                          \
			(struct doca_rdma_task_##name *)task, task->base.user_data,           \
			task->base.ctx->user_data);                                           \
	}

TASK(receive, RDMA_RECEIVE)
TASK(send, RDMA_SEND)
TASK(send_imm, RDMA_SEND_IMM)
TASK(read, RDMA_READ)
TASK(write, RDMA_WRITE)
TASK(write_imm, RDMA_WRITE_IMM)
TASK(atomic_cmp_swp, RDMA_CMP_SWP)
TASK(atomic_fetch_add, RDMA_FETCH_ADD)
TASK(remote_net_sync_event_get, RDMA_EVENT_GET)
TASK(remote_net_sync_event_notify_set, RDMA_EVENT_SET)
TASK(remote_net_sync_event_notify_add, RDMA_EVENT_ADD)

static void (*const calls[RDMA_NUM_KINDS])(struct rdma_task *, rdma_callback *) = {
	[RDMA_RECEIVE] = call_receive,
	[RDMA_SEND] = call_send,
	[RDMA_SEND_IMM] = call_send_imm,
	[RDMA_READ] = call_read,
	[RDMA_WRITE] = call_write,
	[RDMA_WRITE_IMM] = call_write_imm,
	[RDMA_CMP_SWP] = call_atomic_cmp_swp,
	[RDMA_FETCH_ADD] = call_atomic_fetch_add,
	[RDMA_EVENT_GET] = call_remote_net_sync_event_get,
	[RDMA_EVENT_SET] = call_remote_net_sync_event_notify_set,
	[RDMA_EVENT_ADD] = call_remote_net_sync_event_notify_add,
};

void dpumap_rdma_call(struct rdma_task *task, rdma_callback *callback)
{
	calls[task->kind](task, callback);
}

/* --- fields ----------------------------------------------------------------------------------- */

#define GET(name, what, type, value)                                                      \
	type doca_rdma_task_##name##_get_##what(const struct doca_rdma_task_##name *task) \
	{                                                                                 \
		return value;                                                             \
	}
#define FIELD(name, what, type, field)                                                         \
	void doca_rdma_task_##name##_set_##what(struct doca_rdma_task_##name *task, type what) \
	{                                                                                      \
		task->task.field = what;                                                       \
	}                                                                                      \
	GET(name, what, type, task->task.field)

#define CONNECTION(name)                                                                          \
	void doca_rdma_task_##name##_set_rdma_connection(                                         \
		struct doca_rdma_task_##name *task, struct doca_rdma_connection *rdma_connection) \
	{                                                                                         \
		task->task.connection = rdma_connection;                                          \
	}                                                                                         \
	GET(name, rdma_connection, const struct doca_rdma_connection *, task->task.connection)

CONNECTION(send)
CONNECTION(send_imm)
CONNECTION(read)
CONNECTION(write)
CONNECTION(write_imm)
CONNECTION(atomic_cmp_swp)
CONNECTION(atomic_fetch_add)
CONNECTION(remote_net_sync_event_get)
CONNECTION(remote_net_sync_event_notify_set)
CONNECTION(remote_net_sync_event_notify_add)

#define SRC_BUF(name) FIELD(name, src_buf, const struct doca_buf *, src)

SRC_BUF(send)
SRC_BUF(send_imm)
SRC_BUF(read)
SRC_BUF(write)
SRC_BUF(write_imm)
SRC_BUF(remote_net_sync_event_notify_set)

#define DST_BUF(name) FIELD(name, dst_buf, struct doca_buf *, dst)

DST_BUF(receive)
DST_BUF(read)
DST_BUF(write)
DST_BUF(write_imm)
DST_BUF(atomic_cmp_swp)
DST_BUF(atomic_fetch_add)
DST_BUF(remote_net_sync_event_get)

#define RESULT_BUF(name) FIELD(name, result_buf, struct doca_buf *, result)

RESULT_BUF(atomic_cmp_swp)
RESULT_BUF(atomic_fetch_add)
RESULT_BUF(remote_net_sync_event_notify_add)

FIELD(send_imm, immediate_data, doca_be32_t, imm)
FIELD(write_imm, immediate_data, doca_be32_t, imm)

FIELD(atomic_cmp_swp, cmp_data, uint64_t, operand)
FIELD(atomic_cmp_swp, swap_data, uint64_t, swap)
FIELD(atomic_fetch_add, add_data, uint64_t, operand)
FIELD(remote_net_sync_event_notify_add, add_data, uint64_t, operand)

FIELD(remote_net_sync_event_get, sync_event, const struct doca_sync_event_remote_net *, event)

/* The task keeps what the program set, which is not const. */
#define SYNC_EVENT(name)                                                                           \
	void doca_rdma_task_##name##_set_sync_event(struct doca_rdma_task_##name *task,            \
						    struct doca_sync_event_remote_net *sync_event) \
	{                                                                                          \
		task->task.event = sync_event;                                                     \
	}                                                                                          \
	GET(name, sync_event, struct doca_sync_event_remote_net *,                                 \
	    (struct doca_sync_event_remote_net *)(uintptr_t)task->task.event)

SYNC_EVENT(remote_net_sync_event_notify_set)
SYNC_EVENT(remote_net_sync_event_notify_add)

/* --- results ---------------------------------------------------------------------------------- */

GET(receive, result_len, uint32_t, task->task.result_len)
GET(read, result_len, uint32_t, task->task.result_len)

/* The interface doubles the "get". */
uint32_t doca_rdma_task_remote_net_sync_event_get_get_result_len(
	const struct doca_rdma_task_remote_net_sync_event_get *task)
{
	return task->task.result_len;
}

GET(receive, result_opcode, enum doca_rdma_opcode, task->task.opcode)
GET(receive, result_immediate_data, doca_be32_t, task->task.result_imm)
GET(receive, result_rdma_connection, const struct doca_rdma_connection *,
    task->task.result_connection)
