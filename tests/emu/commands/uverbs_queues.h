/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Commands that create queues and address handles, and valid values for all attributes of queues. */
#ifndef DPUMAP_TESTS_UVERBS_QUEUES_H
#define DPUMAP_TESTS_UVERBS_QUEUES_H

#include <sys/mman.h>

#include "uverbs.h"

#define PAGE	   4096u
#define RING_BYTES (16u * PAGE)
#define NO_UIDX	   0xffffffu /* the index of a queue that has none */

/* A ring with no mapping behind it, a read-only one, and a doorbell record. */
static uint8_t *ring, *constant;
static uint64_t record[8] __attribute__((aligned(64)));
/* The doorbell page of the context that was opened last. */
static uint32_t doorbells;

static inline int make_memory(void **state)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS;

	ring = mmap(NULL, RING_BYTES + PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);
	constant = mmap(NULL, RING_BYTES, PROT_READ, flags, -1, 0);
	if (ring == MAP_FAILED || constant == MAP_FAILED)
		return -1;
	return munmap(ring + RING_BYTES, PAGE);
}

static inline int open_with_doorbells(void)
{
	int fd = open_context();
	struct uar uar = {0};

	assert_int_equal(alloc_uar(fd, &uar), 0);
	doorbells = uar.page;
	return fd;
}

struct cq {
	struct mlx5_ib_create_cq drv;
	uint32_t cqe, vector, flags;
};

static inline struct cq good_cq(void)
{
	struct cq q = {.cqe = 63};

	q.drv.buf_addr = (uintptr_t)ring;
	q.drv.db_addr = (uintptr_t)record;
	q.drv.cqe_size = 64;
	q.drv.flags = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX;
	q.drv.uar_page_index = (uint16_t)doorbells;
	return q;
}

