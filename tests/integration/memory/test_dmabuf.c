/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Ranges in a dma-buf, for which the emulated device accepts a memfd. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <dpumap/desc.h>
#include <dpumap/umem.h>

#include "device_pd.h"
#include "fixture.h"
#include "rc.h"

#define LEN    (16 * (size_t)4096)
#define OFFSET ((size_t)3 * 4096 + 256)
#define RANGE  ((size_t)5 * 4096)
#define PIECE  4096
#define RDMA_R ((uint32_t)DOCA_ACCESS_FLAG_RDMA_READ)

/* An address with the offset's place in its page, and one with another; neither is mapped. */
#define ALIGNED_NAME ((uint8_t *)(uintptr_t)0x7000000100)
#define ODD_NAME     ((uint8_t *)(uintptr_t)0x7000000033)

static struct fixture_buf buf;
static int memfd;
static uint8_t *bytes; /* of the memfd */

static int open_memfd(void)
{
	memfd = memfd_create("dma-buf", MFD_CLOEXEC);
	if (memfd < 0 || ftruncate(memfd, (off_t)LEN))
		return -1;
	bytes = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	if (bytes == MAP_FAILED)
		return -1;
	fixture_fill(bytes, LEN, 11);
	return 0;
}

static int open_all(void **state)
{
	if (fixture_setup(state))
		return -1;
	if (fixture_buf_create(&fixture, PIECE, LOCAL_RW, &buf) != DOCA_SUCCESS)
		return -1;
	return open_memfd();
}

static int close_all(void **state)
{
	munmap(bytes, LEN);
	close(memfd);
	if (fixture_buf_destroy(&buf) != DOCA_SUCCESS)
		return -1;
	return fixture_teardown(state);
}

static struct doca_mmap *new_map(int fd, uint8_t *name, uint32_t access)
{
	struct doca_mmap *mmap;

	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_set_dmabuf_memrange(mmap, fd, name, OFFSET, RANGE));
	assert_ok(doca_mmap_set_permissions(mmap, access));
	assert_ok(doca_mmap_add_dev(mmap, fixture.dev));
	return mmap;
}

static struct doca_mmap *started_map(uint8_t *name, uint32_t access)
{
	struct doca_mmap *mmap = new_map(memfd, name, access);

	assert_ok(doca_mmap_start(mmap));
	return mmap;
}

static void assert_copies(struct doca_mmap *mmap, uint8_t *name, size_t at)
{
	const uint8_t *peer = bytes + OFFSET + at;

	memset(buf.bytes, 0, PIECE);
	assert_ok(fixture_copy(
		&fixture, &(struct fixture_copy){buf.mmap, buf.bytes, mmap, name + at, PIECE}));
	assert_memory_equal(buf.bytes, peer, PIECE);
	fixture_fill(buf.bytes, PIECE, (uint32_t)at + 50);
	assert_memory_not_equal(buf.bytes, peer, PIECE);
	assert_ok(fixture_copy(
		&fixture, &(struct fixture_copy){mmap, name + at, buf.mmap, buf.bytes, PIECE}));
	assert_memory_equal(buf.bytes, peer, PIECE);
}

static void assert_range(const struct doca_mmap *mmap, const uint8_t *name)
{
	size_t len = 0;
	void *addr;

	assert_ok(doca_mmap_get_memrange(mmap, &addr, &len));
	assert_ptr_equal(addr, name);
	assert_int_equal(len, RANGE);
}

static void copy_both_ways(uint8_t *name)
{
	struct doca_mmap *mmap = started_map(name, LOCAL_RW);
	const uint8_t before = bytes[OFFSET - 1], after = bytes[OFFSET + RANGE];

	assert_range(mmap, name);
	assert_copies(mmap, name, 0);
	assert_copies(mmap, name, 1000);
	assert_copies(mmap, name, RANGE - PIECE);
	assert_int_equal(bytes[OFFSET - 1], before);
	assert_int_equal(bytes[OFFSET + RANGE], after);
	assert_error(
		fixture_copy(&fixture, &(struct fixture_copy){buf.mmap, buf.bytes, mmap,
							      name + RANGE - PIECE + 1, PIECE}),
		DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_destroy(mmap));
}

static void memory_of_a_dmabuf_is_copied_both_ways(void **state)
{
	copy_both_ways(ALIGNED_NAME);
}

static void memory_at_an_odd_address_is_copied_both_ways(void **state)
{
	copy_both_ways(ODD_NAME);
}

static void memory_without_an_address_is_copied_both_ways(void **state)
{
	copy_both_ways(NULL);
}

