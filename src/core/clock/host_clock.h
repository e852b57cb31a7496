/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The clocks of the processor that runs the program. */
#ifndef DPUMAP_CORE_CLOCK_HOST_CLOCK_H
#define DPUMAP_CORE_CLOCK_HOST_CLOCK_H

#include <stdint.h>

#include <doca_error.h>

/* Nanoseconds, or the count of DOCA_CLOCK_HOST_COUNTER_CYCLES. kind is one of DOCA_CLOCK_HOST_*. */
doca_error_t dpumap_host_clock_read(uint64_t kind, uint64_t *value);

#endif
