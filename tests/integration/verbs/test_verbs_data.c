/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Work requests and completions of doca_verbs. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include <doca_mmap.h>
#include <doca_rdma_bridge.h>

#include "base/array.h"
#include "pair.h"

static void expect(struct doca_verbs_cq *cq, uint64_t id, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc = pair_poll(cq);

	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.wr_id, id);
	assert_int_equal(wc.opcode, opcode);
}

/* rule: VB-1, VQ-11 */
static void write_arrives(void **state)
{
	struct pair_request request;

	fixture_fill(pair.bytes, PAIR_LEN, 1);
	assert_int_equal(pair_post(pair.a, pair_request(&request, IBV_WR_RDMA_WRITE, 7, PAIR_LEN)),
			 0);
	expect(pair.cq, 7, IBV_WC_RDMA_WRITE);
	assert_memory_equal(pair.bytes, pair.bytes + PAIR_LEN, PAIR_LEN);
	assert_true(pair_is_empty(pair.cq));
}

/* rule: VS-3 */
static void read_works_without_numbers_of_reads(void **state)
{
	struct pair_request requests[4];

	fixture_fill(pair.bytes + PAIR_LEN, PAIR_LEN, 2);
	for (unsigned int i = 0; i < ARRAY_SIZE(requests); i++)
		assert_int_equal(pair_post(pair.a, pair_request(&requests[i], IBV_WR_RDMA_READ, i,
								PAIR_LEN)),
				 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(requests); i++)
		expect(pair.cq, i, IBV_WC_RDMA_READ);
	assert_memory_equal(pair.bytes, pair.bytes + PAIR_LEN, PAIR_LEN);
}

/* rule: VQ-11, VQ-12 */
static void list_of_sends_completes_in_order(void **state)
{
	struct ibv_send_wr *bad = (void *)state;
	struct pair_request requests[3];
	struct ibv_wc wc[8];

	for (unsigned int i = 0; i < ARRAY_SIZE(requests); i++) {
		assert_int_equal(pair_post_recv(pair.b, 100 + i), 0);
		pair_request(&requests[i], IBV_WR_SEND, i, 64);
		if (i)
			requests[i - 1].wr.next = &requests[i].wr;
	}
	assert_int_equal(doca_verbs_bridge_post_send(pair.a, &requests[0].wr, &bad), 0);
	assert_ptr_equal(bad, state);
	for (uint64_t sent = 0, received = 0; sent + received < 6;) {
		int num = doca_verbs_bridge_poll_cq(pair.cq, ARRAY_SIZE(wc), wc);

		assert_true(num >= 0);
		for (int i = 0; i < num; i++) {
			assert_int_equal(wc[i].status, IBV_WC_SUCCESS);
			if (wc[i].opcode == IBV_WC_SEND)
				assert_int_equal(wc[i].wr_id, sent++);
			else
				assert_int_equal(wc[i].wr_id, 100 + received++);
		}
	}
}

/* rule: VQ-12 */
static void bad_wr_is_the_first_that_was_not_posted(void **state)
{
	struct pair_request good, wrong;
	struct ibv_send_wr *bad = NULL;
	struct ibv_recv_wr *bad_recv = NULL, recv = {.num_sge = 99};
	struct ibv_sge sges[3] = {0};

	pair_request(&good, IBV_WR_RDMA_WRITE, 1, 8);
	pair_request(&wrong, IBV_WR_RDMA_WRITE, 2, 8);
	wrong.wr.sg_list = sges;
	wrong.wr.num_sge = 99;
	good.wr.next = &wrong.wr;
	assert_int_not_equal(doca_verbs_bridge_post_send(pair.a, &good.wr, &bad), 0);
	assert_ptr_equal(bad, &wrong.wr);
	expect(pair.cq, 1, IBV_WC_RDMA_WRITE);
	assert_int_not_equal(doca_verbs_bridge_post_recv(pair.a, &recv, &bad_recv), 0);
	assert_ptr_equal(bad_recv, &recv);
}

