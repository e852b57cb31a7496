/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The engine's thread: passes over its QPs and CQs, and sleep. The thread runs in a foreign
 * program. It blocks all signals, prints nothing, and makes direct system calls for functions that
 * the shim interposes.
 */
#include "emu/engine/engine.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "emu/engine/conn.h"
#include "emu/engine/cq.h"
#include "emu/engine/doorbell.h"
#include "emu/engine/fds.h"
#include "emu/engine/memory/copy.h"
#include "emu/engine/memory/dmabuf.h"
#include "emu/engine/memory/guard.h"
#include "emu/engine/memory/maps.h"
#include "emu/engine/net.h"
#include "emu/engine/notes.h"
#include "emu/engine/pending.h"
#include "emu/engine/qp.h"
#include "emu/engine/rq.h"
#include "emu/engine/sq.h"
#include "emu/engine/srq.h"
#include "emu/engine/state.h"
#include "emu/engine/transform.h"

#define SPIN_NS		 10000u
#define NET_AWAKE_PASSES 40u
#define EVENTS_NS	 10000000u /* a program that got an event waits by events */
#define SLICE_NS	 100000u
#define KEEP_POLICY	 0x08u /* SCHED_FLAG_KEEP_POLICY */
#define SLEEP_MIN_NS	 20000u
#define SLEEP_MAX_NS	 50000000u
#define AWAKE_NS	 60000u /* idle time after which only a ring or another process wakes the engine */
#define NET_NAP_NS	 1000000u /* the longest nap of an engine that waits for packets too */
#define FOREVER_NS	 (1ull << 60)
#define SERVER_CHECK_NS	 20000000u /* how often to check that the server runs */

/*
 * All targets, not only those of its SRQs' domains: a message may be in execution whose SRQ is
 * destroyed.
 */
static void scan_targets(struct engine *e)
{
	struct emu_queues *queues = e->cfg.queues;
	uint32_t high = atomic_load(&queues->qp_high);

	for (uint32_t i = 0; i < e->scan.srq_count && !e->scan.has_xsrqs; i++)
		e->scan.has_xsrqs = queues->srq[e->scan.srq_list[i]].type == EMU_SRQT_XRC;
	e->scan.tgt_count = 0;
	for (uint32_t i = 0; e->scan.has_xsrqs && i < high && i < EMU_MAX_QPS; i++)
		if (atomic_load(&queues->qp[i].serial) && queues->qp[i].engine != e->cfg.slot &&
		    queues->qp[i].type == EMU_QPT_XRC_TGT)
			e->scan.tgt_list[e->scan.tgt_count++] = i;
}

static bool has_queues(const struct engine *e)
{
	return e->scan.qp_count || e->scan.tgt_count;
}

static void close_memory(struct engine *e)
{
	emu_dmabufs_close(&e->memory);
	emu_maps_close(&e->memory);
	emu_transform_close(e);
	emu_keys_close(e);
}

static void scan(struct engine *e)
{
	struct emu_queues *queues = e->cfg.queues;
	uint32_t change = atomic_load(&e->slot->change);
	uint32_t high;

	if (e->scan.done && change == e->scan.change)
		return;
	e->scan.done = true;
	e->scan.change = change;
	e->scan.qp_count = 0;
	high = atomic_load(&queues->qp_high);
	for (uint32_t i = 0; i < high && i < EMU_MAX_QPS; i++)
		if (atomic_load(&queues->qp[i].serial) && queues->qp[i].engine == e->cfg.slot)
			e->scan.qp_list[e->scan.qp_count++] = i;
	e->scan.cq_count = 0;
	high = atomic_load(&queues->cq_high);
	for (uint32_t i = 0; i < high && i < EMU_MAX_CQS; i++)
		if (atomic_load(&queues->cq[i].serial) && queues->cq[i].engine == e->cfg.slot)
			e->scan.cq_list[e->scan.cq_count++] = i;
	e->scan.srq_count = 0;
	high = atomic_load(&queues->srq_high);
	for (uint32_t i = 0; i < high && i < EMU_MAX_SRQS; i++)
		if (emu_srq_find(e, i))
			e->scan.srq_list[e->scan.srq_count++] = i;
	scan_targets(e);
	emu_cq_prune(e);
	emu_fds_receive(e);
	emu_conns_prune(e);
	emu_transform_prune(e);
	emu_keys_prune(e);
	if (!has_queues(e))
		close_memory(e); /* it may sleep until there is a QP again */
}

