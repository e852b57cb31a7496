/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Memory that is a file: the DMA engine with dma-bufs, for which memfds are used. */
#include "engine_pair.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_SIZE (32u << 10)
#define START	  0x10000u /* of the files' mkeys */
#define OFFSET	  4096u	   /* in the file, of START */
#define LEN	  (FILE_SIZE - OFFSET)

static int make_file(void)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, FILE_SIZE), 0);
	return fd;
}

/* As the server creates one: it keeps `fd` open. */
static uint32_t file_key(uint16_t func, uint32_t pdn, uint32_t rights, int fd)
{
	struct emu_mkey m = {.mode = EMU_MKEY_FILE, .func = func, .pdn = pdn, .rights = rights};
	static uint32_t last_id;
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	m.start = START;
	m.len = LEN;
	m.u.file.offset = OFFSET;
	m.u.file.ino = st.st_ino;
	m.u.file.pid = getpid();
	m.u.file.fd = fd;
	m.u.file.id = ++last_id;
	return fixture_mkey(&m);
}

static uint32_t key_of(int fd)
{
	return file_key(FUNC_A, PD_A, FIXTURE_ALL, fd);
}

/* Check the bytes [at, at + len) of an mkey's range. */
static void assert_file(int fd, uint64_t at, const uint8_t *bytes, size_t len)
{
	uint8_t *seen = malloc(len);

	assert_non_null(seen);
	assert_int_equal(pread(fd, seen, len, (off_t)(OFFSET + at)), len);
	assert_memory_equal(seen, bytes, len);
	free(seen);
}

static void a_file_is_target_and_source_of_copies(void **state)
{
	struct pair *p = *state;
	int fd = make_file();
	uint32_t key = key_of(fd);
	const uint8_t zero[2] = {0};

	post_mmo(p, &p->a, sge(p->mem_a + 3, 5000, p->key_a), sge(at(START + 1), 5000, key));
	fixture_expect(&p->cq_a, 0);
	assert_file(fd, 1, p->mem_a + 3, 5000);
	assert_file(fd, 0, zero, 1);
	assert_file(fd, 5001, zero, 1);
	post_mmo(p, &p->a, sge(at(START + 2), 4000, key), sge(p->mem_a + 20000, 4000, p->key_a));
	fixture_expect(&p->cq_a, 0);
	assert_memory_equal(p->mem_a + 20000, p->mem_a + 4, 4000);
	post_mmo(p, &p->a, sge(at(START + LEN - 8), 8, key), sge(at(START), 8, key));
	fixture_expect(&p->cq_a, 0);
	close(fd);
}

static void files_are_copied_to_device_memory_and_files(void **state)
{
	struct pair *p = *state;
	uint32_t dm = dm_key(FUNC_A, PD_A, EMU_DM_STRIDE, 8192);
	int one = make_file();
	int two = make_file();
	uint32_t key_one = key_of(one);
	uint32_t key_two = key_of(two);

	assert_int_equal(pwrite(one, p->mem_a, 6000, OFFSET), 6000);
	post_mmo(p, &p->a, sge(at(START), 6000, key_one), sge(at(0), 6000, dm));
	fixture_expect(&p->cq_a, 0);
	assert_memory_equal(fixture_dm + EMU_DM_STRIDE, p->mem_a, 6000);
	post_mmo(p, &p->a, sge(at(10), 3000, dm), sge(at(START + 5), 3000, key_two));
	fixture_expect(&p->cq_a, 0);
	assert_file(two, 5, p->mem_a + 10, 3000);
	post_mmo(p, &p->a, sge(at(START + 1), 5000, key_one), sge(at(START + 9), 5000, key_two));
	fixture_expect(&p->cq_a, 0);
	assert_file(two, 9, p->mem_a + 1, 5000);
	close(one);
	close(two);
}

static void rdma_and_send_reach_a_file(void **state)
{
	struct pair *p = *state;
	int fd = make_file();
	uint32_t key = file_key(FUNC_B, PD_B, FIXTURE_ALL, fd);

	post_rdma(&p->a, EMU_WQE_RDMA_WRITE, sge(p->mem_a, 9000, p->key_a), at(START), key);
	fixture_expect(&p->cq_a, 0);
	assert_file(fd, 0, p->mem_a, 9000);
	post_rdma(&p->a, EMU_WQE_RDMA_READ, sge(p->mem_a + 20000, 8000, p->key_a), at(START + 1),
		  key);
	fixture_expect(&p->cq_a, 0);
	assert_memory_equal(p->mem_a + 20000, p->mem_a + 1, 8000);
	fixture_recv(&p->b, &(struct fixture_sge){at(START), 300, key}, 1);
	post_send(&p->a, sge(p->mem_a + 77, 300, p->key_a));
	fixture_expect(&p->cq_b, 0);
	fixture_expect(&p->cq_a, 0);
	assert_file(fd, 0, p->mem_a + 77, 300);
	close(fd);
}