/* rule: VB-null */
static void null_is_refused(void **state)
{
	struct pair_request request;
	struct ibv_send_wr *bad;
	struct ibv_recv_wr *bad_recv, recv = {0};
	struct ibv_wc wc;

	pair_request(&request, IBV_WR_RDMA_WRITE, 1, 8);
	assert_int_equal(doca_verbs_bridge_post_send(NULL, &request.wr, &bad), EINVAL);
	assert_int_equal(doca_verbs_bridge_post_send(pair.a, NULL, &bad), EINVAL);
	assert_int_equal(doca_verbs_bridge_post_send(pair.a, &request.wr, NULL), EINVAL);
	assert_int_equal(doca_verbs_bridge_post_recv(NULL, &recv, &bad_recv), EINVAL);
	assert_int_equal(doca_verbs_bridge_post_recv(pair.a, NULL, &bad_recv), EINVAL);
	assert_int_equal(doca_verbs_bridge_post_srq_recv(NULL, &recv, &bad_recv), EINVAL);
	assert_true(doca_verbs_bridge_poll_cq(NULL, 1, &wc) < 0);
	assert_true(doca_verbs_bridge_poll_cq(pair.cq, 1, NULL) < 0);
	assert_int_equal(doca_verbs_bridge_get_current_cq_ci(NULL), 0);
	assert_int_equal(doca_verbs_bridge_set_wait_cq_pi_wr(NULL, 0, &request.wr), EINVAL);
	assert_int_equal(doca_verbs_bridge_set_wait_cq_pi_wr(pair.cq, 0, NULL), EINVAL);
}

/* rule: VQ-4 */
static void each_send_completes_with_sq_sig_all(void **state)
{
	struct doca_verbs_qp_init_attr *attr = pair_init_attr();
	struct pair_request request;
	struct doca_verbs_qp *qp;

	assert_ok(doca_verbs_qp_init_attr_set_sq_sig_all(attr, 1));
	qp = pair_create_qp(attr);
	assert_non_null(qp);
	assert_true(pair_connect(qp, qp));
	pair_request(&request, IBV_WR_RDMA_WRITE, 3, 8)->wr.send_flags = 0;
	assert_int_equal(pair_post(qp, &request), 0);
	expect(pair.cq, 3, IBV_WC_RDMA_WRITE);
	assert_ok(doca_verbs_qp_destroy(qp));
	/* Without it, the next one that asks for a completion is the first. */
	assert_int_equal(pair_post(pair.a, &request), 0);
	assert_int_equal(pair_post(pair.a, pair_request(&request, IBV_WR_RDMA_WRITE, 4, 8)), 0);
	expect(pair.cq, 4, IBV_WC_RDMA_WRITE);
}

/* rule: VQ-5 */
static void inline_data_need_no_key(void **state)
{
	uint8_t unregistered[64];
	struct pair_request request;

	memset(unregistered, 0x5c, sizeof(unregistered));
	pair_request(&request, IBV_WR_RDMA_WRITE, 5, sizeof(unregistered));
	request.sge.addr = (uintptr_t)unregistered;
	request.sge.lkey = 0;
	request.wr.send_flags |= IBV_SEND_INLINE;
	assert_int_equal(pair_post(pair.a, &request), 0);
	expect(pair.cq, 5, IBV_WC_RDMA_WRITE);
	assert_memory_equal(pair.bytes + PAIR_LEN, unregistered, sizeof(unregistered));
}

/* rule: VQ-13 */
static void remote_key_works_as_local_key(void **state)
{
	struct pair_request request;

	pair_request(&request, IBV_WR_RDMA_WRITE, 6, 64)->sge.lkey = pair.mr->rkey;
	assert_int_equal(pair_post(pair.a, &request), 0);
	expect(pair.cq, 6, IBV_WC_RDMA_WRITE);
}

/* rule: MK-1 */
static void key_of_a_map_is_local_and_remote(void **state)
{
	struct pair_request request;
	struct doca_mmap *mmap;
	struct doca_dev *dev;
	uint32_t key = 0;

	assert_ok(doca_verbs_pd_as_doca_dev(pair.pd, &dev));
	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_set_memrange(mmap, pair.bytes, (size_t)2 * PAIR_LEN));
	assert_ok(doca_mmap_set_permissions(mmap, LOCAL_RW | DOCA_ACCESS_FLAG_RDMA_WRITE));
	assert_ok(doca_mmap_add_dev(mmap, dev));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_mmap_get_mkey(mmap, dev, &key));
	fixture_fill(pair.bytes, PAIR_LEN, 3);
	pair_request(&request, IBV_WR_RDMA_WRITE, 8, PAIR_LEN);
	request.sge.lkey = key;
	request.wr.wr.rdma.rkey = key;
	assert_int_equal(pair_post(pair.a, &request), 0);
	expect(pair.cq, 8, IBV_WC_RDMA_WRITE);
	assert_memory_equal(pair.bytes, pair.bytes + PAIR_LEN, PAIR_LEN);
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_dev_close(dev));
}

