/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The dynamically connected transport (DC): initiators that name the target of each request, targets that serve
 * several initiators, and what an error of a request ends: the initiator, or one of its streams, and never the target.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/mlx5dv.h>

#include "fixture.h"

#define CHILD_ENV   "DPUMAP_TEST_DC"
#define PORT	    1
#define KEY	    0x1122334455667788ull
#define BYTES	    4096u
#define ROOM	    (4 * BYTES)
#define PIECE	    64u /* bytes of a message */
#define WRS	    64u
#define LOG_ERRORED 1u
#define ALL                                                                          \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | \
	 IBV_ACCESS_REMOTE_ATOMIC)
#define SEND_OPS                                                                          \
	(IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_WRITE | \
	 IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |                  \
	 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)

/* What an initiator must know. */
struct address {
	uint32_t dctn;
	uint32_t rkey;
	uint64_t addr;
	uint8_t gid[16];
};

struct target {
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct address address;
};

static struct own {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq; /* of initiators */
	struct ibv_mr *mr;
	struct ibv_port_attr port;
	uint8_t gid_index;
	union ibv_gid gid;
	_Alignas(8) uint8_t bytes[ROOM]; /* from BYTES on it is remote memory */
} own;

/* --- objects ---------------------------------------------------------------------------------- */

static bool open_own(void)
{
	struct mlx5dv_context_attr attr = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_gid_entry gids[16];
	ssize_t n;

	memset(&own, 0, sizeof(own));
	own.context = list ? mlx5dv_open_device(list[0], &attr) : NULL;
	ibv_free_device_list(list);
	own.pd = own.context ? ibv_alloc_pd(own.context) : NULL;
	if (!own.pd || ibv_query_port(own.context, PORT, &own.port))
		return false;
	n = ibv_query_gid_table(own.context, gids, 16, 0);
	if (n < 1)
		return false;
	own.gid_index = (uint8_t)gids[n - 1].gid_index;
	own.gid = gids[n - 1].gid;
	own.cq = ibv_create_cq(own.context, WRS, NULL, NULL, 0);
	own.mr = ibv_reg_mr(own.pd, own.bytes, sizeof(own.bytes), ALL);
	return own.cq && own.mr;
}

static bool close_own(void)
{
	return !ibv_dereg_mr(own.mr) && !ibv_destroy_cq(own.cq) && !ibv_dealloc_pd(own.pd) &&
	       !ibv_close_device(own.context);
}

static struct ibv_qp *create(struct mlx5dv_qp_init_attr *dv, const struct target *t)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_DRIVER,
		.send_cq = own.cq,
		.recv_cq = t ? t->cq : own.cq,
		.srq = t ? t->srq : NULL,
		.pd = own.pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
	};

	dv->comp_mask |= MLX5DV_QP_INIT_ATTR_MASK_DC;
	if (!t) {
		attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		attr.send_ops_flags = SEND_OPS;
		attr.cap = (struct ibv_qp_cap){.max_send_wr = WRS, .max_send_sge = 1};
	}
	return mlx5dv_create_qp(own.context, &attr, dv);
}

#define TO_INIT (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT)

static bool start_initiator(struct ibv_qp *qp, uint8_t rnr_retry)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = PORT};

	if (ibv_modify_qp(qp, &attr, TO_INIT))
		return false;
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR, .path_mtu = own.port.active_mtu};
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PATH_MTU))
		return false;
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				    .timeout = 8,
				    .retry_cnt = 1,
				    .rnr_retry = rnr_retry,
				    .max_rd_atomic = 1};
	return !ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				      IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static struct ibv_qp *make_initiator(unsigned int log_errored)
{
	struct mlx5dv_qp_init_attr dv = {.dc_init_attr.dc_type = MLX5DV_DCTYPE_DCI};
	struct ibv_qp *qp;

	if (log_errored) {
		dv.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS;
		dv.dc_init_attr.dci_streams.log_num_concurent = 2;
		dv.dc_init_attr.dci_streams.log_num_errored = (uint8_t)log_errored;
	}
	qp = create(&dv, NULL);
	return qp && start_initiator(qp, 7) ? qp : NULL;
}

#define ANSWERS (IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER | IBV_QP_AV | IBV_QP_PATH_MTU)

