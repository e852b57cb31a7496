/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "inner.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

static bool ran_well(const char *const argv[])
{
	pid_t pid = rig_spawn(argv, NULL, NULL);
	int status = pid > 0 ? rig_reap(pid) : -1;

	return WIFEXITED(status) && !WEXITSTATUS(status);
}

pid_t inner_server_of(const char *dir)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct ucred peer = {.pid = -1};
	socklen_t len = sizeof(peer);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/control", dir);
	if (s < 0 || connect(s, (struct sockaddr *)&sa, sizeof(sa)) ||
	    getsockopt(s, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		peer.pid = -1;
	if (s >= 0)
		close(s);
	return peer.pid;
}

bool inner_start(struct inner *inner)
{
	static unsigned int count;
	const char *const argv[] = {rig_options.emu, "start", "--dir", inner->dir, NULL};
	const char *outer = getenv("DPUMAP_EMU_DIR");

	if (snprintf(inner->dir, sizeof(inner->dir), "%s.%u", outer ? outer : "/tmp/dpumap-inner",
		     count++) >= (int)sizeof(inner->dir) ||
	    !ran_well(argv))
		return false;
	inner->server = inner_server_of(inner->dir);
	return inner->server > 0;
}

bool inner_stop(const struct inner *inner)
{
	const char *const argv[] = {rig_options.emu, "stop", "--dir", inner->dir, NULL};

	return ran_well(argv);
}

pid_t inner_spawn(const struct inner *inner, const char *side, const char *role, int *to, int *from)
{
	const char *const argv[] = {
		rig_options.emu,  "run",   "--dir",	    inner->dir, "--as", side, "--",
		rig_options.self, "--emu", rig_options.emu, NULL,
	};
	pid_t pid;

	setenv(INNER_ROLE_ENV, role, 1);
	pid = rig_spawn(argv, to, from);
	unsetenv(INNER_ROLE_ENV);
	return pid;
}
