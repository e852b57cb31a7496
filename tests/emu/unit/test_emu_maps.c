/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The engine's mappings of other processes' memory. The regions name a process that has no memory at
 * their addresses: a copy that is not made through a mapping fails.
 */
#include "engine_pair.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/engine/memory/maps.h"
#include "emu/ipc/grace.h"
#include "emu/ipc/unmap.h"

#define START 0x7000000u /* of the regions, and in the other process */
#define PAGE  4096u
#define BYTES (16 * PAGE)

static pid_t owner;
static uint8_t *bytes; /* of the file */

static int start_owner(void **state)
{
	owner = fork();
	if (owner == 0) {
		munmap(emu_own(START), (size_t)EMU_MAX_SHARED * BYTES);
		for (;;)
			pause();
	}
	return owner < 0;
}

static int end_owner(void **state)
{
	kill(owner, SIGKILL);
	waitpid(owner, NULL, 0);
	return 0;
}

/* As the server opens one; `page` as its file system says. */
static uint32_t share_file(uint64_t page)
{
	static uint32_t last;
	struct emu_shared *s = &fixture_tables->shared[++last];
	struct stat st;
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, BYTES), 0);
	assert_int_equal(fstat(fd, &st), 0);
	bytes = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(bytes != MAP_FAILED);
	for (unsigned int i = 0; i < BYTES; i++)
		bytes[i] = (uint8_t)(i * 3 + i / 256);
	*s = (struct emu_shared){st.st_ino, st.st_dev, getpid(), fd, page};
	return last;
}

static uint32_t region(uint32_t rights, uint32_t shared, uint64_t offset, uint64_t len)
{
	struct emu_mkey m = {.mode = EMU_MKEY_MEM, .func = FUNC_A, .pdn = PD_A, .rights = rights};

	m.start = START;
	m.len = len;
	m.u.mem.addr = START;
	m.u.mem.pid = owner;
	m.u.mem.shared = shared;
	m.u.mem.offset = offset;
	return fixture_mkey(&m);
}

static uint32_t maps_of(const struct pair *p)
{
	return atomic_load(&fixture_queues->engine[p->slot_a].maps);
}

static void read_ok(struct pair *p, uint32_t key, uint64_t addr, uint32_t len, uint64_t offset)
{
	post_mmo(p, &p->a, sge(at(addr), len, key), sge(p->mem_a, len, p->key_a));
	fixture_expect(&p->cq_a, 0);
	assert_memory_equal(p->mem_a, bytes + offset, len);
}

static void read_fails(struct pair *p, uint32_t key, uint64_t addr, uint32_t len)
{
	refuse_mmo(p, sge(at(addr), len, key), sge(p->mem_a, len, p->key_a), EMU_SYN_LOC_PROT);
}

static void retire(uint32_t key)
{
	static uint32_t gave_up_at[EMU_MAX_ENGINES];

	fixture_mkey_retire(key);
	assert_int_equal(atomic_load(&fixture_queues->mapped[key >> 8]), 1);
	emu_unmap_wait(fixture_queues, gave_up_at, emu_engine_ended);
}

static void region_is_mapped_until_it_ends(void **state)
{
	struct pair *p = *state;
	uint32_t key = region(FIXTURE_ALL, share_file(PAGE), PAGE + 100, 3 * PAGE);

	assert_int_equal(maps_of(p), 0);
	read_ok(p, key, START, 3 * PAGE, PAGE + 100);
	assert_int_equal(maps_of(p), 1);
	read_ok(p, key, START + 3 * PAGE - 1, 1, 4 * PAGE + 99);
	post_mmo(p, &p->a, sge(p->mem_a + 7, 64, p->key_a), sge(at(START + 9), 64, key));
	fixture_expect(&p->cq_a, 0);
	assert_memory_equal(bytes + PAGE + 109, p->mem_a + 7, 64);
	assert_int_equal(maps_of(p), 1);
	retire(key);
	assert_int_equal(maps_of(p), 0);
	read_fails(p, key, START, 64);
}

static void list_is_mapped_where_the_region_is(void **state)
{
	struct pair *p = *state;
	uint32_t key = region(FIXTURE_ALL, share_file(PAGE), 0, 4 * PAGE);
	struct emu_klm ksm[2] = {{0, key, START + PAGE}, {0, key, START + 2 * PAGE}};
	uint32_t list = fixture_mkey_list(FUNC_A, PD_A, 0, 2 * PAGE, 12, ksm, 2);

	read_ok(p, list, 100, PAGE, PAGE + 100);
	assert_int_equal(maps_of(p), 1);
	read_fails(p, list, 2 * PAGE - 1, 2);
	retire(key);
	assert_int_equal(maps_of(p), 0);
}

static void other_file_is_not_mapped(void **state)
{
	struct pair *p = *state;
	uint32_t shared = share_file(PAGE);
	uint32_t key = region(FIXTURE_ALL, shared, 0, PAGE);

	fixture_tables->shared[shared].ino++;
	read_fails(p, key, START, 64);
	assert_int_equal(maps_of(p), 0);
}

/* Of large pages only whole ones. */
static void part_of_a_large_page_is_not_mapped(void **state)
{
	struct pair *p = *state;
	uint32_t key = region(FIXTURE_ALL, share_file(4 * PAGE), PAGE, 10 * PAGE);

	read_fails(p, key, START, 64);
	read_ok(p, key, START + 3 * PAGE, 4 * PAGE, 4 * PAGE);
	read_fails(p, key, START + 7 * PAGE - 1, 2);
}

/* More regions than there is room for: all can be read in turn, as the oldest are unmapped. */
static void mappings_make_room(void **state)
{
	enum { KEYS = ENGINE_MAPS + 64 };
	struct pair *p = *state;
	uint32_t shared = share_file(PAGE), *key = calloc(KEYS, sizeof(*key));
	unsigned int i;

	assert_non_null(key);
	for (i = 0; i < KEYS; i++)
		key[i] = region(FIXTURE_ALL, shared, (i % 16) * PAGE, PAGE);
	for (i = 0; i < ENGINE_MAPS; i++)
		read_ok(p, key[i], START, 64, (i % 16) * PAGE);
	assert_int_equal(maps_of(p), ENGINE_MAPS);
	for (; i < KEYS; i++) {
		usleep(2000);		   /* longer than the pause between two evictions */
		fixture_passes(p->slot_a); /* a pass that had begun knows only an earlier time */
		read_ok(p, key[i], START, 64, (i % 16) * PAGE);
	}
	assert_int_equal(maps_of(p), ENGINE_MAPS);
	free(key);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(region_is_mapped_until_it_ends),
		PAIR_TEST(list_is_mapped_where_the_region_is),
		PAIR_TEST(other_file_is_not_mapped),
		PAIR_TEST(part_of_a_large_page_is_not_mapped),
		PAIR_TEST(mappings_make_room),
	};

	return cmocka_run_group_tests(tests, start_owner, end_owner);
}
