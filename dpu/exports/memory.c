/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "dpu/exports/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/dma-heap.h>
#include <linux/magic.h>

#include <dpumap/arena.h>
#include <dpumap/dm.h>

#include "common/memlock.h"
#include "dpu/base/log.h"
#include "dpu/exports/dram.h"
#include "dpu/exports/file_sync.h"

/* Device memory is read and written in words. */
#define DM_WORD 4u

/* There may be very many: members that other kinds do not have share their place. */
struct memory {
	const struct export_spec *spec;
	void *bytes; /* NULL: not mapped */
	union {
		struct dpumap_arena *arena; /* of main memory: owns bytes, or NULL */
		struct dpumap_dm *dm;	    /* of device memory */
	};
	size_t file_page; /* of hugetlbfs; 1 elsewhere */
	int fd;		  /* the file, the dma-buf, or for main memory that of dram.h; -1: none */
	bool is_shared;	  /* a client has a dma-buf of it */
	bool is_durable;  /* the file is on a disk, not in memory */
	bool is_dram;	  /* bytes are of dram.h */
};

static bool is_of(const struct memory *m, enum export_kind kind)
{
	return m->spec->kind == kind;
}

/* --- device memory ---------------------------------------------------------------------------- */

static doca_error_t wipe_dm(const struct memory *m)
{
	static const uint8_t zeros[4096];
	doca_error_t result = DOCA_SUCCESS;
	size_t len;

	for (size_t at = 0; at < m->spec->size && result == DOCA_SUCCESS; at += len) {
		len = m->spec->size - at < sizeof(zeros) ? m->spec->size - at : sizeof(zeros);
		result = dpumap_dm_write(m->dm, at, zeros, len);
	}
	return result;
}

static doca_error_t check_dm_size(const struct dpumap_device *device, struct export_spec *spec,
				  struct dpumap_error *error)
{
	uint64_t max;
	doca_error_t result;

	result = dpumap_dm_cap_get_max_len(doca_dev_as_devinfo(device->dev), &max);
	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(error, result,
					 "export %s: cannot query the device memory of %s",
					 spec->name, device->name);
	if (max == 0)
		return dpumap_error_set(error, DOCA_ERROR_NOT_SUPPORTED,
					"export %s: device %s has no device memory; use kind=dram",
					spec->name, device->name);
	if (spec->size == EXPORT_SIZE_MAX)
		spec->size = max - max % DM_WORD;
	if (spec->size > max)
		return dpumap_error_set(error, DOCA_ERROR_TOO_BIG,
					"export %s: cannot export %" PRIu64
					" bytes of device memory: the limit of %s is %" PRIu64,
					spec->name, spec->size, device->name, max);
	if (spec->size % DM_WORD != 0)
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"export %s: the size of device memory must be a multiple "
					"of %u, not %" PRIu64,
					spec->name, DM_WORD, spec->size);
	return DOCA_SUCCESS;
}

static doca_error_t check_dm_align(const struct dpumap_device *device,
				   const struct export_spec *spec, struct dpumap_error *error)
{
	doca_error_t result;
	uint32_t max;

	result = dpumap_dm_cap_get_max_log_align(doca_dev_as_devinfo(device->dev), &max);
	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(
			error, result,
			"export %s: cannot query the alignment of the device memory of %s",
			spec->name, device->name);
	if (spec->log_align > max)
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"export %s: cannot align device memory to %" PRIu64
					" bytes: the limit of %s is %" PRIu64,
					spec->name, UINT64_C(1) << spec->log_align, device->name,
					UINT64_C(1) << max);
	return DOCA_SUCCESS;
}

static doca_error_t take_dm(struct memory *m, const struct dpumap_device *device,
			    struct export_spec *spec, struct dpumap_error *error)
{
	doca_error_t result = check_dm_size(device, spec, error);

	if (result == DOCA_SUCCESS)
		result = check_dm_align(device, spec, error);
	if (result != DOCA_SUCCESS)
		return result;
	result = dpumap_dm_alloc(device->dev, spec->size, spec->log_align, &m->dm);
	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(error, result,
					 "export %s: cannot allocate %" PRIu64
					 " bytes of device memory on %s",
					 spec->name, spec->size, device->name);
	/* Clear the bytes of the previous owner. */
	result = wipe_dm(m);
	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(error, result, "export %s: cannot clear its device memory",
					 spec->name);
	return DOCA_SUCCESS;
}

