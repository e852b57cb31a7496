/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The command doctor. */
#ifndef DPUMAP_HOST_DOCTOR_H
#define DPUMAP_HOST_DOCTOR_H

#include "host/settings/options.h"

/* The command doctor. Loads the configuration itself. */
command_fn doctor_command;

#endif
