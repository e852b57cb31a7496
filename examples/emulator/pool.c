/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "pool.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATIENCE_MS 2000

static int open_device(struct pool *p)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (!list)
		return errno;
	p->context = list[0] ? ibv_open_device(list[0]) : NULL;
	ibv_free_device_list(list);
	return p->context ? 0 : ENODEV;
}

static int make_queue(struct pool *p)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 16, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};

	p->pd = ibv_alloc_pd(p->context);
	if (!p->pd)
		return errno;
	p->cq = ibv_create_cq(p->context, 16, NULL, NULL, 0);
	if (!p->cq)
		return errno;
	attr.send_cq = attr.recv_cq = p->cq;
	p->qp = ibv_create_qp(p->pd, &attr);
	return p->qp ? 0 : errno;
}

/* Connect the queue pair to itself. */
static int connect_queue(struct pool *p)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = p->qp->qp_num,
		.max_dest_rd_atomic = 1,
		.max_rd_atomic = 1,
		.min_rnr_timer = 12,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh = {.hop_limit = 1}},
	};
	int err;

	if (ibv_query_gid(p->context, 1, 0, &a.ah_attr.grh.dgid))
		return errno;
	err = ibv_modify_qp(p->qp, &a,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	if (err)
		return err;
	a.qp_state = IBV_QPS_RTR;
	err = ibv_modify_qp(p->qp, &a,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER);
	if (err)
		return err;
	a.qp_state = IBV_QPS_RTS;
	return ibv_modify_qp(p->qp, &a,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static int register_buffers(struct pool *p)
{
	int i;

	for (i = 0; i < POOL_BUFFERS; i++) {
		p->bytes[i] = calloc(1, POOL_BYTES);
		if (!p->bytes[i])
			return ENOMEM;
		p->mr[i] = ibv_reg_mr(p->pd, p->bytes[i], POOL_BYTES,
				      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
		if (!p->mr[i])
			return errno;
	}
	return 0;
}

int pool_open(struct pool *p)
{
	int err;

	memset(p, 0, sizeof(*p));
	err = open_device(p);
	if (!err)
		err = make_queue(p);
	if (!err)
		err = connect_queue(p);
	if (!err)
		err = register_buffers(p);
	if (err)
		pool_close(p);
	return err;
}

void pool_close(struct pool *p)
{
	int i;

	if (p->qp)
		ibv_destroy_qp(p->qp);
	if (p->cq)
		ibv_destroy_cq(p->cq);
	for (i = 0; i < POOL_BUFFERS; i++) {
		if (p->mr[i])
			ibv_dereg_mr(p->mr[i]);
		free(p->bytes[i]);
	}
	if (p->pd)
		ibv_dealloc_pd(p->pd);
	if (p->context)
		ibv_close_device(p->context);
	memset(p, 0, sizeof(*p));
}

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

int pool_copy(struct pool *p, int to, int from, enum ibv_wc_status *status)
{
	struct ibv_sge sge = {(uintptr_t)p->bytes[from], POOL_BYTES, p->mr[from]->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {(uintptr_t)p->bytes[to], p->mr[to]->rkey},
	};
	long long end = now_ms() + PATIENCE_MS;
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	int n, err;

	err = ibv_post_send(p->qp, &wr, &bad);
	if (err)
		return err;
	do {
		n = ibv_poll_cq(p->cq, 1, &wc);
		if (n < 0)
			return EIO;
	} while (!n && now_ms() < end);
	*status = n ? wc.status : IBV_WC_SUCCESS;
	return n ? 0 : ETIMEDOUT;
}

int pool_is_dead(struct pool *p)
{
	struct pollfd fd = {.fd = p->context->async_fd, .events = POLLIN};
	struct ibv_async_event e;
	int dead;

	if (poll(&fd, 1, 0) < 1 || ibv_get_async_event(p->context, &e))
		return 0;
	dead = e.event_type == IBV_EVENT_DEVICE_FATAL;
	ibv_ack_async_event(&e);
	return dead;
}