static inline int create_cq(int fd, struct cq *q, uint32_t *handle)
{
	struct mlx5_ib_create_cq_resp resp;
	uint32_t cqe = 0;
	union command c;
	int err;

	begin(&c, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
	add(&c, UVERBS_ATTR_CREATE_CQ_HANDLE, 0, 0);
	add(&c, UVERBS_ATTR_CREATE_CQ_CQE, 4, q->cqe);
	add(&c, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, 1);
	add(&c, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, q->vector);
	add(&c, UVERBS_ATTR_CREATE_CQ_FLAGS, 4, q->flags);
	add_buf(&c, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &cqe, sizeof(cqe));
	add_buf(&c, UVERBS_ATTR_UHW_IN, &q->drv, sizeof(q->drv));
	add_buf(&c, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	err = issue(fd, &c);
	*handle = (uint32_t)c.hdr.attrs[0].data;
	if (!err)
		q->cqe = cqe;
	return err;
}

static inline void destroy_cq(int fd, uint32_t handle)
{
	struct ib_uverbs_destroy_cq_resp resp;
	union command c;

	begin(&c, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY);
	add(&c, UVERBS_ATTR_DESTROY_CQ_HANDLE, 0, handle);
	add_buf(&c, UVERBS_ATTR_DESTROY_CQ_RESP, &resp, sizeof(resp));
	assert_int_equal(issue(fd, &c), 0);
}

static inline int resize_cq(int fd, uint32_t cq, uint64_t buf, uint32_t cqe)
{
	struct ib_uverbs_resize_cq req = {.cq_handle = cq, .cqe = cqe};
	struct mlx5_ib_resize_cq drv = {.buf_addr = buf, .cqe_size = 64};
	struct ib_uverbs_resize_cq_resp resp;
	union command c;

	begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	add(&c, UVERBS_ATTR_WRITE_CMD, sizeof(uint64_t), IB_USER_VERBS_CMD_RESIZE_CQ);
	add_buf(&c, UVERBS_ATTR_CORE_IN, &req, sizeof(req));
	add_buf(&c, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	add_buf(&c, UVERBS_ATTR_UHW_IN, &drv, sizeof(drv));
	return issue(fd, &c);
}

struct qp {
	struct mlx5_ib_create_qp drv;
	struct ib_uverbs_qp_cap cap;
	uint32_t pd, send_cq, recv_cq, flags;
	uint64_t type;
};

static inline struct qp good_qp(uint32_t pd, uint32_t cq)
{
	struct qp q = {.pd = pd, .send_cq = cq, .recv_cq = cq, .type = IB_UVERBS_QPT_RC};

	q.drv.buf_addr = (uintptr_t)ring + PAGE;
	q.drv.db_addr = (uintptr_t)(record + 2);
	q.drv.sq_wqe_count = 16;
	q.drv.rq_wqe_count = 16;
	q.drv.rq_wqe_shift = 6;
	q.drv.flags = MLX5_QP_FLAG_UAR_PAGE_INDEX;
	q.drv.bfreg_index = doorbells;
	q.cap.max_send_wr = q.cap.max_recv_wr = 4;
	q.cap.max_send_sge = q.cap.max_recv_sge = 1;
	return q;
}

static inline int create_qp(int fd, struct qp *q, uint32_t *handle)
{
	struct mlx5_ib_create_qp_resp resp;
	struct ib_uverbs_qp_cap cap;
	uint32_t qpn = 0;
	union command c;
	int err;

	begin(&c, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE);
	add(&c, UVERBS_ATTR_CREATE_QP_HANDLE, 0, 0);
	add(&c, UVERBS_ATTR_CREATE_QP_PD_HANDLE, 0, q->pd);
	add(&c, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, 0, q->send_cq);
	if (q->type != IB_UVERBS_QPT_XRC_INI)
		add(&c, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, 0, q->recv_cq);
	add(&c, UVERBS_ATTR_CREATE_QP_USER_HANDLE, 8, 2);
	add_buf(&c, UVERBS_ATTR_CREATE_QP_CAP, &q->cap, sizeof(q->cap));
	add(&c, UVERBS_ATTR_CREATE_QP_TYPE, 8, q->type);
	add(&c, UVERBS_ATTR_CREATE_QP_FLAGS, 4, q->flags);
	add_buf(&c, UVERBS_ATTR_CREATE_QP_RESP_CAP, &cap, sizeof(cap));
	add_buf(&c, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &qpn, sizeof(qpn));
	add_buf(&c, UVERBS_ATTR_UHW_IN, &q->drv, sizeof(q->drv));
	add_buf(&c, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	err = issue(fd, &c);
	*handle = (uint32_t)c.hdr.attrs[0].data;
	return err;
}

static inline void destroy_qp(int fd, uint32_t handle)
{
	struct ib_uverbs_destroy_qp_resp resp;
	union command c;

	begin(&c, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY);
	add(&c, UVERBS_ATTR_DESTROY_QP_HANDLE, 0, handle);
	add_buf(&c, UVERBS_ATTR_DESTROY_QP_RESP, &resp, sizeof(resp));
	assert_int_equal(issue(fd, &c), 0);
}

struct srq {
	struct mlx5_ib_create_srq drv;
	uint32_t pd, max_wr, max_sge, type;
};

static inline struct srq good_srq(uint32_t pd)
{
	struct srq s = {.pd = pd, .max_wr = 63, .max_sge = 1};

	s.drv.buf_addr = (uintptr_t)ring;
	s.drv.db_addr = (uintptr_t)record;
	return s;
}

static inline int create_srq(int fd, struct srq *s, uint32_t *handle)
{
	struct mlx5_ib_create_srq_resp resp;
	uint32_t out[2] = {0};
	union command c;
	int err;

	begin(&c, UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE);
	add(&c, UVERBS_ATTR_CREATE_SRQ_HANDLE, 0, 0);
	add(&c, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, 0, s->pd);
	add(&c, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, 8, 3);
	add(&c, UVERBS_ATTR_CREATE_SRQ_MAX_WR, 4, s->max_wr);
	add(&c, UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 4, s->max_sge);
	add(&c, UVERBS_ATTR_CREATE_SRQ_LIMIT, 4, 0);
	add(&c, UVERBS_ATTR_CREATE_SRQ_TYPE, 8, s->type);
	add_buf(&c, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, &out[0], sizeof(out[0]));
	add_buf(&c, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, &out[1], sizeof(out[1]));
	add_buf(&c, UVERBS_ATTR_UHW_IN, &s->drv, sizeof(s->drv));
	add_buf(&c, UVERBS_ATTR_UHW_OUT, &resp, sizeof(resp));
	err = issue(fd, &c);
	*handle = (uint32_t)c.hdr.attrs[0].data;
	if (!err) {
		s->max_wr = out[0];
		s->max_sge = out[1];
	}
	return err;
}

static inline int create_ah(int fd, uint32_t pd, const uint8_t dgid[16], uint8_t sgid,
			    uint8_t mac[6])
{
	struct ib_uverbs_create_ah req = {.pd_handle = pd};
	struct mlx5_ib_create_ah_resp drv = {0};
	struct ib_uverbs_create_ah_resp resp;
	union command c;
	int err;

	req.attr.is_global = 1;
	req.attr.port_num = 1;
	req.attr.grh.sgid_index = sgid;
	memcpy(req.attr.grh.dgid, dgid, sizeof(req.attr.grh.dgid));
	begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	add(&c, UVERBS_ATTR_WRITE_CMD, sizeof(uint64_t), IB_USER_VERBS_CMD_CREATE_AH);
	add_buf(&c, UVERBS_ATTR_CORE_IN, &req, sizeof(req));
	add_buf(&c, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	add_buf(&c, UVERBS_ATTR_UHW_OUT, &drv, sizeof(drv));
	err = issue(fd, &c);
	memcpy(mac, drv.dmac, 6);
	return err;
}

#endif
