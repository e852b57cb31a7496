/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emulator.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fixture.h"

pid_t emulator_server_of(const char *dir)
{
	struct ucred peer = {.pid = -1};
	socklen_t len = sizeof(peer);
	char path[PATH_MAX];
	int s;

	snprintf(path, sizeof(path), "%s/control", dir);
	s = process_connect(path);
	if (s < 0 || getsockopt(s, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		peer.pid = -1;
	if (s >= 0)
		close(s);
	return peer.pid;
}

bool emulator_start(struct emulator *emulator)
{
	static unsigned int count;
	const char *const argv[] = {test_options.emu, "start", "--dir", emulator->dir, NULL};
	const char *outer = getenv("DPUMAP_EMU_DIR");

	if (snprintf(emulator->dir, sizeof(emulator->dir), "%s.%u",
		     outer ? outer : "/tmp/dpumap-emulator",
		     count++) >= (int)sizeof(emulator->dir) ||
	    process_run(argv))
		return false;
	emulator->server = emulator_server_of(emulator->dir);
	return emulator->server > 0;
}

bool emulator_stop(const struct emulator *emulator)
{
	const char *const argv[] = {test_options.emu, "stop", "--dir", emulator->dir, NULL};

	return process_run(argv) == 0;
}

pid_t emulator_spawn(const struct emulator *emulator, const char *as, const char *role, int *to,
		     int *from)
{
	const char *const argv[] = {
		test_options.emu,  "run",   "--dir",	      emulator->dir, "--as", as, "--",
		test_options.self, "--emu", test_options.emu, NULL,
	};
	pid_t pid;

	setenv(EMULATOR_ROLE_ENV, role, 1);
	pid = process_spawn(argv, to, from);
	unsetenv(EMULATOR_ROLE_ENV);
	return pid;
}