static void a_map_without_write_permission_is_only_a_source(void **state)
{
	struct doca_mmap *mmap = started_map(ALIGNED_NAME, 0);

	assert_ok(fixture_copy(
		&fixture, &(struct fixture_copy){buf.mmap, buf.bytes, mmap, ALIGNED_NAME, PIECE}));
	assert_error(fixture_copy(&fixture, &(struct fixture_copy){mmap, ALIGNED_NAME, buf.mmap,
								   buf.bytes, PIECE}),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_destroy(mmap));
}

static void assert_source(const void *desc, size_t len)
{
	struct dpumap_desc fields;

	assert_int_equal(dpumap_desc_decode(desc, len, &fields), DPUMAP_DESC_OK);
	assert_int_equal(fields.source, DPUMAP_DESC_SOURCE_DMABUF);
	dpumap_desc_wipe(&fields);
}

static void export_pci(uint8_t *name)
{
	struct doca_mmap *from = started_map(name, LOCAL_RW | PCI_RW);
	struct doca_mmap *to;
	const void *desc;
	size_t len;

	fixture_fill(bytes, LEN, 12);
	assert_ok(doca_mmap_export_pci(from, fixture.dev, &desc, &len));
	assert_source(desc, len);
	assert_ok(doca_mmap_create_from_export(NULL, desc, len, fixture.dev, &to));
	assert_range(to, name);
	assert_copies(to, name, 0);
	assert_copies(to, name, RANGE - PIECE);
	assert_ok(doca_mmap_stop(from));
	assert_error(fixture_copy(&fixture,
				  &(struct fixture_copy){buf.mmap, buf.bytes, to, name, PIECE}),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_destroy(to));
	assert_ok(doca_mmap_destroy(from));
}

static void dmabuf_is_exported_over_pci(void **state)
{
	export_pci(ALIGNED_NAME);
	export_pci(ODD_NAME);
}

/* Two connected queue pairs in the device's protection domain. */
static void assert_links(struct doca_mmap *mmap, uint8_t *name, uint32_t rkey)
{
	struct rc_request request = {
		.opcode = IBV_WR_RDMA_WRITE,
		.addr = (uintptr_t)name + 512,
		.len = RC_ACCESS_LEN,
	};
	struct rc from = {0}, to = {0};

	assert_true(rc_open_pair(&from, &to, device_pd(fixture.dev)));
	assert_int_equal(rc_access(&to, IBV_WR_RDMA_READ, rkey, request.addr), IBV_WC_SUCCESS);
	assert_memory_equal(to.bytes, bytes + OFFSET + 512, RC_ACCESS_LEN);
	memset(to.bytes, 0, sizeof(to.bytes));
	assert_ok(doca_mmap_get_mkey(mmap, fixture.dev, &request.lkey));
	request.rkey = to.mr->rkey;
	request.remote_addr = (uintptr_t)to.bytes;
	assert_int_equal(rc_run(&from, &request), IBV_WC_SUCCESS);
	assert_memory_equal(to.bytes, bytes + OFFSET + 512, RC_ACCESS_LEN);
	assert_true(rc_close(&from) && rc_close(&to));
}

static void keys(uint8_t *name)
{
	struct doca_mmap *from = started_map(name, LOCAL_RW | RDMA_R);
	struct doca_mmap *to;
	uint32_t rkey = 0;
	const void *desc;
	size_t len;

	assert_ok(doca_mmap_export_rdma(from, fixture.dev, &desc, &len));
	assert_source(desc, len);
	assert_ok(doca_mmap_create_from_export(NULL, desc, len, fixture.dev, &to));
	assert_range(to, name);
	assert_ok(doca_mmap_get_mkey(to, fixture.dev, &rkey));
	assert_links(from, name, rkey);
	assert_ok(doca_mmap_destroy(to));
	assert_ok(doca_mmap_destroy(from));
}

static void keys_of_a_dmabuf_reach_its_bytes(void **state)
{
	keys(ALIGNED_NAME);
	keys(ODD_NAME);
}

static void caller_may_close_its_descriptor_before_the_start(void **state)
{
	int fd = dup(memfd);
	struct doca_mmap *mmap = new_map(fd, ALIGNED_NAME, LOCAL_RW);

	assert_int_equal(close(fd), 0);
	for (int i = 0; i < 2; i++) {
		assert_ok(doca_mmap_start(mmap));
		assert_copies(mmap, ALIGNED_NAME, (size_t)i * PIECE);
		assert_ok(doca_mmap_stop(mmap));
	}
	assert_ok(doca_mmap_destroy(mmap));
}

