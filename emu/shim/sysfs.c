/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/shim/sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/shim/interpose.h"
#include "emu/shim/kernel.h"

#define SYSFS	       "/sys"
#define GID_ATTRIBUTES "/gid_attrs/"

/* Is the path `root`, or below it? "/sys/class/infiniband" also stands for "..._verbs". */
static bool begins_with(const char *path, const char *root, bool whole)
{
	size_t len = strlen(root);

	return !strncmp(path, root, len) && (!whole || !path[len] || path[len] == '/');
}

/* A function of the machine that the emulator lacks can still be looked up by its own path. */
static bool is_shared(const char *path)
{
	return begins_with(path, SYSFS "/bus/pci", true) ||
	       begins_with(path, SYSFS "/class/pci_bus", true) ||
	       begins_with(path, SYSFS "/devices/pci", false) ||
	       begins_with(path, SYSFS "/devices/system/node", true);
}

/* What the emulator knows: the devices, their functions on the PCI bus, and NUMA nodes. */
static bool is_emulated(const char *path)
{
	return begins_with(path, SYSFS "/class/infiniband", false) || is_shared(path);
}

static bool is_missing(const char *path)
{
	int error = errno;
	bool missing = syscall(SYS_faccessat, AT_FDCWD, path, F_OK) != 0;

	errno = error;
	return missing;
}

const char *emu_sysfs_path(const char *path, char room[PATH_MAX])
{
	const char *root;
	int n;

	emu_counters_refresh_path(path);
	if (!path || !is_emulated(path) || !emu_kernel_present())
		return path;
	root = getenv("SYSFS_PATH");
	if (!root)
		return path;
	n = snprintf(room, PATH_MAX, "%s%s", root, path + sizeof(SYSFS) - 1);
	if (n < 0 || n >= PATH_MAX)
		return path;
	return is_shared(path) && is_missing(room) ? path : room;
}

/* A file that cannot be read, for which read() returns EINVAL, is one of epoll. */
static void make_unreadable(int fd, int flags)
{
	int other = (int)syscall(SYS_epoll_create1, 0);

	if (other < 0)
		return;
	syscall(SYS_dup3, other, fd, flags & O_CLOEXEC);
	syscall(SYS_close, other);
}

int emu_sysfs_opened(int fd, const char *path, int flags)
{
	int error = errno;
	struct stat st;

	if (fd >= 0 && path && strstr(path, GID_ATTRIBUTES) && !syscall(SYS_fstat, fd, &st) &&
	    S_ISREG(st.st_mode) && !st.st_size)
		make_unreadable(fd, flags);
	errno = error;
	return fd;
}

/* For close-on-exec the C library knows the letter e. */
static FILE *opened(FILE *file, const char *path, const char *mode)
{
	if (file)
		emu_sysfs_opened(fileno(file), path, strchr(mode, 'e') ? O_CLOEXEC : 0);
	return file;
}

#define DEFINE_FOPEN(name)                                                               \
	EXPORT FILE *name(const char *restrict path, const char *restrict mode)          \
	{                                                                                \
		char room[PATH_MAX];                                                     \
                                                                                         \
		return opened(NEXT(name)(emu_sysfs_path(path, room), mode), path, mode); \
	}

DEFINE_FOPEN(fopen)
DEFINE_FOPEN(fopen64)

EXPORT DIR *opendir(const char *path)
{
	char room[PATH_MAX];

	return NEXT(opendir)(emu_sysfs_path(path, room));
}

/* glibc's scandir() does not call the opendir() above. */
#define DEFINE_SCANDIR(name, entry)                                                 \
	EXPORT int name(const char *restrict path, struct entry ***restrict list,   \
			int (*filter)(const struct entry *),                        \
			int (*order)(const struct entry **, const struct entry **)) \
	{                                                                           \
		char room[PATH_MAX];                                                \
                                                                                    \
		return NEXT(name)(emu_sysfs_path(path, room), list, filter, order); \
	}

DEFINE_SCANDIR(scandir, dirent)
DEFINE_SCANDIR(scandir64, dirent64)

