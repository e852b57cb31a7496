/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Checks of the kernel, its modules, rdma-core, limits and the configuration. */
#ifndef DPUMAP_DOCTOR_CHECKS_SYSTEM_H
#define DPUMAP_DOCTOR_CHECKS_SYSTEM_H

#include "doctor/check.h"

extern const struct group doctor_group_system;

#endif