/* rule: VQ-14, VQ-9 */
static void consumer_index_counts_beyond_the_size(void **state)
{
	struct doca_verbs_qp_init_attr *attr = pair_init_attr();
	struct doca_verbs_cq *cq = pair_create_cq(1);
	struct pair_request request;
	struct doca_verbs_qp *qp;

	assert_non_null(cq);
	assert_ok(doca_verbs_qp_init_attr_set_send_cq(attr, cq));
	qp = pair_create_qp(attr);
	assert_non_null(qp);
	assert_true(pair_connect(qp, qp));
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(doca_verbs_bridge_get_current_cq_ci(cq), i);
		assert_int_equal(pair_post(qp, pair_request(&request, IBV_WR_RDMA_WRITE, i, 8)), 0);
		expect(cq, i, IBV_WC_RDMA_WRITE);
	}
	assert_ok(doca_verbs_qp_destroy(qp));
	assert_ok(doca_verbs_cq_destroy(cq));
}

/* rule: VQ-2 */
static void queue_pairs_may_have_one_direction(void **state)
{
	struct doca_verbs_qp_init_attr *attr = pair_init_attr();
	struct doca_verbs_qp *sends, *receives;
	struct pair_request request;

	assert_ok(doca_verbs_qp_init_attr_set_receive_cq(attr, NULL));
	assert_ok(doca_verbs_qp_init_attr_set_rq_wr(attr, 0));
	assert_ok(doca_verbs_qp_init_attr_set_receive_max_sges(attr, 0));
	sends = pair_create_qp(attr);
	attr = pair_init_attr();
	assert_ok(doca_verbs_qp_init_attr_set_send_cq(attr, NULL));
	assert_ok(doca_verbs_qp_init_attr_set_sq_wr(attr, 0));
	assert_ok(doca_verbs_qp_init_attr_set_send_max_sges(attr, 0));
	assert_ok(doca_verbs_qp_init_attr_set_max_inline_data(attr, 0));
	receives = pair_create_qp(attr);
	assert_non_null(sends);
	assert_non_null(receives);
	assert_true(pair_connect(sends, receives));
	assert_true(pair_connect(receives, sends));
	assert_int_equal(pair_post_recv(receives, 11), 0);
	assert_int_equal(pair_post(sends, pair_request(&request, IBV_WR_SEND, 12, 8)), 0);
	assert_int_equal(pair_poll(pair.cq).status, IBV_WC_SUCCESS);
	assert_int_equal(pair_poll(pair.cq).status, IBV_WC_SUCCESS);
	assert_ok(doca_verbs_qp_destroy(sends));
	assert_ok(doca_verbs_qp_destroy(receives));
}

static struct doca_verbs_srq *create_srq(void)
{
	struct doca_verbs_srq_init_attr *attr;
	struct doca_verbs_srq *srq = NULL;

	assert_ok(doca_verbs_srq_init_attr_create(&attr));
	assert_ok(doca_verbs_srq_init_attr_set_pd(attr, pair.pd));
	assert_ok(doca_verbs_srq_init_attr_set_srq_wr(attr, 8));
	assert_ok(doca_verbs_srq_init_attr_set_receive_max_sges(attr, 1));
	assert_ok(doca_verbs_srq_create(pair.context, attr, &srq));
	assert_ok(doca_verbs_srq_init_attr_destroy(attr));
	return srq;
}