static int initialize(struct target *t)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = PORT, .qp_access_flags = ALL};

	return ibv_modify_qp(t->qp, &attr, TO_INIT | IBV_QP_ACCESS_FLAGS);
}

static int activate(struct target *t)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = own.port.active_mtu,
		.min_rnr_timer = 1,
		.ah_attr = {.is_global = 1,
			    .port_num = PORT,
			    .grh = {.sgid_index = own.gid_index, .hop_limit = 64}},
	};

	return ibv_modify_qp(t->qp, &attr, ANSWERS);
}

static bool begin_target(struct target *t)
{
	struct mlx5dv_qp_init_attr dv = {
		.dc_init_attr = {.dc_type = MLX5DV_DCTYPE_DCT, .dct_access_key = KEY}};
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = WRS, .max_sge = 1}};

	*t = (struct target){0};
	t->cq = ibv_create_cq(own.context, WRS, NULL, NULL, 0);
	t->srq = ibv_create_srq(own.pd, &srq);
	t->qp = t->cq && t->srq ? create(&dv, t) : NULL;
	return t->qp;
}

static bool make_target(struct target *t)
{
	if (!begin_target(t) || initialize(t) || activate(t))
		return false;
	t->address = (struct address){
		.dctn = t->qp->qp_num,
		.rkey = own.mr->rkey,
		.addr = (uintptr_t)own.bytes + BYTES,
	};
	memcpy(t->address.gid, own.gid.raw, sizeof(own.gid.raw));
	return true;
}

static void destroy_target(struct target *t)
{
	assert_int_equal(ibv_destroy_qp(t->qp), 0);
	assert_int_equal(ibv_destroy_srq(t->srq), 0);
	assert_int_equal(ibv_destroy_cq(t->cq), 0);
}

/* --- requests --------------------------------------------------------------------------------- */

struct request {
	enum ibv_wr_opcode opcode;
	uint16_t stream;
	uint32_t len;
	uint32_t imm;
	uint32_t rkey; /* 0: the target's */
	uint64_t key;  /* 0: KEY */
	uint64_t operand[2];
};

static void begin_wr(struct ibv_qp_ex *qpx, const struct address *to, const struct request *r)
{
	const uint32_t rkey = r->rkey ? r->rkey : to->rkey;

	switch (r->opcode) {
	case IBV_WR_SEND_WITH_IMM:
		ibv_wr_send_imm(qpx, r->imm);
		break;
	case IBV_WR_RDMA_WRITE:
		ibv_wr_rdma_write(qpx, rkey, to->addr);
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(qpx, rkey, to->addr, r->imm);
		break;
	case IBV_WR_RDMA_READ:
		ibv_wr_rdma_read(qpx, rkey, to->addr);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		ibv_wr_atomic_cmp_swp(qpx, rkey, to->addr, r->operand[0], r->operand[1]);
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		ibv_wr_atomic_fetch_add(qpx, rkey, to->addr, r->operand[0]);
		break;
	default:
		ibv_wr_send(qpx);
	}
}

static bool post(struct ibv_qp *qp, const struct address *to, const struct request *r)
{
	struct ibv_ah_attr attr = {.is_global = 1,
				   .port_num = PORT,
				   .grh = {.sgid_index = own.gid_index, .hop_limit = 64}};
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	struct ibv_ah *ah;
	bool posted;

	memcpy(attr.grh.dgid.raw, to->gid, sizeof(to->gid));
	ah = ibv_create_ah(own.pd, &attr);
	if (!ah)
		return false;
	ibv_wr_start(qpx);
	qpx->wr_id = r->stream;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	begin_wr(qpx, to, r);
	mlx5dv_wr_set_dc_addr_stream(mlx5dv_qp_ex_from_ibv_qp_ex(qpx), ah, to->dctn,
				     r->key ? r->key : KEY, r->stream);
	ibv_wr_set_sge(qpx, own.mr->lkey, (uintptr_t)own.bytes, r->len);
	posted = !ibv_wr_complete(qpx);
	return !ibv_destroy_ah(ah) && posted;
}

/* The status, or -1. */
static int await(struct ibv_cq *cq, struct ibv_wc *wc)
{
	uint64_t end = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, wc)) && monotonic_ms() < end)
		sched_yield();
	return n == 1 ? (int)wc->status : -1;
}

