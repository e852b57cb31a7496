/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/mmap.h"

#include <errno.h>

#include "emu/server/card/segments.h"
#include "emu/server/uverbs/dm.h"
#include "emu/server/uverbs/file.h"
#include "emu/server/uverbs/uar.h"

uint64_t emu_mmap_offset(enum emu_mmap_cmd cmd, uint32_t index)
{
	return (((uint64_t)(index >> 8) << 16) | ((uint32_t)cmd << 8) | (index & 0xff)) * EMU_PAGE;
}

static int map_uar(const struct emu_file *f, uint32_t page, uint64_t len, uint64_t *off)
{
	if (len != EMU_PAGE || !emu_has_uar(f, page))
		return -EINVAL;
	*off = (uint64_t)page * EMU_PAGE;
	return emu_segments.uar_fd;
}

static int map_dm(struct emu_file *f, uint32_t handle, uint64_t len, uint64_t *off)
{
	const struct emu_dm *dm = emu_uobj_get(f, handle, EMU_T_DM);

	if (!dm || len != (uint64_t)dm->npages * EMU_PAGE)
		return -EINVAL;
	*off = dm->offset;
	return emu_segments.dm_fd;
}

int emu_mmap(struct emu_file *f, uint64_t offset, uint64_t len, uint64_t *off)
{
	uint64_t pgoff = offset / EMU_PAGE;
	uint32_t cmd = (pgoff >> 8) & 0xff;
	uint64_t index = (pgoff & 0xff) | pgoff >> 16 << 8;

	if (offset % EMU_PAGE || index >= EMU_NUM_UARS)
		return -EINVAL;
	if (cmd == EMU_MMAP_CLOCK_INFO && !index && len == EMU_PAGE) {
		*off = 0;
		return emu_segments.uar_fd;
	}
	if (cmd == EMU_MMAP_ALLOC_WC)
		return map_uar(f, (uint32_t)index, len, off);
	if (cmd == EMU_MMAP_DEVICE_MEM)
		return map_dm(f, (uint32_t)index, len, off);
	return -EINVAL;
}
