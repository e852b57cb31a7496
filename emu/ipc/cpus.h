/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Processors of a thread. */
#ifndef EMU_CPUS_H
#define EMU_CPUS_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EMU_MAX_CPUS	  8192u
#define EMU_CPUS_PER_WORD (sizeof(unsigned long) * CHAR_BIT)

struct emu_cpus {
	unsigned long word[EMU_MAX_CPUS / EMU_CPUS_PER_WORD];
};

/* Parse a list as that of taskset(1): "0-3,8". */
bool emu_cpus_parse(const char *list, struct emu_cpus *c);
/*
 * The processors of the calling thread; set them: 0 or an errno, EINVAL if it may use none of them. The sets of the C
 * library's functions have a fixed size.
 */
static inline int emu_cpus_get(struct emu_cpus *c)
{
	memset(c, 0, sizeof(*c));
	return syscall(SYS_sched_getaffinity, 0, sizeof(*c), c) < 0 ? errno : 0;
}

static inline int emu_cpus_set(const struct emu_cpus *c)
{
	return syscall(SYS_sched_setaffinity, 0, sizeof(*c), c) ? errno : 0;
}

#endif
