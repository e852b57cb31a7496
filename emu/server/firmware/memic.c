/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Device memory of a function's driver: programs of the guest map it in the BAR. */
#include <errno.h>

#include "emu/ipc/shm.h"
#include "emu/prm/prm_hca.h"
#include "emu/server/card/topology.h"
#include "emu/server/firmware/driver.h"
#include "emu/server/uverbs/dm.h"

uint64_t emu_driver_memic_address(const struct emu_dm *dm)
{
	return EMU_FW_DM + dm->offset % EMU_DM_STRIDE;
}

struct emu_dm *emu_driver_memic_at(const struct emu_file *f, uint64_t address, uint64_t len)
{
	struct emu_dm *dm = NULL;

	while ((dm = emu_uobj_next(f, EMU_T_DM, dm))) {
		const uint64_t from = address - emu_driver_memic_address(dm);

		if (from <= dm->length && len <= dm->length - from)
			return dm;
	}
	return NULL;
}

/* The pages that may be taken. False: they are none of the BAR's. */
static bool read_range(const struct emu_card *card, const struct emu_mbox *m,
		       struct emu_dm_range *range)
{
	const uint64_t bytes = (uint64_t)card->dm_npages * EMU_PAGE;
	const uint64_t start = emu_prm_get(m->in, EMU_ALLOC_MEMIC_IN_RANGE_START_ADDR) - EMU_FW_DM;
	const uint64_t size = emu_prm_get(m->in, EMU_ALLOC_MEMIC_IN_RANGE_SIZE);

	if (start > bytes || size > bytes - start || start % EMU_PAGE || size % EMU_PAGE)
		return false;
	range->first = (uint32_t)(start / EMU_PAGE);
	range->end = (uint32_t)((start + size) / EMU_PAGE);
	return true;
}

int emu_driver_alloc_memic(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	static const struct emu_prm_range reserved[] = EMU_PRM_RESERVED(EMU_ALLOC_MEMIC_IN);
	struct emu_dm *dm = (struct emu_dm *)o;
	struct emu_dm_range range;
	int err = emu_driver_check(m, EMU_ALLOC_MEMIC_IN_BYTES, EMU_ALLOC_MEMIC_OUT_BYTES);

	if (err)
		return err;
	if (!EMU_PRM_IS_ZERO(m->in, reserved))
		return emu_refuse(m, EMU_CMD_SYN_MEMIC_RESERVED);
	if (!read_range(c->file->func->card, m, &range))
		return emu_refuse(m, EMU_CMD_SYN_MEMIC_RANGE);
	err = emu_dm_take(dm, &range, emu_prm_get(m->in, EMU_ALLOC_MEMIC_IN_MEMIC_SIZE),
			  emu_prm_get(m->in, EMU_ALLOC_MEMIC_IN_LOG_MEMIC_ADDR_ALIGNMENT));
	switch (err) {
	case 0:
		emu_prm_set(m->out, EMU_ALLOC_MEMIC_OUT_MEMIC_START_ADDR,
			    emu_driver_memic_address(dm));
		return 0;
	case -EOPNOTSUPP:
		return emu_refuse(m, EMU_CMD_SYN_MEMIC_UNSUPPORTED);
	case -EINVAL:
		return emu_refuse(m, EMU_CMD_SYN_MEMIC_RANGE);
	default:
		return emu_refuse(m, EMU_CMD_SYN_MEMIC_NONE);
	}
}

int emu_driver_dealloc_memic(struct emu_cmd *c, struct emu_mbox *m, struct emu_uobj *o)
{
	static const struct emu_prm_range reserved[] = EMU_PRM_RESERVED(EMU_DEALLOC_MEMIC_IN);
	struct emu_dm *dm;
	uint64_t start, size;
	int err = emu_driver_check(m, EMU_DEALLOC_MEMIC_IN_BYTES, EMU_CMD_OUT_BYTES);

	(void)o;
	if (err)
		return err;
	if (!EMU_PRM_IS_ZERO(m->in, reserved))
		return emu_refuse(m, EMU_CMD_SYN_MEMIC_RESERVED);
	start = emu_prm_get(m->in, EMU_DEALLOC_MEMIC_IN_MEMIC_START_ADDR);
	size = emu_prm_get(m->in, EMU_DEALLOC_MEMIC_IN_MEMIC_SIZE);
	dm = emu_driver_memic_at(c->file, start, size);
	if (!dm || start != emu_driver_memic_address(dm) || size != dm->length)
		return emu_refuse(m, EMU_CMD_SYN_MEMIC_OBJECT);
	return emu_driver_destroy(c, m, &dm->obj);
}
