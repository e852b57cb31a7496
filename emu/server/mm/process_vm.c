/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/mm/process_vm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

struct pieces {
	const struct iovec *iov;
	unsigned int n;
	size_t at; /* in the first one */
};

static size_t left_in(const struct pieces *p)
{
	return p->iov->iov_len - p->at;
}

static void advance(struct pieces *p, size_t len)
{
	p->at += len;
	if (left_in(p))
		return;
	p->iov++;
	p->n--;
	p->at = 0;
}

static ssize_t transfer(int fd, bool read, const struct pieces *here, const struct pieces *there,
			size_t len)
{
	char *buf = (char *)here->iov->iov_base + here->at;
	off64_t offset = (off64_t)((uintptr_t)there->iov->iov_base + there->at);

	if (!len)
		return 0;
	return read ? pread64(fd, buf, len, offset) : pwrite64(fd, buf, len, offset);
}

static ssize_t transfer_all(int fd, bool read, struct pieces here, struct pieces there)
{
	size_t len, done = 0;
	ssize_t n;

	while (here.n && there.n) {
		len = left_in(&here) < left_in(&there) ? left_in(&here) : left_in(&there);
		n = transfer(fd, read, &here, &there, len);
		if (n < 0 || (len && !n))
			break;
		done += (size_t)n;
		advance(&here, (size_t)n);
		advance(&there, (size_t)n);
	}
	if (done || !here.n || !there.n)
		return (ssize_t)done;
	errno = EFAULT;
	return -1;
}

/* The kernel checks the same permissions when the file is opened. */
static ssize_t through_file(pid_t pid, bool read, struct pieces here, struct pieces there)
{
	char path[32];
	ssize_t n;
	int fd, err;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, (read ? O_RDONLY : O_RDWR) | O_CLOEXEC);
	if (fd < 0) {
		errno = errno == ENOENT ? ESRCH : EPERM;
		return -1;
	}
	n = transfer_all(fd, read, here, there);
	err = errno;
	close(fd);
	errno = err;
	return n;
}

/* A process may always read its own memory, so an error means that there are no such calls. */
static bool is_forbidden(void)
{
	static enum { UNKNOWN, ALLOWED, FORBIDDEN } calls;
	char from = 0, to;

	if (calls == UNKNOWN)
		calls = process_vm_readv(getpid(), &(struct iovec){&to, 1}, 1,
					 &(struct iovec){&from, 1}, 1, 0) == 1
				? ALLOWED
				: FORBIDDEN;
	return calls == FORBIDDEN;
}

ssize_t emu_process_read(pid_t pid, const struct iovec *here, unsigned int nhere,
			 const struct iovec *there, unsigned int nthere)
{
	if (!is_forbidden())
		return process_vm_readv(pid, here, nhere, there, nthere, 0);
	return through_file(pid, true, (struct pieces){here, nhere, 0},
			    (struct pieces){there, nthere, 0});
}

ssize_t emu_process_write(pid_t pid, const struct iovec *here, unsigned int nhere,
			  const struct iovec *there, unsigned int nthere)
{
	if (!is_forbidden())
		return process_vm_writev(pid, here, nhere, there, nthere, 0);
	return through_file(pid, false, (struct pieces){here, nhere, 0},
			    (struct pieces){there, nthere, 0});
}
