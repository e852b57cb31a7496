/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Functions of tasks that are not implemented. */
#include <doca_rdma.h>

#include "log/log.h"

doca_error_t doca_rdma_task_receive_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_receive_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_receive_completion_cb_t error_task_completion_cb, uint32_t num_tasks)
{
	(void)rdma;
	(void)successful_task_completion_cb;
	(void)error_task_completion_cb;
	(void)num_tasks;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_task_receive_allocate_init(struct doca_rdma *rdma, struct doca_buf *dst_buf,
						  union doca_data user_data,
						  struct doca_rdma_task_receive **task)
{
	(void)rdma;
	(void)dst_buf;
	(void)user_data;
	(void)task;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

struct doca_task *doca_rdma_task_receive_as_task(struct doca_rdma_task_receive *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_receive_set_dst_buf(struct doca_rdma_task_receive *task,
					struct doca_buf *dst_buf)
{
	(void)task;
	(void)dst_buf;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

struct doca_buf *doca_rdma_task_receive_get_dst_buf(const struct doca_rdma_task_receive *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

uint32_t doca_rdma_task_receive_get_result_len(const struct doca_rdma_task_receive *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return 0;
}

enum doca_rdma_opcode
doca_rdma_task_receive_get_result_opcode(const struct doca_rdma_task_receive *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return 0;
}

doca_be32_t
doca_rdma_task_receive_get_result_immediate_data(const struct doca_rdma_task_receive *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return 0;
}

const struct doca_rdma_connection *
doca_rdma_task_receive_get_result_rdma_connection(const struct doca_rdma_task_receive *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

doca_error_t doca_rdma_task_send_set_conf(
	struct doca_rdma *rdma, doca_rdma_task_send_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_send_completion_cb_t error_task_completion_cb, uint32_t num_tasks)
{
	(void)rdma;
	(void)successful_task_completion_cb;
	(void)error_task_completion_cb;
	(void)num_tasks;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_task_send_allocate_init(struct doca_rdma *rdma,
					       struct doca_rdma_connection *rdma_connection,
					       const struct doca_buf *src_buf,
					       union doca_data user_data,
					       struct doca_rdma_task_send **task)
{
	(void)rdma;
	(void)rdma_connection;
	(void)src_buf;
	(void)user_data;
	(void)task;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

struct doca_task *doca_rdma_task_send_as_task(struct doca_rdma_task_send *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_send_set_rdma_connection(struct doca_rdma_task_send *task,
					     struct doca_rdma_connection *rdma_connection)
{
	(void)task;
	(void)rdma_connection;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

const struct doca_rdma_connection *
doca_rdma_task_send_get_rdma_connection(const struct doca_rdma_task_send *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_send_set_src_buf(struct doca_rdma_task_send *task,
				     const struct doca_buf *src_buf)
{
	(void)task;
	(void)src_buf;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

const struct doca_buf *doca_rdma_task_send_get_src_buf(const struct doca_rdma_task_send *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

doca_error_t doca_rdma_task_send_imm_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_send_imm_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_send_imm_completion_cb_t error_task_completion_cb, uint32_t num_tasks)
{
	(void)rdma;
	(void)successful_task_completion_cb;
	(void)error_task_completion_cb;
	(void)num_tasks;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_task_send_imm_allocate_init(struct doca_rdma *rdma,
						   struct doca_rdma_connection *rdma_connection,
						   const struct doca_buf *src_buf,
						   doca_be32_t immediate_data,
						   union doca_data user_data,
						   struct doca_rdma_task_send_imm **task)
{
	(void)rdma;
	(void)rdma_connection;
	(void)src_buf;
	(void)immediate_data;
	(void)user_data;
	(void)task;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

struct doca_task *doca_rdma_task_send_imm_as_task(struct doca_rdma_task_send_imm *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_send_imm_set_rdma_connection(struct doca_rdma_task_send_imm *task,
						 struct doca_rdma_connection *rdma_connection)
{
	(void)task;
	(void)rdma_connection;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

const struct doca_rdma_connection *
doca_rdma_task_send_imm_get_rdma_connection(const struct doca_rdma_task_send_imm *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_send_imm_set_src_buf(struct doca_rdma_task_send_imm *task,
					 const struct doca_buf *src_buf)
{
	(void)task;
	(void)src_buf;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

const struct doca_buf *
doca_rdma_task_send_imm_get_src_buf(const struct doca_rdma_task_send_imm *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_send_imm_set_immediate_data(struct doca_rdma_task_send_imm *task,
						doca_be32_t immediate_data)
{
	(void)task;
	(void)immediate_data;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_be32_t doca_rdma_task_send_imm_get_immediate_data(const struct doca_rdma_task_send_imm *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return 0;
}

void doca_rdma_task_read_set_rdma_connection(struct doca_rdma_task_read *task,
					     struct doca_rdma_connection *rdma_connection)
{
	(void)task;
	(void)rdma_connection;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

const struct doca_rdma_connection *
doca_rdma_task_read_get_rdma_connection(const struct doca_rdma_task_read *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

uint32_t doca_rdma_task_read_get_result_len(const struct doca_rdma_task_read *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return 0;
}

void doca_rdma_task_write_set_rdma_connection(struct doca_rdma_task_write *task,
					      struct doca_rdma_connection *rdma_connection)
{
	(void)task;
	(void)rdma_connection;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

const struct doca_rdma_connection *
doca_rdma_task_write_get_rdma_connection(const struct doca_rdma_task_write *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

doca_error_t doca_rdma_task_write_imm_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_write_imm_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_write_imm_completion_cb_t error_task_completion_cb, uint32_t num_tasks)
{
	(void)rdma;
	(void)successful_task_completion_cb;
	(void)error_task_completion_cb;
	(void)num_tasks;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_task_write_imm_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
	const struct doca_buf *src_buf, struct doca_buf *dst_buf, doca_be32_t immediate_data,
	union doca_data user_data, struct doca_rdma_task_write_imm **task)
{
	(void)rdma;
	(void)rdma_connection;
	(void)src_buf;
	(void)dst_buf;
	(void)immediate_data;
	(void)user_data;
	(void)task;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

struct doca_task *doca_rdma_task_write_imm_as_task(struct doca_rdma_task_write_imm *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_write_imm_set_rdma_connection(struct doca_rdma_task_write_imm *task,
						  struct doca_rdma_connection *rdma_connection)
{
	(void)task;
	(void)rdma_connection;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

const struct doca_rdma_connection *
doca_rdma_task_write_imm_get_rdma_connection(const struct doca_rdma_task_write_imm *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_write_imm_set_src_buf(struct doca_rdma_task_write_imm *task,
					  const struct doca_buf *src_buf)
{
	(void)task;
	(void)src_buf;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

const struct doca_buf *
doca_rdma_task_write_imm_get_src_buf(const struct doca_rdma_task_write_imm *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_write_imm_set_dst_buf(struct doca_rdma_task_write_imm *task,
					  struct doca_buf *dst_buf)
{
	(void)task;
	(void)dst_buf;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

struct doca_buf *doca_rdma_task_write_imm_get_dst_buf(const struct doca_rdma_task_write_imm *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_write_imm_set_immediate_data(struct doca_rdma_task_write_imm *task,
						 doca_be32_t immediate_data)
{
	(void)task;
	(void)immediate_data;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_be32_t doca_rdma_task_write_imm_get_immediate_data(const struct doca_rdma_task_write_imm *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return 0;
}

doca_error_t doca_rdma_task_atomic_cmp_swp_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_atomic_cmp_swp_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_atomic_cmp_swp_completion_cb_t error_task_completion_cb, uint32_t num_tasks)
{
	(void)rdma;
	(void)successful_task_completion_cb;
	(void)error_task_completion_cb;
	(void)num_tasks;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_task_atomic_cmp_swp_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
	struct doca_buf *dst_buf, struct doca_buf *result_buf, uint64_t cmp_data,
	uint64_t swap_data, union doca_data user_data, struct doca_rdma_task_atomic_cmp_swp **task)
{
	(void)rdma;
	(void)rdma_connection;
	(void)dst_buf;
	(void)result_buf;
	(void)cmp_data;
	(void)swap_data;
	(void)user_data;
	(void)task;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

struct doca_task *doca_rdma_task_atomic_cmp_swp_as_task(struct doca_rdma_task_atomic_cmp_swp *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_atomic_cmp_swp_set_rdma_connection(struct doca_rdma_task_atomic_cmp_swp *task,
						       struct doca_rdma_connection *rdma_connection)
{
	(void)task;
	(void)rdma_connection;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

const struct doca_rdma_connection *
doca_rdma_task_atomic_cmp_swp_get_rdma_connection(const struct doca_rdma_task_atomic_cmp_swp *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_atomic_cmp_swp_set_dst_buf(struct doca_rdma_task_atomic_cmp_swp *task,
					       struct doca_buf *dst_buf)
{
	(void)task;
	(void)dst_buf;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

struct doca_buf *
doca_rdma_task_atomic_cmp_swp_get_dst_buf(const struct doca_rdma_task_atomic_cmp_swp *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_atomic_cmp_swp_set_result_buf(struct doca_rdma_task_atomic_cmp_swp *task,
						  struct doca_buf *result_buf)
{
	(void)task;
	(void)result_buf;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

struct doca_buf *
doca_rdma_task_atomic_cmp_swp_get_result_buf(const struct doca_rdma_task_atomic_cmp_swp *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_atomic_cmp_swp_set_cmp_data(struct doca_rdma_task_atomic_cmp_swp *task,
						uint64_t cmp_data)
{
	(void)task;
	(void)cmp_data;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

uint64_t
doca_rdma_task_atomic_cmp_swp_get_cmp_data(const struct doca_rdma_task_atomic_cmp_swp *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return 0;
}

void doca_rdma_task_atomic_cmp_swp_set_swap_data(struct doca_rdma_task_atomic_cmp_swp *task,
						 uint64_t swap_data)
{
	(void)task;
	(void)swap_data;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

uint64_t
doca_rdma_task_atomic_cmp_swp_get_swap_data(const struct doca_rdma_task_atomic_cmp_swp *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return 0;
}

doca_error_t doca_rdma_task_atomic_fetch_add_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_atomic_fetch_add_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_atomic_fetch_add_completion_cb_t error_task_completion_cb,
	uint32_t num_tasks)
{
	(void)rdma;
	(void)successful_task_completion_cb;
	(void)error_task_completion_cb;
	(void)num_tasks;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_task_atomic_fetch_add_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
	struct doca_buf *dst_buf, struct doca_buf *result_buf, uint64_t add_data,
	union doca_data user_data, struct doca_rdma_task_atomic_fetch_add **task)
{
	(void)rdma;
	(void)rdma_connection;
	(void)dst_buf;
	(void)result_buf;
	(void)add_data;
	(void)user_data;
	(void)task;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

struct doca_task *
doca_rdma_task_atomic_fetch_add_as_task(struct doca_rdma_task_atomic_fetch_add *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_atomic_fetch_add_set_rdma_connection(
	struct doca_rdma_task_atomic_fetch_add *task, struct doca_rdma_connection *rdma_connection)
{
	(void)task;
	(void)rdma_connection;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

const struct doca_rdma_connection *doca_rdma_task_atomic_fetch_add_get_rdma_connection(
	const struct doca_rdma_task_atomic_fetch_add *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_atomic_fetch_add_set_dst_buf(struct doca_rdma_task_atomic_fetch_add *task,
						 struct doca_buf *dst_buf)
{
	(void)task;
	(void)dst_buf;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

struct doca_buf *
doca_rdma_task_atomic_fetch_add_get_dst_buf(const struct doca_rdma_task_atomic_fetch_add *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_atomic_fetch_add_set_result_buf(struct doca_rdma_task_atomic_fetch_add *task,
						    struct doca_buf *result_buf)
{
	(void)task;
	(void)result_buf;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

struct doca_buf *
doca_rdma_task_atomic_fetch_add_get_result_buf(const struct doca_rdma_task_atomic_fetch_add *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_atomic_fetch_add_set_add_data(struct doca_rdma_task_atomic_fetch_add *task,
						  uint64_t add_data)
{
	(void)task;
	(void)add_data;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

uint64_t
doca_rdma_task_atomic_fetch_add_get_add_data(const struct doca_rdma_task_atomic_fetch_add *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return 0;
}

doca_error_t doca_rdma_task_remote_net_sync_event_get_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_remote_net_sync_event_get_completion_cb_t successful_task_completion_cb,
	doca_rdma_task_remote_net_sync_event_get_completion_cb_t error_task_completion_cb,
	uint32_t num_tasks)
{
	(void)rdma;
	(void)successful_task_completion_cb;
	(void)error_task_completion_cb;
	(void)num_tasks;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_task_remote_net_sync_event_get_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
	const struct doca_sync_event_remote_net *sync_event, struct doca_buf *dst_buf,
	union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_get **task)
{
	(void)rdma;
	(void)rdma_connection;
	(void)sync_event;
	(void)dst_buf;
	(void)user_data;
	(void)task;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

struct doca_task *doca_rdma_task_remote_net_sync_event_get_as_task(
	struct doca_rdma_task_remote_net_sync_event_get *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_remote_net_sync_event_get_set_rdma_connection(
	struct doca_rdma_task_remote_net_sync_event_get *task,
	struct doca_rdma_connection *rdma_connection)
{
	(void)task;
	(void)rdma_connection;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

const struct doca_rdma_connection *doca_rdma_task_remote_net_sync_event_get_get_rdma_connection(
	const struct doca_rdma_task_remote_net_sync_event_get *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_remote_net_sync_event_get_set_sync_event(
	struct doca_rdma_task_remote_net_sync_event_get *task,
	const struct doca_sync_event_remote_net *sync_event)
{
	(void)task;
	(void)sync_event;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

const struct doca_sync_event_remote_net *doca_rdma_task_remote_net_sync_event_get_get_sync_event(
	const struct doca_rdma_task_remote_net_sync_event_get *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_remote_net_sync_event_get_set_dst_buf(
	struct doca_rdma_task_remote_net_sync_event_get *task, struct doca_buf *dst_buf)
{
	(void)task;
	(void)dst_buf;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

struct doca_buf *doca_rdma_task_remote_net_sync_event_get_get_dst_buf(
	const struct doca_rdma_task_remote_net_sync_event_get *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

uint32_t doca_rdma_task_remote_net_sync_event_get_get_result_len(
	const struct doca_rdma_task_remote_net_sync_event_get *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return 0;
}

doca_error_t doca_rdma_task_remote_net_sync_event_notify_set_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t
		successful_task_completion_cb,
	doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t error_task_completion_cb,
	uint32_t num_tasks)
{
	(void)rdma;
	(void)successful_task_completion_cb;
	(void)error_task_completion_cb;
	(void)num_tasks;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
	struct doca_sync_event_remote_net *sync_event, const struct doca_buf *src_buf,
	union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_notify_set **task)
{
	(void)rdma;
	(void)rdma_connection;
	(void)sync_event;
	(void)src_buf;
	(void)user_data;
	(void)task;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

struct doca_task *doca_rdma_task_remote_net_sync_event_notify_set_as_task(
	struct doca_rdma_task_remote_net_sync_event_notify_set *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_remote_net_sync_event_notify_set_set_rdma_connection(
	struct doca_rdma_task_remote_net_sync_event_notify_set *task,
	struct doca_rdma_connection *rdma_connection)
{
	(void)task;
	(void)rdma_connection;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

const struct doca_rdma_connection *
doca_rdma_task_remote_net_sync_event_notify_set_get_rdma_connection(
	const struct doca_rdma_task_remote_net_sync_event_notify_set *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_remote_net_sync_event_notify_set_set_sync_event(
	struct doca_rdma_task_remote_net_sync_event_notify_set *task,
	struct doca_sync_event_remote_net *sync_event)
{
	(void)task;
	(void)sync_event;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

struct doca_sync_event_remote_net *doca_rdma_task_remote_net_sync_event_notify_set_get_sync_event(
	const struct doca_rdma_task_remote_net_sync_event_notify_set *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_remote_net_sync_event_notify_set_set_src_buf(
	struct doca_rdma_task_remote_net_sync_event_notify_set *task,
	const struct doca_buf *src_buf)
{
	(void)task;
	(void)src_buf;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

const struct doca_buf *doca_rdma_task_remote_net_sync_event_notify_set_get_src_buf(
	const struct doca_rdma_task_remote_net_sync_event_notify_set *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_set_conf(
	struct doca_rdma *rdma,
	doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t
		successful_task_completion_cb,
	doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t error_task_completion_cb,
	uint32_t num_tasks)
{
	(void)rdma;
	(void)successful_task_completion_cb;
	(void)error_task_completion_cb;
	(void)num_tasks;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
	struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
	struct doca_sync_event_remote_net *sync_event, struct doca_buf *result_buf,
	uint64_t add_data, union doca_data user_data,
	struct doca_rdma_task_remote_net_sync_event_notify_add **task)
{
	(void)rdma;
	(void)rdma_connection;
	(void)sync_event;
	(void)result_buf;
	(void)add_data;
	(void)user_data;
	(void)task;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

struct doca_task *doca_rdma_task_remote_net_sync_event_notify_add_as_task(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_rdma_connection(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task,
	struct doca_rdma_connection *rdma_connection)
{
	(void)task;
	(void)rdma_connection;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

const struct doca_rdma_connection *
doca_rdma_task_remote_net_sync_event_notify_add_get_rdma_connection(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_sync_event(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task,
	struct doca_sync_event_remote_net *sync_event)
{
	(void)task;
	(void)sync_event;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

struct doca_sync_event_remote_net *doca_rdma_task_remote_net_sync_event_notify_add_get_sync_event(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_result_buf(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task, struct doca_buf *result_buf)
{
	(void)task;
	(void)result_buf;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

struct doca_buf *doca_rdma_task_remote_net_sync_event_notify_add_get_result_buf(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return NULL;
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_add_data(
	struct doca_rdma_task_remote_net_sync_event_notify_add *task, uint64_t add_data)
{
	(void)task;
	(void)add_data;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
}

uint64_t doca_rdma_task_remote_net_sync_event_notify_add_get_add_data(
	const struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
	(void)task;
	(void)dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "%s is not implemented", __func__);
	return 0;
}
