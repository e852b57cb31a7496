/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Files with certificates, keys and passwords, which must be trusted (local/trusted.h). */
#ifndef DPUMAP_FLEET_FILES_H
#define DPUMAP_FLEET_FILES_H

#include <stddef.h>

#include "local/error.h"

/* Contents with a NUL behind them, in memory that is wiped when it is freed. */
struct dpumap_fleet_file {
	char *bytes; /* NULL: none */
	size_t len;
};

/* A PEM file. BAD_CONFIG if it has no PEM block; and as dpumap_trusted_open(). */
doca_error_t dpumap_fleet_file_pem(const char *path, bool is_secret, struct dpumap_fleet_file *file,
				   struct dpumap_error *error);
/* The only line of a file. BAD_CONFIG; and as dpumap_trusted_open(). */
doca_error_t dpumap_fleet_file_password(const char *path, struct dpumap_fleet_file *file,
					struct dpumap_error *error);
void dpumap_fleet_file_wipe(struct dpumap_fleet_file *file);

#endif
