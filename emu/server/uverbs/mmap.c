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

struct emu_uobj *emu_mmap_entry(struct emu_file *f, uint64_t offset)
{
	const uint64_t pgoff = offset / EMU_PAGE;
	const uint64_t index = (pgoff & 0xff) | pgoff >> 16 << 8;
	struct emu_uar *uar;

	if (offset % EMU_PAGE || index >= EMU_NUM_UARS)
		return NULL;
	switch (pgoff >> 8 & 0xff) {
	case EMU_MMAP_ALLOC_WC:
		uar = emu_uar_of(f, index);
		return uar ? &uar->obj : NULL;
	case EMU_MMAP_DEVICE_MEM:
		return emu_uobj_get(f, (uint32_t)index, EMU_T_DM);
	default:
		return NULL;
	}
}

static int map_uar(const struct emu_uar *uar, uint64_t len, uint64_t *off)
{
	if (len != EMU_PAGE)
		return -EINVAL;
	*off = (uint64_t)uar->page * EMU_PAGE;
	return emu_segments.uar_fd;
}

static int map_dm(const struct emu_dm *dm, uint64_t len, uint64_t *off)
{
	if (len != (uint64_t)dm->npages * EMU_PAGE)
		return -EINVAL;
	*off = dm->offset;
	return emu_segments.dm_fd;
}

int emu_mmap(struct emu_file *f, uint64_t offset, uint64_t len, uint64_t *off)
{
	const struct emu_uobj *o = emu_mmap_entry(f, offset);

	if (o)
		return o->type == EMU_T_DM ? map_dm((const struct emu_dm *)o, len, off)
					   : map_uar((const struct emu_uar *)o, len, off);
	if (offset != emu_mmap_offset(EMU_MMAP_CLOCK_INFO, 0) || len != EMU_PAGE)
		return -EINVAL;
	*off = 0;
	return emu_segments.uar_fd;
}
