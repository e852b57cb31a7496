/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/shim/wait.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "emu/ipc/look.h"
#include "emu/shim/server_exit.h"

#define TIMEOUT_S    2
#define SIGSET_BYTES 8ul /* of the kernel */

/* A direct system call: a sanitizer's function may be interrupted by its own handlers. */
static long await(int fd, const struct timespec *limit, const sigset_t *mask)
{
	struct pollfd answer = {.fd = fd, .events = POLLIN};
	struct timespec left = limit ? *limit : (struct timespec){0};

	return syscall(SYS_ppoll, &answer, 1ul, limit ? &left : NULL, mask, SIGSET_BYTES);
}

static int is_there(void *fd)
{
	const struct timespec now = {0};

	return (int)await(*(const int *)fd, &now, NULL);
}

void emu_answer_await(int fd, pid_t server, const sigset_t *open)
{
	static _Thread_local struct emu_look look __attribute__((tls_model("initial-exec")));
	const struct timespec limit = {.tv_sec = TIMEOUT_S};
	int saved = errno;

	if (!emu_look(&look, is_there, &fd) && !await(fd, &limit, NULL)) {
		fprintf(stderr,
			"dpumap-emu: process %d waits for the emulator, process %d, which does not "
			"answer; "
			"'dpumap-emu stop' ends one that hangs\n",
			(int)getpid(), (int)(server ? server : emu_server_exit_pid(fd)));
		while (await(fd, NULL, open) < 0 && errno == EINTR)
			;
	}
	errno = saved;
}
