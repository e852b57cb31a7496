/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Umems: registered once, the source of maps in several processes; which processes may end a
 * registration; and which bytes are refused.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <dpumap/desc.h>
#include <dpumap/dev.h>
#include <dpumap/umem.h>

#include "base/array.h"
#include "device_pd.h"
#include "fixture.h"
#include "peer.h"
#include "rc.h"
#include "umem_peer.h"

#define BIG    ((size_t)64 << 20)
#define PIECE  ((size_t)1 << 20)
#define LEN    65536u
#define RDMA_R ((uint32_t)DOCA_ACCESS_FLAG_RDMA_READ)
#define RDMA_W ((uint32_t)DOCA_ACCESS_FLAG_RDMA_WRITE)

static uint8_t *memory; /* LEN bytes, page-aligned */

static int open_all(void **state)
{
	if (fixture_setup(state))
		return -1;
	memory = aligned_alloc(4096, LEN);
	if (!memory)
		return -1;
	fixture_fill(memory, LEN, 1);
	return 0;
}

static int close_all(void **state)
{
	free(memory);
	return fixture_teardown(state);
}

static unsigned long count_of(const char *name)
{
	struct objects counts;

	assert_true(objects_read(&counts));
	for (unsigned int i = 0; i < counts.n; i++)
		if (!strcmp(counts.counts[i].name, name))
			return counts.counts[i].value;
	fail_msg("no count of %s", name);
	return 0;
}

static struct dpumap_umem *umem_of(void *addr, size_t len, uint32_t access)
{
	struct dpumap_umem *umem = NULL;

	assert_ok(dpumap_umem_register(fixture.dev, addr, len, access, &umem));
	return umem;
}

static struct descriptor export_of(struct dpumap_umem *umem)
{
	struct descriptor desc = {0};
	size_t size = 0;

	assert_ok(dpumap_umem_get_export_size(umem, &size));
	assert_true(size <= sizeof(desc.bytes));
	assert_ok(dpumap_umem_export(umem, desc.bytes, size, &desc.len));
	assert_int_equal(desc.len, size);
	return desc;
}

static struct doca_mmap *map_of(struct dpumap_umem *umem, size_t offset, size_t len,
				uint32_t access)
{
	struct doca_mmap *mmap;

	assert_ok(doca_mmap_create(&mmap));
	assert_ok(dpumap_mmap_set_umem_memrange(mmap, umem, offset, len));
	assert_ok(doca_mmap_set_permissions(mmap, access));
	assert_ok(doca_mmap_add_dev(mmap, fixture.dev));
	return mmap;
}

static struct doca_mmap *started_map(struct dpumap_umem *umem, size_t offset, size_t len,
				     uint32_t access)
{
	struct doca_mmap *mmap = map_of(umem, offset, len, access);

	assert_ok(doca_mmap_start(mmap));
	return mmap;
}

/* In pieces, as umem_peer_fill() writes them. */
static void fill_big(uint8_t *big, uint32_t seed)
{
	for (size_t at = 0; at < BIG; at += PIECE)
		fixture_fill(big + at, PIECE, seed + (uint32_t)(at / PIECE));
}

static void assert_peer_reads(struct process *p, uint32_t seed)
{
	uint8_t *got = malloc(PIECE), *wanted = malloc(PIECE);

	assert_non_null(got);
	assert_non_null(wanted);
	for (size_t at = 0; at < BIG; at += PIECE) {
		fixture_fill(wanted, PIECE, seed + (uint32_t)(at / PIECE));
		assert_ok(peer_read(p, 0, at, got, PIECE));
		assert_memory_equal(got, wanted, PIECE);
	}
	free(got);
	free(wanted);
}

