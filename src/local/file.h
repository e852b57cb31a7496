/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Input files of the agents. */
#ifndef DPUMAP_LOCAL_FILE_H
#define DPUMAP_LOCAL_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "local/error.h"

/* Opens a regular file for reading; *fd and *size are written on success only. */
doca_error_t dpumap_file_open(const char *path, int *fd, uint64_t *size,
			      struct dpumap_error *error);
/* Reads exactly len bytes at offset. A file that ends earlier was truncated: an error. */
doca_error_t dpumap_file_read(int fd, const char *path, uint64_t offset, void *buf, size_t len,
			      struct dpumap_error *error);

#endif
