/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Memory that keys come to stand for late: windows bound by work requests, regions on demand. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fixture.h"
#include "loop.h"
#include "uverbs.h"

#define BYTES	 4096
#define PATIENCE 10000

struct desk {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct loop loop;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	uint8_t bytes[BYTES];
};

static struct desk *open_desk(unsigned int access, enum ibv_mw_type type)
{
	struct desk *d = test_calloc(1, sizeof(*d));

	d->context = rig_open_context();
	assert_non_null(d->context);
	d->pd = ibv_alloc_pd(d->context);
	assert_true(loop_open(&d->loop, d->pd));
	d->mr = ibv_reg_mr(d->pd, d->bytes, BYTES, (int)access);
	d->mw = ibv_alloc_mw(d->pd, type);
	assert_non_null(d->mr);
	assert_non_null(d->mw);
	return d;
}

static void close_desk(struct desk *d)
{
	if (d->mw)
		assert_int_equal(ibv_dealloc_mw(d->mw), 0);
	if (d->mr)
		assert_int_equal(ibv_dereg_mr(d->mr), 0);
	assert_true(loop_close(&d->loop));
	assert_int_equal(ibv_dealloc_pd(d->pd), 0);
	assert_int_equal(ibv_close_device(d->context), 0);
	test_free(d);
}

struct part {
	uint64_t off;
	uint64_t len;
	unsigned int access;
};

/* Bind a window of type 2; its new key is `*key`. The status of the completion. */
static int bind_window(struct desk *d, const struct part *part, uint32_t *key)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED};

	*key = ibv_inc_rkey(d->mw->rkey);
	wr.bind_mw.mw = d->mw;
	wr.bind_mw.rkey = *key;
	wr.bind_mw.bind_info.mr = d->mr;
	wr.bind_mw.bind_info.addr = (uintptr_t)d->bytes + part->off;
	wr.bind_mw.bind_info.length = part->len;
	wr.bind_mw.bind_info.mw_access_flags = part->access;
	assert_true(loop_post(&d->loop, &wr));
	return loop_wait(&d->loop, PATIENCE);
}

static int invalidate(struct desk *d, uint32_t key)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_LOCAL_INV,
		.send_flags = IBV_SEND_SIGNALED,
		.invalidate_rkey = key,
	};

	assert_true(loop_post(&d->loop, &wr));
	return loop_wait(&d->loop, PATIENCE);
}

static const struct part middle = {1024, 512, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};

static void test_window_is_what_it_was_bound_to(void **state)
{
	struct desk *d = open_desk(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND, IBV_MW_TYPE_2);
	uint64_t at = (uintptr_t)d->bytes + middle.off;
	uint32_t key;

	(void)state;
	assert_int_equal(loop_write(&d->loop, d->mw->rkey, at, 8), IBV_WC_REM_ACCESS_ERR);
	assert_true(loop_revive(&d->loop));
	assert_int_equal(bind_window(d, &middle, &key), IBV_WC_SUCCESS);
	memset(d->loop.bytes, 0x5a, 512);
	assert_int_equal(loop_write(&d->loop, key, at, 512), IBV_WC_SUCCESS);
	assert_int_equal(d->bytes[middle.off + 511], 0x5a);
	assert_int_equal(d->bytes[middle.off + 512], 0);
	/* It is bound, and neither it nor its region can be used otherwise. */
	assert_int_equal(ibv_dereg_mr(d->mr), EBUSY);
	assert_int_equal(loop_write(&d->loop, key, at + 1, 512), IBV_WC_REM_ACCESS_ERR);
	assert_true(loop_revive(&d->loop));
	assert_int_equal(bind_window(d, &middle, &key), IBV_WC_MW_BIND_ERR);
	assert_true(loop_revive(&d->loop));
	assert_int_equal(invalidate(d, key), IBV_WC_SUCCESS);
	assert_int_equal(loop_write(&d->loop, key, at, 8), IBV_WC_REM_ACCESS_ERR);
	assert_true(loop_revive(&d->loop));
	assert_int_equal(invalidate(d, key), IBV_WC_MW_BIND_ERR);
	close_desk(d);
}

