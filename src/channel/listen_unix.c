/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channel/listen.h"
#include "common/trusted.h"

void dpumap_channel_default_path(char *path, size_t size)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");

	snprintf(path, size, "%s/dpumapd.sock", dir && dir[0] == '/' ? dir : "/run");
}

/*
 * Finding a stale socket, removing it and binding anew are three steps. Servers that start at the
 * same moment take turns by a lock on the directory, which leaves no lock file behind.
 */
static int lock_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];
	int fd;

	if (!slash)
		snprintf(dir, sizeof(dir), ".");
	else
		snprintf(dir, sizeof(dir), "%.*s", slash == path ? 1 : (int)(slash - path), path);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Success when the path is free afterwards. */
static doca_error_t clear_stale(const struct sockaddr_un *address, struct dpumap_fault *fault)
{
	const char *path = address->sun_path;
	struct stat st;
	int probe, err;

	if (lstat(path, &st) != 0) {
		if (errno == ENOENT)
			return DOCA_SUCCESS;
		return dpumap_fault_errno(fault, errno, "cannot listen on %s", path);
	}
	if (!S_ISSOCK(st.st_mode))
		return dpumap_fault_set(fault, DOCA_ERROR_ALREADY_EXIST,
					"cannot listen on %s: it exists and is not a socket", path);
	probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (probe < 0)
		return dpumap_fault_errno(fault, errno, "cannot open a socket");
	err = connect(probe, (const struct sockaddr *)address, sizeof(*address)) == 0 ? 0 : errno;
	close(probe);
	if (err != ECONNREFUSED)
		return dpumap_fault_set(fault, DOCA_ERROR_IN_USE,
					"cannot listen on %s: it is busy, another server listens "
					"there",
					path);
	if (unlink(path) != 0)
		return dpumap_fault_errno(fault, errno, "cannot remove the stale socket %s", path);
	return DOCA_SUCCESS;
}

static doca_error_t bind_and_listen(struct dpumap_listener *l, bool open_to_all,
				    struct dpumap_fault *fault)
{
	const char *path = l->address.sun_path;
	struct stat st;

	/* Linux gives the file the mode of the unbound socket: no moment of wider access. */
	if (fchmod(l->fd, 0600) != 0 ||
	    bind(l->fd, (const struct sockaddr *)&l->address, sizeof(l->address)) != 0)
		return dpumap_fault_errno(fault, errno, "cannot listen on %s", path);
	if ((open_to_all && chmod(path, 0666) != 0) || lstat(path, &st) != 0 ||
	    listen(l->fd, DPUMAP_LISTEN_BACKLOG) != 0) {
		dpumap_fault_errno(fault, errno, "cannot listen on %s", path);
		unlink(path);
		return fault->code;
	}
	l->device = st.st_dev;
	l->inode = st.st_ino;
	return DOCA_SUCCESS;
}

static doca_error_t claim_path(struct dpumap_listener *l, bool open_to_all,
			       struct dpumap_fault *fault)
{
	int lock = lock_directory(l->address.sun_path);
	doca_error_t result;

	if (lock < 0)
		return dpumap_fault_errno(fault, errno, "cannot listen on %s", l->address.sun_path);
	result = clear_stale(&l->address, fault);
	if (result == DOCA_SUCCESS)
		result = bind_and_listen(l, open_to_all, fault);
	close(lock);
	return result;
}

doca_error_t dpumap_listen_unix(struct dpumap_listener *l, const struct dpumap_address *address,
				bool open_to_all, struct dpumap_fault *fault)
{
	doca_error_t result;

	result = dpumap_trusted_place(address->path.sun_path, fault);
	if (result != DOCA_SUCCESS)
		return result;
	l->address = address->path;
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return dpumap_fault_errno(fault, errno, "cannot open a socket");
	result = claim_path(l, open_to_all, fault);
	if (result != DOCA_SUCCESS)
		close(l->fd);
	return result;
}

void dpumap_unlisten_unix(const struct dpumap_listener *l)
{
	const char *path = l->address.sun_path;
	struct stat st;

	if (lstat(path, &st) == 0 && st.st_dev == l->device && st.st_ino == l->inode)
		unlink(path);
}
