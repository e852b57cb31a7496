/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The translation from errno, which libibverbs and the kernel report, to doca_error_t. */
#ifndef DPUMAP_DEVICE_ERRNO_H
#define DPUMAP_DEVICE_ERRNO_H

#include <doca_error.h>

struct ibv_context;

/* DOCA_ERROR_DRIVER for each errno without a closer match. */
doca_error_t dpumap_errno_to_error(int err);

/* One of the listed errors, or DOCA_ERROR_DRIVER for all others, also if err is 0. */
#define dpumap_errno_to_one_of(err, ...) \
	dpumap_errno_narrow((err), (const doca_error_t[]){__VA_ARGS__, DOCA_SUCCESS})
doca_error_t dpumap_errno_narrow(int err, const doca_error_t *allowed);

int dpumap_errno_unless_gone(struct ibv_context *context, int err);

/*
 * The errno of a function that ends an object: 0 also if the device is gone, and the object with it. libibverbs
 * keeps its own memory of the object then, unless RDMAV_ALLOW_DISASSOC_DESTROY is set.
 */
static inline int dpumap_errno_of_end(struct ibv_context *context, int err)
{
	return err ? dpumap_errno_unless_gone(context, err) : 0;
}

#endif