static void test_window_grants_no_more_than_its_region(void **state)
{
	static const struct {
		unsigned int region;
		struct part part;
	} cases[] = {
		{IBV_ACCESS_LOCAL_WRITE, {0, 64, IBV_ACCESS_REMOTE_READ}},
		{IBV_ACCESS_MW_BIND, {0, 64, IBV_ACCESS_REMOTE_WRITE}},
		{IBV_ACCESS_MW_BIND, {0, 64, IBV_ACCESS_REMOTE_ATOMIC}},
		{IBV_ACCESS_MW_BIND, {BYTES - 63, 64, IBV_ACCESS_REMOTE_READ}},
		{IBV_ACCESS_MW_BIND, {(uint64_t)0 - 1, 64, IBV_ACCESS_REMOTE_READ}},
	};
	uint32_t key;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct desk *d = open_desk(cases[i].region, IBV_MW_TYPE_2);

		assert_int_equal(bind_window(d, &cases[i].part, &key), IBV_WC_MW_BIND_ERR);
		close_desk(d);
	}
}

static void test_window_of_type_2_is_its_queue_pairs(void **state)
{
	struct desk *d = open_desk(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND, IBV_MW_TYPE_2);
	struct loop *other = test_calloc(1, sizeof(*other));
	uint32_t key;

	(void)state;
	assert_true(loop_open(other, d->pd));
	assert_int_equal(bind_window(d, &middle, &key), IBV_WC_SUCCESS);
	assert_int_equal(loop_write(other, key, (uintptr_t)d->bytes + middle.off, 8),
			 IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(loop_write(&d->loop, key, (uintptr_t)d->bytes + middle.off, 8),
			 IBV_WC_SUCCESS);
	assert_true(loop_close(other));
	test_free(other);
	close_desk(d);
}

static void test_window_of_type_1_is_bound_anew(void **state)
{
	struct desk *d = open_desk(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {.send_flags = IBV_SEND_SIGNALED};
	uint64_t at = (uintptr_t)d->bytes;
	uint32_t first;

	(void)state;
	bind.bind_info = (struct ibv_mw_bind_info){d->mr, at, 64, IBV_ACCESS_REMOTE_WRITE};
	assert_int_equal(ibv_bind_mw(d->loop.qp, d->mw, &bind), 0);
	assert_int_equal(loop_wait(&d->loop, PATIENCE), IBV_WC_SUCCESS);
	first = d->mw->rkey;
	bind.bind_info.addr = at + 64;
	assert_int_equal(ibv_bind_mw(d->loop.qp, d->mw, &bind), 0);
	assert_int_equal(loop_wait(&d->loop, PATIENCE), IBV_WC_SUCCESS);
	assert_int_equal(loop_write(&d->loop, d->mw->rkey, at + 64, 64), IBV_WC_SUCCESS);
	assert_int_equal(loop_write(&d->loop, first, at + 64, 64), IBV_WC_REM_ACCESS_ERR);
	assert_true(loop_revive(&d->loop));
	assert_int_equal(invalidate(d, d->mw->rkey), IBV_WC_MW_BIND_ERR);
	close_desk(d);
}

/* There are two types, and the library asks no kernel about a third. */
static void test_no_third_type(void **state)
{
	struct ib_uverbs_alloc_mw req = {.mw_type = 3};
	struct ib_uverbs_alloc_mw_resp resp;
	int fd = open_context();

	(void)state;
	assert_int_equal(alloc_pd(fd, &req.pd_handle), 0);
	assert_int_equal(write_command(fd, IB_USER_VERBS_CMD_ALLOC_MW, &req, sizeof(req), &resp,
				       sizeof(resp)),
			 EINVAL);
	req.mw_type = 1;
	req.pd_handle += 17;
	assert_int_equal(write_command(fd, IB_USER_VERBS_CMD_ALLOC_MW, &req, sizeof(req), &resp,
				       sizeof(resp)),
			 EINVAL);
	close(fd);
}

static void *hole(void)
{
	void *p = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static void test_region_on_demand_may_come_later(void **state)
{
	struct desk *d = open_desk(0, IBV_MW_TYPE_1);
	uint8_t *p = hole();
	struct ibv_mr *mr;

	(void)state;
	assert_null(ibv_reg_mr(d->pd, p, BYTES, IBV_ACCESS_LOCAL_WRITE));
	mr = ibv_reg_mr(d->pd, p, BYTES, IBV_ACCESS_ON_DEMAND | IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(mr);
	assert_int_equal(loop_gather(&d->loop, mr->lkey, (uintptr_t)p, 64), IBV_WC_LOC_PROT_ERR);
	assert_true(loop_revive(&d->loop));
	assert_int_equal(mprotect(p, BYTES, PROT_READ | PROT_WRITE), 0);
	assert_int_equal(loop_gather(&d->loop, mr->lkey, (uintptr_t)p, 64), IBV_WC_SUCCESS);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(p, BYTES);
	close_desk(d);
}

static int prefetch(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		    struct ibv_sge sge)
{
	return ibv_advise_mr(pd, advice, flags, &sge, 1);
}

static void test_advice_is_checked(void **state)
{
	const enum ibv_advise_mr_advice reads = IBV_ADVISE_MR_ADVICE_PREFETCH;
	const enum ibv_advise_mr_advice writes = IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	const uint32_t now = IBV_ADVISE_MR_FLAG_FLUSH;
	struct desk *d = open_desk(IBV_ACCESS_LOCAL_WRITE, IBV_MW_TYPE_1);
	struct ibv_pd *other = ibv_alloc_pd(d->context);
	uint8_t *p = hole();
	struct ibv_mr *mr = ibv_reg_mr(d->pd, p, BYTES, IBV_ACCESS_ON_DEMAND);
	struct ibv_sge sge = {(uintptr_t)p, 64, mr->lkey};

	(void)state;
	assert_int_equal(prefetch(d->pd, reads, now, sge), EFAULT);
	assert_int_equal(prefetch(d->pd, reads, 0, sge), 0);
	assert_int_equal(prefetch(d->pd, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, now, sge), 0);
	assert_int_equal(mprotect(p, BYTES, PROT_READ), 0);
	assert_int_equal(prefetch(d->pd, reads, now, sge), 0);
	assert_int_equal(prefetch(d->pd, writes, now, sge), EPERM);
	assert_int_equal(prefetch(other, reads, now, sge), EPERM);
	assert_int_equal(prefetch(d->pd, reads, now << 1, sge), EINVAL);
	assert_int_equal(prefetch(d->pd, (enum ibv_advise_mr_advice)9, now, sge), EOPNOTSUPP);
	sge.length = BYTES + 1;
	assert_int_equal(prefetch(d->pd, reads, now, sge), EFAULT);
	sge.lkey = d->mr->lkey;
	assert_int_equal(prefetch(d->pd, reads, now, sge), EINVAL);
	sge.lkey = 0;
	assert_int_equal(prefetch(d->pd, reads, now, sge), ENOENT);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dealloc_pd(other), 0);
	munmap(p, BYTES);
	close_desk(d);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		counted_test(test_window_is_what_it_was_bound_to),
		counted_test(test_window_grants_no_more_than_its_region),
		counted_test(test_window_of_type_2_is_its_queue_pairs),
		counted_test(test_window_of_type_1_is_bound_anew),
		counted_test(test_no_third_type),
		counted_test(test_region_on_demand_may_come_later),
		counted_test(test_advice_is_checked),
	};

	rig_parse(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
