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
 * The arguments are those of the command line, see dpumap-emu(1). Requires C11 or C++17 on a
 * POSIX system, with or without compiler extensions.
 */
#ifndef DPUMAP_EMU_H
#define DPUMAP_EMU_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
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
#ifndef __cplusplus
extern int kill(pid_t pid, int sig); /* <signal.h> hides it from -std=c11 */
#endif

/* Split at spaces into a list that ends with NULL; -1 if there are too many words. */
static inline int dpumap_emu_split(char *text, char **argv)
{
	int argc = 0;

	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		if (argc == DPUMAP_EMU_MAX_WORDS)
			return -1;
		argv[argc++] = text;
		text += strcspn(text, " ");
		if (*text)
			*text++ = '\0';
	}
	argv[argc] = NULL;
	return argc;
}

/* Start `dpumap-emu VERB WORDS...', see dpumap_emu_command(). */
static inline int dpumap_emu_start(const char *verb, const char *words, int out, pid_t *pid)
{
	const char *program = getenv("DPUMAP_EMU");
	char text[DPUMAP_EMU_MAX_TEXT], *argv[DPUMAP_EMU_MAX_WORDS + 1];
	posix_spawn_file_actions_t files;
	int err;

	if (!program)
		program = "dpumap-emu";
	if (snprintf(text, sizeof(text), "dpumap-emu %s %s", verb, words) >= (int)sizeof(text) ||
	    dpumap_emu_split(text, argv) < 0)
		return E2BIG;
	err = posix_spawn_file_actions_init(&files);
	if (err)
		return err;
	if (out >= 0)
		err = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	else
		err = posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY,
						       0);
	if (!err)
		err = posix_spawnp(pid, program, &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	return err;
}

static inline int dpumap_emu_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : EINVAL;
}

/*
 * Run `dpumap-emu VERB WORDS...`. The words are separated by spaces. The output goes to the file
 * descriptor `out`, or is discarded if `out` is negative. Return 0 on success, an errno if the program
 * cannot run, or EINVAL if it fails; it then prints an error message to stderr.
 */
static inline int dpumap_emu_command(const char *verb, const char *words, int out)
{
	pid_t pid;
	int err = dpumap_emu_start(verb, words, out, &pid);

	return err ? err : dpumap_emu_wait(pid);
}

/* Inject a fault with `dpumap-emu fault RULE'. The fault is active when the function returns 0. */
static inline int dpumap_emu_fault(const char *rule)
{
	return dpumap_emu_command("fault", rule, -1);
}

/*
 * Inject the faults of a plan while the test continues: `dpumap-emu chaos --plan PLAN --seed SEED'. The
 * path of the plan must not contain a space. Returns when the program has been started; call
 * dpumap_emu_chaos_wait() or dpumap_emu_chaos_stop() with its `pid`.
 */
static inline int dpumap_emu_chaos(const char *plan, unsigned long long seed, pid_t *pid)
{
	char words[DPUMAP_EMU_MAX_TEXT];

	if (snprintf(words, sizeof(words), "--plan %s --seed %llu", plan, seed) >=
	    (int)sizeof(words))
		return E2BIG;
	return dpumap_emu_start("chaos", words, -1, pid);
}

/* Wait for the end of the plan. Return 0, or EINVAL if the program failed. Then no fault is active. */
static inline int dpumap_emu_chaos_wait(pid_t pid)
{
	return dpumap_emu_wait(pid);
}

/* End the plan now. When this returns 0, no fault is active. */
static inline int dpumap_emu_chaos_stop(pid_t pid)
{
	int err;

	kill(pid, SIGTERM);
	err = dpumap_emu_wait(pid);
	/* The program may not have run yet, or have been ended before it removed the faults. */
	return err ? dpumap_emu_fault("clear") : 0;
}

/* Read one line without its end; false at the end of the output. */
static inline int dpumap_emu_read_line(int fd, char *line, size_t size)
{
	size_t len = 0;
	ssize_t n;
	char c;

	do {
		n = read(fd, &c, 1);
		if (n > 0 && c != '\n' && len + 1 < size)
			line[len++] = c;
	} while ((n > 0 && c != '\n') || (n < 0 && errno == EINTR));
	line[len] = '\0';
	return n > 0 || len > 0;
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
	int ends[2], err;
	pid_t pid;

	if (pipe(ends))
		return -1;
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	err = dpumap_emu_start("status", "", ends[1], &pid);
	close(ends[1]);
	while (!err && dpumap_emu_read_line(ends[0], line, sizeof(line)))
		if (sscanf(line, "%63s %lld", found, &v) == 2 && !strcmp(found, name) && value < 0)
			value = v;
	close(ends[0]);
	return err || dpumap_emu_wait(pid) ? -1 : value;
}

#ifdef __cplusplus
}
#endif

#endif
