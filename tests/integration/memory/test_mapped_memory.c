/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Exported memory that the importer's emulated device maps: what is mapped, how long, and that copies
 * behave as through the kernel. This process exports, and its peer imports.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "fixture.h"
#include "peer.h"

#define PAGE	   ((size_t)4096)
#define LEN	   (16 * PAGE)
#define HUGE_PAGE  ((size_t)2 << 20)
#define ROUNDS	   10
#define LARGE	   ((size_t)3 << 30)
#define MAP_LIMIT  ((size_t)16 << 30) /* of one process, in 64 bits */
#define PATIENCE_S 30

/* Memory of one kind, and the file behind it as /proc/PID/maps shows it. */
struct memory {
	uint8_t *bytes;
	size_t len;
	int fd;
	ino_t ino;
	const char *name;
};

static uint8_t got[SHARER_BOUNCE_LEN], sent[SHARER_BOUNCE_LEN];

/* --- kinds of memory -------------------------------------------------------------------------- */

static bool map_file(struct memory *m, int fd, int flags)
{
	struct stat st;

	m->fd = fd;
	if (fd < 0 || ftruncate(fd, (off_t)m->len) || fstat(fd, &st))
		return false;
	m->ino = st.st_ino;
	m->bytes = mmap(NULL, m->len, PROT_READ | PROT_WRITE, flags, fd, 0);
	return m->bytes != MAP_FAILED;
}

static bool make_memfd(struct memory *m)
{
	m->name = "/memfd:mapped";
	return map_file(m, memfd_create("mapped", MFD_CLOEXEC), MAP_SHARED);
}

static bool make_private_memfd(struct memory *m)
{
	m->name = "/memfd:mapped";
	return map_file(m, memfd_create("mapped", MFD_CLOEXEC), MAP_PRIVATE);
}

/* A name of this process alone: the same test runs beside this one on another card. */
static const char *own_name(void)
{
	static char name[64];

	snprintf(name, sizeof(name), "/dpumap-mapped-%d", (int)getpid());
	return name;
}

static bool make_posix(struct memory *m)
{
	bool ok;

	m->name = own_name();
	ok = map_file(m, shm_open(m->name, O_RDWR | O_CREAT | O_EXCL, 0600), MAP_SHARED);
	shm_unlink(m->name);
	return ok;
}

/* Only its path leads to the file: no descriptor is open. */
static bool make_named(struct memory *m)
{
	m->name = own_name();
	if (!map_file(m, shm_open(m->name, O_RDWR | O_CREAT | O_EXCL, 0600), MAP_SHARED))
		return false;
	close(m->fd);
	m->fd = -1;
	return true;
}

static bool make_sysv(struct memory *m)
{
	int id = shmget(IPC_PRIVATE, m->len, IPC_CREAT | 0600);

	m->name = "/SYSV";
	m->fd = -1;
	if (id < 0)
		return false;
	m->ino = (ino_t)id;
	m->bytes = shmat(id, NULL, 0);
	shmctl(id, IPC_RMID, NULL);
	return m->bytes != (void *)-1;
}

static bool make_anonymous(struct memory *m)
{
	m->name = "/dev/zero";
	m->fd = -1;
	m->bytes = mmap(NULL, m->len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return m->bytes != MAP_FAILED;
}

static bool make_huge(struct memory *m)
{
	m->name = "/memfd:mapped";
	m->len = HUGE_PAGE;
	return map_file(m, memfd_create("mapped", MFD_CLOEXEC | MFD_HUGETLB), MAP_SHARED);
}

static void unmake(struct memory *m)
{
	if (m->name && strcmp(m->name, "/SYSV") == 0)
		shmdt(m->bytes);
	else
		munmap(m->bytes, m->len);
	if (m->fd >= 0)
		close(m->fd);
}

static struct memory memory_of(bool (*make)(struct memory *m))
{
	struct memory m = {.len = LEN, .fd = -1};

	assert_true(make(&m));
	fixture_fill(m.bytes, m.len, 5);
	return m;
}

/* --- what the importer has mapped ------------------------------------------------------------- */

struct mapped {
	size_t bytes;
	unsigned int count;
	char perm[5];
};

static struct mapped mapped_by(pid_t pid, const struct memory *m)
{
	struct mapped found = {0};
	unsigned long from, to, ino;
	char path[64], line[512], perm[5];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		if (!strstr(line, m->name) ||
		    sscanf(line, "%lx-%lx %4s %*x %*s %lu", &from, &to, perm, &ino) != 4 ||
		    (m->ino && ino != m->ino))
			continue;
		found.bytes += to - from;
		found.count++;
		memcpy(found.perm, perm, sizeof(perm));
	}
	fclose(maps);
	return found;
}

static size_t bytes_mapped(const struct memory *m)
{
	return mapped_by(peer.pid, m).bytes;
}

