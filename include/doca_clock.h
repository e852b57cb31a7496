/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Clocks of a device and of the processor, and time stamps of both for the same moment.
 *
 * A type of clock is one of the bits DOCA_CLOCK_*. The clocks of the processor work on each device.
 * The free-running clock of the NIC counts from an arbitrary moment, at the frequency that the device
 * reports. The library reads it from the device's register where the kernel maps it, which Linux does
 * where pages have 4096 bytes. Elsewhere it posts a work request that moves no bytes, and takes the
 * time stamp of its completion; this takes about as long as a small RDMA write, and needs an active
 * port. In both cases the time is one between the call and the return.
 *
 * The other clocks of the NIC are never supported: libibverbs does not report whether a card has a
 * real-time clock, and has no function that reads it or the timer of the DPA.
 *
 * All functions return DOCA_ERROR_INVALID_VALUE for a NULL argument. On any error the outputs keep
 * their values. Semantics: DOCA 3.2, doca_clock.h.
 */
#ifndef DOCA_CLOCK_H_
#define DOCA_CLOCK_H_

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_clock;
struct doca_dev;
struct doca_devinfo;

/** Types of clocks. */
#define DOCA_CLOCK_NIC_FREE_RUNNING    (1UL << 0)  /**< The core clock of the NIC. */
#define DOCA_CLOCK_NIC_REAL_TIME       (1UL << 1)  /**< Time of day in the NIC; not supported. */
#define DOCA_CLOCK_NIC_DPA_TIMER       (1UL << 8)  /**< The timer of the DPA; not supported. */
#define DOCA_CLOCK_HOST_COUNTER_CYCLES (1UL << 16) /**< The cycle counter of the processor. */
#define DOCA_CLOCK_HOST_REAL_TIME      (1UL << 17) /**< CLOCK_REALTIME. */
#define DOCA_CLOCK_HOST_MONOTONIC      (1UL << 18) /**< CLOCK_MONOTONIC. */
#define DOCA_CLOCK_HOST_MONOTONIC_RAW  (1UL << 19) /**< CLOCK_MONOTONIC_RAW. */

/** A time stamp. */
union doca_clock_timespec_t {
	struct timespec ts; /**< Of each type but DOCA_CLOCK_HOST_COUNTER_CYCLES. */
	uint64_t counter;   /**< Of DOCA_CLOCK_HOST_COUNTER_CYCLES, in cycles. */
};

/**
 * Check whether DOCA_CLOCK_NIC_FREE_RUNNING can be read.
 *
 * @param devinfo the device
 * @return
 * - DOCA_SUCCESS: it can
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED: the device reports no frequency; or it has no time stamps of
 *   completions, and the kernel does not map its register
 * - DOCA_ERROR_DRIVER: the device cannot be opened or queried
 *
 * Callable from any thread.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_clock_cap_nic_free_running_is_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether DOCA_CLOCK_NIC_REAL_TIME can be read.
 *
 * @param devinfo the device
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 *
 * Callable from any thread.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_clock_cap_nic_real_time_is_supported(const struct doca_devinfo *devinfo);

/**
 * Check whether DOCA_CLOCK_NIC_DPA_TIMER can be read.
 *
 * @param devinfo the device
 * @return
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_NOT_SUPPORTED in all other cases
 *
 * Callable from any thread.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_clock_cap_nic_dpa_timer_is_supported(const struct doca_devinfo *devinfo);

/**
 * Create an object that reads clocks. A device without a clock is not an error, because the clocks of
 * the processor work on it.
 *
 * @param dev the device; it must stay open while the object exists
 * @param clock out: the object, owned by the caller until doca_clock_destroy()
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL
 * - DOCA_ERROR_NO_MEMORY: an allocation fails
 *
 * Callable from any thread.
 */
DOCA_EXPERIMENTAL doca_error_t doca_clock_create(const struct doca_dev *dev,
						 struct doca_clock **clock);

/**
 * Destroy an object that reads clocks.
 *
 * @param clock the object
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL
 * - DOCA_ERROR_DRIVER: the device does not destroy a queue; the object still exists
 *
 * The object must not be in use by another thread.
 */
DOCA_EXPERIMENTAL doca_error_t doca_clock_destroy(struct doca_clock *clock);

/**
 * Read a clock.
 *
 * @param clock the object
 * @param clock_type one of DOCA_CLOCK_*
 * @param timestamp out: the time, in seconds and nanoseconds, or the count of cycles
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or clock_type is not exactly one type
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not have this clock, or the processor no counter that
 *   the library knows
 * - DOCA_ERROR_OPERATING_SYSTEM: the system refuses to read the clock, or the process has no right
 *   to read that of the NIC
 * - DOCA_ERROR_DRIVER: the device does not answer, or its port is not active
 *
 * Callable from any thread; for the clock of the NIC, threads wait for each other.
 */
DOCA_EXPERIMENTAL doca_error_t doca_clock_get_timestamp(const struct doca_clock *clock,
							uint64_t clock_type,
							union doca_clock_timespec_t *timestamp);

/**
 * Read a clock of the NIC between two reads of another clock.
 *
 * @param clock the object
 * @param primary_type type of the other clock, one of DOCA_CLOCK_*
 * @param nic_type type of the clock of the NIC, one of DOCA_CLOCK_NIC_*
 * @param primary out: the middle of the two times of the other clock
 * @param nic out: the time of the clock of the NIC
 * @param error_margin_nsecs out: half the difference of the two times, rounded up: the other clock
 *         showed a time within this margin of @p primary when the NIC's showed @p nic. In
 *         nanoseconds, or in cycles if primary_type is DOCA_CLOCK_HOST_COUNTER_CYCLES
 * @return
 * - DOCA_SUCCESS
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or a type is not exactly one type; or nic_type is
 *   not a clock of the NIC
 * - DOCA_ERROR_NOT_SUPPORTED: see doca_clock_get_timestamp()
 * - DOCA_ERROR_OPERATING_SYSTEM: the primary clock was set back during the call; or see
 *   doca_clock_get_timestamp()
 * - DOCA_ERROR_DRIVER: see doca_clock_get_timestamp()
 *
 * Callable from any thread; for the clock of the NIC, threads wait for each other.
 */
DOCA_EXPERIMENTAL doca_error_t doca_clock_get_crosstimestamp(const struct doca_clock *clock,
							     uint64_t primary_type,
							     uint64_t nic_type,
							     union doca_clock_timespec_t *primary,
							     union doca_clock_timespec_t *nic,
							     uint64_t *error_margin_nsecs);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_CLOCK_H_ */
