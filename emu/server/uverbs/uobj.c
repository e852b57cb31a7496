/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/uobj.h"

#include <errno.h>
#include <stdlib.h>

#include "emu/server/card/topology.h"
#include "emu/server/uverbs/abi.h"
#include "emu/server/uverbs/file.h"
#include "emu/server/uverbs/subscription.h"

/* The name of a type in traces, where its objects are counted, and what programs call them. */
static const struct {
	const char *name;
	size_t count; /* offset in struct emu_counts */
	uint16_t
		object; /* enum uverbs_default_objects or enum mlx5_ib_objects; 0: programs have none */
} types[] = {
	[EMU_T_PD] = {"pd", offsetof(struct emu_counts, pds), UVERBS_OBJECT_PD},
	[EMU_T_CQ] = {"cq", offsetof(struct emu_counts, cqs), UVERBS_OBJECT_CQ},
	[EMU_T_QP] = {"qp", offsetof(struct emu_counts, qps), UVERBS_OBJECT_QP},
	[EMU_T_MR] = {"mr", offsetof(struct emu_counts, mrs), UVERBS_OBJECT_MR},
	[EMU_T_DM] = {"dm", offsetof(struct emu_counts, dms), UVERBS_OBJECT_DM},
	[EMU_T_UAR] = {"uar", offsetof(struct emu_counts, uars), MLX5_IB_OBJECT_UAR},
	[EMU_T_UMEM] = {"umem", offsetof(struct emu_counts, umems), MLX5_IB_OBJECT_DEVX_UMEM},
	[EMU_T_DEVX_MKEY] = {"mkey", offsetof(struct emu_counts, mkeys), MLX5_IB_OBJECT_DEVX_OBJ},
	[EMU_T_DEVX_ALIAS] = {"alias", offsetof(struct emu_counts, aliases),
			      MLX5_IB_OBJECT_DEVX_OBJ},
	[EMU_T_MW] = {"mw", offsetof(struct emu_counts, mws), UVERBS_OBJECT_MW},
	[EMU_T_DEVX_CQ] = {"cq", offsetof(struct emu_counts, cqs), MLX5_IB_OBJECT_DEVX_OBJ},
	[EMU_T_DEVX_QP] = {"qp", offsetof(struct emu_counts, qps), MLX5_IB_OBJECT_DEVX_OBJ},
	[EMU_T_DEVX_DCT] = {"qp", offsetof(struct emu_counts, qps), MLX5_IB_OBJECT_DEVX_OBJ},
	[EMU_T_DEVX_RMP] = {"srq", offsetof(struct emu_counts, srqs), MLX5_IB_OBJECT_DEVX_OBJ},
	[EMU_T_DEVX_COUNTER] = {"flow_counter", offsetof(struct emu_counts, flow_counters),
				MLX5_IB_OBJECT_DEVX_OBJ},
	[EMU_T_DEVX_DEK] = {"dek", offsetof(struct emu_counts, deks), MLX5_IB_OBJECT_DEVX_OBJ},
	[EMU_T_SRQ] = {"srq", offsetof(struct emu_counts, srqs), UVERBS_OBJECT_SRQ},
	[EMU_T_XRCD] = {"xrcd", offsetof(struct emu_counts, xrcds), UVERBS_OBJECT_XRCD},
	[EMU_T_AH] = {"ah", offsetof(struct emu_counts, ahs), UVERBS_OBJECT_AH},
	[EMU_T_DMAH] = {"dmah", offsetof(struct emu_counts, dmahs), EMU_UVERBS_OBJECT_DMAH},
	[EMU_T_DEVX_PD] = {"pd", offsetof(struct emu_counts, pds), MLX5_IB_OBJECT_DEVX_OBJ},
	[EMU_T_DEVX_XRCD] = {"xrcd", offsetof(struct emu_counts, xrcds), MLX5_IB_OBJECT_DEVX_OBJ},
	[EMU_T_XRC_SRQ] = {"srq", offsetof(struct emu_counts, srqs), MLX5_IB_OBJECT_DEVX_OBJ},
	[EMU_T_TRANSPORT_DOMAIN] = {"td", offsetof(struct emu_counts, others),
				    MLX5_IB_OBJECT_DEVX_OBJ},
	[EMU_T_Q_COUNTER] = {"q_counter", offsetof(struct emu_counts, others),
			     MLX5_IB_OBJECT_DEVX_OBJ},
	[EMU_T_EQ] = {"eq", offsetof(struct emu_counts, others), 0},
	[EMU_T_UCTX] = {"uctx", offsetof(struct emu_counts, others), 0},
	[EMU_T_TIS] = {"tis", offsetof(struct emu_counts, others), 0},
	[EMU_T_TIR] = {"tir", offsetof(struct emu_counts, others), 0},
	[EMU_T_RQT] = {"rqt", offsetof(struct emu_counts, others), 0},
	[EMU_T_RQ] = {"rq", offsetof(struct emu_counts, others), 0},
	[EMU_T_SQ] = {"sq", offsetof(struct emu_counts, others), 0},
	[EMU_T_FLOW_TABLE] = {"flow_table", offsetof(struct emu_counts, others), 0},
	[EMU_T_FLOW_GROUP] = {"flow_group", offsetof(struct emu_counts, others), 0},
};

const char *emu_type_name(enum emu_type type)
{
	return types[type].name;
}

