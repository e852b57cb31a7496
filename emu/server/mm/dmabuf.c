/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/mm/dmabuf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "emu/server/card/segments.h"

#define MEMFD_PREFIX "/memfd:"

/* A file of a mounted tmpfs can be sealed too: only its name distinguishes a memfd. */
static int check_name(const char *path)
{
	char name[sizeof(MEMFD_PREFIX)] = "";

	if (readlink(path, name, sizeof(name) - 1) < 0)
		return errno == ENOENT ? -EBADF : -errno;
	return strcmp(name, MEMFD_PREFIX) != 0 ? -EINVAL : 0;
}

/* hugetlbfs is not supported: the kernel has no write() there, which engines need. */
static int check_file(int fd, uint64_t end, uint64_t *ino)
{
	struct statfs fs;
	struct stat st;

	if (fcntl(fd, F_GET_SEALS) < 0 || fstatfs(fd, &fs) || fstat(fd, &st))
		return -EINVAL;
	if (fs.f_type != TMPFS_MAGIC)
		return -EOPNOTSUPP;
	*ino = st.st_ino;
	return end > (uint64_t)st.st_size ? -EINVAL : 0;
}

/* Check the name before open(), which could block or have side effects on other files. */
static int open_memfd(pid_t pid, int fd)
{
	char path[64];
	int err, mine;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	err = check_name(path);
	if (err)
		return err;
	mine = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return mine < 0 ? -errno : mine;
}

int emu_dmabuf_open(pid_t pid, int64_t fd, uint64_t offset, uint64_t len, struct emu_dmabuf *d)
{
	int mine, err;

	if (offset + len < offset || offset + len > INT64_MAX || fd < INT_MIN || fd > INT_MAX)
		return -EINVAL;
	if (fd < 0)
		return -EBADF;
	mine = open_memfd(pid, (int)fd);
	if (mine < 0)
		return mine;
	err = len ? check_file(mine, offset + len, &d->ino) : -EINVAL;
	if (err) {
		close(mine);
		return err;
	}
	d->fd = mine;
	d->id = emu_new_serial();
	return 0;
}

int emu_dmabuf_find(pid_t pid, int64_t fd, const char *name, uint64_t *ino)
{
	char path[64], is[64] = "", wanted[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/fd/%lld", (int)pid, (long long)fd);
	snprintf(wanted, sizeof(wanted), MEMFD_PREFIX "%s (deleted)", name);
	if (readlink(path, is, sizeof(is) - 1) < 0 || stat(path, &st))
		return errno == ENOENT ? -EBADF : -errno;
	*ino = st.st_ino;
	return strcmp(is, wanted) != 0 ? -ENOENT : 0;
}

void emu_dmabuf_close(struct emu_dmabuf *d)
{
	if (d->id)
		close(d->fd);
	d->id = 0;
}

void emu_dmabuf_describe(const struct emu_dmabuf *d, uint64_t offset, struct emu_mkey *m)
{
	m->mode = EMU_MKEY_FILE;
	m->u.file.offset = offset;
	m->u.file.ino = d->ino;
	m->u.file.pid = getpid();
	m->u.file.fd = d->fd;
	m->u.file.id = d->id;
}