/*
 * Without a server there is no device: flush all work requests, so that programs get their
 * completions. The states belong to the engine alone now.
 */
static void fail(struct emu_qp *q)
{
	if (atomic_load(&q->state) != EMU_QPS_RESET)
		atomic_store(&q->state, EMU_QPS_ERR);
}

bool emu_engine_refresh(struct engine *e, uint32_t qpn)
{
	struct emu_qp *q = &e->cfg.queues->qp[qpn];
	struct emu_qp_run *r = &e->qp_run[qpn];
	uint32_t serial = atomic_load(&q->serial);
	uint32_t resets;

	if (!serial)
		return false;
	if (e->abandoned) /* each time: the server may have created it after this engine detected the end */
		fail(q);
	resets = atomic_load(&q->resets);
	if (r->serial != serial || r->resets != resets) {
		memset(r, 0, sizeof(*r));
		r->serial = serial;
		r->resets = resets;
	}
	return true;
}

/* Execute a send queue, and report what completes before the program can see anything else. */
static void advance_first(struct engine *e, uint32_t qpn)
{
	const struct emu_qp *q = &e->cfg.queues->qp[qpn];
	uint32_t completed = emu_cq_produced(e, q->send_cqn);

	emu_sq_advance(e, qpn);
	if (completed != emu_cq_produced(e, q->send_cqn) && !e->abandoned) {
		emu_cq_publish(e);
		emu_cq_notify(e, q->send_cqn);
	}
}

/* A target of DC only receives: the requests to which its message may be a reply are those of initiators. */
static void advance_initiators(struct engine *e)
{
	const struct emu_qp *q;
	uint32_t qpn;

	for (uint32_t i = 0; i < e->scan.qp_count; i++) {
		qpn = e->scan.qp_list[i];
		q = &e->cfg.queues->qp[qpn];
		if (q->type == EMU_QPT_DCI && e->qp_run[qpn].posted && emu_engine_refresh(e, qpn) &&
		    q->engine == e->cfg.slot && !emu_cq_frozen(e, q->send_cqn))
			advance_first(e, qpn);
	}
}

/*
 * On a network the acknowledgement of a request arrives before what the peer sends in reply to it.
 * Programs depend on this order: with one channel for both CQs, `ib_send_lat -e` knows which of them
 * an event is for.
 */
static void execute(struct engine *e, const struct emu_qp *q, uint32_t qpn)
{
	if (!emu_rq_pending(e, qpn)) {	/* before the answers are taken */
		emu_sq_advance(e, qpn); /* server_exit.pml: copy */
		/* what has arrived since waits: its sender may have answered us before */
		emu_rq_reap(e, qpn);
		return;
	}
	advance_first(e, qpn);
	if (q->type == EMU_QPT_DCT)
		advance_initiators(e);
	emu_rq_serve(e, qpn);
}

static void flush_receives(struct engine *e, const struct emu_qp *q, uint32_t qpn)
{
	if (atomic_load(&q->state) == EMU_QPS_ERR)
		emu_rq_flush(e, qpn);
}

