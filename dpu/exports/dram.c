/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/exports/dram.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCK_PAGES 4096u
#define SMALL_PAGES 64u /* larger parts are mappings of their own */
#define HUGE_SIZE   ((size_t)2 << 20)

/* One mapping for small parts. */
struct block {
	struct block *next;
	uint8_t *bytes;
	int fd;
	size_t num_used;
	size_t first_free; /* no page before it is free */
	bool used[BLOCK_PAGES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *blocks;

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t pages_of(size_t size)
{
	return size / page_size() + (size % page_size() != 0);
}

/* Nobody can truncate it: reading the mapping would end the process. */
static int create_file(size_t size)
{
	int fd = memfd_create("dpumapd-dram", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -1;
	if (!ftruncate(fd, (off_t)size) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return fd;
	close(fd);
	return -1;
}

static void close_file(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* Without a file, as many may be open already, the pages are shared all the same. */
static void *map(size_t size, int *fd)
{
	void *bytes;

	*fd = create_file(size);
	bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | (*fd < 0 ? MAP_ANONYMOUS : 0),
		     *fd, 0);
	if (bytes != MAP_FAILED)
		return bytes;
	close_file(*fd);
	*fd = -1;
	return NULL;
}

static struct block *add_block(void)
{
	struct block *block = calloc(1, sizeof(*block));

	if (!block)
		return NULL;
	block->bytes = map(BLOCK_PAGES * page_size(), &block->fd);
	if (!block->bytes) {
		free(block);
		return NULL;
	}
	block->next = blocks;
	blocks = block;
	return block;
}

static void remove_block(struct block *block)
{
	struct block **link = &blocks;

	while (*link != block)
		link = &(*link)->next;
	*link = block->next;
	munmap(block->bytes, BLOCK_PAGES * page_size());
	close_file(block->fd);
	free(block);
}

/* The first of n free pages in a row; BLOCK_PAGES: there are none. */
static size_t find_pages(struct block *block, size_t n)
{
	size_t run = 0;

	while (block->first_free < BLOCK_PAGES && block->used[block->first_free])
		block->first_free++;
	for (size_t i = block->first_free; i < BLOCK_PAGES; i++) {
		run = block->used[i] ? 0 : run + 1;
		if (run == n)
			return i + 1 - n;
	}
	return BLOCK_PAGES;
}

static void *take_pages(struct block *block, size_t n)
{
	size_t at = BLOCK_PAGES;

	if (n <= BLOCK_PAGES - block->num_used)
		at = find_pages(block, n);
	if (at == BLOCK_PAGES)
		return NULL;
	memset(&block->used[at], true, n);
	block->num_used += n;
	return block->bytes + at * page_size();
}

static void *take_small(size_t n)
{
	struct block *block;
	void *bytes = NULL;

	for (block = blocks; block && !bytes; block = block->next)
		bytes = take_pages(block, n);
	if (bytes)
		return bytes;
	block = add_block();
	return block ? take_pages(block, n) : NULL;
}

void *dram_take(size_t size, int *fd)
{
	void *bytes;

	*fd = -1;
	if (!size) {
		errno = EINVAL;
		return NULL;
	}
	if (pages_of(size) > SMALL_PAGES) {
		bytes = map(size, fd);
		if (bytes && size >= HUGE_SIZE)
			madvise(bytes, size, MADV_HUGEPAGE); /* only a hint */
		return bytes;
	}
	pthread_mutex_lock(&lock);
	bytes = take_small(pages_of(size));
	pthread_mutex_unlock(&lock);
	return bytes;
}

/* The next owner must not see these bytes: the kernel frees the pages. */
static void clear(uint8_t *bytes, size_t n)
{
	if (madvise(bytes, n * page_size(), MADV_REMOVE))
		explicit_bzero(bytes, n * page_size());
}

static void put_pages(struct block *block, uint8_t *bytes, size_t n)
{
	size_t at = (size_t)(bytes - block->bytes) / page_size();

	clear(bytes, n);
	memset(&block->used[at], false, n);
	block->num_used -= n;
	if (at < block->first_free)
		block->first_free = at;
	if (!block->num_used)
		remove_block(block);
}

static bool contains(const struct block *block, const uint8_t *bytes)
{
	uintptr_t start = (uintptr_t)block->bytes;

	return (uintptr_t)bytes - start < BLOCK_PAGES * page_size();
}

void dram_give_back(void *bytes, size_t size, int fd)
{
	struct block *block;

	if (pages_of(size) > SMALL_PAGES) {
		munmap(bytes, size);
		close_file(fd);
		return;
	}
	pthread_mutex_lock(&lock);
	block = blocks;
	while (!contains(block, bytes))
		block = block->next;
	put_pages(block, bytes, pages_of(size));
	pthread_mutex_unlock(&lock);
}
