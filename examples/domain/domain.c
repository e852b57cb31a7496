/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * dpumap_parent_domain(3) and dpumap_arena(3): a copy queue that takes its memory from an arena,
 * and takes no locks because only one thread uses it. This arena covers ordinary memory; other
 * functions create arenas of huge pages or on a NUMA node.
 * Build: cc domain.c $(pkg-config --cflags --libs dpumap)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_dev.h>
#include <doca_mmap.h>
#include <dpumap/arena.h>
#include <dpumap/parent_domain.h>

#define ARENA_LEN ((size_t)256 * 1024)

static char memory[256];

static void check(doca_error_t result, const char *what)
{
	if (result == DOCA_SUCCESS)
		return;
	fprintf(stderr, "%s: %s\n", what, doca_error_get_descr(result));
	exit(1);
}

static struct doca_dev *open_first(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t n;

	check(doca_devinfo_create_list(&list, &n), "list");
	if (!n)
		exit(77);
	check(doca_dev_open(list[0], &dev), "open");
	check(doca_devinfo_destroy_list(list), "destroy the list");
	return dev;
}

static struct doca_mmap *start_map(struct doca_dev *dev)
{
	struct doca_mmap *map;

	check(doca_mmap_create(&map), "map");
	check(doca_mmap_set_memrange(map, memory, sizeof(memory)), "range");
	check(doca_mmap_add_dev(map, dev), "device");
	check(doca_mmap_start(map), "start");
	return map;
}

static void copy(struct dpumap_dma *dma, struct doca_mmap *map)
{
	struct dpumap_dma_completion done;
	uint32_t n;

	strcpy(memory, "hello");
	check(dpumap_dma_memcpy(dma, map, memory + 128, map, memory, 6, (union doca_data){0}),
	      "copy");
	do {
		check(dpumap_dma_poll(dma, &done, 1, &n), "poll");
	} while (!n);
	check(done.status, "the copy");
}

int main(void)
{
	struct dpumap_parent_domain_attr attr = {.single_thread = 1};
	struct dpumap_allocator allocator;
	struct dpumap_parent_domain *domain;
	struct dpumap_arena *arena;
	struct dpumap_dma *dma;
	struct doca_mmap *map;
	struct doca_dev *dev = open_first();
	void *space = aligned_alloc(4096, ARENA_LEN);
	size_t len, used;

	if (!space)
		return 1;
	check(dpumap_arena_create(space, ARENA_LEN, &arena), "arena");
	check(dpumap_arena_get_allocator(arena, &allocator), "allocator");
	attr.allocator = &allocator;
	check(dpumap_parent_domain_create(dev, &attr, &domain), "domain");
	check(dpumap_dma_create_on(domain, 16, &dma), "queue");
	map = start_map(dev);
	copy(dma, map);
	check(dpumap_arena_get_usage(arena, &len, &used), "usage");
	printf("%s: a queue in %zu of %zu bytes\n", memory + 128, used, len);

	check(doca_mmap_destroy(map), "destroy the map");
	check(dpumap_dma_destroy(dma), "destroy the queue");
	check(dpumap_parent_domain_destroy(domain), "destroy the domain");
	check(dpumap_arena_destroy(arena), "destroy the arena");
	check(doca_dev_close(dev), "close");
	free(space);
	return 0;
}
