/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What every bench begins with: a device, a map on it, and what to say when a call fails. */
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
 * Opens the first device, or the first that can do what cap asks; NULL, after a line on stderr, if
 * there is none.
 */
struct doca_dev *bench_open_device(bench_cap *cap);

/* A started map of the memory; NULL after a line on stderr. */
struct doca_mmap *bench_map(struct doca_dev *dev, void *addr, size_t len, uint32_t permissions);

/* Says on stderr what failed and returns -1. */
int bench_fail(const char *what, doca_error_t error);
/* Whether it is a success; says so on stderr if not. */
bool bench_is_ok(doca_error_t error, const char *what);

#endif