int emu_uobj_handles(const struct emu_file *f, uint16_t object, uint32_t *handles,
		     unsigned int room)
{
	const struct emu_uobj *o;
	int n = -ENOENT;

	for (enum emu_type t = EMU_T_NONE + 1; t < EMU_TYPES; t++) {
		if (!types[t].object || types[t].object != object)
			continue;
		n = n < 0 ? 0 : n;
		for (o = NULL; (unsigned int)n < room && (o = emu_uobj_next(f, t, o));)
			handles[n++] = o->handle;
	}
	return n;
}

static unsigned int *counter(struct emu_counts *n, enum emu_type type)
{
	return (unsigned int *)((char *)n + types[type].count);
}

static void count(const struct emu_uobj *o, unsigned int by)
{
	*counter(&emu_topology.count, o->type) += by;
	*counter(&o->file->func->count, o->type) += by;
}

/* Does the function have as many as its profile allows? The firmware says LIM, the driver ENOMEM. */
static bool is_exhausted(const struct emu_func *f, enum emu_type type)
{
	const struct emu_profile *p = f->card->profile;
	const struct emu_counts *n = &f->count;

	switch (type) {
	case EMU_T_PD:
	case EMU_T_DEVX_PD:
		return n->pds >= p->max_pd;
	case EMU_T_MR:
	case EMU_T_DEVX_MKEY:
	case EMU_T_DEVX_ALIAS:
	case EMU_T_MW:
		return n->mrs + n->mkeys + n->aliases + n->mws >= p->max_mr;
	case EMU_T_CQ:
	case EMU_T_DEVX_CQ:
		return n->cqs >= p->max_cq;
	case EMU_T_QP:
	case EMU_T_DEVX_QP:
	case EMU_T_DEVX_DCT:
		return n->qps >= p->max_qp;
	case EMU_T_AH:
		return n->ahs >= p->max_ah;
	default:
		return false;
	}
}

static int grow(struct emu_file *f)
{
	unsigned int n = f->nobjs ? 2 * f->nobjs : 16, i, *next;
	struct emu_uobj **p;

	p = realloc(f->objs, n * sizeof(struct emu_uobj *));
	if (!p)
		return -ENOMEM;
	f->objs = p;
	next = realloc(f->next_free, n * sizeof(*next));
	if (!next)
		return -ENOMEM;
	f->next_free = next;
	for (i = f->nobjs; i < n; i++) {
		p[i] = NULL;
		next[i] = i + 1;
	}
	f->nobjs = n;
	return 0;
}

/* Take a handle for the object, and put the object before the others of its type. */
static void enter(struct emu_file *f, struct emu_uobj *o)
{
	struct emu_uobj **newest = &f->newest[o->type];

	o->handle = f->first_free;
	f->first_free = f->next_free[o->handle];
	f->objs[o->handle] = o;
	o->older = *newest;
	if (o->older)
		o->older->newer = o;
	*newest = o;
}

static void leave(struct emu_file *f, const struct emu_uobj *o)
{
	*(o->newer ? &o->newer->older : &f->newest[o->type]) = o->older;
	if (o->older)
		o->older->newer = o->newer;
	f->objs[o->handle] = NULL;
	f->next_free[o->handle] = f->first_free;
	f->first_free = o->handle;
}

void *emu_uobj_new(struct emu_file *f, enum emu_type type, size_t size,
		   int (*undo)(struct emu_uobj *o))
{
	struct emu_uobj *o;

	if (is_exhausted(f->func, type) || (f->first_free == f->nobjs && grow(f)))
		return NULL;
	o = calloc(1, size);
	if (!o)
		return NULL;
	o->type = type;
	o->file = f;
	o->uid = f->devx_uid;
	o->undo = undo;
	enter(f, o);
	count(o, 1);
	return o;
}

void *emu_uobj_get(struct emu_file *f, uint32_t handle, enum emu_type type)
{
	struct emu_uobj *o = handle < f->nobjs ? f->objs[handle] : NULL;

	return o && (type == EMU_T_NONE || o->type == type) ? o : NULL;
}

#define SHARED_UID 0xffffu /* of what the driver creates for all contexts, as event queues */

bool emu_uobj_is_reachable(const struct emu_uobj *o)
{
	return !o->uid || o->uid == SHARED_UID || !o->file->devx_uid || o->uid == o->file->devx_uid;
}

void *emu_uobj_next(const struct emu_file *f, enum emu_type type, const void *after)
{
	return after ? ((const struct emu_uobj *)after)->older : f->newest[type];
}

void emu_uobj_free(struct emu_uobj *o)
{
	emu_unsubscribe(o);
	leave(o->file, o);
	count(o, -1u);
	free(o);
}

int emu_uobj_destroy(struct emu_uobj *o)
{
	int err;

	if (o->users)
		return -EBUSY;
	err = o->undo ? o->undo(o) : 0;
	if (!err)
		emu_uobj_free(o);
	return err;
}

/* Handles are in no order of use: go round until nothing is left. */
void emu_uobj_destroy_others(struct emu_file *f, enum emu_type kept)
{
	bool again;

	do {
		again = false;
		for (unsigned int i = 0; i < f->nobjs; i++) {
			if (!f->objs[i] || f->objs[i]->type == kept || emu_uobj_destroy(f->objs[i]))
				continue;
			f->objs[i] = NULL;
			again = true;
		}
	} while (again);
}

void emu_uobj_destroy_all(struct emu_file *f)
{
	emu_uobj_destroy_others(f, EMU_T_NONE);
	free(f->objs);
	free(f->next_free);
	f->objs = NULL;
	f->next_free = NULL;
	f->nobjs = 0;
	f->first_free = 0;
}
