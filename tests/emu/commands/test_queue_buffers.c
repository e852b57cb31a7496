/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The memory of queues as attributes of Linux 7.2 name it: addresses, and parts of dma-bufs. libmlx5 does not use them
 * yet. So the commands that it sends get them here, in place of the addresses in its own part; and where a dma-buf is
 * meant, its pages take the place of the memory that libmlx5 uses.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "rc.h"
#include "uverbs.h"
#include "uverbs_queues.h"

enum { CQ_VA = UVERBS_ATTR_CREATE_CQ_EVENT_FD + 1, CQ_LENGTH, CQ_FD, CQ_OFFSET, CQ_RING };
enum { QP_RING = UVERBS_ATTR_CREATE_QP_RESP_QP_NUM + 1 };
enum { CQ_DOORBELLS = UVERBS_ATTR_UHW_OUT + 1, CQ_RECORD, QP_RECORD = CQ_DOORBELLS };
enum { DMABUF, VA };

#define FILE_BYTES (1u << 20)
#define NOWHERE	   0x1000u
#define ROUNDS	   300u

struct desc {
	uint32_t type;
	int32_t fd;
	uint32_t flags, optional_flags;
	uint64_t addr, length;
};

/* How the commands of libmlx5 name memory, and what they named last. */
static enum how {
	AS_IT_IS,
	BY_ADDRESS,
	BY_FILE,
	RECORD_BY_ADDRESS,
	BY_PARTS,
	BY_PARTS_OF_FILE
} how;
static struct desc ring_desc, record_desc;
static int file = -1;
static uint64_t file_used, for_engine;
static unsigned int named_cqs, named_qps;
static bool bad_ring;

/* A command with room for more attributes. */
static union {
	struct ib_uverbs_ioctl_hdr hdr; /* ends with the attributes */
	uint8_t room[sizeof(struct ib_uverbs_ioctl_hdr) +
		     (MAX_ATTRS + 8) * sizeof(struct ib_uverbs_attr)];
} longer;

static void add_more(uint16_t id, uint16_t len, uint64_t data)
{
	longer.hdr.attrs[longer.hdr.num_attrs++] = (struct ib_uverbs_attr){
		.attr_id = id, .len = len, .flags = MANDATORY, .data = data};
}

static void *attr_data(uint16_t id)
{
	for (unsigned int i = 0; i < longer.hdr.num_attrs; i++)
		if (longer.hdr.attrs[i].attr_id == id)
			return (void *)(uintptr_t)longer.hdr.attrs[i].data;
	return NULL;
}

static bool is_of_file(void)
{
	return how == BY_FILE || how == RECORD_BY_ADDRESS || how == BY_PARTS_OF_FILE;
}

/* Where the page of doorbell records is, which queues share. */
static uint64_t records_at, records_offset;

/* Put pages of the file in place of those at the address. Returns the address's offset in the file. */
static uint64_t put_on_file(uint64_t addr, uint64_t len)
{
	const uint64_t inner = addr % PAGE, whole = (inner + len + PAGE - 1) / PAGE * PAGE;
	void *at = (void *)(uintptr_t)(addr - inner);
	const uint64_t offset = file_used;

	file_used += whole;
	assert_in_range(file_used, 1, FILE_BYTES);
	assert_int_equal(pwrite(file, at, whole, (off_t)offset), whole);
	assert_ptr_equal(mmap(at, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
			      (off_t)offset),
			 at);
	return offset + inner;
}

static uint64_t put_record_on_file(uint64_t addr)
{
	if (records_at != addr - addr % PAGE) {
		records_at = addr - addr % PAGE;
		records_offset = put_on_file(records_at, PAGE);
	}
	return records_offset + addr % PAGE;
}

static struct desc describe(uint64_t addr, uint64_t len)
{
	const struct desc in_memory = {VA, -1, 0, 0, addr, len};

	if (!is_of_file())
		return in_memory;
	for_engine += (len + PAGE - 1) / PAGE * PAGE;
	return (struct desc){DMABUF, file, 0, 0, put_on_file(addr, len), len};
}

static struct desc describe_record(uint64_t addr)
{
	const struct desc in_memory = {VA, -1, 0, 0, addr, 8};

	if (!is_of_file() || how == RECORD_BY_ADDRESS)
		return in_memory;
	for_engine += PAGE;
	return (struct desc){DMABUF, file, 0, 0, put_record_on_file(addr), 8};
}

