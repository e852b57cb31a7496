/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Requirements on memory that an allocator provides for queues. */
#ifndef DPUMAP_DEVICE_QUEUE_MEMORY_H
#define DPUMAP_DEVICE_QUEUE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include <dpumap/parent_domain.h>

const char *dpumap_queue_memory_name(enum dpumap_resource resource);

/* DOCA_ERROR_INVALID_VALUE if memory is not as required; checked in full without NDEBUG. */
doca_error_t dpumap_queue_memory_check(const void *memory, size_t size, size_t alignment,
				       enum dpumap_resource resource);

/* Whether all bytes are zero. */
bool dpumap_queue_memory_is_zero(const void *memory, size_t size);
/*
 * Whether a child of fork() gets none of the pages, or the same ones. False if that cannot be
 * determined.
 */
bool dpumap_queue_memory_is_fork_safe(const void *memory, size_t size);

#endif
