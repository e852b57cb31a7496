/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/server/card/engines.h"

#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "emu/ipc/grace.h"
#include "emu/ipc/unmap.h"
#include "emu/server/card/process.h"
#include "emu/server/card/segments.h"

/*
 * An engine that is stopped, or that gets no processor, is waited for no longer than about a
 * second. On a busy machine, and with many packets, a pass takes tens of milliseconds.
 */
#define PASS_YIELDS 100
#define PASS_PAUSES 10000

/*
 * Did the process end in a pass? Then its thread has ended, or at least its socket hung up, which
 * the reactor may not have seen yet. The socket alone is not enough: a forked child that has not
 * run yet still holds it.
 */
static bool ended(const struct emu_engine *e)
{
	const struct emu_proc *p = emu_proc_by_slot((uint32_t)(e - emu_queues->engine));
	struct pollfd hangup = {.fd = p ? p->notes.fd : -1};

	if (emu_engine_ended(e))
		return true;
	return p && poll(&hangup, 1, 0) == 1 && hangup.revents & (POLLHUP | POLLERR | POLLNVAL);
}

void emu_grace(void)
{
	static uint32_t gave_up_at[EMU_MAX_ENGINES];

	emu_grace_wait(emu_queues, gave_up_at, ended);
}

void emu_unmap(void)
{
	static uint32_t gave_up_at[EMU_MAX_ENGINES];

	emu_unmap_wait(emu_queues, gave_up_at, ended);
}

/*
 * Checking the doorbells counts like a pass, and one may be under way: the second one that begins now and ends has
 * looked at all queues.
 */
static bool has_passed(const struct emu_engine *e, uint32_t before)
{
	return atomic_load(&e->epoch) - before >= 4 + (before & 1);
}

void emu_engine_let_pass(uint32_t slot)
{
	static const struct timespec pause = {.tv_nsec = 50000};
	struct emu_engine *e;
	uint32_t before;

	if (slot >= EMU_MAX_ENGINES)
		return;
	e = &emu_queues->engine[slot];
	if (ended(e))
		return;
	before = atomic_load(&e->epoch);
	emu_engine_wake(slot);
	for (int i = 0; i < PASS_YIELDS && !has_passed(e, before); i++)
		sched_yield();
	for (int i = 0; i < PASS_PAUSES && !has_passed(e, before) && !ended(e); i++)
		nanosleep(&pause, NULL);
}

void emu_engine_wake(uint32_t slot)
{
	struct emu_engine *e;

	if (slot >= EMU_MAX_ENGINES)
		return;
	e = &emu_queues->engine[slot];
	atomic_fetch_add(&e->change, 1); /* doorbell.pml: change_store */
	atomic_fetch_add(&e->wake, 1);	 /* doorbell.pml: change_wake */
	syscall(SYS_futex, &e->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
