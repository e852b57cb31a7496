/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A small secret takes a slot of a block; blocks are kept for later secrets. A large one has pages
 * of its own.
 */
#include "secret/secret.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#define SLOT  512u /* enough for a descriptor */
#define BLOCK 65536u
#define STACK 32768u /* what libcrypto, the linker and callers with sanitizers use */

union slot {
	union slot *next; /* of a free slot */
	unsigned char bytes[SLOT];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static union slot *free_slots;

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

static void add_block(void)
{
	union slot *block = map_pages(BLOCK);

	for (size_t i = 0; block && i < BLOCK / SLOT; i++) {
		block[i].next = free_slots;
		free_slots = &block[i];
	}
}

static union slot *take_slot(void)
{
	union slot *slot;

	pthread_mutex_lock(&lock);
	if (!free_slots)
		add_block();
	slot = free_slots;
	if (slot)
		free_slots = slot->next;
	pthread_mutex_unlock(&lock);
	if (slot)
		slot->next = NULL;
	return slot;
}

static void put_slot(union slot *slot)
{
	pthread_mutex_lock(&lock);
	slot->next = free_slots;
	free_slots = slot;
	pthread_mutex_unlock(&lock);
}

void *dpumap_secret_alloc(size_t len)
{
	return len <= SLOT ? take_slot() : map_pages(len);
}

void dpumap_secret_free(void *secret, size_t len)
{
	if (!secret)
		return;
	explicit_bzero(secret, len);
	if (len <= SLOT)
		put_slot(secret);
	else
		munmap(secret, len);
}

__attribute__((noinline)) void dpumap_secret_wipe_stack(void)
{
	unsigned char below[STACK];

	explicit_bzero(below, sizeof(below));
}