static void free_dm(struct memory *m)
{
	doca_error_t result;

	wipe_dm(m);
	result = dpumap_dm_free(m->dm);
	if (result != DOCA_SUCCESS)
		log_error("export %s: cannot free its device memory: %s", m->spec->name,
			  doca_error_get_descr(result));
}

doca_error_t memory_share(struct memory *memory, int *fd, struct dpumap_error *error)
{
	const struct export_spec *spec = memory->spec;
	doca_error_t result;

	if (!is_of(memory, EXPORT_DEVICE_MEMORY))
		return dpumap_error_set(
			error, DOCA_ERROR_NOT_SUPPORTED,
			"export %s has no dma-buf that can be revoked: only kind dm has",
			spec->name);
	result = dpumap_dm_export_dmabuf(memory->dm, fd);
	if (result == DOCA_ERROR_NOT_SUPPORTED)
		return dpumap_error_set(
			error, result,
			"export %s: the rdma-core, the kernel or the device of dpumapd "
			"does not export device memory as a dma-buf; rdma-core 62 and "
			"newer can",
			spec->name);
	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(error, result,
					 "export %s: cannot make a dma-buf of its device memory",
					 spec->name);
	memory->is_shared = true;
	return DOCA_SUCCESS;
}

bool memory_is_shared(const struct memory *memory)
{
	return memory->is_shared;
}

static doca_error_t read_dm(const struct memory *m, uint64_t offset, size_t len, const void **data,
			    struct dpumap_error *error)
{
	static uint8_t bounce[MEMORY_READ_MAX + 2 * DM_WORD];
	size_t skip = offset % DM_WORD;
	size_t words = (skip + len + DM_WORD - 1) / DM_WORD * DM_WORD;
	doca_error_t result;

	result = dpumap_dm_read(m->dm, offset - skip, bounce, words);
	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(error, result, "export %s: cannot read its device memory",
					 m->spec->name);
	*data = bounce + skip;
	return DOCA_SUCCESS;
}

/* --- main memory ------------------------------------------------------------------------------ */

