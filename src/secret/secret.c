/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A small secret takes a slot of a block; blocks are kept for later secrets. A large one has pages
 * of its own.
 */
#include "secret/secret.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#define SMALL 128u /* enough for most descriptors: exports may be very many */
#define LARGE 512u /* enough for each descriptor */
#define BLOCK 65536u
#define STACK 32768u /* what libcrypto, the linker and callers with sanitizers use */

struct slot {
	struct slot *next; /* of a free slot */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct slot *free_small, *free_large;

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

static void add_block(struct slot **list, size_t size)
{
	unsigned char *block = map_pages(BLOCK);

	for (size_t at = 0; block && at < BLOCK; at += size) {
		struct slot *slot = (struct slot *)(void *)(block + at);

		slot->next = *list;
		*list = slot;
	}
}

static struct slot **list_of(size_t len)
{
	return len <= SMALL ? &free_small : &free_large;
}

static void *take_slot(size_t len)
{
	struct slot **list = list_of(len), *slot;

	pthread_mutex_lock(&lock);
	if (!*list)
		add_block(list, len <= SMALL ? SMALL : LARGE);
	slot = *list;
	if (slot)
		*list = slot->next;
	pthread_mutex_unlock(&lock);
	if (slot)
		slot->next = NULL;
	return slot;
}

static void put_slot(struct slot *slot, size_t len)
{
	struct slot **list = list_of(len);

	pthread_mutex_lock(&lock);
	slot->next = *list;
	*list = slot;
	pthread_mutex_unlock(&lock);
}

void *dpumap_secret_alloc(size_t len)
{
	return len <= LARGE ? take_slot(len) : map_pages(len);
}

void dpumap_secret_free(void *secret, size_t len)
{
	if (!secret)
		return;
	explicit_bzero(secret, len);
	if (len <= LARGE)
		put_slot(secret, len);
	else
		munmap(secret, len);
}

__attribute__((noinline)) void dpumap_secret_wipe_stack(void)
{
	unsigned char below[STACK];

	explicit_bzero(below, sizeof(below));
}