static void visit(struct engine *e, uint32_t qpn)
{
	struct emu_qp *q = &e->cfg.queues->qp[qpn];
	struct emu_conn *c;

	if (!emu_engine_refresh(e, qpn) || q->engine != e->cfg.slot)
		return;
	if (emu_cq_frozen(e, q->send_cqn) || emu_cq_frozen(e, q->recv_cqn))
		return;
	c = e->net.num_endpoints ? emu_conn_of(e, qpn) : NULL;
	/* grace.pml: use; server_exit.pml: use_queue; doorbell.pml: visit */
	if (c) {
		emu_conn_advance(c);
	} else {
		execute(e, q, qpn);
		flush_receives(e, q, qpn);
	}
	emu_cq_publish(e);
}

static void visit_target(struct engine *e, uint32_t qpn)
{
	struct emu_qp *q = &e->cfg.queues->qp[qpn];

	if (!emu_engine_refresh(e, qpn) || q->type != EMU_QPT_XRC_TGT || q->engine == e->cfg.slot)
		return;
	emu_rq_serve(e, qpn);
	flush_receives(e, q, qpn);
	emu_cq_publish(e);
}

static void abandon(struct engine *e)
{
	e->abandoned = true;
	e->pass.worked = true;
	e->pass.deadline = UINT64_MAX;
	emu_net_close_sockets(e);
	emu_cq_close_channels(e);
}

/* Without a server send no notes: a queue whose creation it did not answer may not exist. */
static void notify(struct engine *e)
{
	for (uint32_t i = 0; i < e->scan.cq_count && !e->abandoned; i++)
		emu_cq_notify(e, e->scan.cq_list[i]);
	for (uint32_t i = 0; i < e->scan.srq_count && !e->abandoned; i++)
		emu_srq_notify(e, e->scan.srq_list[i]);
	if (e->events.count)
		emu_engine_send_events(e);
}

static void handle_packets(struct engine *e)
{
	if (!e->net.num_endpoints)
		return;
	e->pass.now = monotonic_ns();
	e->pass.timed = true;
	e->pass.deadline = UINT64_MAX;
	emu_arrivals(e);
	/* Their queue pairs may be newer than the scan: then this pass does not visit them. */
	emu_cq_publish(e);
}

/* Make one pass; false if the engine has lost its slot. */
static bool pass(struct engine *e)
{
	bool mine;

	e->pass.worked = false;
	e->pass.unsent = false;
	emu_guard_enter(&e->memory);
	if (atomic_load(&e->slot->serial) != e->serial) /* grace.pml: pass_check */
		return false;
	/* grace.pml, unmap.pml, server_exit.pml: pass_begin */
	atomic_fetch_add(&e->slot->epoch, 1);
	mine = atomic_load(&e->slot->serial) == e->serial;
	e->pass.rule = atomic_load(&e->cfg.queues->rule.action);
	e->pass.qp_faults = atomic_load(&e->cfg.queues->qp_faults);
	e->pass.data_rule = atomic_load(&e->cfg.queues->data_rule.action);
	e->pass.has_faults = e->pass.rule || e->pass.qp_faults || e->pass.data_rule;
	/* server_exit.pml: check_end */
	if (!e->abandoned && atomic_load(&e->cfg.queues->server_ended))
		abandon(e);
	if (mine) {
		scan(e);
		emu_dmabufs_prune(&e->memory);
		emu_maps_prune(&e->memory, e->abandoned);
		handle_packets(e);
		for (uint32_t i = 0; i < e->scan.qp_count; i++)
			visit(e, e->scan.qp_list[i]);
		for (uint32_t i = 0; i < e->scan.tgt_count; i++)
			visit_target(e, e->scan.tgt_list[i]);
		emu_net_flush(e);
		emu_cq_age_session(e);
		notify(e);
	}
	/* grace.pml, unmap.pml, server_exit.pml, cq.pml: pass_end */
	atomic_fetch_add(&e->slot->epoch, 1);
	return mine;
}

/* If the slot is lost, the engine's own thread detects it. */
void emu_engine_run_pass(struct engine *e)
{
	if (pthread_mutex_trylock(&e->turn))
		return;
	e->pass.now = monotonic_ns();
	pass(e);
	pthread_mutex_unlock(&e->turn);
}

