/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Regions on demand: each kind of access to pages that no one has touched yet, to pages that have gone meanwhile, and
 * to memory that is no longer mapped. The queue pair is connected to itself.
 */
#include <infiniband/verbs.h>
#include <string.h>
#include <sys/mman.h>

#include "fixture.h"
#include "rc.h"

#define BYTES	 (1u << 20)
#define PAGE	 4096u
#define PATIENCE 60000
#define ACCESS                                                                       \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ON_DEMAND)

struct desk {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct rc rc;
	uint8_t *near, *far; /* of the requester, and of the responder */
	struct ibv_mr *near_mr, *far_mr;
};

static uint8_t *fresh(void)
{
	uint8_t *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static int setup(void **state)
{
	struct desk *d = test_calloc(1, sizeof(*d));

	d->context = fixture_open_context();
	assert_non_null(d->context);
	d->pd = ibv_alloc_pd(d->context);
	assert_true(rc_open_loopback(&d->rc, d->pd));
	d->near = fresh();
	d->far = fresh();
	d->near_mr = ibv_reg_mr(d->pd, d->near, BYTES, ACCESS);
	d->far_mr = ibv_reg_mr(d->pd, d->far, BYTES, ACCESS);
	assert_non_null(d->near_mr);
	assert_non_null(d->far_mr);
	*state = d;
	return 0;
}

static int teardown(void **state)
{
	struct desk *d = *state;

	assert_int_equal(ibv_dereg_mr(d->near_mr), 0);
	assert_int_equal(ibv_dereg_mr(d->far_mr), 0);
	munmap(d->near, BYTES);
	munmap(d->far, BYTES);
	assert_true(rc_close(&d->rc));
	assert_int_equal(ibv_dealloc_pd(d->pd), 0);
	assert_int_equal(ibv_close_device(d->context), 0);
	test_free(d);
	return 0;
}

/* A request between the two regions. Returns the status of its completion. */
static int request(struct desk *d, enum ibv_wr_opcode opcode, uint32_t at, uint32_t len)
{
	const struct rc_request r = {
		.opcode = opcode,
		.lkey = d->near_mr->lkey,
		.addr = (uintptr_t)d->near + at,
		.len = len,
		.rkey = d->far_mr->rkey,
		.remote_addr = (uintptr_t)d->far + at,
		.compare_add = 5,
	};

	return rc_run(&d->rc, &r);
}

static void post_receive(struct ibv_qp *qp, const struct desk *d, uint32_t at, uint32_t len)
{
	struct ibv_sge sge = {(uintptr_t)d->far + at, len, d->far_mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	assert_int_equal(ibv_post_recv(qp, &wr, &bad), 0);
}

static int send(struct desk *d, uint32_t at, uint32_t len)
{
	int first;

	post_receive(d->rc.qp, d, at, len);
	first = request(d, IBV_WR_SEND, at, len);
	return first == IBV_WC_SUCCESS ? rc_wait(&d->rc, PATIENCE) : first;
}

/* Nothing was there before: what is read are zeros, and what is written stays. */
static void fresh_pages_are_written(void **state)
{
	struct desk *d = *state;

	assert_int_equal(request(d, IBV_WR_RDMA_WRITE, 0, BYTES), IBV_WC_SUCCESS);
	assert_int_equal(d->far[BYTES - 1], 0);
	memset(d->near, 0x5a, BYTES);
	assert_int_equal(request(d, IBV_WR_RDMA_WRITE, 0, BYTES), IBV_WC_SUCCESS);
	assert_memory_equal(d->near, d->far, BYTES);
}

static void fresh_pages_are_read(void **state)
{
	struct desk *d = *state;

	memset(d->far, 0x33, PAGE);
	assert_int_equal(request(d, IBV_WR_RDMA_READ, 0, BYTES), IBV_WC_SUCCESS);
	assert_memory_equal(d->near, d->far, BYTES);
	assert_int_equal(d->near[PAGE - 1], 0x33);
	assert_int_equal(d->near[PAGE], 0);
}

static void fresh_pages_are_sent_and_received(void **state)
{
	struct desk *d = *state;

	memset(d->near + PAGE / 2, 0x11, PAGE);
	assert_int_equal(send(d, 0, 4 * PAGE), IBV_WC_SUCCESS);
	assert_memory_equal(d->near, d->far, 4 * PAGE);
	assert_int_equal(send(d, BYTES / 2, BYTES / 2), IBV_WC_SUCCESS);
}

static void fresh_pages_are_changed_atomically(void **state)
{
	struct desk *d = *state;
	uint64_t got = 0;

	assert_int_equal(request(d, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 8), IBV_WC_SUCCESS);
	assert_int_equal(request(d, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 8), IBV_WC_SUCCESS);
	memcpy(&got, d->near + 8, sizeof(got));
	assert_int_equal(got, 5);
	memcpy(&got, d->far + 8, sizeof(got));
	assert_int_equal(got, 10);
}

/* The kernel takes the pages away, and the card has to ask again. */
static void pages_that_have_gone_come_again(void **state)
{
	struct desk *d = *state;

	memset(d->near, 0x22, BYTES);
	assert_int_equal(request(d, IBV_WR_RDMA_WRITE, 0, BYTES), IBV_WC_SUCCESS);
	assert_int_equal(madvise(d->far, BYTES, MADV_DONTNEED), 0);
	assert_int_equal(madvise(d->near, BYTES / 2, MADV_DONTNEED), 0);
	assert_int_equal(request(d, IBV_WR_RDMA_READ, PAGE, BYTES - PAGE), IBV_WC_SUCCESS);
	assert_int_equal(d->near[PAGE], 0);
	assert_int_equal(d->near[BYTES - 1], 0);
	memset(d->near, 0x44, BYTES);
	assert_int_equal(madvise(d->far, BYTES, MADV_DONTNEED), 0);
	assert_int_equal(send(d, 0, BYTES), IBV_WC_SUCCESS);
	assert_memory_equal(d->near, d->far, BYTES);
}

static void lost_memory_is_an_error(void **state)
{
	struct desk *d = *state;

	assert_int_equal(mprotect(d->far, BYTES, PROT_READ), 0);
	assert_int_equal(request(d, IBV_WR_RDMA_WRITE, 0, PAGE), IBV_WC_REM_ACCESS_ERR);
	assert_true(rc_reconnect(&d->rc));
	assert_int_equal(mprotect(d->far, BYTES, PROT_NONE), 0);
	assert_int_equal(request(d, IBV_WR_RDMA_READ, 0, PAGE), IBV_WC_REM_ACCESS_ERR);
	assert_true(rc_reconnect(&d->rc));
	/* These end the queue pair on both sides: which error comes first is open. */
	assert_int_not_equal(request(d, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8), IBV_WC_SUCCESS);
	assert_true(rc_reconnect(&d->rc));
	assert_int_not_equal(send(d, 0, PAGE), IBV_WC_SUCCESS);
	assert_true(rc_reconnect(&d->rc));
	assert_int_equal(mprotect(d->far, BYTES, PROT_READ | PROT_WRITE), 0);
	assert_int_equal(mprotect(d->near, BYTES, PROT_NONE), 0);
	assert_int_equal(request(d, IBV_WR_RDMA_READ, 0, PAGE), IBV_WC_LOC_PROT_ERR);
	assert_true(rc_reconnect(&d->rc));
	assert_int_equal(request(d, IBV_WR_RDMA_WRITE, 0, PAGE), IBV_WC_LOC_PROT_ERR);
	assert_true(rc_reconnect(&d->rc));
	assert_int_equal(send(d, 0, PAGE), IBV_WC_LOC_PROT_ERR);
}

#define with_desk(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_desk(fresh_pages_are_written),
		with_desk(fresh_pages_are_read),
		with_desk(fresh_pages_are_sent_and_received),
		with_desk(fresh_pages_are_changed_atomically),
		with_desk(pages_that_have_gone_come_again),
		with_desk(lost_memory_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
