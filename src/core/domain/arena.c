/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/domain/arena_memory.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "log/log.h"

#define GRAIN ((size_t)64) /* a cache line, which no two pieces share */

/* A run of memory. Runs are linked in the order of their offsets, without gaps. */
struct run {
	struct run *prev;
	struct run *next;
	size_t offset;
	size_t len;
	bool taken;
};

struct dpumap_arena {
	uint8_t *base;
	size_t len;
	struct arena_memory mapped; /* empty if the memory is the user's */
	pthread_mutex_t lock;	    /* guards what follows */
	size_t used;
	struct run *first;
};

static doca_error_t create(void *memory, size_t len, struct dpumap_arena **arena)
{
	struct dpumap_arena *created = calloc(1, sizeof(*created));
	struct run *all = calloc(1, sizeof(*all));

	if (!created || !all || pthread_mutex_init(&created->lock, NULL)) {
		free(all);
		free(created);
		return dpumap_fail(DOCA_ERROR_NO_MEMORY, "no memory for an arena");
	}
	created->base = memory;
	created->len = len / GRAIN * GRAIN;
	all->len = created->len;
	created->first = all;
	*arena = created;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_arena_create(void *memory, size_t len, struct dpumap_arena **arena)
{
	if (!memory || !arena)
		return dpumap_fail_null(__func__);
	if ((uintptr_t)memory % GRAIN || len < GRAIN)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "invalid arena of %zu bytes at %p: needs at least %zu bytes, "
				   "aligned to that",
				   len, memory, GRAIN);
	return create(memory, len, arena);
}

static doca_error_t create_mapped(const struct arena_memory *memory, struct dpumap_arena **arena)
{
	doca_error_t result = create(memory->base, memory->len, arena);

	if (result == DOCA_SUCCESS)
		(*arena)->mapped = *memory;
	else
		dpumap_arena_unmap(memory);
	return result;
}

doca_error_t dpumap_arena_create_huge_pages(size_t page_size, size_t len,
					    struct dpumap_arena **arena)
{
	struct arena_memory memory = {0};
	doca_error_t result;

	if (!arena)
		return dpumap_fail_null(__func__);
	result = dpumap_arena_map_huge_pages(page_size, len, &memory);
	return result == DOCA_SUCCESS ? create_mapped(&memory, arena) : result;
}

doca_error_t dpumap_arena_create_on_node(unsigned int node, size_t len, struct dpumap_arena **arena)
{
	struct arena_memory memory = {0};
	doca_error_t result;

	if (!arena)
		return dpumap_fail_null(__func__);
	result = dpumap_arena_map_on_node(node, len, &memory);
	return result == DOCA_SUCCESS ? create_mapped(&memory, arena) : result;
}

doca_error_t dpumap_arena_destroy(struct dpumap_arena *arena)
{
	size_t used;

	if (!arena)
		return dpumap_fail_null(__func__);
	pthread_mutex_lock(&arena->lock);
	used = arena->used;
	pthread_mutex_unlock(&arena->lock);
	if (used)
		return dpumap_fail(
			DOCA_ERROR_IN_USE,
			"destroying an arena: %zu bytes are in use; destroy the queues first",
			used);
	if (arena->mapped.base)
		dpumap_arena_unmap(&arena->mapped);
	pthread_mutex_destroy(&arena->lock);
	free(arena->first);
	free(arena);
	return DOCA_SUCCESS;
}

/* Bytes to skip at the start of a run to align a piece. */
static size_t skip_of(const struct dpumap_arena *arena, const struct run *run, size_t alignment)
{
	uintptr_t at = (uintptr_t)arena->base + run->offset;

	return -at & (alignment - 1);
}

static struct run *find(const struct dpumap_arena *arena, size_t len, size_t alignment)
{
	struct run *run;

	for (run = arena->first; run; run = run->next) {
		size_t skip = skip_of(arena, run, alignment);

		if (!run->taken && skip <= run->len && len <= run->len - skip)
			break;
	}
	return run;
}

/* Split a run after len bytes, unless that is all of it. */
static bool split(struct run *run, size_t len)
{
	struct run *rest;

	if (len == run->len)
		return true;
	rest = malloc(sizeof(*rest));
	if (!rest)
		return false;
	*rest = (struct run){
		.prev = run,
		.next = run->next,
		.offset = run->offset + len,
		.len = run->len - len,
	};
	if (rest->next)
		rest->next->prev = rest;
	run->next = rest;
	run->len = len;
	return true;
}

static void merge_with_next(struct run *run)
{
	struct run *next = run->next;

	if (!next || run->taken || next->taken)
		return;
	run->len += next->len;
	run->next = next->next;
	if (run->next)
		run->next->prev = run;
	free(next);
}

static struct run *allocate(struct dpumap_arena *arena, size_t len, size_t alignment)
{
	struct run *run = find(arena, len, alignment);
	size_t skip;

	if (!run)
		return NULL;
	skip = skip_of(arena, run, alignment);
	if (skip) {
		if (!split(run, skip))
			return NULL;
		run = run->next;
	}
	if (!split(run, len)) {
		if (skip)
			merge_with_next(run->prev);
		return NULL;
	}
	run->taken = true;
	arena->used += len;
	return run;
}

static void *arena_alloc(void *context, size_t size, size_t alignment,
			 enum dpumap_resource resource)
{
	struct dpumap_arena *arena = context;
	void *memory = NULL;
	struct run *run;

	(void)resource;
	if (!size || size > arena->len || (alignment & (alignment - 1)))
		return NULL;
	if (alignment < GRAIN)
		alignment = GRAIN;
	pthread_mutex_lock(&arena->lock);
	run = allocate(arena, (size + GRAIN - 1) / GRAIN * GRAIN, alignment);
	if (run)
		memory = memset(arena->base + run->offset, 0, run->len);
	pthread_mutex_unlock(&arena->lock);
	return memory;
}

static struct run *find_taken(const struct dpumap_arena *arena, const void *memory)
{
	struct run *run;

	for (run = arena->first; run; run = run->next)
		if (run->taken && arena->base + run->offset == memory)
			break;
	return run;
}

static void arena_free(void *context, void *memory, enum dpumap_resource resource)
{
	struct dpumap_arena *arena = context;
	struct run *run;

	(void)resource;
	pthread_mutex_lock(&arena->lock);
	run = find_taken(arena, memory);
	if (run) {
		arena->used -= run->len;
		run->taken = false;
		merge_with_next(run);
		if (run->prev)
			merge_with_next(run->prev);
	}
	pthread_mutex_unlock(&arena->lock);
	if (!run)
		dpumap_log(DPUMAP_LOG_ERROR, "freeing %p: not allocated from the arena at %p",
			   memory, (void *)arena->base);
}

doca_error_t dpumap_arena_get_allocator(struct dpumap_arena *arena,
					struct dpumap_allocator *allocator)
{
	if (!arena || !allocator)
		return dpumap_fail_null(__func__);
	*allocator = (struct dpumap_allocator){
		.alloc = arena_alloc,
		.free = arena_free,
		.context = arena,
	};
	return DOCA_SUCCESS;
}

doca_error_t dpumap_arena_get_usage(struct dpumap_arena *arena, size_t *len, size_t *used)
{
	if (!arena || !len || !used)
		return dpumap_fail_null(__func__);
	*len = arena->len;
	pthread_mutex_lock(&arena->lock);
	*used = arena->used;
	pthread_mutex_unlock(&arena->lock);
	return DOCA_SUCCESS;
}
