/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Device memory and doorbell pages as dma-bufs. The descriptor is that of an empty memfd: as in Linux, nobody can map
 * it or pin its memory. Whoever has it may register the memory, until its owner frees it.
 */
#ifndef EMU_EXPORT_H
#define EMU_EXPORT_H

#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "emu/ipc/shm.h"
#include "emu/server/uverbs/method.h"

struct emu_mr;

/* What an object has exported. */
struct emu_export {
	int fd;
	uint64_t ino;
	uint64_t offset, len; /* in the segment of device memory; of a doorbell page 0 */
	LIST_HEAD(emu_region_list, emu_mr) regions;
	LIST_ENTRY(emu_export) link;
};

/*
 * The export that the process's descriptor stands for. -ENOENT: another file; -ENODEV: the memory has been freed;
 * -EBADF: no file.
 */
int emu_export_find(pid_t pid, int64_t fd, struct emu_export **x);
/* The owner frees the memory: regions of it fail. NULL: it was not exported. */
void emu_export_revoke(struct emu_export *x);

extern const struct emu_method emu_methods_export[];

#endif
