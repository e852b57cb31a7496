/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The calls by which shells, launchers and interpreters execute programs: say which ones lose the emulator. */
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/ipc/program.h"
#include "emu/ipc/proto.h"
#include "emu/shim/interpose.h"

static bool on_emulator;

/* Later the program may have cleared its environment. */
__attribute__((constructor)) static void remember(void)
{
	on_emulator = getenv(EMU_ENV_DIR) && getenv(EMU_ENV_ROLE);
}

/* A program that removes one of the variables knows them; su, sudo and `env -i' remove all. */
static bool keeps_emulator(char *const env[])
{
	for (; env && *env; env++)
		if (!strncmp(*env, EMU_ENV_DIR "=", sizeof(EMU_ENV_DIR)) ||
		    !strncmp(*env, "LD_PRELOAD=", sizeof("LD_PRELOAD")))
			return true;
	return false;
}

/* Allocates nothing: the process may be the child of a vfork(). */
static void look(const char *path, char *const env[])
{
	char line[PATH_MAX + 256];
	int saved = errno, n;

	if (!on_emulator || !path || access(path, X_OK))
		goto out;
	if (keeps_emulator(env)) {
		emu_program_warn(path);
		goto out;
	}
	n = snprintf(line, sizeof(line),
		     "dpumap-emu: %s will not see the emulated device: its environment was cleared "
		     "(su -, sudo, env -i); use `dpumap-emu run' below that\n",
		     path);
	if (write(STDERR_FILENO, line, (size_t)n) != n)
		errno = EIO;
out:
	errno = saved;
}

static void look_for(const char *file, char *const env[])
{
	char path[PATH_MAX];

	if (on_emulator && file)
		look(emu_program_find(file, path), env);
}

EXPORT int execve(const char *path, char *const argv[], char *const env[])
{
	look(path, env);
	return NEXT(execve)(path, argv, env);
}

EXPORT int execv(const char *path, char *const argv[])
{
	look(path, environ);
	return NEXT(execv)(path, argv);
}

EXPORT int execvp(const char *file, char *const argv[])
{
	look_for(file, environ);
	return NEXT(execvp)(file, argv);
}

EXPORT int posix_spawn(pid_t *restrict pid, const char *restrict path,
		       const posix_spawn_file_actions_t *restrict actions,
		       const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
		       char *const env[restrict])
{
	look(path, env);
	return NEXT(posix_spawn)(pid, path, actions, attributes, argv, env);
}

EXPORT int posix_spawnp(pid_t *restrict pid, const char *restrict file,
			const posix_spawn_file_actions_t *restrict actions,
			const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
			char *const env[restrict])
{
	look_for(file, env);
	return NEXT(posix_spawnp)(pid, file, actions, attributes, argv, env);
}
