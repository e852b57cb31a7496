/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* dpumapd ctl: the client of admin.h. */
#ifndef DPUMAPD_CTL_H
#define DPUMAPD_CTL_H

#include "local/error.h"

struct json_object;
struct options;

/* Returns the exit code. */
int ctl_main(const struct options *options);

/*
 * Sends a command without arguments and waits limit_s seconds for each step. The caller puts the reply,
 * which may be NULL on failure.
 */
doca_error_t ctl_ask(const struct options *options, const char *command, unsigned int limit_s,
		     struct json_object **reply, struct dpumap_error *error);
/* Prints an error; returns the exit code. */
int ctl_report(const struct options *options, const struct dpumap_error *error);

#endif
