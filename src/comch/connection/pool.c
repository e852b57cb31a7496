/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "comch/connection/pool.h"

#include <inttypes.h>
#include <stdlib.h>

#include "log/log.h"

void dpumap_comch_pool_destroy(struct comch_pool *pool)
{
	dpumap_task_pool_destroy(&pool->tasks);
	free(pool->copies);
	pool->copies = NULL;
}

doca_error_t dpumap_comch_pool_create(struct comch_pool *pool, struct doca_ctx *ctx,
				      uint32_t max_msg_size)
{
	size_t size = max_msg_size;
	struct doca_comch_task_send *tasks;
	doca_error_t result;

	dpumap_comch_pool_destroy(pool);
	result = dpumap_task_pool_create(&pool->tasks, ctx, sizeof(*tasks));
	if (result != DOCA_SUCCESS || !pool->tasks.num_tasks)
		return result;
	pool->copies = malloc(pool->tasks.num_tasks * size);
	if (!pool->copies) {
		dpumap_comch_pool_destroy(pool);
		return dpumap_fail(DOCA_ERROR_NO_MEMORY,
				   "no memory for the messages of %" PRIu32 " send tasks",
				   pool->tasks.num_tasks);
	}
	tasks = pool->tasks.tasks;
	for (uint32_t i = 0; i < pool->tasks.num_tasks; i++)
		tasks[i].copy = pool->copies + i * size;
	return DOCA_SUCCESS;
}
