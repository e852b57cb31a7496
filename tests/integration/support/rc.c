/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "rc.h"

#include <sched.h>
#include <string.h>

#include "base/array.h"
#include "fixture.h"

#define PORT 1

/* One of IPv4 and RoCE v2, which the library prefers; else the last one. */
static const struct ibv_gid_entry *choose(const struct ibv_gid_entry *gids, ssize_t n)
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	for (ssize_t i = 0; i < n; i++)
		if (gids[i].gid_type == IBV_GID_TYPE_ROCE_V2 &&
		    memcmp(gids[i].gid.raw, prefix, sizeof(prefix)) == 0)
			return &gids[i];
	return &gids[n - 1];
}

static bool find_address(struct rc *rc)
{
	struct ibv_context *context = rc->pd->context;
	const struct ibv_gid_entry *gid;
	struct ibv_gid_entry gids[256];
	ssize_t n;

	if (ibv_query_port(context, PORT, &rc->port))
		return false;
	rc->address.lid = rc->port.lid;
	rc->address.qpn = rc->qp->qp_num;
	n = ibv_query_gid_table(context, gids, ARRAY_SIZE(gids), 0);
	if (n < 1)
		return false;
	gid = choose(gids, n);
	memcpy(rc->address.gid, gid->gid.raw, sizeof(rc->address.gid));
	rc->gid_index = (uint8_t)gid->gid_index;
	return true;
}

bool rc_open(struct rc *rc, struct ibv_pd *pd)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 3, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};

	memset(rc, 0, sizeof(*rc));
	rc->pd = pd;
	rc->channel = ibv_create_comp_channel(pd->context);
	if (!rc->channel)
		return false;
	rc->cq = ibv_create_cq(pd->context, 64, NULL, rc->channel, 0);
	rc->mr = ibv_reg_mr(pd, rc->bytes, sizeof(rc->bytes), RC_ALL);
	if (!rc->cq || !rc->mr)
		return false;
	attr.send_cq = rc->cq;
	attr.recv_cq = rc->cq;
	rc->qp = ibv_create_qp(pd, &attr);
	return rc->qp && find_address(rc);
}

static bool to_init(const struct rc *rc)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = PORT,
		.qp_access_flags = RC_ALL,
	};

	return !ibv_modify_qp(rc->qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static bool to_rtr(const struct rc *rc)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = rc->port.active_mtu,
		.dest_qp_num = rc->remote.qpn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr =
			{
				.port_num = PORT,
				.dlid = rc->remote.lid,
				.is_global = 1,
				.grh = {.sgid_index = rc->gid_index, .hop_limit = 64},
			},
	};

	memcpy(attr.ah_attr.grh.dgid.raw, rc->remote.gid, sizeof(rc->remote.gid));
	return !ibv_modify_qp(rc->qp, &attr,
			      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				      IBV_QP_MIN_RNR_TIMER);
}

static bool to_rts(const struct rc *rc)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	return !ibv_modify_qp(rc->qp, &attr,
			      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				      IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

bool rc_connect(struct rc *rc, const struct rc_address *remote)
{
	rc->remote = *remote;
	return to_init(rc) && to_rtr(rc) && to_rts(rc);
}

bool rc_open_loopback(struct rc *rc, struct ibv_pd *pd)
{
	return rc_open(rc, pd) && rc_connect(rc, &rc->address);
}

bool rc_open_pair(struct rc *a, struct rc *b, struct ibv_pd *pd)
{
	bool opened = rc_open(a, pd);

	return rc_open(b, pd) && opened && rc_connect(a, &b->address) && rc_connect(b, &a->address);
}

bool rc_reconnect(struct rc *rc)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	return !ibv_modify_qp(rc->qp, &attr, IBV_QP_STATE) && to_init(rc) && to_rtr(rc) &&
	       to_rts(rc);
}

