/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/shim/kernel.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/ipc/event_file.h"
#include "emu/shim/interpose.h"
#include "emu/shim/sysfs.h"
#include "emu/shim/wait.h"

#define REMEMBERED 1024u /* descriptors */

static atomic_bool came;
/*
 * Lengths of records by descriptor, in words. A read of exactly one record is as that of any other file, so an entry
 * may outlive its file.
 */
static atomic_uchar lengths[REMEMBERED];

static bool is_of_that_length(int fd, size_t n)
{
	return (unsigned int)fd < REMEMBERED && n &&
	       atomic_load_explicit(&lengths[fd], memory_order_relaxed) * EMU_EVENT_WORD == n;
}

static void remember(int fd, const struct stat *st)
{
	if ((unsigned int)fd < REMEMBERED)
		atomic_store_explicit(&lengths[fd],
				      (unsigned char)(emu_event_file_record(st) / EMU_EVENT_WORD),
				      memory_order_relaxed);
}

void emu_event_file_came(int fd)
{
	if ((unsigned int)fd < REMEMBERED)
		atomic_store(&lengths[fd], 0);
	atomic_store(&came, true);
}

/* Does this read differ from that of any other file? Keeps errno. */
static bool is_event_file(int fd, size_t n, struct stat *st)
{
	int saved = errno;
	bool found;

	if (!atomic_load_explicit(&came, memory_order_relaxed) || is_of_that_length(fd, n))
		return false;
	found = !syscall(SYS_fstat, fd, st) && emu_event_file_is(st);
	if (found)
		remember(fd, st);
	errno = saved;
	return found;
}

/* The kernel first waits for an event, then looks at the buffer. Linux, uverbs_main.c and devx.c. */
static ssize_t refuse(int fd)
{
	int err = emu_pipe_wait(fd, NULL);

	errno = err ? err : EINVAL;
	return -1;
}

/* An answer to an asynchronous query. */
static ssize_t read_packet(int fd, void *buf, size_t n)
{
	size_t len;
	int err = emu_pipe_wait(fd, &len);

	if (!err && n >= len)
		return NEXT(read)(fd, buf, n);
	errno = err ? err : ENOSPC;
	return -1;
}

static ssize_t read_event(int fd, void *buf, size_t n, const struct stat *st)
{
	size_t record = emu_event_file_record(st);

	if (record == EMU_EVENT_VARIES)
		return read_packet(fd, buf, n);
	return n < record ? refuse(fd) : NEXT(read)(fd, buf, record);
}

EXPORT ssize_t read(int fd, void *buf, size_t n)
{
	struct stat st;

	emu_counters_before_read(fd);
	return is_event_file(fd, n, &st) ? read_event(fd, buf, n, &st) : NEXT(read)(fd, buf, n);
}

/* _FORTIFY_SOURCE turns a read() into this. */
ssize_t __read_chk(int fd, void *buf, size_t n, size_t room);

EXPORT ssize_t __read_chk(int fd, void *buf, size_t n, size_t room)
{
	struct stat st;

	emu_counters_before_read(fd);
	return n <= room && is_event_file(fd, n, &st) ? read_event(fd, buf, n, &st)
						      : NEXT(__read_chk)(fd, buf, n, room);
}