static int lowest_free_fd(void)
{
	int fd = fcntl(memfd, F_DUPFD_CLOEXEC, 0);

	close(fd);
	return fd;
}

static void map_closes_its_own_descriptor(void **state)
{
	int before = lowest_free_fd();
	struct doca_mmap *mmap = new_map(memfd, ALIGNED_NAME, LOCAL_RW);

	assert_int_not_equal(lowest_free_fd(), before);
	assert_ok(doca_mmap_destroy(mmap));
	assert_int_equal(lowest_free_fd(), before);
}

/* In a program that has closed its standard input, 0 is a descriptor as any other. */
static void descriptor_0_is_valid(void **state)
{
	int saved = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	struct doca_mmap *of_0, *on_0;
	const void *desc;
	size_t len;

	assert_int_equal(dup2(memfd, STDIN_FILENO), STDIN_FILENO);
	of_0 = new_map(STDIN_FILENO, ALIGNED_NAME, LOCAL_RW);
	assert_int_equal(close(STDIN_FILENO), 0);
	on_0 = new_map(memfd, ODD_NAME, LOCAL_RW | RDMA_R);
	assert_int_not_equal(lowest_free_fd(), STDIN_FILENO);
	assert_ok(doca_mmap_start(of_0));
	assert_ok(doca_mmap_start(on_0));
	assert_copies(of_0, ALIGNED_NAME, 0);
	assert_copies(on_0, ODD_NAME, PIECE);
	assert_ok(doca_mmap_export_rdma(on_0, fixture.dev, &desc, &len));
	assert_source(desc, len);
	assert_ok(doca_mmap_destroy(of_0));
	assert_ok(doca_mmap_destroy(on_0));
	assert_int_equal(lowest_free_fd(), STDIN_FILENO);
	assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
	close(saved);
}

static void map_over_a_umem_names_its_source(void **state)
{
	struct dpumap_umem *umem;
	struct doca_mmap *mmap;
	const void *desc;
	size_t len;

	assert_ok(dpumap_umem_register_dmabuf(fixture.dev, memfd, ALIGNED_NAME, OFFSET, RANGE,
					      LOCAL_RW | RDMA_R, &umem));
	assert_ok(doca_mmap_create(&mmap));
	assert_ok(dpumap_mmap_set_umem_memrange(mmap, umem, 0, RANGE));
	assert_ok(doca_mmap_set_permissions(mmap, LOCAL_RW | RDMA_R));
	assert_ok(doca_mmap_add_dev(mmap, fixture.dev));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_export_rdma(mmap, fixture.dev, &desc, &len));
	assert_source(desc, len);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(dpumap_umem_deregister(umem));
}