static int run(struct ibv_qp *qp, const struct address *to, const struct request *r)
{
	struct ibv_wc wc;

	return post(qp, to, r) ? await(own.cq, &wc) : -1;
}

#define assert_status(call, wanted)                                        \
	assert_string_equal(ibv_wc_status_str((enum ibv_wc_status)(call)), \
			    ibv_wc_status_str(wanted))

static void post_receive(struct target *t, uint32_t at, uint32_t len)
{
	struct ibv_sge sge = {(uintptr_t)own.bytes + at, len, own.mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = at, .sg_list = &sge, .num_sge = 1}, *bad;

	assert_true(t->srq && !ibv_post_srq_recv(t->srq, &wr, &bad));
}

static struct ibv_wc received(struct target *t)
{
	struct ibv_wc wc;

	assert_status(await(t->cq, &wc), IBV_WC_SUCCESS);
	assert_int_equal(wc.qp_num, t->address.dctn);
	return wc;
}

static void message_arrives(struct ibv_qp *qp, struct target *t)
{
	const struct request r = {.opcode = IBV_WR_SEND, .len = PIECE};

	post_receive(t, 2 * BYTES, PIECE);
	fixture_fill(own.bytes, PIECE, 7);
	memset(own.bytes + 2 * BYTES, 0, PIECE);
	assert_status(run(qp, &t->address, &r), IBV_WC_SUCCESS);
	assert_int_equal(received(t).byte_len, PIECE);
	assert_memory_equal(own.bytes, own.bytes + 2 * BYTES, PIECE);
}

static enum ibv_qp_state state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	assert_int_equal(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
	return attr.qp_state;
}

/* --- the tests -------------------------------------------------------------------------------- */

static void target_has_a_number_from_rtr_on(void **state)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};
	struct ibv_qp_init_attr init;
	struct target t = {0};

	assert_true(begin_target(&t) && !t.qp->qp_num);
	assert_int_equal(activate(&t), EINVAL);
	assert_int_equal(initialize(&t), 0);
	assert_int_equal(ibv_query_qp(t.qp, &attr, IBV_QP_STATE, &init), EINVAL);
	assert_int_equal(initialize(&t), EINVAL);
	assert_int_equal(activate(&t), 0);
	assert_true(t.qp && t.qp->qp_num);
	assert_int_equal(ibv_query_qp(t.qp, &attr, ANSWERS | IBV_QP_ACCESS_FLAGS, &init), 0);
	assert_int_equal(attr.qp_state, IBV_QPS_RTR);
	assert_int_equal(attr.path_mtu, own.port.active_mtu);
	assert_int_equal(attr.qp_access_flags, ALL & ~IBV_ACCESS_LOCAL_WRITE);
	assert_int_equal(ibv_query_qp(t.qp, &attr, IBV_QP_SQ_PSN, &init), EINVAL);
	for (int to = IBV_QPS_RESET; to <= IBV_QPS_ERR; to++) {
		attr.qp_state = (enum ibv_qp_state)to;
		assert_int_equal(ibv_modify_qp(t.qp, &attr, IBV_QP_STATE), EINVAL);
	}
	destroy_target(&t);
}