static void lists_and_aliases_reach_a_file(void **state)
{
	struct pair *p = *state;
	int fd = make_file();
	uint32_t key = file_key(FUNC_B, PD_B, FIXTURE_ALL, fd);
	struct emu_klm ksm[2] = {{0, key, START + 8192}, {0, key, START}};
	uint32_t list = fixture_mkey_list(FUNC_B, PD_B, 0, 8192, 12, ksm, 2);
	uint32_t alias = fixture_mkey_alias(FUNC_A, PD_A, list);
	uint32_t direct = fixture_mkey_alias(FUNC_A, PD_A, key);

	post_mmo(p, &p->a, sge(p->mem_a, 8192, p->key_a), sge(at(0), 8192, alias));
	fixture_expect(&p->cq_a, 0);
	assert_file(fd, 8192, p->mem_a, 4096);
	assert_file(fd, 0, p->mem_a + 4096, 4096);
	post_mmo(p, &p->a, sge(at(START + 1), 4000, direct), sge(p->mem_a, 4000, p->key_a));
	fixture_expect(&p->cq_a, 0);
	assert_file(fd, 1, p->mem_a, 4000);
	fixture_mkey_retire(key);
	refuse_mmo(p, sge(at(0), 64, alias), sge(p->mem_a, 64, p->key_a), EMU_SYN_LOC_PROT);
	refuse_mmo(p, sge(at(START), 64, direct), sge(p->mem_a, 64, p->key_a), EMU_SYN_LOC_PROT);
	close(fd);
}

static void access_outside_of_rights_or_range_is_refused(void **state)
{
	struct pair *p = *state;
	struct fixture_sge own = {p->mem_a, 64, p->key_a};
	int fd = make_file();
	uint32_t read_only = file_key(FUNC_A, PD_A, EMU_LR | EMU_RR, fd);
	uint32_t theirs = file_key(FUNC_B, PD_B, EMU_LR | EMU_RR, fd);
	uint32_t key = key_of(fd);

	refuse_mmo(p, own, sge(at(START), 64, read_only), EMU_SYN_LOC_PROT);
	refuse_mmo(p, own, sge(at(START - 1), 64, key), EMU_SYN_LOC_PROT);
	refuse_mmo(p, own, sge(at(START + LEN - 63), 64, key), EMU_SYN_LOC_PROT);
	refuse_mmo(p, sge(at(0), 64, key), own, EMU_SYN_LOC_PROT);
	refuse_remote(p, EMU_WQE_RDMA_WRITE, at(START), 64, theirs, EMU_SYN_REM_ACCESS);
	post_mmo(p, &p->a, sge(at(START), 64, read_only), own);
	fixture_expect(&p->cq_a, 0);
	close(fd);
}

/* An error on both ends; and writing does not extend the file. */
static void access_beyond_a_truncated_file_is_refused(void **state)
{
	struct pair *p = *state;
	struct fixture_sge own = {p->mem_a, 8192, p->key_a};
	int fd = make_file();
	uint32_t key = key_of(fd);
	uint32_t theirs = file_key(FUNC_B, PD_B, FIXTURE_ALL, fd);
	struct stat st;

	post_mmo(p, &p->a, own, sge(at(START), 8192, key));
	fixture_expect(&p->cq_a, 0);
	assert_int_equal(ftruncate(fd, OFFSET + 4096), 0);
	refuse_mmo(p, sge(at(START), 8192, key), own, EMU_SYN_LOC_PROT);
	refuse_mmo(p, own, sge(at(START), 8192, key), EMU_SYN_LOC_PROT);
	refuse_remote(p, EMU_WQE_RDMA_READ, at(START), 8192, theirs, EMU_SYN_REM_ACCESS);
	refuse_remote(p, EMU_WQE_RDMA_WRITE, at(START), 8192, theirs, EMU_SYN_REM_ACCESS);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, OFFSET + 4096);
	post_mmo(p, &p->a, sge(p->mem_a, 4096, p->key_a), sge(at(START), 4096, key));
	fixture_expect(&p->cq_a, 0);
	close(fd);
}

