/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/uar.h"

#include <errno.h>

#include "emu/server/uverbs/cmd.h"
#include "emu/server/uverbs/export.h"
#include "emu/server/uverbs/mmap.h"

static uint8_t uar_used[EMU_NUM_UARS];

/* The lowest free page: a verbs CQ names it by 16 bits. */
uint32_t emu_uar_take(uint32_t first, uint32_t end)
{
	for (uint32_t n = first; n < end; n++) {
		if (!uar_used[n]) {
			uar_used[n] = 1;
			return n;
		}
	}
	return 0;
}

struct emu_uar *emu_uar_of(const struct emu_file *f, uint64_t page)
{
	struct emu_uar *u = NULL;

	while ((u = emu_uobj_next(f, EMU_T_UAR, u)) && u->page != page)
		;
	return u && emu_uobj_is_reachable(&u->obj) ? u : NULL;
}

bool emu_has_uar(const struct emu_file *f, uint64_t page)
{
	return emu_uar_of(f, page);
}

int emu_uar_undo(struct emu_uobj *o)
{
	struct emu_uar *u = (struct emu_uar *)o;

	emu_export_revoke(u->export);
	uar_used[u->page] = 0;
	return 0;
}

static int uar_alloc(struct emu_cmd *c)
{
	uint64_t type = emu_attr_u64(c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, 0);
	struct emu_uar *u;
	int err;

	if (type > UINT32_MAX)
		return -EINVAL;
	if (type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF && type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC)
		return -EOPNOTSUPP;
	u = emu_uobj_new(c->file, EMU_T_UAR, sizeof(*u), emu_uar_undo);
	if (!u)
		return -ENOMEM;
	u->page = emu_uar_take(1, EMU_NUM_UARS);
	emu_attr_new(c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, &u->obj);
	if (!u->page)
		return -ENOMEM;
	err = emu_attr_out_u64(c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET,
			       emu_mmap_offset(EMU_MMAP_ALLOC_WC, u->page));
	if (!err)
		err = emu_attr_out_u32(c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, EMU_PAGE);
	return err ? err : emu_attr_out_u32(c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, u->page);
}

static int uar_destroy(struct emu_cmd *c)
{
	return emu_uobj_destroy(emu_attr_obj(c, MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE));
}

const struct emu_method emu_methods_uar[] = {
	{
		.command.name = "uar.create",
		.object = MLX5_IB_OBJECT_UAR,
		.method = MLX5_IB_METHOD_UAR_OBJ_ALLOC,
		.handler = uar_alloc,
		.attr = {{MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, EMU_A_NEW, true, 0},
			 {MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, EMU_A_VALUE, true, 8},
			 {MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, EMU_A_RESULT, true, 8},
			 {MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, EMU_A_RESULT, true, 4},
			 {MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, EMU_A_RESULT, true, 4}},
	},
	{
		.command.name = "uar.destroy",
		.object = MLX5_IB_OBJECT_UAR,
		.method = MLX5_IB_METHOD_UAR_OBJ_DESTROY,
		.handler = uar_destroy,
		.attr = {{MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, EMU_A_OBJ, true, EMU_T_UAR}},
	},
	{.handler = NULL},
};
