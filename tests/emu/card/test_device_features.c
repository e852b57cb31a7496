/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Features that the device announces and programs rely on: Enhanced Connection Establishment (ECE),
 * null memory regions, and the memory management extensions.
 */
#include <endian.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <string.h>

#include "base/array.h"
#include "fixture.h"
#include "rc.h"
#include "uverbs.h"

#define VENDOR	 0x15b3u
#define VERSION	 0x10000000u /* of ECE */
#define BYTES	 4096
#define PATIENCE 60000
/* In a work request of the DMA engine. */
#define SOURCE_LENGTH	   32
#define DESTINATION_LENGTH 48

struct desk {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct rc rc;
};

static int setup(void **state)
{
	struct desk *d = test_calloc(1, sizeof(*d));

	d->context = fixture_open_context();
	assert_non_null(d->context);
	d->pd = ibv_alloc_pd(d->context);
	assert_true(rc_open_loopback(&d->rc, d->pd));
	*state = d;
	return 0;
}

static int teardown(void **state)
{
	struct desk *d = *state;

	assert_true(rc_close(&d->rc));
	assert_int_equal(ibv_dealloc_pd(d->pd), 0);
	assert_int_equal(ibv_close_device(d->context), 0);
	test_free(d);
	return 0;
}

/* --- ECE -------------------------------------------------------------------------------------- */

static int to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static struct ibv_qp *create_qp(const struct desk *d)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = d->rc.cq,
		.recv_cq = d->rc.cq,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
	};

	return ibv_create_qp(d->pd, &init);
}

