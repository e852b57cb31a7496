/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the emulated kernel refuses of commands that are almost valid, and with which errno: queues
 * in missing or misaligned memory, unknown flags, attributes of queue pairs, rights of device
 * memory. The errnos are those of drivers/infiniband in Linux.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/magic.h>

#include "base/array.h"
#include "fixture.h"
#include "uverbs.h"
#include "uverbs_queues.h"

#define BUSY_GID  1 /* in the GID table of a function: a valid entry */
#define EMPTY_GID 5

/* --- completion queues ------------------------------------------------------------------------ */

#define REFUSE_CQ(errnum, change)                                     \
	do {                                                          \
		struct cq q = good_cq();                              \
		uint32_t none;                                        \
                                                                      \
		change;                                               \
		assert_int_equal(create_cq(fd, &q, &none), (errnum)); \
	} while (0)

static void a_cq_with_invalid_values_or_memory_is_refused(void **state)
{
	int fd = open_with_doorbells();
	struct cq good = good_cq();
	uint32_t cq;

	REFUSE_CQ(EINVAL, q.cqe = 1u << 22);
	REFUSE_CQ(EINVAL, q.vector = 1000);
	REFUSE_CQ(EINVAL, q.flags = 1u << 2);
	REFUSE_CQ(EINVAL, q.drv.cqe_size = 32);
	REFUSE_CQ(EINVAL, q.drv.reserved0 = 1);
	REFUSE_CQ(EINVAL, q.drv.reserved1 = 1);
	REFUSE_CQ(EINVAL, q.drv.flags |= 1u << 15);
	REFUSE_CQ(EOPNOTSUPP, q.drv.flags |= MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS);
	REFUSE_CQ(EOPNOTSUPP, q.drv.flags |= MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD);
	REFUSE_CQ(EINVAL, q.drv.cqe_comp_en = 1);
	REFUSE_CQ(EINVAL, (q.drv.cqe_comp_en = 1, q.drv.cqe_comp_res_format = 3));
	REFUSE_CQ(EINVAL, (q.drv.cqe_comp_en = 1, q.drv.cqe_comp_res_format = 8));
	REFUSE_CQ(EINVAL, q.drv.buf_addr += 8);
	REFUSE_CQ(EINVAL, q.drv.buf_addr += 64); /* not at the beginning of a page */
	REFUSE_CQ(EINVAL, q.drv.db_addr += 4);
	REFUSE_CQ(EFAULT, q.drv.buf_addr = 0);
	REFUSE_CQ(EFAULT, q.drv.buf_addr = (uintptr_t)constant);
	REFUSE_CQ(EFAULT, q.drv.buf_addr += RING_BYTES);
	REFUSE_CQ(EFAULT, q.drv.db_addr = 0);
	good.drv.buf_addr += RING_BYTES - 64 * 64;
	assert_int_equal(create_cq(fd, &good, &cq), 0);
	destroy_cq(fd, cq);
	good.flags = IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN | IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
	assert_int_equal(create_cq(fd, &good, &cq), 0);
	destroy_cq(fd, cq);
	close(fd);
}

static void a_resize_with_invalid_values_or_memory_is_refused(void **state)
{
	int fd = open_with_doorbells();
	struct cq q = good_cq();
	uint32_t cq;

	assert_int_equal(create_cq(fd, &q, &cq), 0);
	assert_int_equal(resize_cq(fd, cq, (uintptr_t)ring + PAGE + 8, 127), EINVAL);
	assert_int_equal(resize_cq(fd, cq, (uintptr_t)constant, 127), EFAULT);
	assert_int_equal(resize_cq(fd, cq, (uintptr_t)ring + RING_BYTES - PAGE, 127), EFAULT);
	assert_int_equal(resize_cq(fd, cq, (uintptr_t)ring + PAGE, 0), EINVAL);
	assert_int_equal(resize_cq(fd, cq + 4711, (uintptr_t)ring + PAGE, 127), ENOENT);
	assert_int_equal(resize_cq(fd, cq, (uintptr_t)ring + PAGE + 64, 127), EINVAL);
	assert_int_equal(resize_cq(fd, cq, (uintptr_t)ring + PAGE, 127), 0);
	destroy_cq(fd, cq);
	close(fd);
}

