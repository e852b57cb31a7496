/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Permissions (enum doca_access_flag). */
#ifndef DPUMAP_CORE_ACCESS_H
#define DPUMAP_CORE_ACCESS_H

#include <stdint.h>

#include <doca_error.h>

/* Log and return why access_mask is not a valid mask of enum doca_access_flag. */
doca_error_t dpumap_access_check(uint32_t access_mask);

#endif
