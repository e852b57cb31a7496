/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The interposing library: the few libc functions through which libibverbs and its tools reach the
 * kernel. Calls that concern /dev/infiniband/uverbsN of the emulator go to kernel.c, all others
 * directly to libc. No state is kept about descriptors: an emulated device is recognised by the
 * address of the socket at its other end, so it may arrive by dup, fork, exec or SCM_RIGHTS.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/shim/interpose.h"
#include "emu/shim/kernel.h"
#include "emu/shim/last_work.h"
#include "emu/shim/refusal.h"
#include "emu/shim/sysfs.h"

static int result(int err)
{
	if (!err)
		return 0;
	errno = err;
	return -1;
}

static int open_device(unsigned int dev, int flags)
{
	int fd, err;

	err = emu_kernel_open(dev, flags, &fd);
	return err ? result(err) : fd;
}

static mode_t mode_of(int flags, va_list ap)
{
	/* The analyzer misses some of the callers' va_start(). */
	return flags & (O_CREAT | __O_TMPFILE)
		       ? va_arg(ap, mode_t) // NOLINT(clang-analyzer-valist.Uninitialized)
		       : 0;
}

/* Each call has two names, which mean the same on 64-bit systems. */
#define DEFINE_OPEN(name)                                                                          \
	EXPORT int name(const char *path, int flags, ...)                                          \
	{                                                                                          \
		char room[PATH_MAX];                                                               \
		unsigned int dev;                                                                  \
		mode_t mode;                                                                       \
		va_list ap;                                                                        \
                                                                                                   \
		if (emu_kernel_is_path(path, &dev))                                                \
			return open_device(dev, flags);                                            \
		va_start(ap, flags);                                                               \
		mode = mode_of(flags, ap);                                                         \
		va_end(ap);                                                                        \
		return emu_sysfs_opened(NEXT(name)(emu_sysfs_path(path, room), flags, mode), path, \
					flags);                                                    \
	}

#define DEFINE_OPENAT(name)                                                                       \
	EXPORT int name(int dir, const char *path, int flags, ...)                                \
	{                                                                                         \
		char room[PATH_MAX];                                                              \
		unsigned int dev;                                                                 \
		mode_t mode;                                                                      \
		va_list ap;                                                                       \
                                                                                                  \
		if (emu_kernel_is_path(path, &dev))                                               \
			return open_device(dev, flags);                                           \
		va_start(ap, flags);                                                              \
		mode = mode_of(flags, ap);                                                        \
		va_end(ap);                                                                       \
		return emu_sysfs_opened(NEXT(name)(dir, emu_sysfs_path(path, room), flags, mode), \
					path, flags);                                             \
	}

DEFINE_OPEN(open)
DEFINE_OPEN(open64)
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)

/* _FORTIFY_SOURCE turns a two-argument open() into this. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

#define DEFINE_OPEN_2(name)                                                                  \
	EXPORT int name(const char *path, int flags)                                         \
	{                                                                                    \
		char room[PATH_MAX];                                                         \
		unsigned int dev;                                                            \
                                                                                             \
		if (emu_kernel_is_path(path, &dev))                                          \
			return open_device(dev, flags);                                      \
		return emu_sysfs_opened(NEXT(name)(emu_sysfs_path(path, room), flags), path, \
					flags);                                              \
	}

DEFINE_OPEN_2(__open_2)
DEFINE_OPEN_2(__open64_2)

_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "stat64 differs");

#define DEFINE_STAT(name, type)                                                 \
	EXPORT int name(const char *restrict path, struct type *restrict st)    \
	{                                                                       \
		char room[PATH_MAX];                                            \
		unsigned int dev;                                               \
                                                                                \
		if (emu_kernel_is_path(path, &dev))                             \
			return result(emu_kernel_stat(dev, (struct stat *)st)); \
		return NEXT(name)(emu_sysfs_path(path, room), st);              \
	}

#define DEFINE_FSTATAT(name, type)                                                               \
	EXPORT int name(int dir, const char *restrict path, struct type *restrict st, int flags) \
	{                                                                                        \
		char room[PATH_MAX];                                                             \
		unsigned int dev;                                                                \
                                                                                                 \
		if (emu_kernel_is_path(path, &dev))                                              \
			return result(emu_kernel_stat(dev, (struct stat *)st));                  \
		return NEXT(name)(dir, emu_sysfs_path(path, room), st, flags);                   \
	}

#define DEFINE_FSTAT(name, type)                                    \
	EXPORT int name(int fd, struct type *st)                    \
	{                                                           \
		int ret = NEXT(name)(fd, st);                       \
                                                                    \
		if (!ret)                                           \
			emu_kernel_fix_stat(fd, (struct stat *)st); \
		return ret;                                         \
	}

DEFINE_STAT(stat, stat)
DEFINE_STAT(stat64, stat64)
DEFINE_STAT(lstat, stat)
DEFINE_STAT(lstat64, stat64)
DEFINE_FSTATAT(fstatat, stat)
DEFINE_FSTATAT(fstatat64, stat64)
DEFINE_FSTAT(fstat, stat)
DEFINE_FSTAT(fstat64, stat64)

/*
 * Older names of the same calls, with a version of struct stat. Programs that were built with glibc
 * before 2.33 use them, and any program under fakeroot. They continue at the next older name:
 * fakeroot's newer ones come back to them.
 */