/* If the program made its memory inaccessible, the error is that of the memory, not of the file. */
static void inaccessible_memory_fails_alone_and_not_the_file(void **state)
{
	struct pair *p = *state;
	uint8_t *hidden = fixture_alloc(4096);
	uint32_t own = fixture_mkey_mem(FUNC_A, PD_A, FIXTURE_ALL, hidden, 4096);
	int fd = make_file();
	uint32_t key = key_of(fd);
	uint32_t theirs = file_key(FUNC_B, PD_B, FIXTURE_ALL, fd);

	mprotect(hidden, 4096, PROT_NONE);
	refuse_mmo(p, sge(hidden, 4096, own), sge(at(START), 4096, key), EMU_SYN_LOC_PROT);
	refuse_mmo(p, sge(at(START), 4096, key), sge(hidden, 4096, own), EMU_SYN_LOC_PROT);
	post_rdma(&p->a, EMU_WQE_RDMA_WRITE, sge(hidden, 4096, own), at(START), theirs);
	fixture_expect(&p->cq_a, EMU_SYN_LOC_PROT);
	expect_state(&p->b, EMU_QPS_RTS);
	munmap(hidden, 4096);
	close(fd);
}

static void a_file_sealed_against_writing_is_only_read(void **state)
{
	struct pair *p = *state;
	struct fixture_sge own = {p->mem_a, 64, p->key_a};
	int fd = make_file();
	uint32_t key = key_of(fd);

	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
	refuse_mmo(p, own, sge(at(START), 64, key), EMU_SYN_LOC_PROT);
	post_mmo(p, &p->a, sge(at(START), 64, key), own);
	fixture_expect(&p->cq_a, 0);
	close(fd);
}

static void atomics_want_a_file_that_cannot_shrink(void **state)
{
	struct pair *p = *state;
	struct fixture_sge old = {p->mem_a, 8, p->key_a};
	int fd = make_file();
	uint32_t key = file_key(FUNC_B, PD_B, FIXTURE_ALL, fd);
	uint64_t cell = 40;

	assert_int_equal(pwrite(fd, &cell, 8, OFFSET + 16), 8);
	post_atomic(&p->a, EMU_WQE_ATOMIC_FA, old, at(START + 16), key, 2, 0);
	fixture_expect(&p->cq_a, EMU_SYN_REM_OP);
	expect_event(&p->b, EMU_EVENT_QP_REQ_ERR);
	fixture_qp_reset(&p->a);
	fixture_qp_reset(&p->b);
	fixture_qp_connect(&p->a, &p->b);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	post_atomic(&p->a, EMU_WQE_ATOMIC_FA, old, at(START + 16), key, 2, 0);
	fixture_expect(&p->cq_a, 0);
	assert_memory_equal(p->mem_a, &cell, 8);
	cell += 2;
	assert_file(fd, 16, (const uint8_t *)&cell, 8);
	post_atomic(&p->a, EMU_WQE_ATOMIC_CS, old, at(START + 8192), key, 7, 0);
	fixture_expect(&p->cq_a, 0);
	cell = 7;
	assert_file(fd, 8192, (const uint8_t *)&cell, 8);
	close(fd);
}

/* The descriptors of this process, except `mine`, of the same file. */
static unsigned int others_of(int mine, int *last)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *d;
	unsigned int n = 0;
	struct stat want;
	struct stat st;

	assert_non_null(dir);
	assert_int_equal(fstat(mine, &want), 0);
	while ((d = readdir(dir))) { // NOLINT(concurrency-mt-unsafe)
		int fd = (int)strtol(d->d_name, NULL, 10);

		if (d->d_name[0] == '.' || fd == mine || fd == dirfd(dir) || fstat(fd, &st) ||
		    st.st_ino != want.st_ino || st.st_dev != want.st_dev)
			continue;
		*last = fd;
		n++;
	}
	closedir(dir);
	return n;
}

static void files_are_closed_with_their_mkeys(void **state)
{
	struct pair *p = *state;
	int fd = make_file();
	uint32_t key = key_of(fd);
	int other;

	post_mmo(p, &p->a, sge(p->mem_a, 64, p->key_a), sge(at(START), 64, key));
	fixture_expect(&p->cq_a, 0);
	assert_int_equal(others_of(fd, &other), 1);
	fixture_mkey_retire(key);
	fixture_passes(p->slot_a);
	assert_int_equal(others_of(fd, &other), 0);
	close(fd);
}