static void each_operation_reaches_the_target(void **state)
{
	const uint64_t start = 5;
	struct request r = {.opcode = IBV_WR_SEND_WITH_IMM, .len = PIECE, .imm = 0x12};
	struct ibv_qp *qp = make_initiator(0);
	uint8_t *remote = own.bytes + BYTES;
	struct ibv_wc wc;
	struct target t = {0};

	assert_true(qp && make_target(&t));
	message_arrives(qp, &t);
	post_receive(&t, 2 * BYTES, PIECE);
	assert_status(run(qp, &t.address, &r), IBV_WC_SUCCESS);
	wc = received(&t);
	assert_int_equal(wc.imm_data, 0x12);

	r.opcode = IBV_WR_RDMA_WRITE;
	assert_status(run(qp, &t.address, &r), IBV_WC_SUCCESS);
	assert_memory_equal(remote, own.bytes, PIECE);
	r.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	fixture_fill(own.bytes, PIECE, 8);
	post_receive(&t, 2 * BYTES, PIECE);
	assert_status(run(qp, &t.address, &r), IBV_WC_SUCCESS);
	wc = received(&t);
	assert_int_equal(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	assert_memory_equal(remote, own.bytes, PIECE);
	r.opcode = IBV_WR_RDMA_READ;
	memset(own.bytes, 0, PIECE);
	assert_status(run(qp, &t.address, &r), IBV_WC_SUCCESS);
	assert_memory_equal(own.bytes, remote, PIECE);

	memcpy(remote, &start, sizeof(start));
	r = (struct request){.opcode = IBV_WR_ATOMIC_CMP_AND_SWP, .len = 8, .operand = {5, 6}};
	assert_status(run(qp, &t.address, &r), IBV_WC_SUCCESS);
	assert_memory_equal(own.bytes, &start, sizeof(start));
	r = (struct request){.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .len = 8, .operand = {3}};
	assert_status(run(qp, &t.address, &r), IBV_WC_SUCCESS);
	assert_int_equal(*(uint64_t *)(void *)remote, 9);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	destroy_target(&t);
}

/* Each message has its number as immediate data. */
static void initiator_changes_targets_in_order(void **state)
{
	struct ibv_qp *qp = make_initiator(0);
	struct ibv_wc wc;
	struct target t[2] = {0};

	assert_true(qp && make_target(&t[0]) && make_target(&t[1]));
	for (uint32_t i = 0; i < WRS; i++)
		post_receive(&t[i % 2], 2 * BYTES, PIECE);
	for (uint32_t i = 0; i < WRS; i++)
		assert_true(post(
			qp, &t[i % 2].address,
			&(struct request){.opcode = IBV_WR_SEND_WITH_IMM, .len = PIECE, .imm = i}));
	for (uint32_t i = 0; i < WRS; i++) {
		assert_status(await(own.cq, &wc), IBV_WC_SUCCESS);
		assert_int_equal(received(&t[i % 2]).imm_data, i);
	}
	assert_int_equal(ibv_destroy_qp(qp), 0);
	destroy_target(&t[0]);
	destroy_target(&t[1]);
}

/* A request that fails this way ends its initiator, and the target serves the next one. */
static void fails_alone(const struct request *r, enum ibv_wc_status status)
{
	struct ibv_qp *qp = make_initiator(0), *other = make_initiator(0);
	struct target t = {0};

	assert_true(qp && other && make_target(&t));
	assert_status(run(qp, &t.address, r), status);
	assert_int_equal(state_of(qp), IBV_QPS_ERR);
	assert_status(run(qp, &t.address, r), IBV_WC_WR_FLUSH_ERR);
	message_arrives(other, &t);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_qp(other), 0);
	destroy_target(&t);
}

static void wrong_key_fails_the_initiator_alone(void **state)
{
	fails_alone(&(struct request){.opcode = IBV_WR_SEND, .len = PIECE, .key = KEY + 1},
		    IBV_WC_REM_ACCESS_ERR);
	fails_alone(&(struct request){.opcode = IBV_WR_RDMA_WRITE, .len = PIECE, .key = KEY + 1},
		    IBV_WC_REM_ACCESS_ERR);
}

static void remote_errors_fail_the_initiator_alone(void **state)
{
	fails_alone(&(struct request){.opcode = IBV_WR_RDMA_WRITE, .len = PIECE, .rkey = 1},
		    IBV_WC_REM_ACCESS_ERR);
	fails_alone(&(struct request){.opcode = IBV_WR_RDMA_READ, .len = PIECE, .rkey = 1},
		    IBV_WC_REM_ACCESS_ERR);
	fails_alone(&(struct request){.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .len = 8, .rkey = 1},
		    IBV_WC_REM_ACCESS_ERR);
}

static void a_message_that_is_too_long_fails_its_receive(void **state)
{
	const struct request r = {.opcode = IBV_WR_SEND, .len = PIECE};
	struct ibv_qp *qp = make_initiator(0), *other = make_initiator(0);
	struct ibv_wc wc;
	struct target t = {0};

	assert_true(qp && other && make_target(&t));
	post_receive(&t, 2 * BYTES, PIECE - 1);
	assert_status(run(qp, &t.address, &r), IBV_WC_REM_INV_REQ_ERR);
	assert_status(await(t.cq, &wc), IBV_WC_LOC_LEN_ERR);
	message_arrives(other, &t);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_qp(other), 0);
	destroy_target(&t);
}

