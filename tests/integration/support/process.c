/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fixture.h"

bool process_is_emulated(void)
{
	const char *running = getenv("DPUMAP_EMU");
	char given[PATH_MAX];

	return running && test_options.emu && realpath(test_options.emu, given) &&
	       !strcmp(running, given);
}

bool process_is_translated(void)
{
	char name[16] = "";
	FILE *f = fopen("/proc/self/comm", "r");

	if (!f)
		return false;
	if (!fgets(name, sizeof(name), f))
		name[0] = '\0';
	fclose(f);
	return !strncmp(name, "qemu-", 5);
}

/*
 * Spawned, not forked: the child of a fork lacks the memory that the device uses, and copying the
 * mappings of a sanitized process takes ten times as long.
 */
static pid_t start(const char *const argv[], char *const env[], const int in[2], const int out[2])
{
	posix_spawn_file_actions_t ends;
	pid_t pid;
	int err;

	if (!argv[0] || posix_spawn_file_actions_init(&ends))
		return -1;
	err = in[0] < 0 ? 0 : posix_spawn_file_actions_adddup2(&ends, in[0], STDIN_FILENO);
	if (!err && out[1] >= 0)
		err = posix_spawn_file_actions_adddup2(&ends, out[1], STDOUT_FILENO);
	if (!err)
		err = posix_spawnp(&pid, argv[0], &ends, NULL, (char *const *)argv, env);
	posix_spawn_file_actions_destroy(&ends);
	return err ? -1 : pid;
}

static void close_pipe(int ends[2])
{
	if (ends[0] >= 0)
		close(ends[0]);
	if (ends[1] >= 0)
		close(ends[1]);
}

static pid_t spawn(const char *const argv[], char *const env[], int *to, int *from)
{
	int in[2] = {-1, -1};
	int out[2] = {-1, -1};
	pid_t pid = -1;

	if ((to && pipe2(in, O_CLOEXEC)) || (from && pipe2(out, O_CLOEXEC)))
		goto close_pipes;
	fflush(NULL);
	pid = start(argv, env, in, out);
	if (pid < 0)
		goto close_pipes;
	if (to) {
		*to = in[1];
		close(in[0]);
	}
	if (from) {
		*from = out[0];
		close(out[1]);
	}
	return pid;

close_pipes:
	close_pipe(in);
	close_pipe(out);
	return pid;
}

pid_t process_spawn(const char *const argv[], int *to, int *from)
{
	return spawn(argv, environ, to, from);
}

/* --- on a function of the emulated card ------------------------------------------------------- */

#define ROLE_WORDS 3
#define ROLE_TEXT  256

struct role {
	char words[ROLE_WORDS][ROLE_TEXT];
};

static void choose(struct role *role, const char *as)
{
	const char *dir = getenv("DPUMAP_EMU_DIR");

	snprintf(role->words[0], ROLE_TEXT, "DPUMAP_EMU_ROLE=%s", as);
	snprintf(role->words[1], ROLE_TEXT, "SYSFS_PATH=%s/%s/sysfs", dir, as);
	snprintf(role->words[2], ROLE_TEXT, "SYSFS_PCI_DEVICES=%s/%s/sysfs/bus/pci/devices", dir,
		 as);
}

static bool replaces(const struct role *role, const char *word)
{
	for (size_t i = 0; i < ROLE_WORDS; i++)
		if (!strncmp(word, role->words[i], strcspn(word, "=") + 1))
			return true;
	return false;
}

/*
 * The environment of this program, on another function. The child inherits the connection that keeps the
 * emulator alive. The tool would do the same, but starting it takes as long as most of the children.
 */
static pid_t spawn_on_function(const char *as, const char *const argv[], int *to, int *from)
{
	struct role role;
	size_t n = 0, i;
	char **env;
	pid_t pid;

	choose(&role, as);
	while (environ[n])
		n++;
	env = calloc(n + ROLE_WORDS + 1, sizeof(*env));
	if (!env)
		return -1;
	for (n = 0, i = 0; environ[i]; i++)
		if (!replaces(&role, environ[i]))
			env[n++] = environ[i];
	for (i = 0; i < ROLE_WORDS; i++)
		env[n++] = role.words[i];
	pid = spawn(argv, env, to, from);
	free(env);
	return pid;
}

