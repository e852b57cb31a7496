/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The free-running clock of a device. It is read from the register that the kernel maps, or, where
 * there is none, as the time stamp of a work request that completes between the call and the return.
 */
#ifndef DPUMAP_DEVICE_QUEUE_NIC_CLOCK_H
#define DPUMAP_DEVICE_QUEUE_NIC_CLOCK_H

#include <time.h>

#include "base/clock.h"
#include "device/device.h"

struct dpumap_nic_clock;

/* A count of ticks at khz, which is not 0, in nanoseconds. */
static inline uint64_t dpumap_ticks_to_ns(uint64_t ticks, uint64_t khz)
{
	return ticks / khz * NSEC_PER_MSEC + ticks % khz * NSEC_PER_MSEC / khz;
}

/* Creates nothing on the device. The device must support the clock (clock_khz of its capabilities). */
doca_error_t dpumap_nic_clock_create(const struct dpumap_device *device,
				     struct dpumap_nic_clock **clock);
doca_error_t dpumap_nic_clock_destroy(struct dpumap_nic_clock *clock);

/* Create what a read needs, so that the next read is short. */
doca_error_t dpumap_nic_clock_prepare(struct dpumap_nic_clock *clock);
/* The time of the clock between the call and the return. Any thread; others wait. */
doca_error_t dpumap_nic_clock_read(struct dpumap_nic_clock *clock, uint64_t *ns);

#endif