static void a_destroyed_target_does_not_answer(void **state)
{
	const struct request r = {.opcode = IBV_WR_SEND, .len = PIECE};
	struct ibv_qp *qp = make_initiator(0);
	struct target t = {0};

	assert_true(qp && make_target(&t));
	message_arrives(qp, &t);
	destroy_target(&t);
	assert_status(run(qp, &t.address, &r), IBV_WC_RETRY_EXC_ERR);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void a_sender_waits_for_a_receive(void **state)
{
	struct ibv_qp *qp = make_initiator(0);
	struct ibv_wc wc;
	struct target t = {0};

	assert_true(qp && make_target(&t));
	assert_true(post(qp, &t.address, &(struct request){.opcode = IBV_WR_SEND, .len = PIECE}));
	assert_int_equal(ibv_poll_cq(own.cq, 1, &wc), 0);
	post_receive(&t, 2 * BYTES, PIECE);
	assert_status(await(own.cq, &wc), IBV_WC_SUCCESS);
	received(&t);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	destroy_target(&t);
}

static void the_shared_queue_reports_its_limit(void **state)
{
	struct ibv_srq_attr limit = {.srq_limit = 2};
	struct ibv_qp *qp = make_initiator(0);
	struct ibv_async_event event;
	struct target t = {0};

	assert_true(qp && make_target(&t));
	post_receive(&t, 2 * BYTES, PIECE);
	post_receive(&t, 2 * BYTES, PIECE);
	assert_int_equal(ibv_modify_srq(t.srq, &limit, IBV_SRQ_LIMIT), 0);
	assert_status(run(qp, &t.address, &(struct request){.opcode = IBV_WR_SEND, .len = PIECE}),
		      IBV_WC_SUCCESS);
	assert_int_equal(ibv_get_async_event(own.context, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
	assert_ptr_equal(event.element.srq, t.srq);
	ibv_ack_async_event(&event);
	received(&t);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	destroy_target(&t);
}

static void a_failed_stream_leaves_the_others(void **state)
{
	struct request bad = {.opcode = IBV_WR_RDMA_WRITE, .len = PIECE, .rkey = 1, .stream = 9};
	struct request good = {.opcode = IBV_WR_RDMA_WRITE, .len = PIECE, .stream = 9};
	struct ibv_qp *qp = make_initiator(LOG_ERRORED);
	struct target t = {0};

	assert_true(qp && make_target(&t));
	assert_status(run(qp, &t.address, &bad), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(state_of(qp), IBV_QPS_RTS);
	assert_status(run(qp, &t.address, &good), IBV_WC_WR_FLUSH_ERR);
	good.stream = 8;
	assert_status(run(qp, &t.address, &good), IBV_WC_SUCCESS);
	assert_int_not_equal(mlx5dv_dci_stream_id_reset(qp, 8), 0);
	assert_int_equal(mlx5dv_dci_stream_id_reset(qp, 9), 0);
	good.stream = 9;
	assert_status(run(qp, &t.address, &good), IBV_WC_SUCCESS);

	assert_status(run(qp, &t.address, &bad), IBV_WC_REM_ACCESS_ERR);
	bad.stream = 8; /* the second of two that may fail */
	assert_status(run(qp, &t.address, &bad), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(state_of(qp), IBV_QPS_ERR);
	assert_int_not_equal(mlx5dv_dci_stream_id_reset(qp, 9), 0);
	assert_int_equal(
		ibv_modify_qp(qp, &(struct ibv_qp_attr){.qp_state = IBV_QPS_RESET}, IBV_QP_STATE),
		0);
	assert_true(start_initiator(qp, 7));
	assert_status(run(qp, &t.address, &good), IBV_WC_SUCCESS);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	destroy_target(&t);
}

/* --- two processes ---------------------------------------------------------------------------- */

#define MESSAGES 8u

/* The other process: write, send, and wait; then the target is gone. Exit codes tell where it went wrong. */
static int child(int socket)
{
	struct request r = {.opcode = IBV_WR_RDMA_WRITE, .len = BYTES};
	struct address to;
	struct ibv_qp *qp;
	char byte;

	if (!open_own() || !process_receive(socket, &to, sizeof(to)))
		return 10;
	qp = make_initiator(0);
	fixture_fill(own.bytes, BYTES, 3);
	if (!qp || run(qp, &to, &r) != IBV_WC_SUCCESS)
		return 11;
	r.opcode = IBV_WR_SEND_WITH_IMM;
	r.len = PIECE;
	for (r.imm = 0; r.imm < MESSAGES; r.imm++)
		if (run(qp, &to, &r) != IBV_WC_SUCCESS)
			return 12;
	if (!process_send(socket, "", 1) || !process_receive(socket, &byte, 1))
		return 13;
	return run(qp, &to, &r) == IBV_WC_RETRY_EXC_ERR ? 0 : 14;
}

static void start_child(struct process *p, const struct target *t)
{
	assert_true(process_start_on_socket(p, test_options.peer_as, CHILD_ENV));
	assert_true(process_send(p->to, &t->address, sizeof(t->address)));
}

/* One writes and sends until the target is gone; another one ends in the middle. */
static void initiators_of_other_processes_share_a_target(void **state)
{
	uint8_t wanted[BYTES];
	struct process a, b;
	struct target t = {0};
	char byte;

	assert_true(make_target(&t));
	for (uint32_t i = 0; i < 2 * MESSAGES; i++)
		post_receive(&t, 2 * BYTES, PIECE);
	start_child(&a, &t);
	start_child(&b, &t);
	assert_true(process_receive(a.from, &byte, 1) && process_receive(b.from, &byte, 1));
	assert_true(process_kill(&b));
	fixture_fill(wanted, BYTES, 3);
	assert_memory_equal(own.bytes + BYTES, wanted, BYTES);
	for (uint32_t i = 0; i < 2 * MESSAGES; i++)
		received(&t);
	destroy_target(&t);
	assert_true(process_send(a.to, "", 1));
	assert_true(process_finish(&a));
}

/* --- the firmware's commands ------------------------------------------------------------------ */

enum { CREATE_DCT = 0x710, QUERY_DCT = 0x713, ARM_DCT = 0x714, DCT_KEY_VIOLATION = 0x1d };

static void put(uint8_t *row, uint32_t value)
{
	row[0] = (uint8_t)(value >> 24);
	row[1] = (uint8_t)(value >> 16);
	row[2] = (uint8_t)(value >> 8);
	row[3] = (uint8_t)value;
}

static uint32_t get(const uint8_t *row)
{
	return (uint32_t)row[0] << 24 | (uint32_t)row[1] << 16 | (uint32_t)row[2] << 8 | row[3];
}

static uint32_t srqn_of(const struct target *t)
{
	struct mlx5dv_srq out = {.comp_mask = MLX5DV_SRQ_MASK_SRQN};
	struct mlx5dv_obj obj = {.srq = {t->srq, &out}};

	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_SRQ), 0);
	return out.srqn;
}

static uint32_t cqn_of(struct ibv_cq *cq)
{
	struct mlx5dv_cq out = {0};
	struct mlx5dv_obj obj = {.cq = {cq, &out}};

	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ), 0);
	return out.cqn;
}

static uint32_t pdn_of_own(void)
{
	struct mlx5dv_pd out = {0};
	struct mlx5dv_obj obj = {.pd = {own.pd, &out}};

	assert_int_equal(mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD), 0);
	return out.pdn;
}

