/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "uobj.h"

#include <errno.h>
#include <stdlib.h>

static int undo_pd(struct emu_uobj *o)
{
	(void)o;
	return 0;
}

/* What a type is called in the counts, and how it is undone. */
static const struct {
	int (*undo)(struct emu_uobj *o);
	size_t count; /* offset in struct emu_counts */
} types[] = {
	[EMU_T_PD] = {undo_pd, offsetof(struct emu_counts, pds)},
	[EMU_T_CQ] = {emu_cq_undo, offsetof(struct emu_counts, cqs)},
	[EMU_T_QP] = {emu_qp_undo, offsetof(struct emu_counts, qps)},
	[EMU_T_MR] = {emu_mr_undo, offsetof(struct emu_counts, mrs)},
	[EMU_T_DM] = {emu_dm_undo, offsetof(struct emu_counts, dms)},
	[EMU_T_UAR] = {emu_uar_undo, offsetof(struct emu_counts, uars)},
	[EMU_T_UMEM] = {emu_umem_undo, offsetof(struct emu_counts, umems)},
	[EMU_T_DEVX_MKEY] = {emu_devx_undo, offsetof(struct emu_counts, mkeys)},
	[EMU_T_DEVX_ALIAS] = {emu_devx_undo, offsetof(struct emu_counts, aliases)},
};

static unsigned int *counter(enum emu_type type)
{
	return (unsigned int *)((char *)&emu.count + types[type].count);
}

static int grow(struct emu_file *f)
{
	unsigned int n = f->nobjs ? 2 * f->nobjs : 16, i;
	struct emu_uobj **p;

	p = realloc(f->objs, n * sizeof(struct emu_uobj *));
	if (!p)
		return -ENOMEM;
	for (i = f->nobjs; i < n; i++)
		p[i] = NULL;
	f->objs = p;
	f->nobjs = n;
	return 0;
}

void *emu_uobj_new(struct emu_file *f, enum emu_type type, size_t size)
{
	struct emu_uobj *o;
	unsigned int h = f->first_free;

	while (h < f->nobjs && f->objs[h])
		h++;
	f->first_free = h;
	if (h == f->nobjs && grow(f))
		return NULL;
	o = calloc(1, size);
	if (!o)
		return NULL;
	o->type = type;
	o->handle = h;
	o->file = f;
	f->objs[h] = o;
	++*counter(type);
	return o;
}

void *emu_uobj_get(struct emu_file *f, uint32_t handle, enum emu_type type)
{
	struct emu_uobj *o = handle < f->nobjs ? f->objs[handle] : NULL;

	return o && (type == EMU_T_NONE || o->type == type) ? o : NULL;
}

void emu_uobj_free(struct emu_uobj *o)
{
	struct emu_file *f = o->file;

	f->objs[o->handle] = NULL;
	if (o->handle < f->first_free)
		f->first_free = o->handle;
	--*counter(o->type);
	free(o);
}

int emu_uobj_destroy(struct emu_uobj *o)
{
	int err;

	if (o->users)
		return -EBUSY;
	err = types[o->type].undo(o);
	if (!err)
		emu_uobj_free(o);
	return err;
}

/* Users go before what they use, whatever the order of handles: round by round until none is left.
 */
void emu_uobj_destroy_all(struct emu_file *f)
{
	unsigned int i;
	bool again;

	do {
		again = false;
		for (i = 0; i < f->nobjs; i++)
			if (f->objs[i] && !emu_uobj_destroy(f->objs[i])) {
				f->objs[i] = NULL;
				again = true;
			}
	} while (again);
	free(f->objs);
	f->objs = NULL;
	f->nobjs = 0;
	f->first_free = 0;
}
