/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/xrc.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "emu/server/card/engines.h"
#include "emu/server/card/process.h"
#include "emu/server/card/segments.h"
#include "emu/server/uverbs/cmd.h"
#include "emu/server/uverbs/events.h"
#include "emu/server/uverbs/qp.h"
#include "emu/server/uverbs/queue.h"

/* The file behind a client's descriptor identifies a domain for all processes that can open it. */
static int identify(const struct emu_cmd *c, uint32_t fd, struct stat *st)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)c->chan->pid, (int)fd);
	return stat(path, st) ? -EBADF : 0;
}

static struct emu_xrcd *find_domain(const struct emu_func *func, const struct stat *st)
{
	struct emu_xrcd *x = NULL;

	for (struct emu_file *f = emu_files; f; f = f->next)
		while (f->func == func && (x = emu_uobj_next(f, EMU_T_XRCD, x)))
			if (x->ino == st->st_ino && x->dev == st->st_dev)
				return x;
	return NULL;
}

#define OPEN_CREAT 0100u /* O_CREAT and O_EXCL of the generic ABI; other flags have no meaning */
#define OPEN_EXCL  0200u

uint32_t emu_xrcd_number(void)
{
	static uint32_t last;

	return ++last;
}

static struct emu_xrcd *find(const struct emu_file *f, enum emu_type type, uint64_t number)
{
	struct emu_xrcd *x = NULL;

	while ((x = emu_uobj_next(f, type, x)) && x->number != number)
		;
	return x;
}

struct emu_xrcd *emu_xrcd_by_number(const struct emu_file *f, uint64_t number)
{
	struct emu_xrcd *x = find(f, EMU_T_XRCD, number);

	if (!x)
		x = find(f, EMU_T_DEVX_XRCD, number);
	return x && emu_uobj_is_reachable(&x->obj) ? x : NULL;
}

static int choose_domain(const struct emu_cmd *c, const struct ib_uverbs_open_xrcd *req,
			 struct emu_xrcd *x)
{
	const struct emu_xrcd *same;
	struct stat st;

	if (req->fd != UINT32_MAX) {
		if (identify(c, req->fd, &st))
			return -EBADF;
		same = find_domain(c->file->func, &st);
		if (!same && !(req->oflags & OPEN_CREAT))
			return -EAGAIN;
		if (same && req->oflags & OPEN_EXCL)
			return -EINVAL;
		x->ino = st.st_ino;
		x->dev = st.st_dev;
		if (same) {
			x->number = same->number;
			return 0;
		}
	}
	x->number = emu_xrcd_number();
	return 0;
}

int emu_write_open_xrcd(struct emu_cmd *c)
{
	struct ib_uverbs_open_xrcd_resp r = {0};
	struct ib_uverbs_open_xrcd req;
	struct emu_xrcd *x, tmp = {0};
	int err;

	err = emu_attr_in(c, UVERBS_ATTR_CORE_IN, &req, sizeof(req));
	if (!err)
		err = choose_domain(c, &req, &tmp);
	if (err)
		return err;
	x = emu_uobj_new(c->file, EMU_T_XRCD, sizeof(*x), NULL);
	if (!x)
		return -ENOMEM;
	tmp.obj = x->obj;
	*x = tmp;
	r.xrcd_handle = x->obj.handle;
	err = emu_attr_out(c, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
	if (err)
		emu_uobj_free(&x->obj);
	return err;
}

static int xrcd_destroy(struct emu_cmd *c)
{
	return emu_uobj_destroy(emu_attr_obj(c, UVERBS_ATTR_DESTROY_XRCD_HANDLE));
}

/* --- targets ---------------------------------------------------------------------------------- */

struct emu_qp_obj *emu_qp_next(uint32_t qpn, const struct emu_qp_obj *after)
{
	struct emu_file *f = after ? after->obj.file : emu_files;
	struct emu_qp_obj *qp;

	for (; f; f = f->next, after = NULL) {
		qp = emu_uobj_next(f, EMU_T_QP, after);
		while (qp && qp->qpn != qpn)
			qp = emu_uobj_next(f, EMU_T_QP, qp);
		if (qp)
			return qp;
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

void emu_qp_copy_access(const struct emu_qp_obj *qp)
{
	struct emu_qp_obj *other = NULL;

	if (qp->type != EMU_QPT_XRC_TGT)
		return;
	while ((other = emu_qp_next(qp->qpn, other))) {
		other->access = qp->access;
		other->responders = qp->responders;
	}
}

uint32_t emu_xrc_other_engine(uint32_t qpn, uint32_t slot)
{
	const struct emu_qp_obj *qp = NULL;
	const struct emu_proc *p;

	while ((qp = emu_qp_next(qpn, qp))) {
		for (const struct emu_chan *c = qp->obj.file->chans; c; c = c->next) {
			p = emu_proc_of(c->pid);
			if (p && p->slot != slot)
				return p->slot;
		}
	}
	return EMU_NO_ENGINE;
}

void emu_xrc_announce(const struct emu_qp *tgt)
{
	uint32_t high = atomic_load(&emu_queues->srq_high), i;

	for (i = 0; i < high; i++) {
		const struct emu_srq *s = &emu_queues->srq[i];

		if (atomic_load(&s->serial) && s->type == EMU_SRQT_XRC && s->xrcdn == tgt->xrcdn &&
		    s->engine != tgt->engine)
			emu_engine_wake(s->engine);
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
	struct emu_qp_obj *qp, tmp = {0};
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
	err = emu_engine_of(c, &slot); /* this engine serves the QP when its creator has ended */
	if (err)
		return err;
	tmp.type = EMU_QPT_XRC_TGT;
	tmp.user_handle = req.user_handle;
	tmp.cap = same->cap;
	tmp.access = same->access;
	tmp.responders = same->responders;
	tmp.xrcd = x;
	tmp.async = emu_async_of(c, UVERBS_ATTR_CREATE_QP_EVENT_FD);
	qp = emu_qp_new(c->file, &tmp);
	if (!qp)
		return -ENOMEM;
	qp->qpn = req.qpn;
	r.qp_handle = qp->obj.handle;
	r.qpn = req.qpn;
	err = emu_attr_out(c, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
	if (err)
		emu_uobj_destroy(&qp->obj);
	return err;
}

const struct emu_method emu_methods_xrc[] = {
	{
		.command.name = "xrcd.destroy",
		.object = UVERBS_OBJECT_XRCD,
		.method = UVERBS_METHOD_XRCD_DESTROY,
		.handler = xrcd_destroy,
		.attr = {{UVERBS_ATTR_DESTROY_XRCD_HANDLE, EMU_A_OBJ, true, EMU_T_XRCD}},
	},
	{.handler = NULL},
};
