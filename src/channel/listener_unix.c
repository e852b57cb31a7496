/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "channel/listener_unix.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channel/listener.h"
#include "common/trusted.h"

/*
 * Detecting a stale socket, removing it and binding are three steps. A lock on the directory
 * serializes servers that start at the same time, without a lock file.
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
					"cannot listen on %s: another server listens there", path);
	if (unlink(path) != 0)
		return dpumap_fault_errno(fault, errno, "cannot remove the stale socket %s", path);
	return DOCA_SUCCESS;
}

static doca_error_t bind_and_listen(int fd, bool open_to_all, struct dpumap_socket_file *file,
				    struct dpumap_fault *fault)
{
	const char *path = file->address.sun_path;
	struct stat st;

	/* Linux gives the file the mode of the unbound socket, so access is never wider. */
	if (fchmod(fd, 0600) != 0 ||
	    bind(fd, (const struct sockaddr *)&file->address, sizeof(file->address)) != 0)
		return dpumap_fault_errno(fault, errno, "cannot listen on %s", path);
	if ((open_to_all && chmod(path, 0666) != 0) || lstat(path, &st) != 0 ||
	    listen(fd, DPUMAP_LISTEN_BACKLOG) != 0) {
		dpumap_fault_errno(fault, errno, "cannot listen on %s", path);
		unlink(path);
		return fault->code;
	}
	file->device = st.st_dev;
	file->inode = st.st_ino;
	return DOCA_SUCCESS;
}

static doca_error_t claim_path(int fd, bool open_to_all, struct dpumap_socket_file *file,
			       struct dpumap_fault *fault)
{
	int lock = lock_directory(file->address.sun_path);
	doca_error_t result;

	if (lock < 0)
		return dpumap_fault_errno(fault, errno, "cannot listen on %s",
					  file->address.sun_path);
	result = clear_stale(&file->address, fault);
	if (result == DOCA_SUCCESS)
		result = bind_and_listen(fd, open_to_all, file, fault);
	close(lock);
	return result;
}

doca_error_t dpumap_listen_unix(const struct dpumap_address *address, bool open_to_all, int *fd,
				struct dpumap_socket_file *file, struct dpumap_fault *fault)
{
	doca_error_t result;

	result = dpumap_trusted_place(address->path.sun_path, fault);
	if (result != DOCA_SUCCESS)
		return result;
	file->address = address->path;
	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd < 0)
		return dpumap_fault_errno(fault, errno, "cannot open a socket");
	result = claim_path(*fd, open_to_all, file, fault);
	if (result != DOCA_SUCCESS)
		close(*fd);
	return result;
}

void dpumap_socket_file_remove(const struct dpumap_socket_file *file)
{
	const char *path = file->address.sun_path;
	struct stat st;

	if (lstat(path, &st) == 0 && st.st_dev == file->device && st.st_ino == file->inode)
		unlink(path);
}