/* The child's queue remains in the file that both share, but no process executes it any more. */
static void a_queue_is_resized_after_its_process_ended(void **state)
{
	const uint32_t cq = 1; /* the doorbell page is the first object */
	int fd = open_with_doorbells(), status = 0;
	pid_t pid;
	uint32_t pd;

	pid = fork();
	if (!pid) {
		struct cq q = good_cq();
		uint32_t handle;

		_exit(create_cq(fd, &q, &handle) || handle != cq);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(resize_cq(fd, cq, (uintptr_t)ring + PAGE, 127), 0);
	assert_int_equal(alloc_pd(fd, &pd), 0);
	destroy_cq(fd, cq);
	close(fd);
}

static int create_cq_with(int fd, uint16_t cqe_len, uint16_t flags_len, uint16_t answer_len)
{
	struct cq q = good_cq();
	struct mlx5_ib_create_cq_resp resp;
	uint64_t cqe = 0;
	union command c;

	begin(&c, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
	add(&c, UVERBS_ATTR_CREATE_CQ_HANDLE, 0, 0);
	add(&c, UVERBS_ATTR_CREATE_CQ_CQE, cqe_len, q.cqe);
	add(&c, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, 1);
	add(&c, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, 0);
	add(&c, UVERBS_ATTR_CREATE_CQ_FLAGS, flags_len, 0);
	add_buf(&c, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &cqe, answer_len);
	add_buf(&c, UVERBS_ATTR_UHW_IN, &q.drv, sizeof(q.drv));
	if (answer_len)
		add_buf(&c, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	return issue(fd, &c);
}

/* A value has its size, flags have 4 or 8 bytes. */
static void attributes_of_another_size_are_refused(void **state)
{
	int fd = open_with_doorbells();

	assert_int_equal(create_cq_with(fd, 4, 4, 4), 0);
	assert_int_equal(create_cq_with(fd, 4, 8, 4), 0);
	assert_int_equal(create_cq_with(fd, 8, 4, 4), EINVAL);
	assert_int_equal(create_cq_with(fd, 2, 4, 4), EINVAL);
	assert_int_equal(create_cq_with(fd, 4, 3, 4), EINVAL);
	assert_int_equal(create_cq_with(fd, 4, 4, 8), EINVAL);
	close(fd);
}

static void a_cq_is_rounded_up(void **state)
{
	static const uint32_t sizes[][2] = {{0, 0}, {1, 1}, {2, 3}, {5, 7}, {63, 63}};
	int fd = open_with_doorbells();

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct cq q = good_cq();
		uint32_t cq;

		q.cqe = sizes[i][0];
		assert_int_equal(create_cq(fd, &q, &cq), 0);
		assert_int_equal(q.cqe, sizes[i][1]);
		destroy_cq(fd, cq);
	}
	close(fd);
}

/* --- contexts --------------------------------------------------------------------------------- */

static int make_context(struct mlx5_ib_alloc_ucontext_req_v2 req, uint16_t len, uint32_t *written)
{
	struct mlx5_ib_alloc_ucontext_resp resp = {0};
	int fd = open_cdev(), err;
	union command c;

	req.lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR;
	begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	add_buf(&c, UVERBS_ATTR_UHW_IN, &req, sizeof(req));
	if (len)
		add_buf(&c, UVERBS_ATTR_UHW_OUT, &resp, len);
	err = issue(fd, &c);
	*written = resp.response_length;
	close(fd);
	return err;
}

static void a_context_with_unknown_wishes_is_refused(void **state)
{
	const struct mlx5_ib_alloc_ucontext_req_v2 good = {.total_num_bfregs = 16,
							   .num_low_latency_bfregs = 4};
	struct mlx5_ib_alloc_ucontext_req_v2 bad = good;
	uint32_t written;

	assert_int_equal(make_context(good, sizeof(struct mlx5_ib_alloc_ucontext_resp), &written),
			 0);
	assert_int_equal(written, sizeof(struct mlx5_ib_alloc_ucontext_resp));
	assert_int_equal(make_context(good, 48, &written), 0);
	assert_int_equal(written, 48);
	assert_int_equal(make_context(good, 0, &written), 0);
	bad.flags = 2;
	assert_int_equal(make_context(bad, 48, &written), EOPNOTSUPP);
	bad = good;
	bad.comp_mask = 1;
	assert_int_equal(make_context(bad, 48, &written), EOPNOTSUPP);
	bad = good;
	bad.reserved1 = 1;
	assert_int_equal(make_context(bad, 48, &written), EOPNOTSUPP);
	bad = good;
	bad.num_low_latency_bfregs = 16;
	assert_int_equal(make_context(bad, 48, &written), EINVAL);
}

/* In version 0 of completions, which name no queue of the user, no queue has an index. */
static void a_context_has_the_version_of_completions_that_it_asks_for(void **state)
{
	struct uar uar = {0};
	struct cq cq = good_cq();
	int fd = open_cdev();
	uint32_t pd, cqn, qp;
	struct qp q;

	assert_int_equal(get_context_of(fd, 0), 0);
	assert_int_equal(alloc_uar(fd, &uar), 0);
	doorbells = uar.page;
	cq.drv.uar_page_index = (uint16_t)doorbells;
	assert_int_equal(alloc_pd(fd, &pd), 0);
	assert_int_equal(create_cq(fd, &cq, &cqn), 0);
	q = good_qp(pd, cqn);
	assert_int_equal(create_qp(fd, &q, &qp), EINVAL);
	q.drv.uidx = NO_UIDX;
	assert_int_equal(create_qp(fd, &q, &qp), 0);
	destroy_qp(fd, qp);
	close(fd);
}

/* A protection domain's answer has a part of the driver, which needs room. */
static void a_domain_needs_room_for_its_number(void **state)
{
	struct ib_uverbs_alloc_pd_resp resp;
	int fd = open_context();

	assert_int_equal(
		write_command(fd, IB_USER_VERBS_CMD_ALLOC_PD, NULL, 8, &resp, sizeof(resp)),
		EFAULT);
	close(fd);
}

/* --- queue pairs ------------------------------------------------------------------------------ */

static int open_with_cq(uint32_t *pd, uint32_t *cq)
{
	int fd = open_with_doorbells();
	struct cq q = good_cq();

	assert_int_equal(alloc_pd(fd, pd), 0);
	assert_int_equal(create_cq(fd, &q, cq), 0);
	return fd;
}

#define REFUSE_QP(errnum, change)                                     \
	do {                                                          \
		struct qp q = good_qp(pd, cq);                        \
		uint32_t none;                                        \
                                                                      \
		change;                                               \
		assert_int_equal(create_qp(fd, &q, &none), (errnum)); \
	} while (0)

static void a_qp_with_invalid_values_or_memory_is_refused(void **state)
{
	uint32_t pd, cq, qp;
	int fd = open_with_cq(&pd, &cq);
	struct qp good = good_qp(pd, cq);

	REFUSE_QP(ENOENT, q.pd = 4711);
	REFUSE_QP(EINVAL, q.pd = cq);
	REFUSE_QP(EINVAL, q.recv_cq = pd);
	REFUSE_QP(EINVAL, q.type = 77);
	REFUSE_QP(EINVAL, q.type = 1ull << 32 | IB_UVERBS_QPT_RC);
	REFUSE_QP(EOPNOTSUPP, q.type = IB_UVERBS_QPT_RAW_PACKET);
	REFUSE_QP(EINVAL, q.flags = 1u << 30);
	REFUSE_QP(EINVAL, q.flags = IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK);
	REFUSE_QP(EINVAL, q.flags = IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING);
	REFUSE_QP(EOPNOTSUPP,
		  (q.type = IB_UVERBS_QPT_UD, q.flags = IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING));
	REFUSE_QP(EINVAL, q.drv.reserved = 1);
	REFUSE_QP(EINVAL, q.drv.uidx = 1u << 24);
	REFUSE_QP(EINVAL, q.drv.uidx = NO_UIDX);
	REFUSE_QP(EINVAL, q.drv.flags |= MLX5_QP_FLAG_SIGNATURE);
	REFUSE_QP(EINVAL, q.drv.flags |= 1u << 30);
	REFUSE_QP(EINVAL, (q.type = IB_UVERBS_QPT_UD,
			   q.drv.flags |= MLX5_QP_FLAG_PACKET_BASED_CREDIT_MODE));
	REFUSE_QP(EINVAL, q.drv.flags |= MLX5_QP_FLAG_PACKET_BASED_CREDIT_MODE); /* not announced */
	REFUSE_QP(EINVAL, q.drv.sq_wqe_count = 15);
	REFUSE_QP(EFAULT, q.drv.rq_wqe_count = 1u << 16);
	REFUSE_QP(EINVAL, q.drv.rq_wqe_count = 1u << 26);
	REFUSE_QP(EINVAL, q.cap.max_recv_wr = 0); /* but it has a ring for receives */
	REFUSE_QP(EINVAL, q.drv.rq_wqe_shift = 3);
	REFUSE_QP(EINVAL, q.drv.rq_wqe_shift = 70);
	REFUSE_QP(EINVAL, q.cap.max_recv_wr = 32769);
	REFUSE_QP(EINVAL, q.drv.buf_addr += 16);
	REFUSE_QP(EINVAL, q.drv.db_addr += 4);
	REFUSE_QP(EFAULT, q.drv.db_addr = 0);
	REFUSE_QP(EINVAL, q.drv.buf_addr = 0);
	REFUSE_QP(EFAULT, q.drv.buf_addr = (uintptr_t)ring + RING_BYTES - 31 * 64);
	good.drv.buf_addr = (uintptr_t)ring + RING_BYTES - 32 * 64;
	assert_int_equal(create_qp(fd, &good, &qp), 0);
	destroy_qp(fd, qp);
	good.drv.buf_addr = (uintptr_t)constant; /* a device only reads it */
	assert_int_equal(create_qp(fd, &good, &qp), 0);
	destroy_qp(fd, qp);
	good.drv.rq_wqe_count = 0;
	good.cap.max_send_sge = 31; /* nothing but libmlx5 looks at the limits of sends */
	assert_int_equal(create_qp(fd, &good, &qp), 0);
	destroy_qp(fd, qp);
	close(fd);
}

enum {
	STATE = 1 << 0,
	PKEY = 1 << 4,
	PORT = 1 << 5,
	ACCESS = 1 << 3,
	AV = 1 << 7,
	MTU = 1 << 8,
	RQ_PSN = 1 << 12,
	ALT = 1 << 14,
	MIN_RNR = 1 << 15,
	DEST_RD = 1 << 17,
	DEST_QPN = 1 << 20,
	BEGIN = STATE | PKEY | PORT | ACCESS,
	CONNECT = STATE | AV | MTU | RQ_PSN | DEST_QPN,
	RESPOND = MIN_RNR | DEST_RD,
};

static int modify(int fd, uint32_t qp, struct ib_uverbs_modify_qp a, uint32_t mask)
{
	a.qp_handle = qp;
	a.attr_mask = mask;
	return write_command(fd, IB_USER_VERBS_CMD_MODIFY_QP, &a, sizeof(a), NULL, 0);
}

/* The link-local GID of a neighbour, which need not exist: its MAC address is part of the GID. */
static struct ib_uverbs_modify_qp to_rtr(void)
{
	static const uint8_t neighbour[16] = {0xfe, 0x80, [11] = 0xff, 0xfe, 1, 2, 3};
	struct ib_uverbs_modify_qp a = {.qp_state = 2, .path_mtu = 3};

	memcpy(a.dest.dgid, neighbour, sizeof(neighbour));
	a.dest.is_global = 1;
	a.dest.sgid_index = BUSY_GID;
	a.dest.port_num = 1;
	return a;
}

#define REFUSE_RTR(errnum, change)                                                \
	do {                                                                      \
		struct ib_uverbs_modify_qp a = to_rtr();                          \
                                                                                  \
		change;                                                           \
		assert_int_equal(modify(fd, qp, a, CONNECT | RESPOND), (errnum)); \
	} while (0)

static const uint8_t unreachable[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 0x77};

static void invalid_attributes_of_a_qp_are_refused(void **state)
{
	const struct ib_uverbs_modify_qp init = {.qp_state = 1, .port_num = 1};
	struct ib_uverbs_modify_qp wrong = init;
	uint32_t pd, cq, qp;
	int fd = open_with_cq(&pd, &cq);
	struct qp q = good_qp(pd, cq);

	assert_int_equal(create_qp(fd, &q, &qp), 0);
	assert_int_equal(modify(fd, qp, init, BEGIN | 1u << 21), EOPNOTSUPP);
	assert_int_equal(modify(fd, qp, init, BEGIN | 1u << 31), EOPNOTSUPP);
	assert_int_equal(modify(fd, qp, init, BEGIN | AV), EINVAL);
	assert_int_equal(modify(fd, qp, init, BEGIN & ~(uint32_t)PKEY), EINVAL);
	wrong.port_num = 2;
	assert_int_equal(modify(fd, qp, wrong, BEGIN), EINVAL);
	wrong = init;
	wrong.pkey_index = 1;
	assert_int_equal(modify(fd, qp, wrong, BEGIN), EINVAL);
	wrong.qp_state = 7;
	assert_int_equal(modify(fd, qp, wrong, BEGIN), EINVAL);
	assert_int_equal(modify(fd, qp, init, BEGIN), 0);
	REFUSE_RTR(EINVAL, a.path_mtu = 0);
	REFUSE_RTR(EINVAL, a.path_mtu = 6);
	REFUSE_RTR(EINVAL, a.max_dest_rd_atomic = 17);
	REFUSE_RTR(EINVAL, a.dest.is_global = 0);
	REFUSE_RTR(EINVAL, a.dest.port_num = 2);
	REFUSE_RTR(EINVAL, a.dest.static_rate = 1);
	REFUSE_RTR(EINVAL, a.dest.static_rate = 23);
	REFUSE_RTR(ENODATA, a.dest.sgid_index = 255);
	REFUSE_RTR(ENODATA, a.dest.sgid_index = EMPTY_GID);
	REFUSE_RTR(ETIMEDOUT, memcpy(a.dest.dgid, unreachable, sizeof(unreachable)));
	assert_int_equal(modify(fd, qp, to_rtr(), CONNECT), EINVAL);
	assert_int_equal(modify(fd, qp, to_rtr(), CONNECT | RESPOND | ALT), EINVAL);
	assert_int_equal(modify(fd, qp + 4711, to_rtr(), CONNECT | RESPOND), ENOENT);
	assert_int_equal(modify(fd, qp, to_rtr(), CONNECT | RESPOND), 0);
	destroy_qp(fd, qp);
	close(fd);
}

/* The fields of the card have fewer bits than the command's. */
static void attributes_are_cut_to_the_bits_of_the_card(void **state)
{
	const struct ib_uverbs_modify_qp init = {.qp_state = 1, .port_num = 1};
	struct ib_uverbs_modify_qp rtr = to_rtr();
	struct ib_uverbs_query_qp req = {0};
	struct ib_uverbs_query_qp_resp r = {0};
	uint32_t pd, cq;
	int fd = open_with_cq(&pd, &cq);
	struct qp q = good_qp(pd, cq);

	rtr.dest_qp_num = 0xab123456;
	rtr.rq_psn = 0xff000011;
	rtr.min_rnr_timer = 33;
	rtr.dest.flow_label = 0xfff00022;
	rtr.dest.static_rate = 2;
	assert_int_equal(create_qp(fd, &q, &req.qp_handle), 0);
	assert_int_equal(modify(fd, req.qp_handle, init, BEGIN), 0);
	assert_int_equal(modify(fd, req.qp_handle, rtr, CONNECT | RESPOND), 0);
	assert_int_equal(
		write_command(fd, IB_USER_VERBS_CMD_QUERY_QP, &req, sizeof(req), &r, sizeof(r)), 0);
	assert_int_equal(r.dest_qp_num, 0x123456);
	assert_int_equal(r.rq_psn, 0x11);
	assert_int_equal(r.min_rnr_timer, 1);
	assert_int_equal(r.dest.flow_label, 0x22);
	assert_int_equal(r.dest.static_rate, 0);
	destroy_qp(fd, req.qp_handle);
	close(fd);
}

/* An initiator never responds, but programs configure both ends alike. */
static void an_initiator_accepts_the_attributes_of_a_responder(void **state)
{
	const struct ib_uverbs_modify_qp init = {.qp_state = 1, .port_num = 1};
	uint32_t pd, cq, qp;
	int fd = open_with_cq(&pd, &cq);
	struct qp q = good_qp(pd, cq);

	q.type = IB_UVERBS_QPT_XRC_INI;
	q.drv.rq_wqe_count = q.drv.rq_wqe_shift = 0;
	assert_int_equal(create_qp(fd, &q, &qp), 0);
	assert_int_equal(modify(fd, qp, init, BEGIN), 0);
	assert_int_equal(modify(fd, qp, to_rtr(), CONNECT | RESPOND), 0);
	destroy_qp(fd, qp);
	close(fd);
}

/* --- doorbell pages --------------------------------------------------------------------------- */

static int query_uar(int fd, uint32_t index)
{
	uint32_t page = 0;
	union command c;

	begin(&c, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_UAR);
	add(&c, MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX, 4, index);
	add_buf(&c, MLX5_IB_ATTR_DEVX_QUERY_UAR_DEV_IDX, &page, sizeof(page));
	return issue(fd, &c);
}

/* Queues use doorbell pages of their own context; the driver has none to give them. */
static void a_queue_needs_a_doorbell_page_of_its_context(void **state)
{
	const uint16_t of_cq = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX;
	uint32_t pd, cq, qp;
	int fd = open_with_cq(&pd, &cq), other = open_context();
	struct qp good = good_qp(pd, cq);
	struct uar foreign = {0};

	assert_int_equal(alloc_uar(other, &foreign), 0);
	REFUSE_CQ(EINVAL, q.drv.flags &= (uint16_t)~of_cq);
	REFUSE_CQ(EINVAL, q.drv.uar_page_index = 0);
	REFUSE_CQ(EINVAL, q.drv.uar_page_index = 0xffff);
	REFUSE_CQ(EINVAL, q.drv.uar_page_index = (uint16_t)foreign.page);
	REFUSE_QP(EINVAL, q.drv.flags = 0);
	REFUSE_QP(EINVAL, q.drv.flags = MLX5_QP_FLAG_BFREG_INDEX);
	REFUSE_QP(EINVAL, q.drv.flags |= MLX5_QP_FLAG_BFREG_INDEX);
	REFUSE_QP(EINVAL, q.drv.bfreg_index = 0);
	REFUSE_QP(EINVAL, q.drv.bfreg_index |= 1u << 16);
	REFUSE_QP(EINVAL, q.drv.bfreg_index = foreign.page);
	assert_int_equal(query_uar(fd, 0), EINVAL);
	assert_int_equal(query_uar(fd, doorbells), EINVAL);
	assert_int_equal(create_qp(fd, &good, &qp), 0);
	destroy_qp(fd, qp);
	close(other);
	close(fd);
}

/* --- shared receive queues -------------------------------------------------------------------- */

#define REFUSE_SRQ(errnum, change)                                     \
	do {                                                           \
		struct srq s = good_srq(pd);                           \
		uint32_t none;                                         \
                                                                       \
		change;                                                \
		assert_int_equal(create_srq(fd, &s, &none), (errnum)); \
	} while (0)

static void destroy_srq(int fd, uint32_t handle)
{
	struct ib_uverbs_destroy_srq_resp resp;
	union command c;

	begin(&c, UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY);
	add(&c, UVERBS_ATTR_DESTROY_SRQ_HANDLE, 0, handle);
	add_buf(&c, UVERBS_ATTR_DESTROY_SRQ_RESP, &resp, sizeof(resp));
	assert_int_equal(issue(fd, &c), 0);
}

static void an_srq_with_invalid_values_or_memory_is_refused(void **state)
{
	int fd = open_context();
	struct srq good;
	uint32_t pd, srq;

	assert_int_equal(alloc_pd(fd, &pd), 0);
	good = good_srq(pd);
	REFUSE_SRQ(ENOENT, s.pd = 4711);
	REFUSE_SRQ(EINVAL, s.type = 9);
	REFUSE_SRQ(ENOENT, s.type = IB_UVERBS_SRQT_TM); /* without a CQ */
	REFUSE_SRQ(ENOENT, s.type = IB_UVERBS_SRQT_XRC);
	REFUSE_SRQ(EINVAL, s.drv.flags = MLX5_SRQ_FLAG_SIGNATURE);
	REFUSE_SRQ(EINVAL, s.max_wr = 1u << 15);
	REFUSE_SRQ(EINVAL, s.max_sge = 32);
	REFUSE_SRQ(EINVAL, s.drv.reserved0 = 1);
	REFUSE_SRQ(EINVAL, s.drv.reserved1 = 1);
	REFUSE_SRQ(EINVAL, s.drv.buf_addr += 8);
	REFUSE_SRQ(EINVAL, s.drv.db_addr += 4);
	REFUSE_SRQ(EFAULT, s.drv.db_addr = 0);
	REFUSE_SRQ(EFAULT, s.drv.buf_addr = 0);
	REFUSE_SRQ(EFAULT, s.drv.buf_addr += RING_BYTES - 64);
	good.max_wr = 40;
	assert_int_equal(create_srq(fd, &good, &srq), 0);
	assert_int_equal(good.max_wr,
			 63); /* the whole ring but one slot, as mlx5_ib_create_srq() */
	destroy_srq(fd, srq);
	good.drv.buf_addr = (uintptr_t)constant; /* a device only reads it */
	assert_int_equal(create_srq(fd, &good, &srq), 0);
	destroy_srq(fd, srq);
	close(fd);
}

/* --- address handles -------------------------------------------------------------------------- */

static void an_address_handle_resolves_groups_and_needs_a_gid(void **state)
{
	static const uint8_t group[16] = {0xff, 0x0e, [12] = 1, 2, 3, 4};
	static const uint8_t ipv4[16] = {[10] = 0xff, 0xff, 127, 100, 1, 1};
	static const uint8_t group4[16] = {[10] = 0xff, 0xff, 239, 0x81, 2, 3};
	uint8_t mac[6];
	int fd = open_context();
	uint32_t pd;

	assert_int_equal(alloc_pd(fd, &pd), 0);
	assert_int_equal(create_ah(fd, pd, unreachable, BUSY_GID, mac), ETIMEDOUT);
	assert_int_equal(create_ah(fd, pd, ipv4, BUSY_GID, mac), EINVAL); /* of another family */
	assert_int_equal(create_ah(fd, pd, group, EMPTY_GID, mac), ENODATA);
	assert_int_equal(create_ah(fd, pd, group, 255, mac), ENODATA);
	assert_int_equal(create_ah(fd, pd, group, BUSY_GID, mac), 0);
	assert_memory_equal(mac, ((const uint8_t[]){0x33, 0x33, 1, 2, 3, 4}), sizeof(mac));
	assert_int_equal(create_ah(fd, pd, group4, BUSY_GID, mac), 0);
	assert_memory_equal(mac, ((const uint8_t[]){1, 0, 0x5e, 1, 2, 3}), sizeof(mac));
	close(fd);
}

/* --- regions ---------------------------------------------------------------------------------- */

static void a_reregistration_with_invalid_values_is_refused(void **state)
{
	struct ib_uverbs_rereg_mr how = {.flags = 1, .length = PAGE};
	int fd = open_context();
	uint32_t pd, mr;

	how.start = (uintptr_t)ring;
	assert_int_equal(alloc_pd(fd, &pd), 0);
	assert_int_equal(reg_mr(fd, pd, ring, how.start, PAGE, 1, &mr), 0);
	how.flags = 0;
	assert_int_equal(rereg_mr(fd, mr, &how), EINVAL);
	how.flags = 8;
	assert_int_equal(rereg_mr(fd, mr, &how), EOPNOTSUPP);
	how.flags = 1;
	assert_int_equal(rereg_mr(fd, mr + 77, &how), ENOENT);
	how.hca_va = 1;
	assert_int_equal(rereg_mr(fd, mr, &how), EINVAL);
	how.hca_va = 0; /* its first byte is the device's address 0 */
	assert_int_equal(rereg_mr(fd, mr, &how), 0);
	how.length = 0;
	assert_int_equal(rereg_mr(fd, mr, &how), EINVAL);
	how.length = PAGE;
	how.start = 0;
	assert_int_equal(rereg_mr(fd, mr, &how), EFAULT);
	how.start = (uintptr_t)constant;
	assert_int_equal(rereg_mr(fd, mr, &how), EFAULT);
	assert_int_equal(destroy(fd, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, mr), 0);
	close(fd);
}

struct dm_mr {
	uint32_t pd, dm, access;
	uint64_t off, len;
};

static int reg_dm(int fd, const struct dm_mr *m, uint32_t *handle)
{
	uint32_t keys[2];
	union command c;
	int err;

	begin(&c, UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG);
	add(&c, UVERBS_ATTR_REG_DM_MR_HANDLE, 0, 0);
	add(&c, UVERBS_ATTR_REG_DM_MR_OFFSET, 8, m->off);
	add(&c, UVERBS_ATTR_REG_DM_MR_LENGTH, 8, m->len);
	add(&c, UVERBS_ATTR_REG_DM_MR_PD_HANDLE, 0, m->pd);
	add(&c, UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, 4, m->access);
	add(&c, UVERBS_ATTR_REG_DM_MR_DM_HANDLE, 0, m->dm);
	add_buf(&c, UVERBS_ATTR_REG_DM_MR_RESP_LKEY, &keys[0], sizeof(keys[0]));
	add_buf(&c, UVERBS_ATTR_REG_DM_MR_RESP_RKEY, &keys[1], sizeof(keys[1]));
	err = issue(fd, &c);
	*handle = (uint32_t)c.hdr.attrs[0].data;
	return err;
}

static void a_region_of_device_memory_with_invalid_rights_is_refused(void **state)
{
	const uint32_t local = IB_UVERBS_ACCESS_ZERO_BASED | IB_UVERBS_ACCESS_LOCAL_WRITE;
	const uint32_t bad[] = {
		IB_UVERBS_ACCESS_LOCAL_WRITE,
		IB_UVERBS_ACCESS_ZERO_BASED | IB_UVERBS_ACCESS_REMOTE_WRITE,
		local | IB_UVERBS_ACCESS_ON_DEMAND,
		local | IB_UVERBS_ACCESS_MW_BIND,
		local | IB_UVERBS_ACCESS_HUGETLB,
		local | IB_UVERBS_ACCESS_RELAXED_ORDERING,
	};
	struct dm_mr m = {.len = PAGE};
	int fd = open_context();
	uint32_t mr;
	uint16_t page;

	assert_int_equal(alloc_pd(fd, &m.pd), 0);
	assert_int_equal(alloc_dm(fd, PAGE, &m.dm, &page), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		m.access = bad[i];
		assert_int_equal(reg_dm(fd, &m, &mr), EINVAL);
	}
	m.access = local;
	m.off = 1;
	assert_int_equal(reg_dm(fd, &m, &mr), EINVAL);
	m.off = UINT64_MAX;
	assert_int_equal(reg_dm(fd, &m, &mr), EINVAL);
	m.off = 0;
	assert_int_equal(reg_dm(fd, &m, &mr), 0);
	assert_int_equal(destroy(fd, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE, m.dm), EBUSY);
	assert_int_equal(destroy(fd, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, mr), 0);
	assert_int_equal(destroy(fd, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE, m.dm), 0);
	close(fd);
}

/* --- mapped files ----------------------------------------------------------------------------- */

#define RO 0u
#define RW IB_UVERBS_ACCESS_LOCAL_WRITE

/* The folder of this test's program may be in memory, as that of temporary files. */
static int open_on_disk(void)
{
	static const char *const folders[] = {"/var/tmp", "/tmp", "."};
	struct statfs fs;

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		int file = open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

		if (file >= 0 && !fstatfs(file, &fs) && fs.f_type != TMPFS_MAGIC &&
		    !ftruncate(file, PAGE))
			return file;
		if (file >= 0)
			close(file);
	}
	return -1;
}

static void *map_page(int file, int flags)
{
	void *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, flags, file, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

/* Register, and deregister if that succeeded. */
static int try_page(int fd, uint32_t pd, void *page, uint32_t access)
{
	uint32_t mr;
	int err = reg_mr(fd, pd, page, (uintptr_t)page, PAGE, access, &mr);

	if (!err)
		assert_int_equal(destroy(fd, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, mr), 0);
	return err;
}

/* mm/gup.c of Linux from 6.5 on, writable_file_mapping_allowed(). */
static void pages_of_a_file_are_not_pinned_for_writing(void **state)
{
	const struct ib_uverbs_rereg_mr write = {.flags = 4, .access_flags = RW};
	int fd = open_with_doorbells(), file = open_on_disk(), memory = memfd_create("file", 0);
	void *shared, *private, *in_memory;
	struct cq q = good_cq();
	uint32_t pd, mr, cq;

	if (file < 0)
		skip(); /* all file systems are in memory */
	assert_int_equal(ftruncate(memory, PAGE), 0);
	shared = map_page(file, MAP_SHARED);
	private = map_page(file, MAP_PRIVATE);
	in_memory = map_page(memory, MAP_SHARED);
	assert_int_equal(alloc_pd(fd, &pd), 0);
	assert_int_equal(try_page(fd, pd, shared, RW), EFAULT);
	assert_int_equal(try_page(fd, pd, shared, IB_UVERBS_ACCESS_MW_BIND), EFAULT);
	assert_int_equal(try_page(fd, pd, shared, RW | IB_UVERBS_ACCESS_ON_DEMAND), 0);
	assert_int_equal(try_page(fd, pd, private, RW), 0);
	assert_int_equal(try_page(fd, pd, in_memory, RW), 0);
	q.drv.buf_addr = (uintptr_t)shared;
	assert_int_equal(create_cq(fd, &q, &cq), EFAULT);
	assert_int_equal(reg_mr(fd, pd, shared, (uintptr_t)shared, PAGE, RO, &mr), 0);
	assert_int_equal(rereg_mr(fd, mr, &write), EFAULT);
	assert_int_equal(destroy(fd, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, mr), 0);
	munmap(shared, PAGE);
	munmap(private, PAGE);
	munmap(in_memory, PAGE);
	close(memory);
	close(file);
	close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_count, fixture_recount)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(a_cq_with_invalid_values_or_memory_is_refused),
		TEST(attributes_of_another_size_are_refused),
		TEST(a_cq_is_rounded_up),
		TEST(a_context_with_unknown_wishes_is_refused),
		TEST(a_context_has_the_version_of_completions_that_it_asks_for),
		TEST(a_domain_needs_room_for_its_number),
		TEST(a_resize_with_invalid_values_or_memory_is_refused),
		TEST(a_queue_is_resized_after_its_process_ended),
		TEST(a_qp_with_invalid_values_or_memory_is_refused),
		TEST(invalid_attributes_of_a_qp_are_refused),
		TEST(attributes_are_cut_to_the_bits_of_the_card),
		TEST(an_initiator_accepts_the_attributes_of_a_responder),
		TEST(a_queue_needs_a_doorbell_page_of_its_context),
		TEST(an_srq_with_invalid_values_or_memory_is_refused),
		TEST(an_address_handle_resolves_groups_and_needs_a_gid),
		TEST(a_reregistration_with_invalid_values_is_refused),
		TEST(a_region_of_device_memory_with_invalid_rights_is_refused),
		TEST(pages_of_a_file_are_not_pinned_for_writing),
	};

	test_parse_options(argc, argv);
	return cmocka_run_group_tests(tests, make_memory, NULL);
}