/* rule: VQ-2 */
static void queue_pairs_receive_from_a_shared_queue(void **state)
{
	struct doca_verbs_qp_init_attr *attr = pair_init_attr();
	struct doca_verbs_srq_init_attr *found;
	struct ibv_sge sge = {.addr = (uintptr_t)pair.bytes + PAIR_LEN, .length = PAIR_LEN};
	struct ibv_recv_wr wr = {.wr_id = 21, .sg_list = &sge, .num_sge = 1}, *bad;
	struct doca_verbs_srq *srq = create_srq();
	struct pair_request request;
	struct doca_verbs_qp *qp;
	struct ibv_wc wc;

	assert_ok(doca_verbs_srq_init_attr_create(&found));
	assert_ok(doca_verbs_srq_query(srq, found));
	assert_true(doca_verbs_srq_init_attr_get_srq_wr(found) >= 8);
	assert_ptr_equal(doca_verbs_srq_init_attr_get_pd(found), pair.pd);
	assert_int_not_equal(doca_verbs_srq_get_srqn(srq), 0);
	assert_ok(doca_verbs_qp_init_attr_set_srq(attr, srq));
	assert_ok(doca_verbs_qp_init_attr_set_rq_wr(attr, 0));
	qp = pair_create_qp(attr);
	assert_non_null(qp);
	assert_error(doca_verbs_srq_destroy(srq), DOCA_ERROR_BAD_STATE);
	assert_true(pair_connect(qp, qp));
	sge.lkey = pair.mr->lkey;
	assert_int_equal(doca_verbs_bridge_post_srq_recv(srq, &wr, &bad), 0);
	assert_int_equal(pair_post(qp, pair_request(&request, IBV_WR_SEND, 22, 8)), 0);
	for (int i = 0; i < 2; i++) {
		wc = pair_poll(pair.cq);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_int_equal(wc.wr_id, wc.opcode == IBV_WC_RECV ? 21 : 22);
	}
	assert_ok(doca_verbs_qp_destroy(qp));
	assert_ok(doca_verbs_srq_destroy(srq));
	assert_ok(doca_verbs_srq_init_attr_destroy(found));
}

/* --- queues that the program drives ----------------------------------------------------------- */

struct external {
	struct doca_verbs_cq *cq;
	struct doca_verbs_qp *qp;
};

static struct external create_external(uint8_t may_overrun)
{
	struct doca_verbs_qp_init_attr *attr = pair_init_attr();
	struct doca_verbs_cq_attr *cq_attr;
	struct external made;

	assert_ok(doca_verbs_cq_attr_create(&cq_attr));
	assert_ok(doca_verbs_cq_attr_set_cq_size(cq_attr, 4));
	assert_ok(doca_verbs_cq_attr_set_external_datapath_en(cq_attr, 1));
	assert_ok(doca_verbs_cq_attr_set_cq_overrun(cq_attr, may_overrun));
	assert_ok(doca_verbs_cq_create(pair.context, cq_attr, &made.cq));
	assert_ok(doca_verbs_cq_attr_destroy(cq_attr));
	assert_ok(doca_verbs_qp_init_attr_set_external_datapath_en(attr, 1));
	assert_ok(doca_verbs_qp_init_attr_set_send_cq(attr, made.cq));
	assert_ok(doca_verbs_qp_init_attr_set_receive_cq(attr, made.cq));
	made.qp = pair_create_qp(attr);
	assert_non_null(made.qp);
	assert_true(pair_connect(made.qp, made.qp));
	return made;
}

static void destroy_external(const struct external *queue)
{
	assert_ok(doca_verbs_qp_destroy(queue->qp));
	assert_ok(doca_verbs_cq_destroy(queue->cq));
}

/* A work request: an RDMA write of `len` bytes, `offset` bytes behind the start. */
static void build_write(const struct doca_verbs_qp *qp, struct mlx5_wqe_ctrl_seg *ctrl,
			uint16_t index, size_t offset, uint32_t len)
{
	struct mlx5_wqe_raddr_seg *raddr = (void *)(ctrl + 1);
	struct mlx5_wqe_data_seg *data = (void *)(raddr + 1);
	uintptr_t from = (uintptr_t)pair.bytes + offset;

	mlx5dv_set_ctrl_seg(ctrl, index, MLX5_OPCODE_RDMA_WRITE, 0, doca_verbs_qp_get_qpn(qp),
			    MLX5_WQE_CTRL_CQ_UPDATE, 3, 0, 0);
	raddr->raddr = htobe64(from + PAIR_LEN);
	raddr->rkey = htobe32(pair.mr->rkey);
	mlx5dv_set_data_seg(data, len, pair.mr->lkey, from);
}

