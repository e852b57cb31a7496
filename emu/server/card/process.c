/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/card/process.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "emu/ipc/grace.h"
#include "emu/server/card/segments.h"

struct emu_proc *emu_procs;

struct emu_proc *emu_proc_of(pid_t pid)
{
	struct emu_proc *p = emu_procs;

	while (p && p->pid != pid)
		p = p->next;
	return p;
}

struct emu_proc *emu_proc_by_slot(uint32_t slot)
{
	struct emu_proc *p = emu_procs;

	while (p && p->slot != slot)
		p = p->next;
	return p;
}

void emu_proc_drain_notes(struct emu_proc *p)
{
	if (p && p->notes.fd >= 0)
		p->notes.ready(&p->notes);
}

/* An engine may outlive its socket, if the program has closed that: it still counts its passes here. */
static bool is_free(const struct emu_engine *e)
{
	return !atomic_load(&e->serial) && (!atomic_load(&e->tid) || emu_engine_ended(e));
}

static uint32_t free_slot(void)
{
	for (uint32_t i = 0; i < EMU_MAX_ENGINES; i++)
		if (is_free(&emu_queues->engine[i]))
			return i;
	return EMU_NO_ENGINE;
}

static void start_slot(const struct emu_proc *p)
{
	struct emu_engine *e = &emu_queues->engine[p->slot];

	/*
	 * grace.pml, unmap.pml: slot_start. The counts go on: those of the last engine may be recorded as
	 * of an engine that is not waited for.
	 */
	e->pid = p->pid;
	atomic_store(&e->epoch, (atomic_load(&e->epoch) + 1) & ~1u);
	atomic_store(&e->tid, 0);
	atomic_store(&e->orphaned, 0);
	atomic_store(&e->unmapped, atomic_load(&e->unmap));
	atomic_store(&e->maps, 0);
	atomic_store(&e->serial, emu_new_serial());
}

int emu_proc_create(pid_t pid, const struct emu_watch *handlers, struct emu_proc **out)
{
	uint32_t slot = free_slot();
	struct emu_proc *p;
	int pair[2], err;

	if (slot == EMU_NO_ENGINE)
		return -EMFILE;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		err = -errno;
		goto free_proc;
	}
	p->notes = *handlers;
	p->notes.fd = pair[0];
	err = emu_watch_add(&p->notes);
	if (err)
		goto close_pair;
	p->pid = pid;
	p->slot = slot;
	p->client_end = pair[1];
	p->next = emu_procs;
	emu_procs = p;
	start_slot(p);
	*out = p;
	return 0;

close_pair:
	close(pair[0]);
	close(pair[1]);
free_proc:
	free(p);
	return err;
}

void emu_proc_remove(struct emu_proc *p)
{
	struct emu_proc **link = &emu_procs;

	while (*link != p)
		link = &(*link)->next;
	*link = p->next;
	emu_free_later(p);
}
