/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Fault injection from the code of a test that runs with `dpumap-emu run`. No library is needed: the
 * functions run the program `dpumap-emu' that runs the test ($DPUMAP_EMU), for the same emulator
 * ($DPUMAP_EMU_DIR), and wait until it ends.
 *
 *	dpumap_emu_fault("command --method mr.create --nth 2 --errno ENOMEM");
 *	... the second registration from now on fails ...
 *	dpumap_emu_fault("clear");
 *
 * The arguments are those of the command line, see dpumap-emu(1). Requires C11 or C++17, and POSIX.
 */
#ifndef DPUMAP_EMU_H
#define DPUMAP_EMU_H

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DPUMAP_EMU_MAX_WORDS 24
#define DPUMAP_EMU_MAX_TEXT  512

extern char **environ;

/*
 * Run `dpumap-emu VERB WORDS...`. The words are separated by spaces. The output goes to the file
 * descriptor `out`, or is discarded if `out` is negative. Return 0 on success, an errno if the program
 * cannot run, or EINVAL if it fails; it then prints an error message to stderr.
 */
static inline int dpumap_emu_command(const char *verb, const char *words, int out)
{
	const char *program = getenv("DPUMAP_EMU");
	char text[DPUMAP_EMU_MAX_TEXT], *argv[DPUMAP_EMU_MAX_WORDS + 1], *save = NULL, *word;
	posix_spawn_file_actions_t files;
	int argc = 0, err, status;
	pid_t pid;

	if (!program)
		program = "dpumap-emu";
	if (snprintf(text, sizeof(text), "dpumap-emu %s %s", verb, words) >= (int)sizeof(text))
		return E2BIG;
	for (word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (argc == DPUMAP_EMU_MAX_WORDS)
			return E2BIG;
		argv[argc++] = word;
	}
	argv[argc] = NULL;
	err = posix_spawn_file_actions_init(&files);
	if (err)
		return err;
	if (out >= 0)
		err = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	else
		err = posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY,
						       0);
	if (!err)
		err = posix_spawnp(&pid, program, &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	if (err)
		return err;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : EINVAL;
}

/* Inject a fault with `dpumap-emu fault RULE'. The fault is active when the function returns 0. */
static inline int dpumap_emu_fault(const char *rule)
{
	return dpumap_emu_command("fault", rule, -1);
}

/*
 * Return a number that `dpumap-emu status' prints: live objects ("mrs", "qps", "dm_bytes", ...) or
 * work done ("copies", "errors", ...). Return -1 on failure. If the numbers of objects are equal before
 * and after a test, the test leaks no objects.
 */
static inline long long dpumap_emu_count(const char *name)
{
	char line[128], found[64];
	long long value = -1, v;
	FILE *stream;

	stream = tmpfile();
	if (!stream)
		return -1;
	if (!dpumap_emu_command("status", "", fileno(stream))) {
		rewind(stream);
		while (value < 0 && fgets(line, sizeof(line), stream))
			if (sscanf(line, "%63s %lld", found, &v) == 2 && !strcmp(found, name))
				value = v;
	}
	fclose(stream);
	return value;
}

#ifdef __cplusplus
}
#endif

#endif
