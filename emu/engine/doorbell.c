/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "emu/engine/doorbell.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/engine/doorbell_pages.h"
#include "emu/engine/engine.h"
#include "emu/engine/memory/guard.h"
#include "emu/engine/state.h"

#define FEATURES     (UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_HUGETLBFS_SHMEM)
#define ATTEMPTS     3
#define MAX_FAILURES 16

/* Guards the list, and all of its members that are not atomic while a watcher runs. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct emu_doorbells *all;

static void lock_doorbells(sigset_t *old)
{
	emu_guard_block_signals(old);
	pthread_mutex_lock(&lock);
}

static void unlock_doorbells(const sigset_t *old)
{
	pthread_mutex_unlock(&lock);
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

static void report(const struct emu_doorbells *d, enum emu_doorbell_way way, int err)
{
	atomic_store(&d->slot->doorbells, EMU_DOORBELLS(way, (uint32_t)err));
}

static void wake(struct emu_doorbells *d)
{
	atomic_fetch_add(&d->slot->wake, 1);
	syscall(SYS_futex, &d->slot->wake, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		syscall(SYS_close, *fd);
	*fd = -1;
}

/* --- pages ------------------------------------------------------------------------------------ */

static int call(int uffd, unsigned long request, void *arg)
{
	long r;

	do {
		r = syscall(SYS_ioctl, uffd, request, arg);
	} while (r && (errno == EAGAIN || errno == EINTR));
	return r ? errno : 0;
}

static int protect(const struct emu_doorbells *d, uint64_t page, bool on)
{
	struct uffdio_writeprotect wp = {
		.range = {page, EMU_DOORBELL_BYTES},
		.mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0,
	};

	return call(d->uffd, UFFDIO_WRITEPROTECT, &wp);
}

static int watch_page(const struct emu_doorbells *d, uint64_t page)
{
	struct uffdio_register reg = {
		.range = {page, EMU_DOORBELL_BYTES},
		.mode = UFFDIO_REGISTER_MODE_WP,
	};

	return call(d->uffd, UFFDIO_REGISTER, &reg);
}

static void unwatch_page(const struct emu_doorbells *d, uint64_t page)
{
	struct uffdio_range range = {page, EMU_DOORBELL_BYTES};

	call(d->uffd, UFFDIO_UNREGISTER, &range);
}

static bool contains(const uint64_t *page, uint32_t n, uint64_t wanted)
{
	for (uint32_t i = 0; i < n; i++)
		if (page[i] == wanted)
			return true;
	return false;
}

/*
 * Between the list and the registration a program may put other memory where a page was. So the list
 * is made again: what is registered and still is a doorbell page stays registered until it is unmapped.
 * Registration alone has no effect on memory.
 */
static int find_pages(struct emu_doorbells *d)
{
	uint64_t before[ENGINE_DOORBELLS];
	uint32_t n;
	int err = emu_doorbell_pages(d->ino, before, &n);
	bool same;

	for (uint32_t i = 0; !err && i < n; i++)
		err = watch_page(d, before[i]);
	if (err == ENOMEM || err == EINVAL)
		err = EAGAIN; /* it is not mapped any more */
	if (err)
		return err;
	err = emu_doorbell_pages(d->ino, d->page, &d->count);
	if (err)
		return err;
	for (uint32_t i = 0; i < n; i++)
		if (!contains(d->page, d->count, before[i]))
			unwatch_page(d, before[i]);
	same = n == d->count && !memcmp(before, d->page, n * sizeof(before[0]));
	d->known = same;
	return same ? 0 : EAGAIN;
}

/* EAGAIN: the program has unmapped a page. */
static int protect_pages(struct emu_doorbells *d)
{
	int err = d->known ? 0 : find_pages(d);

	for (uint32_t i = 0; !err && i < d->count; i++)
		err = protect(d, d->page[i], true); /* doorbell.pml: arm_protect */
	if (err == ENOENT) {
		d->known = false;
		err = EAGAIN;
	}
	return err;
}

