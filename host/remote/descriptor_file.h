/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Saved descriptors. */
#ifndef DPUMAP_HOST_DESCRIPTOR_FILE_H
#define DPUMAP_HOST_DESCRIPTOR_FILE_H

#include "host/remote/remote.h"
#include "local/error.h"

/* Reads a file of any content into export->desc. The caller wipes *export. */
doca_error_t descriptor_file_load(const char *path, struct remote_export *export,
				  struct dpumap_error *error);
/* Writes a file with mode 0600: the descriptor holds a key. */
doca_error_t descriptor_file_save(const char *path, const struct remote_export *export,
				  struct dpumap_error *error);

#endif