static void add_parts(void)
{
	add_more(CQ_LENGTH, 8, ring_desc.length);
	if (how == BY_PARTS) {
		add_more(CQ_VA, 8, ring_desc.addr);
		return;
	}
	add_more(CQ_FD, 0, (uint64_t)ring_desc.fd);
	add_more(CQ_OFFSET, 8, ring_desc.addr);
}

static void name_cq(void)
{
	static uint32_t uar;
	struct mlx5_ib_create_cq *drv = attr_data(UVERBS_ATTR_UHW_IN);
	uint64_t entries = 1;

	named_cqs++;

	for (unsigned int i = 0; i < longer.hdr.num_attrs; i++)
		if (longer.hdr.attrs[i].attr_id == UVERBS_ATTR_CREATE_CQ_CQE)
			while (entries <= longer.hdr.attrs[i].data)
				entries *= 2;
	ring_desc = describe(drv->buf_addr, entries * drv->cqe_size);
	record_desc = describe_record(drv->db_addr);
	uar = drv->uar_page_index;
	drv->buf_addr = drv->db_addr = NOWHERE;
	drv->flags &= (uint16_t)~MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX;
	drv->uar_page_index = 0;
	add_more(CQ_DOORBELLS, 4, uar);
	if (how == BY_PARTS || how == BY_PARTS_OF_FILE)
		add_parts();
	else
		add_more(CQ_RING, sizeof(ring_desc), (uintptr_t)&ring_desc);
	add_more(CQ_RECORD, sizeof(record_desc), (uintptr_t)&record_desc);
}

static void name_qp(void)
{
	struct mlx5_ib_create_qp *drv = attr_data(UVERBS_ATTR_UHW_IN);
	const uint64_t len =
		drv->sq_wqe_count * 64ull + ((uint64_t)drv->rq_wqe_count << drv->rq_wqe_shift);

	named_qps++;
	ring_desc = describe(drv->buf_addr, len);
	ring_desc.type += bad_ring;
	record_desc = describe_record(drv->db_addr);
	drv->buf_addr = drv->db_addr = NOWHERE;
	add_more(QP_RING, sizeof(ring_desc), (uintptr_t)&ring_desc);
	add_more(QP_RECORD, sizeof(record_desc), (uintptr_t)&record_desc);
}

static bool creates(const struct ib_uverbs_ioctl_hdr *h, uint16_t object, uint16_t method)
{
	return h->object_id == object && h->method_id == method && how != AS_IT_IS;
}

/* Of libibverbs and of this program. */
__attribute__((visibility("default"))) int ioctl(int fd, unsigned long request, ...)
{
	static int (*next)(int fd, unsigned long request, ...);
	struct ib_uverbs_ioctl_hdr *h;
	unsigned int given;
	va_list args;
	int result;

	va_start(args, request);
	h = va_arg(args, struct ib_uverbs_ioctl_hdr *);
	va_end(args);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "ioctl");
	if (request != RDMA_VERBS_IOCTL ||
	    (!creates(h, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE) &&
	     !creates(h, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE)))
		return next(fd, request, h);
	given = h->num_attrs;
	assert_in_range(given, 1, MAX_ATTRS);
	memcpy(&longer, h, h->length);
	if (h->object_id == UVERBS_OBJECT_CQ)
		name_cq();
	else
		name_qp();
	longer.hdr.length =
		(uint16_t)(sizeof(longer.hdr) + longer.hdr.num_attrs * sizeof(longer.hdr.attrs[0]));
	result = next(fd, request, &longer.hdr);
	memcpy(h->attrs, longer.hdr.attrs, given * sizeof(h->attrs[0]));
	return result;
}

/* How much of this process's memory is of the file. */
static uint64_t mapped(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t bytes = 0, from, to;
	char line[512];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "/memfd:queues") &&
		    sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) == 2)
			bytes += to - from;
	assert_int_equal(fclose(maps), 0);
	return bytes;
}

static int open_file(void **state)
{
	(void)state;
	how = AS_IT_IS;
	file_used = records_at = for_engine = 0;
	file = memfd_create("queues", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return file >= 0 && !ftruncate(file, FILE_BYTES) && !fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK)
		       ? fixture_count(state)
		       : -1;
}

static int close_file(void **state)
{
	how = AS_IT_IS;
	close(file);
	return fixture_recount(state);
}