/* A new queue pair reports what the device supports. */
static void ece_of_new_queue_pair_is_reported(void **state)
{
	struct ibv_qp *qp = create_qp(*state);
	struct ibv_ece ece = {0};

	assert_non_null(qp);
	assert_int_equal(ibv_query_ece(qp, &ece), 0);
	assert_int_equal(ece.vendor_id, VENDOR);
	assert_int_equal(ece.options & VERSION, VERSION);
	assert_int_equal(ece.comp_mask, 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* The result is what both the program and the device want. */
static void ece_is_negotiated_when_the_state_changes(void **state)
{
	struct ibv_qp *qp = create_qp(*state);
	struct ibv_ece offered = {0}, ece;

	assert_non_null(qp);
	assert_int_equal(ibv_query_ece(qp, &offered), 0);
	ece = offered;
	ece.options |= 0x40000001u;
	assert_int_equal(ibv_set_ece(qp, &ece), 0);
	assert_int_equal(to_init(qp), 0);
	assert_int_equal(ibv_query_ece(qp, &ece), 0);
	assert_int_equal(ece.options, offered.options);
	ece.options = VERSION;
	assert_int_equal(ibv_set_ece(qp, &ece), 0);
	assert_int_equal(to_init(qp), 0);
	assert_int_equal(ibv_query_ece(qp, &ece), 0);
	assert_int_equal(ece.options, VERSION);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void bad_ece_is_refused(void **state)
{
	struct ibv_qp *qp = create_qp(*state);
	struct ibv_ece ece = {.vendor_id = VENDOR + 1, .options = VERSION};

	assert_non_null(qp);
	assert_int_equal(ibv_set_ece(qp, &ece), EINVAL);
	ece = (struct ibv_ece){.vendor_id = VENDOR, .options = VERSION, .comp_mask = 1};
	assert_int_equal(ibv_set_ece(qp, &ece), EINVAL);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static int modify_ex(const struct desk *d, struct ib_uverbs_ex_modify_qp *a,
		     struct mlx5_ib_modify_qp *drv, size_t len, struct mlx5_ib_modify_qp_resp *out)
{
	struct ib_uverbs_ex_modify_qp_resp r = {0};
	union command c;

	begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	add_buf(&c, UVERBS_ATTR_CORE_IN, a, sizeof(*a));
	add_buf(&c, UVERBS_ATTR_CORE_OUT, &r, sizeof(r));
	add(&c, UVERBS_ATTR_WRITE_CMD, 8, 0x80000000u | IB_USER_VERBS_CMD_MODIFY_QP);
	if (len > 8)
		add_buf(&c, UVERBS_ATTR_UHW_IN, drv, len);
	add_buf(&c, UVERBS_ATTR_UHW_OUT, out, sizeof(*out));
	return issue(d->context->cmd_fd, &c);
}

/* The extended MODIFY_QP: each field is honoured or refused. */
static void extended_modify_honours_or_refuses_each_field(void **state)
{
	struct desk *d = *state;
	struct ibv_qp *qp = create_qp(d);
	struct ib_uverbs_ex_modify_qp good = {0}, a;
	struct mlx5_ib_modify_qp_resp out = {0};
	struct mlx5_ib_modify_qp drv = {0};

	assert_non_null(qp);
	good.base.qp_handle = qp->handle;
	good.base.attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	good.base.qp_state = IBV_QPS_INIT;
	good.base.port_num = 1;
	a = good;
	a.reserved = 1;
	assert_int_equal(modify_ex(d, &a, &drv, sizeof(drv), &out), EOPNOTSUPP);
	a = good;
	a.base.attr_mask |= 1u << 26;
	assert_int_equal(modify_ex(d, &a, &drv, sizeof(drv), &out), EOPNOTSUPP);
	a = good;
	a.base.attr_mask |= IBV_QP_RATE_LIMIT;
	assert_int_equal(modify_ex(d, &a, &drv, sizeof(drv), &out), EINVAL);
	drv.comp_mask = 1;
	assert_int_equal(modify_ex(d, &good, &drv, sizeof(drv), &out), EOPNOTSUPP);
	drv.comp_mask = 0;
	drv.burst_info.max_burst_sz = 1;
	assert_int_equal(modify_ex(d, &good, &drv, sizeof(drv), &out), EOPNOTSUPP);
	drv.burst_info.max_burst_sz = 0;
	assert_int_equal(modify_ex(d, &good, &drv, sizeof(drv) - 4, &out), EINVAL);
	drv.ece_options = VERSION | 1;
	assert_int_equal(modify_ex(d, &good, &drv, sizeof(drv), &out), 0);
	assert_int_equal(out.response_length, sizeof(out));
	assert_int_equal(out.ece_options, VERSION);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* --- null regions ----------------------------------------------------------------------------- */

/* Reads of it are zeros, and what is written to it is lost. */
static void null_region_reads_as_zeros_and_discards(void **state)
{
	struct desk *d = *state;
	struct ibv_mr *null = ibv_alloc_null_mr(d->pd), *mr;
	uint8_t bytes[BYTES];

	assert_non_null(null);
	mr = ibv_reg_mr(d->pd, bytes, BYTES, RC_ALL);
	assert_non_null(mr);
	memset(d->rc.bytes, 0x5a, BYTES);
	/* Gather zeros from it, at any address. */
	assert_int_equal(rc_gather(&d->rc, null->lkey, 12345, BYTES), IBV_WC_SUCCESS);
	assert_int_equal(d->rc.bytes[0], 0);
	assert_memory_equal(d->rc.bytes, d->rc.bytes + 1, BYTES - 1);
	/* Scatter to it what is read from a peer. */
	memset(bytes, 0xa5, BYTES);
	assert_int_equal(rc_run(&d->rc, &(struct rc_request){.opcode = IBV_WR_RDMA_READ,
							     .lkey = null->lkey,
							     .addr = UINT64_MAX - BYTES,
							     .len = BYTES,
							     .rkey = mr->rkey,
							     .remote_addr = (uintptr_t)bytes}),
			 IBV_WC_SUCCESS);
	assert_int_equal(d->rc.bytes[0], 0);
	/* The old value of an atomic may go there too. */
	memset(bytes, 0, 8);
	assert_int_equal(rc_run(&d->rc, &(struct rc_request){.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
							     .lkey = null->lkey,
							     .len = 8,
							     .rkey = mr->rkey,
							     .remote_addr = (uintptr_t)bytes,
							     .compare_add = 1}),
			 IBV_WC_SUCCESS);
	assert_int_equal(bytes[0], 1);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dereg_mr(null), 0);
}

/* In a list with other entries: 8 bytes, 16 that are skipped, 8 more. */
static void null_region_skips_bytes_of_a_message(void **state)
{
	struct desk *d = *state;
	struct ibv_mr *null = ibv_alloc_null_mr(d->pd);
	uint64_t here = (uintptr_t)d->rc.bytes;
	struct ibv_sge to[] = {
		{here + 1024, 8, d->rc.mr->lkey},
		{0, 16, null->lkey},
		{here + 2048, 8, d->rc.mr->lkey},
	};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = to,
		.num_sge = 3,
		.wr.rdma = {.remote_addr = here, .rkey = d->rc.mr->rkey},
	};

	assert_non_null(null);
	for (int i = 0; i < 32; i++)
		d->rc.bytes[i] = (uint8_t)(i + 1);
	memset(d->rc.bytes + 1024, 0, 2048);
	assert_true(rc_post(&d->rc, &wr));
	assert_int_equal(rc_wait(&d->rc, PATIENCE), IBV_WC_SUCCESS);
	assert_memory_equal(d->rc.bytes + 1024, d->rc.bytes, 8);
	assert_int_equal(d->rc.bytes[1024 + 8], 0);
	assert_memory_equal(d->rc.bytes + 2048, d->rc.bytes + 24, 8);
	assert_int_equal(ibv_dereg_mr(null), 0);
}

/* Only its local key is valid. */
static void null_region_of_a_peer_is_refused(void **state)
{
	struct desk *d = *state;
	struct ibv_mr *null = ibv_alloc_null_mr(d->pd);

	assert_non_null(null);
	assert_int_equal(rc_read(&d->rc, null->lkey, 0, 8), IBV_WC_REM_ACCESS_ERR);
	assert_true(rc_reconnect(&d->rc));
	assert_int_equal(rc_write(&d->rc, null->lkey, 0, 8), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dereg_mr(null), 0);
}

/* --- memory management extensions ------------------------------------------------------------- */

/* The connection is to itself: both completions arrive in its queue. */
static void invalidate_by_message(struct desk *d, uint32_t key)
{
	struct ibv_sge sge = {(uintptr_t)d->rc.bytes, 8, d->rc.mr->lkey};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND_WITH_INV,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.invalidate_rkey = key,
	};

	assert_true(rc_receive(&d->rc, 8));
	assert_true(rc_post(&d->rc, &wr));
	assert_int_equal(rc_wait(&d->rc, PATIENCE), IBV_WC_SUCCESS);
	assert_int_equal(rc_wait(&d->rc, PATIENCE), IBV_WC_SUCCESS);
}

static uint32_t bind(struct desk *d, struct ibv_mw *mw, struct ibv_mr *mr)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED};

	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info.mr = mr;
	wr.bind_mw.bind_info.addr = (uintptr_t)mr->addr;
	wr.bind_mw.bind_info.length = BYTES;
	wr.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	assert_true(rc_post(&d->rc, &wr));
	assert_int_equal(rc_wait(&d->rc, PATIENCE), IBV_WC_SUCCESS);
	mw->rkey = wr.bind_mw.rkey;
	return mw->rkey;
}

