/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Limits: the maximum number of objects that the device reports, and what the kernel refuses to a
 * process without a capability.
 */
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "fixture.h"
#include "uverbs.h"
#include "uverbs_queues.h"
#include "uverbs_umem.h"

#define UD	   4u /* IB_UVERBS_QPT_UD */
#define CONTROLLED 0x80000000u

/* --- as many as there are --------------------------------------------------------------------- */

static struct ib_uverbs_query_device_resp query_device(int fd)
{
	struct ib_uverbs_query_device_resp r = {0};

	assert_int_equal(write_command(fd, IB_USER_VERBS_CMD_QUERY_DEVICE, NULL, 8, &r, sizeof(r)),
			 0);
	return r;
}

static void queues_are_created_up_to_the_limit(void **state)
{
	int fd = open_with_doorbells();
	const struct ib_uverbs_query_device_resp r = query_device(fd);
	struct cq q = good_cq();
	struct qp p;
	uint32_t pd, cq, handle;

	assert_int_equal(alloc_pd(fd, &pd), 0);
	assert_int_equal(create_cq(fd, &q, &cq), 0);
	for (uint32_t i = 1; i < r.max_cq; i++)
		assert_int_equal(create_cq(fd, &q, &handle), 0);
	assert_int_equal(create_cq(fd, &q, &handle), ENOMEM);
	p = good_qp(pd, cq);
	for (uint32_t i = 0; i < r.max_qp; i++)
		assert_int_equal(create_qp(fd, &p, &handle), 0);
	assert_int_equal(create_qp(fd, &p, &handle), ENOMEM);
	close(fd);
}

/* The firmware reports powers of two, and the driver reports what the firmware does. */
static void announced_limits_are_powers_of_two(void **state)
{
	int fd = open_context();
	const struct ib_uverbs_query_device_resp r = query_device(fd);
	const uint32_t n[] = {r.max_qp, r.max_cq, r.max_srq, r.max_mr, r.max_mw, r.max_pd};

	for (size_t i = 0; i < ARRAY_SIZE(n); i++) {
		assert_true(n[i] > 0);
		assert_int_equal(n[i] & (n[i] - 1), 0);
	}
	assert_int_equal(r.max_mw, r.max_mr);
	close(fd);
}

static void longest_queues_can_be_created(void **state)
{
	const size_t len = 1ull << 30;
	uint8_t *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int fd = open_with_doorbells();
	const struct ib_uverbs_query_device_resp r = query_device(fd);
	struct cq q = good_cq();
	uint32_t pd, handle;
	struct srq s;

	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(alloc_pd(fd, &pd), 0);
	q.drv.buf_addr = (uintptr_t)p;
	q.drv.cqe_size = 128;
	q.cqe = r.max_cqe;
	assert_int_equal(create_cq(fd, &q, &handle), 0);
	q.cqe = 2 * r.max_cqe + 1;
	assert_int_equal(create_cq(fd, &q, &handle), EINVAL);
	s = good_srq(pd);
	s.drv.buf_addr = (uintptr_t)p;
	s.max_wr = r.max_srq_wr;
	s.max_sge = r.max_srq_sge;
	assert_int_equal(create_srq(fd, &s, &handle), 0);
	close(fd);
	munmap(p, len);
}

/* --- without a capability --------------------------------------------------------------------- */

static void set_effective(unsigned int cap, bool on)
{
	struct __user_cap_header_struct hdr = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3], *d = &data[CAP_TO_INDEX(cap)];

	assert_int_equal(syscall(SYS_capget, &hdr, data), 0);
	d->effective &= ~CAP_TO_MASK(cap);
	if (on)
		d->effective |= d->permitted & CAP_TO_MASK(cap);
	assert_int_equal(syscall(SYS_capset, &hdr, data), 0);
}

static bool is_effective(unsigned int cap)
{
	struct __user_cap_header_struct hdr = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	assert_int_equal(syscall(SYS_capget, &hdr, data), 0);
	return data[CAP_TO_INDEX(cap)].effective & CAP_TO_MASK(cap);
}

static struct rlimit usual;

static void limit_pages(unsigned int pages)
{
	struct rlimit limit = usual;

	limit.rlim_cur = (rlim_t)pages * PAGE;
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
}

static int begin_limited(void **state)
{
	return getrlimit(RLIMIT_MEMLOCK, &usual) || fixture_count(state);
}

static int end_limited(void **state)
{
	set_effective(CAP_IPC_LOCK, true);
	set_effective(CAP_NET_RAW, true);
	return setrlimit(RLIMIT_MEMLOCK, &usual) || fixture_recount(state);
}

