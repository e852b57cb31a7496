/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The interface of the emulated kernel: framing of the uverbs ioctl, errors, and the life of a
 * context that several descriptors and processes share. No verbs library is involved.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "fixture.h"
#include "uverbs.h"
#include "uverbs_umem.h"

static void node_is_a_character_device(void **state)
{
	int fd = open_cdev();
	struct stat st;

	assert_int_equal(stat(DEVICE_PATH, &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(st.st_rdev, makedev(231, 192));
	close(fd);
	assert_int_equal(open("/dev/infiniband/uverbs77", O_RDWR), -1);
	assert_int_equal(errno, ENOENT);
}

static void a_malformed_frame_is_refused(void **state)
{
	int fd = open_context();
	union command c;

	assert_int_equal(ioctl(fd, _IOWR(0x1b, 2, int), &c), -1);
	assert_int_equal(errno, ENOTTY);
	assert_int_equal(ioctl(fd, RDMA_VERBS_IOCTL, (void *)16), -1);
	assert_int_equal(errno, EFAULT);

	begin(&c, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY);
	c.hdr.length = sizeof(c.hdr) + 1;
	assert_int_equal(ioctl(fd, RDMA_VERBS_IOCTL, &c), -1);
	assert_int_equal(errno, EINVAL);

	begin(&c, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY)->hdr.reserved1 = 1;
	assert_int_equal(issue(fd, &c), EPROTONOSUPPORT);
	begin(&c, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY)->hdr.driver_id = 2;
	assert_int_equal(issue(fd, &c), EINVAL);
	assert_int_equal(issue(fd, begin(&c, 0x777, 0)), EPROTONOSUPPORT);
	assert_int_equal(issue(fd, begin(&c, UVERBS_OBJECT_PD, 0x777)), EPROTONOSUPPORT);
	close(fd);
}

static void a_command_needs_its_attributes_and_ignores_optional_ones(void **state)
{
	uint32_t out = 0, pd = 0;
	int fd = open_context();
	union command c;

	assert_int_equal(alloc_pd(fd, &pd), 0);
	assert_int_equal(issue(fd, begin(&c, UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY)), EINVAL);

	begin(&c, UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY);
	add(&c, MLX5_IB_ATTR_QUERY_PD_HANDLE, 0, pd);
	add_buf(&c, MLX5_IB_ATTR_QUERY_PD_RESP_PDN, &out, sizeof(out));
	add(&c, 0x1777, 8, 0)->flags = 0;
	assert_int_equal(issue(fd, &c), 0);
	assert_true(c.hdr.attrs[1].flags & UVERBS_ATTR_F_VALID_OUTPUT);
	assert_true(out != 0);
	c.hdr.attrs[2].flags = MANDATORY;
	assert_int_equal(issue(fd, &c), EPROTONOSUPPORT);
	c.hdr.attrs[2] = c.hdr.attrs[0];
	assert_int_equal(issue(fd, &c), EINVAL);
	c.hdr.num_attrs = 2;
	c.hdr.attrs[1].len = 2;
	assert_int_equal(issue(fd, &c), EINVAL);
	c.hdr.attrs[1].len = sizeof(out);
	c.hdr.attrs[1].data = 16;
	assert_int_equal(issue(fd, &c), EFAULT);
	close(fd);
}

static void commands_before_a_context_are_refused(void **state)
{
	int fd = open_cdev();
	uint32_t pd;

	assert_int_equal(write_command(fd, IB_USER_VERBS_CMD_QUERY_DEVICE, NULL, 0, NULL, 0),
			 ENOSPC);
	assert_int_equal(alloc_pd(fd, &pd), EINVAL);
	assert_int_equal(dealloc_pd(fd, 0), ENOENT);
	assert_int_equal(get_context(fd), 0);
	assert_int_equal(get_context(fd), EINVAL);
	assert_int_equal(write_command(fd, IB_USER_VERBS_CMD_QUERY_DEVICE, NULL, 0, NULL, 0),
			 ENOSPC);
	assert_int_equal(write_command(fd, 0x7777, NULL, 0, NULL, 0), EOPNOTSUPP);
	close(fd);
}

static void a_handle_must_exist_be_of_its_kind_and_unused(void **state)
{
	static uint8_t page[4096] __attribute__((aligned(4096)));
	int fd = open_context();
	uint32_t pd, mr;

	assert_int_equal(dealloc_pd(fd, 12345), ENOENT);
	assert_int_equal(alloc_pd(fd, &pd), 0);
	assert_int_equal(reg_mr(fd, pd, page, (uintptr_t)page, sizeof(page), 1, &mr), 0);
	assert_int_equal(dealloc_pd(fd, mr), EINVAL);
	assert_int_equal(dealloc_pd(fd, pd), EBUSY);
	assert_int_equal(destroy(fd, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, mr), 0);
	assert_int_equal(destroy(fd, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, mr), ENOENT);
	assert_int_equal(dealloc_pd(fd, pd), 0);
	close(fd);
}

static int info_handles(int fd, uint64_t object, uint32_t *list, size_t len, uint32_t *total)
{
	union command c;

	begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES);
	add(&c, UVERBS_ATTR_INFO_OBJECT_ID, 8, object);
	add_buf(&c, UVERBS_ATTR_INFO_TOTAL_HANDLES, total, sizeof(*total));
	if (list)
		add_buf(&c, UVERBS_ATTR_INFO_HANDLES_LIST, list, len);
	return issue(fd, &c);
}

static void handles_of_a_kind_are_listed(void **state)
{
	uint32_t pd[3], list[4] = {0}, total = 0;
	int fd = open_context(), other = open_context();

	for (size_t i = 0; i < ARRAY_SIZE(pd); i++)
		assert_int_equal(alloc_pd(fd, &pd[i]), 0);
	assert_int_equal(info_handles(fd, UVERBS_OBJECT_PD, list, sizeof(list), &total), 0);
	assert_int_equal(total, 3);
	assert_int_equal(list[0], pd[2]);
	assert_int_equal(list[2], pd[0]);
	assert_int_equal(list[3], 0);
	assert_int_equal(dealloc_pd(fd, pd[2]), 0);
	assert_int_equal(info_handles(fd, UVERBS_OBJECT_PD, list, sizeof(list[0]), &total), 0);
	assert_int_equal(total, 1); /* there is no room for more */
	assert_int_equal(list[0], pd[1]);
	assert_int_equal(info_handles(fd, UVERBS_OBJECT_MR, list, sizeof(list), &total), 0);
	assert_int_equal(total, 0);
	assert_int_equal(info_handles(other, UVERBS_OBJECT_PD, list, sizeof(list), &total), 0);
	assert_int_equal(total, 0);
	assert_int_equal(info_handles(fd, UVERBS_OBJECT_DEVICE, list, sizeof(list), &total), 0);
	assert_int_equal(info_handles(fd, UVERBS_OBJECT_PD, NULL, 0, &total), EINVAL);
	assert_int_equal(info_handles(fd, UVERBS_OBJECT_PD, list, 6, &total), EINVAL);
	assert_int_equal(info_handles(fd, 0x10000, list, sizeof(list), &total), EINVAL);
	assert_int_equal(info_handles(fd, 0xffff, list, sizeof(list), &total), ENOMSG);
	assert_int_equal(info_handles(fd, 4711, list, sizeof(list), &total), ENOENT);
	close(other);
	close(fd);
}

static void a_region_without_memory_or_rights_is_refused(void **state)
{
	uint8_t *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open_context();
	uint64_t va = (uintptr_t)p;
	uint32_t pd, mr;

	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(alloc_pd(fd, &pd), 0);
	assert_int_equal(reg_mr(fd, pd, p, va + 1, 4096, 1, &mr), EINVAL);
	assert_int_equal(reg_mr(fd, pd, p, va, 0, 1, &mr), EINVAL);
	assert_int_equal(reg_mr(fd, pd, NULL, 0, UINT64_MAX, 1, &mr),
			 EINVAL); /* to the end of its page */
	assert_int_equal(reg_mr(fd, pd, p + 100, va + 100, 0, 1, &mr), 0); /* within a page */
	assert_int_equal(reg_mr(fd, pd, p, va, UINT64_MAX - 4096, 1, &mr), EINVAL);
	assert_int_equal(reg_mr(fd, pd, p, va, 4096, IB_UVERBS_ACCESS_REMOTE_WRITE, &mr), EINVAL);
	assert_int_equal(reg_mr(fd, 4711, p, va, 4096, 1, &mr), ENOENT);
	assert_int_equal(reg_mr(fd, 4711, p, va + 1, 4096, 1, &mr), EINVAL);
	assert_int_equal(reg_mr(fd, 4711, p, va, 4096, 0x201, &mr), EINVAL);
	assert_int_equal(mprotect(p + 4096, 4096, PROT_READ), 0);
	assert_int_equal(reg_mr(fd, pd, p, va, 8192, 1, &mr), EFAULT);
	assert_int_equal(reg_mr(fd, pd, p, va, 8192, 0, &mr), 0);
	assert_int_equal(munmap(p + 4096, 4096), 0);
	assert_int_equal(reg_mr(fd, pd, p, va, 8192, 0, &mr), EFAULT);
	assert_int_equal(reg_mr(fd, pd, p + 4196, va + 4196, 0, 0, &mr), EFAULT);
	munmap(p, 4096);
	close(fd);
}

struct dmabuf {
	uint64_t offset, len, iova;
	int fd;
	uint32_t access;
};

static int reg_dmabuf(int fd, uint32_t pd, const struct dmabuf *d, uint32_t *handle)
{
	uint32_t lkey = 0, rkey = 1;
	union command c;
	int err;

	begin(&c, UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR);
	add(&c, UVERBS_ATTR_REG_DMABUF_MR_HANDLE, 0, 0);
	add(&c, UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, 0, pd);
	add(&c, UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 8, d->offset);
	add(&c, UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 8, d->len);
	add(&c, UVERBS_ATTR_REG_DMABUF_MR_IOVA, 8, d->iova);
	add(&c, UVERBS_ATTR_REG_DMABUF_MR_FD, 4, (uint32_t)d->fd);
	add(&c, UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, 4, d->access);
	add_buf(&c, UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, &lkey, sizeof(lkey));
	add_buf(&c, UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, &rkey, sizeof(rkey));
	err = issue(fd, &c);
	*handle = (uint32_t)c.hdr.attrs[0].data;
	if (!err)
		assert_true(lkey && lkey == rkey);
	return err;
}

static int make_memfd(size_t len)
{
	int fd = memfd_create("dma-buf", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)len), 0);
	return fd;
}