/* A registers, B maps and exports over PCI, C on the host's function reads. */
static void a_umem_is_shared_by_three_processes(void **state)
{
	struct descriptor bytes, pci;
	struct dpumap_umem *umem;
	struct process b;
	struct process c;
	uint8_t *big;

	big = mmap(NULL, BIG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(big != MAP_FAILED);
	fill_big(big, 100);
	umem = umem_of(big, BIG, LOCAL_RW | PCI_RW);
	bytes = export_of(umem);
	assert_int_equal(count_of("umems"), 1);
	assert_true(umem_peer_start(&b, "dpu") && peer_start(&c));
	assert_ok(umem_peer_adopt(&b, fixture.dev));
	assert_ok(umem_peer_import(&b, &bytes));
	assert_ok(umem_peer_map(&b, 0, BIG, LOCAL_RW | PCI_RW));
	assert_ok(umem_peer_check(&b, 100));
	assert_int_equal(count_of("umems"), 1);
	assert_ok(umem_peer_export_map(&b, &pci));
	assert_ok(peer_import(&c, 0, &pci));
	assert_peer_reads(&c, 100);
	assert_ok(umem_peer_fill(&b, 300));
	assert_peer_reads(&c, 300);
	fill_big(big, 500);
	assert_peer_reads(&c, 500);
	assert_ok(peer_write(&c, 0, BIG - 5, (const uint8_t *)"tail", 5));
	assert_memory_equal(big + BIG - 5, "tail", 5);
	assert_ok(umem_peer_unmap(&b));
	assert_error(peer_read(&c, 0, 0, memory, 64), DOCA_ERROR_NOT_PERMITTED);
	assert_true(process_finish(&c));
	assert_ok(umem_peer_unimport(&b));
	assert_true(process_finish(&b));
	assert_ok(dpumap_umem_deregister(umem));
	munmap(big, BIG);
}

static void assert_copies(struct doca_mmap *mmap, const uint8_t *shared, size_t len)
{
	struct fixture_buf buf;
	uint8_t *addr;
	size_t got;

	assert_ok(fixture_buf_create(&fixture, len, LOCAL_RW, &buf));
	assert_ok(doca_mmap_get_memrange(mmap, (void **)&addr, &got));
	assert_int_equal(got, len);
	assert_ok(fixture_copy(&fixture,
			       &(struct fixture_copy){buf.mmap, buf.bytes, mmap, addr, len}));
	assert_memory_equal(buf.bytes, shared, len);
	fixture_fill(buf.bytes, len, (uint32_t)len);
	assert_ok(fixture_copy(&fixture,
			       &(struct fixture_copy){mmap, addr, buf.mmap, buf.bytes, len}));
	assert_memory_equal(buf.bytes, shared, len);
	assert_ok(fixture_buf_destroy(&buf));
}

/* The descriptor says so to firmware for LOCAL_READ_WRITE only (docs/wire-format.md, section 8). */
static void umem_with_pci_write_alone_is_a_destination(void **state)
{
	struct dpumap_umem *umem = umem_of(memory, LEN, PCI_RW);
	struct doca_mmap *mmap = started_map(umem, 0, LEN, PCI_RW);

	assert_copies(mmap, memory, LEN);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(dpumap_umem_deregister(umem));
}

/* Ranges are exact to the byte for others, wherever in a page they begin and end. */
static void ranges_are_exact_to_the_byte(void **state)
{
	static const struct {
		size_t first, len; /* of the umem in memory */
		size_t offset, map_len;
	} cases[] = {
		{0, LEN, 0, LEN},	  {0, LEN, 4096, 8192},
		{100, 30000, 0, 30000},	  {100, 30000, 1, 1},
		{4095, 2, 0, 2},	  {33, 20000, 4063, 4096},
		{33, 20000, 4064, 12000}, {8192, 1, 0, 1},
		{4000, 9000, 8999, 1},	  {LEN - 4097, 4097, 3, 4094},
	};
	struct descriptor desc = {0};
	uint8_t byte[2];
	struct process c;

	assert_true(peer_start(&c));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t *first = memory + cases[i].first;
		uint8_t *shared = first + cases[i].offset;
		struct dpumap_umem *umem = umem_of(first, cases[i].len, LOCAL_RW | PCI_RW);
		struct doca_mmap *mmap =
			started_map(umem, cases[i].offset, cases[i].map_len, LOCAL_RW | PCI_RW);
		const void *bytes;
		void *addr;
		size_t len;

		assert_ok(dpumap_umem_get_range(umem, &addr, &len));
		assert_ptr_equal(addr, first);
		assert_int_equal(len, cases[i].len);
		assert_copies(mmap, shared, cases[i].map_len);
		if (test_options.shares_direct && (uintptr_t)shared % 4096) {
			assert_error(doca_mmap_export_pci(mmap, fixture.dev, &bytes, &desc.len),
				     DOCA_ERROR_NOT_SUPPORTED);
		} else {
			assert_ok(doca_mmap_export_pci(mmap, fixture.dev, &bytes, &desc.len));
			memcpy(desc.bytes, bytes, desc.len);
			assert_ok(peer_import(&c, 0, &desc));
			assert_ok(peer_read(&c, 0, cases[i].map_len - 1, byte, 1));
			assert_int_equal(byte[0], shared[cases[i].map_len - 1]);
			assert_error(peer_read(&c, 0, cases[i].map_len - 1, byte, 2),
				     DOCA_ERROR_INVALID_VALUE);
			assert_ok(peer_drop(&c, 0));
		}
		assert_ok(doca_mmap_destroy(mmap));
		assert_ok(dpumap_umem_deregister(umem));
	}
	assert_true(process_finish(&c));
}

