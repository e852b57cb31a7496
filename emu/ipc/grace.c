/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/ipc/grace.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define SHORT_NS 500000u /* most passes are shorter than the shortest sleep */
#define GRACE_NS 2000000000u

bool emu_engine_ended(const struct emu_engine *e)
{
	int32_t tid = atomic_load(&e->tid);

	return tid && syscall(SYS_tgkill, (long)e->pid, (long)tid, 0l) && errno == ESRCH;
}

/* System calls: the functions are interposed in programs. The name of the program may contain any character. */
bool emu_engine_stopped(const struct emu_engine *e)
{
	char path[32], stat[512];
	const char *state;
	long fd, n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)e->pid);
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = syscall(SYS_read, fd, stat, sizeof(stat) - 1);
	syscall(SYS_close, fd);
	stat[n > 0 ? n : 0] = '\0';
	state = strrchr(stat, ')');
	return state && state[1] && (state[2] == 'T' || state[2] == 't');
}

/*
 * Count the passes in `epoch` that engines have not left yet; the others become 0. `ended` is NULL while
 * it is too early to ask.
 */
static unsigned int count_passes(const struct emu_queues *q, uint32_t epoch[EMU_MAX_ENGINES],
				 bool (*ended)(const struct emu_engine *e))
{
	unsigned int i, n = 0;

	for (i = 0; i < EMU_MAX_ENGINES; i++) {
		if (!epoch[i])
			continue;
		if (atomic_load(&q->engine[i].epoch) != epoch[i] || (ended && ended(&q->engine[i])))
			epoch[i] = 0;
		else
			n++;
	}
	return n;
}

void emu_grace_wait(const struct emu_queues *q, uint32_t gave_up_at[EMU_MAX_ENGINES],
		    bool (*ended)(const struct emu_engine *e))
{
	static const struct timespec pause = {.tv_nsec = 100000};
	uint32_t epoch[EMU_MAX_ENGINES] = {0};
	unsigned int i, n = 0;
	uint64_t begin;

	atomic_thread_fence(memory_order_seq_cst);
	for (i = 0; i < EMU_MAX_ENGINES; i++) {
		uint32_t now = atomic_load(&q->engine[i].epoch);

		/* grace.pml: grace_scan. A slot without a serial has an engine until that ends. */
		if (!(now & 1) || now == gave_up_at[i] ||
		    (!atomic_load(&q->engine[i].serial) && ended(&q->engine[i])))
			continue;
		epoch[i] = now;
		n++;
	}
	if (!n)
		return;
	begin = monotonic_ns();
	/* grace.pml: grace_wait */
	while (count_passes(q, epoch, NULL) && monotonic_ns() - begin < SHORT_NS)
		sched_yield();
	while (count_passes(q, epoch, ended) && monotonic_ns() - begin < GRACE_NS)
		nanosleep(&pause, NULL);
	for (i = 0; i < EMU_MAX_ENGINES; i++)
		if (epoch[i])
			gave_up_at[i] = epoch[i]; /* grace.pml: grace_give_up */
}
