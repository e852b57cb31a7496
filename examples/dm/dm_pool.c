/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * dpumap_dm_pool(3): allocate counters and buffers from one device memory.
 * Build: cc dm_pool.c $(pkg-config --cflags --libs dpumap)
 */
#include <stdio.h>

#include <doca_dev.h>
#include <dpumap/dm.h>
#include <dpumap/dm_pool.h>

static doca_error_t use(struct dpumap_dm *dm, struct dpumap_dm_pool *pool)
{
	struct dpumap_dm_piece counter, buffer;
	struct dpumap_dm_pool_usage usage;
	const uint64_t zero = 0;
	doca_error_t result;

	result = dpumap_dm_pool_alloc(pool, sizeof(zero), 3, &counter);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_dm_pool_alloc(pool, 1000, 10, &buffer);
	if (result == DOCA_SUCCESS) {
		result = dpumap_dm_write(dm, counter.offset, &zero, sizeof(zero));
		DOCA_ERROR_PROPAGATE(result, dpumap_dm_pool_get_usage(pool, &usage));
		if (result == DOCA_SUCCESS)
			printf("counter at %zu, buffer at %zu; %zu of %zu bytes are free\n",
			       counter.offset, buffer.offset, usage.free, usage.total);
		DOCA_ERROR_PROPAGATE(result, dpumap_dm_pool_free(pool, &buffer));
	}
	DOCA_ERROR_PROPAGATE(result, dpumap_dm_pool_free(pool, &counter));
	/* Freeing a piece twice is detected. */
	if (result == DOCA_SUCCESS && dpumap_dm_pool_free(pool, &counter) != DOCA_ERROR_NOT_FOUND)
		result = DOCA_ERROR_UNEXPECTED;
	return result;
}

static doca_error_t make_pool(struct doca_dev *dev)
{
	struct dpumap_dm_pool *pool;
	struct dpumap_dm *dm;
	doca_error_t result = dpumap_dm_alloc(dev, 16384, 12, &dm);

	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_dm_pool_create(dm, 3, &pool);
	if (result == DOCA_SUCCESS) {
		result = use(dm, pool);
		DOCA_ERROR_PROPAGATE(result, dpumap_dm_pool_destroy(pool));
	}
	DOCA_ERROR_PROPAGATE(result, dpumap_dm_free(dm));
	return result;
}

int main(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	doca_error_t result;
	uint32_t n;

	if (doca_devinfo_create_list(&list, &n) != DOCA_SUCCESS || !n)
		return 77; /* no device */
	result = doca_dev_open(list[0], &dev);
	doca_devinfo_destroy_list(list);
	if (result != DOCA_SUCCESS)
		return 1;
	result = make_pool(dev);
	doca_dev_close(dev);
	if (result != DOCA_SUCCESS)
		fprintf(stderr, "%s\n", doca_error_get_descr(result));
	return result != DOCA_SUCCESS;
}
