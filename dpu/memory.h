/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The bytes of one export, wherever they are. */
#ifndef DPUMAPD_MEMORY_H
#define DPUMAPD_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include <doca_mmap.h>

#include "common/device.h"
#include "spec.h"

struct memory;

/* spec->size is set to what it is if it was "max". The spec must outlive the memory. */
doca_error_t memory_create(const struct dpumap_device *device, struct export_spec *spec,
			   struct memory **memory, struct dpumap_fault *fault);
/* No map is on it any more. What was in it is gone, except from files. NULL is allowed. */
void memory_destroy(struct memory *memory);

/* Makes it the range of a map that never had one. */
doca_error_t memory_give_to(const struct memory *memory, struct doca_mmap *mmap,
			    struct dpumap_fault *fault);

#define MEMORY_READ_MAX ((size_t)256 * 1024)
/* Up to MEMORY_READ_MAX bytes within the size; *data is good until the next call on any memory. */
doca_error_t memory_read(struct memory *memory, uint64_t offset, size_t len, const void **data,
			 struct dpumap_fault *fault);

#endif
