/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The kernel makes the text of a file in sysfs when a program reads from its beginning. The C library
 * reads for itself after fopen(), so the server is asked at the open too.
 */
#include "emu/shim/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "emu/ipc/access.h"
#include "emu/ipc/proto.h"
#include "emu/ipc/sock.h"
#include "emu/shim/interpose.h"
#include "emu/shim/kernel.h"

#define DIRECTORY "counters/" /* counters/ and hw_counters/ */

static atomic_bool opened; /* this process has opened such a file */

static void refresh(void)
{
	const struct emu_request req = {.magic = EMU_MAGIC, .op = EMU_OP_COUNTERS};
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	struct emu_reply rep;
	unsigned int nfds;
	int fd, n;

	n = snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/control", getenv(EMU_ENV_DIR));
	if (n < 0 || n > EMU_PATH_MAX)
		return;
	fd = (int)syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (!connect(fd, (const struct sockaddr *)&sa, sizeof(sa)) && emu_access_check_peer(fd) &&
	    !emu_sock_send(fd, &req, sizeof(req), NULL, 0))
		emu_sock_recv(fd, &rep, sizeof(rep), NULL, 0, &nfds, NULL);
	syscall(SYS_close, fd);
}

void emu_counters_refresh_path(const char *path)
{
	int saved = errno;

	if (path && strstr(path, DIRECTORY) && emu_kernel_present()) {
		atomic_store(&opened, true);
		refresh();
	}
	errno = saved;
}

static void refresh_file(int fd)
{
	char link[40], path[PATH_MAX];
	int saved = errno;
	long n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof(path) - 1);
	if (n > 0) {
		path[n] = '\0';
		emu_counters_refresh_path(path);
	}
	errno = saved;
}

static bool may_be_open(void)
{
	return atomic_load_explicit(&opened, memory_order_relaxed);
}

void emu_counters_before_read(int fd)
{
	int saved = errno;

	if (may_be_open() && !syscall(SYS_lseek, fd, 0l, SEEK_CUR))
		refresh_file(fd);
	errno = saved;
}

#define DEFINE_PREAD(name, type)                                        \
	EXPORT ssize_t name(int fd, void *buf, size_t len, type offset) \
	{                                                               \
		if (may_be_open() && !offset)                           \
			refresh_file(fd);                               \
		return NEXT(name)(fd, buf, len, offset);                \
	}

DEFINE_PREAD(pread, off_t)
DEFINE_PREAD(pread64, off64_t)
