/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * doca_rdma_bridge(3): use the memory of a map in a protection domain that the program created.
 * Build: cc -DDOCA_ALLOW_EXPERIMENTAL_API bridge.c $(pkg-config --cflags --libs dpumap libibverbs)
 */
#include <stdio.h>
#include <stdlib.h>

#include <infiniband/verbs.h>

#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_rdma_bridge.h>

static char memory[4096];

static void check(doca_error_t result, const char *what)
{
	if (result == DOCA_SUCCESS)
		return;
	fprintf(stderr, "%s: %s\n", what, doca_error_get_descr(result));
	exit(1);
}

static struct ibv_context *open_first(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context;

	if (!list || !list[0])
		exit(77);
	context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	if (!context)
		exit(1);
	return context;
}

int main(void)
{
	struct ibv_context *context = open_first();
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct doca_mmap *map;
	struct doca_dev *dev;
	uint32_t key;

	if (!pd)
		return 1;
	check(doca_rdma_bridge_open_dev_from_pd(pd, &dev), "device of a protection domain");
	check(doca_mmap_create(&map), "map");
	check(doca_mmap_set_memrange(map, memory, sizeof(memory)), "range");
	check(doca_mmap_add_dev(map, dev), "add the device");
	check(doca_mmap_start(map), "start");
	check(doca_rdma_bridge_get_mmap_mkey_from_pd(map, pd, &key), "key");
	printf("work requests in this protection domain use key 0x%x for the map\n", key);

	check(doca_mmap_destroy(map), "destroy the map");
	check(doca_dev_close(dev), "close");
	return ibv_dealloc_pd(pd) || ibv_close_device(context);
}
