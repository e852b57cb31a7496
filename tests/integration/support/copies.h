/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How many copies of a secret are in the memory of a process? Those who ask have it inverted only. */
#ifndef DPUMAP_TESTS_COPIES_H
#define DPUMAP_TESTS_COPIES_H

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define COPIES_PAGE    4096u
#define COPIES_LONGEST 32u
#define COPIES_PRESENT (1ull << 63) /* in /proc/PID/pagemap; the next bit: swapped */

struct copies {
	const uint8_t *inverted;
	size_t len;
	int mem, pagemap;
	unsigned int found;
	uint8_t bytes[COPIES_LONGEST + COPIES_PAGE]; /* the end of the page before, and a page */
};

static inline bool copies_is_here(const struct copies *c, const uint8_t *p)
{
	size_t same = 0;

	while (same < c->len && (p[same] ^ c->inverted[same]) == 0xff)
		same++;
	return same == c->len;
}

static inline void copies_search_page(struct copies *c, uintptr_t page)
{
	const uint8_t *last = c->bytes + sizeof(c->bytes) - c->len, *at;
	uint64_t entry = 0;

	memmove(c->bytes, c->bytes + COPIES_PAGE, COPIES_LONGEST);
	memset(c->bytes + COPIES_LONGEST, 0, COPIES_PAGE);
	if (pread(c->pagemap, &entry, sizeof(entry),
		  (off_t)(page / (uintptr_t)sysconf(_SC_PAGESIZE) * 8)) != 8 ||
	    !(entry & (COPIES_PRESENT | COPIES_PRESENT >> 1)) ||
	    pread(c->mem, c->bytes + COPIES_LONGEST, COPIES_PAGE, (off_t)page) != COPIES_PAGE)
		return;
	/* Those that end in this page; one that ended in the page before has been counted. */
	at = c->bytes + COPIES_LONGEST - c->len + 1;
	while ((at = memchr(at, c->inverted[0] ^ 0xff, (size_t)(last + 1 - at)))) {
		c->found += copies_is_here(c, at);
		if (at++ == last)
			break;
	}
}

static inline int copies_open(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* ThreadSanitizer saves the registers for vectors, which have the keys of the last cipher, on stacks. */
#ifdef __SANITIZE_THREAD__
#define COPIES_OF_REGISTERS true
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define COPIES_OF_REGISTERS true
#endif
#endif
#ifndef COPIES_OF_REGISTERS
#define COPIES_OF_REGISTERS false
#endif

/* By qemu, whose own memory has the registers of the program. */
static inline bool copies_is_translated(pid_t pid)
{
	char name[6] = "";
	int fd = copies_open(pid, "comm");
	bool yes = fd >= 0 && read(fd, name, 5) == 5 && !strcmp(name, "qemu-");

	if (fd >= 0)
		close(fd);
	return yes;
}

static inline void copies_search(struct copies *c, FILE *maps)
{
	uintptr_t from, to;
	char line[512];

	while (fgets(line, sizeof(line), maps)) {
		/* ThreadSanitizer and AddressSanitizer map terabytes, which contain no bytes of the program. */
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " rw", &from, &to) != 2 ||
		    !strstr(line, " rw") || to - from > UINT64_C(4) << 30)
			continue;
		memset(c->bytes, 0, sizeof(c->bytes));
		for (; from < to; from += COPIES_PAGE)
			copies_search_page(c, from);
	}
	explicit_bzero(c->bytes, sizeof(c->bytes));
}

/* -1: the memory of the process may not be read, or has what registers had. */
static inline int copies_count(pid_t pid, const uint8_t *inverted, size_t len)
{
	struct copies c = {.inverted = inverted, .len = len};
	int fd = copies_open(pid, "maps");
	FILE *maps = fd < 0 ? NULL : fdopen(fd, "r");
	bool readable;

	c.mem = copies_open(pid, "mem");
	c.pagemap = copies_open(pid, "pagemap");
	readable = maps && c.mem >= 0 && c.pagemap >= 0 && !COPIES_OF_REGISTERS &&
		   !copies_is_translated(pid);
	if (readable)
		copies_search(&c, maps);
	if (maps)
		fclose(maps);
	else if (fd >= 0)
		close(fd);
	if (c.mem >= 0)
		close(c.mem);
	if (c.pagemap >= 0)
		close(c.pagemap);
	return readable ? (int)c.found : -1;
}

struct copies_call {
	void (*function)(void *argument);
	void *argument;
	pthread_barrier_t searched;
};

/* So far from the start of the stack that waiting does not overwrite what the function leaves there. */
static __attribute__((noinline)) void copies_call_deep(const struct copies_call *call)
{
	volatile uint8_t distance[COPIES_PAGE];

	distance[0] = 0;
	call->function(call->argument);
	(void)distance[0]; /* this function has its memory until here */
}

static inline void *copies_call_and_wait(void *argument)
{
	struct copies_call *call = argument;

	copies_call_deep(call);
	pthread_barrier_wait(&call->searched);
	pthread_barrier_wait(&call->searched);
	return NULL;
}

/* The copies in this process after a function was called, those on its stack included; as copies_count(). */
static inline int copies_left_by(void (*function)(void *argument), void *argument,
				 const uint8_t *inverted, size_t len)
{
	struct copies_call call = {.function = function, .argument = argument};
	int found = -1;
	pthread_t thread;

	pthread_barrier_init(&call.searched, NULL, 2);
	if (!pthread_create(&thread, NULL, copies_call_and_wait, &call)) {
		pthread_barrier_wait(&call.searched);
		found = copies_count(getpid(), inverted, len);
		pthread_barrier_wait(&call.searched);
		pthread_join(thread, NULL);
	}
	pthread_barrier_destroy(&call.searched);
	return found;
}

#endif