static int reg_pages(int fd, uint32_t pd, unsigned int first, unsigned int n, uint32_t *mr)
{
	uint8_t *start = ring + (size_t)first * PAGE;

	return reg_mr(fd, pd, start, (uintptr_t)start, (uint64_t)n * PAGE,
		      IB_UVERBS_ACCESS_LOCAL_WRITE, mr);
}

static int dereg(int fd, uint32_t mr)
{
	return destroy(fd, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, mr);
}

/* A page counts once per registration, in all contexts together; the limit may change. */
static void regions_are_limited(void **state)
{
	int fd = open_context(), other = open_context();
	uint32_t pd, pd2, first, mr;

	assert_int_equal(alloc_pd(fd, &pd), 0);
	assert_int_equal(alloc_pd(other, &pd2), 0);
	limit_pages(8);
	if (is_effective(CAP_IPC_LOCK)) {
		assert_int_equal(reg_pages(fd, pd, 0, 9, &mr), 0);
		assert_int_equal(dereg(fd, mr), 0);
	}
	set_effective(CAP_IPC_LOCK, false);
	assert_int_equal(reg_pages(fd, pd, 0, 9, &mr), ENOMEM);
	assert_int_equal(reg_pages(fd, pd, 0, 4, &first), 0);
	assert_int_equal(reg_pages(other, pd2, 0, 4, &mr), 0);
	assert_int_equal(reg_pages(fd, pd, 8, 1, &mr), ENOMEM);
	limit_pages(9);
	assert_int_equal(reg_pages(fd, pd, 8, 1, &mr), 0);
	close(other);
	assert_int_equal(reg_pages(fd, pd, 8, 4, &mr), 0);
	assert_int_equal(reg_pages(fd, pd, 8, 1, &mr), ENOMEM);
	assert_int_equal(dereg(fd, first), 0);
	assert_int_equal(reg_pages(fd, pd, 8, 4, &mr), 0);
	limit_pages(0);
	assert_int_equal(reg_pages(fd, pd, 8, 1, &mr), EPERM); /* can_do_mlock() */
	close(fd);
}

/* New pages are locked before the old ones are unlocked. */
static void reregistration_is_limited(void **state)
{
	struct ib_uverbs_rereg_mr how = {.flags = 1};
	int fd = open_context();
	uint32_t pd, mr, none;

	how.start = how.hca_va = (uintptr_t)ring;
	assert_int_equal(alloc_pd(fd, &pd), 0);
	set_effective(CAP_IPC_LOCK, false);
	limit_pages(8);
	assert_int_equal(reg_pages(fd, pd, 0, 4, &mr), 0);
	how.length = 5ull * PAGE;
	assert_int_equal(rereg_mr(fd, mr, &how), ENOMEM);
	how.length = 3ull * PAGE;
	assert_int_equal(rereg_mr(fd, mr, &how), 0);
	how.length = 5ull * PAGE;
	assert_int_equal(rereg_mr(fd, mr, &how), 0);
	assert_int_equal(reg_pages(fd, pd, 8, 4, &none), ENOMEM);
	assert_int_equal(reg_pages(fd, pd, 8, 3, &none), 0);
	close(fd);
}

static void on_demand_regions_are_not_limited(void **state)
{
	const uint32_t access = IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_ON_DEMAND;
	int fd = open_context();
	uint32_t pd, mr;

	assert_int_equal(alloc_pd(fd, &pd), 0);
	set_effective(CAP_IPC_LOCK, false);
	limit_pages(1);
	assert_int_equal(reg_mr(fd, pd, ring, (uintptr_t)ring, 16ull * PAGE, access, &mr), 0);
	close(fd);
}

/* A umem of 4 pages, a CQ's page, and one for all doorbell records in it. */
static void queues_are_limited(void **state)
{
	int fd = open_with_doorbells();
	struct cq q = good_cq();
	struct umem umem = {.addr = (uintptr_t)ring, .len = 8ull * PAGE};
	uint32_t cq, more, none, pd, mr;

	q.drv.db_addr = (uintptr_t)ring + 8 * PAGE;
	assert_int_equal(alloc_pd(fd, &pd), 0);
	set_effective(CAP_IPC_LOCK, false);
	limit_pages(7);
	umem.access = IB_UVERBS_ACCESS_LOCAL_WRITE;
	assert_int_equal(reg_umem(fd, &umem), ENOMEM);
	umem.len = 4ull * PAGE;
	assert_int_equal(reg_umem(fd, &umem), 0);
	assert_int_equal(create_cq(fd, &q, &cq), 0);
	q.drv.db_addr += 8;
	assert_int_equal(create_cq(fd, &q, &more), 0);
	assert_int_equal(create_cq(fd, &q, &none), ENOMEM);
	assert_int_equal(reg_pages(fd, pd, 0, 1, &mr), ENOMEM);
	destroy_cq(fd, cq);
	assert_int_equal(reg_pages(fd, pd, 0, 2, &mr), ENOMEM);
	assert_int_equal(create_cq(fd, &q, &cq), 0);
	destroy_cq(fd, cq);
	destroy_cq(fd, more);
	assert_int_equal(reg_pages(fd, pd, 0, 3, &mr), 0);
	assert_int_equal(dereg(fd, mr), 0);
	assert_int_equal(dereg_umem(fd, &umem), 0);
	assert_int_equal(reg_pages(fd, pd, 0, 7, &mr), 0);
	close(fd);
}

