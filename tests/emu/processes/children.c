/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "children.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

bool child_tell(int socket, const void *what, size_t len)
{
	return send(socket, what, len, MSG_NOSIGNAL) == (ssize_t)len;
}

bool child_hear(int socket, void *what, size_t len)
{
	return recv(socket, what, len, 0) == (ssize_t)len;
}

bool child_signal(int socket)
{
	return child_tell(socket, "", 1);
}

bool child_await(int socket)
{
	char byte;

	return child_hear(socket, &byte, 1);
}

void child_start(struct child *c, const char *as, int part)
{
	c->pid = process_spawn_self(as, CHILD_ENV, &c->socket);
	assert_true(c->pid > 0 && child_tell(c->socket, &part, sizeof(part)));
}

void child_stop(const struct child *c)
{
	int status;

	assert_int_equal(kill(c->pid, SIGSTOP), 0);
	assert_int_equal(waitpid(c->pid, &status, WUNTRACED), c->pid);
	assert_true(WIFSTOPPED(status));
}

void child_continue(const struct child *c)
{
	assert_int_equal(kill(c->pid, SIGCONT), 0);
}

static void finish(struct child *c, int code)
{
	assert_int_equal(process_exit_code(c->pid), code);
	close(c->socket);
}

void child_finish(struct child *c)
{
	finish(c, 0);
}

void child_finish_by(struct child *c, int number)
{
	finish(c, -number);
}

static bool is_engine(pid_t pid, pid_t thread)
{
	char path[64], name[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)thread);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (!fgets(name, sizeof(name), f))
		name[0] = '\0';
	fclose(f);
	return !strcmp(name, "emu-dma-engine\n");
}

pid_t child_engine(const struct child *c)
{
	const struct dirent *entry;
	pid_t thread, found = 0;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)c->pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		thread = (pid_t)strtol(entry->d_name, NULL, 10);
		found = is_engine(c->pid, thread) ? thread : 0;
	}
	if (dir)
		closedir(dir);
	return found;
}

bool child_stop_thread(pid_t thread)
{
	int status;

	return !ptrace(PTRACE_SEIZE, thread, NULL, NULL) &&
	       !ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) &&
	       waitpid(thread, &status, __WALL) == thread && WIFSTOPPED(status);
}

bool child_continue_thread(pid_t thread)
{
	if (!ptrace(PTRACE_DETACH, thread, NULL, NULL))
		return true;
	return errno == ESRCH && waitpid(thread, NULL, __WALL) == thread;
}
