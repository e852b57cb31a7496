/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "device/queue_memory.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "log/log.h"

const char *dpumap_queue_memory_name(enum dpumap_resource resource)
{
	switch (resource) {
	case DPUMAP_RESOURCE_QP:
		return "a queue pair";
	case DPUMAP_RESOURCE_CQ:
		return "a completion queue";
	case DPUMAP_RESOURCE_DOORBELL:
		return "a doorbell record";
	}
	return "a queue";
}

bool dpumap_queue_memory_is_zero(const void *memory, size_t size)
{
	const uint8_t *bytes = memory;

	return !size || (!bytes[0] && !memcmp(bytes, bytes + 1, size - 1));
}

struct vma {
	uint64_t start;
	uint64_t end;
};

/* Other lines do not change it. */
static void read_vma(const char *line, struct vma *vma)
{
	struct vma found;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &found.start, &found.end) == 2)
		*vma = found;
}

/* dc: not copied to the child; sh: shared with the child. */
static bool is_inherited_copy(const char *flags)
{
	return !strstr(flags, " dc") && !strstr(flags, " sh");
}

bool dpumap_queue_memory_is_fork_safe(const void *memory, size_t size)
{
	uint64_t start = (uintptr_t)memory;
	uint64_t covered = 0;
	struct vma vma = {0};
	bool safe = true;
	char line[512];
	FILE *smaps = fopen("/proc/self/smaps", "re");

	if (!smaps)
		return false;
	while (safe && fgets(line, sizeof(line), smaps)) {
		uint64_t from, to;

		if (strncmp(line, "VmFlags:", 8) != 0) {
			read_vma(line, &vma);
			continue;
		}
		from = vma.start > start ? vma.start : start;
		to = vma.end < start + size ? vma.end : start + size;
		if (from >= to)
			continue;
		safe = !is_inherited_copy(line);
		covered += to - from;
	}
	fclose(smaps);
	return safe && covered == size;
}

#ifndef NDEBUG
static doca_error_t check_thoroughly(const void *memory, size_t size, enum dpumap_resource resource)
{
	if (!dpumap_queue_memory_is_zero(memory, size))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "the allocator's %zu bytes at %p for %s must be zero", size,
				   memory, dpumap_queue_memory_name(resource));
	if (ibv_is_fork_initialized() == IBV_FORK_ENABLED &&
	    !dpumap_queue_memory_is_fork_safe(memory, size))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "the allocator's %zu bytes at %p for %s would be copied on "
				   "fork(): use MADV_DONTFORK",
				   size, memory, dpumap_queue_memory_name(resource));
	return DOCA_SUCCESS;
}
#else
static doca_error_t check_thoroughly(const void *memory, size_t size, enum dpumap_resource resource)
{
	(void)memory;
	(void)size;
	(void)resource;
	return DOCA_SUCCESS;
}
#endif

doca_error_t dpumap_queue_memory_check(const void *memory, size_t size, size_t alignment,
				       enum dpumap_resource resource)
{
	if (alignment && (uintptr_t)memory % alignment)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "the allocator's %zu bytes at %p for %s must be aligned to %zu",
				   size, memory, dpumap_queue_memory_name(resource), alignment);
	return check_thoroughly(memory, size, resource);
}
