/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAP_HOST_DOCTOR_H
#define DPUMAP_HOST_DOCTOR_H

#include "options.h"

/* What works here, what does not, and what to do. Loads the configuration itself. */
command_fn doctor_see;

#endif
