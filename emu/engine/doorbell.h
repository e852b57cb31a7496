/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How a doorbell wakes a sleeping engine. A program rings by a store to a page that it maps. While
 * the engine sleeps, these pages are write-protected (userfaultfd): the first store waits in the
 * kernel until a second thread of the engine, the watcher, has removed the protection. The watcher then
 * makes the first pass itself, while the kernel wakes the program, and wakes the engine for all
 * further ones. Nobody waits with a timer.
 *
 * No ring is lost: the engine
 *
 *   1. loads its futex word `wake`,
 *   2. loads `armed`, which it stored after the pages were protected,
 *   3. makes a pass, which finds the doorbell record of each ring before the protection,
 *   4. waits while the futex word is what it was.
 *
 * The driver writes the doorbell record (doorbell.pml: ring_record) before it rings (doorbell.pml:
 * ring_page), and protecting a page completes the stores of all processors that could still write to
 * it. A ring after the protection makes the watcher clear `armed` and then increment `wake`: if step 2
 * saw `armed` set, step 4 does not wait.
 *
 * The engine's thread releases `turn` in step 4 only. So one thread at a time makes passes.
 *
 * Where this is not possible the engine takes naps (engine.c), and its slot says why.
 */
#ifndef EMU_ENGINE_DOORBELL_H
#define EMU_ENGINE_DOORBELL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "emu/ipc/shm.h"

#define ENGINE_DOORBELLS 1024

struct engine;

struct emu_doorbells {
	/* Set once, before the watcher starts. */
	struct engine *engine;
	struct emu_engine *slot;
	uint64_t ino; /* of the file of doorbell pages */
	int stop_fd;  /* an eventfd: the watcher shall read `uffd` and `ending` again */
	int notify_fd;
	pthread_t watcher;

	/* Both threads, and threads of the program that map pages. */
	_Atomic bool usable;  /* the watcher runs, and `uffd` is open */
	_Atomic bool armed;   /* a ring wakes the engine */
	_Atomic bool hung_up; /* the server has closed the notify socket */

	/* The same threads, under the lock of doorbell.c. */
	struct emu_doorbells *next; /* of this process */
	int uffd;
	bool ending;
	bool known; /* `page` has all pages */
	uint32_t failures;
	uint32_t count;
	uint64_t page[ENGINE_DOORBELLS];

	/* The engine's thread alone. */
	bool checked;
	bool exclusive;	 /* no other process can ring for the queues */
	uint32_t change; /* of the queues, when they were checked */
	/* Serials of the queues whose records are exclusive: each is looked at once, not with each change. */
	uint32_t exclusive_qp[EMU_MAX_QPS];
	uint32_t exclusive_cq[EMU_MAX_CQS];
};

/*
 * Called by the engine's thread. `hidden`: the thread has a descriptor table of its own. Closing
 * ends the watcher.
 */
void emu_doorbells_open(struct engine *e, bool hidden);
void emu_doorbells_close(struct engine *e);
/*
 * A process can ring for another one's queues if their doorbell records lie in memory that both map.
 * Check this once for each change of the queues, within a pass.
 */
bool emu_doorbells_checked(const struct engine *e);
void emu_doorbells_check(struct engine *e);
/* Write-protect the pages; false if the engine must take naps. */
bool emu_doorbells_arm(struct engine *e);

/* The process has mapped a doorbell page. Any thread may call it. */
void emu_doorbells_mapped(void);
/* For a forked child, which has no engine and none of the protections. */
void emu_doorbells_forget(void);

#endif
