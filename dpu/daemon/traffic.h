/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the device of dpumapd does for its peers, by the kernel's counters of its port. They count the work of all
 * programs. The host's function does the copies over PCI; only the host has its counters.
 */
#ifndef DPUMAPD_TRAFFIC_H
#define DPUMAPD_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

struct traffic {
	uint64_t reads, writes, atomics;
	uint64_t received_bytes, sent_bytes;
	/* Requests for memory that the peer may not access, or no longer. */
	uint64_t access_errors;
};

/* False: the device does not have these counters. */
bool traffic_read(const char *device, struct traffic *traffic);

#endif
