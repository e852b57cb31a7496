/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Keys whose memory is set later: windows bound by work requests, regions on demand. */
#include <endian.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "fixture.h"
#include "rc.h"
#include "uverbs.h"

#define BYTES	 4096
#define PATIENCE 60000

struct desk {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct rc rc;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	uint8_t bytes[BYTES];
};

static struct desk *open_desk(unsigned int access, enum ibv_mw_type type)
{
	struct desk *d = test_calloc(1, sizeof(*d));

	d->context = fixture_open_context();
	assert_non_null(d->context);
	d->pd = ibv_alloc_pd(d->context);
	assert_true(rc_open_loopback(&d->rc, d->pd));
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
	assert_true(rc_close(&d->rc));
	assert_int_equal(ibv_dealloc_pd(d->pd), 0);
	assert_int_equal(ibv_close_device(d->context), 0);
	test_free(d);
}

struct part {
	uint64_t off;
	uint64_t len;
	unsigned int access;
};

/* Bind a window of type 2; its new key is `*key`. Returns the status of the completion. */
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
	assert_true(rc_post(&d->rc, &wr));
	return rc_wait(&d->rc, PATIENCE);
}

static const struct part middle = {1024, 512, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};

static void window_reaches_its_binding_only(void **state)
{
	struct desk *d = open_desk(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND, IBV_MW_TYPE_2);
	uint64_t at = (uintptr_t)d->bytes + middle.off;
	uint32_t key;

	assert_int_equal(rc_write(&d->rc, d->mw->rkey, at, 8), IBV_WC_REM_ACCESS_ERR);
	assert_true(rc_reconnect(&d->rc));
	assert_int_equal(bind_window(d, &middle, &key), IBV_WC_SUCCESS);
	memset(d->rc.bytes, 0x5a, 512);
	assert_int_equal(rc_write(&d->rc, key, at, 512), IBV_WC_SUCCESS);
	assert_int_equal(d->bytes[middle.off + 511], 0x5a);
	assert_int_equal(d->bytes[middle.off + 512], 0);
	/* It is bound; neither the window nor its region can be used in another way. */
	assert_int_equal(ibv_dereg_mr(d->mr), EBUSY);
	assert_int_equal(rc_write(&d->rc, key, at + 1, 512), IBV_WC_REM_ACCESS_ERR);
	assert_true(rc_reconnect(&d->rc));
	assert_int_equal(bind_window(d, &middle, &key), IBV_WC_MW_BIND_ERR);
	assert_true(rc_reconnect(&d->rc));
	assert_int_equal(rc_invalidate(&d->rc, key), IBV_WC_SUCCESS);
	assert_int_equal(rc_write(&d->rc, key, at, 8), IBV_WC_REM_ACCESS_ERR);
	assert_true(rc_reconnect(&d->rc));
	assert_int_equal(rc_invalidate(&d->rc, key), IBV_WC_MW_BIND_ERR);
	close_desk(d);
}

static void window_grants_no_more_than_its_region(void **state)
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

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct desk *d = open_desk(cases[i].region, IBV_MW_TYPE_2);

		assert_int_equal(bind_window(d, &cases[i].part, &key), IBV_WC_MW_BIND_ERR);
		close_desk(d);
	}
}

