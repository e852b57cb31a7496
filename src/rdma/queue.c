/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "rdma/rdma.h"

#include "rdma/task.h"

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The sends of all connections together. */
static uint32_t num_sends(const struct doca_rdma *rdma)
{
	uint32_t max = dpumap_device_caps(rdma->ctx.dev->device)->max_queue_depth;
	uint64_t num = dpumap_rdma_num_tasks(rdma);

	if (!num)
		return 1;
	return num < max ? (uint32_t)num : max;
}

uint32_t dpumap_rdma_queue_depth(const struct doca_rdma *rdma)
{
	return smaller(num_sends(rdma), rdma->settings.send_queue_size);
}

doca_error_t dpumap_rdma_open_queue(struct doca_rdma *rdma)
{
	struct dpumap_device *device = rdma->ctx.dev->device;
	struct dpumap_rdma_queue_attr attr;

	rdma->max_len = dpumap_device_caps(device)->max_message_len;
	rdma->is_fast = !rdma->cm;
	rdma->is_stopping = rdma->is_flushed = false;
	rdma->timer = -1;
	rdma->num_unended = 0;
	attr = (struct dpumap_rdma_queue_attr){
		.num_sends = num_sends(rdma),
		.num_recvs = rdma->pools[RDMA_RECEIVE].pool.num_tasks,
		.max_recv_pieces = rdma->settings.max_receive_list,
		.max_qps = rdma->settings.max_connections,
		.events = rdma->events,
		.vector = rdma->ctx.vector,
	};
	return dpumap_rdma_queue_create(device, &attr, &rdma->queue);
}
