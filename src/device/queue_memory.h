/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What memory has to be like that the device uses for a queue.
 */
#ifndef DPUMAP_DEVICE_QUEUE_MEMORY_H
#define DPUMAP_DEVICE_QUEUE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include <dpumap/parent_domain.h>

const char *dpumap_queue_memory_name(enum dpumap_resource resource);

/* DOCA_ERROR_INVALID_VALUE when an allocator's memory is not as promised; without NDEBUG thorough.
 */
doca_error_t dpumap_queue_memory_check(const void *memory, size_t size, size_t alignment,
				       enum dpumap_resource resource);

/* All zero? */
bool dpumap_queue_memory_is_zero(const void *memory, size_t size);
/* Does a child of fork get none of its pages, or the very same? False also if that cannot be told.
 */
bool dpumap_queue_memory_is_fork_safe(const void *memory, size_t size);

#endif
