/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/shim/last_work.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "emu/ipc/grace.h"
#include "emu/shim/interpose.h"

#define SILENT_NS 2000000000ull	 /* without progress: a peer that is stopped does not take it */
#define LIMIT_NS  10000000000ull /* for whatever keeps an engine busy */
#define PAUSE_MIN 50000l
#define PAUSE_MAX 1000000l
#define ANY_FILE  0u

/* An engine of this process. Entries stay until the process ends, so that _exit() can read them in a signal handler. */
struct own {
	struct own *next;
	struct emu_queues *queues;
	uint32_t slot, serial;
	pid_t pid; /* a forked child has no engine */
};

static _Atomic(struct own *) newest;
/* The epochs in which engines of peers made no progress: they are not waited for again before their next pass. */
static _Atomic uint32_t gave_up_at[EMU_MAX_ENGINES];

/* How long a caller waits, for one queue pair or for all of them. */
struct wait_state {
	uint64_t begun, changed;
	uint64_t progress;
	long pause;
};

static bool is_alive(const struct own *o)
{
	return o->pid == getpid() && atomic_load(&o->queues->engine[o->slot].serial) == o->serial &&
	       !atomic_load(&o->queues->server_ended);
}

static const struct own *next_alive(const struct own *o)
{
	while (o && !is_alive(o))
		o = o->next;
	return o;
}

static const struct own *first_alive(void)
{
	return next_alive(atomic_load(&newest));
}

void emu_last_work_begin(const struct emu_engine_config *config)
{
	struct own *o = calloc(1, sizeof(*o));

	if (!o)
		return;
	o->queues = config->queues;
	o->slot = config->slot;
	o->serial = atomic_load(&config->queues->engine[config->slot].serial);
	o->pid = getpid();
	o->next = atomic_load(&newest);
	while (!atomic_compare_exchange_weak(&newest, &o->next, o))
		;
}

bool emu_last_work_possible(void)
{
	return first_alive();
}

/* --- waiting ---------------------------------------------------------------------------------- */

