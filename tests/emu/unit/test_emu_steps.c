/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Orders of steps that the models of the emulator's protocols (emu, *.pml) exclude, and that the
 * scheduler hardly ever produces: here the test makes each step.
 */
#include "engine_pair.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/engine/memory/maps.h"
#include "emu/engine/notes.h"
#include "emu/engine/state.h"
#include "emu/ipc/grace.h"
#include "emu/server/card/process.h"
#include "emu/server/card/segments.h"

#define PAGE 4096u

struct emu_queues *emu_queues;

uint32_t emu_new_serial(void)
{
	static uint32_t last;

	return ++last;
}

int emu_watch_add(struct emu_watch *w)
{
	(void)w;
	return 0;
}

void emu_free_later(void *p)
{
	free(p);
}

static struct emu_engine *slot_of(uint32_t i)
{
	return &emu_queues->engine[i];
}

static int setup(void **state)
{
	emu_queues = calloc(1, sizeof(*emu_queues));
	return !emu_queues;
}

static int teardown(void **state)
{
	free(emu_queues);
	return 0;
}

static uint32_t create(pid_t pid)
{
	const struct emu_watch none = {0};
	struct emu_proc *p;

	assert_int_equal(emu_proc_create(pid, &none, &p), 0);
	return p->slot;
}

/* As when the socket of the process hangs up. */
static void hang_up(uint32_t slot)
{
	struct emu_proc *p = emu_proc_by_slot(slot);

	atomic_store(&slot_of(slot)->serial, 0);
	close(p->notes.fd);
	close(p->client_end);
	emu_proc_remove(p);
}

/* A thread number that no process has. */
#define NO_THREAD 0x3fffffff

/* grace.pml, RESET_EPOCH: else the pass of the next engine may be one that nobody waits for. */
static void counts_of_a_slot_go_on(void **state)
{
	uint32_t slot = create(NO_THREAD);
	struct emu_engine *e = slot_of(slot);

	atomic_store(&e->tid, NO_THREAD);
	atomic_store(&e->epoch, 5); /* it ends within a pass, and with a request to unmap */
	atomic_store(&e->unmap, 3);
	atomic_store(&e->unmapped, 2);
	hang_up(slot);
	assert_int_equal(create(NO_THREAD - 1), slot);
	assert_int_equal(atomic_load(&e->epoch), 6);
	assert_int_equal(atomic_load(&e->unmapped), 3);
	assert_int_equal(atomic_load(&e->tid), 0);
	hang_up(slot);
}

/* grace.pml, SHARE_SLOT: the program has closed the socket, and the engine runs on. */
static void slot_of_a_running_engine_is_not_free(void **state)
{
	uint32_t slot = create(getpid()), other;

	atomic_store(&slot_of(slot)->tid, (int32_t)syscall(SYS_gettid));
	hang_up(slot);
	other = create(getpid());
	assert_int_not_equal(other, slot);
	hang_up(other);
}

static unsigned int asked;

static bool runs_at_first(const struct emu_engine *e)
{
	(void)e;
	return asked++ > 0;
}

/* grace.pml, IGNORE_CLOSED. */
static void engine_without_slot_is_waited_for(void **state)
{
	uint32_t gave_up_at[EMU_MAX_ENGINES] = {0};

	asked = 0;
	atomic_store(&slot_of(3)->epoch, 7);
	emu_grace_wait(emu_queues, gave_up_at, runs_at_first);
	assert_int_equal(asked, 2);
}

static uint32_t shared_region(struct emu_memory *mem, int *fd)
{
	static const uint64_t never;
	struct emu_mkey m = {.mode = EMU_MKEY_MEM, .rights = FIXTURE_ALL, .len = PAGE};
	struct stat st;
	uint32_t key;

	*fd = memfd_create("test", MFD_CLOEXEC);
	assert_true(*fd >= 0);
	assert_int_equal(ftruncate(*fd, PAGE), 0);
	assert_int_equal(fstat(*fd, &st), 0);
	m.u.mem.pid = getpid();
	m.u.mem.shared = 1;
	key = fixture_mkey(&m);
	fixture_tables->shared[1] = (struct emu_shared){st.st_ino, st.st_dev, getpid(), *fd, PAGE};
	mem->tables = fixture_tables;
	mem->queues = fixture_queues;
	mem->slot = &fixture_queues->engine[EMU_MAX_ENGINES - 1];
	mem->now = &never;
	mem->pid = 1; /* not ours: memory of another process */
	return key;
}

/* unmap.pml, NAME_FREE: the mkey ends after the engine has found it, and before it maps the memory. */
static void memory_of_a_retired_mkey_is_not_mapped(void **state)
{
	struct emu_memory *mem = calloc(1, sizeof(*mem));
	uint32_t key;
	int fd;

	assert_non_null(mem);
	key = shared_region(mem, &fd);
	assert_non_null(emu_maps_get(mem, key, fixture_mkey_entry(key)));
	emu_maps_close(mem);
	atomic_store(&fixture_mkey_entry(key)->serial, 0);
	assert_null(emu_maps_get(mem, key, fixture_mkey_entry(key)));
	assert_int_equal(mem->maps.count, 0);
	close(fd);
	free(mem);
}

/* notes.pml, DROP: as many events as all queues can have wait for room in the socket. */
static void no_event_is_lost_while_the_socket_is_full(void **state)
{
	const uint32_t n = EMU_MAX_QPS + EMU_MAX_CQS;
	struct engine *e = calloc(1, sizeof(*e));
	struct emu_note note = {.type = EMU_NOTE_QP};
	int pair[2];

	assert_non_null(e);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	e->cfg.notify_fd = pair[0];
	for (uint32_t i = 0; i < n; i++) {
		note.number = i;
		emu_engine_event(e, &note);
	}
	assert_int_not_equal(e->events.count, 0);
	for (uint32_t i = 0; i < n; i++) {
		if (recv(pair[1], &note, sizeof(note), MSG_DONTWAIT) != sizeof(note)) {
			emu_engine_send_events(e);
			assert_int_equal(recv(pair[1], &note, sizeof(note), MSG_DONTWAIT),
					 sizeof(note));
		}
		assert_int_equal(note.number, i);
	}
	close(pair[0]);
	close(pair[1]);
	free(e);
}

#define SLOT_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SLOT_TEST(counts_of_a_slot_go_on),
		SLOT_TEST(slot_of_a_running_engine_is_not_free),
		SLOT_TEST(engine_without_slot_is_waited_for),
		PAIR_TEST(memory_of_a_retired_mkey_is_not_mapped),
		cmocka_unit_test(no_event_is_lost_while_the_socket_is_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
