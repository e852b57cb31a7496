/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* `here` exports memory of each kind, and `there` uses it by tasks. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dpumap/umem.h>

#include "peer.h"
#include "side.h"

#define LEN	  65536u
#define HUGE_LEN  ((size_t)2 << 20)
#define PART	  1000u
#define WRITTEN	  12288u /* offsets in the memory, in different pages */
#define WITH_IMM  20472u
#define COUNTER	  32768u
#define READ_ONLY ((uint32_t)(LOCAL_RW | DOCA_ACCESS_FLAG_RDMA_READ))

/* Memory of one kind. */
struct source {
	/* Create it, and a started map for it. */
	void (*create)(uint32_t access);
	/* Read it as its owner does. */
	void (*peek)(size_t offset, void *got, size_t len);
	void (*release)(void);
};

static const struct source *source;
static struct doca_mmap *map; /* of `here` */
static uint8_t *bytes;
static struct dpumap_dm *dm;
static struct dpumap_umem *umem;
static struct process owner;
static int memfd;
static bool is_reserved;

static void new_map(uint32_t access)
{
	assert_ok(doca_mmap_create(&map));
	assert_ok(doca_mmap_set_permissions(map, access));
	assert_ok(doca_mmap_add_dev(map, here.dev));
}

static void peek_bytes(size_t offset, void *got, size_t len)
{
	memcpy(got, bytes + offset, len);
}

/* --- huge pages, reserved or transparent ------------------------------------------------------ */

