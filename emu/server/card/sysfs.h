/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The files by which libibverbs and other programs find a function: its tree of /sys. */
#ifndef EMU_CARD_SYSFS_H
#define EMU_CARD_SYSFS_H

#include "emu/server/card/topology.h"

/* Write the files of a function below the emulator's directory. 0 or a negative errno. */
int emu_sysfs_create(const char *emulator, const struct emu_func *f);

/* List the device among those of its machine, as a new one, or no longer list it. 0 or a negative errno. */
int emu_sysfs_list(const struct emu_func *f, bool listed);

/* Write the files of the port's state again. */
int emu_sysfs_port(const struct emu_func *f);

/*
 * Write one line to a file below a function's tree, or make it a symbolic link, with its
 * directories; emu_sysfs_create() comes first. 0 or a negative errno. A file changes as a whole: a
 * reader sees the old line or the new one.
 */
int emu_sysfs_put(const struct emu_func *f, const char *file, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A directory below a function's tree whose files are written one after the other. */
struct emu_sysfs_dir {
	const struct emu_func *f;
	char path[EMU_IBDEV_PATH + 16];
	int err; /* the first one */
};

/* Write a text of less than 1,024 bytes to a file of the directory; nothing after an error. */
void emu_sysfs_line(struct emu_sysfs_dir *d, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* emu_sysfs_put() with any bytes. */
int emu_sysfs_put_bytes(const struct emu_func *f, const char *file, const void *bytes, size_t len);
/* Write a number, at least as long as the one before, to the same file. */
int emu_sysfs_overwrite(const struct emu_func *f, const char *file, uint64_t number);
int emu_sysfs_link(const struct emu_func *f, const char *file, const char *target);
/* Give a file of this function another name. What is written to one later does not change the other. */
int emu_sysfs_same(const struct emu_func *f, const char *file, const char *as);

#endif