static void a_region_outside_of_its_dmabuf_is_refused(void **state)
{
	int fd = open_context(), memfd = make_memfd(16384);
	const struct dmabuf good = {4096, 12288, 0x70000, memfd, 7};
	const struct {
		struct dmabuf d;
		int err;
	} bad[] = {
		{{4096, 12289, 0x70000, memfd, 7}, EINVAL},
		{{16384, 1, 0x70000, memfd, 7}, EINVAL},
		{{UINT64_MAX - 4095, 8192, 0x70000, memfd, 7}, EINVAL},
		{{4096, UINT64_MAX, 0x70000, memfd, 7}, EINVAL},
		{{4096, 0, 0x70000, memfd, 7}, EINVAL},
		{{4096, 4096, 0x70001, memfd, 7}, EINVAL},
		{{4096, 8192, UINT64_MAX - 4095, memfd, 7}, EINVAL},
		{{4096, 4096, 0x70000, memfd, IB_UVERBS_ACCESS_REMOTE_WRITE}, EINVAL},
		{{4096, 4096, 0x70000, memfd, 1 | IB_UVERBS_ACCESS_MW_BIND}, EINVAL},
		{{4096, 4096, 0x70000, -1, 7}, EBADF},
		{{0, 0, 0, -1, 0}, EBADF}, /* NCCL: does the kernel know the command? */
		{{4096, 4096, 0x70000, 4711, 7}, EBADF},
	};
	uint32_t pd, mr;

	assert_int_equal(alloc_pd(fd, &pd), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(reg_dmabuf(fd, pd, &bad[i].d, &mr), bad[i].err);
	assert_int_equal(reg_dmabuf(fd, 4711, &good, &mr), ENOENT);
	assert_int_equal(reg_dmabuf(fd, pd, &good, &mr), 0);
	assert_int_equal(dealloc_pd(fd, pd), EBUSY);
	assert_int_equal(destroy(fd, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, mr), 0);
	assert_int_equal(dealloc_pd(fd, pd), 0);
	close(memfd);
	close(fd);
}

static void refuse_dmabuf(int fd, uint32_t pd, int other)
{
	const struct dmabuf d = {0, 4096, 0, other, 7};
	uint32_t mr;

	assert_true(other >= 0);
	assert_int_equal(reg_dmabuf(fd, pd, &d, &mr), EINVAL);
	close(other);
}

/* Only descriptors of memory: not other files, nor the device itself. */
static void file_that_is_not_a_dmabuf_is_refused(void **state)
{
	char shm[] = "/dev/shm/dpumap-test-XXXXXX", plain[] = "/tmp/dpumap-test-XXXXXX";
	int fd = open_context(), pipes[2];
	uint32_t pd;

	assert_int_equal(alloc_pd(fd, &pd), 0);
	refuse_dmabuf(fd, pd, dup(fd));
	refuse_dmabuf(fd, pd, open("/dev/null", O_RDWR));
	refuse_dmabuf(fd, pd, open("/tmp", O_RDONLY | O_DIRECTORY));
	refuse_dmabuf(fd, pd, socket(AF_UNIX, SOCK_STREAM, 0));
	assert_int_equal(pipe(pipes), 0);
	refuse_dmabuf(fd, pd, pipes[0]);
	refuse_dmabuf(fd, pd, pipes[1]);
	refuse_dmabuf(fd, pd, mkstemp(plain));
	unlink(plain);
	refuse_dmabuf(fd, pd, mkstemp(shm));
	unlink(shm);
	close(fd);
}

static void sealed_memfd_is_a_dmabuf(void **state)
{
	int fd = open_context(), memfd = make_memfd(4096);
	const struct dmabuf d = {0, 4096, 0, memfd, 7};
	uint32_t pd, mr;

	assert_int_equal(fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
	assert_int_equal(alloc_pd(fd, &pd), 0);
	assert_int_equal(reg_dmabuf(fd, pd, &d, &mr), 0);
	close(memfd);
	assert_int_equal(destroy(fd, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, mr), 0);
	close(fd);
}

static int reg_file(int fd, uint64_t offset, uint64_t len, int dmabuf, struct umem *umem)
{
	*umem = (struct umem){.addr = offset, .len = len, .access = 7, .is_dmabuf = true};
	umem->dmabuf = dmabuf;
	return reg_umem(fd, umem);
}

static void a_umem_outside_of_its_dmabuf_is_refused(void **state)
{
	int fd = open_context(), memfd = make_memfd(16384);
	struct umem umem;

	assert_int_equal(reg_file(fd, 4096, 12289, memfd, &umem), EINVAL);
	assert_int_equal(reg_file(fd, 0, 0, memfd, &umem), EINVAL);
	assert_int_equal(reg_file(fd, 0, 4096, 4711, &umem), EBADF);
	assert_int_equal(reg_file(fd, 0, 4096, fd, &umem), EINVAL);
	assert_int_equal(reg_file(fd, 4096, 12288, memfd, &umem), 0);
	assert_int_not_equal(umem.id, 0);
	assert_int_equal(dereg_umem(fd, &umem), 0);
	close(memfd);
	close(fd);
}

static void a_dmabuf_region_can_be_reregistered(void **state)
{
	static uint8_t page[4096] __attribute__((aligned(4096)));
	int fd = open_context(), memfd = make_memfd(4096);
	const struct dmabuf d = {0, 4096, 0, memfd, 7};
	const struct ib_uverbs_rereg_mr access = {.flags = 4, .access_flags = 1};
	const struct ib_uverbs_rereg_mr memory = {
		.flags = 1,
		.start = (uintptr_t)page,
		.hca_va = (uintptr_t)page,
		.length = sizeof(page),
	};
	uint32_t pd, mr;

	assert_int_equal(alloc_pd(fd, &pd), 0);
	assert_int_equal(reg_dmabuf(fd, pd, &d, &mr), 0);
	assert_int_equal(rereg_mr(fd, mr, &access), 0);
	assert_int_equal(rereg_mr(fd, mr, &memory), 0);
	assert_int_equal(rereg_mr(fd, mr, &access), 0);
	assert_int_equal(destroy(fd, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, mr), 0);
	close(memfd);
	close(fd);
}

/* If copying the answer fails, the object must be destroyed. */
static void unwritable_answer_undoes_the_command(void **state)
{
	struct ib_uverbs_alloc_pd_resp *nowhere = (void *)16;
	int fd = open_context();

	assert_int_equal(
		write_command(fd, IB_USER_VERBS_CMD_ALLOC_PD, NULL, 8, nowhere, sizeof(*nowhere)),
		EFAULT);
	close(fd);
}

static void mmap_needs_an_object(void **state)
{
	int fd = open_context();
	struct uar uar = {0};
	void *p;

	p = mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fd, 0x123000);
	assert_ptr_equal(p, MAP_FAILED);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(alloc_uar(fd, &uar), 0);
	assert_int_not_equal(uar.page, 0);
	assert_int_equal(uar.len, 4096);
	p = mmap(NULL, 8192, PROT_WRITE, MAP_SHARED, fd, (off_t)uar.offset);
	assert_ptr_equal(p, MAP_FAILED);
	assert_int_equal(errno, EINVAL);
	p = mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fd, (off_t)uar.offset);
	assert_ptr_not_equal(p, MAP_FAILED);
	munmap(p, 4096);
	close(fd);
}