/* More requests than the rings have entries, with as many receives. */
static void exchange(struct rc *rc)
{
	struct ibv_sge sge = {.addr = (uintptr_t)rc->bytes, .length = 64, .lkey = rc->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED};

	for (unsigned int i = 0; i < ROUNDS; i++) {
		assert_true(rc_receive(rc, 64));
		assert_true(rc_post(rc, &wr));
		assert_int_equal(rc_wait(rc, FIXTURE_TIMEOUT_MS), IBV_WC_SUCCESS);
		assert_int_equal(rc_wait(rc, FIXTURE_TIMEOUT_MS), IBV_WC_SUCCESS);
	}
}

static void work_on_rings(enum how named)
{
	struct ibv_context *context = fixture_open_context();
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct rc rc;
	uint64_t with;

	assert_non_null(pd);
	how = named;
	named_cqs = named_qps = 0;
	assert_true(rc_open_loopback(&rc, pd));
	assert_int_equal(named_cqs, 1);
	assert_int_equal(named_qps, 1);
	with = mapped();
	exchange(&rc);
	assert_true(rc_close(&rc));
	/* What the process mapped for the engine is gone. What this test has put under libmlx5's feet stays. */
	assert_int_equal(with - mapped(), for_engine);
	how = AS_IT_IS;
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	assert_int_equal(ibv_close_device(context), 0);
}

static void queues_work_at_the_addresses_of_attributes(void **state)
{
	(void)state;
	work_on_rings(BY_ADDRESS);
}

static void queues_work_in_a_dmabuf(void **state)
{
	(void)state;
	work_on_rings(BY_FILE);
}

static void rings_are_in_a_dmabuf_and_records_are_not(void **state)
{
	(void)state;
	work_on_rings(RECORD_BY_ADDRESS);
}

static void cq_has_its_ring_by_parts(void **state)
{
	(void)state;
	work_on_rings(BY_PARTS);
}

static void cq_has_its_ring_in_a_dmabuf_by_parts(void **state)
{
	(void)state;
	work_on_rings(BY_PARTS_OF_FILE);
}

/* As mlx5, which does not read the attribute then. */
static void qp_without_a_ring_ignores_its_buffer(void **state)
{
	int fd = open_with_doorbells();
	uint32_t pd, cq, handle;
	struct cq c = good_cq();
	struct qp q;

	(void)state;
	assert_int_equal(alloc_pd(fd, &pd), 0);
	assert_int_equal(create_cq(fd, &c, &cq), 0);
	q = good_qp(pd, cq);
	q.drv.sq_wqe_count = q.drv.rq_wqe_count = q.drv.rq_wqe_shift = 0;
	q.cap = (struct ib_uverbs_qp_cap){0};
	bad_ring = true;
	how = BY_ADDRESS;
	assert_int_equal(create_qp(fd, &q, &handle), 0);
	destroy_qp(fd, handle);
	q = good_qp(pd, cq);
	assert_int_equal(create_qp(fd, &q, &handle), EINVAL);
	how = AS_IT_IS;
	bad_ring = false;
	close(fd);
}

/* --- what is refused -------------------------------------------------------------------------- */

struct bad {
	const char *what;
	int error;
	uint16_t attr[4]; /* CQ_RING, CQ_RECORD: the descriptor follows; else a value */
	struct desc desc;
	uint64_t value;
};

