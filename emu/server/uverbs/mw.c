/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/mw.h"

#include <errno.h>

#include "emu/server/card/mkey_table.h"
#include "emu/server/card/segments.h"
#include "emu/server/uverbs/cmd.h"
#include "emu/server/uverbs/pd.h"

/* A window has one entry; the driver allocates four, or as many as its caller requests. */
#define LEAST_ENTRIES 4u

/* mlx5_ib_alloc_mw: the driver's 8 bytes, zeros but for the number of entries. */
struct mw_request {
	uint32_t comp_mask;
	uint8_t num_klms;
	uint8_t reserved1;
	uint16_t reserved2;
};

static int publish(struct emu_mw *mw, const struct emu_func *f, uint32_t entries)
{
	struct emu_mkey m = {
		.mode = EMU_MKEY_KLM,
		.func = f->index,
		.rights = EMU_LR,
		.pdn = mw->pd->pdn,
		.flags = EMU_MK_FREE | EMU_MK_UMR | (mw->type == 2 ? EMU_MK_RINVAL : 0u),
		.mw = mw->type,
	};

	m.u.klm.room = (entries + LEAST_ENTRIES - 1) / LEAST_ENTRIES * LEAST_ENTRIES;
	m.u.klm.first = emu_klm_alloc(m.u.klm.room);
	if (m.u.klm.first == UINT32_MAX)
		return -ENOMEM;
	mw->key = emu_mkey_create(&m, true);
	if (mw->key)
		return 0;
	emu_klm_free(m.u.klm.first, m.u.klm.room);
	return -ENOMEM;
}

static int undo(struct emu_uobj *o)
{
	struct emu_mw *mw = (struct emu_mw *)o;
	const struct emu_mkey *m = &emu_tables->mkey[mw->key >> 8];

	emu_mkey_retire(mw->key >> 8);
	emu_klm_free(m->u.klm.first, m->u.klm.room);
	mw->pd->obj.users--;
	return 0;
}

int emu_write_alloc_mw(struct emu_cmd *c)
{
	struct ib_uverbs_alloc_mw_resp r = {0};
	struct ib_uverbs_alloc_mw req;
	struct mw_request drv;
	struct emu_mw *mw;
	struct emu_pd *pd;
	int err;

	err = emu_attr_in(c, UVERBS_ATTR_CORE_IN, &req, sizeof(req));
	if (!err)
		err = emu_attr_in(c, UVERBS_ATTR_UHW_IN, &drv, sizeof(drv));
	if (err)
		return err;
	if (drv.comp_mask || drv.reserved1 || drv.reserved2)
		return -EOPNOTSUPP;
	err = emu_cmd_obj(c, req.pd_handle, EMU_T_PD, &pd);
	if (err)
		return err;
	if (req.mw_type < 1 || req.mw_type > 2)
		return -EINVAL;
	mw = emu_uobj_new(c->file, EMU_T_MW, sizeof(*mw), undo);
	if (!mw)
		return -ENOMEM;
	mw->pd = pd;
	mw->type = req.mw_type;
	err = publish(mw, c->file->func, drv.num_klms ? drv.num_klms : 1);
	if (err) {
		emu_uobj_free(&mw->obj);
		return err;
	}
	pd->obj.users++;
	r.mw_handle = mw->obj.handle;
	r.rkey = mw->key;
	err = emu_attr_out(c, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
	if (err)
		emu_uobj_destroy(&mw->obj);
	return err;
}

static int mw_destroy(struct emu_cmd *c)
{
	return emu_uobj_destroy(emu_attr_obj(c, UVERBS_ATTR_DESTROY_MW_HANDLE));
}

/* A region with windows bound to it cannot be destroyed (IBA 11.2.8.3). */
bool emu_mw_bound(const struct emu_file *f, uint32_t key)
{
	const struct emu_mw *mw = NULL;
	const struct emu_mkey *m;

	while ((mw = emu_uobj_next(f, EMU_T_MW, mw))) {
		m = &emu_tables->mkey[mw->key >> 8];
		if (!(m->flags & EMU_MK_FREE) && m->u.klm.count &&
		    emu_tables->klm[m->u.klm.first].key == key)
			return true;
	}
	return false;
}

const struct emu_method emu_methods_mw[] = {
	{
		.command.name = "mw.destroy",
		.object = UVERBS_OBJECT_MW,
		.method = UVERBS_METHOD_MW_DESTROY,
		.handler = mw_destroy,
		.attr = {{UVERBS_ATTR_DESTROY_MW_HANDLE, EMU_A_OBJ, true, EMU_T_MW}},
	},
	{.handler = NULL},
};
