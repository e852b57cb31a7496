/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Runs a group of checks in a child process. */
#ifndef DPUMAP_DOCTOR_RUN_GROUP_H
#define DPUMAP_DOCTOR_RUN_GROUP_H

#include "doctor/check.h"
#include "doctor/doctor.h"

/*
 * Runs the group in a child process and adds one finding for each check; a crash or timeout is a
 * finding. SHUTDOWN when interrupted.
 */
doca_error_t doctor_run_group(const struct group *group,
			      const struct dpumap_doctor_options *options,
			      struct json_object *findings, struct dpumap_error *error);

#endif
