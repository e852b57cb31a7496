/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Checks of the device and its port. */
#ifndef DPUMAP_DOCTOR_CHECKS_DEVICE_H
#define DPUMAP_DOCTOR_CHECKS_DEVICE_H

#include "doctor/check.h"

extern const struct group doctor_group_device;

/* False, with the finding set, when there is no open device. */
bool doctor_is_open(const struct check_context *context, struct finding *finding);

#endif
