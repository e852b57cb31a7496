/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/mr.h"

#include <errno.h>
#include <string.h>

#include "emu/server/card/mkey_table.h"
#include "emu/server/mm/user_copy.h"
#include "emu/server/uverbs/cmd.h"
#include "emu/server/uverbs/dm.h"
#include "emu/server/uverbs/dmah.h"
#include "emu/server/uverbs/export.h"
#include "emu/server/uverbs/mw.h"
#include "emu/server/uverbs/pd.h"

#define ACCESS_KNOWN                                                                           \
	(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |                        \
	 IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC |                       \
	 IB_UVERBS_ACCESS_MW_BIND | IB_UVERBS_ACCESS_ZERO_BASED | IB_UVERBS_ACCESS_ON_DEMAND | \
	 IB_UVERBS_ACCESS_HUGETLB | IB_UVERBS_ACCESS_OPTIONAL_RANGE)

/* ib_check_mr_access: remote write access requires local write access. */
static int check_access(uint32_t access)
{
	if ((access & (IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_ATOMIC)) &&
	    !(access & IB_UVERBS_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	return access & ~(uint32_t)ACCESS_KNOWN ? -EINVAL : 0;
}

#define WRITES (IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_MW_BIND)

static bool is_on_demand(const struct emu_mr *mr)
{
	return mr->access & IB_UVERBS_ACCESS_ON_DEMAND;
}

/* No bytes at the beginning of a page; elsewhere they are in a page (ib_umem_num_pages()). */
static bool has_no_page(const struct emu_mr *mr)
{
	return !mr->length && mr->addr % EMU_PAGE == 0;
}

static int check_range(const struct emu_mr *mr)
{
	if (mr->addr % EMU_PAGE != mr->iova % EMU_PAGE || has_no_page(mr) ||
	    mr->addr + mr->length < mr->addr || mr->iova + mr->length < mr->iova)
		return -EINVAL;
	/*
	 * On demand: a missing page is an error of the access to it. A region from 0 to the end is
	 * the whole address space (an "implicit" region).
	 */
	if (is_on_demand(mr))
		return !mr->addr && mr->length == UINT64_MAX && mr->iova ? -EINVAL : 0;
	return 0;
}

static bool is_dmabuf(const struct emu_mr *mr)
{
	return mr->dmabuf.id || mr->export || mr->is_revoked;
}

static int pin(const struct emu_cmd *c, struct emu_mr *mr)
{
	const struct emu_pin_owner owner = emu_pin_owner(c->chan);

	mr->pin = (struct emu_pin){0};
	return is_on_demand(mr)
		       ? 0
		       : emu_pin(&owner, mr->addr, mr->length, mr->access & WRITES, &mr->pin);
}

/* `pid`: whose memory it is, of a region of a process. */
static void describe(const struct emu_mr *mr, pid_t pid, struct emu_mkey *m)
{
	memset(m, 0, sizeof(*m));
	m->func = mr->obj.file->func->index;
	m->pdn = mr->pd->pdn;
	m->rights = emu_rights_of_access(mr->access);
	m->start = mr->iova;
	m->len = mr->length;
	if (mr->dm) {
		m->mode = EMU_MKEY_DM;
		m->u.dm.offset = mr->dm->offset + mr->addr;
	} else if (mr->is_revoked) {
		m->mode = EMU_MKEY_NULL;
		m->rights = 0;
	} else if (mr->export) {
		m->mode = EMU_MKEY_DM;
		m->u.dm.offset = mr->export->offset + mr->addr;
	} else if (mr->dmabuf.id) {
		emu_dmabuf_describe(&mr->dmabuf, mr->addr, m);
	} else {
		m->mode = EMU_MKEY_MEM;
		m->u.mem.addr = mr->addr;
		m->u.mem.pid = pid;
		m->u.mem.shared = mr->pin.shared;
		m->u.mem.offset = mr->pin.offset;
	}
}

static int publish(struct emu_mr *mr, const struct emu_cmd *c)
{
	struct emu_mkey m;

	describe(mr, c->chan->pid, &m);
	mr->key = emu_mkey_create(&m, true);
	return mr->key ? 0 : -ENOMEM;
}

static int take_memory(const struct emu_cmd *c, struct emu_mr *mr)
{
	int err = check_range(mr);

	if (!err)
		err = pin(c, mr);
	if (!err)
		err = publish(mr, c);
	if (err)
		emu_unpin(&mr->pin);
	return err;
}

static void hold(struct emu_mr *mr)
{
	mr->pd->obj.users++;
	if (mr->dm)
		mr->dm->obj.users++;
	if (mr->dmah)
		mr->dmah->obj.users++;
}

static void detach(struct emu_mr *mr)
{
	if (mr->export)
		LIST_REMOVE(mr, of_export);
	mr->export = NULL;
}

static int undo(struct emu_uobj *o)
{
	struct emu_mr *mr = (struct emu_mr *)o;

	emu_mkey_retire(mr->key >> 8);
	detach(mr);
	emu_unpin(&mr->pin);
	emu_dmabuf_close(&mr->dmabuf);
	mr->pd->obj.users--;
	if (mr->dm)
		mr->dm->obj.users--;
	if (mr->dmah)
		mr->dmah->obj.users--;
	return 0;
}

/* A new object like `as`, which has no memory and no key yet. */
static struct emu_mr *like(struct emu_file *f, const struct emu_mr *as)
{
	struct emu_mr *mr = emu_uobj_new(f, EMU_T_MR, sizeof(*mr), undo);
	struct emu_uobj obj;

	if (!mr)
		return NULL;
	obj = mr->obj;
	*mr = *as;
	mr->obj = obj;
	return mr;
}

static int memory_new(struct emu_cmd *c, const struct emu_mr *as, struct emu_mr **out)
{
	struct emu_mr *mr = like(c->file, as);
	int err;

	if (!mr)
		return -ENOMEM;
	err = take_memory(c, mr);
	if (err) {
		emu_uobj_free(&mr->obj);
		return err;
	}
	hold(mr);
	*out = mr;
	return 0;
}

int emu_write_reg_mr(struct emu_cmd *c)
{
	struct ib_uverbs_reg_mr_resp r = {0};
	struct ib_uverbs_reg_mr req;
	struct emu_mr *mr, as = {0};
	int err;

	err = emu_attr_in(c, UVERBS_ATTR_CORE_IN, &req, sizeof(req));
	if (!err && req.start % EMU_PAGE != req.hca_va % EMU_PAGE)
		err = -EINVAL;
	if (!err)
		err = check_access(req.access_flags);
	if (!err)
		err = emu_cmd_obj(c, req.pd_handle, EMU_T_PD, &as.pd);
	if (err)
		return err;
	as.addr = req.start;
	as.length = req.length;
	as.iova = req.hca_va;
	as.access = req.access_flags;
	err = memory_new(c, &as, &mr);
	if (err)
		return err;
	r.mr_handle = mr->obj.handle;
	r.lkey = r.rkey = mr->key;
	err = emu_attr_out(c, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
	if (err)
		emu_uobj_destroy(&mr->obj);
	return err;
}

#define REREG_ALL		    (IB_UVERBS_REREG_TRANSLATION | IB_UVERBS_REREG_PD | IB_UVERBS_REREG_ACCESS)
#define IB_UVERBS_REREG_TRANSLATION 1u
#define IB_UVERBS_REREG_PD	    2u
#define IB_UVERBS_REREG_ACCESS	    4u

static int rereg_apply(const struct emu_cmd *c, const struct ib_uverbs_rereg_mr *req,
		       struct emu_mr *mr)
{
	struct emu_pd *pd;
	int err;

	if (req->flags & IB_UVERBS_REREG_ACCESS) {
		err = check_access(req->access_flags);
		if (err)
			return err;
		mr->access = req->access_flags;
	}
	if (req->flags & IB_UVERBS_REREG_PD) {
		err = emu_cmd_obj(c, req->pd_handle, EMU_T_PD, &pd);
		if (err)
			return err;
		mr->pd = pd;
	}
	if (req->flags & IB_UVERBS_REREG_TRANSLATION) {
		mr->addr = req->start;
		mr->length = req->length;
		mr->iova = req->hca_va;
		mr->dmabuf.id = 0;
		mr->export = NULL;
		mr->is_revoked = false;
	}
	return is_dmabuf(mr) ? 0 : check_range(mr);
}

/*
 * Lock the pages of the new translation before unlocking the old ones; an unchanged translation
 * stays locked.
 */
static int rereg_pin(const struct emu_cmd *c, const struct emu_mr *mr, uint32_t flags,
		     struct emu_mr *next, struct emu_pin *left)
{
	if (is_dmabuf(next))
		return 0;
	if (flags & IB_UVERBS_REREG_TRANSLATION || is_on_demand(mr) != is_on_demand(next)) {
		*left = mr->pin;
		return pin(c, next);
	}
	return is_on_demand(next)
		       ? 0
		       : emu_check_range(c->chan->pid, next->addr, next->length,
					 next->access & WRITES ? EMU_USE_PIN_WRITE : EMU_USE_READ);
}

/*
 * As the driver does by UMR, change the mkey in place: peers that know the key keep using it. With
 * another translation a region of a dma-buf becomes one of the process's memory.
 */
int emu_write_rereg_mr(struct emu_cmd *c)
{
	struct ib_uverbs_rereg_mr_resp r = {0};
	struct ib_uverbs_rereg_mr req;
	struct emu_pin unpinned = {0};
	struct emu_dmabuf left = {0};
	struct emu_mr *mr, next;
	struct emu_mkey m;
	int err;

	err = emu_attr_in(c, UVERBS_ATTR_CORE_IN, &req, sizeof(req));
	if (err)
		return err;
	if (!req.flags)
		return -EINVAL;
	if (req.flags & ~REREG_ALL)
		return -EOPNOTSUPP;
	err = emu_cmd_obj(c, req.mr_handle, EMU_T_MR, &mr);
	if (err)
		return err;
	if (mr->dm)
		return -EINVAL;
	next = *mr;
	r.lkey = r.rkey = mr->key;
	err = rereg_apply(c, &req, &next);
	if (!err)
		err = emu_attr_out(c, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
	if (!err)
		err = rereg_pin(c, mr, req.flags, &next, &unpinned);
	if (err)
		return err;
	mr->pd->obj.users--;
	next.pd->obj.users++;
	if (!is_dmabuf(&next)) {
		left = mr->dmabuf;
		detach(mr);
	}
	*mr = next;
	describe(mr, c->chan->pid, &m);
	emu_mkey_update(mr->key, &m);
	emu_dmabuf_close(&left);
	emu_unpin(&unpinned);
	return 0;
}

static int mr_destroy(struct emu_cmd *c)
{
	struct emu_mr *mr = emu_attr_obj(c, UVERBS_ATTR_DESTROY_MR_HANDLE);

	return emu_mw_bound(c->file, mr->key) ? -EBUSY : emu_uobj_destroy(&mr->obj);
}

static int mr_query(struct emu_cmd *c)
{
	const struct emu_mr *mr = emu_attr_obj(c, UVERBS_ATTR_QUERY_MR_HANDLE);
	int err;

	err = emu_attr_out_u32(c, UVERBS_ATTR_QUERY_MR_RESP_LKEY, mr->key);
	if (!err)
		err = emu_attr_out_u32(c, UVERBS_ATTR_QUERY_MR_RESP_RKEY, mr->key);
	if (!err)
		err = emu_attr_out_u64(c, UVERBS_ATTR_QUERY_MR_RESP_LENGTH, mr->length);
	return err ? err : emu_attr_out_u64(c, UVERBS_ATTR_QUERY_MR_RESP_IOVA, mr->iova);
}

/* MLX5_IB_DM_MEMIC_ALLOWED_ACCESS */
#define DM_ACCESS                                                        \
	(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |  \
	 IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC | \
	 IB_UVERBS_ACCESS_ZERO_BASED)

static int dm_mr_reg(struct emu_cmd *c)
{
	uint32_t access = (uint32_t)emu_attr_u64(c, UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, 0);
	uint64_t off = emu_attr_u64(c, UVERBS_ATTR_REG_DM_MR_OFFSET, 0);
	uint64_t len = emu_attr_u64(c, UVERBS_ATTR_REG_DM_MR_LENGTH, 0);
	struct emu_dm *dm = emu_attr_obj(c, UVERBS_ATTR_REG_DM_MR_DM_HANDLE);
	struct emu_mr *mr;
	int err;

	if (!(access & IB_UVERBS_ACCESS_ZERO_BASED) || access & ~(uint32_t)DM_ACCESS)
		return -EINVAL;
	err = check_access(access);
	if (err)
		return err;
	if (off > dm->length || len > dm->length - off)
		return -EINVAL;
	mr = emu_uobj_new(c->file, EMU_T_MR, sizeof(*mr), undo);
	if (!mr)
		return -ENOMEM;
	mr->pd = emu_attr_obj(c, UVERBS_ATTR_REG_DM_MR_PD_HANDLE);
	mr->dm = dm;
	mr->addr = off;
	mr->length = len;
	mr->access = access;
	err = publish(mr, c);
	if (err) {
		emu_uobj_free(&mr->obj);
		return err;
	}
	hold(mr);
	emu_attr_new(c, UVERBS_ATTR_REG_DM_MR_HANDLE, &mr->obj);
	err = emu_attr_out_u32(c, UVERBS_ATTR_REG_DM_MR_RESP_LKEY, mr->key);
	return err ? err : emu_attr_out_u32(c, UVERBS_ATTR_REG_DM_MR_RESP_RKEY, mr->key);
}

#define DMABUF_ACCESS                                                    \
	(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |  \
	 IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC | \
	 IB_UVERBS_ACCESS_RELAXED_ORDERING)

/* The dma-buf is a device's memory, or has memory of its own. */
static int attach(struct emu_mr *mr, pid_t pid, int64_t fd)
{
	struct emu_export *x;
	int err = emu_export_find(pid, fd, &x);

	if (err == -ENOENT)
		return emu_dmabuf_open(pid, fd, mr->addr, mr->length, &mr->dmabuf);
	if (err)
		return err;
	if (!x->offset)
		return -EOPNOTSUPP; /* no doorbell is rung by an access to a region */
	if (!mr->length || mr->addr > x->len || mr->length > x->len - mr->addr)
		return -EINVAL;
	LIST_INSERT_HEAD(&x->regions, mr, of_export);
	mr->export = x;
	return 0;
}

void emu_mr_revoke(struct emu_mr *mr)
{
	struct emu_mkey m;

	detach(mr);
	mr->is_revoked = true;
	describe(mr, 0, &m);
	emu_mkey_update(mr->key, &m);
}

static int dmabuf_new(struct emu_cmd *c, const struct emu_mr *as, uint16_t fd, struct emu_mr **out)
{
	struct emu_mr *mr;
	int err;

	if (as->iova + as->length < as->iova)
		return -EINVAL;
	mr = like(c->file, as);
	if (!mr)
		return -ENOMEM;
	err = attach(mr, c->chan->pid, emu_attr_fd(c, fd));
	if (err)
		goto free_mr;
	err = publish(mr, c);
	if (err)
		goto close_dmabuf;
	hold(mr);
	*out = mr;
	return 0;

close_dmabuf:
	detach(mr);
	emu_dmabuf_close(&mr->dmabuf);
free_mr:
	emu_uobj_free(&mr->obj);
	return err;
}

/* UCX and NCCL register no descriptor, at address 0: a kernel that has the command refuses the descriptor. */
static bool is_probe(const struct emu_cmd *c, const struct emu_mr *as)
{
	return !as->addr && !as->iova && emu_attr_fd(c, UVERBS_ATTR_REG_DMABUF_MR_FD) == -1;
}

static int dmabuf_mr_reg(struct emu_cmd *c)
{
	const struct emu_mr as = {
		.pd = emu_attr_obj(c, UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE),
		.addr = emu_attr_u64(c, UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 0),
		.length = emu_attr_u64(c, UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 0),
		.iova = emu_attr_u64(c, UVERBS_ATTR_REG_DMABUF_MR_IOVA, 0),
		.access = (uint32_t)emu_attr_u64(c, UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, 0),
	};
	struct emu_mr *mr = NULL;
	int err;

	if (as.addr % EMU_PAGE != as.iova % EMU_PAGE || as.access & ~(uint32_t)DMABUF_ACCESS)
		return -EINVAL;
	err = check_access(as.access);
	if (!err)
		err = dmabuf_new(c, &as, UVERBS_ATTR_REG_DMABUF_MR_FD, &mr);
	if (err == -EBADF && is_probe(c, &as))
		c->answer = "a probe: dma-bufs are supported";
	if (err)
		return err;
	emu_attr_new(c, UVERBS_ATTR_REG_DMABUF_MR_HANDLE, &mr->obj);
	err = emu_attr_out_u32(c, UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, mr->key);
	return err ? err : emu_attr_out_u32(c, UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, mr->key);
}

/* Memory of the process, or a dma-buf's. */
static int mr_reg(struct emu_cmd *c)
{
	const bool has_fd = emu_attr(c, EMU_UVERBS_ATTR_REG_MR_FD);
	const struct emu_mr as = {
		.pd = emu_attr_obj(c, EMU_UVERBS_ATTR_REG_MR_PD_HANDLE),
		.dmah = emu_attr_obj(c, EMU_UVERBS_ATTR_REG_MR_DMA_HANDLE),
		.addr = emu_attr_u64(
			c, has_fd ? EMU_UVERBS_ATTR_REG_MR_FD_OFFSET : EMU_UVERBS_ATTR_REG_MR_ADDR,
			0),
		.length = emu_attr_u64(c, EMU_UVERBS_ATTR_REG_MR_LENGTH, 0),
		.iova = emu_attr_u64(c, EMU_UVERBS_ATTR_REG_MR_IOVA, 0),
		.access = (uint32_t)emu_attr_u64(c, EMU_UVERBS_ATTR_REG_MR_ACCESS_FLAGS, 0),
	};
	struct emu_mr *mr = NULL;
	int err;

	if (has_fd != !!emu_attr(c, EMU_UVERBS_ATTR_REG_MR_FD_OFFSET) ||
	    has_fd == !!emu_attr(c, EMU_UVERBS_ATTR_REG_MR_ADDR) ||
	    as.addr % EMU_PAGE != as.iova % EMU_PAGE ||
	    (has_fd && as.access & ~(uint32_t)DMABUF_ACCESS))
		return -EINVAL;
	err = check_access(as.access);
	if (!err && as.dmah && is_on_demand(&as))
		err = -EOPNOTSUPP;
	if (!err)
		err = has_fd ? dmabuf_new(c, &as, EMU_UVERBS_ATTR_REG_MR_FD, &mr)
			     : memory_new(c, &as, &mr);
	if (err)
		return err;
	emu_attr_new(c, EMU_UVERBS_ATTR_REG_MR_HANDLE, &mr->obj);
	err = emu_attr_out_u32(c, EMU_UVERBS_ATTR_REG_MR_RESP_LKEY, mr->key);
	return err ? err : emu_attr_out_u32(c, EMU_UVERBS_ATTR_REG_MR_RESP_RKEY, mr->key);
}

static const struct emu_field reg_fields[] = {
	EMU_IN("addr", EMU_UVERBS_ATTR_REG_MR_ADDR, 8, EMU_ADDRESS),
	EMU_IN("offset", EMU_UVERBS_ATTR_REG_MR_FD_OFFSET, 8, EMU_DECIMAL),
	EMU_IN("length", EMU_UVERBS_ATTR_REG_MR_LENGTH, 8, EMU_DECIMAL),
	EMU_IN("access_flags", EMU_UVERBS_ATTR_REG_MR_ACCESS_FLAGS, 4, EMU_ACCESS),
	EMU_OUT("lkey", EMU_UVERBS_ATTR_REG_MR_RESP_LKEY, 4, EMU_HEX),
	EMU_FIELDS_END,
};

static const struct emu_field reg_dm_fields[] = {
	EMU_IN("offset", UVERBS_ATTR_REG_DM_MR_OFFSET, 8, EMU_DECIMAL),
	EMU_IN("length", UVERBS_ATTR_REG_DM_MR_LENGTH, 8, EMU_DECIMAL),
	EMU_IN("access_flags", UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, 4, EMU_ACCESS),
	EMU_OUT("lkey", UVERBS_ATTR_REG_DM_MR_RESP_LKEY, 4, EMU_HEX),
	EMU_FIELDS_END,
};

static const struct emu_field reg_dmabuf_fields[] = {
	EMU_IN("offset", UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 8, EMU_DECIMAL),
	EMU_IN("length", UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 8, EMU_DECIMAL),
	EMU_IN("access_flags", UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, 4, EMU_ACCESS),
	EMU_OUT("lkey", UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, 4, EMU_HEX),
	EMU_FIELDS_END,
};

const struct emu_method emu_methods_mr[] = {
	{
		.command.name = "mr.destroy",
		.object = UVERBS_OBJECT_MR,
		.method = UVERBS_METHOD_MR_DESTROY,
		.handler = mr_destroy,
		.attr = {{UVERBS_ATTR_DESTROY_MR_HANDLE, EMU_A_OBJ, true, EMU_T_MR}},
	},
	{
		.command.name = "mr.query",
		.object = UVERBS_OBJECT_MR,
		.method = UVERBS_METHOD_QUERY_MR,
		.handler = mr_query,
		.attr = {{UVERBS_ATTR_QUERY_MR_HANDLE, EMU_A_OBJ, true, EMU_T_MR},
			 {UVERBS_ATTR_QUERY_MR_RESP_LKEY, EMU_A_RESULT, true, 4},
			 {UVERBS_ATTR_QUERY_MR_RESP_RKEY, EMU_A_RESULT, true, 4},
			 {UVERBS_ATTR_QUERY_MR_RESP_LENGTH, EMU_A_RESULT, true, 8},
			 {UVERBS_ATTR_QUERY_MR_RESP_IOVA, EMU_A_RESULT, false, 8}},
	},
	{
		.command.name = "mr.create-dm",
		.command.fields = reg_dm_fields,
		.object = UVERBS_OBJECT_MR,
		.method = UVERBS_METHOD_DM_MR_REG,
		.handler = dm_mr_reg,
		.attr = {{UVERBS_ATTR_REG_DM_MR_HANDLE, EMU_A_NEW, true, 0},
			 {UVERBS_ATTR_REG_DM_MR_OFFSET, EMU_A_VALUE, true, 8},
			 {UVERBS_ATTR_REG_DM_MR_LENGTH, EMU_A_VALUE, true, 8},
			 {UVERBS_ATTR_REG_DM_MR_PD_HANDLE, EMU_A_OBJ, true, EMU_T_PD},
			 {UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, EMU_A_FLAGS, true, 0},
			 {UVERBS_ATTR_REG_DM_MR_DM_HANDLE, EMU_A_OBJ, true, EMU_T_DM},
			 {UVERBS_ATTR_REG_DM_MR_RESP_LKEY, EMU_A_RESULT, true, 4},
			 {UVERBS_ATTR_REG_DM_MR_RESP_RKEY, EMU_A_RESULT, true, 4}},
	},
	{
		.command.name = "mr.create-dmabuf",
		.command.fields = reg_dmabuf_fields,
		.object = UVERBS_OBJECT_MR,
		.method = UVERBS_METHOD_REG_DMABUF_MR,
		.handler = dmabuf_mr_reg,
		.attr = {{UVERBS_ATTR_REG_DMABUF_MR_HANDLE, EMU_A_NEW, true, 0},
			 {UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, EMU_A_OBJ, true, EMU_T_PD},
			 {UVERBS_ATTR_REG_DMABUF_MR_OFFSET, EMU_A_VALUE, true, 8},
			 {UVERBS_ATTR_REG_DMABUF_MR_LENGTH, EMU_A_VALUE, true, 8},
			 {UVERBS_ATTR_REG_DMABUF_MR_IOVA, EMU_A_VALUE, true, 8},
			 {UVERBS_ATTR_REG_DMABUF_MR_FD, EMU_A_VALUE, true, 4},
			 {UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, EMU_A_FLAGS, true, 0},
			 {UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, EMU_A_RESULT, true, 4},
			 {UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, EMU_A_RESULT, true, 4}},
	},
	{
		.command.name = "mr.create",
		.command.fields = reg_fields,
		.object = UVERBS_OBJECT_MR,
		.method = EMU_UVERBS_METHOD_REG_MR,
		.handler = mr_reg,
		.attr = {{EMU_UVERBS_ATTR_REG_MR_HANDLE, EMU_A_NEW, true, 0},
			 {EMU_UVERBS_ATTR_REG_MR_PD_HANDLE, EMU_A_OBJ, true, EMU_T_PD},
			 {EMU_UVERBS_ATTR_REG_MR_DMA_HANDLE, EMU_A_OBJ, false, EMU_T_DMAH},
			 {EMU_UVERBS_ATTR_REG_MR_IOVA, EMU_A_VALUE, true, 8},
			 {EMU_UVERBS_ATTR_REG_MR_ADDR, EMU_A_VALUE, false, 8},
			 {EMU_UVERBS_ATTR_REG_MR_LENGTH, EMU_A_VALUE, true, 8},
			 {EMU_UVERBS_ATTR_REG_MR_ACCESS_FLAGS, EMU_A_FLAGS, true, 0},
			 {EMU_UVERBS_ATTR_REG_MR_FD, EMU_A_FD, false, 0},
			 {EMU_UVERBS_ATTR_REG_MR_FD_OFFSET, EMU_A_VALUE, false, 8},
			 {EMU_UVERBS_ATTR_REG_MR_RESP_LKEY, EMU_A_RESULT, true, 4},
			 {EMU_UVERBS_ATTR_REG_MR_RESP_RKEY, EMU_A_RESULT, true, 4}},
	},
	{.handler = NULL},
};
