/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "xrc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "fixture.h"
#include "uverbs.h"

#define ACCESS                                                                       \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | \
	 IBV_ACCESS_REMOTE_ATOMIC)

static struct part {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_xrcd *domain;
	struct ibv_srq *srq;
	struct ibv_qp *qp[4]; /* by enum xrc_which */
	union ibv_gid gid;
} self;

static uint8_t memory[XRC_BYTES] __attribute__((aligned(4096)));

/* --- making and unmaking ---------------------------------------------------------------------- */

static struct ibv_xrcd *open_domain(unsigned int number)
{
	struct ibv_xrcd_init_attr a = {.oflags = O_CREAT};
	struct ibv_xrcd *domain;
	char path[256];

	a.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	snprintf(path, sizeof(path), "%s.%u", getenv(XRC_FILE_ENV), number);
	a.fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (a.fd < 0)
		return NULL;
	domain = ibv_open_xrcd(self.ctx, &a);
	close(a.fd);
	return domain;
}

static int open_self(const uint64_t *arg, uint64_t *v)
{
	self.ctx = fixture_open_context();
	if (!self.ctx || fcntl(self.ctx->async_fd, F_SETFL, O_NONBLOCK) ||
	    ibv_query_gid(self.ctx, 1, 1, &self.gid))
		return errno;
	self.pd = ibv_alloc_pd(self.ctx);
	self.cq = self.pd ? ibv_create_cq(self.ctx, 256, NULL, NULL, 0) : NULL;
	self.mr = self.cq ? ibv_reg_mr(self.pd, memory, XRC_BYTES, ACCESS) : NULL;
	self.domain = self.mr ? open_domain((unsigned int)arg[0]) : NULL;
	return self.domain ? 0 : errno;
}

/*
 * By the kernel's own interface: mlx5_destroy_qp() frees a doorbell record, which a QP that was
 * opened has not, and falls over its own assertion (libmlx5 44 and later).
 */
static int close_opened(void)
{
	static struct ibv_qp *closed; /* libmlx5 has no way to free it */
	struct ib_uverbs_destroy_qp_resp r = {0};
	union command c;

	closed = self.qp[XRC_THE_OPENED];
	self.qp[XRC_THE_OPENED] = NULL;
	begin(&c, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY);
	add(&c, UVERBS_ATTR_DESTROY_QP_HANDLE, 0, closed->handle);
	add_buf(&c, UVERBS_ATTR_DESTROY_QP_RESP, &r, sizeof(r));
	return issue(self.ctx->cmd_fd, &c);
}

static int drop(const uint64_t *arg, uint64_t *v)
{
	int err;

	if (arg[0] == XRC_THE_SRQ) {
		err = ibv_destroy_srq(self.srq);
		self.srq = NULL;
		return err;
	}
	if (arg[0] == XRC_THE_OPENED)
		return close_opened();
	err = ibv_destroy_qp(self.qp[arg[0]]);
	self.qp[arg[0]] = NULL;
	return err;
}

static int close_self(const uint64_t *arg, uint64_t *v)
{
	uint64_t which;
	int err = 0;

	for (which = XRC_THE_TARGET; !err && which <= XRC_THE_OPENED; which++)
		if (self.qp[which])
			err = drop(&which, v);
	which = XRC_THE_SRQ;
	if (!err && self.srq)
		err = drop(&which, v);
	if (!err)
		err = ibv_close_xrcd(self.domain);
	if (!err)
		err = ibv_dereg_mr(self.mr);
	if (!err)
		err = ibv_destroy_cq(self.cq);
	if (!err)
		err = ibv_dealloc_pd(self.pd);
	return err ? err : ibv_close_device(self.ctx);
}

static int make_srq(const uint64_t *arg, uint64_t *v)
{
	struct ibv_srq_init_attr_ex a = {.attr = {.max_wr = 128, .max_sge = 1},
					 .srq_type = IBV_SRQT_XRC,
					 .pd = self.pd,
					 .xrcd = self.domain,
					 .cq = self.cq};
	uint32_t number;

	a.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD |
		      IBV_SRQ_INIT_ATTR_CQ;
	self.srq = ibv_create_srq_ex(self.ctx, &a);
	if (!self.srq || ibv_get_srq_num(self.srq, &number))
		return errno;
	v[0] = number;
	v[1] = self.mr->rkey;
	v[2] = (uintptr_t)memory;
	return 0;
}

static int make_qp(struct ibv_qp_init_attr_ex *a, enum xrc_which which, uint64_t *v)
{
	self.qp[which] = ibv_create_qp_ex(self.ctx, a);
	if (!self.qp[which])
		return errno;
	v[0] = self.qp[which]->qp_num;
	return 0;
}

