/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/firmware/umem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "emu/server/devx/methods.h"
#include "emu/server/uverbs/export.h"

#define A(n) MLX5_IB_ATTR_DEVX_##n

/* The page size at an address: KernelPageSize of its line in smaps. */
static uint64_t page_size_at(pid_t pid, uint64_t addr)
{
	char path[32], line[512];
	uint64_t from, to, kib = 0;
	bool there = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/smaps", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return EMU_PAGE;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) == 2)
			there = addr >= from && addr < to;
		else if (there && sscanf(line, "KernelPageSize: %" SCNu64, &kib) == 1)
			break;
	}
	fclose(f);
	return kib > EMU_PAGE / 1024 ? kib * 1024 : EMU_PAGE;
}

/*
 * devx_umem_find_best_pgsize(): no page may be larger than the umem, and one of the remaining
 * sizes must not exceed the memory that is certainly contiguous. (By chance more may be.)
 */
static int check_pages(const struct emu_cmd *c, uint64_t addr, uint64_t len)
{
	uint64_t pages = emu_attr_u64(c, A(UMEM_REG_PGSZ_BITMAP), ~(uint64_t)(EMU_PAGE - 1));
	uint64_t least;

	pages &= ~(uint64_t)(EMU_PAGE - 1);
	least = pages & -pages;
	if (!least || (least > EMU_PAGE && least / 2 >= len))
		return -EINVAL;
	if (least == EMU_PAGE || emu_attr(c, A(UMEM_REG_DMABUF_FD)))
		return 0;
	return least > page_size_at(c->chan->pid, addr) ? -EINVAL : 0;
}

static int check_umem(const struct emu_cmd *c, uint64_t addr, uint64_t len, uint64_t access)
{
	if (!c->file->devx_uid || access & ~(uint64_t)EMU_UMEM_ACCESS || !len ||
	    addr + len < addr || addr + len > -(uint64_t)EMU_PAGE) /* to the end of the page */
		return -EINVAL;
	if (access & IB_UVERBS_ACCESS_REMOTE_WRITE && !(access & IB_UVERBS_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	return 0;
}

/* Memory of a device cannot be pinned, as its owner may free it. */
static int take_dmabuf(struct emu_umem *u, pid_t pid, int64_t fd)
{
	struct emu_export *x;
	int err = emu_export_find(pid, fd, &x);

	if (err == -ENOENT)
		return emu_dmabuf_open(pid, fd, u->addr, u->len, &u->dmabuf);
	return err ? err : -EOPNOTSUPP;
}

/* Lock the memory or open the dma-buf, in which `addr` is an offset. */
static int umem_take(const struct emu_cmd *c, struct emu_umem *u)
{
	const struct emu_pin_owner owner = emu_pin_owner(c->chan);

	if (emu_attr(c, A(UMEM_REG_DMABUF_FD)))
		return take_dmabuf(u, c->chan->pid, emu_attr_fd(c, A(UMEM_REG_DMABUF_FD)));
	return emu_pin(&owner, u->addr, u->len, u->access & IB_UVERBS_ACCESS_LOCAL_WRITE, &u->pin);
}

int emu_devx_umem_reg(struct emu_cmd *c)
{
	uint64_t addr = emu_attr_u64(c, A(UMEM_REG_ADDR), 0);
	uint64_t len = emu_attr_u64(c, A(UMEM_REG_LEN), 0);
	uint64_t access = emu_attr_u64(c, A(UMEM_REG_ACCESS), 0);
	struct emu_umem *u;
	int err;

	err = check_umem(c, addr, len, access);
	if (err)
		return err;
	u = emu_umem_new(c, addr, len, (uint32_t)access);
	if (!u)
		return -ENOMEM;
	err = umem_take(c, u);
	if (err) {
		emu_uobj_free(&u->obj);
		return err;
	}
	err = check_pages(c, addr, len);
	if (err) {
		emu_uobj_destroy(&u->obj);
		return err;
	}
	emu_attr_new(c, A(UMEM_REG_HANDLE), &u->obj);
	return emu_attr_out_u32(c, A(UMEM_REG_OUT_ID), u->id);
}

/* The firmware refuses to destroy a umem in use (BAD_RES_STATE, EINVAL from old kernels). */
int emu_devx_umem_dereg(struct emu_cmd *c)
{
	return emu_uobj_destroy(emu_attr_obj(c, A(UMEM_DEREG_HANDLE)));
}