static doca_error_t fill_arena(struct memory *m)
{
	const struct export_spec *spec = m->spec;
	struct dpumap_allocator allocator;
	doca_error_t result;

	if (spec->on_huge_pages)
		result = dpumap_arena_create_huge_pages(
			spec->log_page_size ? (size_t)1 << spec->log_page_size : 0, spec->size,
			&m->arena);
	else
		result = dpumap_arena_create_on_node(spec->node, spec->size, &m->arena);
	if (result == DOCA_SUCCESS)
		result = dpumap_arena_get_allocator(m->arena, &allocator);
	if (result != DOCA_SUCCESS)
		return result;
	m->bytes = allocator.alloc(allocator.context, spec->size, 1, (enum dpumap_resource)0);
	return m->bytes ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

static doca_error_t take_arena(struct memory *m, struct dpumap_error *error)
{
	const struct export_spec *spec = m->spec;
	doca_error_t result = fill_arena(m);

	if (result == DOCA_SUCCESS)
		return result;
	if (spec->on_huge_pages)
		return dpumap_error_doca(error, result,
					 "export %s: cannot allocate %" PRIu64
					 " bytes of huge pages (see /proc/sys/vm/nr_hugepages)",
					 spec->name, spec->size);
	return dpumap_error_doca(error, result,
				 "export %s: cannot allocate %" PRIu64 " bytes on NUMA node %u",
				 spec->name, spec->size, spec->node);
}

/* Huge pages of a file can only be unmapped whole. */
static size_t mapped_size(const struct memory *m)
{
	return (m->spec->size + m->file_page - 1) / m->file_page * m->file_page;
}

static doca_error_t map_bytes(struct memory *m, int flags, int prot, int fd,
			      struct dpumap_error *error)
{
	m->bytes = mmap(NULL, mapped_size(m), prot, flags, fd, 0);
	if (m->bytes != MAP_FAILED)
		return DOCA_SUCCESS;
	m->bytes = NULL;
	return dpumap_error_errno(error, errno, "export %s: cannot map %" PRIu64 " bytes",
				  m->spec->name, m->spec->size);
}

static doca_error_t take_dram(struct memory *m, struct dpumap_error *error)
{
	if (m->spec->on_huge_pages || m->spec->on_node)
		return take_arena(m, error);
	m->bytes = dram_take(m->spec->size, &m->fd);
	if (!m->bytes)
		return dpumap_error_errno(error, errno,
					  "export %s: cannot allocate %" PRIu64 " bytes",
					  m->spec->name, m->spec->size);
	m->is_dram = true;
	return DOCA_SUCCESS;
}

static void free_bytes(const struct memory *m)
{
	struct dpumap_allocator allocator;

	if (m->is_dram) {
		dram_give_back(m->bytes, m->spec->size, m->fd);
		return;
	}
	if (!is_of(m, EXPORT_DRAM) || !m->arena) {
		if (m->bytes)
			munmap(m->bytes, mapped_size(m));
		return;
	}
	dpumap_arena_get_allocator(m->arena, &allocator);
	if (m->bytes)
		allocator.free(allocator.context, m->bytes, (enum dpumap_resource)0);
	dpumap_arena_destroy(m->arena);
}

/* --- files and dma-bufs ----------------------------------------------------------------------- */

/* Compares the size with what is available; "max" becomes the latter. */
static doca_error_t check_size(struct export_spec *spec, uint64_t size, struct dpumap_error *error)
{
	if (spec->size == EXPORT_SIZE_MAX)
		spec->size = size;
	if (spec->size == 0 || spec->size > size)
		return dpumap_error_set(error, DOCA_ERROR_TOO_BIG,
					"export %s: cannot export %" PRIu64
					" bytes: the file or dma-buf has %" PRIu64,
					spec->name, spec->size, size);
	return DOCA_SUCCESS;
}

static doca_error_t check_file(struct memory *m, struct export_spec *spec,
			       struct dpumap_error *error)
{
	struct statfs fs;
	struct stat st;

	if (fstat(m->fd, &st) != 0 || fstatfs(m->fd, &fs) != 0)
		return dpumap_error_errno(error, errno, "export %s: cannot examine %s", spec->name,
					  spec->path);
	if (!S_ISREG(st.st_mode))
		return dpumap_error_set(error, DOCA_ERROR_INVALID_VALUE,
					"export %s: %s is not a regular file", spec->name,
					spec->path);
	if (fs.f_type == HUGETLBFS_MAGIC)
		m->file_page = (size_t)fs.f_bsize;
	m->is_durable = fs.f_type != TMPFS_MAGIC && fs.f_type != HUGETLBFS_MAGIC;
	return check_size(spec, (uint64_t)st.st_size, error);
}

static doca_error_t open_file(struct memory *m, struct export_spec *spec,
			      struct dpumap_error *error)
{
	int fd = open(spec->path, (spec->writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return dpumap_error_errno(error, errno, "export %s: cannot open %s", spec->name,
					  spec->path);
	m->fd = fd;
	return check_file(m, spec, error);
}

static doca_error_t take_file(struct memory *m, struct export_spec *spec,
			      struct dpumap_error *error)
{
	doca_error_t result = open_file(m, spec, error);

	if (result != DOCA_SUCCESS)
		return result;
	return map_bytes(m, MAP_SHARED, PROT_READ | (spec->writable ? PROT_WRITE : 0), m->fd,
			 error);
}

static doca_error_t take_from_heap(struct memory *m, const struct export_spec *spec,
				   struct dpumap_error *error)
{
	struct dma_heap_allocation_data request = {.len = spec->size,
						   .fd_flags = O_RDWR | O_CLOEXEC};
	int heap = open(spec->path, O_RDONLY | O_CLOEXEC);

	if (heap < 0)
		return dpumap_error_errno(error, errno, "export %s: cannot open the heap %s",
					  spec->name, spec->path);
	if (ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &request) != 0)
		dpumap_error_errno(error, errno,
				   "export %s: cannot allocate %" PRIu64 " bytes from the heap %s",
				   spec->name, spec->size, spec->path);
	else
		m->fd = (int)request.fd;
	close(heap);
	return m->fd < 0 ? error->code : DOCA_SUCCESS;
}

static doca_error_t take_passed(struct memory *m, struct export_spec *spec,
				struct dpumap_error *error)
{
	off_t size;

	m->fd = fcntl(spec->fd, F_DUPFD_CLOEXEC, 0);
	if (m->fd < 0)
		return dpumap_error_errno(
			error, errno, "export %s: cannot duplicate the descriptor of its dma-buf",
			spec->name);
	size = lseek(m->fd, 0, SEEK_END);
	if (size < 0)
		return dpumap_error_errno(error, errno,
					  "export %s: cannot determine the size of its dma-buf",
					  spec->name);
	return check_size(spec, (uint64_t)size, error);
}

static doca_error_t take_dmabuf(struct memory *m, struct export_spec *spec,
				struct dpumap_error *error)
{
	struct dpumap_error ignored;
	doca_error_t result =
		spec->path ? take_from_heap(m, spec, error) : take_passed(m, spec, error);

	/* Memory of another device may be inaccessible to the CPU: not an error. */
	if (result == DOCA_SUCCESS)
		map_bytes(m, MAP_SHARED, PROT_READ, m->fd, &ignored);
	return result;
}

/* Another process may shrink a file, or a memfd that was passed as a dma-buf. */
doca_error_t memory_check(const struct memory *memory, struct dpumap_error *error)
{
	const struct export_spec *spec = memory->spec;
	struct statx st;

	/* The server of a network file system may be gone: its answer is not waited for. */
	if (is_of(memory, EXPORT_DRAM) || memory->fd < 0 ||
	    statx(memory->fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_SIZE,
		  &st) != 0 ||
	    !S_ISREG(st.stx_mode) || st.stx_size >= spec->size)
		return DOCA_SUCCESS;
	return dpumap_error_set(error, DOCA_ERROR_IO_FAILED,
				"export %s: %s was truncated to %" PRIu64 " of %" PRIu64
				" bytes, so its export ends; restore its size and add it again",
				spec->name, spec->path ? spec->path : "its dma-buf",
				(uint64_t)st.stx_size, spec->size);
}

bool memory_needs_sync(const struct memory *memory)
{
	return is_of(memory, EXPORT_FILE) && memory->bytes && memory->spec->writable;
}

static struct changed_file changed_file_of(const struct memory *m)
{
	return (struct changed_file){.export = m->spec->name,
				     .path = m->spec->path,
				     .fd = m->fd,
				     .size = m->spec->size,
				     .mapped_size = mapped_size(m),
				     .is_durable = m->is_durable};
}

doca_error_t memory_begin_sync(const struct memory *memory, struct workers *workers,
			       void (*ended)(void *context), void *context, struct file_sync **sync,
			       struct dpumap_error *error)
{
	const struct changed_file file = changed_file_of(memory);

	return file_sync_begin(&file, workers, ended, context, sync, error);
}

doca_error_t memory_explain(const struct memory *memory, doca_error_t why, const char *device,
			    struct dpumap_error *error)
{
	const struct export_spec *spec = memory->spec;

	if (!memory_needs_sync(memory) || !memory->is_durable)
		return dpumap_error_locking(error, why, spec->size,
					    "export %s: cannot register its memory on %s",
					    spec->name, device);
	return dpumap_error_set(
		error, DOCA_ERROR_NOT_SUPPORTED,
		"export %s: cannot register %s on %s: from Linux 6.5 on, devices "
		"write only to files on tmpfs or hugetlbfs; move it there (/dev/shm) "
		"or use perm=ro",
		spec->name, spec->path, device);
}

/* A file in memory for bytes that may be missing: the kernel fails to copy them into it. */
static doca_error_t open_bounce(int *fd, const void **data)
{
	void *mapped;

	*fd = memfd_create("dpumapd-bounce", MFD_CLOEXEC);
	if (*fd < 0)
		return DOCA_ERROR_OPERATING_SYSTEM;
	mapped = ftruncate(*fd, MEMORY_READ_MAX) == 0
			 ? mmap(NULL, MEMORY_READ_MAX, PROT_READ, MAP_SHARED, *fd, 0)
			 : MAP_FAILED;
	if (mapped == MAP_FAILED) {
		close(*fd);
		*fd = -1;
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	*data = mapped;
	return DOCA_SUCCESS;
}

/*
 * Reading the mapping directly would end the process by SIGBUS where the file has been truncated,
 * its file system is full or its disk fails.
 */
static doca_error_t read_mapping(const struct memory *m, uint64_t offset, size_t len,
				 const void **data, struct dpumap_error *error)
{
	static const void *bounce;
	static int fd = -1;
	ssize_t n;

	if (fd < 0 && open_bounce(&fd, &bounce) != DOCA_SUCCESS)
		return dpumap_error_errno(error, errno, "export %s: no memory to read it",
					  m->spec->name);
	n = pwrite(fd, (const uint8_t *)m->bytes + offset, len, 0);
	if (n != (ssize_t)len) {
		doca_error_t result = memory_check(m, error);

		if (result != DOCA_SUCCESS)
			return result;
		return dpumap_error_set(
			error, DOCA_ERROR_IO_FAILED,
			"export %s: cannot read %zu bytes at offset %" PRIu64 " of %s",
			m->spec->name, len, offset, m->spec->path ? m->spec->path : "its dma-buf");
	}
	*data = bounce;
	return DOCA_SUCCESS;
}

/* --- any kind --------------------------------------------------------------------------------- */

static doca_error_t take(struct memory *m, const struct dpumap_device *device,
			 struct export_spec *spec, struct dpumap_error *error)
{
	switch (spec->kind) {
	case EXPORT_DEVICE_MEMORY:
		return take_dm(m, device, spec, error);
	case EXPORT_FILE:
		return take_file(m, spec, error);
	case EXPORT_DMABUF:
		return take_dmabuf(m, spec, error);
	default:
		return take_dram(m, error);
	}
}

static struct memory *allocate(const struct export_spec *spec, struct dpumap_error *error)
{
	struct memory *m = calloc(1, sizeof(*m));

	if (!m) {
		dpumap_error_set(error, DOCA_ERROR_NO_MEMORY, "no memory for export %s",
				 spec->name);
		return NULL;
	}
	m->spec = spec;
	m->fd = -1;
	m->file_page = 1;
	return m;
}

doca_error_t memory_create(const struct dpumap_device *device, struct export_spec *spec,
			   struct memory **memory, struct dpumap_error *error)
{
	struct memory *m = allocate(spec, error);
	doca_error_t result;

	if (!m)
		return DOCA_ERROR_NO_MEMORY;
	result = take(m, device, spec, error);
	if (result != DOCA_SUCCESS) {
		memory_destroy(m);
		return result;
	}
	*memory = m;
	return DOCA_SUCCESS;
}

/* Opening a file changes nothing; memory of other kinds is known only once it is allocated. */
doca_error_t memory_check_spec(const struct export_spec *spec, struct dpumap_error *error)
{
	struct export_spec copy = *spec;
	doca_error_t result;
	struct memory *m;

	if (spec->kind != EXPORT_FILE)
		return DOCA_SUCCESS;
	m = allocate(&copy, error);
	if (!m)
		return DOCA_ERROR_NO_MEMORY;
	result = open_file(m, &copy, error);
	memory_destroy(m);
	return result;
}

void memory_keep_bytes(struct memory *memory)
{
	if (memory && memory->is_dram) {
		memory->is_dram = false;
		memory->bytes = NULL;
	}
}

static void write_to_disk(const struct memory *m)
{
	const struct changed_file file = changed_file_of(m);
	struct dpumap_error error = {0};

	if (file_sync_now(&file, m->bytes, &error) != DOCA_SUCCESS)
		log_error("%s", error.text);
}

void memory_destroy(struct memory *memory)
{
	if (!memory)
		return;
	if (memory_needs_sync(memory))
		write_to_disk(memory);
	if (is_of(memory, EXPORT_DEVICE_MEMORY) && memory->dm)
		free_dm(memory);
	free_bytes(memory);
	if (!is_of(memory, EXPORT_DRAM) && memory->fd >= 0)
		close(memory->fd);
	free(memory);
}

void memory_set_spec(struct memory *memory, const struct export_spec *spec)
{
	memory->spec = spec;
}

doca_error_t memory_give_to(const struct memory *memory, struct doca_mmap *mmap,
			    struct dpumap_error *error)
{
	const struct export_spec *spec = memory->spec;
	doca_error_t result;

	if (is_of(memory, EXPORT_DEVICE_MEMORY))
		result = dpumap_mmap_set_dm_memrange(mmap, memory->dm, 0, spec->size);
	else if (is_of(memory, EXPORT_DMABUF))
		result = doca_mmap_set_dmabuf_memrange(mmap, memory->fd, memory->bytes, 0,
						       spec->size);
	else
		result = doca_mmap_set_memrange(mmap, memory->bytes, spec->size);
	if (result != DOCA_SUCCESS)
		return dpumap_error_doca(error, result, "export %s: cannot map its memory",
					 spec->name);
	return DOCA_SUCCESS;
}

doca_error_t memory_read(struct memory *memory, uint64_t offset, size_t len, const void **data,
			 struct dpumap_error *error)
{
	if (is_of(memory, EXPORT_DEVICE_MEMORY))
		return read_dm(memory, offset, len, data, error);
	if (!memory->bytes)
		return dpumap_error_set(error, DOCA_ERROR_NOT_SUPPORTED,
					"export %s: the CPU cannot read its dma-buf",
					memory->spec->name);
	if (!is_of(memory, EXPORT_DRAM))
		return read_mapping(memory, offset, len, data, error);
	*data = (const uint8_t *)memory->bytes + offset;
	return DOCA_SUCCESS;
}