/* Do forked children and core dumps go without the mapping? */
static bool is_confined(const struct memory *m)
{
	char path[64], line[512], perm[5];
	bool here = false, confined = false;
	FILE *smaps;

	snprintf(path, sizeof(path), "/proc/%d/smaps", (int)peer.pid);
	smaps = fopen(path, "re");
	assert_non_null(smaps);
	while (fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%*x-%*x %4s", perm) == 1)
			here = strstr(line, m->name);
		else if (here && strncmp(line, "VmFlags:", 8) == 0)
			confined = strstr(line, " dc") && strstr(line, " dd");
	}
	fclose(smaps);
	return confined;
}

/* --- exports ---------------------------------------------------------------------------------- */

static struct doca_mmap *export_range(uint8_t *bytes, size_t len, uint32_t access,
				      struct descriptor *desc)
{
	struct doca_mmap *map;
	const void *blob;

	assert_ok(doca_mmap_create(&map));
	assert_ok(doca_mmap_set_memrange(map, bytes, len));
	assert_ok(doca_mmap_set_permissions(map, access));
	assert_ok(doca_mmap_add_dev(map, parent.fixture.dev));
	assert_ok(doca_mmap_start(map));
	assert_ok(doca_mmap_export_pci(map, parent.fixture.dev, &blob, &desc->len));
	assert_true(desc->len <= sizeof(desc->bytes));
	memcpy(desc->bytes, blob, desc->len);
	return map;
}

/* Export all of it to the peer, as its map 0, which it reads once. */
static struct doca_mmap *share(const struct memory *m, uint32_t access)
{
	struct descriptor desc;
	struct doca_mmap *map = export_range(m->bytes, m->len, access, &desc);

	assert_ok(peer_import(&peer, 0, &desc));
	assert_ok(peer_read(&peer, 0, 0, got, 64));
	assert_memory_equal(got, m->bytes, 64);
	return map;
}

static void end_share(struct doca_mmap *map, struct memory *m)
{
	assert_ok(peer_drop(&peer, 0));
	assert_ok(doca_mmap_destroy(map));
	unmake(m);
}

static const struct {
	size_t offset, len;
} pieces[] = {
	{0, LEN},	   {0, 1}, {1, 1}, {LEN - 1, 1}, {PAGE - 1, 2}, {3, 2 * PAGE - 1}, {64, 64},
	{LEN - PAGE, PAGE}};

static void read_and_write_pieces(const struct memory *m)
{
	fixture_fill(sent, LEN, 5);
	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
		size_t at = pieces[i].offset, len = pieces[i].len;

		assert_ok(peer_read(&peer, 0, at, got, len));
		assert_memory_equal(got, sent + at, len);
		fixture_fill(sent + at, len, (uint32_t)(100 + i));
		assert_ok(peer_write(&peer, 0, at, sent + at, len));
		assert_memory_equal(m->bytes, sent, LEN);
	}
}