/* The key for peers begins with the range, also where the pages of the umem begin earlier. */
static void key_for_peers_begins_with_the_range(void **state)
{
	static const size_t offsets[] = {0, 40};
	struct rc from, to;

	assert_true(rc_open_pair(&from, &to, device_pd(fixture.dev)));
	for (size_t i = 0; i < 2; i++) {
		struct dpumap_umem *umem = umem_of(memory, LEN, LOCAL_RW | RDMA_R | RDMA_W);
		struct doca_mmap *mmap =
			started_map(umem, offsets[i], 4096, LOCAL_RW | RDMA_R | RDMA_W);
		uint64_t at = (uintptr_t)memory + offsets[i];
		struct dpumap_desc fields;
		const void *bytes;
		size_t len;

		assert_ok(doca_mmap_export_rdma(mmap, fixture.dev, &bytes, &len));
		assert_int_equal(dpumap_desc_decode(bytes, len, &fields), DPUMAP_DESC_OK);
		assert_true(fields.addr == at);
		assert_int_equal(rc_access(&from, IBV_WR_RDMA_READ, fields.mkey, at),
				 IBV_WC_SUCCESS);
		assert_memory_equal(from.bytes, memory + offsets[i], RC_ACCESS_LEN);
		assert_int_equal(rc_access(&from, IBV_WR_RDMA_WRITE, fields.mkey, at + 64),
				 IBV_WC_SUCCESS);
		assert_memory_equal(from.bytes, memory + offsets[i] + 64, RC_ACCESS_LEN);
		assert_int_equal(rc_access(&from, IBV_WR_RDMA_READ, fields.mkey, at - 1),
				 IBV_WC_REM_ACCESS_ERR);
		assert_true(rc_close(&from) && rc_close(&to));
		assert_true(rc_open_pair(&from, &to, device_pd(fixture.dev)));
		assert_ok(doca_mmap_destroy(mmap));
		assert_ok(dpumap_umem_deregister(umem));
	}
	assert_true(rc_close(&from) && rc_close(&to));
}

#define NAME ((uint8_t *)(uintptr_t)0x7000000100) /* nothing is mapped there */

static void assert_source(const struct descriptor *desc, uint16_t source)
{
	struct dpumap_desc fields;

	assert_int_equal(dpumap_desc_decode(desc->bytes, desc->len, &fields), DPUMAP_DESC_OK);
	assert_int_equal(fields.source, source);
}

static void umem_of_a_dmabuf_is_mapped_and_imported(void **state)
{
	static const size_t offsets[] = {4096 + 256, 4096 + 17};
	int fd = memfd_create("dma-buf", MFD_CLOEXEC);
	struct dpumap_umem *umem = NULL;
	uint8_t *bytes;

	test_needs_emulator(); /* a kernel takes no memfd for a dma-buf */
	assert_true(fd >= 0 && !ftruncate(fd, (off_t)LEN));
	bytes = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(bytes != MAP_FAILED);
	fixture_fill(bytes, LEN, 3);
	assert_error(dpumap_umem_register_dmabuf(fixture.dev, -1, NAME, 0, 64, LOCAL_RW, &umem),
		     DOCA_ERROR_INVALID_VALUE);
	for (size_t i = 0; i < 2; i++) {
		struct doca_mmap *mmap;
		struct descriptor desc;
		struct process b;

		assert_ok(dpumap_umem_register_dmabuf(fixture.dev, fd, NAME, offsets[i], 20000,
						      LOCAL_RW | PCI_RW, &umem));
		mmap = started_map(umem, 100, 9000, LOCAL_RW | PCI_RW);
		assert_copies(mmap, bytes + offsets[i] + 100, 9000);
		desc = export_of(umem);
		assert_source(&desc, DPUMAP_DESC_SOURCE_DMABUF);
		assert_true(umem_peer_start(&b, "dpu"));
		assert_ok(umem_peer_adopt(&b, fixture.dev));
		assert_ok(umem_peer_import(&b, &desc));
		assert_ok(umem_peer_map(&b, 5, 19995, LOCAL_RW | PCI_RW));
		assert_ok(umem_peer_fill(&b, 7));
		fixture_fill(memory, 19995, 7);
		assert_memory_equal(bytes + offsets[i] + 5, memory, 19995);
		assert_ok(umem_peer_unmap(&b));
		assert_ok(umem_peer_unimport(&b));
		assert_true(process_finish(&b));
		assert_ok(doca_mmap_destroy(mmap));
		assert_ok(dpumap_umem_deregister(umem));
	}
	munmap(bytes, LEN);
	close(fd);
}

