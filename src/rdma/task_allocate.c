/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Allocation of tasks. Each kind takes other arguments. */
#include "rdma/task.h"

#include "log/log.h"

doca_error_t doca_rdma_task_receive_allocate_init(struct doca_rdma *rdma, struct doca_buf *dst_buf,
						  union doca_data user_data,
						  struct doca_rdma_task_receive **task)
{
	struct rdma_task *taken;
	doca_error_t result;

	if (doca_unlikely(!task))
		return dpumap_fail_null(__func__);
	result = dpumap_rdma_allocate(rdma, NULL, RDMA_RECEIVE, user_data, &taken, __func__);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	taken->dst = dst_buf;
	*task = (struct doca_rdma_task_receive *)taken;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_task_send_allocate_init(struct doca_rdma *rdma,
					       struct doca_rdma_connection *rdma_connection,
					       const struct doca_buf *src_buf,
					       union doca_data user_data,
					       struct doca_rdma_task_send **task)
{
	struct rdma_task *taken;
	doca_error_t result;

	if (doca_unlikely(!task))
		return dpumap_fail_null(__func__);
	result =
		dpumap_rdma_allocate(rdma, rdma_connection, RDMA_SEND, user_data, &taken, __func__);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	taken->src = src_buf;
	*task = (struct doca_rdma_task_send *)taken;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_task_send_imm_allocate_init(struct doca_rdma *rdma,
						   struct doca_rdma_connection *rdma_connection,
						   const struct doca_buf *src_buf,
						   doca_be32_t immediate_data,
						   union doca_data user_data,
						   struct doca_rdma_task_send_imm **task)
{
	struct rdma_task *taken;
	doca_error_t result;

	if (doca_unlikely(!task))
		return dpumap_fail_null(__func__);
	result = dpumap_rdma_allocate(rdma, rdma_connection, RDMA_SEND_IMM, user_data, &taken,
				      __func__);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	taken->src = src_buf;
	taken->imm = immediate_data;
	*task = (struct doca_rdma_task_send_imm *)taken;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_task_read_allocate_init(struct doca_rdma *rdma,
					       struct doca_rdma_connection *rdma_connection,
					       const struct doca_buf *src_buf,
					       struct doca_buf *dst_buf, union doca_data user_data,
					       struct doca_rdma_task_read **task)
{
	struct rdma_task *taken;
	doca_error_t result;

	if (doca_unlikely(!task))
		return dpumap_fail_null(__func__);
	result =
		dpumap_rdma_allocate(rdma, rdma_connection, RDMA_READ, user_data, &taken, __func__);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	taken->src = src_buf;
	taken->dst = dst_buf;
	*task = (struct doca_rdma_task_read *)taken;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_task_write_allocate_init(struct doca_rdma *rdma,
						struct doca_rdma_connection *rdma_connection,
						const struct doca_buf *src_buf,
						struct doca_buf *dst_buf, union doca_data user_data,
						struct doca_rdma_task_write **task)
{
	struct rdma_task *taken;
	doca_error_t result;

	if (doca_unlikely(!task))
		return dpumap_fail_null(__func__);
	result = dpumap_rdma_allocate(rdma, rdma_connection, RDMA_WRITE, user_data, &taken,
				      __func__);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	taken->src = src_buf;
	taken->dst = dst_buf;
	*task = (struct doca_rdma_task_write *)taken;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_task_write_imm_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
	const struct doca_buf *src_buf, struct doca_buf *dst_buf, doca_be32_t immediate_data,
	union doca_data user_data, struct doca_rdma_task_write_imm **task)
{
	struct rdma_task *taken;
	doca_error_t result;

	if (doca_unlikely(!task))
		return dpumap_fail_null(__func__);
	result = dpumap_rdma_allocate(rdma, rdma_connection, RDMA_WRITE_IMM, user_data, &taken,
				      __func__);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	taken->src = src_buf;
	taken->dst = dst_buf;
	taken->imm = immediate_data;
	*task = (struct doca_rdma_task_write_imm *)taken;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_task_atomic_cmp_swp_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
	struct doca_buf *dst_buf, struct doca_buf *result_buf, uint64_t cmp_data,
	uint64_t swap_data, union doca_data user_data, struct doca_rdma_task_atomic_cmp_swp **task)
{
	struct rdma_task *taken;
	doca_error_t result;

	if (doca_unlikely(!task))
		return dpumap_fail_null(__func__);
	result = dpumap_rdma_allocate(rdma, rdma_connection, RDMA_CMP_SWP, user_data, &taken,
				      __func__);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	taken->dst = dst_buf;
	taken->result = result_buf;
	taken->operand = cmp_data;
	taken->swap = swap_data;
	*task = (struct doca_rdma_task_atomic_cmp_swp *)taken;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_task_atomic_fetch_add_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
	struct doca_buf *dst_buf, struct doca_buf *result_buf, uint64_t add_data,
	union doca_data user_data, struct doca_rdma_task_atomic_fetch_add **task)
{
	struct rdma_task *taken;
	doca_error_t result;

	if (doca_unlikely(!task))
		return dpumap_fail_null(__func__);
	result = dpumap_rdma_allocate(rdma, rdma_connection, RDMA_FETCH_ADD, user_data, &taken,
				      __func__);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	taken->dst = dst_buf;
	taken->result = result_buf;
	taken->operand = add_data;
	*task = (struct doca_rdma_task_atomic_fetch_add *)taken;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_task_remote_net_sync_event_get_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
	const struct doca_sync_event_remote_net *sync_event, struct doca_buf *dst_buf,
	union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_get **task)
{
	struct rdma_task *taken;
	doca_error_t result;

	if (doca_unlikely(!task))
		return dpumap_fail_null(__func__);
	result = dpumap_rdma_allocate(rdma, rdma_connection, RDMA_EVENT_GET, user_data, &taken,
				      __func__);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	taken->event = sync_event;
	taken->dst = dst_buf;
	*task = (struct doca_rdma_task_remote_net_sync_event_get *)taken;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
	struct doca_sync_event_remote_net *sync_event, const struct doca_buf *src_buf,
	union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_notify_set **task)
{
	struct rdma_task *taken;
	doca_error_t result;

	if (doca_unlikely(!task))
		return dpumap_fail_null(__func__);
	result = dpumap_rdma_allocate(rdma, rdma_connection, RDMA_EVENT_SET, user_data, &taken,
				      __func__);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	taken->event = sync_event;
	taken->src = src_buf;
	*task = (struct doca_rdma_task_remote_net_sync_event_notify_set *)taken;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
	struct doca_sync_event_remote_net *sync_event, struct doca_buf *result_buf,
	uint64_t add_data, union doca_data user_data,
	struct doca_rdma_task_remote_net_sync_event_notify_add **task)
{
	struct rdma_task *taken;
	doca_error_t result;

	if (doca_unlikely(!task))
		return dpumap_fail_null(__func__);
	result = dpumap_rdma_allocate(rdma, rdma_connection, RDMA_EVENT_ADD, user_data, &taken,
				      __func__);
	if (doca_unlikely(result != DOCA_SUCCESS))
		return result;
	taken->event = sync_event;
	taken->result = result_buf;
	taken->operand = add_data;
	*task = (struct doca_rdma_task_remote_net_sync_event_notify_add *)taken;
	return DOCA_SUCCESS;
}