/* From now on the engine takes naps. */
static void give_up(struct emu_doorbells *d, enum emu_doorbell_way way, int err)
{
	const uint64_t one = 1;

	report(d, way, err);
	atomic_store(&d->armed, false);
	atomic_store(&d->usable, false);
	for (uint32_t i = 0; i < d->count; i++)
		unwatch_page(d, d->page[i]);
	close_fd(&d->uffd);
	wake(d); /* doorbell.pml: fail_wake */
	syscall(SYS_write, d->stop_fd, &one, sizeof(one));
}

/* --- watcher ---------------------------------------------------------------------------------- */

/* The pages of faults that arrived meanwhile, whatever `page` says: a thread must not wait forever. */
static int answer_rest(const struct emu_doorbells *d)
{
	struct uffd_msg m;
	int err = 0;

	while (!err && syscall(SYS_read, d->uffd, &m, sizeof(m)) == sizeof(m))
		if (m.event == UFFD_EVENT_PAGEFAULT)
			err = protect(d, m.arg.pagefault.address & ~(EMU_DOORBELL_BYTES - 1ull),
				      false);
	return err == ENOENT ? 0 : err;
}

/* A program rings. */
static void answer(struct emu_doorbells *d)
{
	int err = 0;

	pthread_mutex_lock(&lock);
	if (d->uffd >= 0) {
		atomic_store(&d->armed, false); /* doorbell.pml: answer_armed */
		for (uint32_t i = 0; !err && i < d->count; i++) {
			/* doorbell.pml: answer_unprotect */
			err = protect(d, d->page[i], false);
			if (err == ENOENT) /* unmapped */
				err = 0;
		}
		if (!err)
			err = answer_rest(d);
		if (err)
			give_up(d, EMU_DOORBELLS_NO_UFFD, err);
	}
	pthread_mutex_unlock(&lock);
}

/* What to wait for; false: the watcher ends. */
static bool read_command(struct emu_doorbells *d, struct pollfd *rings)
{
	uint64_t n;
	bool ending;

	pthread_mutex_lock(&lock);
	syscall(SYS_read, d->stop_fd, &n, sizeof(n));
	rings->fd = d->uffd;
	ending = d->ending;
	pthread_mutex_unlock(&lock);
	return !ending;
}

/* A packet has arrived for an engine that may be asleep. The pages stay protected: it arms them again. */
static void wake_for_packet(struct emu_doorbells *d)
{
	emu_net_woke(d->engine);	/* packet.pml: report_take */
	atomic_store(&d->armed, false); /* packet.pml: report_unarm */
	emu_engine_run_pass(d->engine); /* packet.pml: report_run_pass */
	wake(d);			/* packet.pml: report_wake */
}

static void *watch(void *arg)
{
	struct emu_doorbells *d = arg;
	struct pollfd p[4] = {{.fd = d->uffd, .events = POLLIN},
			      {.fd = d->stop_fd, .events = POLLIN},
			      {.fd = d->notify_fd},
			      {.fd = d->engine->net.epfd, .events = POLLIN}};

	prctl(PR_SET_NAME, "emu-doorbells");
	for (;;) {
		if (syscall(SYS_ppoll, p, 4ul, NULL, NULL, 8ul) < 0 && errno != EINTR) {
			pthread_mutex_lock(&lock);
			give_up(d, EMU_DOORBELLS_NO_UFFD, errno);
			pthread_mutex_unlock(&lock);
			return NULL;
		}
		if (p[0].revents) {
			answer(d);
			emu_engine_run_pass(d->engine); /* doorbell.pml: run_pass */
			wake(d);			/* doorbell.pml: answer_wake */
		}
		if (p[3].revents)
			wake_for_packet(d);
		if (p[1].revents && !read_command(d, &p[0]))
			return NULL;
		if (p[2].revents) {
			p[2].fd = -1;
			atomic_store(&d->hung_up, true);
			wake(d);
		}
	}
}

/* --- for the engine --------------------------------------------------------------------------- */

static int open_uffd(struct emu_doorbells *d)
{
	struct uffdio_api api = {.api = UFFD_API, .features = FEATURES};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
	int err;

	if (fd < 0)
		return errno;
	err = call(fd, UFFDIO_API, &api);
	if (!err)
		d->uffd = fd;
	else
		syscall(SYS_close, fd);
	return err;
}