#define DEFINE_XSTAT(name, type)                                                \
	int name(int version, const char *path, struct type *st);               \
	EXPORT int name(int version, const char *path, struct type *st)         \
	{                                                                       \
		char room[PATH_MAX];                                            \
		unsigned int dev;                                               \
                                                                                \
		if (emu_kernel_is_path(path, &dev))                             \
			return result(emu_kernel_stat(dev, (struct stat *)st)); \
		return NEXT(name)(version, emu_sysfs_path(path, room), st);     \
	}

#define DEFINE_FXSTATAT(name, type)                                                         \
	int name(int version, int dir, const char *path, struct type *st, int flags);       \
	EXPORT int name(int version, int dir, const char *path, struct type *st, int flags) \
	{                                                                                   \
		char room[PATH_MAX];                                                        \
		unsigned int dev;                                                           \
                                                                                            \
		if (emu_kernel_is_path(path, &dev))                                         \
			return result(emu_kernel_stat(dev, (struct stat *)st));             \
		return NEXT(name)(version, dir, emu_sysfs_path(path, room), st, flags);     \
	}

#define DEFINE_FXSTAT(name, type)                                   \
	int name(int version, int fd, struct type *st);             \
	EXPORT int name(int version, int fd, struct type *st)       \
	{                                                           \
		int ret = NEXT(name)(version, fd, st);              \
                                                                    \
		if (!ret)                                           \
			emu_kernel_fix_stat(fd, (struct stat *)st); \
		return ret;                                         \
	}

DEFINE_XSTAT(__xstat, stat)
DEFINE_XSTAT(__xstat64, stat64)
DEFINE_XSTAT(__lxstat, stat)
DEFINE_XSTAT(__lxstat64, stat64)
DEFINE_FXSTATAT(__fxstatat, stat)
DEFINE_FXSTATAT(__fxstatat64, stat64)
DEFINE_FXSTAT(__fxstat, stat)
DEFINE_FXSTAT(__fxstat64, stat64)

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;
	int err;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (request == RDMA_VERBS_IOCTL && emu_kernel_ioctl(fd, arg, &err))
		return result(err);
	if (_IOC_TYPE(request) == RDMA_IOCTL_MAGIC && emu_kernel_is_fd(fd))
		return result(ENOTTY);
	return NEXT(ioctl)(fd, request, arg);
}

static void *map_device(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	void *p;
	int err;

	err = emu_kernel_mmap(addr, len, prot, flags, fd, off, &p);
	if (err) {
		errno = err;
		return MAP_FAILED;
	}
	return p;
}

/* A socket cannot be mapped (ENODEV): only then check whether it is an emulated device. */
#define DEFINE_MMAP(name, type)                                                          \
	EXPORT void *name(void *addr, size_t len, int prot, int flags, int fd, type off) \
	{                                                                                \
		void *p = NEXT(name)(addr, len, prot, flags, fd, off);                   \
                                                                                         \
		if (p == MAP_FAILED && errno == ENODEV && emu_kernel_is_fd(fd))          \
			return map_device(addr, len, prot, flags, fd, off);              \
		return p;                                                                \
	}

DEFINE_MMAP(mmap, off_t)
DEFINE_MMAP(mmap64, off64_t)

EXPORT __attribute__((no_sanitize("address"))) int prctl(int option, ...)
{
	unsigned long a[4];
	va_list ap;

	va_start(ap, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(ap, unsigned long); // NOLINT(clang-analyzer-valist.Uninitialized)
	va_end(ap);
	if (option == PR_SET_DUMPABLE && !a[0] && emu_dumpable_replace())
		return 0;
	if (option == PR_GET_DUMPABLE && emu_dumpable_is_replaced())
		return 0;
	return NEXT(prctl)(option, a[0], a[1], a[2], a[3]);
}

/*
 * Memory hooks (UCX's, libfabric's) overwrite the mmap() that a program finds, which is ours, with
 * a jump to themselves, and continue by the number of the system call. A call has at most six
 * arguments, and the kernel ignores those that a call does not have. Arguments that were not
 * passed are read from the caller's frame, as libc does; a sanitizer must not object.
 */
EXPORT __attribute__((no_sanitize("address"))) long syscall(long number, ...)
{
	long a[6], ret;
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long); // NOLINT(clang-analyzer-valist.Uninitialized)
	va_end(ap);
	emu_close_before_call(number, a);
	ret = NEXT(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (number == SYS_mmap && ret == -1 && errno == ENODEV && emu_kernel_is_fd((int)a[4]))
		return (long)map_device((void *)a[0], (size_t)a[1], (int)a[2], (int)a[3], (int)a[4],
					a[5]);
	return ret;
}

/*
 * libibverbs asks netlink first, and the machine's own RDMA family does not know the emulated
 * devices.
 */
EXPORT int socket(int domain, int type, int protocol)
{
	int fd, err;

	if (domain != AF_NETLINK || protocol != NETLINK_RDMA || !emu_kernel_present())
		return NEXT(socket)(domain, type, protocol);
	err = emu_netlink_socket(type, &fd);
	return err ? result(err) : fd;
}
