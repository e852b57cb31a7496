/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "duo.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void run_command(int input, int output, char *const command[])
{
	if (dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0) {
		execvp(command[0], command);
		perror(command[0]);
	}
	_exit(127);
}

bool duo_start(struct duo *duo, char *const command[])
{
	int there[2], back[2];

	if (pipe2(there, O_CLOEXEC))
		goto failed;
	if (pipe2(back, O_CLOEXEC))
		goto close_there;
	duo->pid = fork();
	if (duo->pid == 0)
		run_command(there[0], back[1], command);
	close(there[0]);
	close(back[1]);
	duo->to = there[1];
	duo->from = back[0];
	if (duo->pid > 0)
		return true;
	close(duo->to);
	close(duo->from);
	goto failed;

close_there:
	close(there[0]);
	close(there[1]);
failed:
	perror("bench: cannot start the other process");
	return false;
}

bool duo_join(struct duo *duo)
{
	duo->pid = 0;
	duo->from = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	duo->to = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (duo->from >= 0 && duo->to >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
		return true;
	perror("bench: cannot use standard input and output");
	return false;
}

void duo_end(struct duo *duo)
{
	close(duo->to);
	close(duo->from);
	if (duo->pid > 0)
		waitpid(duo->pid, NULL, 0);
}

bool duo_send(const struct duo *duo, const void *bytes, size_t len)
{
	return write(duo->to, bytes, len) == (ssize_t)len; /* less than a pipe holds */
}

bool duo_receive(const struct duo *duo, void *bytes, size_t len)
{
	char *at = bytes;

	while (len) {
		ssize_t got = read(duo->from, at, len);

		if (got <= 0)
			return false;
		at += got;
		len -= (size_t)got;
	}
	return true;
}

bool duo_swap(const struct duo *duo, const void *ours, void *theirs, size_t len)
{
	return duo_send(duo, ours, len) && duo_receive(duo, theirs, len);
}

bool duo_meet(const struct duo *duo)
{
	char byte = 0;

	return duo_swap(duo, &byte, &byte, 1);
}
