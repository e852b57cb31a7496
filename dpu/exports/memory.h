/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The memory of one export, of any kind. */
#ifndef DPUMAPD_MEMORY_H
#define DPUMAPD_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_mmap.h>

#include "common/device.h"
#include "dpu/base/workers.h"
#include "dpu/spec/export_spec.h"

struct memory;

/* Replaces a spec->size of "max" by the actual size. The spec must outlive the memory. */
doca_error_t memory_create(const struct dpumap_device *device, struct export_spec *spec,
			   struct memory **memory, struct dpumap_error *error);
/* Refuses a file that memory_create() refuses. */
doca_error_t memory_check_spec(const struct export_spec *spec, struct dpumap_error *error);
/*
 * A device may still reach the bytes: main memory stays allocated until the process ends, so that no other
 * export gets these pages.
 */
void memory_keep_bytes(struct memory *memory);
/*
 * Frees the memory, which no map may use any more. Its content is lost, except in files, which are
 * written to their disk. NULL is allowed.
 */
void memory_destroy(struct memory *memory);

/* Sets the range of a map that has none. */
doca_error_t memory_give_to(const struct memory *memory, struct doca_mmap *mmap,
			    struct dpumap_error *error);

/*
 * A new descriptor of a dma-buf of the whole memory, the caller's. Whoever has it uses the memory until that is
 * destroyed. NOT_SUPPORTED unless it is device memory, and rdma-core, kernel and device can.
 */
doca_error_t memory_share(struct memory *memory, int *fd, struct dpumap_error *error);
/* Has anybody such a dma-buf? */
bool memory_is_shared(const struct memory *memory);

/* Names another spec of the same memory. */
void memory_set_spec(struct memory *memory, const struct export_spec *spec);

/* The error of a map that cannot register the memory. */
doca_error_t memory_explain(const struct memory *memory, doca_error_t why, const char *device,
			    struct dpumap_error *error);

/* Can clients change a file? */
bool memory_needs_sync(const struct memory *memory);
struct file_sync;
/* file_sync_begin() of that file. */
doca_error_t memory_begin_sync(const struct memory *memory, struct workers *workers,
			       void (*ended)(void *context), void *context, struct file_sync **sync,
			       struct dpumap_error *error);

/* IO_FAILED when another process has truncated its file: the export must end. */
doca_error_t memory_check(const struct memory *memory, struct dpumap_error *error);

#define MEMORY_READ_MAX ((size_t)256 * 1024)
/*
 * Reads up to MEMORY_READ_MAX bytes within the size. *data is valid until the next call for any
 * memory.
 */
doca_error_t memory_read(struct memory *memory, uint64_t offset, size_t len, const void **data,
			 struct dpumap_error *error);

#endif
