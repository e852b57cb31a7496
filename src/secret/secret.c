/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A secret takes a slot of a block; blocks are kept for later secrets. One that is larger than all slots has pages of
 * its own.
 */
#include "secret/secret.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"

#define BLOCK 65536u
#define STACK 32768u /* what libcrypto, the linker and callers with sanitizers use */

struct slot {
	struct slot *next; /* of a free slot */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Of one size, larger than that of the pool before. */
static struct pool {
	size_t size;
	struct slot *free;
} pools[] = {
	{80, NULL},  /* enough for the descriptor of an export: they may be very many */
	{128, NULL}, /* and of a umem */
	{512, NULL}, /* enough for each descriptor */
};

static void *map_pages(size_t len)
{
	void *pages = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return NULL;
	if (madvise(pages, len, MADV_DONTDUMP) == 0)
		return pages;
	munmap(pages, len);
	return NULL;
}

static void add_block(struct pool *pool)
{
	unsigned char *block = map_pages(BLOCK);

	for (size_t at = 0; block && at + pool->size <= BLOCK; at += pool->size) {
		struct slot *slot = (struct slot *)(void *)(block + at);

		slot->next = pool->free;
		pool->free = slot;
	}
}

/* NULL: it has pages of its own. */
static struct pool *pool_of(size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(pools); i++)
		if (len <= pools[i].size)
			return &pools[i];
	return NULL;
}

static void *take_slot(struct pool *pool)
{
	struct slot *slot;

	pthread_mutex_lock(&lock);
	if (!pool->free)
		add_block(pool);
	slot = pool->free;
	if (slot)
		pool->free = slot->next;
	pthread_mutex_unlock(&lock);
	if (slot)
		slot->next = NULL;
	return slot;
}

static void put_slot(struct pool *pool, struct slot *slot)
{
	pthread_mutex_lock(&lock);
	slot->next = pool->free;
	pool->free = slot;
	pthread_mutex_unlock(&lock);
}

void *dpumap_secret_alloc(size_t len)
{
	struct pool *pool = pool_of(len);

	return pool ? take_slot(pool) : map_pages(len);
}

void dpumap_secret_free(void *secret, size_t len)
{
	struct pool *pool = pool_of(len);

	if (!secret)
		return;
	explicit_bzero(secret, len);
	if (pool)
		put_slot(pool, secret);
	else
		munmap(secret, len);
}

__attribute__((noinline)) void dpumap_secret_wipe_stack(void)
{
	unsigned char below[STACK];

	explicit_bzero(below, sizeof(below));
}
