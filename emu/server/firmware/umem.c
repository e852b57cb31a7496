/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/firmware/umem.h"

struct emu_umem *emu_devx_umem_by_id(const struct emu_file *f, uint64_t id)
{
	struct emu_umem *u = NULL;

	while ((u = emu_uobj_next(f, EMU_T_UMEM, u)) && u->id != id)
		;
	return u;
}

static int undo(struct emu_uobj *o)
{
	struct emu_umem *u = (struct emu_umem *)o;

	emu_dmabuf_close(&u->dmabuf);
	emu_unpin(&u->pin);
	return 0;
}

struct emu_umem *emu_umem_new(struct emu_cmd *c, uint64_t addr, uint64_t len, uint32_t access)
{
	static uint32_t last_id;
	struct emu_umem *u = emu_uobj_new(c->file, EMU_T_UMEM, sizeof(*u), undo);

	if (!u)
		return NULL;
	u->addr = addr;
	u->len = len;
	u->access = access;
	u->pid = c->chan->pid;
	u->id = ++last_id;
	return u;
}

/* The card gets pages: a umem ends with its last one. */
static uint64_t room_of(const struct emu_umem *u)
{
	return (u->addr + u->len + EMU_PAGE - 1) / EMU_PAGE * EMU_PAGE - u->addr;
}

uint64_t emu_devx_address(const struct emu_cmd *c, const struct emu_umem *u, uint64_t off,
			  uint64_t len, uint64_t align)
{
	uint64_t room;

	if (!u || u->dmabuf.id || u->pid != c->chan->pid || off % align)
		return 0;
	room = room_of(u);
	return off > room || len > room - off ? 0 : u->addr + off;
}
