/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "local/socket_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "local/trusted.h"

#define BACKLOG 512

/*
 * Detecting a stale socket, removing it and binding are three steps. A lock serializes servers that
 * start at the same time. The lock is a file that exists only while the lock is held. Only its owner
 * can open it, because a user who can open a file can lock it, and keep it locked.
 */
struct path_lock {
	char path[sizeof(((struct sockaddr_un *)0)->sun_path) + sizeof(".lock")];
	int fd;
};

static doca_error_t open_lock(struct path_lock *lock, const char *path, struct dpumap_error *error)
{
	struct stat st;

	lock->fd = open(lock->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (lock->fd < 0)
		return dpumap_error_errno(error, errno, "cannot listen on %s: cannot open %s", path,
					  lock->path);
	if (fstat(lock->fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (st.st_uid == 0 || st.st_uid == geteuid()) && !(st.st_mode & (S_IRWXG | S_IRWXO)))
		return DOCA_SUCCESS;
	close(lock->fd);
	return dpumap_error_set(error, DOCA_ERROR_NOT_PERMITTED,
				"cannot listen on %s: other users can open %s; remove it", path,
				lock->path);
}

/* The one before may have removed the file after this one opened it. */
static bool is_removed(const struct path_lock *lock)
{
	struct stat ours, there;

	return fstat(lock->fd, &ours) != 0 || lstat(lock->path, &there) != 0 ||
	       ours.st_ino != there.st_ino || ours.st_dev != there.st_dev;
}

static void unlock_path(const struct path_lock *lock)
{
	unlink(lock->path);
	close(lock->fd);
}

/* AGAIN while another server has the lock. */
static doca_error_t lock_path(struct path_lock *lock, const char *path, struct dpumap_error *error)
{
	doca_error_t result;
	int err;

	snprintf(lock->path, sizeof(lock->path), "%s.lock", path);
	for (;;) {
		result = open_lock(lock, path, error);
		if (result != DOCA_SUCCESS)
			return result;
		err = flock(lock->fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
		if (!err && !is_removed(lock))
			return DOCA_SUCCESS;
		close(lock->fd);
		if (err == EWOULDBLOCK)
			return dpumap_error_set(error, DOCA_ERROR_AGAIN,
						"cannot listen on %s: another server is starting "
						"there and holds %s",
						path, lock->path);
		if (err)
			return dpumap_error_errno(error, err, "cannot lock %s", lock->path);
	}
}

/* Success when the path is free afterwards. */
static doca_error_t clear_stale(const struct sockaddr_un *address, struct dpumap_error *error)
{
	const char *path = address->sun_path;
	struct stat st;
	int probe, err;

	if (lstat(path, &st) != 0) {
		if (errno == ENOENT)
			return DOCA_SUCCESS;
		return dpumap_error_errno(error, errno, "cannot listen on %s", path);
	}
	if (!S_ISSOCK(st.st_mode))
		return dpumap_error_set(error, DOCA_ERROR_ALREADY_EXIST,
					"cannot listen on %s: it exists and is not a socket", path);
	probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (probe < 0)
		return dpumap_error_errno(error, errno, "cannot open a socket");
	err = connect(probe, (const struct sockaddr *)address, sizeof(*address)) == 0 ? 0 : errno;
	close(probe);
	if (err != ECONNREFUSED)
		return dpumap_error_set(error, DOCA_ERROR_IN_USE,
					"cannot listen on %s: another server listens there", path);
	if (unlink(path) != 0)
		return dpumap_error_errno(error, errno, "cannot remove the stale socket %s", path);
	return DOCA_SUCCESS;
}

static doca_error_t bind_and_listen(int fd, bool open_to_all, struct dpumap_socket_file *file,
				    struct dpumap_error *error)
{
	const char *path = file->address.sun_path;
	struct stat st;

	/* Linux gives the file the mode of the unbound socket, so access is never wider. */
	if (fchmod(fd, 0600) != 0 ||
	    bind(fd, (const struct sockaddr *)&file->address, sizeof(file->address)) != 0)
		return dpumap_error_errno(error, errno, "cannot listen on %s", path);
	if ((open_to_all && chmod(path, 0666) != 0) || lstat(path, &st) != 0 ||
	    listen(fd, BACKLOG) != 0) {
		dpumap_error_errno(error, errno, "cannot listen on %s", path);
		unlink(path);
		return error->code;
	}
	file->device = st.st_dev;
	file->inode = st.st_ino;
	return DOCA_SUCCESS;
}

static doca_error_t bind_path(int fd, bool open_to_all, struct dpumap_socket_file *file,
			      struct dpumap_error *error)
{
	struct path_lock lock;
	doca_error_t result = lock_path(&lock, file->address.sun_path, error);

	if (result != DOCA_SUCCESS)
		return result;
	result = clear_stale(&file->address, error);
	if (result == DOCA_SUCCESS)
		result = bind_and_listen(fd, open_to_all, file, error);
	unlock_path(&lock);
	return result;
}

doca_error_t dpumap_socket_file_listen(const struct sockaddr_un *address, bool open_to_all, int *fd,
				       struct dpumap_socket_file *file, struct dpumap_error *error)
{
	doca_error_t result;

	result = dpumap_trusted_directory(address->sun_path, error);
	if (result != DOCA_SUCCESS)
		return result;
	file->address = *address;
	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd < 0)
		return dpumap_error_errno(error, errno, "cannot open a socket");
	result = bind_path(*fd, open_to_all, file, error);
	if (result != DOCA_SUCCESS)
		close(*fd);
	return result;
}

/*
 * A socket of another type is never connected: the kernel finds no owner (ECONNREFUSED), or refuses the type
 * (EPROTOTYPE).
 */
static bool is_dead(const struct sockaddr_un *address)
{
	struct stat st;
	bool is_refused;
	int probe;

	if (lstat(address->sun_path, &st) != 0 || !S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
		return false;
	probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (probe < 0)
		return false;
	is_refused = connect(probe, (const struct sockaddr *)address, sizeof(*address)) != 0 &&
		     errno == ECONNREFUSED;
	close(probe);
	return is_refused;
}

void dpumap_socket_file_remove_dead(const struct sockaddr_un *address)
{
	struct dpumap_error ignored;
	struct path_lock lock;

	if (!is_dead(address) || lock_path(&lock, address->sun_path, &ignored) != DOCA_SUCCESS)
		return;
	/* A server may have begun to listen there before the lock. */
	if (is_dead(address))
		unlink(address->sun_path);
	unlock_path(&lock);
}

static bool is_ours(const struct dpumap_socket_file *file, struct stat *st)
{
	return lstat(file->address.sun_path, st) == 0 && st->st_dev == file->device &&
	       st->st_ino == file->inode;
}

void dpumap_socket_file_remove(const struct dpumap_socket_file *file)
{
	struct stat st;

	if (is_ours(file, &st))
		unlink(file->address.sun_path);
}

doca_error_t dpumap_socket_file_open_to(const struct dpumap_socket_file *file, bool all,
					struct dpumap_error *error)
{
	mode_t mode = all ? 0666 : 0600;
	struct stat st;

	if (!is_ours(file, &st) || (st.st_mode & 0777) == mode ||
	    chmod(file->address.sun_path, mode) == 0)
		return DOCA_SUCCESS;
	return dpumap_error_errno(error, errno, "cannot change who may connect to %s",
				  file->address.sun_path);
}