/* Linux, mlx5_ib_query_device(); read from Linux 6.1 on the function of a virtual machine. */
static void kernel_says_the_same_of_each_card(void **state)
{
	const unsigned int flags = IBV_DEVICE_CHANGE_PHY_PORT | IBV_DEVICE_PORT_ACTIVE_EVENT |
				   IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_RC_RNR_NAK_GEN;
	struct desk *d = *state;
	struct ibv_device_attr_ex attr;
	struct ibv_port_attr port;

	assert_int_equal(ibv_query_device_ex(d->context, NULL, &attr), 0);
	assert_int_equal(ibv_query_port(d->context, 1, &port), 0);
	assert_int_equal(attr.orig_attr.device_cap_flags & flags, flags);
	assert_int_equal(attr.orig_attr.max_ah, INT32_MAX);
	assert_int_equal(attr.orig_attr.max_pkeys, 128);
	assert_int_equal(port.pkey_tbl_len, 1);
	assert_int_equal(attr.completion_timestamp_mask, INT64_MAX);
}

/*
 * IBA 10.6, "base memory management extensions": keys get a meaning by work requests, and lose it by
 * a local request or by a peer's message.
 */
static void requests_and_messages_invalidate_keys(void **state)
{
	struct desk *d = *state;
	struct ibv_device_attr attr;
	uint8_t bytes[BYTES];
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	uint32_t key;

	assert_int_equal(ibv_query_device(d->context, &attr), 0);
	assert_int_equal(attr.device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS,
			 IBV_DEVICE_MEM_MGT_EXTENSIONS);
	mr = ibv_reg_mr(d->pd, bytes, BYTES, RC_ALL | IBV_ACCESS_MW_BIND);
	mw = ibv_alloc_mw(d->pd, IBV_MW_TYPE_2);
	assert_non_null(mr);
	assert_non_null(mw);
	key = bind(d, mw, mr);
	assert_int_equal(rc_write(&d->rc, key, (uintptr_t)bytes, 8), IBV_WC_SUCCESS);
	assert_int_equal(rc_invalidate(&d->rc, key), IBV_WC_SUCCESS);
	assert_int_equal(rc_write(&d->rc, key, (uintptr_t)bytes, 8), IBV_WC_REM_ACCESS_ERR);
	assert_true(rc_reconnect(&d->rc));
	key = bind(d, mw, mr);
	assert_int_equal(rc_write(&d->rc, key, (uintptr_t)bytes, 8), IBV_WC_SUCCESS);
	invalidate_by_message(d, key);
	assert_int_equal(rc_write(&d->rc, key, (uintptr_t)bytes, 8), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

/* --- limits of queues ------------------------------------------------------------------------- */

/* A queue pair that only sends messages: its requests are as short as they can be. */
static struct ibv_qp *create_long_qp(const struct desk *d, const struct ibv_qp_cap *cap)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = d->rc.cq,
		.recv_cq = d->rc.cq,
		.cap = *cap,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = d->pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
	};

	return ibv_create_qp_ex(d->context, &init);
}