static void window_of_type_2_is_its_queue_pairs(void **state)
{
	struct desk *d = open_desk(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND, IBV_MW_TYPE_2);
	struct rc *other = test_calloc(1, sizeof(*other));
	uint32_t key;

	assert_true(rc_open_loopback(other, d->pd));
	assert_int_equal(bind_window(d, &middle, &key), IBV_WC_SUCCESS);
	assert_int_equal(rc_write(other, key, (uintptr_t)d->bytes + middle.off, 8),
			 IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(rc_write(&d->rc, key, (uintptr_t)d->bytes + middle.off, 8),
			 IBV_WC_SUCCESS);
	assert_true(rc_close(other));
	test_free(other);
	close_desk(d);
}

static void window_of_type_1_can_be_bound_again(void **state)
{
	struct desk *d = open_desk(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {.send_flags = IBV_SEND_SIGNALED};
	uint64_t at = (uintptr_t)d->bytes;
	uint32_t first;

	bind.bind_info = (struct ibv_mw_bind_info){d->mr, at, 64, IBV_ACCESS_REMOTE_WRITE};
	assert_int_equal(ibv_bind_mw(d->rc.qp, d->mw, &bind), 0);
	assert_int_equal(rc_wait(&d->rc, PATIENCE), IBV_WC_SUCCESS);
	first = d->mw->rkey;
	bind.bind_info.addr = at + 64;
	assert_int_equal(ibv_bind_mw(d->rc.qp, d->mw, &bind), 0);
	assert_int_equal(rc_wait(&d->rc, PATIENCE), IBV_WC_SUCCESS);
	assert_int_equal(rc_write(&d->rc, d->mw->rkey, at + 64, 64), IBV_WC_SUCCESS);
	assert_int_equal(rc_write(&d->rc, first, at + 64, 64), IBV_WC_REM_ACCESS_ERR);
	assert_true(rc_reconnect(&d->rc));
	assert_int_equal(rc_invalidate(&d->rc, d->mw->rkey), IBV_WC_MW_BIND_ERR);
	close_desk(d);
}

/* As large earlier requests may have: libmlx5 writes only the fields that it needs, in place. */
static void fill_ring(struct ibv_qp *qp)
{
	struct mlx5dv_qp ring = {0};
	struct mlx5dv_obj obj = {.qp = {qp, &ring}};

	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP), 0);
	memset(ring.sq.buf, 0xff, (size_t)ring.sq.wqe_cnt * ring.sq.stride);
}

static void window_is_bound_whatever_was_in_the_ring(void **state)
{
	struct desk *d = open_desk(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND, IBV_MW_TYPE_2);
	uint64_t at = (uintptr_t)d->bytes + middle.off;
	uint32_t key;

	fill_ring(d->rc.qp);
	assert_int_equal(bind_window(d, &middle, &key), IBV_WC_SUCCESS);
	assert_int_equal(rc_write(&d->rc, key, at, middle.len), IBV_WC_SUCCESS);
	fill_ring(d->rc.qp);
	assert_int_equal(rc_invalidate(&d->rc, key), IBV_WC_SUCCESS);
	assert_int_equal(bind_window(d, &middle, &key), IBV_WC_SUCCESS);
	assert_int_equal(rc_write(&d->rc, key, at, middle.len + 1), IBV_WC_REM_ACCESS_ERR);
	assert_true(rc_reconnect(&d->rc));
	assert_int_equal(rc_invalidate(&d->rc, key), IBV_WC_SUCCESS);
	close_desk(d);
}

/* There are two types, and the library does not pass a third one to the kernel. */
static void window_of_a_third_type_is_refused(void **state)
{
	struct ib_uverbs_alloc_mw req = {.mw_type = 3};
	struct ib_uverbs_alloc_mw_resp resp;
	int fd = open_context();

	assert_int_equal(alloc_pd(fd, &req.pd_handle), 0);
	assert_int_equal(write_command(fd, IB_USER_VERBS_CMD_ALLOC_MW, &req, sizeof(req), &resp,
				       sizeof(resp)),
			 EINVAL);
	req.mw_type = 1;
	req.pd_handle += 17;
	assert_int_equal(write_command(fd, IB_USER_VERBS_CMD_ALLOC_MW, &req, sizeof(req), &resp,
				       sizeof(resp)),
			 ENOENT);
	close(fd);
}

