/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/uverbs/queue.h"

#include <errno.h>

#include "emu/ipc/proto.h"
#include "emu/ipc/queues.h"
#include "emu/server/card/process.h"

int emu_engine_of(struct emu_cmd *c, uint32_t *slot)
{
	const struct emu_proc *p = emu_proc_of(c->chan->pid);

	if (!p) {
		c->first = EMU_REPLY_ENGINE;
		return -EAGAIN;
	}
	*slot = p->slot;
	return 0;
}

int emu_check_ring(uint64_t addr)
{
	return addr % EMU_RING_LINE ? -EINVAL : 0;
}

int emu_pin_queue_of(const struct emu_cmd *c, const struct emu_queue_memory *m,
		     struct emu_queue_pins *pins)
{
	const struct emu_pin_owner owner = emu_pin_owner(c->chan);

	return emu_pin_queue(&owner, &c->file->db_pages, m, pins);
}

/* verify_assign_uidx() of Linux. */
int emu_check_uidx(const struct emu_file *f, uint32_t uidx)
{
	return uidx > EMU_NO_UIDX || (uidx == EMU_NO_UIDX) != !f->cqe_version ? -EINVAL : 0;
}