/* Post as many receive requests as the queue holds. */
static uint32_t post_receives(struct ibv_qp *qp, uint32_t most)
{
	struct ibv_recv_wr wr = {0}, *bad;
	uint32_t n = 0;

	while (n < most && !ibv_post_recv(qp, &wr, &bad))
		n++;
	return n;
}

static void queues_hold_as_many_requests_as_announced(void **state)
{
	struct ibv_srq_init_attr srq_init = {0};
	struct ibv_recv_wr wr = {0}, *bad;
	struct desk *d = *state;
	struct ibv_qp_cap cap = {.max_send_sge = 1, .max_recv_sge = 1};
	struct ibv_device_attr attr;
	struct ibv_srq *srq;
	struct ibv_qp *qp;

	assert_int_equal(ibv_query_device(d->context, &attr), 0);
	cap.max_send_wr = cap.max_recv_wr = (uint32_t)attr.max_qp_wr;
	qp = create_long_qp(d, &cap);
	assert_non_null(qp);
	assert_int_equal(to_init(qp), 0);
	assert_int_equal(post_receives(qp, cap.max_recv_wr), cap.max_recv_wr);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	cap = (struct ibv_qp_cap){.max_send_wr = 1, .max_recv_wr = 1};
	cap.max_send_sge = cap.max_recv_sge = (uint32_t)attr.max_sge;
	qp = create_long_qp(d, &cap);
	assert_non_null(qp);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	srq_init.attr.max_wr = (uint32_t)attr.max_srq_wr;
	srq_init.attr.max_sge = 1;
	srq = ibv_create_srq(d->pd, &srq_init);
	assert_non_null(srq);
	for (int i = 0; i < attr.max_srq_wr; i++)
		assert_int_equal(ibv_post_srq_recv(srq, &wr, &bad), 0);
	assert_int_equal(ibv_destroy_srq(srq), 0);
	srq_init.attr.max_wr = 1;
	srq_init.attr.max_sge = (uint32_t)attr.max_srq_sge;
	srq = ibv_create_srq(d->pd, &srq_init);
	assert_non_null(srq);
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

/* A message from as many pieces as announced, into as many. */
static void message_has_as_many_pieces_as_announced(void **state)
{
	struct desk *d = *state;
	struct ibv_sge from[64], to[64];
	struct ibv_send_wr send = {.opcode = IBV_WR_SEND, .sg_list = from};
	struct ibv_recv_wr receive = {.sg_list = to}, *bad_receive;
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC};
	struct ibv_device_attr attr;
	struct ibv_send_wr *bad;
	struct ibv_qp *kept = d->rc.qp;
	uint32_t n;

	assert_int_equal(ibv_query_device(d->context, &attr), 0);
	n = (uint32_t)attr.max_sge;
	assert_in_range(n, 1, 64);
	init.send_cq = init.recv_cq = d->rc.cq;
	init.cap = (struct ibv_qp_cap){
		.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = n, .max_recv_sge = n};
	d->rc.qp = ibv_create_qp(d->pd, &init);
	assert_non_null(d->rc.qp);
	d->rc.address.qpn = d->rc.qp->qp_num;
	assert_true(rc_connect(&d->rc, &d->rc.address));
	for (uint32_t i = 0; i < n; i++) {
		d->rc.bytes[i] = (uint8_t)(i + 1);
		from[i] = (struct ibv_sge){(uintptr_t)d->rc.bytes + i, 1, d->rc.mr->lkey};
		to[i] = (struct ibv_sge){(uintptr_t)d->rc.bytes + 1024 + n - i, 1, d->rc.mr->lkey};
	}
	send.num_sge = receive.num_sge = (int)n;
	send.send_flags = IBV_SEND_SIGNALED;
	assert_int_equal(ibv_post_recv(d->rc.qp, &receive, &bad_receive), 0);
	assert_int_equal(ibv_post_send(d->rc.qp, &send, &bad), 0);
	assert_int_equal(rc_wait(&d->rc, PATIENCE), IBV_WC_SUCCESS);
	assert_int_equal(rc_wait(&d->rc, PATIENCE), IBV_WC_SUCCESS);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(d->rc.bytes[1024 + n - i], i + 1);
	assert_int_equal(ibv_destroy_qp(d->rc.qp), 0);
	d->rc.qp = kept;
}

