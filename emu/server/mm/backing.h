/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The file behind a mapping, and whether Linux pins its pages for a device that writes. */
#ifndef EMU_BACKING_H
#define EMU_BACKING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* As /proc/PID/maps shows it. */
struct emu_backing {
	unsigned int major, minor;
	uint64_t ino;  /* 0: no file */
	char path[16]; /* its beginning */
};

/*
 * From 6.5 on Linux refuses long-term pins for writing of shared mappings whose file system tracks
 * dirty pages: the device would write behind its back (mm/gup.c, writable_file_mapping_allowed()).
 * tmpfs and hugetlbfs write nothing back.
 */
bool emu_backing_can_pin(pid_t pid, const struct emu_backing *backing);

#endif