/* Of the engine's own thread, between passes. */
struct idle {
	uint32_t wake; /* the futex word, */
	bool armed; /* and whether a ring wakes the engine, both as before the pass: see doorbell.h */
	uint64_t ns;	       /* since the last pass with work */
	uint32_t awake_passes; /* passes without work that did not lead to a sleep */
	uint32_t idle_passes; /* passes without work since the engine woke or armed the doorbells */
	uint64_t server_checked; /* ns; when the server was checked last */
};

static void check_server(struct engine *e, struct idle *idle)
{
	char c;

	if (atomic_load(&e->slot->orphaned) ||
	    (e->pass.now - idle->server_checked < SERVER_CHECK_NS &&
	     !atomic_load(&e->doorbells.hung_up)))
		return;
	idle->server_checked = e->pass.now;
	if (syscall(SYS_recvfrom, e->cfg.notify_fd, &c, sizeof(c), MSG_PEEK | MSG_DONTWAIT, NULL,
		    NULL))
		return;
	atomic_store(&e->slot->orphaned, 1);
	if (!e->abandoned)
		abandon(e);
}

/*
 * On a network an answer takes longer, and so does waking for one: if the program waits by events, the engine stays
 * awake for longer, and lets others have the processor in between, as the program may be about to post. A program that
 * polls would keep it for milliseconds.
 */
static bool yields(const struct engine *e)
{
	return e->net.num_endpoints && e->cq.reported && e->pass.now - e->cq.reported < EVENTS_NS;
}

/* Time in which others had the processor does not count: each pass takes a microsecond or two. */
static bool stays_awake(const struct engine *e, struct idle *idle)
{
	return idle->ns < SPIN_NS || (yields(e) && idle->awake_passes++ < NET_AWAKE_PASSES);
}

static void relax(const struct engine *e)
{
	if (yields(e)) {
		syscall(SYS_sched_yield);
		return;
	}
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield" ::: "memory");
#endif
}

static void wait_for_wake(struct engine *e, uint32_t wake, const struct timespec *timeout)
{
	syscall(SYS_futex, &e->slot->wake, FUTEX_WAIT, wake, timeout, NULL, 0);
	e->pass.now = monotonic_ns();
}

/* How long until a timer of a connection expires, at most `ns`. */
static uint64_t until_deadline(const struct engine *e, uint64_t ns)
{
	uint64_t at = e->pass.deadline;

	if (at == UINT64_MAX || at > e->pass.now + ns)
		return ns;
	return at > e->pass.now ? at - e->pass.now : 1;
}

/*
 * Sleep for one eighth of the idle time: nothing wakes the engine from a nap but other processes, so a
 * longer one adds latency.
 */
static void nap(struct engine *e, const struct idle *idle)
{
	uint64_t ns = idle->ns / 8;
	struct timespec ts = {0};

	if (ns < SLEEP_MIN_NS)
		ns = SLEEP_MIN_NS;
	if (ns > SLEEP_MAX_NS)
		ns = SLEEP_MAX_NS;
	if (e->net.num_endpoints) {
		emu_net_wait(e, until_deadline(e, ns < NET_NAP_NS ? ns : NET_NAP_NS));
		e->pass.now = monotonic_ns();
		return;
	}
	ts.tv_nsec = (long)ns;
	wait_for_wake(e, idle->wake, &ts);
}

static void wait_for_ring(struct engine *e, uint32_t wake)
{
	const uint64_t ns = until_deadline(e, FOREVER_NS);
	const struct timespec limit = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

	pthread_mutex_unlock(&e->turn);
	wait_for_wake(e, wake, ns < FOREVER_NS ? &limit : NULL);
	pthread_mutex_lock(&e->turn);
}

