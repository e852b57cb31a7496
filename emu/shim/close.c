/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/close_range.h>

#include "emu/shim/channel.h"
#include "emu/shim/interpose.h"
#include "emu/shim/kernel.h"
#include "emu/shim/last_work.h"
#include "emu/shim/rdma_cm.h"

#define NO_FD (-1)

/* With an event channel end all connections of its ids, and only the server knows their queue pairs. */
static bool is_event_channel(int fd)
{
	return (emu_last_work_possible() || emu_rdma_cm_is_used()) && emu_rdma_cm_is_file(fd);
}

static struct emu_closing begin(int fd)
{
	const struct emu_closing file = emu_channel_before_close(fd);

	if (file.ino)
		emu_last_work_of_file(file.ino);
	if (file.ino || !is_event_channel(fd))
		return file;
	emu_last_work_of_all();
	emu_rdma_cm_close_idle();
	return file;
}

/* A closed device leaves nothing behind, neither here nor in the server. */
EXPORT int close(int fd)
{
	const struct emu_closing file = begin(fd);
	int ret = NEXT(close)(fd);

	emu_channel_after_close(&file);
	return ret;
}

EXPORT int dup2(int fd, int to)
{
	const struct emu_closing file = begin(fd == to ? NO_FD : to);
	int ret = NEXT(dup2)(fd, to);

	emu_channel_after_close(&file);
	return ret;
}

EXPORT int dup3(int fd, int to, int flags)
{
	const struct emu_closing file = begin(to);
	int ret = NEXT(dup3)(fd, to, flags);

	emu_channel_after_close(&file);
	return ret;
}

static int number_of(FILE *file)
{
	int saved = errno, fd = fileno(file);

	errno = saved;
	return fd;
}

EXPORT int fclose(FILE *stream)
{
	const struct emu_closing file = begin(number_of(stream));
	int ret = NEXT(fclose)(stream);

	emu_channel_after_close(&file);
	return ret;
}

#define DEFINE_FREOPEN(name)                                                    \
	EXPORT FILE *name(const char *restrict path, const char *restrict mode, \
			  FILE *restrict stream)                                \
	{                                                                       \
		const struct emu_closing file = begin(number_of(stream));       \
		FILE *ret = NEXT(name)(path, mode, stream);                     \
                                                                                \
		emu_channel_after_close(&file);                                 \
		return ret;                                                     \
	}

DEFINE_FREOPEN(freopen)
DEFINE_FREOPEN(freopen64)

/* Of these, whatever they close: to look for devices among them would take longer than to wait. */
EXPORT int close_range(unsigned int first, unsigned int last, int flags)
{
	if (!(flags & (int)CLOSE_RANGE_CLOEXEC))
		emu_last_work_of_all();
	return NEXT(close_range)(first, last, flags);
}

EXPORT void closefrom(int first)
{
	emu_last_work_of_all();
	NEXT(closefrom)(first);
}

/* No lock: the shim closes its own descriptors by such calls, also while it holds one. */
static void before_closing(int fd)
{
	if (emu_kernel_is_fd(fd) || is_event_channel(fd))
		emu_last_work_of_all();
}

void emu_close_before_call(long number, const long arg[static 3])
{
	switch (number) {
	case SYS_close:
		before_closing((int)arg[0]);
		break;
#ifdef SYS_dup2
	case SYS_dup2:
#endif
	case SYS_dup3:
		before_closing((int)arg[1]);
		break;
	case SYS_close_range:
		if (arg[2] & (long)CLOSE_RANGE_CLOEXEC)
			break;
		emu_last_work_of_all();
		break;
	case SYS_execve:
	case SYS_execveat:
	case SYS_exit_group:
		emu_last_work_of_all();
		break;
	default:
		break;
	}
}