static void invalid_dmabuf_ranges_are_refused(void **state)
{
	struct doca_mmap *mmap;
	int closed = dup(memfd);
	void *addr;
	size_t len;

	close(closed);
	assert_ok(doca_mmap_create(&mmap));
	assert_error(doca_mmap_set_dmabuf_memrange(NULL, memfd, ALIGNED_NAME, 0, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_dmabuf_memrange(mmap, -1, ALIGNED_NAME, 0, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_dmabuf_memrange(mmap, closed, ALIGNED_NAME, 0, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_dmabuf_memrange(mmap, memfd, ALIGNED_NAME, 0, 0),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_dmabuf_memrange(mmap, memfd, ALIGNED_NAME, 0, SIZE_MAX),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_dmabuf_memrange(mmap, memfd, ALIGNED_NAME, SIZE_MAX, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_mmap_destroy(mmap));
}

/* Nothing of it is mapped before the map is started. */
static void range_may_end_where_addresses_end(void **state)
{
	struct doca_mmap *mmap;

	assert_ok(doca_mmap_create(&mmap));
	assert_error(doca_mmap_set_dmabuf_memrange(mmap, memfd, (void *)(UINTPTR_MAX - 1), 0, 2),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_dmabuf_memrange(mmap, memfd, ALIGNED_NAME, SIZE_MAX - 1, 2),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_set_dmabuf_memrange(mmap, memfd, (void *)(UINTPTR_MAX - 2),
						SIZE_MAX - 2, 2));
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_mmap_create(&mmap));
	assert_error(doca_mmap_set_memrange(mmap, (void *)(UINTPTR_MAX - 1), 2),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_set_memrange(mmap, (void *)(UINTPTR_MAX - 2), 2));
	assert_ok(doca_mmap_destroy(mmap));
}

static void a_map_takes_one_range_in_its_life(void **state)
{
	struct doca_mmap *mmap = new_map(memfd, ALIGNED_NAME, LOCAL_RW | PCI_RW);
	struct doca_mmap *imported;

	assert_error(doca_mmap_set_memrange(mmap, bytes, 1), DOCA_ERROR_NOT_PERMITTED);
	assert_error(doca_mmap_set_dmabuf_memrange(mmap, memfd, ALIGNED_NAME, 0, 1),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_start(mmap));
	assert_error(doca_mmap_set_dmabuf_memrange(mmap, memfd, ALIGNED_NAME, 0, 1),
		     DOCA_ERROR_BAD_STATE);
	imported = fixture_import_pci(fixture.dev, mmap);
	assert_error(doca_mmap_set_dmabuf_memrange(imported, memfd, ALIGNED_NAME, 0, 1),
		     DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_destroy(imported));
	assert_ok(doca_mmap_destroy(mmap));
}

/* With an offset and a length; the map can be destroyed afterwards, and no object is left. */
static void refuse_start(int fd, size_t offset, size_t len)
{
	struct doca_mmap *mmap;

	assert_true(fd >= 0);
	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_set_dmabuf_memrange(mmap, fd, ALIGNED_NAME, offset, len));
	assert_ok(doca_mmap_add_dev(mmap, fixture.dev));
	assert_error(doca_mmap_start(mmap), DOCA_ERROR_DRIVER);
	assert_ok(doca_mmap_destroy(mmap));
}

static void range_beyond_the_end_of_the_file_is_refused(void **state)
{
	refuse_start(memfd, LEN, 1);
	refuse_start(memfd, LEN - 4096, 4097);
	refuse_start(memfd, 0, LEN + 1);
	refuse_start(memfd, LEN + 4096, 4096);
}

static void fd_without_a_dmabuf_is_refused(void **state)
{
	char path[] = "/tmp/dpumap-no-dmabuf-XXXXXX";
	int file = mkstemp(path);
	int sock = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_true(file >= 0);
	unlink(path);
	assert_int_equal(ftruncate(file, (off_t)LEN), 0);
	refuse_start(file, 0, 4096);
	refuse_start(sock, 0, 4096);
	close(file);
	close(sock);
}

static void dpa_memory_is_not_supported(void **state)
{
	struct doca_dpa *dpa = (struct doca_dpa *)(void *)bytes;
	struct doca_mmap *mmap;
	void *addr;
	size_t len;

	assert_ok(doca_mmap_create(&mmap));
	assert_error(doca_mmap_set_dpa_memrange(NULL, dpa, 4096, 1), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_dpa_memrange(mmap, NULL, 4096, 1), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_dpa_memrange(mmap, dpa, 4096, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_dpa_memrange(mmap, dpa, UINT64_MAX, 1),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_set_dpa_memrange(mmap, dpa, 4096, 1), DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_mmap_set_dpa_memrange(mmap, dpa, UINT64_MAX - 1, 1),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_error(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_mmap_destroy(mmap));
	mmap = new_map(memfd, ALIGNED_NAME, LOCAL_RW);
	assert_error(doca_mmap_set_dpa_memrange(mmap, dpa, 4096, 1), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_start(mmap));
	assert_error(doca_mmap_set_dpa_memrange(mmap, dpa, 4096, 1), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_mmap_destroy(mmap));
}

#define dmabuf_test(function) cmocka_unit_test_setup_teardown(function, open_all, close_all)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		dmabuf_test(memory_of_a_dmabuf_is_copied_both_ways),
		dmabuf_test(memory_at_an_odd_address_is_copied_both_ways),
		dmabuf_test(memory_without_an_address_is_copied_both_ways),
		dmabuf_test(a_map_without_write_permission_is_only_a_source),
		dmabuf_test(dmabuf_is_exported_over_pci),
		dmabuf_test(keys_of_a_dmabuf_reach_its_bytes),
		dmabuf_test(caller_may_close_its_descriptor_before_the_start),
		dmabuf_test(map_closes_its_own_descriptor),
		dmabuf_test(descriptor_0_is_valid),
		dmabuf_test(map_over_a_umem_names_its_source),
		dmabuf_test(invalid_dmabuf_ranges_are_refused),
		dmabuf_test(range_may_end_where_addresses_end),
		dmabuf_test(a_map_takes_one_range_in_its_life),
		dmabuf_test(range_beyond_the_end_of_the_file_is_refused),
		dmabuf_test(fd_without_a_dmabuf_is_refused),
		dmabuf_test(dpa_memory_is_not_supported),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
