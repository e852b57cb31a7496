/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The calls that execute programs: say which ones lose the emulator. Those that replace this program end its queue
 * pairs: before, the last work is done (last_work.h), except in children, which have none.
 */
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/ipc/program.h"
#include "emu/ipc/proto.h"
#include "emu/shim/interpose.h"
#include "emu/shim/last_work.h"

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
static void warn_without_emulator(const char *path, char *const env[])
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

static void find_and_warn(const char *file, char *const env[])
{
	char path[PATH_MAX];

	if (on_emulator && file)
		warn_without_emulator(emu_program_find(file, path), env);
}

static void leave_for(const char *path, char *const env[])
{
	warn_without_emulator(path, env);
	emu_last_work_of_all();
}

static void leave_for_found(const char *file, char *const env[])
{
	find_and_warn(file, env);
	emu_last_work_of_all();
}

EXPORT int execve(const char *path, char *const argv[], char *const env[])
{
	leave_for(path, env);
	return NEXT(execve)(path, argv, env);
}

EXPORT int execv(const char *path, char *const argv[])
{
	leave_for(path, environ);
	return NEXT(execv)(path, argv);
}

EXPORT int execvp(const char *file, char *const argv[])
{
	leave_for_found(file, environ);
	return NEXT(execvp)(file, argv);
}

EXPORT int execvpe(const char *file, char *const argv[], char *const env[])
{
	leave_for_found(file, env);
	return NEXT(execvpe)(file, argv, env);
}

EXPORT int fexecve(int fd, char *const argv[], char *const env[])
{
	emu_last_work_of_all();
	return NEXT(fexecve)(fd, argv, env);
}

EXPORT int execveat(int dir, const char *path, char *const argv[], char *const env[], int flags)
{
	emu_last_work_of_all();
	return NEXT(execveat)(dir, path, argv, env, flags);
}

/* --- arguments one by one --------------------------------------------------------------------- */

/* How many there are after the first one, with the NULL at the end. */
static size_t count(const char *first, va_list *ap)
{
	size_t n = 0;

	while (first) {
		first = va_arg(*ap, const char *); // NOLINT(clang-analyzer-valist.Uninitialized)
		n++;
	}
	return n;
}

static void fill(char *argv[], const char *first, va_list *ap)
{
	for (*argv = (char *)first; *argv;
	     *argv = va_arg(*ap, char *)) // NOLINT(clang-analyzer-valist.Uninitialized)
		argv++;
}

/* In the caller's frame: a child of vfork() has its parent's heap. `ap` is then behind the NULL. */
#define TAKE_LIST(argv, first, ap)                                     \
	do {                                                           \
		size_t n_;                                             \
                                                                       \
		va_start(ap, first);                                   \
		n_ = count(first, &(ap));                              \
		va_end(ap);                                            \
		(argv) = __builtin_alloca((n_ + 1) * sizeof(*(argv))); \
		va_start(ap, first);                                   \
		fill(argv, first, &(ap));                              \
	} while (0)

EXPORT int execl(const char *path, const char *arg, ...)
{
	char **argv;
	va_list ap;

	TAKE_LIST(argv, arg, ap);
	va_end(ap);
	return execv(path, argv);
}

EXPORT int execlp(const char *file, const char *arg, ...)
{
	char **argv;
	va_list ap;

	TAKE_LIST(argv, arg, ap);
	va_end(ap);
	return execvp(file, argv);
}

EXPORT int execle(const char *path, const char *arg, ...)
{
	char **argv, *const *env;
	va_list ap;

	TAKE_LIST(argv, arg, ap);
	env = va_arg(ap, char *const *); // NOLINT(clang-analyzer-valist.Uninitialized)
	va_end(ap);
	return execve(path, argv, env);
}

/* --- children --------------------------------------------------------------------------------- */

EXPORT int posix_spawn(pid_t *restrict pid, const char *restrict path,
		       const posix_spawn_file_actions_t *restrict actions,
		       const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
		       char *const env[restrict])
{
	warn_without_emulator(path, env);
	return NEXT(posix_spawn)(pid, path, actions, attributes, argv, env);
}

EXPORT int posix_spawnp(pid_t *restrict pid, const char *restrict file,
			const posix_spawn_file_actions_t *restrict actions,
			const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
			char *const env[restrict])
{
	find_and_warn(file, env);
	return NEXT(posix_spawnp)(pid, file, actions, attributes, argv, env);
}
