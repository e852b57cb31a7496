/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/daemon/traffic.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "base/array.h"

/* Linux, Documentation/ABI/stable/sysfs-class-infiniband: these two count in units of 4 bytes. */
#define DATA_UNIT 4

static const struct {
	const char *file;
	size_t offset;
	unsigned int unit;
} counters[] = {
	{"hw_counters/rx_read_requests", offsetof(struct traffic, reads), 1},
	{"hw_counters/rx_write_requests", offsetof(struct traffic, writes), 1},
	{"hw_counters/rx_atomic_requests", offsetof(struct traffic, atomics), 1},
	{"counters/port_rcv_data", offsetof(struct traffic, received_bytes), DATA_UNIT},
	{"counters/port_xmit_data", offsetof(struct traffic, sent_bytes), DATA_UNIT},
	{"hw_counters/resp_remote_access_errors", offsetof(struct traffic, access_errors), 1},
};

static bool read_counter(const char *device, const char *file, uint64_t *value)
{
	char path[160];
	bool done;
	FILE *in;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/%s", device, file);
	in = fopen(path, "re");
	if (!in)
		return false;
	// NOLINTNEXTLINE(cert-err34-c): the kernel's number
	done = fscanf(in, "%" SCNu64, value) == 1;
	fclose(in);
	return done;
}

bool traffic_read(const char *device, struct traffic *traffic)
{
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		uint64_t value;

		if (!read_counter(device, counters[i].file, &value))
			return false;
		*(uint64_t *)((char *)traffic + counters[i].offset) = value * counters[i].unit;
	}
	return true;
}
