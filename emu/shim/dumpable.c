/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/shim/refusal.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "emu/ipc/proto.h"
#include "emu/shim/kernel.h"

static atomic_bool replaced;

/* The process that listens on the control socket; 0 if it cannot be found. */
static pid_t server_pid(void)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	struct ucred peer = {0};
	socklen_t len = sizeof(peer);
	int fd, n;

	n = snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/control", getenv(EMU_ENV_DIR));
	if (n < 0 || n > EMU_PATH_MAX)
		return 0;
	fd = (int)syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	if (connect(fd, (const struct sockaddr *)&sa, sizeof(sa)) ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		peer.pid = 0;
	close(fd);
	return peer.pid;
}

/* Process 0 is this one. */
static bool can_trace(pid_t pid)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, pid};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};

	return !syscall(SYS_capget, &head, data) &&
	       data[CAP_TO_INDEX(CAP_SYS_PTRACE)].effective & CAP_TO_MASK(CAP_SYS_PTRACE);
}

bool emu_dumpable_replace(void)
{
	const struct rlimit none = {0, 0};
	int saved = errno;

	/* Another user's program, for one, has lost its dumps already. */
	if (emu_kernel_present() && syscall(SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0, 0) == 1 &&
	    !can_trace(server_pid()) && !setrlimit(RLIMIT_CORE, &none))
		replaced = true;
	errno = saved;
	return replaced;
}

bool emu_dumpable_is_replaced(void)
{
	return replaced;
}