/* Mapped as a whole; once the map has stopped, nothing of it is mapped. */
static void kind_is_mapped(bool (*make)(struct memory *m))
{
	struct memory m = memory_of(make);
	struct doca_mmap *map = share(&m, LOCAL_RW | PCI_RW);

	assert_int_equal(bytes_mapped(&m), m.len);
	assert_string_equal(mapped_by(peer.pid, &m).perm, "rw-s");
	assert_true(is_confined(&m));
	read_and_write_pieces(&m);
	assert_int_equal(mapped_by(peer.pid, &m).count, 1);
	assert_ok(doca_mmap_stop(map));
	assert_int_equal(bytes_mapped(&m), 0);
	assert_error(peer_read(&peer, 0, 0, got, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(bytes_mapped(&m), 0);
	end_share(map, &m);
}

static void memfd_is_mapped(void **state)
{
	kind_is_mapped(make_memfd);
}

static void posix_memory_is_mapped(void **state)
{
	kind_is_mapped(make_posix);
}

static void file_without_descriptor_is_mapped(void **state)
{
	kind_is_mapped(make_named);
	shm_unlink(own_name());
}

/* Without a path and a descriptor, the emulator needs a capability to open the memory. */
static void memory_without_file_is_mapped(void **state)
{
	if (access("/proc/self/map_files", X_OK) || geteuid() != 0)
		test_lacks("the right to open other processes' mappings");
	kind_is_mapped(make_sysv);
	kind_is_mapped(make_anonymous);
}

static void huge_pages_are_mapped(void **state)
{
	struct memory m = {.len = LEN};
	struct doca_mmap *map;

	if (!make_huge(&m)) {
		if (m.fd >= 0)
			close(m.fd);
		test_lacks("free huge pages of 2 MiB");
	}
	fixture_fill(m.bytes, m.len, 5);
	map = share(&m, LOCAL_RW | PCI_RW);
	assert_int_equal(bytes_mapped(&m), m.len);
	assert_ok(doca_mmap_stop(map));
	assert_int_equal(bytes_mapped(&m), 0);
	end_share(map, &m);
}

/* --- what is not mapped ----------------------------------------------------------------------- */

/* Copies of private memory give the same, through the kernel. */
static void private_memory_is_not_mapped(void **state)
{
	struct memory m = memory_of(make_private_memfd);
	struct doca_mmap *map = share(&m, LOCAL_RW | PCI_RW);

	read_and_write_pieces(&m);
	assert_int_equal(bytes_mapped(&m), 0);
	end_share(map, &m);
}

static void only_the_exported_pages_are_mapped(void **state)
{
	static const size_t first = 2 * PAGE + 100, len = 2 * PAGE;
	struct memory m = memory_of(make_memfd);
	struct descriptor desc;
	struct doca_mmap *map = export_range(m.bytes + first, len, LOCAL_RW | PCI_RW, &desc);

	assert_ok(peer_import(&peer, 0, &desc));
	assert_ok(peer_read(&peer, 0, 0, got, len));
	assert_memory_equal(got, m.bytes + first, len);
	assert_int_equal(bytes_mapped(&m), 3 * PAGE);
	end_share(map, &m);
}

static void read_only_export_is_mapped_read_only(void **state)
{
	struct memory m = memory_of(make_memfd);
	struct doca_mmap *map = share(&m, LOCAL_RW | PCI_RO);

	assert_int_equal(bytes_mapped(&m), m.len);
	assert_string_equal(mapped_by(peer.pid, &m).perm, "r--s");
	assert_error(peer_write(&peer, 0, 0, sent, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(peer_read(&peer, 0, 0, got, LEN));
	assert_memory_equal(got, m.bytes, LEN);
	end_share(map, &m);
}

/* --- memory that changes below an export ------------------------------------------------------ */

static void truncated_memory_is_an_error(void **state)
{
	struct memory m = memory_of(make_memfd);
	struct doca_mmap *map = share(&m, LOCAL_RW | PCI_RW);

	assert_ok(peer_read(&peer, 0, 0, got, LEN));
	assert_int_equal(ftruncate(m.fd, (off_t)(LEN / 2)), 0);
	assert_ok(peer_read(&peer, 0, 0, got, LEN / 2));
	assert_true(peer_read(&peer, 0, LEN / 2 - 64, got, 128) != DOCA_SUCCESS);
	assert_true(peer_write(&peer, 0, LEN / 2, sent, 64) != DOCA_SUCCESS);
	assert_int_equal(ftruncate(m.fd, (off_t)LEN), 0);
	assert_ok(peer_write(&peer, 0, LEN / 2, sent, 64));
	assert_memory_equal(m.bytes + LEN / 2, sent, 64);
	end_share(map, &m);
}

/* As with a device that has the pages pinned. */
static void memory_that_its_owner_unmapped_stays_registered(void **state)
{
	struct memory m = memory_of(make_memfd);
	struct doca_mmap *map = share(&m, LOCAL_RW | PCI_RW);

	if (!m.bytes) {
		fail_msg("no memory");
		return;
	}
	memcpy(sent, m.bytes, LEN);
	assert_int_equal(munmap(m.bytes, LEN), 0);
	assert_ok(peer_read(&peer, 0, 0, got, LEN));
	assert_memory_equal(got, sent, LEN);
	m.bytes = mmap(m.bytes, LEN, PROT_READ, MAP_SHARED | MAP_FIXED_NOREPLACE, m.fd, 0);
	end_share(map, &m);
}

/* --- while copies run ------------------------------------------------------------------------- */

static void *read_until_error(void *arg)
{
	const uint64_t deadline = monotonic_ms() + PATIENCE_S * 1000;
	doca_error_t *result = arg;

	do {
		*result = peer_read(&peer, 0, 0, got, sizeof(got));
	} while (*result == DOCA_SUCCESS && monotonic_ms() < deadline);
	return NULL;
}

static struct memory large_memory(void)
{
	struct memory m = {.len = SHARER_BOUNCE_LEN};

	assert_true(make_memfd(&m));
	fixture_fill(m.bytes, m.len, 5);
	return m;
}

static void pause_ms(unsigned int ms)
{
	usleep(ms * 1000);
}

static void stopping_ends_copies(void **state)
{
	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct memory m = large_memory();
		struct doca_mmap *map = share(&m, LOCAL_RW | PCI_RW);
		doca_error_t result = DOCA_SUCCESS;
		pthread_t reader;

		assert_int_equal(pthread_create(&reader, NULL, read_until_error, &result), 0);
		pause_ms(i);
		assert_ok(doca_mmap_stop(map));
		assert_int_equal(bytes_mapped(&m), 0);
		pthread_join(reader, NULL);
		assert_error(result, DOCA_ERROR_NOT_PERMITTED);
		assert_int_equal(bytes_mapped(&m), 0);
		end_share(map, &m);
	}
}

static void truncation_ends_copies(void **state)
{
	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct memory m = large_memory();
		struct doca_mmap *map = share(&m, LOCAL_RW | PCI_RW);
		doca_error_t result = DOCA_SUCCESS;
		pthread_t reader;

		assert_int_equal(pthread_create(&reader, NULL, read_until_error, &result), 0);
		pause_ms(i);
		assert_int_equal(ftruncate(m.fd, (off_t)PAGE), 0);
		pthread_join(reader, NULL);
		assert_true(result != DOCA_SUCCESS);
		assert_ok(peer_read(&peer, 0, 0, got, PAGE));
		end_share(map, &m);
	}
}

/* --- processes that end or stop --------------------------------------------------------------- */

static void killed_importer_does_not_delay_the_exporter(void **state)
{
	struct memory m = memory_of(make_memfd);
	struct doca_mmap *map = share(&m, LOCAL_RW | PCI_RW);

	assert_true(process_kill(&peer));
	assert_ok(doca_mmap_stop(map));
	assert_ok(doca_mmap_destroy(map));
	unmake(&m);
	assert_true(peer_start(&peer));
	m = memory_of(make_memfd);
	map = share(&m, LOCAL_RW | PCI_RW);
	assert_int_equal(bytes_mapped(&m), LEN);
	end_share(map, &m);
}

/* A stopped process unmaps the memory before it copies again. */
static void stopped_importer_does_not_block_the_exporter(void **state)
{
	struct memory m = memory_of(make_memfd);
	struct doca_mmap *map = share(&m, LOCAL_RW | PCI_RW);

	assert_int_equal(kill(peer.pid, SIGSTOP), 0);
	assert_ok(doca_mmap_stop(map));
	assert_int_equal(kill(peer.pid, SIGCONT), 0);
	assert_error(peer_read(&peer, 0, 0, got, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(bytes_mapped(&m), 0);
	end_share(map, &m);
}

/* --- many ------------------------------------------------------------------------------------- */

static void mappings_make_room_for_others(void **state)
{
	struct doca_mmap *mmaps[SHARER_MAPS];
	struct memory m[SHARER_MAPS] = {{0}};
	struct descriptor desc;
	size_t sum = 0;

	if (sizeof(void *) < 8)
		test_lacks("addresses of 64 bits");
	for (uint32_t i = 0; i < SHARER_MAPS; i++) {
		m[i].len = LARGE;
		assert_true(make_memfd(&m[i]));
		fixture_fill(m[i].bytes + LARGE - 64, 64, i);
		mmaps[i] = export_range(m[i].bytes, LARGE, LOCAL_RW | PCI_RW, &desc);
		assert_ok(peer_import(&peer, i, &desc));
	}
	for (uint32_t i = 0; i < 3 * SHARER_MAPS; i++) {
		fixture_fill(sent, 64, i % SHARER_MAPS);
		assert_ok(peer_read(&peer, i % SHARER_MAPS, LARGE - 64, got, 64));
		assert_memory_equal(got, sent, 64);
	}
	for (uint32_t i = 0; i < SHARER_MAPS; i++)
		sum += bytes_mapped(&m[i]);
	assert_true(sum > 0 && sum <= MAP_LIMIT);
	for (uint32_t i = 0; i < SHARER_MAPS; i++) {
		assert_ok(doca_mmap_stop(mmaps[i]));
		assert_int_equal(bytes_mapped(&m[i]), 0);
		assert_ok(peer_drop(&peer, i));
		assert_ok(doca_mmap_destroy(mmaps[i]));
		unmake(&m[i]);
	}
}

#define mapped_test(function) cmocka_unit_test_setup_teardown(function, peer_setup, peer_teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		mapped_test(memfd_is_mapped),
		mapped_test(posix_memory_is_mapped),
		mapped_test(file_without_descriptor_is_mapped),
		mapped_test(memory_without_file_is_mapped),
		mapped_test(huge_pages_are_mapped),
		mapped_test(private_memory_is_not_mapped),
		mapped_test(only_the_exported_pages_are_mapped),
		mapped_test(read_only_export_is_mapped_read_only),
		mapped_test(truncated_memory_is_an_error),
		mapped_test(memory_that_its_owner_unmapped_stays_registered),
		mapped_test(stopping_ends_copies),
		mapped_test(truncation_ends_copies),
		mapped_test(killed_importer_does_not_delay_the_exporter),
		mapped_test(stopped_importer_does_not_block_the_exporter),
		mapped_test(mappings_make_room_for_others),
	};

	test_parse_options(argc, argv);
	if (test_options.is_peer)
		return peer_serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