static int create_with(int fd, struct bad *b)
{
	struct mlx5_ib_create_cq_resp resp;
	struct cq q = good_cq();
	uint32_t cqe;
	union command c;

	begin(&c, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
	add(&c, UVERBS_ATTR_CREATE_CQ_HANDLE, 0, 0);
	add(&c, UVERBS_ATTR_CREATE_CQ_CQE, 4, q.cqe);
	add(&c, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, 1);
	add(&c, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, 0);
	add_buf(&c, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &cqe, sizeof(cqe));
	add_buf(&c, UVERBS_ATTR_UHW_IN, &q.drv, sizeof(q.drv));
	add_buf(&c, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	for (size_t i = 0; i < ARRAY_SIZE(b->attr) && b->attr[i]; i++) {
		if (b->attr[i] == CQ_RING || b->attr[i] == CQ_RECORD)
			add_buf(&c, b->attr[i], &b->desc, sizeof(b->desc));
		else
			add(&c, b->attr[i], b->attr[i] == CQ_FD ? 0 : 8, b->value);
	}
	return issue(fd, &c);
}

static int export_doorbells(int fd)
{
	struct uar uar = {0};
	int exported;

	assert_int_equal(alloc_uar(fd, &uar), 0);
	exported = export_dmabuf(fd, uar.offset);
	assert_true(exported >= 0);
	return exported;
}

static void wrong_buffers_are_refused(void **state)
{
	const uint64_t at = (uintptr_t)ring, len = PAGE;
	int fd = open_with_doorbells(),
	    loose = memfd_create("loose", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int readable = memfd_create("readable", MFD_CLOEXEC | MFD_ALLOW_SEALING),
	    other = open("/", O_RDONLY);
	int huge = memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
	int exported = export_doorbells(fd);
	struct bad cases[] = {
		{"good", 0, {CQ_RING}, {VA, -1, 0, ~0u, at, len}, 0},
		{"flags", EINVAL, {CQ_RING}, {VA, -1, 1, 0, at, len}, 0},
		{"type", EINVAL, {CQ_RING}, {2, -1, 0, 0, at, len}, 0},
		{"too short", EINVAL, {CQ_RING}, {VA, -1, 0, 0, at, len - 1}, 0},
		{"no memory", EFAULT, {CQ_RING}, {VA, -1, 0, 0, NOWHERE, len}, 0},
		{"no descriptor", EBADF, {CQ_RING}, {DMABUF, -1, 0, 0, 0, len}, 0},
		{"a directory", EINVAL, {CQ_RING}, {DMABUF, other, 0, 0, 0, len}, 0},
		{"beyond the end",
		 EINVAL,
		 {CQ_RING},
		 {DMABUF, file, 0, 0, FILE_BYTES - len + 64, len},
		 0},
		{"may shrink", EINVAL, {CQ_RING}, {DMABUF, loose, 0, 0, 0, len}, 0},
		{"cannot be written", EINVAL, {CQ_RING}, {DMABUF, readable, 0, 0, 0, len}, 0},
		{"huge pages",
		 huge < 0 ? EBADF : EOPNOTSUPP,
		 {CQ_RING},
		 {DMABUF, huge, 0, 0, 0, len},
		 0},
		{"doorbells", EOPNOTSUPP, {CQ_RING}, {DMABUF, exported, 0, 0, 0, len}, 0},
		{"record is short", EINVAL, {CQ_RECORD}, {VA, -1, 0, 0, at, 7}, 0},
		{"record at the end of a page",
		 0,
		 {CQ_RECORD},
		 {VA, -1, 0, 0, at + PAGE - 8, 8},
		 0},
		{"record crosses pages", EINVAL, {CQ_RECORD}, {VA, -1, 0, 0, at + PAGE - 4, 8}, 0},
		{"record is not aligned", EINVAL, {CQ_RECORD}, {VA, -1, 0, 0, at + 4, 8}, 0},
		{"record of a file, too", EINVAL, {CQ_RECORD}, {DMABUF, file, 0, 0, 4, 8}, 0},
		{"twice", EINVAL, {CQ_RING, CQ_VA, CQ_LENGTH}, {VA, -1, 0, 0, at, len}, len},
		{"no length", ENOENT, {CQ_VA}, {0}, at},
		{"only a length", EINVAL, {CQ_LENGTH}, {0}, len},
		{"only an offset", EINVAL, {CQ_OFFSET}, {0}, 0},
		{"no offset", ENOENT, {CQ_FD, CQ_LENGTH}, {0}, len},
		{"address and file", EINVAL, {CQ_VA, CQ_LENGTH, CQ_FD}, {0}, len},
		{"address and offset", EINVAL, {CQ_VA, CQ_LENGTH, CQ_OFFSET}, {0}, len},
	};

	const uint64_t before = mapped();

	(void)state;
	assert_int_equal(ftruncate(loose, PAGE), 0);
	assert_true(huge < 0 || !ftruncate(huge, 2 << 20));
	assert_int_equal(ftruncate(readable, PAGE), 0);
	assert_int_equal(fcntl(readable, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_WRITE), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		print_message("%s\n", cases[i].what);
		assert_int_equal(create_with(fd, &cases[i]), cases[i].error);
	}
	assert_int_equal(mapped(), before);
	close(fd);
	close(loose);
	close(readable);
	close(other);
	close(huge);
	close(exported);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_file, close_file)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(queues_work_at_the_addresses_of_attributes),
		TEST(queues_work_in_a_dmabuf),
		TEST(rings_are_in_a_dmabuf_and_records_are_not),
		TEST(cq_has_its_ring_by_parts),
		TEST(cq_has_its_ring_in_a_dmabuf_by_parts),
		TEST(qp_without_a_ring_ignores_its_buffer),
		TEST(wrong_buffers_are_refused),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, make_memory, NULL);
}