static void create_huge(uint32_t access)
{
	bytes = mmap(NULL, HUGE_LEN, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	is_reserved = bytes != MAP_FAILED;
	if (!is_reserved) {
		bytes = aligned_alloc(HUGE_LEN, HUGE_LEN);
		assert_non_null(bytes);
		if (madvise(bytes, HUGE_LEN, MADV_HUGEPAGE))
			print_message("no huge pages here: small ones\n");
	}
	new_map(access);
	assert_ok(doca_mmap_set_memrange(map, bytes, HUGE_LEN));
	assert_ok(doca_mmap_start(map));
}

static void release_huge(void)
{
	if (is_reserved)
		assert_int_equal(munmap(bytes, HUGE_LEN), 0);
	else
		free(bytes);
}

/* --- device memory ---------------------------------------------------------------------------- */

static void create_dm(uint32_t access)
{
	assert_ok(dpumap_dm_alloc(here.dev, LEN, 0, &dm));
	new_map(access);
	assert_ok(dpumap_mmap_set_dm_memrange(map, dm, 0, LEN));
	assert_ok(doca_mmap_start(map));
}

static void peek_dm(size_t offset, void *got, size_t len)
{
	assert_ok(dpumap_dm_read(dm, offset, got, len));
}

static void release_dm(void)
{
	assert_ok(dpumap_dm_free(dm));
}

/* --- a dma-buf, for which the emulated device accepts a memfd; for atomics, one that cannot shrink --- */

static void create_dmabuf(uint32_t access)
{
	memfd = memfd_create("dma-buf", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_true(memfd >= 0);
	assert_int_equal(ftruncate(memfd, LEN), 0);
	assert_int_equal(fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	bytes = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	assert_true(bytes != MAP_FAILED);
	new_map(access);
	assert_ok(doca_mmap_set_dmabuf_memrange(map, memfd, bytes, 0, LEN));
	assert_ok(doca_mmap_start(map));
}

static void release_dmabuf(void)
{
	assert_int_equal(munmap(bytes, LEN), 0);
	assert_int_equal(close(memfd), 0);
}

/* --- a umem ----------------------------------------------------------------------------------- */

static void create_umem(uint32_t access)
{
	bytes = aligned_alloc(4096, LEN);
	assert_non_null(bytes);
	assert_ok(dpumap_umem_register(here.dev, bytes, LEN, LOCAL_RW | RDMA_ALL, &umem));
	new_map(access);
	assert_ok(dpumap_mmap_set_umem_memrange(map, umem, 0, LEN));
	assert_ok(doca_mmap_start(map));
}

static void release_umem(void)
{
	assert_ok(dpumap_umem_deregister(umem));
	free(bytes);
}

/* --- memory of the other function of the card ------------------------------------------------- */

static void create_import(uint32_t access)
{
	const struct map_spec spec = {FROM_MEMORY, LEN, access | PCI_RW, 1};
	struct descriptor desc;

	assert_true(peer_start(&owner));
	assert_ok(peer_export(&owner, 0, &spec, &desc));
	assert_ok(doca_mmap_create_from_export(NULL, desc.bytes, desc.len, here.dev, &map));
}

static void peek_owner(size_t offset, void *got, size_t len)
{
	assert_ok(peer_peek(&owner, 0, offset, got, len));
}

static void release_import(void)
{
	assert_true(process_finish(&owner));
}

/* --- the tests -------------------------------------------------------------------------------- */

static void connect_anew(void)
{
	assert_ok(side_stop(&here));
	if (side_state(&there) != DOCA_CTX_STATE_IDLE)
		assert_ok(side_stop(&there));
	assert_ok(side_start(&here));
	assert_ok(side_start(&there));
	here.n_connections = there.n_connections = 0;
	assert_ok(side_connect());
}

/* From now on, the bufs of `there` for its peer are on this memory. */
static void open_source(uint32_t access)
{
	const void *blob;
	void *addr;
	size_t len;

	source->create(access);
	assert_ok(doca_mmap_export_rdma(map, here.dev, &blob, &len));
	if (there.peer)
		assert_ok(doca_mmap_destroy(there.peer));
	assert_ok(doca_mmap_create_from_export(NULL, blob, len, there.dev, &there.peer));
	assert_ok(doca_mmap_get_memrange(there.peer, &addr, &len));
	there.peer_bytes = addr;
}

static void close_source(void)
{
	while (there.n_bufs)
		side_drop(&there, there.bufs[0]);
	assert_ok(doca_mmap_destroy(there.peer));
	there.peer = NULL;
	assert_ok(doca_mmap_destroy(map));
	source->release();
}

static void assert_at(size_t offset, const void *wanted, size_t len)
{
	uint8_t got[PART];

	source->peek(offset, got, len);
	assert_memory_equal(got, wanted, len);
}

static void move_data(void)
{
	fixture_fill(there.bytes, 2 * PART, 7);
	side_ok(&there, .kind = SIDE_WRITE, .src = side_data(&there, 0, PART),
		.dst = side_peer_room(&there, WRITTEN, PART));
	assert_at(WRITTEN, there.bytes, PART);
	side_post(&here, .kind = SIDE_RECEIVE);
	side_ok(&there, .kind = SIDE_WRITE_IMM, .src = side_data(&there, PART, PART),
		.dst = side_peer_room(&there, WITH_IMM, PART), .imm = 1);
	assert_at(WITH_IMM, there.bytes + PART, PART);
	side_ok(&there, .kind = SIDE_READ, .src = side_peer_data(&there, WITH_IMM, PART),
		.dst = side_room(&there, 8192, PART));
	assert_memory_equal(there.bytes + 8192, there.bytes + PART, PART);
}

static void count(void)
{
	uint64_t value = 41;

	memcpy(there.bytes, &value, sizeof(value));
	side_ok(&there, .kind = SIDE_WRITE, .src = side_data(&there, 0, 8),
		.dst = side_peer_room(&there, COUNTER, 8));
	side_ok(&there, .kind = SIDE_FETCH_ADD, .dst = side_peer_data(&there, COUNTER, 8),
		.result = side_room(&there, 8, 8), .add = 1);
	value = 42;
	assert_at(COUNTER, &value, sizeof(value));
	side_ok(&there, .kind = SIDE_CMP_SWP, .dst = side_peer_data(&there, COUNTER, 8),
		.result = side_room(&there, 16, 8), .add = 42, .swap = 99);
	assert_memory_equal(there.bytes + 16, &value, sizeof(value));
	value = 99;
	assert_at(COUNTER, &value, sizeof(value));
}

/* Only reads are permitted. */
static void assert_read_only(const struct side_work *work)
{
	uint8_t before[PART];

	source->peek(WRITTEN, before, PART);
	assert_error(side_do(&there, work), DOCA_ERROR_NOT_PERMITTED);
	assert_at(WRITTEN, before, PART);
	connect_anew();
}

static void use_memory(const struct source *of_kind)
{
	source = of_kind;
	open_source(LOCAL_RW | RDMA_ALL);
	move_data();
	count();
	close_source();
	open_source(READ_ONLY);
	side_ok(&there, .kind = SIDE_READ, .src = side_peer_data(&there, WITH_IMM, PART),
		.dst = side_room(&there, 8192, PART));
	assert_at(WITH_IMM, there.bytes + 8192, PART);
	assert_read_only(&(struct side_work){.kind = SIDE_WRITE,
					     .src = side_data(&there, 0, PART),
					     .dst = side_peer_room(&there, WRITTEN, PART)});
	assert_read_only(&(struct side_work){.kind = SIDE_FETCH_ADD,
					     .dst = side_peer_data(&there, WRITTEN, 8),
					     .result = side_room(&there, 0, 8),
					     .add = 1});
	close_source();
}

/* rule: RD-12 */
static void huge_pages_are_used_by_tasks(void **state)
{
	use_memory(&(struct source){create_huge, peek_bytes, release_huge});
}

/* rule: RD-12 */
static void device_memory_is_used_by_tasks(void **state)
{
	use_memory(&(struct source){create_dm, peek_dm, release_dm});
}

/* rule: RD-12 */
static void a_dmabuf_is_used_by_tasks(void **state)
{
	use_memory(&(struct source){create_dmabuf, peek_bytes, release_dmabuf});
}

/* rule: RD-12 */
static void a_umem_is_used_by_tasks(void **state)
{
	use_memory(&(struct source){create_umem, peek_bytes, release_umem});
}

/* rule: RD-12 */
static void memory_of_the_other_function_is_used_by_tasks(void **state)
{
	use_memory(&(struct source){create_import, peek_owner, release_import});
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		connected_test(huge_pages_are_used_by_tasks),
		connected_test(device_memory_is_used_by_tasks),
		connected_test(a_dmabuf_is_used_by_tasks),
		connected_test(a_umem_is_used_by_tasks),
		connected_test(memory_of_the_other_function_is_used_by_tasks),
	};

	test_parse_options(argc, argv);
	if (test_options.is_peer)
		return peer_serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
