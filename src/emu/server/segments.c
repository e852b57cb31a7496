/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The shared segments, and how the server and the engines agree about their entries. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/grace.h"
#include "server.h"

#define UAR_BYTES (256ull << 20)

static int make_segment(const char *name, size_t len, int *fd, void **p)
{
	*fd = memfd_create(name, MFD_CLOEXEC);
	if (*fd < 0)
		return -errno;
	if (ftruncate(*fd, (off_t)len))
		return -errno;
	if (!p)
		return 0;
	*p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	return *p == MAP_FAILED ? -errno : 0;
}

/* Clients get the tables by a descriptor that cannot be mapped for writing. */
static int open_readonly(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDONLY | O_CLOEXEC);
}

int emu_segments_create(void)
{
	void *tables = NULL, *queues = NULL;
	int err;

	err = make_segment("dpumap-emu-tables", sizeof(struct emu_tables), &emu.tables_fd, &tables);
	if (!err)
		err = make_segment("dpumap-emu-queues", sizeof(struct emu_queues), &emu.queues_fd,
				   &queues);
	if (!err)
		err = make_segment("dpumap-emu-dm", EMU_MAX_CARDS * EMU_DM_STRIDE, &emu.dm_fd,
				   NULL);
	if (!err)
		err = make_segment("dpumap-emu-uar", UAR_BYTES, &emu.uar_fd, NULL);
	if (err || !tables)
		return err;
	emu.tables_ro_fd = open_readonly(emu.tables_fd);
	if (emu.tables_ro_fd < 0)
		return -errno;
	emu.tables = tables;
	emu.queues = queues;
	emu.tables->generation = 1;
	return 0;
}

uint32_t emu_new_serial(void)
{
	static uint32_t last;

	if (++last == 0)
		++last;
	return last;
}

/*
 * Did the process end in a pass? Then its thread is gone, or at least its socket hung up, though
 * nobody may have looked yet. The socket alone does not tell in time: a forked child that was not
 * given the processor yet still has it.
 */
static bool ended(const struct emu_engine *e)
{
	const struct emu_proc *p = emu_proc_by_slot((uint32_t)(e - emu.queues->engine));
	struct pollfd hangup = {.fd = p ? p->notes.fd : -1};

	if (emu_engine_ended(e))
		return true;
	return p && poll(&hangup, 1, 0) == 1 && hangup.revents & (POLLHUP | POLLERR | POLLNVAL);
}

void emu_grace(void)
{
	static uint32_t gave_up_at[EMU_MAX_ENGINES];

	emu_grace_wait(emu.queues, gave_up_at, ended);
}

void emu_engine_kick(uint32_t slot)
{
	struct emu_engine *e;

	if (slot >= EMU_MAX_ENGINES)
		return;
	e = &emu.queues->engine[slot];
	atomic_fetch_add(&e->change, 1);
	atomic_fetch_add(&e->wake, 1);
	syscall(SYS_futex, &e->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
