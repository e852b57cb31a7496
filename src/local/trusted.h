/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Files with keys and permissions: only root and the current user may be able to change them. */
#ifndef DPUMAP_LOCAL_TRUSTED_H
#define DPUMAP_LOCAL_TRUSTED_H

#include <stdbool.h>
#include <sys/types.h>

#include "local/error.h"

/*
 * Opens a regular file for reading. NOT_PERMITTED, naming the file or directory, when a user other
 * than root and the current one could have written or replaced it: checks owner and mode of the
 * file and of every directory of its path, links included. Directories that all users can write to,
 * like /tmp, must be sticky. A secret must not be readable by other users.
 */
doca_error_t dpumap_trusted_open(const char *path, bool is_secret, int *fd,
				 struct dpumap_error *error);

/* Secrets may also belong to this user, for example the user that a service runs as. */
void dpumap_trusted_secret_owner(uid_t uid);
/* The last such user; root if there was none. */
uid_t dpumap_trusted_get_secret_owner(void);

/*
 * Checks that a Unix socket at this path, if any, was created by the owner of its directory.
 * NOT_PERMITTED when other users could have created it: its directories may have any owner, but no
 * other user may be able to write to them.
 */
doca_error_t dpumap_trusted_directory(const char *path, struct dpumap_error *error);

#endif
