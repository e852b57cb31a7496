/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "local/line.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What a pipe with room takes at once (PIPE_BUF) is more. */
#define LINE_MAX_SIZE	1024
#define ROOM_TIMEOUT_MS 20

/* Guarded by the lock of stderr, which all libraries of the process share. */
static unsigned int dropped;
static bool shows_time;

void dpumap_line_show_time(void)
{
	shows_time = true;
}

static bool has_room(int fd, int ms)
{
	struct pollfd wanted = {.fd = fd, .events = POLLOUT};
	int num;

	do
		num = poll(&wanted, 1, ms);
	while (num < 0 && errno == EINTR);
	return num == 1 && (wanted.revents & POLLOUT);
}

bool dpumap_line_has_room(int fd)
{
	return has_room(fd, 0);
}

static bool write_soon(const char *bytes, size_t len)
{
	ssize_t n;

	if (!has_room(STDERR_FILENO, dropped ? 0 : ROOM_TIMEOUT_MS))
		return false;
	n = send(STDERR_FILENO, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0 && errno == ENOTSOCK)
		n = write(STDERR_FILENO, bytes, len);
	return n == (ssize_t)len;
}

/* The file that systemd passed as the journal: $JOURNAL_STREAM, "DEVICE:INODE". */
static struct {
	uintmax_t device, inode;
} journal;

__attribute__((constructor)) static void read_environment(void)
{
	const char *text = getenv("JOURNAL_STREAM");

	if (text && sscanf(text, "%ju:%ju", &journal.device, &journal.inode) != 2)
		journal.inode = 0;
}

/* A program that systemd started may have passed another standard error to this one. */
static bool is_journal(void)
{
	struct stat st;

	return journal.inode && fstat(STDERR_FILENO, &st) == 0 && st.st_dev == journal.device &&
	       st.st_ino == journal.inode;
}

static size_t put_time(char *line, size_t size)
{
	struct timespec now;
	struct tm utc;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	return strftime(line, size, "%Y-%m-%dT%H:%M:%SZ ", &utc);
}

static bool put(enum dpumap_line_level level, const char *program, const char *text)
{
	char line[LINE_MAX_SIZE];
	size_t len = 0;

	if (is_journal())
		len = (size_t)snprintf(line, sizeof(line), "<%d>", (int)level);
	else if (shows_time)
		len = put_time(line, sizeof(line));
	snprintf(line + len, sizeof(line) - len - 1, "%s: %s", program, text);
	len = strlen(line);
	line[len] = '\n';
	return write_soon(line, len + 1);
}

static void print_dropped(const char *program)
{
	char text[96];

	snprintf(text, sizeof(text), "%u lines were dropped here: nothing read the log", dropped);
	if (put(DPUMAP_LINE_WARNING, program, text))
		dropped = 0;
}

void dpumap_line_write(enum dpumap_line_level level, const char *program, const char *text)
{
	int saved_errno = errno;

	flockfile(stderr);
	if (dropped)
		print_dropped(program);
	if (dropped || !put(level, program, text))
		dropped++;
	funlockfile(stderr);
	errno = saved_errno;
}
