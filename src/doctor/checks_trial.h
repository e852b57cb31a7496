/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Checks that use the device, since capability bits prove little. Each undoes what it did. */
#ifndef DPUMAP_DOCTOR_CHECKS_TRIAL_H
#define DPUMAP_DOCTOR_CHECKS_TRIAL_H

#include <doca_error.h>

#include "doctor/check.h"

extern const struct group doctor_group_trial;

/* From now on the last error that the library logs is kept for doctor_fail_doca(). */
void doctor_capture_library_log(struct check_context *context);
/* Reports a failed call of the library, with the line that it logged. */
void doctor_fail_doca(const struct check_context *context, struct finding *finding,
		      doca_error_t result, const char *what);

#endif