/* Queue pairs and shared receive queues count too, and a CQ's second ring while it is resized. */
static void all_queues_are_limited(void **state)
{
	int fd = open_with_doorbells();
	struct cq q = good_cq();
	uint32_t pd, cq, qp, none;
	struct srq s;
	struct qp p;

	q.drv.db_addr = (uintptr_t)ring + 8 * PAGE;
	assert_int_equal(alloc_pd(fd, &pd), 0);
	set_effective(CAP_IPC_LOCK, false);
	limit_pages(2);
	assert_int_equal(create_cq(fd, &q, &cq), 0);
	assert_int_equal(resize_cq(fd, cq, (uintptr_t)ring + PAGE, 31), ENOMEM);
	limit_pages(3);
	assert_int_equal(resize_cq(fd, cq, (uintptr_t)ring + PAGE, 31), 0);
	assert_int_equal(resize_cq(fd, cq, (uintptr_t)ring, 15), 0);
	p = good_qp(pd, cq);
	p.drv.db_addr = q.drv.db_addr + 8;
	p.drv.sq_wqe_count = 64;
	assert_int_equal(create_qp(fd, &p, &qp), ENOMEM);
	p.drv.sq_wqe_count = 16;
	assert_int_equal(create_qp(fd, &p, &qp), 0);
	s = good_srq(pd);
	s.drv.db_addr = p.drv.db_addr;
	assert_int_equal(create_srq(fd, &s, &none), ENOMEM);
	destroy_qp(fd, qp);
	assert_int_equal(create_srq(fd, &s, &none), 0);
	close(fd);
}

/* What a child registers in the parent's context counts for the child, until the child ends. */
static void children_have_counts_of_their_own(void **state)
{
	int fd = open_context(), status = 1;
	uint32_t pd, mr;
	pid_t pid;

	assert_int_equal(alloc_pd(fd, &pd), 0);
	set_effective(CAP_IPC_LOCK, false);
	limit_pages(8);
	assert_int_equal(reg_pages(fd, pd, 0, 8, &mr), 0);
	pid = fork();
	if (!pid)
		_exit(reg_pages(fd, pd, 0, 8, &mr) || reg_pages(fd, pd, 0, 1, &mr) != ENOMEM);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(reg_pages(fd, pd, 0, 1, &mr), ENOMEM);
	close(fd);
}

static int modify_qp(int fd, struct ib_uverbs_modify_qp *a)
{
	return write_command(fd, IB_USER_VERBS_CMD_MODIFY_QP, a, sizeof(*a), NULL, 0);
}

static void controlled_qkeys_need_a_capability(void **state)
{
	const uint32_t init = 1u << 0 | 1u << 4 | 1u << 5 | 1u << 6; /* state, P_Key, port, Q_Key */
	struct ib_uverbs_modify_qp a = {.qp_state = 1, .port_num = 1, .qkey = CONTROLLED | 7};
	int fd = open_with_doorbells();
	struct cq q = good_cq();
	uint32_t pd, cq;
	struct qp p;

	a.attr_mask = init;
	assert_int_equal(alloc_pd(fd, &pd), 0);
	assert_int_equal(create_cq(fd, &q, &cq), 0);
	p = good_qp(pd, cq);
	p.type = UD;
	assert_int_equal(create_qp(fd, &p, &a.qp_handle), 0);
	if (is_effective(CAP_NET_RAW))
		assert_int_equal(modify_qp(fd, &a), 0);
	set_effective(CAP_NET_RAW, false);
	assert_int_equal(modify_qp(fd, &a), EPERM);
	a.qkey = 7;
	assert_int_equal(modify_qp(fd, &a), 0);
	close(fd);
}

#define LIMITED(name) cmocka_unit_test_setup_teardown(name, begin_limited, end_limited)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		counted_test(queues_are_created_up_to_the_limit),
		counted_test(announced_limits_are_powers_of_two),
		counted_test(longest_queues_can_be_created),
		LIMITED(regions_are_limited),
		LIMITED(reregistration_is_limited),
		LIMITED(on_demand_regions_are_not_limited),
		LIMITED(queues_are_limited),
		LIMITED(all_queues_are_limited),
		LIMITED(children_have_counts_of_their_own),
		LIMITED(controlled_qkeys_need_a_capability),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, make_memory, NULL);
}
