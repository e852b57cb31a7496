/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The privileges of dpumapd. */
#ifndef DPUMAPD_PRIVILEGES_H
#define DPUMAPD_PRIVILEGES_H

#include "local/fault.h"

/* Prevents core dumps and debuggers: the process holds descriptors and keys. */
doca_error_t privileges_forbid_dumps(struct dpumap_fault *fault);

/* Refuses a user or a group that privileges_drop() refuses. */
doca_error_t privileges_check(const char *user, const char *group, struct dpumap_fault *fault);

/*
 * Switches permanently to user and group (NULL: the user's own) and disables new privileges. user
 * NULL keeps the user. To be called when everything that needs privileges is open.
 */
doca_error_t privileges_drop(const char *user, const char *group, struct dpumap_fault *fault);

/*
 * Lets root read keys that belong to the user that the service runs as: user, or the user of the
 * packaged service if user is NULL. Root checks the files of a service with --check and doctor.
 */
void privileges_trust_service(const char *user);

#endif
