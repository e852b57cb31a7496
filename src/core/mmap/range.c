/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/mmap/mmap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "log/log.h"

static doca_error_t check_range_settable(const struct doca_mmap *mmap, const char *function)
{
	doca_error_t result = dpumap_mmap_check_settable(mmap, function);

	if (result == DOCA_SUCCESS && mmap->has_range)
		result = dpumap_fail(DOCA_ERROR_NOT_PERMITTED, "%s: map %p has a range already",
				     function, (const void *)mmap);
	return result;
}

doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len)
{
	doca_error_t result;

	if (!mmap || !addr)
		return dpumap_fail_null(__func__);
	if (!len || (uintptr_t)addr > UINTPTR_MAX - len)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "map %p: %zu bytes at %p are not a valid range", (void *)mmap,
				   len, addr);
	dpumap_mmap_guard(mmap);
	result = check_range_settable(mmap, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	mmap->range = (struct dpumap_range){.addr = (uintptr_t)addr, .len = len};
	mmap->has_range = true;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_mmap_set_dm_memrange(struct doca_mmap *mmap, struct dpumap_dm *dm,
					 size_t offset, size_t len)
{
	doca_error_t result;

	if (!mmap || !dm)
		return dpumap_fail_null(__func__);
	if (!len || offset > dm->len || len > dm->len - offset)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "map %p: %zu bytes at offset %zu are outside the %zu bytes of "
				   "device memory",
				   (void *)mmap, len, offset, dm->len);
	dpumap_mmap_guard(mmap);
	result = check_range_settable(mmap, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	mmap->range.addr = (uintptr_t)dpumap_devmem_base(dm->mem) + offset;
	mmap->range.len = len;
	mmap->dm = dpumap_dm_get(dm);
	mmap->offset = offset;
	mmap->has_range = true;
	return DOCA_SUCCESS;
}

doca_error_t dpumap_mmap_set_umem_memrange(struct doca_mmap *mmap, struct dpumap_umem *umem,
					   size_t offset, size_t len)
{
	doca_error_t result;

	if (!mmap || !umem)
		return dpumap_fail_null(__func__);
	if (!len || offset > umem->range.len || len > umem->range.len - offset)
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE,
			"map %p: %zu bytes at offset %zu are outside the umem of %" PRIu64 " bytes",
			(void *)mmap, len, offset, umem->range.len);
	dpumap_mmap_guard(mmap);
	result = check_range_settable(mmap, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	mmap->range = (struct dpumap_range){.addr = umem->range.addr + offset, .len = len};
	mmap->umem = dpumap_umem_get(umem);
	mmap->offset = offset;
	mmap->has_range = true;
	return DOCA_SUCCESS;
}

static doca_error_t check_dmabuf(const struct doca_mmap *mmap, int fd, uint64_t addr, size_t offset,
				 size_t len)
{
	if (fd < 0)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE, "map %p: %d is not a dma-buf",
				   (const void *)mmap, fd);
	if (!len || addr > UINTPTR_MAX - len || offset > SIZE_MAX - len)
		return dpumap_fail(
			DOCA_ERROR_INVALID_VALUE,
			"map %p: %zu bytes at offset %zu of a dma-buf, at address 0x%" PRIx64
			", are not a valid range",
			(const void *)mmap, len, offset, addr);
	return DOCA_SUCCESS;
}

/* The caller may close its descriptor before the map is started again. */
static doca_error_t duplicate_dmabuf(struct doca_mmap *mmap, int fd)
{
	int err;

	mmap->dmabuf = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (mmap->dmabuf >= 0)
		return DOCA_SUCCESS;
	err = errno;
	return dpumap_fail(err == EBADF ? DOCA_ERROR_INVALID_VALUE : DOCA_ERROR_OPERATING_SYSTEM,
			   "map %p: duplicating the dma-buf descriptor %d failed: %s", (void *)mmap,
			   fd, strerror(err));
}

doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, void *addr,
					   size_t dmabuf_offset, size_t len)
{
	uint64_t first = (uintptr_t)addr;
	doca_error_t result;

	if (!mmap)
		return dpumap_fail_null(__func__);
	result = check_dmabuf(mmap, dmabuf_fd, first, dmabuf_offset, len);
	if (result != DOCA_SUCCESS)
		return result;
	dpumap_mmap_guard(mmap);
	result = check_range_settable(mmap, __func__);
	if (result == DOCA_SUCCESS)
		result = duplicate_dmabuf(mmap, dmabuf_fd);
	if (result != DOCA_SUCCESS)
		return result;
	mmap->range = (struct dpumap_range){.addr = first, .len = len};
	mmap->offset = dmabuf_offset;
	mmap->has_range = true;
	return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_dpa_memrange(struct doca_mmap *mmap, struct doca_dpa *dpa,
					uint64_t dpa_addr, size_t len)
{
	doca_error_t result;

	if (!mmap || !dpa)
		return dpumap_fail_null(__func__);
	if (!len || dpa_addr > UINT64_MAX - len)
		return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
				   "map %p: %zu bytes at DPA address 0x%" PRIx64
				   " are not a valid range",
				   (void *)mmap, len, dpa_addr);
	dpumap_mmap_guard(mmap);
	result = check_range_settable(mmap, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	return dpumap_fail(
		DOCA_ERROR_NOT_SUPPORTED,
		"map %p: DPA memory is not supported: there is no public interface to register it",
		(void *)mmap);
}
