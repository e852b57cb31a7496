/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Helpers of all benchmarks: open a device, start a map on it, and report failed calls. */
#ifndef DPUMAP_BENCH_DEVICE_H
#define DPUMAP_BENCH_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>

typedef doca_error_t bench_cap(const struct doca_devinfo *devinfo, uint8_t *supported);

/*
 * Open the first device, or the first one with the capability. If there is none, print an error and return
 * NULL.
 */
struct doca_dev *bench_open_device(bench_cap *cap);

/* Create and start a map of the memory; return NULL after printing an error. */
struct doca_mmap *bench_map(struct doca_dev *dev, void *addr, size_t len, uint32_t permissions);

/* Print what failed, and return -1. */
int bench_fail(const char *what, doca_error_t error);
/* Return whether the call succeeded; print an error if it failed. */
bool bench_is_ok(doca_error_t error, const char *what);

#endif
