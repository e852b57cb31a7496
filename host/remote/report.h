/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Prints exports and transfers, as text and as JSON. */
#ifndef DPUMAP_HOST_REPORT_H
#define DPUMAP_HOST_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dpumap/desc.h>

#include "channel/message.h"
#include "common/device.h"
#include "common/digest.h"
#include "host/base/json.h"
#include "host/remote/remote.h"

#define REPORT_DIGESTS 3

struct report {
	const char *source; /* NULL: none */
	const char *target;
	uint64_t offset;
	uint64_t bytes;
	uint64_t window;
	uint64_t windows;
	uint64_t dma_bytes; /* in both directions */
	uint64_t total_ns;
	uint64_t dma_ns;
	struct dpumap_device device;
	const char *engine;
	bool differs; /* the target from the source */
	unsigned int num_digests;
	struct {
		const char *whose;
		struct dpumap_digest digest;
	} digests[REPORT_DIGESTS];
};

/* Where the next digest is to be stored; at most REPORT_DIGESTS. */
struct dpumap_digest *report_digest(struct report *report, const char *whose);
/* All digests are equal, and the target does not differ. */
bool report_is_intact(const struct report *report);
void report_print(const struct report *report, const struct dpumap_export_info *info,
		  size_t desc_len);
void report_print_json(const struct report *report, const struct dpumap_export_info *info);

/* In MB/s. */
double report_rate(uint64_t bytes, uint64_t ns);

/* The permissions as in dpumapd's configuration, or "none". */
const char *report_perm(uint32_t access);

void report_device(const struct remote_device *device);
void report_info(const struct dpumap_export_info *info);
/* Prints everything but the key. */
void report_descriptor(const struct dpumap_desc *desc, size_t len);

/* The same as objects, or members of one. */
struct json_object *report_json_export(const struct dpumap_export_info *info);
struct json_object *report_json_device(const struct remote_device *device);
struct json_object *report_json_descriptor(const struct dpumap_desc *desc, size_t len);

#endif
