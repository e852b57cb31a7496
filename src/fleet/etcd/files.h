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

#define DPUMAP_LOGIN_SIZE 2048

/*
 * The body of a login to etcd. It contains the password, which this function reads from its file, so it does not pass
 * through json-c: it is a secret of DPUMAP_LOGIN_SIZE bytes, which the caller frees with dpumap_secret_free().
 * BAD_CONFIG, NOT_FOUND, NOT_PERMITTED, NO_MEMORY.
 */
doca_error_t dpumap_login_body(const char *user, const char *password_file, char **body,
			       struct dpumap_error *error);

#endif
