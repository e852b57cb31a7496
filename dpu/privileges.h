/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef DPUMAPD_PRIVILEGES_H
#define DPUMAPD_PRIVILEGES_H

#include "common/fault.h"

/*
 * Becomes the user for good, with the group or the user's own, and gains no privileges any more.
 * user NULL: stays who it is. To be called once everything that needs more is open.
 */
doca_error_t privileges_drop(const char *user, const char *group, struct dpumap_fault *fault);

#endif