static bool arm(struct engine *e)
{
	if (!emu_doorbells_checked(e)) {
		atomic_fetch_add(&e->slot->epoch, 1);
		if (atomic_load(&e->slot->serial) == e->serial)
			emu_doorbells_check(e);
		atomic_fetch_add(&e->slot->epoch, 1);
	}
	if (!emu_doorbells_arm(e))
		return false;
	/* packet.pml: socket_arm; afterwards: a packet clears what arming has set */
	if (emu_net_arm(e))
		return true;
	atomic_store(&e->doorbells.armed, false);
	return false;
}

/* A second pass without work is required because a pass may visit a queue before what changes it. */
static void sleep_for_work(struct engine *e, struct idle *idle)
{
	if (!has_queues(e)) {
		wait_for_wake(e, idle->wake, NULL);
		return;
	}
	if (idle->ns < AWAKE_NS || !atomic_load(&e->doorbells.usable) || emu_engine_is_pending(e)) {
		idle->idle_passes = 0;
		nap(e, idle); /* doorbell.pml, notes.pml: nap */
		return;
	}
	if (!idle->armed || !emu_doorbells_checked(e) || !e->doorbells.exclusive) {
		idle->idle_passes = 0;
		if (!arm(e))
			nap(e, idle);
		return;
	}
	if (!idle->idle_passes++)
		return;
	wait_for_ring(e, idle->wake); /* doorbell.pml, packet.pml, unmap.pml, cq.pml: sleep */
	idle->idle_passes = 0;
}

/*
 * `asleep` is set before the pass that finds nothing to do. Another engine that adds work after
 * that pass sees it and increments `wake`, which ends the wait or prevents it.
 */
static void work(struct engine *e)
{
	struct idle idle = {0};
	uint64_t last = monotonic_ns();
	bool is_asleep = false;

	e->pass.now = last;
	atomic_store(&e->slot->asleep, 0);
	for (;;) {
		/* doorbell.pml, packet.pml, unmap.pml: wake_load */
		idle.wake = atomic_load(&e->slot->wake);
		/* doorbell.pml, packet.pml: armed_load */
		idle.armed = is_asleep && atomic_load(&e->doorbells.armed);
		e->pass.timed = false;
		if (!pass(e))
			return;
		if (!e->pass.timed)
			e->pass.now = monotonic_ns();
		idle.ns = e->pass.now - last;
		check_server(e, &idle);
		if (is_asleep && !e->pass.worked) {
			sleep_for_work(e, &idle);
			if (!idle.armed || atomic_load(&e->doorbells.armed))
				continue;
			e->pass.worked = true; /* a program rang */
		}
		if (e->pass.worked) {
			if (is_asleep)
				atomic_store(&e->slot->asleep, 0); /* doorbell.pml: awake_store */
			is_asleep = false;
			last = e->pass.now;
			idle.awake_passes = 0;
		} else if (stays_awake(e, &idle)) {
			relax(e);
		} else {
			is_asleep = true;
			atomic_store(&e->slot->asleep, 1); /* doorbell.pml: asleep_store */
		}
	}
}

/* Layout of the first version of the kernel's struct sched_attr. */
struct slice_attr {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime;
	uint64_t deadline;
	uint64_t period;
};

/*
 * Ask for short time slices: programs poll without end and, on a small machine, would keep the
 * engine off their CPU for a whole slice. Kernels before 6.12 ignore it.
 */
static void ask_for_short_slices(void)
{
	struct slice_attr attr = {.size = sizeof(attr), .runtime = SLICE_NS};

	attr.flags = KEEP_POLICY;
	attr.nice = getpriority(PRIO_PROCESS, 0);

	syscall(SYS_sched_setattr, 0, &attr, 0);
}

/*
 * The thread that opened the device may be bound to one processor, on which it polls. A card works beside
 * it, so its threads do not inherit that.
 */
static void choose_processors(const struct emu_cpus *chosen)
{
	struct emu_cpus all;

	if (chosen && !emu_cpus_set(chosen))
		return;
	memset(&all, 0xff, sizeof(all));
	emu_cpus_set(&all);
}