/* The first work requests of a queue: each writes its part of the memory. Then their doorbell. */
static void ring_writes(const struct doca_verbs_qp *qp, uint16_t num)
{
	const uint32_t len = PAIR_LEN / num;
	uint32_t *record = doca_verbs_qp_get_dbr_addr(qp);
	uint32_t entries;
	uint8_t *wqe;
	void *sq;

	doca_verbs_qp_get_wq(qp, &sq, &entries, NULL, NULL, NULL);
	assert_true(num <= entries);
	for (uint16_t i = 0; i < num; i++) {
		wqe = (uint8_t *)sq + (size_t)i * MLX5_SEND_WQE_BB;
		build_write(qp, (void *)wqe, i, (size_t)i * len, len);
	}
	atomic_thread_fence(memory_order_seq_cst);
	record[MLX5_SND_DBR] = htobe32(num);
	atomic_thread_fence(memory_order_seq_cst);
	*(volatile uint64_t *)doca_verbs_qp_get_uar_addr(qp) = *(uint64_t *)(void *)wqe;
	atomic_thread_fence(memory_order_seq_cst);
}

static uint8_t await_first_cqe(struct doca_verbs_cq *cq)
{
	const uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	const struct mlx5_cqe64 *cqe;
	uint32_t *consumer, entries;
	uint8_t size, op_own;
	void *memory;

	doca_verbs_cq_get_wq(cq, &memory, &entries, &size);
	doca_verbs_cq_get_dbr_addr(cq, NULL, &consumer, NULL);
	cqe = memory;
	do {
		op_own = *(const volatile uint8_t *)&cqe->op_own;
		sched_yield();
	} while (op_own >> 4 == MLX5_CQE_INVALID && monotonic_ms() < limit);
	*consumer = htobe32(1);
	return op_own >> 4;
}

/* rule: VQ-19 */
static void program_drives_an_external_queue(void **state)
{
	struct external queue = create_external(0);

	fixture_fill(pair.bytes, PAIR_LEN, 4);
	ring_writes(queue.qp, 1);
	assert_int_equal(await_first_cqe(queue.cq), MLX5_CQE_REQ);
	assert_memory_equal(pair.bytes, pair.bytes + PAIR_LEN, PAIR_LEN);
	destroy_external(&queue);
}

/* rule: VQ-1 */
static void bridge_refuses_an_external_queue(void **state)
{
	struct external queue = create_external(0);
	struct ibv_recv_wr recv = {0}, *bad_recv;
	struct pair_request request;
	struct ibv_wc wc;

	pair_request(&request, IBV_WR_RDMA_WRITE, 1, 8);
	assert_int_equal(pair_post(queue.qp, &request), EINVAL);
	assert_int_equal(doca_verbs_bridge_post_recv(queue.qp, &recv, &bad_recv), EINVAL);
	assert_int_equal(doca_verbs_bridge_poll_cq(queue.cq, 1, &wc), -EINVAL);
	assert_int_equal(doca_verbs_bridge_set_wait_cq_pi_wr(queue.cq, 0, &request.wr), EINVAL);
	destroy_external(&queue);
}

static bool all_bytes_arrive(void)
{
	const uint64_t limit = monotonic_ms() + FIXTURE_TIMEOUT_MS;

	while (memcmp(pair.bytes, pair.bytes + PAIR_LEN, PAIR_LEN) != 0) {
		if (monotonic_ms() >= limit)
			return false;
		sched_yield();
	}
	return true;
}

/* rule: VQ-10, VQ-20 */
static void overrun_is_an_event_unless_it_is_allowed(void **state)
{
	struct external strict = create_external(0), lax = create_external(1);
	struct doca_verbs_async_event event;

	fixture_fill(pair.bytes, PAIR_LEN, 6);
	ring_writes(lax.qp, PAIR_DEPTH);
	assert_true(all_bytes_arrive());
	ring_writes(strict.qp, PAIR_DEPTH);
	assert_ok(doca_verbs_get_async_event(pair.context, &event));
	assert_int_equal(event.event_type, DOCA_VERBS_EVENT_CQ_ERR);
	assert_ptr_equal(event.element.cq, strict.cq);
	doca_verbs_ack_async_event(&event);
	destroy_external(&strict);
	destroy_external(&lax);
}

/* --- unreliable connections ------------------------------------------------------------------- */

static struct doca_verbs_qp *create_uc(void)
{
	struct doca_verbs_qp_init_attr *attr = pair_init_attr();
	struct doca_verbs_qp *qp;