/* The context lives as long as any descriptor of its open file. */
static void dup_shares_the_context(void **state)
{
	int fd = open_context(), copy = dup(fd);
	uint32_t pd;

	assert_int_equal(alloc_pd(fd, &pd), 0);
	close(fd);
	assert_int_equal(dealloc_pd(copy, pd), 0);
	close(copy);
}

static void fork_shares_the_context(void **state)
{
	int fd = open_context();
	uint32_t mine, child_pd;
	pid_t pid;

	assert_int_equal(alloc_pd(fd, &mine), 0);
	pid = fork();
	if (!pid)
		_exit(dealloc_pd(fd, mine) || alloc_pd(fd, &child_pd) || child_pd != mine);
	assert_int_equal(process_exit_code(pid), 0);
	assert_int_equal(dealloc_pd(fd, mine), 0);
	close(fd);
}

/*
 * The process that opened the context dies; the one that received the descriptor keeps it and its
 * objects.
 */
static void passed_descriptor_keeps_the_context(void **state)
{
	int pair[2], fd;
	char byte;
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	pid = fork();
	if (!pid) {
		uint32_t pd = 0;

		fd = open_cdev();
		if (fd < 0 || get_context(fd) || alloc_pd(fd, &pd) || pd)
			_exit(8);
		_exit(process_send_fd(pair[1], fd, "", 1) ? 0 : 9);
	}
	fd = process_receive_fd(pair[0], &byte, 1);
	assert_int_equal(process_exit_code(pid), 0);
	assert_true(fd >= 0);
	assert_int_equal(dealloc_pd(fd, 0), 0);
	close(fd);
	close(pair[0]);
	close(pair[1]);
}

