/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/handlers.h"

#include <errno.h>
#include <stdlib.h>

#include "emu/server/card/segments.h"
#include "emu/server/mm/process_vm.h"
#include "emu/server/mm/user_copy.h"
#include "emu/server/uverbs/cmd.h"
#include "emu/server/uverbs/mr.h"

#define MAX_TOUCH 16384u /* pages per request, as the server has other clients */
#define BATCH	  64u

static struct emu_mr *find_region(const struct emu_file *f, uint32_t key)
{
	struct emu_mr *mr = NULL;

	while ((mr = emu_uobj_next(f, EMU_T_MR, mr)) && mr->key != key)
		;
	return mr;
}

static int check_sge(const struct emu_cmd *c, const struct ib_uverbs_sge *s, uint64_t advice)
{
	const struct emu_mr *mr = find_region(c->file, s->lkey);

	if (!mr)
		return -ENOENT;
	if (!(mr->access & IB_UVERBS_ACCESS_ON_DEMAND))
		return -EINVAL;
	if (mr->pd != emu_attr_obj(c, UVERBS_ATTR_ADVISE_MR_PD_HANDLE) ||
	    (advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE &&
	     !(mr->access & IB_UVERBS_ACCESS_LOCAL_WRITE)))
		return -EPERM;
	if (s->addr < mr->iova || s->length > mr->length ||
	    s->addr - mr->iova > mr->length - s->length)
		return -EFAULT;
	return 0;
}

/* Read one byte per page: the kernel loads the page. */
static void touch(pid_t pid, uint64_t addr, uint64_t len)
{
	uint64_t at = addr & ~(uint64_t)(EMU_PAGE - 1);
	struct iovec there[BATCH], here;
	uint8_t bytes[BATCH] = {0};
	unsigned int left = MAX_TOUCH, n;

	while (at < addr + len && left) {
		for (n = 0; n < BATCH && at < addr + len; n++, at += EMU_PAGE)
			there[n] = (struct iovec){(void *)(uintptr_t)at, 1};
		here = (struct iovec){bytes, n};
		if (emu_process_read(pid, &here, 1, there, n) != (ssize_t)n)
			return;
		left -= n < left ? n : left;
	}
}

static int prefetch(const struct emu_cmd *c, const struct ib_uverbs_sge *s, uint64_t advice)
{
	const struct emu_mr *mr = find_region(c->file, s->lkey);
	uint64_t addr = mr->addr + (s->addr - mr->iova);
	pid_t pid = emu_tables->mkey[mr->key >> 8].u.mem.pid;
	int err;

	if (!s->length || advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return 0;
	err = emu_check_range(pid, addr, s->length,
			      advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE ? EMU_USE_WRITE
										  : EMU_USE_READ);
	if (!err)
		touch(pid, addr, s->length);
	return err;
}

/* Without FLUSH the work and its errors are asynchronous. */
static int advise(const struct emu_cmd *c, const struct ib_uverbs_sge *list, size_t n)
{
	uint64_t advice = emu_attr_u64(c, UVERBS_ATTR_ADVISE_MR_ADVICE, 0);
	uint64_t flags = emu_attr_u64(c, UVERBS_ATTR_ADVISE_MR_FLAGS, 0);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = check_sge(c, &list[i], advice);
	if (err)
		return err;
	for (size_t i = 0; i < n && !err; i++)
		err = prefetch(c, &list[i], advice);
	return flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH ? err : 0;
}

static int advise_mr(struct emu_cmd *c)
{
	uint64_t advice = emu_attr_u64(c, UVERBS_ATTR_ADVISE_MR_ADVICE, 0);
	uint64_t flags = emu_attr_u64(c, UVERBS_ATTR_ADVISE_MR_FLAGS, 0);
	uint8_t *list;
	size_t len;
	int err;

	if (advice > UINT32_MAX) /* no value of an enum */
		return -EINVAL;
	if (advice > IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return -EOPNOTSUPP;
	if (flags & ~(uint64_t)IB_UVERBS_ADVISE_MR_FLAG_FLUSH)
		return -EINVAL;
	err = emu_attr_in_dup(c, UVERBS_ATTR_ADVISE_MR_SGE_LIST, &list, &len);
	if (err)
		return err;
	if (!len || len % sizeof(struct ib_uverbs_sge))
		err = -EINVAL;
	else
		err = advise(c, (const struct ib_uverbs_sge *)(void *)list,
			     len / sizeof(struct ib_uverbs_sge));
	free(list);
	return err;
}

const struct emu_method emu_methods_odp[] = {
	{
		.command.name = "mr.advise",
		.object = UVERBS_OBJECT_MR,
		.method = UVERBS_METHOD_ADVISE_MR,
		.handler = advise_mr,
		.attr = {{UVERBS_ATTR_ADVISE_MR_PD_HANDLE, EMU_A_OBJ, true, EMU_T_PD},
			 {UVERBS_ATTR_ADVISE_MR_ADVICE, EMU_A_VALUE, true, 8},
			 {UVERBS_ATTR_ADVISE_MR_FLAGS, EMU_A_FLAGS, true, 0},
			 {UVERBS_ATTR_ADVISE_MR_SGE_LIST, EMU_A_IN, true,
			  sizeof(struct ib_uverbs_sge)}},
	},
	{.handler = NULL},
};