static void *hole(void)
{
	void *p = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static void region_on_demand_may_be_mapped_later(void **state)
{
	struct desk *d = open_desk(0, IBV_MW_TYPE_1);
	uint8_t *p = hole();
	struct ibv_mr *mr;

	assert_null(ibv_reg_mr(d->pd, p, BYTES, IBV_ACCESS_LOCAL_WRITE));
	mr = ibv_reg_mr(d->pd, p, BYTES, IBV_ACCESS_ON_DEMAND | IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(mr);
	assert_int_equal(rc_gather(&d->rc, mr->lkey, (uintptr_t)p, 64), IBV_WC_LOC_PROT_ERR);
	assert_true(rc_reconnect(&d->rc));
	assert_int_equal(mprotect(p, BYTES, PROT_READ | PROT_WRITE), 0);
	assert_int_equal(rc_gather(&d->rc, mr->lkey, (uintptr_t)p, 64), IBV_WC_SUCCESS);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(p, BYTES);
	close_desk(d);
}

static int prefetch(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		    struct ibv_sge sge)
{
	return ibv_advise_mr(pd, advice, flags, &sge, 1);
}

static void advice_needs_a_region_that_permits_it(void **state)
{
	const enum ibv_advise_mr_advice reads = IBV_ADVISE_MR_ADVICE_PREFETCH;
	const enum ibv_advise_mr_advice writes = IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	const uint32_t now = IBV_ADVISE_MR_FLAG_FLUSH;
	struct desk *d = open_desk(IBV_ACCESS_LOCAL_WRITE, IBV_MW_TYPE_1);
	struct ibv_pd *other = ibv_alloc_pd(d->context);
	uint8_t *p = hole();
	struct ibv_mr *mr = ibv_reg_mr(d->pd, p, BYTES, IBV_ACCESS_ON_DEMAND);
	struct ibv_sge sge = {(uintptr_t)p, 64, mr->lkey};

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

/* --- mkeys made by PRM commands, and bound as UCX binds them: as if they were windows --------- */

#define LIST_AT	   0x110 /* of CREATE_MKEY and of what QUERY_MKEY answers */
#define LOG_ENTITY 16

/* An mkey of fixed-size entries, with room for 4; returns its key, with 0 as the last byte. */
static struct mlx5dv_devx_obj *create_mkey(struct desk *d, uint32_t *in, size_t len, uint32_t *key)
{
	uint32_t *mkc = in + 4, out[4] = {0};
	struct mlx5dv_pd pd;
	struct mlx5dv_obj obj = {.pd = {d->pd, &pd}};
	struct mlx5dv_devx_obj *made;

	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD), 0);
	in[0] = htobe32(0x200u << 16);
	mkc[3] = htobe32(pd.pdn);
	mkc[13] = htobe32(4);
	mkc[14] = htobe32(LOG_ENTITY);
	made = mlx5dv_devx_obj_create(d->context, in, len, out, sizeof(out));
	assert_non_null(made);
	*key = be32toh(out[2]) << 8;
	return made;
}

/* An mkey for UMR to configure. */
static struct mlx5dv_devx_obj *create_free_mkey(struct desk *d, uint32_t *key)
{
	uint32_t in[LIST_AT / 4] = {0}, *mkc = in + 4;

	mkc[0] = htobe32(1u << 30 | 1u << 15 | 1u << 10 | 3u << 8); /* free, umr_en, lr, KSM */
	mkc[1] = htobe32(0xffffff00);
	return create_mkey(d, in, sizeof(in), key);
}

static int read_as_owner(struct desk *d, uint32_t qpn)
{
	const uint64_t at = (uintptr_t)d->bytes;
	uint32_t in[LIST_AT / 4 + 4] = {0}, *mkc = in + 4, *entry = in + LIST_AT / 4, key = 0;
	struct mlx5dv_devx_obj *made;
	int status;

	mkc[0] = htobe32(1u << 12 | 1u << 10 | 3u << 8); /* rr, lr, KSM */
	mkc[1] = htobe32(qpn << 8);
	mkc[7] = htobe32(BYTES);
	in[0x60 / 4] = htobe32(1);
	entry[1] = htobe32(d->mr->lkey);
	entry[2] = htobe32((uint32_t)(at >> 32));
	entry[3] = htobe32((uint32_t)at);
	made = create_mkey(d, in, sizeof(in), &key);
	status = rc_read(&d->rc, key, 0, 64);
	assert_int_equal(mlx5dv_devx_obj_destroy(made), 0);
	if (status != IBV_WC_SUCCESS)
		assert_true(rc_reconnect(&d->rc));
	return status;
}

/* Number 0 is a valid queue pair number, but not in use. */
static void mkey_of_one_queue_pair_is_refused_to_others(void **state)
{
	struct desk *d = open_desk(RC_ALL, IBV_MW_TYPE_2);
	const uint32_t qpn = d->rc.qp->qp_num;

	assert_int_equal(read_as_owner(d, 0xffffff), IBV_WC_SUCCESS);
	assert_int_equal(read_as_owner(d, qpn), IBV_WC_SUCCESS);
	assert_int_equal(read_as_owner(d, qpn + 1), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(read_as_owner(d, 0), IBV_WC_REM_ACCESS_ERR);
	close_desk(d);
}

static void query_mkey(struct mlx5dv_devx_obj *mkey, uint32_t key, uint32_t *out, size_t len)
{
	uint32_t in[4] = {htobe32(0x201u << 16), 0, htobe32(key >> 8)};

	memset(out, 0, len);
	assert_int_equal(mlx5dv_devx_obj_query(mkey, in, sizeof(in), out, len), 0);
}

static uint64_t pair(const uint32_t *word)
{
	return (uint64_t)be32toh(word[0]) << 32 | be32toh(word[1]);
}

/* Query what the work request has set. */
static void mkey_is_bound_and_freed(void **state)
{
	struct desk *d = open_desk(RC_ALL | IBV_ACCESS_MW_BIND, IBV_MW_TYPE_2);
	struct ibv_mw *window = d->mw, mkey = *window;
	uint64_t at = (uintptr_t)d->bytes + middle.off;
	uint32_t key, out[LIST_AT / 4 + 4];
	struct mlx5dv_devx_obj *made = create_free_mkey(d, &mkey.rkey);
	const uint32_t *mkc = out + 4;

	query_mkey(made, mkey.rkey, out, sizeof(out));
	assert_int_equal(be32toh(mkc[0]) >> 30 & 1, 1);
	d->mw = &mkey;
	assert_int_equal(bind_window(d, &middle, &key), IBV_WC_SUCCESS);
	query_mkey(made, key, out, sizeof(out));
	assert_int_equal(be32toh(mkc[0]) >> 30 & 1, 0);
	assert_int_equal(be32toh(mkc[0]) >> 8 & 0xff, 0xb7); /* as asked, and still KSM */
	assert_int_equal(be32toh(mkc[1]), d->rc.qp->qp_num << 8 | (key & 0xff));
	assert_true(pair(mkc + 4) == at);
	assert_true(pair(mkc + 6) == middle.len);
	assert_int_equal(be32toh(out[LIST_AT / 4 + 1]), d->mr->lkey);
	assert_true(pair(out + LIST_AT / 4 + 2) == at);
	memset(d->rc.bytes, 0x5a, 512);
	assert_int_equal(rc_write(&d->rc, key, at, 512), IBV_WC_SUCCESS);
	assert_int_equal(d->bytes[middle.off + 511], 0x5a);
	assert_int_equal(rc_invalidate(&d->rc, key), IBV_WC_SUCCESS);
	query_mkey(made, key, out, sizeof(out));
	assert_int_equal(be32toh(mkc[0]) >> 30 & 1, 1);
	assert_int_equal(rc_write(&d->rc, key, at, 8), IBV_WC_REM_ACCESS_ERR);
	assert_true(rc_reconnect(&d->rc));
	assert_int_equal(mlx5dv_devx_obj_destroy(made), 0);
	d->mw = window;
	close_desk(d);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		counted_test(window_reaches_its_binding_only),
		counted_test(window_grants_no_more_than_its_region),
		counted_test(window_of_type_2_is_its_queue_pairs),
		counted_test(window_of_type_1_can_be_bound_again),
		counted_test(window_is_bound_whatever_was_in_the_ring),
		counted_test(window_of_a_third_type_is_refused),
		counted_test(region_on_demand_may_be_mapped_later),
		counted_test(advice_needs_a_region_that_permits_it),
		counted_test(mkey_of_one_queue_pair_is_refused_to_others),
		counted_test(mkey_is_bound_and_freed),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