EXPORT int chdir(const char *path)
{
	char room[PATH_MAX];

	return NEXT(chdir)(emu_sysfs_path(path, room));
}

/* Programs tell the descriptors of a device that a library keeps from leaked ones by these names. */
static ssize_t read_link(int dir, const char *path, char *buf, size_t len)
{
	char room[PATH_MAX];
	const char *name = emu_kernel_name(path, room);
	size_t n;

	if (!name)
		return NEXT(readlinkat)(dir, emu_sysfs_path(path, room), buf, len);
	n = strlen(name);
	if (n > len)
		n = len;
	memcpy(buf, name, n);
	return (ssize_t)n;
}

EXPORT ssize_t readlink(const char *restrict path, char *restrict buf, size_t len)
{
	return read_link(AT_FDCWD, path, buf, len);
}

EXPORT ssize_t readlinkat(int dir, const char *restrict path, char *restrict buf, size_t len)
{
	return read_link(dir, path, buf, len);
}

/* _FORTIFY_SOURCE turns readlink() into this. */
ssize_t __readlink_chk(const char *restrict path, char *restrict buf, size_t len, size_t size);

EXPORT ssize_t __readlink_chk(const char *restrict path, char *restrict buf, size_t len,
			      size_t size)
{
	if (size < len)
		return NEXT(__readlink_chk)(path, buf, len, size);
	return read_link(AT_FDCWD, path, buf, len);
}

/* A path in the emulator's directory becomes the one in /sys that the program would see on a machine. */
static void show_in_sysfs(char *path)
{
	const char *root = getenv("SYSFS_PATH");
	char own[PATH_MAX];
	size_t len;

	if (!root || !emu_kernel_present() || !NEXT(realpath)(root, own))
		return;
	len = strlen(own);
	if (begins_with(path, own, true) && strlen(SYSFS) <= len) {
		memmove(path + strlen(SYSFS), path + len, strlen(path + len) + 1);
		memcpy(path, SYSFS, sizeof(SYSFS) - 1);
	}
}

static char *resolve(const char *path, char *resolved)
{
	char room[PATH_MAX], own[PATH_MAX];
	char *found = NEXT(realpath)(emu_sysfs_path(path, room), resolved ? resolved : own);

	if (found)
		show_in_sysfs(found);
	return found && !resolved ? strdup(own) : found;
}

/* RTLD_NEXT finds the oldest version before glibc 2.36, and that one does not allocate memory. */
EXPORT char *realpath(const char *restrict path, char *restrict resolved)
{
	return resolve(path, resolved);
}

EXPORT char *canonicalize_file_name(const char *path)
{
	return resolve(path, NULL);
}

/* _FORTIFY_SOURCE turns realpath() into this. */
char *__realpath_chk(const char *restrict path, char *restrict resolved, size_t size);

EXPORT char *__realpath_chk(const char *restrict path, char *restrict resolved, size_t size)
{
	if (size < PATH_MAX)
		return NEXT(__realpath_chk)(path, resolved, size);
	return resolve(path, resolved);
}

/* coreutils use these calls. */
EXPORT int statx(int dir, const char *restrict path, int flags, unsigned int mask,
		 struct statx *restrict st)
{
	char room[PATH_MAX];

	return NEXT(statx)(dir, emu_sysfs_path(path, room), flags, mask, st);
}

/* Shells use these calls. */
EXPORT int faccessat(int dir, const char *path, int mode, int flags)
{
	char room[PATH_MAX];

	return NEXT(faccessat)(dir, emu_sysfs_path(path, room), mode, flags);
}

/* Users who may connect to a device may read and write it. */
EXPORT int access(const char *path, int mode)
{
	char room[PATH_MAX];
	unsigned int dev;
	struct stat st;
	int err;

	if (!emu_kernel_is_path(path, &dev))
		return NEXT(access)(emu_sysfs_path(path, room), mode);
	err = mode & X_OK ? EACCES : emu_kernel_stat(dev, &st);
	if (!err)
		return 0;
	errno = err;
	return -1;
}