static void invalid_umem_arguments_are_refused(void **state)
{
	uint32_t both = PCI_RW | PCI_RO;
	struct dpumap_umem *umem = NULL;
	struct doca_mmap *mmap;
	uint8_t bytes[512];
	void *addr;
	size_t len;
	int fd;

	assert_error(dpumap_umem_register(NULL, memory, 1, LOCAL_RW, &umem),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_umem_register(fixture.dev, NULL, 1, LOCAL_RW, &umem),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_umem_register(fixture.dev, memory, 1, LOCAL_RW, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_umem_register(fixture.dev, memory, 0, LOCAL_RW, &umem),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_umem_register(fixture.dev, memory, SIZE_MAX, LOCAL_RW, &umem),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_umem_register(fixture.dev, (void *)(UINTPTR_MAX - 8), 7, 0, &umem),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_umem_register(fixture.dev, NAME, 4096, LOCAL_RW, &umem),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_umem_register(fixture.dev, memory, LEN, 0x80, &umem),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_umem_register(fixture.dev, memory, LEN, both, &umem),
		     DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_umem_deregister(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_umem_unimport(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(umem);

	umem = umem_of(memory, LEN, LOCAL_RW);
	assert_error(dpumap_umem_get_range(umem, &addr, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_umem_get_export_size(umem, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_umem_export(umem, NULL, 512, &len), DOCA_ERROR_INVALID_VALUE);
	assert_ok(dpumap_umem_get_export_size(umem, &len));
	assert_error(dpumap_umem_export(umem, bytes, len - 1, &len), DOCA_ERROR_TOO_BIG);
	assert_error(dpumap_umem_import(fixture.dev, NULL, 10, &umem), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_create(&mmap));
	assert_error(dpumap_mmap_set_umem_memrange(NULL, umem, 0, 1), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_mmap_set_umem_memrange(mmap, NULL, 0, 1), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_mmap_set_umem_memrange(mmap, umem, 0, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_mmap_set_umem_memrange(mmap, umem, 1, LEN), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_mmap_set_umem_memrange(mmap, umem, SIZE_MAX, 2),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(dpumap_mmap_set_umem_memrange(mmap, umem, 1, LEN - 1));
	assert_error(dpumap_mmap_set_umem_memrange(mmap, umem, 0, 1), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(dpumap_umem_deregister(umem));

	assert_error(dpumap_dev_export_fd(NULL, &fd), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dev_export_fd(fixture.dev, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dev_send(NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dev_receive(0, NULL), DOCA_ERROR_INVALID_VALUE);
}

/* The kernel would install as many as the buffer for one has room for. */
static void two_passed_devices_are_refused(void **state)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(2 * sizeof(int))];
	} control = {.head = {CMSG_LEN(2 * sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct iovec iov = {.iov_base = (char[]){0}, .iov_len = 1};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	struct doca_dev *dev = NULL;
	int pair[2], fds[2], free_fd;

	if (process_is_translated())
		test_lacks("a system that counts descriptors: qemu receives more than there is "
			   "room for");
	assert_ok(dpumap_dev_export_fd(fixture.dev, &fds[0]));
	fds[1] = fds[0];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	free_fd = dup(0);
	close(free_fd);
	memcpy(CMSG_DATA(&control.head), fds, sizeof(fds));
	msg.msg_control = &control;
	msg.msg_controllen = sizeof(control);
	assert_int_equal(sendmsg(pair[0], &msg, 0), 1);
	assert_error(dpumap_dev_receive(pair[1], &dev), DOCA_ERROR_INVALID_VALUE);
	assert_null(dev);
	assert_int_equal(dup(0), free_fd);
	close(free_fd);
	close(fds[0]);
	close(pair[0]);
	close(pair[1]);
}

/* A file that is not a device remains open, and so does a device. */
static void device_is_opened_from_its_descriptor_only(void **state)
{
	struct doca_dev *dev = NULL, *other = NULL;
	int pair[2], fd;

	assert_int_equal(pipe(pair), 0);
	assert_error(dpumap_dev_open_from_fd(pair[0], &dev), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dev_open_from_fd(-1, &dev), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dev_send(fixture.dev, pair[1]), DOCA_ERROR_INVALID_VALUE);
	assert_error(dpumap_dev_receive(pair[0], &dev), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(write(pair[1], "x", 1), 1);
	assert_int_equal(close(pair[0]) | close(pair[1]), 0);
	assert_null(dev);

	assert_ok(dpumap_dev_export_fd(fixture.dev, &fd));
	assert_ok(dpumap_dev_open_from_fd(fd, &dev));
	assert_ok(dpumap_dev_open_from_fd(fd, &other));
	assert_int_equal(close(fd), 0);
	assert_ptr_not_equal(dev, fixture.dev);
	assert_ptr_not_equal(dev, other);
	assert_ok(doca_dev_close(other));
	assert_ok(fixture_open_device(&other));
	assert_ptr_equal(other, fixture.dev);
	assert_ok(doca_dev_close(other));
	assert_ok(doca_dev_close(dev));
}

static void maps_need_a_umem_of_their_device_and_permissions(void **state)
{
	struct dpumap_umem *umem = umem_of(memory, LEN, LOCAL_RW | PCI_RW | RDMA_R);
	struct doca_mmap *first, *second, *wrong;
	struct doca_dev *dev;
	int fd;

	first = started_map(umem, 0, LEN, LOCAL_RW | PCI_RO);
	second = started_map(umem, 0, LEN, RDMA_R);
	assert_error(dpumap_umem_deregister(umem), DOCA_ERROR_IN_USE);
	assert_error(dpumap_umem_unimport(umem), DOCA_ERROR_IN_USE);
	wrong = map_of(umem, 0, 64, LOCAL_RW | RDMA_W);
	assert_error(doca_mmap_start(wrong), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_set_permissions(wrong, LOCAL_RW));
	assert_ok(dpumap_dev_export_fd(fixture.dev, &fd));
	assert_ok(dpumap_dev_open_from_fd(fd, &dev));
	close(fd);
	assert_ok(doca_mmap_add_dev(wrong, dev));
	assert_error(doca_mmap_start(wrong), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_destroy(wrong));
	assert_ok(doca_dev_close(dev));

	assert_ok(doca_mmap_destroy(second));
	assert_ok(doca_mmap_stop(first));
	assert_ok(doca_mmap_start(first));
	assert_copies(first, memory, LEN);
	assert_ok(doca_mmap_stop(first));
	assert_ok(dpumap_umem_deregister(umem));
	assert_error(doca_mmap_start(first), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_mmap_destroy(first));
}

/* The right to write includes that to read, but no other right does. */
static void pci_rights_of_a_map_are_those_of_its_umem(void **state)
{
	static const struct {
		uint32_t umem, map;
		doca_error_t result;
	} cases[] = {
		{LOCAL_RW | PCI_RW, PCI_RO, DOCA_SUCCESS},
		{LOCAL_RW | PCI_RO, PCI_RO, DOCA_SUCCESS},
		{LOCAL_RW | PCI_RO, PCI_RW, DOCA_ERROR_NOT_PERMITTED},
		{LOCAL_RW, PCI_RO, DOCA_ERROR_NOT_PERMITTED},
		{LOCAL_RW, PCI_RW, DOCA_ERROR_NOT_PERMITTED},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct dpumap_umem *umem = umem_of(memory, LEN, cases[i].umem);
		struct doca_mmap *mmap = map_of(umem, 0, LEN, cases[i].map);

		assert_error(doca_mmap_start(mmap), cases[i].result);
		assert_ok(doca_mmap_destroy(mmap));
		assert_ok(dpumap_umem_deregister(umem));
	}
}

/* Read-only memory of the process suffices for maps that only read it. */
static void read_only_memory_suffices_for_maps_that_only_read(void **state)
{
	struct dpumap_umem *umem = NULL;
	struct doca_mmap *map;
	struct fixture_buf buf;
	uint8_t *page;

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(page != MAP_FAILED);
	fixture_fill(page, 4096, 9);
	assert_int_equal(mprotect(page, 4096, PROT_READ), 0);
	assert_error(dpumap_umem_register(fixture.dev, page, 4096, LOCAL_RW, &umem),
		     DOCA_ERROR_INVALID_VALUE);
	umem = umem_of(page, 4096, 0);
	map = started_map(umem, 0, 4096, 0);
	assert_ok(fixture_buf_create(&fixture, 4096, LOCAL_RW, &buf));
	assert_ok(fixture_copy(&fixture,
			       &(struct fixture_copy){buf.mmap, buf.bytes, map, page, 4096}));
	assert_memory_equal(buf.bytes, page, 4096);
	assert_error(
		fixture_copy(&fixture, &(struct fixture_copy){map, page, buf.mmap, buf.bytes, 64}),
		DOCA_ERROR_NOT_PERMITTED);
	assert_ok(fixture_buf_destroy(&buf));
	assert_ok(doca_mmap_destroy(map));
	assert_ok(dpumap_umem_deregister(umem));
	munmap(page, 4096);
}

/* --- whose bytes ------------------------------------------------------------------------------ */

static doca_error_t import_umem(const struct descriptor *desc)
{
	struct dpumap_umem *umem = NULL;
	doca_error_t result = dpumap_umem_import(fixture.dev, desc->bytes, desc->len, &umem);

	if (result == DOCA_SUCCESS)
		assert_ok(dpumap_umem_unimport(umem));
	return result;
}

static void refuse_changed(const struct descriptor *desc, size_t at, doca_error_t error)
{
	struct dpumap_desc fields;
	struct descriptor changed;

	assert_int_equal(dpumap_desc_decode(desc->bytes, desc->len, &fields), DPUMAP_DESC_OK);
	((uint8_t *)&fields)[at] ^= 1;
	assert_int_equal(
		dpumap_desc_encode(&fields, changed.bytes, sizeof(changed.bytes), &changed.len),
		DPUMAP_DESC_OK);
	assert_error(import_umem(&changed), error);
}

static void corrupted_descriptor_is_refused(void **state)
{
	struct dpumap_umem *umem = umem_of(memory, LEN, LOCAL_RW | PCI_RW);
	struct descriptor desc = export_of(umem);
	struct doca_mmap *mmap = started_map(umem, 0, LEN, LOCAL_RW | PCI_RW), *from = NULL;
	struct descriptor pci = {0};
	const void *bytes;

	assert_ok(import_umem(&desc));
	for (size_t len = 0; len < desc.len; len++) {
		struct descriptor cut = desc;

		cut.len = len;
		assert_error(import_umem(&cut), DOCA_ERROR_INVALID_VALUE);
	}
	for (size_t bit = 0; bit < 8 * desc.len; bit++) {
		struct descriptor damaged = desc;

		damaged.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_error(import_umem(&damaged), DOCA_ERROR_INVALID_VALUE);
	}
	refuse_changed(&desc, offsetof(struct dpumap_desc, device_guid), DOCA_ERROR_NOT_PERMITTED);
	refuse_changed(&desc, offsetof(struct dpumap_desc, vhca_id), DOCA_ERROR_NOT_PERMITTED);
	refuse_changed(&desc, offsetof(struct dpumap_desc, umem.pdn), DOCA_ERROR_NOT_PERMITTED);
	refuse_changed(&desc, offsetof(struct dpumap_desc, umem.pd_handle) + 3,
		       DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_mmap_export_pci(mmap, fixture.dev, &bytes, &pci.len));
	memcpy(pci.bytes, bytes, pci.len);
	assert_error(import_umem(&pci), DOCA_ERROR_INVALID_VALUE);
	assert_error(doca_mmap_create_from_export(NULL, desc.bytes, desc.len, fixture.dev, &from),
		     DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(dpumap_umem_deregister(umem));
}

/* A map cannot reach more bytes than were registered. */
static void export_longer_than_the_registration_is_not_found(void **state)
{
	struct dpumap_umem *umem = umem_of(memory, LEN / 2, LOCAL_RW);
	struct descriptor desc = export_of(umem);
	struct dpumap_desc fields;

	assert_int_equal(dpumap_desc_decode(desc.bytes, desc.len, &fields), DPUMAP_DESC_OK);
	fields.len = LEN / 2 + 1;
	assert_int_equal(dpumap_desc_encode(&fields, desc.bytes, sizeof(desc.bytes), &desc.len),
			 DPUMAP_DESC_OK);
	assert_error(import_umem(&desc), DOCA_ERROR_NOT_FOUND);
	assert_ok(dpumap_umem_deregister(umem));
}

static void foreign_and_stale_exports_are_refused(void **state)
{
	struct dpumap_umem *umem = umem_of(memory, LEN, LOCAL_RW | PCI_RW);
	struct descriptor desc = export_of(umem);
	struct process same, host;

	assert_true(umem_peer_start(&same, "dpu") && umem_peer_start(&host, "host"));
	assert_ok(umem_peer_open(&same));
	assert_ok(umem_peer_open(&host));
	assert_error(umem_peer_import(&same, &desc), DOCA_ERROR_NOT_PERMITTED);
	assert_error(umem_peer_import(&host, &desc), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(dpumap_umem_deregister(umem));
	assert_error(import_umem(&desc), DOCA_ERROR_NOT_FOUND);
	umem = umem_of(memory, LEN, LOCAL_RW | PCI_RW);
	assert_error(import_umem(&desc), DOCA_ERROR_NOT_FOUND);
	assert_ok(dpumap_umem_deregister(umem));
	assert_true(process_finish(&same) && process_finish(&host));
}

/* --- by what libmlx5 offers ------------------------------------------------------------------- */

/* The directory of a later rdma-core, if available. */
#define LATER_ENV "DPUMAP_TEST_LATER_RDMA_CORE"

static bool libmlx5_exports(void)
{
	return dlsym(RTLD_DEFAULT, "mlx5dv_devx_umem_export");
}

static uint16_t form_of(const struct descriptor *desc)
{
	struct dpumap_desc fields;

	assert_int_equal(dpumap_desc_decode(desc->bytes, desc->len, &fields), DPUMAP_DESC_OK);
	return fields.umem.form;
}

static void export_takes_the_form_of_the_library(void **state)
{
	struct dpumap_umem *umem = umem_of(memory, LEN, LOCAL_RW);
	struct descriptor desc = export_of(umem);

	assert_int_equal(form_of(&desc),
			 libmlx5_exports() ? DPUMAP_DESC_UMEM_LIBMLX5 : DPUMAP_DESC_UMEM_HANDLE);
	assert_ok(dpumap_umem_deregister(umem));
}

/* A later libmlx5 imports the export of an earlier one, but not the other way round. */
static void later_libmlx5_imports_from_an_earlier_one(void **state)
{
	const char *later = getenv(LATER_ENV);
	struct dpumap_umem *umem, *none = NULL;
	struct doca_dev *dev = NULL;
	struct descriptor desc;
	struct process b;

	if (!later || libmlx5_exports())
		skip();
	umem = umem_of(memory, LEN, LOCAL_RW);
	desc = export_of(umem);
	assert_true(umem_peer_start_with(&b, "dpu", later));
	assert_ok(umem_peer_adopt(&b, fixture.dev));
	assert_ok(umem_peer_import(&b, &desc));
	assert_ok(umem_peer_map(&b, 0, LEN, LOCAL_RW));
	assert_ok(umem_peer_check(&b, 1));
	assert_ok(umem_peer_unmap(&b));
	assert_ok(umem_peer_unimport(&b));
	assert_true(process_finish(&b));
	assert_ok(dpumap_umem_deregister(umem));

	assert_true(umem_peer_start_with(&b, "dpu", later));
	assert_ok(umem_peer_open(&b));
	assert_ok(umem_peer_register(&b, LOCAL_RW, 4));
	assert_ok(umem_peer_export(&b, &desc));
	assert_int_equal(form_of(&desc), DPUMAP_DESC_UMEM_LIBMLX5);
	assert_ok(umem_peer_lend(&b, &dev));
	assert_error(dpumap_umem_import(dev, desc.bytes, desc.len, &none),
		     DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_dev_close(dev));
	assert_ok(umem_peer_deregister(&b));
	assert_true(process_finish(&b));
}

/* --- owners ----------------------------------------------------------------------------------- */

static void last_holder_ends_the_registration(void **state)
{
	struct dpumap_umem *umem = umem_of(memory, LEN, LOCAL_RW | PCI_RW);
	struct descriptor desc = export_of(umem), again;
	struct process b;

	assert_true(umem_peer_start(&b, "dpu"));
	assert_ok(umem_peer_adopt(&b, fixture.dev));
	assert_ok(umem_peer_import(&b, &desc));
	assert_error(dpumap_umem_deregister(umem), DOCA_ERROR_IN_USE);
	assert_error(umem_peer_deregister(&b), DOCA_ERROR_IN_USE);
	/* The two are unaffected. */
	assert_ok(umem_peer_map(&b, 0, LEN, LOCAL_RW | PCI_RW));
	assert_ok(umem_peer_check(&b, 1));
	assert_error(umem_peer_unimport(&b), DOCA_ERROR_IN_USE);
	assert_error(umem_peer_deregister(&b), DOCA_ERROR_IN_USE);
	assert_error(dpumap_umem_deregister(umem), DOCA_ERROR_IN_USE);
	assert_ok(umem_peer_unmap(&b));
	assert_ok(umem_peer_export(&b, &again));
	assert_ok(import_umem(&again));
	/* The owner leaves, the importer ends it. */
	assert_ok(dpumap_umem_unimport(umem));
	assert_int_equal(count_of("umems"), 1);
	assert_ok(umem_peer_deregister(&b));
	assert_int_equal(count_of("umems"), 0);
	assert_error(import_umem(&desc), DOCA_ERROR_NOT_FOUND);
	/* The other way round. */
	umem = umem_of(memory, LEN, LOCAL_RW);
	desc = export_of(umem);
	assert_ok(umem_peer_import(&b, &desc));
	assert_ok(umem_peer_unimport(&b));
	assert_ok(dpumap_umem_deregister(umem));
	assert_true(process_finish(&b));
}

/* The context keeps what a dead importer held; the other processes go on. */
static void context_keeps_what_a_dead_importer_held(void **state)
{
	struct dpumap_umem *umem = umem_of(memory, LEN, LOCAL_RW | PCI_RW);
	struct descriptor desc = export_of(umem);
	struct doca_mmap *mmap;
	struct process b;

	assert_true(umem_peer_start(&b, "dpu"));
	assert_ok(umem_peer_adopt(&b, fixture.dev));
	assert_ok(umem_peer_import(&b, &desc));
	assert_ok(umem_peer_map(&b, 0, LEN, LOCAL_RW | PCI_RW));
	assert_true(process_kill(&b));
	assert_error(dpumap_umem_deregister(umem), DOCA_ERROR_IN_USE);
	mmap = started_map(umem, 0, LEN, LOCAL_RW);
	assert_copies(mmap, memory, LEN);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(dpumap_umem_unimport(umem));
	/* close_all() finds that all of it went with the context. */
}

/* The importer holds the context, and ends the registration of its dead owner. */
static void importer_ends_the_registration_of_a_dead_owner(void **state)
{
	struct dpumap_umem *umem = NULL;
	struct doca_dev *dev = NULL;
	struct descriptor desc;
	struct process a;

	assert_true(umem_peer_start(&a, "dpu"));
	assert_ok(umem_peer_open(&a));
	assert_ok(umem_peer_register(&a, LOCAL_RW | PCI_RW, 4));
	assert_ok(umem_peer_export(&a, &desc));
	assert_ok(umem_peer_lend(&a, &dev));
	assert_ok(dpumap_umem_import(dev, desc.bytes, desc.len, &umem));
	assert_error(import_umem(&desc), DOCA_ERROR_NOT_PERMITTED);
	assert_true(process_kill(&a));
	assert_error(doca_dev_close(dev), DOCA_ERROR_IN_USE);
	/* The owner had exported it, so the context holds it now. */
	assert_error(dpumap_umem_deregister(umem), DOCA_ERROR_IN_USE);
	assert_ok(dpumap_umem_unimport(umem));
	assert_ok(doca_dev_close(dev));
}

int main(int argc, char **argv)
{
#define umem_test(function) cmocka_unit_test_setup_teardown(function, open_all, close_all)
	const struct CMUnitTest tests[] = {
		umem_test(a_umem_is_shared_by_three_processes),
		umem_test(umem_with_pci_write_alone_is_a_destination),
		umem_test(ranges_are_exact_to_the_byte),
		umem_test(key_for_peers_begins_with_the_range),
		umem_test(umem_of_a_dmabuf_is_mapped_and_imported),
		umem_test(invalid_umem_arguments_are_refused),
		umem_test(device_is_opened_from_its_descriptor_only),
		umem_test(two_passed_devices_are_refused),
		umem_test(maps_need_a_umem_of_their_device_and_permissions),
		umem_test(pci_rights_of_a_map_are_those_of_its_umem),
		umem_test(read_only_memory_suffices_for_maps_that_only_read),
		umem_test(corrupted_descriptor_is_refused),
		umem_test(export_longer_than_the_registration_is_not_found),
		umem_test(foreign_and_stale_exports_are_refused),
		umem_test(export_takes_the_form_of_the_library),
		umem_test(later_libmlx5_imports_from_an_earlier_one),
		umem_test(last_holder_ends_the_registration),
		umem_test(context_keeps_what_a_dead_importer_held),
		umem_test(importer_ends_the_registration_of_a_dead_owner),
	};

	test_parse_options(argc, argv);
	setenv("DPUMAP_LOG_LEVEL", "off", 0);
	if (umem_peer_is_this())
		return umem_peer_serve();
	if (test_options.is_peer)
		return peer_serve();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
