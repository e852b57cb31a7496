/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/ipc/unmap.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "emu/ipc/grace.h"

#define SHORT_NS 2000000u /* most engines have answered by then */
#define BOUND_NS 2000000000u

/* Count the engines to wait for; `want` becomes the number of each one's request, 0 for all others. */
static unsigned int request(struct emu_queues *q, uint32_t want[EMU_MAX_ENGINES],
			    const uint32_t gave_up_at[EMU_MAX_ENGINES])
{
	unsigned int i, n = 0;

	for (i = 0; i < EMU_MAX_ENGINES; i++) {
		struct emu_engine *e = &q->engine[i];

		want[i] = 0;
		if (!atomic_load(&e->serial) || !atomic_load(&e->maps))
			continue;
		want[i] = atomic_fetch_add(&e->unmap, 1) + 1; /* unmap.pml: unmap_request */
		atomic_fetch_add(&e->wake, 1);		      /* unmap.pml: unmap_wake */
		syscall(SYS_futex, &e->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
		if (gave_up_at[i] && atomic_load(&e->unmapped) + 1 == gave_up_at[i])
			want[i] = 0;
		n += want[i] != 0;
	}
	return n;
}

static bool is_answer(uint32_t unmapped, uint32_t want)
{
	return (int32_t)(unmapped - want) >= 0;
}

/*
 * Count the engines without an answer. `ended` is NULL until an engine is late. What it gives up at is the number
 * that was too small: a second load could find the answer, and the next request would not be waited for.
 */
static unsigned int count_waiting(const struct emu_queues *q, uint32_t want[EMU_MAX_ENGINES],
				  uint32_t gave_up_at[EMU_MAX_ENGINES],
				  bool (*ended)(const struct emu_engine *e))
{
	unsigned int i, n = 0;

	for (i = 0; i < EMU_MAX_ENGINES; i++) {
		const struct emu_engine *e = &q->engine[i];
		const uint32_t unmapped = atomic_load(&e->unmapped);

		if (!want[i])
			continue;
		if (is_answer(unmapped, want[i]) || !atomic_load(&e->serial) ||
		    (ended && ended(e))) {
			want[i] = 0;
		} else if (ended && emu_engine_stopped(e)) {
			gave_up_at[i] = unmapped + 1; /* unmap.pml: unmap_give_up */
			want[i] = 0;
		} else {
			n++;
		}
	}
	return n;
}

void emu_unmap_wait(struct emu_queues *q, uint32_t gave_up_at[EMU_MAX_ENGINES],
		    bool (*ended)(const struct emu_engine *e))
{
	static const struct timespec pause = {.tv_nsec = 100000};
	uint32_t want[EMU_MAX_ENGINES];
	uint64_t begin;

	if (!request(q, want, gave_up_at))
		return;
	begin = monotonic_ns();
	/* unmap.pml: unmap_wait */
	while (count_waiting(q, want, gave_up_at, NULL) && monotonic_ns() - begin < SHORT_NS)
		sched_yield();
	while (count_waiting(q, want, gave_up_at, ended) && monotonic_ns() - begin < BOUND_NS)
		nanosleep(&pause, NULL);
	for (unsigned int i = 0; i < EMU_MAX_ENGINES; i++) {
		const uint32_t unmapped = atomic_load(&q->engine[i].unmapped);

		if (want[i] && !is_answer(unmapped, want[i]))
			gave_up_at[i] = unmapped + 1;
	}
}