	assert_ok(doca_verbs_qp_init_attr_set_qp_type(attr, DOCA_VERBS_QP_TYPE_UC));
	qp = pair_create_qp(attr);
	assert_non_null(qp);
	return qp;
}

static void connect_uc(struct doca_verbs_qp *qp)
{
	const int masks[] = {
		DOCA_VERBS_QP_ATTR_ALLOW_REMOTE_WRITE | DOCA_VERBS_QP_ATTR_PKEY_INDEX |
			DOCA_VERBS_QP_ATTR_PORT_NUM,
		DOCA_VERBS_QP_ATTR_RQ_PSN | DOCA_VERBS_QP_ATTR_DEST_QP_NUM |
			DOCA_VERBS_QP_ATTR_PATH_MTU | DOCA_VERBS_QP_ATTR_AH_ATTR,
		DOCA_VERBS_QP_ATTR_SQ_PSN,
	};
	struct doca_verbs_ah_attr *ah = pair_create_ah();
	struct doca_verbs_qp_attr *attr = pair_qp_attr(DOCA_VERBS_QP_STATE_INIT, qp, ah);

	for (unsigned int i = 0; i < ARRAY_SIZE(masks); i++) {
		assert_ok(doca_verbs_qp_attr_set_next_state(attr, DOCA_VERBS_QP_STATE_INIT + i));
		assert_ok(doca_verbs_qp_modify(qp, attr, masks[i] | DOCA_VERBS_QP_ATTR_NEXT_STATE));
	}
	assert_ok(doca_verbs_qp_attr_destroy(attr));
	assert_ok(doca_verbs_ah_attr_destroy(ah));
}

/* rule: VB-device, VQ-15 */
static void unreliable_connections_write_and_do_not_wait(void **state)
{
	struct doca_verbs_qp *qp = create_uc();
	struct pair_request request;
	struct ibv_send_wr wait = {0}, *bad = NULL;

	connect_uc(qp);
	fixture_fill(pair.bytes, PAIR_LEN, 5);
	assert_int_equal(pair_post(qp, pair_request(&request, IBV_WR_RDMA_WRITE, 1, PAIR_LEN)), 0);
	expect(pair.cq, 1, IBV_WC_RDMA_WRITE);
	assert_memory_equal(pair.bytes, pair.bytes + PAIR_LEN, PAIR_LEN);
	assert_int_equal(doca_verbs_bridge_set_wait_cq_pi_wr(pair.cq, 0, &wait), 0);
	assert_int_equal(doca_verbs_bridge_post_send(qp, &wait, &bad), EOPNOTSUPP);
	assert_ptr_equal(bad, &wait);
	assert_ok(doca_verbs_qp_destroy(qp));
}

/* --- completions that stay -------------------------------------------------------------------- */

/* rule: VQ-kept */
static void completions_of_others_outlive_a_queue_pair(void **state)
{
	struct doca_verbs_qp *other = pair_create_qp(pair_init_attr());
	struct doca_verbs_qp *idle = pair_create_qp(pair_init_attr());
	struct doca_verbs_cq *watch = pair_create_cq(4);
	struct doca_verbs_qp_init_attr *attr = pair_init_attr();
	struct pair_request request;
	struct doca_verbs_qp *last;

	assert_non_null(other);
	assert_non_null(idle);
	assert_ok(doca_verbs_qp_init_attr_set_send_cq(attr, watch));
	last = pair_create_qp(attr);
	assert_non_null(last);
	assert_true(pair_connect(other, other));
	assert_true(pair_connect(last, last));
	for (uint64_t id = 1; id <= 3; id++) {
		assert_int_equal(
			pair_post(pair.a, pair_request(&request, IBV_WR_RDMA_WRITE, id, 8)), 0);
		assert_int_equal(
			pair_post(other, pair_request(&request, IBV_WR_RDMA_WRITE, 10 + id, 8)), 0);
	}
	/* Reset and destroyed: neither leaves completions behind, whether they have arrived or not. */
	assert_int_equal(pair_post(last, pair_request(&request, IBV_WR_RDMA_WRITE, 99, 8)), 0);
	expect(watch, 99, IBV_WC_RDMA_WRITE);
	assert_ok(pair_move(other, DOCA_VERBS_QP_STATE_RST, other));
	assert_true(pair_connect(other, other));
	assert_ok(doca_verbs_qp_destroy(other));
	expect(pair.cq, 1, IBV_WC_RDMA_WRITE);
	assert_ok(doca_verbs_qp_destroy(idle));
	for (uint64_t id = 2; id <= 3; id++)
		expect(pair.cq, id, IBV_WC_RDMA_WRITE);
	assert_true(pair_is_empty(pair.cq));
	assert_int_equal(doca_verbs_bridge_get_current_cq_ci(pair.cq), 3);
	assert_int_equal(pair_post(pair.a, pair_request(&request, IBV_WR_RDMA_WRITE, 4, 8)), 0);
	expect(pair.cq, 4, IBV_WC_RDMA_WRITE);
	assert_ok(doca_verbs_qp_destroy(last));
	assert_ok(doca_verbs_cq_destroy(watch));
}

