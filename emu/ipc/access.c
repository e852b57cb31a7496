/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/ipc/access.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Remove trailing slashes: with one, lstat() follows a symbolic link. */
static int lstat_last(const char *dir, struct stat *st)
{
	char path[PATH_MAX];
	size_t n = strlen(dir);

	if (n >= sizeof(path))
		return -ENAMETOOLONG;
	memcpy(path, dir, n + 1);
	while (n > 1 && path[n - 1] == '/')
		path[--n] = '\0';
	return lstat(path, st) ? -errno : 0;
}

int emu_access_check_dir(const char *dir, bool serve, const char **why)
{
	const mode_t others = serve ? S_IRWXG | S_IRWXO : S_IWGRP | S_IWOTH;
	struct stat st;
	int err;

	*why = "it cannot be accessed";
	err = lstat_last(dir, &st);
	if (err)
		return err;
	*why = "it is a symbolic link";
	if (S_ISLNK(st.st_mode))
		return -ELOOP;
	*why = "it is not a directory";
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	*why = "it belongs to another user";
	if (st.st_uid != geteuid())
		return -EPERM;
	*why = "other users have access to it";
	return st.st_mode & others ? -EACCES : 0;
}

/* The kernel names the real user, also where fakeroot changes the answers of the C library. */
bool emu_access_check_peer(int socket)
{
	uid_t own = (uid_t)syscall(SYS_geteuid);
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return !getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &len) && len == sizeof(peer) &&
	       (peer.uid == own || peer.uid == 0);
}
