/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Registered memory that consists of pages of a file in memory: a memfd, a file on tmpfs or hugetlbfs,
 * POSIX or System V shared memory, a shared anonymous mapping. The server opens the file and keeps it
 * open as long as the memory is registered. Engines of other processes map the registered pages
 * (engine/memory/maps.h), which is faster than letting the kernel copy.
 */
#ifndef EMU_SHARE_H
#define EMU_SHARE_H

#include <stdint.h>
#include <sys/types.h>

#include "emu/server/mm/user_copy.h"

/*
 * Open the file behind a range of the process's memory. Returns its index in emu_tables.shared, or
 * 0: the range is no such memory, the server may not open the file, or too many are open. Engines
 * reach the range through the kernel then.
 */
uint32_t emu_share_open(pid_t pid, const struct emu_span *span);
/* No mkey refers to the file any more as far as the caller knows; 0 is allowed. */
void emu_share_close(uint32_t index);

#endif