/* --- events ----------------------------------------------------------------------------------- */

/* rule: VQ-18 */
static void channel_reports_completions(void **state)
{
	struct doca_verbs_qp_init_attr *attr = pair_init_attr();
	struct doca_verbs_comp_channel *channel;
	struct doca_verbs_cq_attr *cq_attr;
	struct doca_verbs_cq *cq, *reported;
	struct pair_request request;
	struct doca_verbs_qp *qp;
	void *context = NULL;
	struct pollfd fd;

	assert_ok(doca_verbs_comp_channel_create(pair.context, &channel));
	assert_ok(doca_verbs_cq_attr_create(&cq_attr));
	assert_ok(doca_verbs_cq_attr_set_cq_size(cq_attr, 8));
	assert_ok(doca_verbs_cq_attr_set_comp_channel(cq_attr, channel));
	assert_ok(doca_verbs_cq_attr_set_cq_context(cq_attr, &request));
	assert_ok(doca_verbs_cq_create(pair.context, cq_attr, &cq));
	assert_ok(doca_verbs_cq_attr_destroy(cq_attr));
	assert_error(doca_verbs_comp_channel_destroy(channel), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_verbs_qp_init_attr_set_send_cq(attr, cq));
	qp = pair_create_qp(attr);
	assert_non_null(qp);
	assert_true(pair_connect(qp, qp));
	fd = (struct pollfd){doca_verbs_comp_channel_get_handle(channel), POLLIN, 0};
	assert_int_equal(poll(&fd, 1, 0), 0);
	assert_int_equal(fcntl(fd.fd, F_SETFL, fcntl(fd.fd, F_GETFL) | O_NONBLOCK), 0);
	assert_error(doca_verbs_get_cq_event(channel, &reported, &context), DOCA_ERROR_AGAIN);
	assert_int_equal(fcntl(fd.fd, F_SETFL, fcntl(fd.fd, F_GETFL) & ~O_NONBLOCK), 0);
	assert_ok(doca_verbs_req_notify_cq(cq, 0));
	assert_int_equal(pair_post(qp, pair_request(&request, IBV_WR_RDMA_WRITE, 1, 8)), 0);
	assert_ok(doca_verbs_get_cq_event(channel, &reported, &context));
	assert_ptr_equal(reported, cq);
	assert_ptr_equal(context, &request);
	doca_verbs_ack_cq_events(cq, 1);
	expect(cq, 1, IBV_WC_RDMA_WRITE);
	assert_error(doca_verbs_req_notify_cq(pair.cq, 0), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_verbs_qp_destroy(qp));
	assert_ok(doca_verbs_cq_destroy(cq));
	assert_ok(doca_verbs_comp_channel_destroy(channel));
}

/* rule: VQ-20 */
static void access_error_is_an_asynchronous_event(void **state)
{
	struct doca_verbs_async_event event = {.event_type = -1};
	struct pair_request request;
	int fd = doca_verbs_get_async_event_handle(pair.context);

	assert_int_equal(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK), 0);
	assert_error(doca_verbs_get_async_event(pair.context, &event), DOCA_ERROR_AGAIN);
	assert_int_equal(event.event_type, -1);
	assert_int_equal(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK), 0);
	pair_request(&request, IBV_WR_RDMA_WRITE, 1, 8)->wr.wr.rdma.rkey ^= 0x5500;
	assert_int_equal(pair_post(pair.a, &request), 0);
	assert_int_equal(pair_poll(pair.cq).status, IBV_WC_REM_ACCESS_ERR);
	assert_ok(doca_verbs_get_async_event(pair.context, &event));
	assert_int_equal(event.event_type, DOCA_VERBS_EVENT_QP_ACCESS_ERR);
	assert_ptr_equal(event.element.qp, pair.b);
	doca_verbs_ack_async_event(&event);
	doca_verbs_ack_async_event(NULL);
}

