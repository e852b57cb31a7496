/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "core/mmap/bufs.h"

#include <inttypes.h>

#include "log/log.h"

doca_error_t dpumap_mmap_refuse_buf(const struct doca_mmap *mmap, uint64_t addr, size_t len)
{
	/* If no reason is left, another thread has started the map meanwhile. */
	if (!dpumap_mmap_is_usable(mmap) || dpumap_mmap_buf_fits(mmap, addr, len))
		return dpumap_fail(DOCA_ERROR_BAD_STATE, "buf: map %p is not started",
				   (const void *)mmap);
	return dpumap_fail(DOCA_ERROR_INVALID_VALUE,
			   "buf: %zu bytes at 0x%" PRIx64 " are outside map %p, %" PRIu64
			   " bytes at 0x%" PRIx64,
			   len, addr, (const void *)mmap, mmap->range.len, mmap->range.addr);
}