/* Programs close descriptors that they do not know, and other files reuse the numbers. */
static void a_descriptor_that_the_program_closed_is_opened_again(void **state)
{
	struct pair *p = *state;
	int fd = make_file();
	int stranger = make_file();
	uint32_t key = key_of(fd);
	const uint8_t zero[64] = {0};
	int engines = -1;
	int unused;

	post_mmo(p, &p->a, sge(p->mem_a, 64, p->key_a), sge(at(START), 64, key));
	fixture_expect(&p->cq_a, 0);
	assert_int_equal(others_of(fd, &engines), 1);
	assert_int_equal(dup2(stranger, engines), engines);
	post_mmo(p, &p->a, sge(p->mem_a + 99, 64, p->key_a), sge(at(START), 64, key));
	fixture_expect(&p->cq_a, 0);
	assert_file(fd, 0, p->mem_a + 99, 64);
	assert_file(stranger, 0, zero, 64);
	assert_int_equal(others_of(stranger, &unused), 1);
	close(engines);
	close(stranger);
	close(fd);
}

/* The server's number must refer to the registered file. */
static void mkey_of_another_file_is_refused(void **state)
{
	struct pair *p = *state;
	struct fixture_sge own = {p->mem_a, 64, p->key_a};
	int fd = make_file();
	int stranger = make_file();
	uint32_t key = key_of(fd);

	assert_int_equal(dup2(stranger, fd), fd);
	refuse_mmo(p, own, sge(at(START), 64, key), EMU_SYN_LOC_PROT);
	close(fd);
	refuse_mmo(p, sge(at(START), 64, key), own, EMU_SYN_LOC_PROT);
	close(stranger);
}

static void more_files_than_are_kept_open_can_be_used(void **state)
{
	struct pair *p = *state;
	uint32_t key[2 * ENGINE_FILES];
	int fd[2 * ENGINE_FILES];

	for (unsigned int i = 0; i < 2 * ENGINE_FILES; i++) {
		fd[i] = make_file();
		key[i] = key_of(fd[i]);
	}
	for (unsigned int i = 0; i < 6 * ENGINE_FILES; i++) {
		unsigned int k = i % (2 * ENGINE_FILES);

		post_mmo(p, &p->a, sge(p->mem_a + i, 64, p->key_a), sge(at(START), 64, key[k]));
		fixture_expect(&p->cq_a, 0);
		assert_file(fd[k], 0, p->mem_a + i, 64);
	}
	for (unsigned int i = 0; i < 2 * ENGINE_FILES; i++) {
		fixture_mkey_retire(key[i]);
		close(fd[i]);
	}
}

static void files_are_copied_to_memory_of_other_processes(void **state)
{
	struct pair *p = *state;
	struct emu_mkey m = {
		.mode = EMU_MKEY_MEM, .func = FUNC_A, .pdn = PD_A, .rights = FIXTURE_ALL};
	int fd = make_file();
	uint32_t key = key_of(fd);
	pid_t holder = fork();
	uint32_t theirs;

	assert_true(holder >= 0);
	if (!holder)
		for (;;)
			pause();
	m.start = (uintptr_t)p->mem_a;
	m.len = SIZE;
	m.u.mem.addr = m.start;
	m.u.mem.pid = holder;
	theirs = fixture_mkey(&m);
	post_mmo(p, &p->a, sge(p->mem_a + 500, 4096, theirs), sge(at(START), 4096, key));
	fixture_expect(&p->cq_a, 0);
	assert_file(fd, 0, p->mem_a + 500, 4096);
	memset(p->mem_a, 0, 4096);
	post_mmo(p, &p->a, sge(at(START), 4096, key), sge(p->mem_a + 8192, 4096, theirs));
	fixture_expect(&p->cq_a, 0);
	post_mmo(p, &p->a, sge(p->mem_a + 8192, 4096, theirs), sge(p->mem_a, 4096, p->key_a));
	fixture_expect(&p->cq_a, 0);
	assert_file(fd, 0, p->mem_a, 4096);
	kill(holder, SIGKILL);
	waitpid(holder, NULL, 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(a_file_is_target_and_source_of_copies),
		PAIR_TEST(files_are_copied_to_device_memory_and_files),
		PAIR_TEST(rdma_and_send_reach_a_file),
		PAIR_TEST(lists_and_aliases_reach_a_file),
		PAIR_TEST(access_outside_of_rights_or_range_is_refused),
		PAIR_TEST(access_beyond_a_truncated_file_is_refused),
		PAIR_TEST(inaccessible_memory_fails_alone_and_not_the_file),
		PAIR_TEST(a_file_sealed_against_writing_is_only_read),
		PAIR_TEST(atomics_want_a_file_that_cannot_shrink),
		PAIR_TEST(files_are_closed_with_their_mkeys),
		PAIR_TEST(a_descriptor_that_the_program_closed_is_opened_again),
		PAIR_TEST(mkey_of_another_file_is_refused),
		PAIR_TEST(more_files_than_are_kept_open_can_be_used),
		PAIR_TEST(files_are_copied_to_memory_of_other_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
