/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The client's side of the emulated kernel: what the interposed functions do for an emulated
 * device. Functions return 0 or an errno and may be called from any thread, also in a forked child.
 */
#ifndef EMU_KERNEL_H
#define EMU_KERNEL_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Was this process started on an emulator (are DPUMAP_EMU_DIR and DPUMAP_EMU_ROLE set)? */
bool emu_kernel_present(void);

/* The number of /dev/infiniband/rdma_cm in place of a function's. */
#define EMU_KERNEL_RDMA_CM 1024u

/* Is `path` the character device of an emulated function, or rdma_cm? Then `*dev` is its number. */
bool emu_kernel_is_path(const char *path, unsigned int *dev);

/* Is `fd` an emulated character device? Keeps errno. */
bool emu_kernel_is_fd(int fd);

int emu_kernel_open(unsigned int dev, int flags, int *fd);
int emu_kernel_stat(unsigned int dev, struct stat *st);

/* Make the stat data of a socket that is an emulated device look like a character device's. */
void emu_kernel_fix_stat(int fd, struct stat *st);

/*
 * What the link `path` in /proc/self/fd to a file of the emulated kernel contains, in `room` or constant; NULL: it is
 * another path. Keeps errno.
 */
const char *emu_kernel_name(const char *path, char room[PATH_MAX]);

/* RDMA_VERBS_IOCTL; false if the descriptor is not an emulated device. *error: 0 or an errno. */
bool emu_kernel_ioctl(int fd, void *hdr, int *error);
int emu_kernel_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off, void **p);

/*
 * This process has got an event file (ipc/event_file.h). The kernel gives one event a read, and refuses a buffer that
 * is too short for it: the event stays. Before the first such file, a read costs nothing more.
 */
void emu_event_file_came(int fd);

/*
 * The replacement of socket(AF_NETLINK, type, NETLINK_RDMA), the RDMA netlink family, which the server answers: 0 or an
 * errno.
 */
int emu_netlink_socket(int type, int *fd);

#endif
