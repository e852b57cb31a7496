/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/pd.h"

#include <errno.h>

#include "emu/server/card/segments.h"
#include "emu/server/uverbs/cmd.h"

/* A number in use is not given again: keys and queues name their domain by it. */
uint32_t emu_pd_number(void)
{
	static uint32_t last;
	uint8_t *used = emu_private->pdn_used;

	for (uint32_t n = 0; n < EMU_NUM_PDNS; n++) {
		last = (last + 1) % EMU_NUM_PDNS;
		if (!last || used[last / 8] >> last % 8 & 1)
			continue;
		used[last / 8] |= (uint8_t)(1u << last % 8);
		return last;
	}
	return 0;
}

int emu_pd_undo(struct emu_uobj *o)
{
	uint32_t pdn = ((struct emu_pd *)o)->pdn;

	emu_private->pdn_used[pdn / 8] &= (uint8_t) ~(1u << pdn % 8);
	return 0;
}

int emu_write_alloc_pd(struct emu_cmd *c)
{
	struct ib_uverbs_alloc_pd_resp r = {0};
	uint64_t response; /* where the answer of write() would go */
	struct emu_pd *pd;
	int err;

	err = emu_attr_in(c, UVERBS_ATTR_CORE_IN, &response, sizeof(response));
	if (err)
		return err;
	pd = emu_uobj_new(c->file, EMU_T_PD, sizeof(*pd), emu_pd_undo);
	if (!pd)
		return -ENOMEM;
	pd->pdn = emu_pd_number(); /* profiles allow fewer domains than there are numbers */
	r.pd_handle = pd->obj.handle;
	err = emu_attr_out(c, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
	if (!err)
		err = emu_attr_out_driver(c, &pd->pdn, sizeof(pd->pdn));
	if (err)
		emu_uobj_destroy(&pd->obj);
	return err;
}

static int pd_destroy(struct emu_cmd *c)
{
	return emu_uobj_destroy(emu_attr_obj(c, UVERBS_ATTR_DESTROY_PD_HANDLE));
}

static int pd_query(struct emu_cmd *c)
{
	const struct emu_pd *pd = emu_attr_obj(c, MLX5_IB_ATTR_QUERY_PD_HANDLE);

	return emu_attr_out_u32(c, MLX5_IB_ATTR_QUERY_PD_RESP_PDN, pd->pdn);
}

static struct emu_pd *find(const struct emu_file *f, enum emu_type type, uint32_t pdn)
{
	struct emu_pd *pd = NULL;

	while ((pd = emu_uobj_next(f, type, pd)) && pd->pdn != pdn)
		;
	return pd;
}

struct emu_pd *emu_pd_by_number(const struct emu_file *f, uint32_t pdn)
{
	struct emu_pd *pd = find(f, EMU_T_PD, pdn);

	if (!pd)
		pd = find(f, EMU_T_DEVX_PD, pdn);
	return pd && emu_uobj_is_reachable(&pd->obj) ? pd : NULL;
}

const struct emu_method emu_methods_pd[] = {
	{
		.command.name = "pd.destroy",
		.object = UVERBS_OBJECT_PD,
		.method = UVERBS_METHOD_PD_DESTROY,
		.handler = pd_destroy,
		.attr = {{UVERBS_ATTR_DESTROY_PD_HANDLE, EMU_A_OBJ, true, EMU_T_PD}},
	},
	{
		.command.name = "pd.query",
		.object = UVERBS_OBJECT_PD,
		.method = MLX5_IB_METHOD_PD_QUERY,
		.handler = pd_query,
		.attr = {{MLX5_IB_ATTR_QUERY_PD_HANDLE, EMU_A_OBJ, true, EMU_T_PD},
			 {MLX5_IB_ATTR_QUERY_PD_RESP_PDN, EMU_A_RESULT, true, 4}},
	},
	{.handler = NULL},
};
