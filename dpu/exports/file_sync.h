/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes what clients changed in an exported file to its disk. */
#ifndef DPUMAPD_FILE_SYNC_H
#define DPUMAPD_FILE_SYNC_H

#include <stdbool.h>
#include <stddef.h>

#include "dpu/base/workers.h"
#include "local/error.h"

struct file_sync;

struct changed_file {
	const char *export, *path;
	int fd;
	size_t size, mapped_size;
	bool is_durable; /* it is on a disk, not in memory */
};

/* bytes: a mapping of it. Waits for the disk. */
doca_error_t file_sync_now(const struct changed_file *file, void *bytes,
			   struct dpumap_error *error);

/*
 * A worker writes the file, whose export may end meanwhile. ended() is called in the loop, unless file_sync_end() was
 * called before.
 */
doca_error_t file_sync_begin(const struct changed_file *file, struct workers *workers,
			     void (*ended)(void *context), void *context, struct file_sync **sync,
			     struct dpumap_error *error);
/* AGAIN until the end. */
doca_error_t file_sync_result(const struct file_sync *sync, struct dpumap_error *error);
/* If it has not ended, it stops soon. NULL is allowed. */
void file_sync_end(struct file_sync *sync);

#endif
