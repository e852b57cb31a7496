/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/clock/host_clock.h"

#include <errno.h>
#include <string.h>

#include <doca_clock.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "base/clock.h"
#include "log/log.h"

/* The barriers keep the processor from reading the counter before or after its turn. */
static doca_error_t read_cycles(uint64_t *cycles)
{
#if defined(__x86_64__)
	_mm_lfence();
	*cycles = __rdtsc();
	_mm_lfence();
	return DOCA_SUCCESS;
#elif defined(__aarch64__)
	__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(*cycles) : : "memory");
	return DOCA_SUCCESS;
#else
	(void)cycles;
	return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
			   "doca_clock: the cycle counter of this processor is not supported: use "
			   "DOCA_CLOCK_HOST_MONOTONIC_RAW");
#endif
}

doca_error_t dpumap_host_clock_read(uint64_t kind, uint64_t *value)
{
	clockid_t id = kind == DOCA_CLOCK_HOST_REAL_TIME   ? CLOCK_REALTIME
		       : kind == DOCA_CLOCK_HOST_MONOTONIC ? CLOCK_MONOTONIC
							   : CLOCK_MONOTONIC_RAW;
	struct timespec now;

	if (kind == DOCA_CLOCK_HOST_COUNTER_CYCLES)
		return read_cycles(value);
	if (clock_gettime(id, &now))
		return dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM, "reading clock %d failed: %s",
				   (int)id, strerror(errno));
	*value = timespec_ns(&now);
	return DOCA_SUCCESS;
}
