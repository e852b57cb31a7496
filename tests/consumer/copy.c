/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* An ordinary DOCA program: one copy with the first device that supports it. Valid C11 and C++. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_argp.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_build_config.h>
#include <doca_common_defines.h>
#include <doca_compat.h>
#include <doca_config.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_error.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_rdma_bridge.h>
#include <doca_types.h>
#include <doca_version.h>

#define LEN 4096

DOCA_LOG_REGISTER(CONSUMER)

struct job {
	char bytes[2 * LEN];
	int running;
	doca_error_t result;
};

static void done(struct doca_dma_task_memcpy *task, union doca_data task_data,
		 union doca_data ctx_data)
{
	struct job *job = (struct job *)ctx_data.ptr;

	(void)task_data;
	job->result = doca_task_get_status(doca_dma_task_memcpy_as_task(task));
	job->running = 0;
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static struct doca_dev *open_first(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t n;

	if (doca_devinfo_create_list(&list, &n) != DOCA_SUCCESS)
		return NULL;
	for (uint32_t i = 0; i < n && !dev; i++) {
		if (doca_dma_cap_task_memcpy_is_supported(list[i]) != DOCA_SUCCESS)
			continue;
		if (doca_dev_open(list[i], &dev) != DOCA_SUCCESS)
			dev = NULL;
	}
	(void)doca_devinfo_destroy_list(list);
	return dev;
}

static doca_error_t map_job(struct job *job, struct doca_dev *dev, struct doca_mmap **mmap)
{
	doca_error_t result = doca_mmap_create(mmap);

	DOCA_ERROR_PROPAGATE(result, doca_mmap_set_memrange(*mmap, job->bytes, 2 * LEN));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_add_dev(*mmap, dev));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_start(*mmap));
	return result;
}

static doca_error_t run(struct job *job, struct doca_dma *dma, struct doca_pe *pe,
			struct doca_mmap *mmap)
{
	struct doca_buf_inventory *inventory = NULL;
	struct doca_buf *src = NULL, *dst = NULL;
	struct doca_dma_task_memcpy *task = NULL;
	union doca_data none, self;
	doca_error_t result;

	none.u64 = 0;
	self.ptr = job;
	result = doca_buf_inventory_create(2, &inventory);
	DOCA_ERROR_PROPAGATE(result, doca_buf_inventory_start(inventory));
	DOCA_ERROR_PROPAGATE(result, doca_pe_connect_ctx(pe, doca_dma_as_ctx(dma)));
	DOCA_ERROR_PROPAGATE(result, doca_ctx_set_user_data(doca_dma_as_ctx(dma), self));
	DOCA_ERROR_PROPAGATE(result, doca_dma_task_memcpy_set_conf(dma, done, done, 1));
	DOCA_ERROR_PROPAGATE(result, doca_ctx_start(doca_dma_as_ctx(dma)));
	DOCA_ERROR_PROPAGATE(
		result, doca_buf_inventory_buf_get_by_data(inventory, mmap, job->bytes, LEN, &src));
	DOCA_ERROR_PROPAGATE(result, doca_buf_inventory_buf_get_by_addr(
					     inventory, mmap, job->bytes + LEN, LEN, &dst));
	DOCA_ERROR_PROPAGATE(result, doca_dma_task_memcpy_alloc_init(dma, src, dst, none, &task));
	if (result != DOCA_SUCCESS)
		return result;
	job->running = 1;
	result = doca_task_submit(doca_dma_task_memcpy_as_task(task));
	while (result == DOCA_SUCCESS && job->running)
		(void)doca_pe_progress(pe);
	DOCA_ERROR_PROPAGATE(result, job->result);
	DOCA_ERROR_PROPAGATE(result, doca_buf_dec_refcount(src, NULL));
	DOCA_ERROR_PROPAGATE(result, doca_buf_dec_refcount(dst, NULL));
	DOCA_ERROR_PROPAGATE(result, doca_ctx_stop(doca_dma_as_ctx(dma)));
	DOCA_ERROR_PROPAGATE(result, doca_buf_inventory_destroy(inventory));
	return result;
}

int main(void)
{
	struct job *job = (struct job *)calloc(1, sizeof(*job));
	struct doca_mmap *mmap = NULL;
	struct doca_dma *dma = NULL;
	struct doca_pe *pe = NULL;
	struct doca_dev *dev = open_first();
	doca_error_t result;

	(void)doca_log_backend_create_standard();
	if (!job || !dev)
		return EXIT_FAILURE;
	memset(job->bytes, 'x', LEN);
	result = map_job(job, dev, &mmap);
	DOCA_ERROR_PROPAGATE(result, doca_pe_create(&pe));
	DOCA_ERROR_PROPAGATE(result, doca_dma_create(dev, &dma));
	DOCA_ERROR_PROPAGATE(result, run(job, dma, pe, mmap));
	DOCA_ERROR_PROPAGATE(result, doca_dma_destroy(dma));
	DOCA_ERROR_PROPAGATE(result, doca_pe_destroy(pe));
	DOCA_ERROR_PROPAGATE(result, doca_mmap_destroy(mmap));
	DOCA_ERROR_PROPAGATE(result, doca_dev_close(dev));
	if (result == DOCA_SUCCESS && memcmp(job->bytes, job->bytes + LEN, LEN) != 0)
		result = DOCA_ERROR_UNEXPECTED;
	free(job);
	if (result != DOCA_SUCCESS) {
		DOCA_LOG_ERR("copy failed: %s", doca_error_get_descr(result));
		return EXIT_FAILURE;
	}
	printf("%s copied %d bytes on the %s\n", doca_version(), LEN,
#ifdef DOCA_ARCH_DPU
	       "DPU"
#else
	       "host"
#endif
	);
	return EXIT_SUCCESS;
}
