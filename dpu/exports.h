/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The memory that this process owns and exports. */
#ifndef DPUMAPD_EXPORTS_H
#define DPUMAPD_EXPORTS_H

#include <stddef.h>
#include <stdint.h>

#include "channel/channel.h"
#include "common/device.h"
#include "options.h"

struct exports;

/* Opens the device and makes all exports, or none. */
doca_error_t exports_create(const struct options *options, struct exports **exports,
			    struct dpumap_fault *fault);
/* Revokes every export, then gives the memory back. NULL is allowed. */
void exports_destroy(struct exports *exports);

const char *exports_device_name(const struct exports *exports);

/* The memory of the card itself, in bytes; longest is what is free in one piece. */
struct exports_dm_usage {
	uint64_t total;
	uint64_t free;
	uint64_t longest;
};

doca_error_t exports_dm_usage(const struct exports *exports, struct exports_dm_usage *usage,
			      struct dpumap_fault *fault);
size_t exports_count(const struct exports *exports);
/* The index of the export called name; NOT_FOUND. */
doca_error_t exports_find(const struct exports *exports, const char *name, size_t *index,
			  struct dpumap_fault *fault);
void exports_describe(const struct exports *exports, size_t index, struct dpumap_export_info *info);
/* A secret that belongs to exports. */
void exports_descriptor(const struct exports *exports, size_t index, const void **desc,
			size_t *len);
/* INVALID_VALUE when the bytes are not all within the export. */
doca_error_t exports_check_range(const struct exports *exports, size_t index, uint64_t offset,
				 uint64_t len, struct dpumap_fault *fault);
/* Up to EXPORTS_READ_MAX bytes of a range that was checked. */
#define EXPORTS_READ_MAX ((size_t)256 * 1024)
doca_error_t exports_read(struct exports *exports, size_t index, uint64_t offset, size_t len,
			  const void **data, struct dpumap_fault *fault);

#endif