#define MAILBOX 0x80
#define CONTEXT 0x10 /* of the target, in mailboxes */

static struct mlx5dv_devx_obj *create_by_command(const struct target *t, uint32_t srqn,
						 uint32_t *dctn)
{
	uint8_t in[MAILBOX] = {0}, out[0x10] = {0}, *dctc = in + CONTEXT;
	struct mlx5dv_devx_obj *obj;

	put(in, (uint32_t)CREATE_DCT << 16);
	put(dctc + 0x04, 0xffffff); /* user_index */
	put(dctc + 0x08, cqn_of(t->cq));
	put(dctc + 0x0c, 7u << 17); /* rre, rwe, rae */
	put(dctc + 0x14, srqn);
	put(dctc + 0x18, pdn_of_own());
	put(dctc + 0x20, (uint32_t)(KEY >> 32));
	put(dctc + 0x24, (uint32_t)KEY);
	put(dctc + 0x28, 3u << 24 | 1u << 16); /* mtu, port */
	put(dctc + 0x2c, (uint32_t)own.gid_index << 16);
	obj = mlx5dv_devx_obj_create(own.context, in, sizeof(in), out, sizeof(out));
	*dctn = get(out + 8) & 0xffffff;
	return obj;
}

static uint32_t violations(struct mlx5dv_devx_obj *obj, uint32_t dctn)
{
	uint8_t in[0x10] = {0}, out[MAILBOX] = {0};

	put(in, (uint32_t)QUERY_DCT << 16);
	put(in + 8, dctn);
	assert_int_equal(mlx5dv_devx_obj_query(obj, in, sizeof(in), out, sizeof(out)), 0);
	assert_int_equal(get(out + CONTEXT + 0x24), (uint32_t)KEY);
	return get(out + CONTEXT + 0x30);
}

