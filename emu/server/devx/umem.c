/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/devx/umem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define A(n) MLX5_IB_ATTR_DEVX_##n

struct emu_umem *emu_devx_umem_by_id(const struct emu_file *f, uint64_t id)
{
	struct emu_umem *u = NULL;

	while ((u = emu_uobj_next(f, EMU_T_UMEM, u)) && u->id != id)
		;
	return u;
}

#define UMEM_ACCESS                                                     \
	(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE | \
	 IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_RELAXED_ORDERING)

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
	if (!c->file->devx_uid || access & ~(uint64_t)UMEM_ACCESS || !len || addr + len < addr ||
	    addr + len > -(uint64_t)EMU_PAGE) /* to the end of the page */
		return -EINVAL;
	if (access & IB_UVERBS_ACCESS_REMOTE_WRITE && !(access & IB_UVERBS_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	return 0;
}

/* Lock the memory or open the dma-buf, in which `addr` is an offset. */
static int umem_take(const struct emu_cmd *c, struct emu_umem *u)
{
	const struct emu_pin_owner owner = emu_pin_owner(c->chan);

	if (emu_attr(c, A(UMEM_REG_DMABUF_FD)))
		return emu_dmabuf_open(c->chan->pid, emu_attr_fd(c, A(UMEM_REG_DMABUF_FD)), u->addr,
				       u->len, &u->dmabuf);
	return emu_pin(&owner, u->addr, u->len, u->access & IB_UVERBS_ACCESS_LOCAL_WRITE, &u->pin);
}

static int undo(struct emu_uobj *o)
{
	struct emu_umem *u = (struct emu_umem *)o;

	emu_dmabuf_close(&u->dmabuf);
	emu_unpin(&u->pin);
	return 0;
}

static uint32_t next_id(void)
{
	static uint32_t last_id;

	return ++last_id;
}

/* The memory of a virtual machine is not locked: what it withdraws faults. */
struct emu_umem *emu_umem_of_driver(struct emu_cmd *c, uint64_t addr, uint64_t len)
{
	struct emu_umem *u = emu_uobj_new(c->file, EMU_T_UMEM, sizeof(*u), NULL);

	if (!u)
		return NULL;
	u->addr = addr;
	u->len = len;
	u->access = UMEM_ACCESS;
	u->pid = c->chan->pid;
	u->id = next_id();
	return u;
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
	u = emu_uobj_new(c->file, EMU_T_UMEM, sizeof(*u), undo);
	if (!u)
		return -ENOMEM;
	u->addr = addr;
	u->len = len;
	u->access = (uint32_t)access;
	u->pid = c->chan->pid;
	err = umem_take(c, u);
	if (!err) {
		err = check_pages(c, addr, len);
		if (err)
			undo(&u->obj);
	}
	if (err) {
		emu_uobj_free(&u->obj);
		return err;
	}
	u->id = next_id();
	emu_attr_new(c, A(UMEM_REG_HANDLE), &u->obj);
	return emu_attr_out_u32(c, A(UMEM_REG_OUT_ID), u->id);
}

/* The firmware refuses to destroy a umem in use (BAD_RES_STATE, EINVAL from old kernels). */
int emu_devx_umem_dereg(struct emu_cmd *c)
{
	return emu_uobj_destroy(emu_attr_obj(c, A(UMEM_DEREG_HANDLE)));
}

uint64_t emu_devx_address(const struct emu_cmd *c, const struct emu_umem *u, uint64_t off,
			  uint64_t len, uint64_t align)
{
	if (!u || u->dmabuf.id || u->pid != c->chan->pid || off % align || off > u->len ||
	    len > u->len - off)
		return 0;
	return u->addr + off;
}
