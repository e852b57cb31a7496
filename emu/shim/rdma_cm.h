/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * /dev/infiniband/rdma_cm of the emulated kernel (ipc/rdma_cm.h). Functions return 0 or an errno and
 * may be called from any thread, also in a forked child.
 */
#ifndef EMU_SHIM_RDMA_CM_H
#define EMU_SHIM_RDMA_CM_H

#include <stdbool.h>
#include <sys/stat.h>

#define EMU_RDMA_CM_PATH "/dev/infiniband/rdma_cm"

/* Open the device. `flags` as in open(): O_CLOEXEC and O_NONBLOCK are honoured. */
int emu_rdma_cm_open(int flags, int *fd);
/* Describe the device as stat() does. */
int emu_rdma_cm_stat(struct stat *st);
/* Make the stat data of a FIFO that is an open rdma_cm look like a character device's. */
void emu_rdma_cm_fix_stat(int fd, struct stat *st);
/* By its name, which others may have too: good enough for stat(), and to wait without need. Keeps errno. */
bool emu_rdma_cm_is_file(int fd);
/*
 * Does this process have idle connections to the server? They make commands fast; a program that closes an event
 * channel may have used its last one, so they are closed with it.
 */
bool emu_rdma_cm_is_used(void);
void emu_rdma_cm_close_idle(void);

#endif
