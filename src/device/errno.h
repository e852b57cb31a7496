/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The border between errno, which the layers below speak, and doca_error_t, which all above speaks.
 */
#ifndef DPUMAP_DEVICE_ERRNO_H
#define DPUMAP_DEVICE_ERRNO_H

#include <doca_error.h>

/* DOCA_ERROR_DRIVER for every errno without a closer meaning. */
doca_error_t dpumap_errno_to_error(int err);

#endif
