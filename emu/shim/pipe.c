/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/shim/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static void close_pair(void *arg)
{
	int *pair = arg;

	close(pair[0]);
	close(pair[1]);
}

int emu_pipe_wait(int fd, size_t *len)
{
	uint8_t copy[PIPE_BUF];
	int pair[2], err;
	ssize_t n;

	if (pipe2(pair, O_CLOEXEC | O_DIRECT))
		return errno;
	pthread_cleanup_push(close_pair, pair);
	n = tee(fd, pair[1], PIPE_BUF, 0);
	err = n < 0 ? errno : (n ? 0 : EIO);
	if (!err && len)
		*len = (size_t)syscall(SYS_read, pair[0], copy, sizeof(copy));
	pthread_cleanup_pop(1);
	return err;
}
