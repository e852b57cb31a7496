/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Device memory: its limits, CPU access, and maps over it. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dpumap/dm_pool.h>

#include "base/array.h"
#include "device_pd.h"
#include "fixture.h"
#include "peer.h"
#include "rc.h"

static uint64_t max_len;

static int open_all(void **state)
{
	if (fixture_setup(state))
		return -1;
	return dpumap_dm_cap_get_max_len(doca_dev_as_devinfo(fixture.dev), &max_len) == DOCA_SUCCESS
		       ? 0
		       : -1;
}

static void allocation_has_a_maximum_length(void **state)
{
	struct dpumap_dm *dm = NULL;
	size_t len = 0;

	assert_true(max_len >= 4096);
	assert_error(dpumap_dm_alloc(fixture.dev, 0, 0, &dm), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_alloc(fixture.dev, max_len + 1, 0, &dm), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_alloc(fixture.dev, SIZE_MAX, 0, &dm), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_alloc(fixture.dev, 64, 63, &dm), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_alloc(NULL, 64, 0, &dm), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_alloc(fixture.dev, 64, 0, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(dm);
	assert_ok(dpumap_dm_alloc(fixture.dev, max_len, 0, &dm));
	assert_ok(dpumap_dm_get_len(dm, &len));
	assert_int_equal(len, max_len);
	assert_ok(dpumap_dm_free(dm));
	assert_error(dpumap_dm_free(NULL), DOCA_ERROR_INVALID_VALUE);
}

static void capabilities_limit_the_alignment(void **state)
{
	struct doca_devinfo *info = doca_dev_as_devinfo(fixture.dev);
	uint64_t granularity = 0;
	uint32_t log_align = 0;
	struct dpumap_dm *dm = NULL;

	assert_ok(dpumap_dm_cap_get_granularity(info, &granularity));
	assert_true(granularity >= 64 && !(granularity & (granularity - 1)));
	assert_ok(dpumap_dm_cap_get_max_log_align(info, &log_align));
	assert_true(log_align >= 6);
	assert_ok(dpumap_dm_alloc(fixture.dev, 64, log_align, &dm));
	assert_ok(dpumap_dm_free(dm));
	dm = NULL;
	assert_error(dpumap_dm_alloc(fixture.dev, 64, log_align + 1, &dm),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_alloc(fixture.dev, 64, UINT32_MAX, &dm), DOCA_ERROR_INVALID_VALUE);
	assert_null(dm);
	assert_error(dpumap_dm_cap_get_max_len(NULL, &granularity), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_cap_get_max_len(info, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_cap_get_granularity(NULL, &granularity), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_cap_get_granularity(info, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_cap_get_max_log_align(NULL, &log_align), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_cap_get_max_log_align(info, NULL), DOCA_ERROR_INVALID_VALUE);
}

static void assert_free(uint64_t longest_wanted, uint64_t total_wanted)
{
	uint64_t longest = 0, alone = 0, total = 0;

	assert_ok(dpumap_dm_query_free(fixture.dev, &alone, NULL));
	assert_ok(dpumap_dm_query_free(fixture.dev, &longest, &total));
	assert_int_equal(alone, longest_wanted);
	assert_int_equal(longest, longest_wanted);
	assert_int_equal(total, total_wanted);
}

static uint64_t rounded(uint64_t len)
{
	uint64_t granularity;

	assert_ok(dpumap_dm_cap_get_granularity(doca_dev_as_devinfo(fixture.dev), &granularity));
	return (len + granularity - 1) / granularity * granularity;
}

/* The free memory that is reported can be allocated, and not a granule more. */
static void reported_free_memory_can_be_allocated(void **state)
{
	uint64_t longest = 99, total = 99;
	struct dpumap_dm *first, *rest, *more;

	assert_free(max_len, max_len);
	assert_ok(dpumap_dm_alloc(fixture.dev, 1000, 0, &first));
	assert_ok(dpumap_dm_query_free(fixture.dev, &longest, &total));
	assert_int_equal(total, max_len - rounded(1000));
	assert_ok(dpumap_dm_alloc(fixture.dev, longest, 0, &rest));
	assert_error(dpumap_dm_alloc(fixture.dev, total - longest + 1, 0, &more),
		     DOCA_ERROR_NO_MEMORY);
	assert_free(total - longest, total - longest);
	assert_ok(dpumap_dm_free(first));
	assert_free(rounded(1000), rounded(1000));
	assert_ok(dpumap_dm_free(rest));
	assert_free(max_len, max_len);
	assert_error(dpumap_dm_query_free(NULL, &longest, &total), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_query_free(fixture.dev, NULL, &total), DOCA_ERROR_INVALID_VALUE);
}

/* Pieces in pages of their own, so that free memory is fragmented. */
static void free_memory_is_counted_in_fragments_too(void **state)
{
	struct dpumap_dm *pieces[8];
	uint64_t longest, total;

	for (unsigned int i = 0; i < 8; i++)
		assert_ok(dpumap_dm_alloc(fixture.dev, max_len / 8, 0, &pieces[i]));
	assert_free(0, 0);
	for (unsigned int i = 0; i < 8; i += 2)
		assert_ok(dpumap_dm_free(pieces[i]));
	assert_ok(dpumap_dm_query_free(fixture.dev, &longest, &total));
	assert_int_equal(total, max_len / 2);
	assert_true(longest >= max_len / 8 && longest <= max_len / 2);
	for (unsigned int i = 1; i < 8; i += 2)
		assert_ok(dpumap_dm_free(pieces[i]));
	assert_free(max_len, max_len);
}

static void allocation_fails_when_all_memory_is_allocated(void **state)
{
	struct dpumap_dm *pieces[256];
	doca_error_t result;
	unsigned int n = 0;

	do {
		result = dpumap_dm_alloc(fixture.dev, max_len, 0, &pieces[n]);
	} while (result == DOCA_SUCCESS && ++n < 256);
	assert_error(result, DOCA_ERROR_NO_MEMORY);
	assert_true(n > 0);
	while (n)
		assert_ok(dpumap_dm_free(pieces[--n]));
}

static void processor_reads_what_it_wrote_within_the_range(void **state)
{
	uint8_t out[256], in[256] = {0};
	struct dpumap_dm *dm;

	fixture_fill(out, sizeof(out), 1);
	assert_ok(dpumap_dm_alloc(fixture.dev, 1000, 0, &dm));
	assert_ok(dpumap_dm_write(dm, 744, out, sizeof(out)));
	assert_ok(dpumap_dm_read(dm, 744, in, sizeof(in)));
	assert_memory_equal(in, out, sizeof(in));
	assert_error(dpumap_dm_write(dm, 748, out, sizeof(out)), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_read(dm, SIZE_MAX - 3, in, 8), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_write(dm, 2, out, 4), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_read(dm, 4, in, 6), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_read(NULL, 0, in, 4), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_write(dm, 0, NULL, 4), DOCA_ERROR_INVALID_VALUE);
	assert_ok(dpumap_dm_free(dm));
}

static struct doca_mmap *map_of(struct dpumap_dm *dm, size_t offset, size_t len, uint32_t access)
{
	struct doca_mmap *mmap;

	assert_ok(doca_mmap_create(&mmap));
	assert_ok(dpumap_mmap_set_dm_memrange(mmap, dm, offset, len));
	assert_ok(doca_mmap_set_permissions(mmap, access));
	assert_ok(doca_mmap_add_dev(mmap, fixture.dev));
	return mmap;
}

static void invalid_device_memory_ranges_are_refused(void **state)
{
	struct doca_mmap *mmap;
	struct dpumap_dm *dm;

	assert_ok(dpumap_dm_alloc(fixture.dev, 4096, 0, &dm));
	assert_ok(doca_mmap_create(&mmap));
	assert_error(dpumap_mmap_set_dm_memrange(NULL, dm, 0, 64), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_mmap_set_dm_memrange(mmap, NULL, 0, 64), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_mmap_set_dm_memrange(mmap, dm, 0, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_mmap_set_dm_memrange(mmap, dm, 64, 4096), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_mmap_set_dm_memrange(mmap, dm, SIZE_MAX, 2), DOCA_ERROR_INVALID_VALUE);
	assert_ok(dpumap_mmap_set_dm_memrange(mmap, dm, 64, 4032));
	assert_error(dpumap_mmap_set_dm_memrange(mmap, dm, 0, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(dpumap_dm_free(dm));
}

static void free_of_mapped_memory_is_in_use(void **state)
{
	struct doca_mmap *mmap;
	struct dpumap_dm *dm;

	assert_ok(dpumap_dm_alloc(fixture.dev, 4096, 0, &dm));
	mmap = map_of(dm, 0, 4096, LOCAL_RW);
	assert_ok(doca_mmap_start(mmap));
	assert_error(dpumap_dm_free(dm), DOCA_ERROR_IN_USE);
	assert_ok(doca_mmap_stop(mmap));
	assert_ok(dpumap_dm_free(dm));
	assert_error(doca_mmap_start(mmap), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_mmap_destroy(mmap));
}

/* Register it like a verbs program that has the context, or like an importer. */
static void free_of_memory_that_others_registered_is_in_use(void **state)
{
	struct dpumap_dm *dm, *import;
	struct doca_mmap *mmap;
	uint32_t handle = 0;
	uint8_t in[8] = {0};

	assert_ok(dpumap_dm_alloc(fixture.dev, 4096, 0, &dm));
	assert_ok(dpumap_dm_get_handle(dm, &handle));
	assert_ok(dpumap_dm_import(fixture.dev, handle, &import));
	mmap = map_of(import, 64, 1024, LOCAL_RW);
	assert_ok(doca_mmap_start(mmap));
	assert_error(dpumap_dm_free(dm), DOCA_ERROR_IN_USE);
	assert_error(dpumap_dm_free(import), DOCA_ERROR_IN_USE);
	/* Nothing is lost. */
	assert_ok(dpumap_dm_write(dm, 64, "12345678", 8));
	assert_ok(dpumap_dm_read(import, 64, in, 8));
	assert_memory_equal(in, "12345678", 8);
	assert_ok(doca_mmap_stop(mmap));
	assert_ok(dpumap_dm_free(dm));
	/* The import is stale now: no map over freed memory can be started. */
	assert_error(doca_mmap_start(mmap), DOCA_ERROR_DRIVER);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(dpumap_dm_free(import));
}

static void import_by_handle_is_the_same_memory(void **state)
{
	struct dpumap_dm *dm, *import, *none = NULL;
	uint32_t handle = 0, same = 1;
	size_t len = 0;
	uint8_t in[8];

	assert_ok(dpumap_dm_alloc(fixture.dev, 1000, 0, &dm));
	assert_ok(dpumap_dm_get_handle(dm, &handle));
	assert_error(dpumap_dm_get_handle(NULL, &handle), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_get_handle(dm, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(dpumap_dm_import(fixture.dev, handle, &import));
	assert_ok(dpumap_dm_get_len(import, &len));
	assert_int_equal(len, 1000);
	assert_ok(dpumap_dm_get_handle(import, &same));
	assert_int_equal(same, handle);
	assert_ok(dpumap_dm_write(import, 992, "abcdefgh", 8));
	assert_ok(dpumap_dm_read(dm, 992, in, 8));
	assert_memory_equal(in, "abcdefgh", 8);
	assert_error(dpumap_dm_write(import, 996, in, 8), DOCA_ERROR_INVALID_VALUE);
	/* Ending an import does not free the memory. */
	assert_ok(dpumap_dm_free(import));
	assert_ok(dpumap_dm_read(dm, 992, in, 8));
	assert_memory_equal(in, "abcdefgh", 8);
	assert_ok(dpumap_dm_free(dm));
	assert_error(dpumap_dm_import(fixture.dev, handle, &none), DOCA_ERROR_NOT_FOUND);
	assert_error(dpumap_dm_import(fixture.dev, UINT32_MAX, &none), DOCA_ERROR_NOT_FOUND);
	assert_error(dpumap_dm_import(NULL, handle, &none), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_import(fixture.dev, handle, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(none);
}

static void two_maps_have_two_names(void **state)
{
	struct doca_mmap *low, *high, *other;
	struct dpumap_dm *a, *b;
	void *low_addr, *high_addr, *other_addr;
	size_t len;

	assert_ok(dpumap_dm_alloc(fixture.dev, 4096, 0, &a));
	assert_ok(dpumap_dm_alloc(fixture.dev, 4096, 0, &b));
	low = map_of(a, 0, 1024, LOCAL_RW);
	high = map_of(a, 1024, 1024, LOCAL_RW);
	other = map_of(b, 0, 1024, LOCAL_RW);
	assert_ok(doca_mmap_get_memrange(low, &low_addr, &len));
	assert_ok(doca_mmap_get_memrange(high, &high_addr, &len));
	assert_ok(doca_mmap_get_memrange(other, &other_addr, &len));
	assert_int_equal(len, 1024);
	assert_ptr_equal((uint8_t *)low_addr + 1024, high_addr);
	assert_ptr_not_equal(low_addr, other_addr);
	assert_ok(doca_mmap_destroy(low));
	assert_ok(doca_mmap_destroy(high));
	assert_ok(doca_mmap_destroy(other));
	assert_ok(dpumap_dm_free(a));
	assert_ok(dpumap_dm_free(b));
}

static void copies_go_through_device_memory(void **state)
{
	struct fixture_buf from, to;
	struct doca_mmap *mmap;
	struct dpumap_dm *dm;
	uint8_t in[1024];
	void *addr;
	size_t len;

	assert_ok(fixture_buf_create(&fixture, 1024, LOCAL_RW, &from));
	assert_ok(fixture_buf_create(&fixture, 1024, LOCAL_RW, &to));
	fixture_fill(from.bytes, from.len, 3);
	assert_ok(dpumap_dm_alloc(fixture.dev, 4096, 0, &dm));
	mmap = map_of(dm, 512, 2048, LOCAL_RW);
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_get_memrange(mmap, &addr, &len));
	assert_ok(fixture_copy(&fixture, &(struct fixture_copy){mmap, (uint8_t *)addr + 256,
								from.mmap, from.bytes, 1024}));
	assert_ok(dpumap_dm_read(dm, 512 + 256, in, sizeof(in)));
	assert_memory_equal(in, from.bytes, sizeof(in));
	assert_ok(fixture_copy(&fixture, &(struct fixture_copy){to.mmap, to.bytes, mmap,
								(uint8_t *)addr + 256, 1024}));
	assert_memory_equal(to.bytes, from.bytes, to.len);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(dpumap_dm_free(dm));
	assert_ok(fixture_buf_destroy(&from));
	assert_ok(fixture_buf_destroy(&to));
}

#define NAME ((uint8_t *)(uintptr_t)0x7000000000) /* of memory in a dma-buf; not mapped */

static struct doca_mmap *map_of_dmabuf(int fd, size_t offset, size_t len)
{
	struct doca_mmap *mmap;

	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_set_dmabuf_memrange(mmap, fd, NAME, offset, len));
	assert_ok(doca_mmap_set_permissions(mmap, LOCAL_RW | DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	assert_ok(doca_mmap_add_dev(mmap, fixture.dev));
	assert_ok(doca_mmap_start(mmap));
	return mmap;
}

/* The map of the dma-buf is exported too. Freeing the memory revokes both. */
/* An import of the map, or the map itself where the device does not share such memory. */
static struct doca_mmap *import_of(struct doca_mmap *mmap)
{
	struct doca_mmap *import = mmap;
	const void *desc;
	size_t len;

	if (test_options.shares_direct) {
		assert_error(doca_mmap_export_pci(mmap, fixture.dev, &desc, &len),
			     DOCA_ERROR_NOT_SUPPORTED);
		return mmap;
	}
	assert_ok(doca_mmap_export_pci(mmap, fixture.dev, &desc, &len));
	assert_ok(doca_mmap_create_from_export(NULL, desc, len, fixture.dev, &import));
	return import;
}

static void use_dmabuf(struct dpumap_dm *dm, int fd)
{
	struct doca_mmap *mmap = map_of_dmabuf(fd, 512, 2048), *import = import_of(mmap);
	struct fixture_buf from;
	uint8_t in[1024];

	assert_ok(fixture_buf_create(&fixture, sizeof(in), LOCAL_RW, &from));
	fixture_fill(from.bytes, from.len, 3);
	assert_ok(fixture_copy(&fixture, &(struct fixture_copy){import, NAME + 256, from.mmap,
								from.bytes, sizeof(in)}));
	assert_ok(dpumap_dm_read(dm, 512 + 256, in, sizeof(in)));
	assert_memory_equal(in, from.bytes, sizeof(in));
	assert_ok(dpumap_dm_free(dm));
	assert_error(fixture_copy(&fixture, &(struct fixture_copy){mmap, NAME, from.mmap,
								   from.bytes, sizeof(in)}),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_error(fixture_copy(&fixture, &(struct fixture_copy){import, NAME, from.mmap,
								   from.bytes, sizeof(in)}),
		     DOCA_ERROR_NOT_PERMITTED);
	if (import != mmap)
		assert_ok(doca_mmap_destroy(import));
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(fixture_buf_destroy(&from));
}

static void memory_is_exported_as_a_dmabuf_where_rdma_core_can(void **state)
{
	struct dpumap_dm *dm;
	int fd = -1;

	assert_ok(dpumap_dm_alloc(fixture.dev, 4096, 0, &dm));
	assert_error(dpumap_dm_export_dmabuf(NULL, &fd), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dm_export_dmabuf(dm, NULL), DOCA_ERROR_INVALID_VALUE);
	if (!dlsym(RTLD_DEFAULT, "ibv_dm_export_dmabuf_fd")) {
		assert_error(dpumap_dm_export_dmabuf(dm, &fd), DOCA_ERROR_NOT_SUPPORTED);
		assert_int_equal(fd, -1);
		assert_ok(dpumap_dm_free(dm));
		return;
	}
	assert_ok(dpumap_dm_export_dmabuf(dm, &fd));
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	use_dmabuf(dm, fd);
	close(fd);
}

/* Zero-based registrations anywhere in the memory: each map reaches its own bytes only. */
static void map_of_any_part_reaches_its_own_bytes_only(void **state)
{
	static const struct {
		size_t offset, len;
	} parts[] = {{0, 5000}, {1, 1}, {3, 997}, {4095, 2}, {4992, 8}, {4999, 1}, {64, 64}};
	uint8_t all[5000], got[5000];
	struct fixture_buf buf;
	struct dpumap_dm *dm;

	assert_ok(fixture_buf_create(&fixture, sizeof(all), LOCAL_RW, &buf));
	assert_ok(dpumap_dm_alloc(fixture.dev, sizeof(all), 0, &dm));
	fixture_fill(all, sizeof(all), 11);
	assert_ok(dpumap_dm_write(dm, 0, all, sizeof(all)));
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		struct doca_mmap *mmap = map_of(dm, parts[i].offset, parts[i].len, LOCAL_RW);
		size_t len;
		void *addr;

		assert_ok(doca_mmap_start(mmap));
		assert_ok(doca_mmap_get_memrange(mmap, &addr, &len));
		assert_ok(fixture_copy(
			&fixture, &(struct fixture_copy){buf.mmap, buf.bytes, mmap, addr, len}));
		assert_memory_equal(buf.bytes, all + parts[i].offset, len);
		assert_error(
			fixture_copy(&fixture, &(struct fixture_copy){buf.mmap, buf.bytes, mmap,
								      (uint8_t *)addr + 1, len}),
			DOCA_ERROR_INVALID_VALUE);
		fixture_fill(buf.bytes, len, (uint32_t)i + 1);
		memcpy(all + parts[i].offset, buf.bytes, len);
		assert_ok(fixture_copy(
			&fixture, &(struct fixture_copy){mmap, addr, buf.mmap, buf.bytes, len}));
		assert_ok(dpumap_dm_read(dm, 0, got, sizeof(got)));
		assert_memory_equal(got, all, sizeof(all));
		assert_ok(doca_mmap_destroy(mmap));
	}
	assert_ok(dpumap_dm_free(dm));
	assert_ok(fixture_buf_destroy(&buf));
}

#define PEERS_ACCESS                                                                               \
	(LOCAL_RW | (uint32_t)DOCA_ACCESS_FLAG_RDMA_READ | (uint32_t)DOCA_ACCESS_FLAG_RDMA_WRITE | \
	 (uint32_t)DOCA_ACCESS_FLAG_RDMA_ATOMIC)

/* A map of device memory as an RDMA peer has it, and a connection to reach it. */
struct word {
	struct dpumap_dm *dm;
	struct doca_mmap *mmap, *import;
	struct rc from, to;
	uint32_t key;
	uint64_t addr;
};

static void open_word(struct word *word, uint32_t access)
{
	const void *desc;
	void *addr;
	size_t len;

	assert_ok(dpumap_dm_alloc(fixture.dev, 4096, 0, &word->dm));
	word->mmap = map_of(word->dm, 1024, 512, access);
	assert_ok(doca_mmap_start(word->mmap));
	assert_ok(doca_mmap_export_rdma(word->mmap, fixture.dev, &desc, &len));
	assert_ok(doca_mmap_create_from_export(NULL, desc, len, fixture.dev, &word->import));
	assert_ok(doca_mmap_get_memrange(word->import, &addr, &len));
	assert_ok(doca_mmap_get_mkey(word->import, fixture.dev, &word->key));
	word->addr = (uintptr_t)addr;
	assert_int_equal(len, 512);
	assert_true(rc_open_pair(&word->from, &word->to, device_pd(fixture.dev)));
}

static void close_word(struct word *word)
{
	assert_true(rc_close(&word->from) && rc_close(&word->to));
	assert_ok(doca_mmap_destroy(word->import));
	assert_ok(doca_mmap_destroy(word->mmap));
	assert_ok(dpumap_dm_free(word->dm));
}

/* Returns the status, and in *was the previous value. */
static int run_atomic(struct word *word, enum ibv_wr_opcode opcode, uint64_t offset,
		      uint64_t compare_add, uint64_t swap, uint64_t *was)
{
	int status = rc_run(&word->from, &(struct rc_request){
						 .opcode = opcode,
						 .lkey = word->from.mr->rkey,
						 .addr = (uintptr_t)word->from.bytes,
						 .len = sizeof(uint64_t),
						 .rkey = word->key,
						 .remote_addr = word->addr + offset,
						 .compare_add = compare_add,
						 .swap = swap,
					 });

	memcpy(was, word->from.bytes, sizeof(*was));
	return status;
}

static void assert_word(const struct word *word, uint64_t offset, uint64_t wanted)
{
	uint64_t value;

	assert_ok(dpumap_dm_read(word->dm, 1024 + offset, &value, sizeof(value)));
	assert_true(value == wanted);
}

static void atomics_change_one_word_of_device_memory(void **state)
{
	const uint64_t start = 0xfffffffffffffff0, unlike = 77;
	struct word word;
	uint64_t was = 0;

	open_word(&word, PEERS_ACCESS);
	assert_ok(dpumap_dm_write(word.dm, 1024 + 504, &start, sizeof(start)));
	assert_ok(dpumap_dm_write(word.dm, 1024, &unlike, sizeof(unlike)));
	assert_int_equal(run_atomic(&word, IBV_WR_ATOMIC_FETCH_AND_ADD, 504, 0x20, 0, &was),
			 IBV_WC_SUCCESS);
	assert_true(was == start);
	assert_word(&word, 504, 0x10);
	assert_int_equal(run_atomic(&word, IBV_WR_ATOMIC_CMP_AND_SWP, 504, 0x11, 5, &was),
			 IBV_WC_SUCCESS);
	assert_true(was == 0x10);
	assert_word(&word, 504, 0x10);
	assert_int_equal(run_atomic(&word, IBV_WR_ATOMIC_CMP_AND_SWP, 504, 0x10, 5, &was),
			 IBV_WC_SUCCESS);
	assert_true(was == 0x10);
	assert_word(&word, 504, 5);
	assert_word(&word, 0, unlike);
	close_word(&word);
}

static void assert_no_atomic(uint32_t access, uint64_t offset, int status)
{
	const uint64_t value = 42;
	struct word word;
	uint64_t was;

	open_word(&word, access);
	assert_ok(dpumap_dm_write(word.dm, 1024, &value, sizeof(value)));
	assert_int_equal(run_atomic(&word, IBV_WR_ATOMIC_FETCH_AND_ADD, offset, 1, 0, &was),
			 status);
	assert_word(&word, 0, value);
	close_word(&word);
}

static void atomics_without_permission_range_or_alignment_are_refused(void **state)
{
	assert_no_atomic(PEERS_ACCESS & ~(uint32_t)DOCA_ACCESS_FLAG_RDMA_ATOMIC, 0,
			 IBV_WC_REM_ACCESS_ERR);
	assert_no_atomic(PEERS_ACCESS, 512, IBV_WC_REM_ACCESS_ERR);
	assert_no_atomic(PEERS_ACCESS, 4, IBV_WC_REM_INV_REQ_ERR);
}

static void peer_reads_and_writes(void **state)
{
	uint8_t sent[RC_ACCESS_LEN], got[RC_ACCESS_LEN];
	struct word word;

	open_word(&word, PEERS_ACCESS);
	fixture_fill(sent, sizeof(sent), 21);
	memcpy(word.from.bytes, sent, sizeof(sent));
	assert_int_equal(rc_access(&word.from, IBV_WR_RDMA_WRITE, word.key, word.addr + 448),
			 IBV_WC_SUCCESS);
	assert_ok(dpumap_dm_read(word.dm, 1024 + 448, got, sizeof(got)));
	assert_memory_equal(got, sent, sizeof(sent));
	fixture_fill(sent, sizeof(sent), 22);
	assert_ok(dpumap_dm_write(word.dm, 1024, sent, sizeof(sent)));
	assert_int_equal(rc_access(&word.from, IBV_WR_RDMA_READ, word.key, word.addr),
			 IBV_WC_SUCCESS);
	assert_memory_equal(word.from.bytes, sent, sizeof(sent));
	assert_int_equal(rc_access(&word.from, IBV_WR_RDMA_READ, word.key, word.addr + 449),
			 IBV_WC_REM_ACCESS_ERR);
	close_word(&word);
}

/* Pieces of one memory, each the range of a map; a copy to one changes no other. */
static void copy_to_a_piece_changes_no_other(void **state)
{
	struct dpumap_dm_piece pieces[16];
	struct doca_mmap *maps[16];
	struct dpumap_dm_pool *pool;
	struct dpumap_dm *dm;
	struct fixture_buf buf;
	uint8_t got[1000];
	size_t len;
	void *addr;

	assert_ok(fixture_buf_create(&fixture, sizeof(got), LOCAL_RW, &buf));
	assert_ok(dpumap_dm_alloc(fixture.dev, max_len, 12, &dm));
	assert_ok(dpumap_dm_pool_create(dm, 0, &pool));
	assert_error(dpumap_dm_free(dm), DOCA_ERROR_IN_USE);
	for (uint32_t i = 0; i < 16; i++) {
		assert_ok(dpumap_dm_pool_alloc(pool, sizeof(got), i % 4 ? 0 : 12, &pieces[i]));
		maps[i] = map_of(dm, pieces[i].offset, pieces[i].len, LOCAL_RW);
		assert_ok(doca_mmap_start(maps[i]));
		assert_ok(doca_mmap_get_memrange(maps[i], &addr, &len));
		fixture_fill(buf.bytes, len, i);
		assert_ok(fixture_copy(
			&fixture, &(struct fixture_copy){maps[i], addr, buf.mmap, buf.bytes, len}));
	}
	for (uint32_t i = 0; i < 16; i++) {
		fixture_fill(buf.bytes, sizeof(got), i);
		assert_ok(dpumap_dm_read(dm, pieces[i].offset, got, sizeof(got)));
		assert_memory_equal(got, buf.bytes, sizeof(got));
		assert_ok(doca_mmap_destroy(maps[i]));
		assert_ok(dpumap_dm_pool_free(pool, &pieces[i]));
	}
	assert_ok(dpumap_dm_pool_destroy(pool));
	assert_ok(dpumap_dm_free(dm));
	assert_ok(fixture_buf_destroy(&buf));
}

#define dm_test(function) cmocka_unit_test_setup_teardown(function, open_all, fixture_teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		dm_test(allocation_has_a_maximum_length),
		dm_test(capabilities_limit_the_alignment),
		dm_test(reported_free_memory_can_be_allocated),
		dm_test(free_memory_is_counted_in_fragments_too),
		dm_test(allocation_fails_when_all_memory_is_allocated),
		dm_test(processor_reads_what_it_wrote_within_the_range),
		dm_test(invalid_device_memory_ranges_are_refused),
		dm_test(free_of_mapped_memory_is_in_use),
		dm_test(free_of_memory_that_others_registered_is_in_use),
		dm_test(import_by_handle_is_the_same_memory),
		dm_test(two_maps_have_two_names),
		dm_test(copies_go_through_device_memory),
		dm_test(memory_is_exported_as_a_dmabuf_where_rdma_core_can),
		dm_test(map_of_any_part_reaches_its_own_bytes_only),
		dm_test(peer_reads_and_writes),
		dm_test(atomics_change_one_word_of_device_memory),
		dm_test(atomics_without_permission_range_or_alignment_are_refused),
		dm_test(copy_to_a_piece_changes_no_other),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