#define MAX_WORDS 16

static pid_t spawn_by_tool(const char *as, const char *const argv[], int *to, int *from)
{
	const char *words[MAX_WORDS] = {test_options.emu, "run", "--as", as, "--"};
	size_t n = 5;

	while (*argv && n < MAX_WORDS - 1)
		words[n++] = *argv++;
	return *argv ? -1 : spawn(words, environ, to, from);
}

pid_t process_spawn_as(const char *as, const char *const argv[], int *to, int *from)
{
	return process_is_emulated() ? spawn_on_function(as, argv, to, from)
				     : spawn_by_tool(as, argv, to, from);
}

/* --- this program ----------------------------------------------------------------------------- */

pid_t process_spawn_self(const char *as, const char *env, int *socket)
{
	const char *const argv[] = {test_options.self, NULL};
	char number[16];
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -1;
	fcntl(pair[1], F_SETFD, 0);
	snprintf(number, sizeof(number), "%d", pair[1]);
	setenv(env, number, 1);
	pid = process_spawn_as(as, argv, NULL, NULL);
	unsetenv(env);
	close(pair[1]);
	*socket = pair[0];
	return pid;
}

int process_inherited(const char *env)
{
	const char *number = getenv(env);

	return number ? (int)strtol(number, NULL, 10) : -1;
}

int process_connect(const char *path)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (s < 0)
		return -1;
	if (snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path) < (int)sizeof(sa.sun_path) &&
	    !connect(s, (struct sockaddr *)&sa, sizeof(sa)))
		return s;
	close(s);
	return -1;
}

bool process_send(int fd, const void *buf, size_t len)
{
	const uint8_t *at = buf;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

bool process_receive(int fd, void *buf, size_t len)
{
	uint8_t *at = buf;

	while (len) {
		ssize_t n = read(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

bool process_send_fd(int socket, int fd, const void *data, size_t len)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(fd))];
	} control = {0};
	struct iovec iov = {.iov_base = (void *)(uintptr_t)data, .iov_len = len};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(socket, &msg, MSG_NOSIGNAL) == (ssize_t)len;
}

int process_receive_fd(int socket, void *data, size_t len)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = {.iov_base = data, .iov_len = len};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	int fd = -1;

	if (recvmsg(socket, &msg, MSG_CMSG_CLOEXEC) == (ssize_t)len && CMSG_FIRSTHDR(&msg))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

int process_reap(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

int process_exit_code(pid_t pid)
{
	int status = process_reap(pid);

	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int process_run(const char *const argv[])
{
	pid_t pid = process_spawn(argv, NULL, NULL);

	return pid > 0 ? process_exit_code(pid) : -1;
}

bool process_start_peer(struct process *peer, const char *as)
{
	const char *const argv[] = {test_options.self, "--be-peer", NULL};

	peer->pid = process_spawn_as(as, argv, &peer->to, &peer->from);
	return peer->pid > 0;
}

bool process_start_on_socket(struct process *peer, const char *as, const char *env)
{
	peer->pid = process_spawn_self(as, env, &peer->to);
	peer->from = peer->to;
	return peer->pid > 0;
}

static int hang_up(struct process *peer)
{
	pid_t pid = peer->pid;

	close(peer->to);
	if (peer->from != peer->to)
		close(peer->from);
	peer->pid = 0;
	return process_reap(pid);
}

bool process_finish(struct process *peer)
{
	int status = hang_up(peer);

	if (status)
		fprintf(stderr, "peer: status 0x%x\n", (unsigned int)status);
	return status == 0;
}

bool process_kill(struct process *peer)
{
	int status;

	if (kill(peer->pid, SIGKILL))
		return false;
	status = hang_up(peer);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}
