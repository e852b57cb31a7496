/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * XRC targets, which the processes of a domain share: whoever opens one (ibv_open_qp) has a handle
 * of the same QP, as the kernel core's ib_open_qp() makes it. The QP goes with its last handle, and
 * each handle has its events.
 */
#include <errno.h>

#include "cmd.h"

struct emu_qp_obj *emu_qp_next(uint32_t qpn, const struct emu_qp_obj *after)
{
	struct emu_file *f = after ? after->obj.file : emu.files;
	unsigned int i = after ? after->obj.handle + 1 : 0;

	for (; f; f = f->next, i = 0) {
		for (; i < f->nobjs; i++) {
			struct emu_qp_obj *qp = (struct emu_qp_obj *)f->objs[i];

			if (qp && qp->obj.type == EMU_T_QP && qp->qpn == qpn)
				return qp;
		}
	}
	return NULL;
}

bool emu_qp_shared(const struct emu_qp_obj *qp)
{
	const struct emu_qp_obj *first;

	if (qp->type != EMU_QPT_XRC_TGT)
		return false;
	first = emu_qp_next(qp->qpn, NULL);
	return first != qp || emu_qp_next(qp->qpn, qp);
}

void emu_qp_spread(const struct emu_qp_obj *qp)
{
	struct emu_qp_obj *other = NULL;

	if (qp->type != EMU_QPT_XRC_TGT)
		return;
	while ((other = emu_qp_next(qp->qpn, other)))
		other->attr = qp->attr;
}

uint32_t emu_xrc_heir(uint32_t qpn, uint32_t slot)
{
	const struct emu_qp_obj *qp = NULL;
	const struct emu_proc *p;
	const struct emu_chan *c;

	while ((qp = emu_qp_next(qpn, qp))) {
		for (c = qp->obj.file->chans; c; c = c->next) {
			p = emu_proc_of(c->pid);
			if (p && p->slot != slot)
				return p->slot;
		}
	}
	return EMU_NO_ENGINE;
}

void emu_xrc_announce(const struct emu_qp *tgt)
{
	uint32_t high = atomic_load(&emu.queues->srq_high), i;

	for (i = 0; i < high; i++) {
		const struct emu_srq *s = &emu.queues->srq[i];

		if (atomic_load(&s->serial) && s->type == EMU_SRQT_XRC && s->xrcdn == tgt->xrcdn &&
		    s->engine != tgt->engine)
			emu_engine_kick(s->engine);
	}
}

static const struct emu_qp_obj *find_target(const struct emu_xrcd *x, uint32_t qpn)
{
	const struct emu_qp_obj *qp = emu_qp_next(qpn, NULL);

	return qp && qp->type == EMU_QPT_XRC_TGT && qp->obj.file->func == x->obj.file->func &&
			       qp->xrcd->number == x->number
		       ? qp
		       : NULL;
}

int emu_write_open_qp(struct emu_cmd *c)
{
	struct ib_uverbs_create_qp_resp r = {0};
	const struct emu_qp_obj *same;
	struct ib_uverbs_open_qp req;
	struct emu_qp_obj *qp;
	struct emu_xrcd *x;
	uint32_t slot;
	int err;

	err = emu_attr_in(c, UVERBS_ATTR_CORE_IN, &req, sizeof(req));
	if (err)
		return err;
	x = emu_uobj_get(c->file, req.pd_handle, EMU_T_XRCD);
	same = x && req.qp_type == EMU_QPT_XRC_TGT ? find_target(x, req.qpn) : NULL;
	if (!same)
		return -EINVAL;
	err = emu_engine_of(c, &slot); /* which looks after the QP when its maker is gone */
	if (err)
		return err;
	qp = emu_uobj_new(c->file, EMU_T_QP, sizeof(*qp));
	if (!qp)
		return -ENOMEM;
	qp->type = EMU_QPT_XRC_TGT;
	qp->user_handle = req.user_handle;
	qp->cap = same->cap;
	qp->attr = same->attr;
	qp->xrcd = x;
	qp->async = emu_async_of(c, UVERBS_ATTR_CREATE_QP_EVENT_FD);
	emu_qp_hold(qp);
	qp->qpn = req.qpn;
	r.qp_handle = qp->obj.handle;
	r.qpn = req.qpn;
	err = emu_attr_out(c, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
	if (err)
		emu_uobj_destroy(&qp->obj);
	return err;
}