/* The event LAST_WQE_REACHED of a queue pair with an SRQ, which is not a failure. */
static void cause_another_event(struct doca_verbs_srq *srq)
{
	struct doca_verbs_qp_init_attr *attr = pair_init_attr();
	struct pollfd fd = {doca_verbs_get_async_event_handle(pair.context), POLLIN, 0};
	struct doca_verbs_async_event event;
	struct doca_verbs_qp *qp;

	assert_ok(doca_verbs_qp_init_attr_set_srq(attr, srq));
	assert_ok(doca_verbs_qp_init_attr_set_rq_wr(attr, 0));
	qp = pair_create_qp(attr);
	assert_non_null(qp);
	assert_true(pair_connect(qp, qp));
	assert_ok(pair_move(qp, DOCA_VERBS_QP_STATE_ERR, qp));
	assert_int_equal(poll(&fd, 1, FIXTURE_TIMEOUT_MS), 1);
	assert_error(doca_verbs_get_async_event(pair.context, &event), DOCA_ERROR_AGAIN);
	assert_ok(doca_verbs_qp_destroy(qp));
}

/* rule: VQ-20 */
static void other_events_are_acknowledged_and_not_reported(void **state)
{
	int fd = doca_verbs_get_async_event_handle(pair.context);
	struct doca_verbs_srq *srq = create_srq();

	assert_int_equal(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK), 0);
	cause_another_event(srq);
	assert_ok(doca_verbs_srq_destroy(srq));
}

/* --- threads ---------------------------------------------------------------------------------- */

#define THREADS 3u
#define WRITES	200u

static pthread_barrier_t all_polled;

/* Threads poll completions of each other. */
static bool post_and_poll_each(struct doca_verbs_qp *qp)
{
	struct pair_request request;

	for (unsigned int i = 0; i < WRITES; i++)
		if (pair_post(qp, pair_request(&request, IBV_WR_RDMA_WRITE, i, 8)) ||
		    pair_poll(pair.cq).status != IBV_WC_SUCCESS)
			return false;
	return true;
}

static void *post_and_poll(void *failed)
{
	struct doca_verbs_qp *qp = pair_create_qp(pair_init_attr());
	bool good = qp && pair_connect(qp, qp) && post_and_poll_each(qp);

	pthread_barrier_wait(&all_polled);
	return good && doca_verbs_qp_destroy(qp) == DOCA_SUCCESS ? NULL : failed;
}

/* rule: VB-12 */
static void threads_post_and_poll(void **state)
{
	pthread_t threads[THREADS];
	void *failed;

	assert_int_equal(pthread_barrier_init(&all_polled, NULL, THREADS), 0);
	for (unsigned int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, post_and_poll, &threads), 0);
	for (unsigned int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	pthread_barrier_destroy(&all_polled);
	assert_true(pair_is_empty(pair.cq));
	assert_int_equal(doca_verbs_bridge_get_current_cq_ci(pair.cq), THREADS * WRITES);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		pair_test(write_arrives),
		pair_test(read_works_without_numbers_of_reads),
		pair_test(list_of_sends_completes_in_order),
		pair_test(bad_wr_is_the_first_that_was_not_posted),
		pair_test(null_is_refused),
		pair_test(each_send_completes_with_sq_sig_all),
		pair_test(inline_data_need_no_key),
		pair_test(remote_key_works_as_local_key),
		pair_test(key_of_a_map_is_local_and_remote),
		object_test(consumer_index_counts_beyond_the_size),
		object_test(queue_pairs_may_have_one_direction),
		object_test(queue_pairs_receive_from_a_shared_queue),
		object_test(program_drives_an_external_queue),
		object_test(bridge_refuses_an_external_queue),
		object_test(overrun_is_an_event_unless_it_is_allowed),
		object_test(unreliable_connections_write_and_do_not_wait),
		pair_test(completions_of_others_outlive_a_queue_pair),
		pair_test(channel_reports_completions),
		pair_test(access_error_is_an_asynchronous_event),
		object_test(other_events_are_acknowledged_and_not_reported),
		object_test(threads_post_and_poll),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
