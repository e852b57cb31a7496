/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The translation from errno, which libibverbs and the kernel report, to doca_error_t. */
#ifndef DPUMAP_DEVICE_ERRNO_H
#define DPUMAP_DEVICE_ERRNO_H

#include <doca_error.h>

/* DOCA_ERROR_DRIVER for each errno without a closer match. */
doca_error_t dpumap_errno_to_error(int err);

/* One of the listed errors, or DOCA_ERROR_DRIVER for all others, also if err is 0. */
#define dpumap_errno_to_one_of(err, ...) \
	dpumap_errno_narrow((err), (const doca_error_t[]){__VA_ARGS__, DOCA_SUCCESS})
doca_error_t dpumap_errno_narrow(int err, const doca_error_t *allowed);

#endif
