/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/domain/arena_memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <numa.h>
#include <numaif.h>

#include "log/log.h"

#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static doca_error_t round_up(size_t len, size_t unit, size_t *rounded)
{
	if (!len || len > SIZE_MAX / 2 || len > SIZE_MAX - unit)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "invalid arena of %zu bytes", len);
	*rounded = (len + unit - 1) / unit * unit;
	return DOCA_SUCCESS;
}

/* A file of huge pages reports the default size; /proc/meminfo may be hidden (ProcSubset=pid). */
static size_t default_huge_page(void)
{
	int fd = memfd_create("dpumap-huge-page", MFD_CLOEXEC | MFD_HUGETLB);
	struct stat st = {0};

	if (fd < 0)
		return 0;
	if (fstat(fd, &st))
		st.st_blksize = 0;
	close(fd);
	return (size_t)st.st_blksize;
}

static doca_error_t fail_huge(size_t page_size, size_t len, int err)
{
	if (err == ENOMEM)
		return dpumap_fail(
			DOCA_ERROR_NO_MEMORY,
			"%zu huge pages of %zu bytes are not free: raise sysctl vm.nr_hugepages",
			len / page_size, page_size);
	if (err == EINVAL || err == ENOSYS)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "huge pages of %zu bytes are not supported on this machine",
				   page_size);
	return dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM,
			   "mapping %zu bytes of huge pages failed: %s", len, strerror(err));
}

static doca_error_t map(size_t len, int flags, void **base)
{
	void *mapped =
		mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (mapped == MAP_FAILED)
		return DOCA_ERROR_OPERATING_SYSTEM; /* the caller logs errno */
	*base = mapped;
	return DOCA_SUCCESS;
}

/* Otherwise a write after fork() would give the program another page than the device. */
static doca_error_t keep_from_children(const struct arena_memory *memory)
{
	if (madvise(memory->base, memory->len, MADV_DONTFORK))
		return dpumap_fail(DOCA_ERROR_OPERATING_SYSTEM,
				   "protecting an arena from fork() failed: %s", strerror(errno));
	return DOCA_SUCCESS;
}

doca_error_t dpumap_arena_map_huge_pages(size_t page_size, size_t len, struct arena_memory *memory)
{
	struct arena_memory mapped = {0};
	doca_error_t result;

	if (!page_size)
		page_size = default_huge_page();
	if (!page_size)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED,
				   "huge pages are not supported on this machine");
	if (page_size & (page_size - 1))
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "huge pages of %zu bytes: not a power of two", page_size);
	result = round_up(len, page_size, &mapped.len);
	if (result != DOCA_SUCCESS)
		return result;
	/* The kernel reserves the pages now, so that touching one cannot fail later. */
	if (map(mapped.len, MAP_HUGETLB | __builtin_ctzll(page_size) << MAP_HUGE_SHIFT,
		&mapped.base) != DOCA_SUCCESS)
		return fail_huge(page_size, mapped.len, errno);
	result = keep_from_children(&mapped);
	if (result != DOCA_SUCCESS) {
		dpumap_arena_unmap(&mapped);
		return result;
	}
	*memory = mapped;
	return DOCA_SUCCESS;
}

static doca_error_t node_error(int err)
{
	switch (err) {
	case ENOMEM:
	case EFAULT: /* from populate() if the node is full */
		return DOCA_ERROR_NO_MEMORY;
	case EPERM:
		return DOCA_ERROR_NOT_PERMITTED;
	case ENOSYS:
		return DOCA_ERROR_NOT_SUPPORTED;
	default:
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
}

static doca_error_t fail_node(unsigned int node, size_t len, int err)
{
	return dpumap_fail(node_error(err), "mapping %zu bytes on NUMA node %u failed: %s", len,
			   node, strerror(err));
}

static doca_error_t check_node(unsigned int node)
{
	if (numa_available() < 0)
		return dpumap_fail(DOCA_ERROR_NOT_SUPPORTED, "NUMA is not supported by the kernel");
	if (!numa_bitmask_isbitset(numa_all_nodes_ptr, node))
		return dpumap_fail(DOCA_ERROR_NOT_FOUND,
				   "NUMA node %u does not exist or has no memory for this process",
				   node);
	return DOCA_SUCCESS;
}

static int bind_to(unsigned int node, const struct arena_memory *memory)
{
	struct bitmask *mask = numa_allocate_nodemask();
	int err = ENOMEM;

	if (!mask)
		return err;
	numa_bitmask_setbit(mask, node);
	err = mbind(memory->base, memory->len, MPOL_BIND, mask->maskp, mask->size + 1, 0) ? errno
											  : 0;
	numa_bitmask_free(mask);
	return err;
}

/* Without free pages the kernel would kill the process later: fail now instead. */
static int populate(const struct arena_memory *memory)
{
	if (!madvise(memory->base, memory->len, MADV_POPULATE_WRITE))
		return 0;
	return errno == EINVAL ? 0 : errno; /* not supported before Linux 5.14 */
}

doca_error_t dpumap_arena_map_on_node(unsigned int node, size_t len, struct arena_memory *memory)
{
	struct arena_memory mapped = {0};
	doca_error_t result;
	int err;

	result = check_node(node);
	if (result == DOCA_SUCCESS)
		result = round_up(len, (size_t)sysconf(_SC_PAGESIZE), &mapped.len);
	if (result != DOCA_SUCCESS)
		return result;
	if (map(mapped.len, 0, &mapped.base) != DOCA_SUCCESS)
		return fail_node(node, mapped.len, errno);
	result = keep_from_children(&mapped);
	if (result != DOCA_SUCCESS)
		goto unmap;
	err = bind_to(node, &mapped);
	if (!err)
		err = populate(&mapped);
	if (err) {
		result = fail_node(node, mapped.len, err);
		goto unmap;
	}
	*memory = mapped;
	return DOCA_SUCCESS;

unmap:
	dpumap_arena_unmap(&mapped);
	return result;
}

void dpumap_arena_unmap(const struct arena_memory *memory)
{
	if (munmap(memory->base, memory->len))
		dpumap_log(DPUMAP_LOG_WARNING, "unmapping %zu bytes of an arena failed: %s",
			   memory->len, strerror(errno));
}