/* The reports of a sanitizer go to stderr. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FIRST_PRIVATE 3
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FIRST_PRIVATE 3
#endif
#endif
#ifndef FIRST_PRIVATE
#define FIRST_PRIVATE 0
#endif

static bool close_between(unsigned int first, unsigned int last)
{
	return first > last || !syscall(SYS_close_range, first, last, 0u);
}

/* Take a table of this thread with nothing but the socket; the call is tried before it counts. */
static bool hide_files(int fd)
{
	unsigned int n = (unsigned int)fd;

	return fd >= FIRST_PRIVATE && close_between(~0u, ~0u) &&
	       !syscall(SYS_unshare, CLONE_FILES) && close_between(n + 1, ~0u) &&
	       (!n || close_between(FIRST_PRIVATE, n - 1));
}

/* For the thread that starts the engine: what it waits for, on its stack. */
struct launch {
	struct engine *e;
	_Atomic uint32_t ready; /* futex word */
	bool hidden;
};

static void be_ready(struct launch *l)
{
	atomic_store(&l->ready, 1);
	syscall(SYS_futex, &l->ready, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void wait_until_ready(struct launch *l)
{
	while (!atomic_load(&l->ready))
		syscall(SYS_futex, &l->ready, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void *run(void *arg)
{
	struct launch *l = arg;
	struct engine *e = l->e;

	l->hidden = e->cfg.took_fd && hide_files(e->cfg.notify_fd);
	prctl(PR_SET_NAME, "emu-dma-engine");
	prctl(PR_SET_TIMERSLACK, 1ul);
	ask_for_short_slices(); /* for the watcher too */
	choose_processors(e->cfg.cpus);
	e->cfg.cpus = NULL; /* it belongs to the caller, who waits here */
	emu_net_open(e, l->hidden);
	emu_doorbells_open(e, l->hidden);
	be_ready(l);

	atomic_store(&e->slot->tid, (int32_t)syscall(SYS_gettid));
	emu_memory_probe(&e->memory);
	pthread_mutex_lock(&e->turn);
	work(e);
	emu_doorbells_close(e);
	pthread_mutex_unlock(&e->turn);
	emu_conns_close(e);
	emu_net_close(e);
	emu_cq_close_channels(e);
	emu_memory_close_fds(&e->memory);
	close_memory(e);
	free(e);
	return NULL;
}

static int spawn(struct launch *l)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t old;
	int err = pthread_attr_init(&attr);

	if (err)
		return err;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	emu_guard_block_signals(&old);
	err = pthread_create(&thread, &attr, run, l);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return err;
}

static void begin_memory(struct engine *e)
{
	struct emu_memory *mem = &e->memory;

	mem->tables = e->cfg.tables;
	mem->queues = e->cfg.queues;
	mem->slot = e->slot;
	mem->now = &e->pass.now;
	mem->dm = e->cfg.dm;
	mem->owner = (uint64_t)e->serial << 32 | (e->cfg.slot + 1u);
	mem->pid = (int32_t)getpid();
	mem->lacks_page = &e->pass.lacks_page;
}

int emu_engine_start(const struct emu_engine_config *config)
{
	struct launch l = {0};
	struct engine *e;
	int err;

	if (!config->tables || !config->queues || !config->dm || config->slot >= EMU_MAX_ENGINES)
		return EINVAL;
	e = calloc(1, sizeof(*e));
	if (!e)
		return ENOMEM;
	e->cfg = *config;
	e->slot = &config->queues->engine[config->slot];
	e->serial = atomic_load(&e->slot->serial);
	e->pass.deadline = UINT64_MAX;
	begin_memory(e);
	pthread_mutex_init(&e->turn, NULL);
	l.e = e;
	err = e->serial ? spawn(&l) : EINVAL;
	if (err) {
		free(e);
		return err;
	}
	wait_until_ready(&l);
	if (config->took_fd)
		*config->took_fd = l.hidden;
	if (l.hidden)
		syscall(SYS_close, config->notify_fd);
	return 0;
}