/* --- limits ----------------------------------------------------------------------------------- */

/*
 * Each row tries a limit that the device announces: `excess` more than it. The numbers of objects are in
 * test_uverbs_limits.c, test_object_limits.c and test_multicast.c, those of PRM commands in
 * test_devx_queues.c. Returns 0 or an errno.
 */
struct limits {
	struct ibv_device_attr_ex device;
	struct ibv_port_attr port;
};

static int try_qp(struct desk *d, const struct ibv_qp_cap *cap)
{
	struct ibv_qp *qp = create_long_qp(d, cap);

	return qp ? ibv_destroy_qp(qp) : errno;
}

static int try_send_wr(struct desk *d, const struct limits *l, uint32_t excess)
{
	return try_qp(d, &(struct ibv_qp_cap){
				 .max_send_wr = (uint32_t)l->device.orig_attr.max_qp_wr + excess,
				 .max_send_sge = 1});
}

static int try_recv_wr(struct desk *d, const struct limits *l, uint32_t excess)
{
	return try_qp(d, &(struct ibv_qp_cap){
				 .max_send_wr = 1,
				 .max_send_sge = 1,
				 .max_recv_wr = (uint32_t)l->device.orig_attr.max_qp_wr + excess,
				 .max_recv_sge = 1});
}

static int try_srq(struct desk *d, uint32_t max_wr, uint32_t max_sge)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = max_wr, .max_sge = max_sge}};
	struct ibv_srq *srq = ibv_create_srq(d->pd, &init);

	return srq ? ibv_destroy_srq(srq) : errno;
}

static int try_srq_wr(struct desk *d, const struct limits *l, uint32_t excess)
{
	return try_srq(d, (uint32_t)l->device.orig_attr.max_srq_wr + excess, 1);
}

static int try_srq_sge(struct desk *d, const struct limits *l, uint32_t excess)
{
	return try_srq(d, 1, (uint32_t)l->device.orig_attr.max_srq_sge + excess);
}

static int try_vector(struct desk *d, const struct limits *l, uint32_t excess)
{
	const int vector = d->context->num_comp_vectors - 1 + (int)excess;
	struct ibv_cq *cq = ibv_create_cq(d->context, 1, NULL, NULL, vector);

	(void)l;
	return cq ? ibv_destroy_cq(cq) : errno;
}

static int try_period(struct desk *d, const struct limits *l, uint32_t excess)
{
	struct ibv_modify_cq_attr a = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = {1, (uint16_t)(l->device.cq_mod_caps.max_cq_period + excess)}};
	int err = ibv_modify_cq(d->rc.cq, &a);

	a.moderate.cq_period = 0;
	assert_int_equal(ibv_modify_cq(d->rc.cq, &a), 0);
	return err;
}