static int make_target(const uint64_t *arg, uint64_t *v)
{
	struct ibv_qp_init_attr_ex a = {.qp_type = IBV_QPT_XRC_RECV,
					.comp_mask = IBV_QP_INIT_ATTR_XRCD,
					.xrcd = self.domain};

	return make_qp(&a, XRC_THE_TARGET, v);
}

static int make_initiator(const uint64_t *arg, uint64_t *v)
{
	struct ibv_qp_init_attr_ex a = {.qp_type = IBV_QPT_XRC_SEND,
					.comp_mask = IBV_QP_INIT_ATTR_PD,
					.pd = self.pd,
					.send_cq = self.cq,
					.sq_sig_all = 1};

	a.cap.max_send_wr = 64;
	a.cap.max_send_sge = 1;
	return make_qp(&a, XRC_THE_INITIATOR, v);
}

static int open_target(const uint64_t *arg, uint64_t *v)
{
	struct ibv_qp_open_attr a = {.qp_num = (uint32_t)arg[0],
				     .qp_type = (enum ibv_qp_type)arg[1],
				     .xrcd = self.domain};
	struct ibv_qp *qp;

	a.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
	errno = 0;
	qp = ibv_open_qp(self.ctx, &a);
	if (!qp)
		return errno ? errno : EIO;
	self.qp[XRC_THE_OPENED] = qp;
	v[0] = qp->qp_num;
	return 0;
}

/* --- states ----------------------------------------------------------------------------------- */

static int connect_self(const uint64_t *arg, uint64_t *v)
{
	bool initiator = arg[0] == XRC_THE_INITIATOR;
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	struct ibv_qp *qp = self.qp[arg[0]];
	int err;

	a.qp_access_flags = ACCESS;
	err = ibv_modify_qp(qp, &a, mask);
	a.qp_state = IBV_QPS_RTR;
	a.path_mtu = IBV_MTU_1024;
	a.dest_qp_num = (uint32_t)arg[1];
	a.max_dest_rd_atomic = a.max_rd_atomic = 1;
	a.min_rnr_timer = 1;
	a.ah_attr.is_global = 1;
	a.ah_attr.port_num = 1;
	a.ah_attr.grh.dgid = self.gid;
	a.ah_attr.grh.sgid_index = 1;
	mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (!initiator)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	if (!err)
		err = ibv_modify_qp(qp, &a, mask);
	a.qp_state = IBV_QPS_RTS;
	a.timeout = 10;
	a.retry_cnt = 3;
	a.rnr_retry = (uint8_t)arg[2];
	mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_SQ_PSN;
	if (initiator)
		mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	return err ? err : ibv_modify_qp(qp, &a, mask);
}

static int make_fail(const uint64_t *arg, uint64_t *v)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_ERR};

	return ibv_modify_qp(self.qp[arg[0]], &a, IBV_QP_STATE);
}

static int query(const uint64_t *arg, uint64_t *v)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;
	int err = ibv_query_qp(self.qp[arg[0]], &a, IBV_QP_STATE, &init);

	v[0] = a.qp_state;
	v[1] = a.dest_qp_num;
	return err;
}

/* --- work ------------------------------------------------------------------------------------- */

static struct ibv_sge piece(uint64_t offset, uint64_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)memory + offset, .length = (uint32_t)len, .lkey = self.mr->lkey};

	return sge;
}

static int post_receive(const uint64_t *arg, uint64_t *v)
{
	struct ibv_sge sge = piece(arg[0], arg[1]);
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	return ibv_post_srq_recv(self.srq, &wr, &bad);
}

static int post_send(const uint64_t *arg, uint64_t *v)
{
	struct ibv_sge sge = piece(arg[2], arg[3]);
	struct ibv_send_wr wr = {.opcode = (enum ibv_wr_opcode)arg[0], .sg_list = &sge}, *bad;

	wr.num_sge = 1;
	wr.qp_type.xrc.remote_srqn = (uint32_t)arg[1];
	wr.imm_data = htobe32(0x1234);
	wr.wr.rdma.remote_addr = arg[4];
	wr.wr.rdma.rkey = (uint32_t)arg[5];
	if (wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = arg[4];
		wr.wr.atomic.rkey = (uint32_t)arg[5];
		wr.wr.atomic.compare_add = 5;
	}
	return ibv_post_send(self.qp[XRC_THE_INITIATOR], &wr, &bad);
}

static void pause_ms(int ms)
{
	poll(NULL, 0, ms);
}

