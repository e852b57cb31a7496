/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "rdma/rdma.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#include "core/dev/caps.h"
#include "core/pe/pe.h"
#include "device/port.h"
#include "log/log.h"
#include "rdma/connection.h"
#include "rdma/post.h"
#include "rdma/task.h"

#define PEER_FLAGS                                                                   \
	((uint32_t)(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | \
		    DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC))

/* The tasks of the last run stay readable until now. */
static doca_error_t create_pool(struct doca_rdma *rdma, struct rdma_pool *pool, bool is_read)
{
	free(pool->tasks);
	pool->free = NULL;
	pool->tasks = NULL;
	if (!pool->num_tasks)
		return DOCA_SUCCESS;
	pool->tasks = calloc(pool->num_tasks, sizeof(*pool->tasks));
	if (!pool->tasks)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for %" PRIu32 " RDMA tasks",
				   pool->num_tasks);
	for (uint32_t i = pool->num_tasks; i--;) {
		pool->tasks[i].base.ctx = &rdma->ctx;
		pool->tasks[i].is_read = is_read;
		pool->tasks[i].next = pool->free;
		pool->free = &pool->tasks[i];
	}
	return DOCA_SUCCESS;
}

static doca_error_t start(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = dpumap_rdma_of(ctx);
	doca_error_t port, result;

	port = dpumap_port_check(ctx->dev->device);
	if (port != DOCA_SUCCESS && port != DOCA_ERROR_IN_PROGRESS)
		return port;
	result = create_pool(rdma, &rdma->reads, true);
	if (result != DOCA_SUCCESS)
		return result;
	result = create_pool(rdma, &rdma->writes, false);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_pe_get_events(ctx->pe, ctx->dev, &rdma->events);
	return result == DOCA_SUCCESS ? port : result;
}

static doca_error_t poll_start(struct doca_ctx *ctx)
{
	return dpumap_port_check(ctx->dev->device);
}

static doca_error_t stop(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = dpumap_rdma_of(ctx);
	doca_error_t result = dpumap_rdma_disconnect_all(rdma);

	if (result != DOCA_SUCCESS)
		return result;
	dpumap_pe_put_events(ctx->pe, rdma->events);
	return DOCA_SUCCESS;
}

static void free_rdma(struct doca_ctx *ctx)
{
	struct doca_rdma *rdma = dpumap_rdma_of(ctx);

	free(rdma->writes.tasks);
	free(rdma->reads.tasks);
	free(rdma);
}

static const struct ctx_ops rdma_ops = {
	.name = "RDMA",
	.start = start,
	.poll_start = poll_start,
	.stop = stop,
	.free = free_rdma,
	.submit = dpumap_rdma_task_submit,
	.check = dpumap_rdma_task_check,
	.flush = dpumap_rdma_flush,
	.progress = dpumap_ctx_progress,
	.poll = dpumap_rdma_task_poll,
	.complete = dpumap_rdma_task_complete,
	.release = dpumap_rdma_task_release,
	.enter_graph = dpumap_rdma_enter_graph,
	.arm = dpumap_rdma_arm,
	.is_ready = dpumap_rdma_is_ready,
};

