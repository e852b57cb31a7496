/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The register of a device that counts the ticks of its core clock. Linux maps it only where pages
 * have 4096 bytes (mlx5_ib_alloc_ucontext()), so most DPUs have none.
 */
#ifndef DPUMAP_DEVICE_CLOCK_REGISTER_H
#define DPUMAP_DEVICE_CLOCK_REGISTER_H

#include <stdint.h>

#include <doca_error.h>

struct ibv_context;

/* DOCA_ERROR_NOT_SUPPORTED, without a message: the context has no such register. */
doca_error_t dpumap_clock_register_read(struct ibv_context *context, uint64_t *ticks);

#endif