static void arm(struct mlx5dv_devx_obj *obj, uint32_t dctn)
{
	uint8_t in[0x10] = {0}, out[0x10] = {0};

	put(in, (uint32_t)ARM_DCT << 16);
	put(in + 8, dctn);
	assert_int_equal(mlx5dv_devx_obj_modify(obj, in, sizeof(in), out, sizeof(out)), 0);
}

static void violate(const struct address *to)
{
	const struct request r = {.opcode = IBV_WR_RDMA_WRITE, .len = PIECE, .key = KEY + 1};
	struct ibv_qp *qp = make_initiator(0);

	assert_non_null(qp);
	assert_status(run(qp, to, &r), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* The event of the second violation; that of the first one is not armed. */
static void an_armed_target_reports_a_violation_of_its_key(void **state)
{
	union {
		struct mlx5dv_devx_async_event_hdr hdr;
		uint8_t raw[sizeof(uint64_t) + 64];
	} event;
	uint16_t number = DCT_KEY_VIOLATION;
	struct mlx5dv_devx_event_channel *channel =
		mlx5dv_devx_create_event_channel(own.context, 0);
	struct ibv_qp *qp = make_initiator(0);
	struct mlx5dv_devx_obj *obj;
	struct address to;
	struct target t = {0}; /* lends its queues */
	uint32_t dctn;

	assert_true(qp && channel && make_target(&t));
	to = t.address;
	assert_null(create_by_command(&t, srqn_of(&t) + 1, &dctn));
	obj = create_by_command(&t, srqn_of(&t), &to.dctn);
	assert_non_null(obj);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event(channel, obj, sizeof(number), &number, 5),
			 0);
	assert_status(run(qp, &to, &(struct request){.opcode = IBV_WR_RDMA_WRITE, .len = PIECE}),
		      IBV_WC_SUCCESS);
	violate(&to);
	arm(obj, to.dctn);
	violate(&to);
	violate(&to);
	assert_int_equal(mlx5dv_devx_get_event(channel, &event.hdr, sizeof(event)), sizeof(event));
	assert_int_equal(event.hdr.cookie, 5);
	assert_int_equal(get(event.raw + sizeof(uint64_t) + 0x38), to.dctn);
	assert_int_equal(violations(obj, to.dctn), 3);
	assert_int_equal(poll(&(struct pollfd){.fd = channel->fd, .events = POLLIN}, 1, 0), 0);
	assert_int_equal(mlx5dv_devx_obj_destroy(obj), 0);
	mlx5dv_devx_destroy_event_channel(channel);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	destroy_target(&t);
}

static int set_up(void **state)
{
	return fixture_count(state) || !open_own() ? -1 : 0;
}

static int tear_down(void **state)
{
	return !close_own() || fixture_recount(state) ? -1 : 0;
}

#define DC(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		DC(target_has_a_number_from_rtr_on),
		DC(each_operation_reaches_the_target),
		DC(initiator_changes_targets_in_order),
		DC(wrong_key_fails_the_initiator_alone),
		DC(remote_errors_fail_the_initiator_alone),
		DC(a_message_that_is_too_long_fails_its_receive),
		DC(a_destroyed_target_does_not_answer),
		DC(a_sender_waits_for_a_receive),
		DC(the_shared_queue_reports_its_limit),
		DC(a_failed_stream_leaves_the_others),
		DC(initiators_of_other_processes_share_a_target),
		DC(an_armed_target_reports_a_violation_of_its_key),
	};
	int socket = process_inherited(CHILD_ENV);

	test_parse_options(argc, argv);
	if (socket >= 0)
		return child(socket);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