static int await_completion(const uint64_t *arg, uint64_t *v)
{
	uint64_t end = monotonic_ms() + FIXTURE_TIMEOUT_MS;
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(self.cq, 1, &wc))) {
		if (monotonic_ms() > end)
			return ETIMEDOUT;
		pause_ms(1);
	}
	if (n < 0)
		return EIO;
	v[0] = wc.status;
	if (wc.status == IBV_WC_SUCCESS) {
		v[1] = wc.opcode;
		v[2] = wc.byte_len;
		v[4] = wc.wc_flags & IBV_WC_WITH_IMM ? be32toh(wc.imm_data) : 0;
	}
	v[3] = wc.qp_num;
	return 0;
}

static int count_completions(const uint64_t *arg, uint64_t *v)
{
	struct ibv_wc wc[16];
	int n = ibv_poll_cq(self.cq, 16, wc);

	v[0] = (uint64_t)n;
	return n < 0 ? EIO : 0;
}

static int await_event(const uint64_t *arg, uint64_t *v)
{
	struct pollfd ready = {.fd = self.ctx->async_fd, .events = POLLIN};
	struct ibv_async_event e;

	if (poll(&ready, 1, FIXTURE_TIMEOUT_MS) != 1 || ibv_get_async_event(self.ctx, &e))
		return ETIMEDOUT;
	v[0] = e.event_type;
	for (uint64_t which = XRC_THE_TARGET; which <= XRC_THE_OPENED; which++)
		if (e.element.qp == self.qp[which])
			v[1] = which;
	ibv_ack_async_event(&e);
	return 0;
}

static int take_events(const uint64_t *arg, uint64_t *v)
{
	struct ibv_async_event e;

	while (!ibv_get_async_event(self.ctx, &e)) {
		v[0] |= 1ull << e.event_type;
		ibv_ack_async_event(&e);
	}
	return 0;
}

static int write_pattern(const uint64_t *arg, uint64_t *v)
{
	fixture_fill(memory + arg[0], arg[1], (uint32_t)arg[2]);
	return 0;
}

static int holds_pattern(const uint64_t *arg, uint64_t *v)
{
	uint8_t *wanted = malloc(arg[1]);
	int err;

	if (!wanted)
		return ENOMEM;
	fixture_fill(wanted, arg[1], (uint32_t)arg[2]);
	err = memcmp(memory + arg[0], wanted, arg[1]) == 0 ? 0 : EBADMSG;
	free(wanted);
	return err;
}

static int read_cell(const uint64_t *arg, uint64_t *v)
{
	memcpy(v, memory + arg[0], sizeof(*v));
	return 0;
}

static int (*const ops[XRC_OPS])(const uint64_t *arg, uint64_t *v) = {
	[XRC_OPEN] = open_self,
	[XRC_CLOSE] = close_self,
	[XRC_SRQ] = make_srq,
	[XRC_TARGET] = make_target,
	[XRC_INITIATOR] = make_initiator,
	[XRC_OPEN_QP] = open_target,
	[XRC_CONNECT] = connect_self,
	[XRC_FAIL] = make_fail,
	[XRC_STATE] = query,
	[XRC_DROP] = drop,
	[XRC_RECEIVE] = post_receive,
	[XRC_SEND] = post_send,
	[XRC_COMPLETION] = await_completion,
	[XRC_IDLE] = count_completions,
	[XRC_EVENT] = await_event,
	[XRC_EVENTS] = take_events,
	[XRC_WRITE] = write_pattern,
	[XRC_HOLDS] = holds_pattern,
	[XRC_CELL] = read_cell,
};

/* --- other processes -------------------------------------------------------------------------- */

struct xrc_answer xrc_ask(struct process *peer, const struct xrc_call *call)
{
	struct xrc_answer a = {.err = -1};

	if (!peer)
		a.err = ops[call->op](call->arg, a.v);
	else if (send(peer->to, call, sizeof(*call), MSG_NOSIGNAL) != sizeof(*call) ||
		 recv(peer->to, &a, sizeof(a), 0) != sizeof(a))
		a.err = -1;
	return a;
}

bool xrc_start(struct process *peer)
{
	return process_start_on_socket(peer, "dpu", XRC_STEP_ENV);
}

int xrc_serve(void)
{
	int socket = process_inherited(XRC_STEP_ENV);
	struct xrc_call call;

	while (recv(socket, &call, sizeof(call), 0) == sizeof(call)) {
		struct xrc_answer a = {.err = EINVAL};

		if (call.op < XRC_OPS)
			a.err = ops[call.op](call.arg, a.v);
		if (send(socket, &a, sizeof(a), MSG_NOSIGNAL) != sizeof(a))
			return 1;
	}
	return 0;
}