doca_error_t doca_rdma_create(struct doca_dev *dev, struct doca_rdma **rdma)
{
	struct doca_rdma *created;

	if (!dev || !rdma)
		return dpumap_fail_null(__func__);
	created = calloc(1, sizeof(*created));
	if (!created)
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for an RDMA context");
	dpumap_ctx_init(&created->ctx, &rdma_ops, dev);
	created->access = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE;
	created->gid_index = DPUMAP_GID_ANY;
	created->max_connections = 1;
	*rdma = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_destroy(struct doca_rdma *rdma)
{
	doca_error_t result;

	if (!rdma)
		return dpumap_fail_null(__func__);
	result = dpumap_ctx_check_idle(&rdma->ctx, __func__);
	if (result == DOCA_SUCCESS)
		dpumap_ctx_release(&rdma->ctx);
	return result;
}

struct doca_ctx *doca_rdma_as_ctx(struct doca_rdma *rdma)
{
	return rdma ? &rdma->ctx : NULL;
}

static doca_error_t check_supported(const struct doca_devinfo *devinfo)
{
	struct dpumap_caps caps;
	doca_error_t result = dpumap_hca_get_caps(devinfo->hca, &caps);

	if (result == DOCA_SUCCESS && !caps.max_message_len)
		result = dpumap_fail_quiet(DOCA_ERROR_NOT_SUPPORTED, "%s does not have a port",
					   dpumap_hca_name(devinfo->hca));
	return result;
}

doca_error_t doca_rdma_cap_task_read_is_supported(const struct doca_devinfo *devinfo)
{
	return devinfo ? check_supported(devinfo) : dpumap_fail_null(__func__);
}

doca_error_t doca_rdma_cap_task_write_is_supported(const struct doca_devinfo *devinfo)
{
	return devinfo ? check_supported(devinfo) : dpumap_fail_null(__func__);
}

doca_error_t doca_rdma_cap_task_read_get_max_buf_list_len(const struct doca_devinfo *devinfo,
							  uint32_t *max_buf_list_len)
{
	if (!devinfo || !max_buf_list_len)
		return dpumap_fail_null(__func__);
	*max_buf_list_len = DPUMAP_MAX_LIST_LEN;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_cap_task_write_get_max_buf_list_len(const struct doca_devinfo *devinfo,
							   uint32_t *max_buf_list_len)
{
	if (!devinfo || !max_buf_list_len)
		return dpumap_fail_null(__func__);
	*max_buf_list_len = DPUMAP_MAX_LIST_LEN;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_cap_get_max_message_size(const struct doca_devinfo *devinfo,
						uint32_t *max_message_size)
{
	struct dpumap_caps caps;
	doca_error_t result = dpumap_devinfo_get_caps(__func__, devinfo, max_message_size, &caps);

	if (result == DOCA_SUCCESS)
		*max_message_size = caps.max_message_len;
	return result;
}

doca_error_t doca_rdma_set_permissions(struct doca_rdma *rdma, uint32_t permissions)
{
	doca_error_t result;

	if (!rdma)
		return dpumap_fail_null(__func__);
	result = dpumap_ctx_check_idle(&rdma->ctx, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (permissions & ~PEER_FLAGS)
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE,
			"RDMA context %p: permissions 0x%x: 0x%x cannot be granted to peers",
			(void *)rdma, permissions, permissions & ~PEER_FLAGS);
	rdma->access = permissions;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_permissions(struct doca_rdma *rdma, uint32_t *permissions)
{
	if (!rdma || !permissions)
		return dpumap_fail_null(__func__);
	*permissions = rdma->access;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_set_gid_index(struct doca_rdma *rdma, uint32_t gid_index)
{
	doca_error_t result;

	if (!rdma)
		return dpumap_fail_null(__func__);
	result = dpumap_ctx_check_idle(&rdma->ctx, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	/* ibv_ah_attr has 8 bits for it. */
	if (gid_index > UINT8_MAX)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "RDMA context %p: invalid GID index %" PRIu32 ", at most 255",
				   (void *)rdma, gid_index);
	if (dpumap_gid_check(rdma->ctx.dev->device, (int)gid_index) != DOCA_SUCCESS)
		return DOCA_ERROR_INVALID_VALUE;
	rdma->gid_index = (int)gid_index;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_gid_index(const struct doca_rdma *rdma, uint32_t *gid_index)
{
	if (!rdma || !gid_index)
		return dpumap_fail_null(__func__);
	*gid_index = rdma->gid_index == DPUMAP_GID_ANY ? 0 : (uint32_t)rdma->gid_index;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_set_transport_type(struct doca_rdma *rdma,
					  enum doca_rdma_transport_type transport_type)
{
	doca_error_t result;

	if (!rdma)
		return dpumap_fail_null(__func__);
	result = dpumap_ctx_check_idle(&rdma->ctx, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (transport_type == DOCA_RDMA_TRANSPORT_TYPE_RC)
		return DOCA_SUCCESS;
	if (transport_type == DOCA_RDMA_TRANSPORT_TYPE_DC)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "RDMA context %p: only reliable connections (RC) are supported",
				   (void *)rdma);
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "RDMA context %p: invalid transport type %d",
			   (void *)rdma, (int)transport_type);
}

doca_error_t doca_rdma_get_transport_type(const struct doca_rdma *rdma,
					  enum doca_rdma_transport_type *transport_type)
{
	if (!rdma || !transport_type)
		return dpumap_fail_null(__func__);
	*transport_type = DOCA_RDMA_TRANSPORT_TYPE_RC;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_set_max_num_connections(struct doca_rdma *rdma, uint16_t max_num_connections)
{
	doca_error_t result;

	if (!rdma)
		return dpumap_fail_null(__func__);
	result = dpumap_ctx_check_idle(&rdma->ctx, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (!max_num_connections)
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE,
			"RDMA context %p: the maximum number of connections must be at least 1",
			(void *)rdma);
	rdma->max_connections = max_num_connections;
	return DOCA_SUCCESS;
}

doca_error_t doca_rdma_get_max_num_connections(struct doca_rdma *rdma,
					       uint16_t *max_num_connections)
{
	if (!rdma || !max_num_connections)
		return dpumap_fail_null(__func__);
	*max_num_connections = rdma->max_connections;
	return DOCA_SUCCESS;
}