static int try_dm(struct desk *d, const struct limits *l, uint32_t excess)
{
	struct ibv_alloc_dm_attr a = {.length = l->device.max_dm_size + excess};
	struct ibv_dm *dm = ibv_alloc_dm(d->context, &a);

	return dm ? ibv_free_dm(dm) : errno;
}

/* Move a new queue pair to RTS; the last error. */
static int try_path(struct desk *d, uint8_t port, uint16_t pkey, uint8_t reads, uint8_t served)
{
	struct ibv_qp *qp = create_qp(d);
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = port, .pkey_index = pkey};
	int err;

	assert_non_null(qp);
	err = ibv_modify_qp(qp, &a,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	a.qp_state = IBV_QPS_RTR;
	a.path_mtu = IBV_MTU_4096;
	a.max_dest_rd_atomic = served;
	a.ah_attr = (struct ibv_ah_attr){.is_global = 1, .port_num = port};
	a.ah_attr.grh.sgid_index = d->rc.gid_index;
	memcpy(a.ah_attr.grh.dgid.raw, d->rc.address.gid, 16);
	if (!err)
		err = ibv_modify_qp(qp, &a,
				    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					    IBV_QP_MIN_RNR_TIMER);
	a.qp_state = IBV_QPS_RTS;
	a.max_rd_atomic = reads;
	if (!err)
		err = ibv_modify_qp(qp, &a,
				    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					    IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					    IBV_QP_MAX_QP_RD_ATOMIC);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	return err;
}

static int try_port(struct desk *d, const struct limits *l, uint32_t excess)
{
	return try_path(d, (uint8_t)(l->device.orig_attr.phys_port_cnt + excess), 0, 1, 1);
}

static int try_pkey(struct desk *d, const struct limits *l, uint32_t excess)
{
	return try_path(d, 1, (uint16_t)(l->port.pkey_tbl_len - 1 + excess), 1, 1);
}

static int try_reads(struct desk *d, const struct limits *l, uint32_t excess)
{
	return try_path(d, 1, 0, (uint8_t)(l->device.orig_attr.max_qp_init_rd_atom + (int)excess),
			1);
}

static int try_served(struct desk *d, const struct limits *l, uint32_t excess)
{
	return try_path(d, 1, 0, 1, (uint8_t)(l->device.orig_attr.max_qp_rd_atom + (int)excess));
}

/* EINVAL stands for a completion LOC_LEN_ERR; what is not too long fails later, as it is beyond its region. */
static int take_status(struct desk *d, struct ibv_qp *kept)
{
	int status = rc_wait(&d->rc, PATIENCE);

	assert_int_equal(ibv_destroy_qp(d->rc.qp), 0);
	d->rc.qp = kept;
	assert_true(status == IBV_WC_LOC_LEN_ERR || status == IBV_WC_LOC_PROT_ERR);
	return status == IBV_WC_LOC_LEN_ERR ? EINVAL : 0;
}

static int try_message(struct desk *d, const struct limits *l, uint32_t excess)
{
	const uint64_t half = l->port.max_msg_sz / 2;
	struct ibv_sge list[3];
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = list, .num_sge = 2}, *bad;
	struct ibv_qp_cap cap = {.max_send_wr = 1, .max_send_sge = 3};
	struct ibv_qp *kept = d->rc.qp;

	d->rc.qp = create_long_qp(d, &cap);
	assert_non_null(d->rc.qp);
	d->rc.address.qpn = d->rc.qp->qp_num;
	assert_true(rc_connect(&d->rc, &d->rc.address));
	list[0] = (struct ibv_sge){(uintptr_t)d->rc.bytes, (uint32_t)half, d->rc.mr->lkey};
	list[1] = list[0];
	list[2] = (struct ibv_sge){(uintptr_t)d->rc.bytes, excess, d->rc.mr->lkey};
	wr.num_sge += excess > 0;
	wr.send_flags = IBV_SEND_SIGNALED;
	assert_int_equal(ibv_post_send(d->rc.qp, &wr, &bad), 0);
	return take_status(d, kept);
}

