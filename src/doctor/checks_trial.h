/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Checks that use the device, since capability bits prove little. Each undoes what it did. */
#ifndef DPUMAP_DOCTOR_CHECKS_TRIAL_H
#define DPUMAP_DOCTOR_CHECKS_TRIAL_H

#include "doctor/check.h"

extern const struct group doctor_group_trial;

#endif