static int start(struct emu_doorbells *d)
{
	int err = open_uffd(d);

	if (err)
		return err;
	d->stop_fd = (int)syscall(SYS_eventfd2, 0u, EFD_CLOEXEC | EFD_NONBLOCK);
	err = d->stop_fd < 0 ? errno : pthread_create(&d->watcher, NULL, watch, d);
	if (!err)
		return 0;
	close_fd(&d->stop_fd);
	close_fd(&d->uffd);
	return err;
}

void emu_doorbells_open(struct engine *e, bool hidden)
{
	struct emu_doorbells *d = &e->doorbells;
	sigset_t old;
	int err;

	d->engine = e;
	d->slot = e->slot;
	d->ino = e->cfg.doorbells_ino;
	d->notify_fd = e->cfg.notify_fd;
	d->uffd = d->stop_fd = -1;
	if (!hidden) {
		report(d, EMU_DOORBELLS_NO_TABLE, 0);
		return;
	}
	if (emu_doorbell_is_valgrind()) {
		report(d, EMU_DOORBELLS_VALGRIND, 0);
		return;
	}
	lock_doorbells(&old);
	err = start(d);
	if (err) {
		report(d, EMU_DOORBELLS_NO_UFFD, err);
	} else {
		report(d, EMU_DOORBELLS_UFFD, 0);
		atomic_store(&d->usable, true);
		d->next = all;
		all = d;
	}
	unlock_doorbells(&old);
}

void emu_doorbells_close(struct engine *e)
{
	struct emu_doorbells *d = &e->doorbells, **link = &all;
	const uint64_t one = 1;
	sigset_t old;

	if (d->stop_fd < 0)
		return;
	lock_doorbells(&old);
	while (*link != d)
		link = &(*link)->next;
	*link = d->next;
	d->ending = true;
	syscall(SYS_write, d->stop_fd, &one, sizeof(one));
	unlock_doorbells(&old);
	pthread_join(d->watcher, NULL);
	close_fd(&d->uffd); /* ends all protections */
	close_fd(&d->stop_fd);
}

bool emu_doorbells_checked(const struct engine *e)
{
	return e->doorbells.checked && e->doorbells.change == e->scan.change;
}

void emu_doorbells_check(struct engine *e)
{
	struct emu_doorbells *d = &e->doorbells;
	int err = emu_doorbell_records_are_exclusive(e, &d->exclusive);

	d->checked = true;
	d->change = e->scan.change;
	if (err)
		report(d, EMU_DOORBELLS_NO_PROC, err);
	else
		report(d, d->exclusive ? EMU_DOORBELLS_UFFD : EMU_DOORBELLS_SHARED, 0);
}

bool emu_doorbells_arm(struct engine *e)
{
	struct emu_doorbells *d = &e->doorbells;
	int err = EAGAIN, i;

	if (!atomic_load(&d->usable) || !d->exclusive)
		return false;
	pthread_mutex_lock(&lock);
	for (i = 0; err == EAGAIN && i < ATTEMPTS; i++)
		err = d->uffd < 0 ? EBADF : protect_pages(d);
	if (!err) {
		d->failures = 0;
		atomic_store(&d->armed, true); /* doorbell.pml: arm_store */
	} else if (d->uffd >= 0 && (err != EAGAIN || ++d->failures >= MAX_FAILURES)) {
		give_up(d, EMU_DOORBELLS_NO_UFFD, err);
	}
	pthread_mutex_unlock(&lock);
	return !err;
}

/* --- for the shim ----------------------------------------------------------------------------- */

void emu_doorbells_mapped(void)
{
	sigset_t old;

	lock_doorbells(&old);
	for (struct emu_doorbells *d = all; d; d = d->next) {
		d->known = false; /* doorbell.pml: map_forget */
		atomic_store(&d->armed, false);
		wake(d);
	}
	unlock_doorbells(&old);
}

void emu_doorbells_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	all = NULL;
}