static struct ibv_qp *create_copier(const struct desk *d)
{
	struct mlx5dv_qp_init_attr dv = {.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
					 .send_ops_flags = MLX5DV_QP_EX_WITH_MEMCPY};
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = d->rc.cq,
		.recv_cq = d->rc.cq,
		.cap = {.max_send_wr = 1, .max_send_sge = 1},
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = d->pd,
	};

	return mlx5dv_create_qp(d->context, &init, &dv);
}

/* libmlx5 checks the length too, so the request is changed before its doorbell rings. */
static int try_copy(struct desk *d, const struct limits *l, uint32_t excess)
{
	struct mlx5dv_context dv = {.comp_mask = MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH};
	struct ibv_qp *kept = d->rc.qp, *qp = create_copier(d);
	const uint64_t addr = (uintptr_t)d->rc.bytes;
	struct mlx5dv_qp sq = {0};
	struct mlx5dv_obj obj = {.qp = {.in = qp, .out = &sq}};
	struct ibv_qp_ex *qpx;
	__be32 len;

	(void)l;
	assert_non_null(qp);
	assert_int_equal(mlx5dv_query_device(d->context, &dv), 0);
	d->rc.qp = qp;
	d->rc.address.qpn = qp->qp_num;
	assert_true(rc_connect(&d->rc, &d->rc.address));
	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP), 0);
	qpx = ibv_qp_to_qp_ex(qp);
	ibv_wr_start(qpx);
	qpx->wr_flags = IBV_SEND_SIGNALED;
	mlx5dv_wr_memcpy(mlx5dv_qp_ex_from_ibv_qp_ex(qpx), d->rc.mr->lkey, addr, d->rc.mr->lkey,
			 addr, dv.max_wr_memcpy_length);
	len = htobe32((uint32_t)dv.max_wr_memcpy_length + excess);
	memcpy((uint8_t *)sq.sq.buf + SOURCE_LENGTH, &len, sizeof(len));
	memcpy((uint8_t *)sq.sq.buf + DESTINATION_LENGTH, &len, sizeof(len));
	assert_int_equal(ibv_wr_complete(qpx), 0);
	return take_status(d, kept);
}

static void each_announced_limit_is_enforced(void **state)
{
	static const struct {
		const char *name;
		int (*attempt)(struct desk *d, const struct limits *l, uint32_t excess);
	} rows[] = {
		{"max_qp_wr, sends", try_send_wr},
		{"max_qp_wr, receives", try_recv_wr},
		{"max_srq_wr", try_srq_wr},
		{"max_srq_sge", try_srq_sge},
		{"num_comp_vectors", try_vector},
		{"max_cq_period", try_period},
		{"max_dm_size", try_dm},
		{"phys_port_cnt", try_port},
		{"pkey_tbl_len", try_pkey},
		{"max_qp_init_rd_atom", try_reads},
		{"max_qp_rd_atom", try_served},
		{"max_msg_sz", try_message},
		{"max_wr_memcpy_length", try_copy},
	};
	struct desk *d = *state;
	struct limits l;
	int err;

	assert_int_equal(ibv_query_device_ex(d->context, NULL, &l.device), 0);
	assert_int_equal(ibv_query_port(d->context, 1, &l.port), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		err = rows[i].attempt(d, &l, 0);
		if (err)
			fail_msg("%s: the limit itself is refused: errno %d", rows[i].name, err);
		if (!rows[i].attempt(d, &l, 1))
			fail_msg("%s: one more than the limit is accepted", rows[i].name);
	}
}

#define desk_test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		desk_test(ece_of_new_queue_pair_is_reported),
		desk_test(ece_is_negotiated_when_the_state_changes),
		desk_test(bad_ece_is_refused),
		desk_test(extended_modify_honours_or_refuses_each_field),
		desk_test(null_region_reads_as_zeros_and_discards),
		desk_test(null_region_skips_bytes_of_a_message),
		desk_test(null_region_of_a_peer_is_refused),
		desk_test(kernel_says_the_same_of_each_card),
		desk_test(requests_and_messages_invalidate_keys),
		desk_test(queues_hold_as_many_requests_as_announced),
		desk_test(message_has_as_many_pieces_as_announced),
		desk_test(each_announced_limit_is_enforced),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
