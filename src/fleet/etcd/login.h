/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The body of a login to etcd: it contains the password, so it does not pass through json-c. */
#ifndef DPUMAP_FLEET_LOGIN_H
#define DPUMAP_FLEET_LOGIN_H

#include "local/error.h"

#define DPUMAP_LOGIN_SIZE 2048

/*
 * Reads the password file. The body is a secret of DPUMAP_LOGIN_SIZE bytes, which the caller frees
 * with dpumap_secret_free(). BAD_CONFIG, NOT_FOUND, NOT_PERMITTED, NO_MEMORY.
 */
doca_error_t dpumap_login_body(const char *user, const char *password_file, char **body,
			       struct dpumap_error *error);

#endif