bool rc_close(struct rc *rc)
{
	bool ok = true;

	if (rc->qp)
		ok &= !ibv_destroy_qp(rc->qp);
	if (rc->mr)
		ok &= !ibv_dereg_mr(rc->mr);
	if (rc->cq)
		ok &= !ibv_destroy_cq(rc->cq);
	if (rc->channel)
		ok &= !ibv_destroy_comp_channel(rc->channel);
	memset(rc, 0, sizeof(*rc));
	return ok;
}

bool rc_post(struct rc *rc, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	return !ibv_post_send(rc->qp, wr, &bad);
}

bool rc_receive(struct rc *rc, size_t len)
{
	struct ibv_sge sge = {(uintptr_t)rc->bytes, (uint32_t)len, rc->mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	return !ibv_post_recv(rc->qp, &wr, &bad);
}

int rc_wait(struct rc *rc, unsigned int timeout_ms)
{
	uint64_t deadline = monotonic_ms() + timeout_ms;
	struct ibv_wc wc;
	bool late;
	int n;

	do { /* at least once after the deadline: a busy machine may leave no turn before it */
		late = monotonic_ms() >= deadline;
		n = ibv_poll_cq(rc->cq, 1, &wc);
		if (n)
			return n < 0 ? -1 : (int)wc.status;
		sched_yield();
	} while (!late);
	return -1;
}

int rc_invalidate(struct rc *rc, uint32_t rkey)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_LOCAL_INV,
		.send_flags = IBV_SEND_SIGNALED,
		.invalidate_rkey = rkey,
	};

	return rc_post(rc, &wr) ? rc_wait(rc, FIXTURE_TIMEOUT_MS) : -1;
}

static bool is_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
}

int rc_run(struct rc *rc, const struct rc_request *request)
{
	struct ibv_sge sge = {request->addr, request->len, request->lkey};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = request->opcode,
		.send_flags = IBV_SEND_SIGNALED,
	};

	if (is_atomic(request->opcode)) {
		wr.wr.atomic.remote_addr = request->remote_addr;
		wr.wr.atomic.rkey = request->rkey;
		wr.wr.atomic.compare_add = request->compare_add;
		wr.wr.atomic.swap = request->swap;
	} else {
		wr.wr.rdma.remote_addr = request->remote_addr;
		wr.wr.rdma.rkey = request->rkey;
	}
	return rc_post(rc, &wr) ? rc_wait(rc, FIXTURE_TIMEOUT_MS) : -1;
}

/* With the first bytes as the local ones. */
static int run_on_bytes(struct rc *rc, enum ibv_wr_opcode opcode, size_t len, uint32_t rkey,
			uint64_t remote_addr)
{
	return rc_run(rc, &(struct rc_request){
				  .opcode = opcode,
				  .lkey = rc->mr->lkey,
				  .addr = (uintptr_t)rc->bytes,
				  .len = (uint32_t)len,
				  .rkey = rkey,
				  .remote_addr = remote_addr,
				  .compare_add = 1,
			  });
}

int rc_read(struct rc *rc, uint32_t rkey, uint64_t addr, size_t len)
{
	return run_on_bytes(rc, IBV_WR_RDMA_READ, len, rkey, addr);
}

int rc_write(struct rc *rc, uint32_t rkey, uint64_t addr, size_t len)
{
	return run_on_bytes(rc, IBV_WR_RDMA_WRITE, len, rkey, addr);
}

int rc_access(struct rc *rc, enum ibv_wr_opcode opcode, uint32_t rkey, uint64_t remote_addr)
{
	size_t len = is_atomic(opcode) ? sizeof(uint64_t) : RC_ACCESS_LEN;

	return run_on_bytes(rc, opcode, len, rkey, remote_addr);
}

int rc_gather(struct rc *rc, uint32_t lkey, uint64_t addr, size_t len)
{
	return rc_run(rc, &(struct rc_request){
				  .opcode = IBV_WR_RDMA_WRITE,
				  .lkey = lkey,
				  .addr = addr,
				  .len = (uint32_t)len,
				  .rkey = rc->mr->rkey,
				  .remote_addr = (uintptr_t)rc->bytes,
			  });
}