static void wake(struct emu_engine *e)
{
	atomic_fetch_add(&e->wake, 1);
	syscall(SYS_futex, &e->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static struct wait_state begin(void)
{
	uint64_t now = monotonic_ns();

	return (struct wait_state){.begun = now, .changed = now, .pause = PAUSE_MIN};
}

/* An engine that gets no processor is late, but will move. */
static bool may_move(const struct emu_engine *e)
{
	return e && !emu_engine_stopped(e) && !emu_engine_ended(e);
}

/* Sleep a moment; false: nothing has changed for too long. `e` has to move; NULL: an unknown one. */
static bool pause_for(struct wait_state *p, uint64_t progress, const struct emu_engine *e)
{
	const struct timespec pause = {.tv_nsec = p->pause};
	uint64_t now = monotonic_ns();

	if (p->progress != progress) {
		p->progress = progress;
		p->changed = now;
	}
	if (now - p->begun >= LIMIT_NS || (now - p->changed >= SILENT_NS && !may_move(e)))
		return false;
	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
	if (p->pause < PAUSE_MAX)
		p->pause *= 2;
	return true;
}

/* Checking the doorbells counts like a pass, and one may be under way (server/card/engines.c). */
static bool has_passed(const struct emu_engine *e, uint32_t before)
{
	return atomic_load(&e->epoch) - before >= 4 + (before & 1);
}

/* --- a queue pair ----------------------------------------------------------------------------- */

struct watched {
	struct emu_queues *queues;
	struct emu_qp *q;
	struct emu_engine *engine;
	uint32_t serial, engine_serial;
	uint32_t before; /* the engine's epoch */
	uint16_t posted;
	bool counts;	     /* `posted` is known */
	bool sent, answered; /* what had to be done then */
};

static bool read_posted(const struct watched *w, uint16_t *posted)
{
	uint8_t word[4];
	const struct iovec to = {word, sizeof(word)};
	const struct iovec from = {
		(void *)(uintptr_t)(w->q->dbr_addr +
				    sizeof(word)), // NOLINT(performance-no-int-to-ptr)
		sizeof(word)};

	if (syscall(SYS_process_vm_readv, w->engine->pid, &to, 1ul, &from, 1ul, 0ul) !=
	    (long)sizeof(word))
		return false;
	*posted = (uint16_t)(word[2] << 8 | word[3]);
	return true;
}

static bool watch(struct emu_queues *queues, uint32_t qpn, struct watched *w)
{
	*w = (struct watched){.queues = queues, .q = &queues->qp[qpn]};
	w->serial = atomic_load(&w->q->serial);
	if (!w->serial || w->q->engine >= EMU_MAX_ENGINES)
		return false;
	w->engine = &queues->engine[w->q->engine];
	w->engine_serial = atomic_load(&w->engine->serial);
	w->before = atomic_load(&w->engine->epoch); /* last_work.pml: snapshot */
	w->counts = read_posted(w, &w->posted);
	return w->engine_serial;
}

static bool exists(const struct watched *w)
{
	return atomic_load(&w->q->serial) == w->serial &&
	       atomic_load(&w->engine->serial) == w->engine_serial &&
	       !atomic_load(&w->queues->server_ended);
}

/* It came to rest in a pass that began after the program had rung, or has executed that much. */
static bool has_sent(const struct watched *w)
{
	if (!w->q->sq_wqe_count || atomic_load(&w->q->state) != EMU_QPS_RTS)
		return true;
	/* last_work.pml: sent */
	return (int32_t)(atomic_load(&w->q->at_rest) - w->before) > 0 ||
	       (w->counts && (int16_t)((uint16_t)atomic_load(&w->q->done) - w->posted) >= 0);
}

/* A message that a pass does not finish has no completion yet, so its program does not know of it. */
static bool has_answered(const struct watched *w)
{
	/* last_work.pml: answered */
	return !emu_qp_has_message(w->q) || has_passed(w->engine, w->before);
}

static bool is_done(struct watched *w)
{
	w->sent = w->sent || has_sent(w);
	w->answered = w->answered || has_answered(w);
	return (w->sent && w->answered) || !exists(w);
}

/* The engine that executes what it sends, if it is connected and on this machine. Others have the peer 0. */
static const struct emu_engine *other_engine(const struct watched *w)
{
	uint32_t peer = w->q->dest_qpn, slot = EMU_MAX_ENGINES;

	if (peer && peer < EMU_MAX_QPS)
		slot = w->queues->qp[peer].engine;
	return slot < EMU_MAX_ENGINES ? &w->queues->engine[slot] : NULL;
}

/* The bytes of a message are counted by its receiver. */
static uint64_t progress(const struct watched *w)
{
	uint64_t sum = atomic_load(&w->q->done) + atomic_load(&w->engine->bytes);
	const struct emu_engine *other = other_engine(w);

	return other ? sum + atomic_load(&other->bytes) : sum;
}

/* Whom it waits for: its own engine first. */
static const struct emu_engine *awaited(const struct watched *w)
{
	return has_passed(w->engine, w->before) ? other_engine(w) : w->engine;
}

static _Atomic uint32_t *given_up(const struct watched *w, const struct emu_engine *other)
{
	return &gave_up_at[other - w->queues->engine];
}

static bool is_given_up(const struct watched *w)
{
	const struct emu_engine *other = other_engine(w);
	uint32_t at = other ? atomic_load(given_up(w, other)) : 0;

	return at && at == atomic_load(&other->epoch);
}

static void give_up(const struct watched *w)
{
	const struct emu_engine *other = other_engine(w);

	if (other)
		atomic_store(given_up(w, other), atomic_load(&other->epoch));
}

static void wait_for(struct emu_queues *queues, uint32_t qpn, struct wait_state *p)
{
	struct watched w;

	if (!watch(queues, qpn, &w))
		return;
	while (!is_done(&w) && !is_given_up(&w)) {
		wake(w.engine);
		if (!pause_for(p, progress(&w), awaited(&w))) {
			give_up(&w);
			return;
		}
	}
}

void emu_last_work_of_queue(uint32_t qpn)
{
	const struct own *o = first_alive();
	struct wait_state p = begin();

	if (o && qpn < EMU_MAX_QPS)
		wait_for(o->queues, qpn, &p);
}

void emu_last_work_of_file(uint64_t ino)
{
	struct wait_state p = begin();

	for (const struct own *o = first_alive(); o; o = next_alive(o->next))
		for (uint32_t i = 0; i < atomic_load(&o->queues->qp_high) && i < EMU_MAX_QPS; i++)
			if (o->queues->qp[i].engine == o->slot &&
			    (ino == ANY_FILE || o->queues->qp[i].file == ino))
				wait_for(o->queues, i, &p);
}

void emu_last_work_of_all(void)
{
	emu_last_work_of_file(ANY_FILE);
}

void emu_last_work_let_pass(void)
{
	struct wait_state p = begin();

	for (const struct own *o = first_alive(); o; o = next_alive(o->next)) {
		struct emu_engine *e = &o->queues->engine[o->slot];
		uint32_t before = atomic_load(&e->epoch);

		do
			wake(e);
		while (!has_passed(e, before) /* last_work.pml: let_pass */ &&
		       pause_for(&p, atomic_load(&e->epoch), e));
	}
}

/* --- the end of the program ------------------------------------------------------------------- */

static __attribute__((destructor)) void at_exit(void)
{
	emu_last_work_of_all();
}

/* Also in a signal handler or in a child of vfork(), where the next definition cannot be looked up. */
EXPORT __attribute__((noreturn)) void _exit(int status)
{
	emu_last_work_of_all();
	for (;;)
		syscall(SYS_exit_group, status);
}

EXPORT __attribute__((noreturn)) void _Exit(int status)
{
	_exit(status);
}

/* Registered before the program's own handlers, so called after them. */
static __attribute__((constructor)) void at_start(void)
{
	(void)at_quick_exit(emu_last_work_of_all);
}

/* Its parent ends without a call that can be interposed. */
EXPORT int daemon(int keep_directory, int keep_files)
{
	emu_last_work_of_all();
	return NEXT(daemon)(keep_directory, keep_files);
}
