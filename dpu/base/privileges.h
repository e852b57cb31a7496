/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The privileges of dpumapd. */
#ifndef DPUMAPD_PRIVILEGES_H
#define DPUMAPD_PRIVILEGES_H

#include <stdbool.h>

#include "local/error.h"

#define PRIVILEGES_SERVICE_USER "dpumap" /* User= of dpumapd.service */

/* Prevents core dumps and debuggers: the process holds descriptors and keys. */
doca_error_t privileges_forbid_dumps(struct dpumap_error *error);

/* Refuses a user or a group that privileges_drop() refuses. */
doca_error_t privileges_check(const char *user, const char *group, struct dpumap_error *error);

/*
 * privileges_become(), and disables new privileges. user NULL keeps the user. To be called when everything
 * that needs privileges is open.
 */
doca_error_t privileges_drop(const char *user, const char *group, struct dpumap_error *error);

/* Switches permanently to user and group (NULL: the user's own). */
doca_error_t privileges_become(const char *user, const char *group, struct dpumap_error *error);
/* The same to the user of the service, if the user exists, with all of its groups. */
bool privileges_has_service_user(void);
doca_error_t privileges_become_service(struct dpumap_error *error);

/*
 * Lets root read keys that belong to the user that the service runs as: user, or the user of the
 * packaged service if user is NULL. Root checks the files of a service with --check and doctor.
 */
void privileges_trust_service(const char *user);

#endif