/* Objects of a closed context are destroyed before the next command of the same process. */
static void close_releases_at_once(void **state)
{
	struct objects before, after;
	uint32_t pd;

	for (int i = 0; i < 50; i++) {
		int fd = open_context();

		assert_int_equal(alloc_pd(fd, &pd), 0);
		assert_int_equal(pd, 0);
		close(fd);
		if (i == 0)
			assert_true(objects_read(&before));
	}
	assert_true(objects_read(&after));
	assert_true(objects_equal(&before, &after));
}

static void completion_channel_is_a_file(void **state)
{
	struct ib_uverbs_create_comp_channel_resp resp = {0};
	int fd = open_context();
	uint64_t record;

	assert_int_equal(write_command(fd, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, NULL, 8, &resp,
				       sizeof(resp)),
			 0);
	assert_int_equal(fcntl((int)resp.fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(read((int)resp.fd, &record, sizeof(record)), -1);
	assert_int_equal(errno, EAGAIN);
	close((int)resp.fd);
	close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_count, fixture_recount)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(node_is_a_character_device),
		TEST(a_malformed_frame_is_refused),
		TEST(a_command_needs_its_attributes_and_ignores_optional_ones),
		TEST(commands_before_a_context_are_refused),
		TEST(a_handle_must_exist_be_of_its_kind_and_unused),
		TEST(handles_of_a_kind_are_listed),
		TEST(a_region_without_memory_or_rights_is_refused),
		TEST(a_region_outside_of_its_dmabuf_is_refused),
		TEST(file_that_is_not_a_dmabuf_is_refused),
		TEST(sealed_memfd_is_a_dmabuf),
		TEST(a_umem_outside_of_its_dmabuf_is_refused),
		TEST(a_dmabuf_region_can_be_reregistered),
		TEST(unwritable_answer_undoes_the_command),
		TEST(mmap_needs_an_object),
		TEST(dup_shares_the_context),
		TEST(fork_shares_the_context),
		TEST(passed_descriptor_keeps_the_context),
		TEST(close_releases_at_once),
		TEST(completion_channel_is_a_file),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
